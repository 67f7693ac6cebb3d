/* textfile: files of text that users write: experiments, claims, published tables.
 *
 * Private to engine/. Reads a whole file and says what is wrong with one that cannot be what was
 * asked for, so that what parses it has only its own rules to check. */
#ifndef ENGINE_TEXTFILE_H
#define ENGINE_TEXTFILE_H

#include <stddef.h>

#include "error.h"

/* What a file is to be, for messages. */
struct textfile_kind {
	const char *name;    /* "an experiment" */
	const char *content; /* "assembler source" */
	size_t most;         /* bytes, a multiple of 1024 */
};

/* All bytes of a regular file, malloc'ed. One that cannot be opened, is no regular file or is too
 * large: ERROR_INPUT. */
int textfile_read(const char *path, const struct textfile_kind *kind, char **text, size_t *size,
                  struct error *err);

/* A file that is empty, too large, not UTF-8, with a NUL byte or a byte order mark: ERROR_INPUT,
 * "PATH:LINE: ...". Else *out is a malloc'ed copy of *out_size bytes with LF alone at the end of
 * every line, the last one too; a NUL follows. */
int textfile_keep(const char *path, const struct textfile_kind *kind, const char *text, size_t size,
                  char **out, size_t *out_size, struct error *err);

#endif
