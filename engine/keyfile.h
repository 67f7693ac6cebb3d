/* keyfile: lines of "KEY VALUE", of which claims and the headers of published tables are made.
 *
 * Private to engine/. Which keys there are is told by a table of struct experiment_key, so that
 * messages, manuals and completion have one list. */
#ifndef ENGINE_KEYFILE_H
#define ENGINE_KEYFILE_H

#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "experiment_words.h"

struct keyfile_line {
	size_t key;    /* index into the table of keys */
	char *value;   /* without blanks around it; never empty */
	unsigned line; /* where it begins */
};

struct keyfile {
	struct keyfile_line *lines; /* in the order of the file */
	size_t count;
	unsigned last; /* the file's last line: where something missing is told */
};

/* Reads text, whose lines end in LF. prefix "": every line is a key's, or blank, or a comment from
 * '#' on, or, if it begins with a blank, goes on with the line before. Another prefix: lines that
 * begin with it are keys' and the others are not looked at. An unknown key, one without value, one
 * twice that must not be, a required one missing: ERROR_INPUT with the place. */
int keyfile_read(const char *path, const char *text, const char *prefix,
                 const struct experiment_key *keys, size_t key_count, struct keyfile *out,
                 struct error *err);
void keyfile_free(struct keyfile *k);

/* The first line of that key, or NULL. */
const struct keyfile_line *keyfile_find(const struct keyfile *k, size_t key);

/* The values of all lines of that key, joined by newlines; "" if there are none. malloc'ed; NULL
 * without memory. */
char *keyfile_join(const struct keyfile *k, size_t key);

/* Cuts "a | b | c" at bars; blanks around the parts go. At most max parts, the last one keeps what
 * follows. Appends to out. */
int keyfile_parts(const char *value, size_t max, struct experiment_words_list *out,
                  struct error *err);

/* Cuts at blanks. Appends to out. */
int keyfile_words(const char *value, struct experiment_words_list *out, struct error *err);

#endif
