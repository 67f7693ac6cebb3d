/* shelf: where files of one kind stand on the search path of experiments, and how they are found by
 * name.
 *
 * Private to engine/. A name found in several directories is the file of the first. */
#ifndef ENGINE_SHELF_H
#define ENGINE_SHELF_H

#include "error.h"
#include "experiment_words.h"

struct shelf {
	const char *directory; /* below each directory of experiment_paths: "claims"; "" for that
	                          itself */
	const char *suffix;    /* ".claim" */
	const char *what;      /* "claim", for messages */
	const char *list;      /* the command that lists them */
};
extern const struct shelf shelf_experiments, shelf_claims, shelf_published;

/* The file's name without directory and suffix. malloc'ed; NULL without memory. */
char *shelf_name(const struct shelf *s, const char *path);

/* Whether a word given in place of a name is a path: it has a '/' or the suffix. */
bool shelf_is_path(const struct shelf *s, const char *word);

/* The path of the file of that name, malloc'ed. None: *path is NULL and the result still 0, so that
 * a caller may look elsewhere. */
int shelf_find(const struct shelf *s, const char *name, char **path, struct error *err);

/* Whether there is a file of that name, or the word ends in the suffix. */
bool shelf_has(const struct shelf *s, const char *name);

/* There is none of that name: ERROR_INPUT, with the nearest one offered. */
int shelf_unknown(const struct shelf *s, const char *name, struct error *err);

/* The path, malloc'ed, that a command's word stands for: the word itself if it is a path, else the
 * file of that name. Empty or unknown: ERROR_INPUT, *path is NULL. */
int shelf_locate(const struct shelf *s, const char *word, char **path, struct error *err);

/* Calls each file, names in order within a directory, files hidden by an earlier directory's left
 * out. A directory that cannot be listed is given as a path, with why; else why is NULL. each
 * returning non-zero ends the walk with that. */
int shelf_each(const struct shelf *s,
               int (*each)(void *ctx, const char *path, const char *why, struct error *err),
               void *ctx, struct error *err);

#endif
