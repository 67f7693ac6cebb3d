/* experiment_words: "factor=level,level", the form in which header lines and commands name levels.
 *
 * Private to engine/. Every message starts with the place that the words come from: a line of
 * an experiment's file, or the experiment that a command names. */
#ifndef ENGINE_EXPERIMENT_WORDS_H
#define ENGINE_EXPERIMENT_WORDS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "experiment.h"

enum {
	EXPERIMENT_WORDS_FACTORS = 16,        /* of one file, abi not counted */
	EXPERIMENT_WORDS_LEVELS = 64,         /* of one factor */
	EXPERIMENT_WORDS_LENGTH = 63,         /* characters of a factor or a level */
	EXPERIMENT_WORDS_NUMBER = 1000000000, /* the largest level of a range */
	EXPERIMENT_WORDS_VARIANTS = 20000, /* of one run; so also the levels chosen of one factor */
};

struct experiment_words_place {
	const char *name; /* a path, or an experiment's name if line is 0 */
	unsigned line;
};

/* A list of strings, list and strings malloc'ed. {0} is an empty one. */
struct experiment_words_list {
	char **items;
	size_t count;
};

/* Stores ERROR_INPUT with the place in front of the message, and returns it. */
int experiment_words_fail(const struct experiment_words_place *at, struct error *err,
                          const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Stores ERROR_INTERNAL, out of memory, and returns it. */
int experiment_words_no_memory(struct error *err);

/* Appends a copy of the n bytes at s. */
int experiment_words_add(struct experiment_words_list *list, const char *s, size_t n,
                         struct error *err);
void experiment_words_list_free(struct experiment_words_list *list);

/* The items joined by the separator. malloc'ed; NULL without memory. */
char *experiment_words_join(char *const *items, size_t count, const char *separator);

/* Whether s is a word that can name a factor or a level: 1 to EXPERIMENT_WORDS_LENGTH letters,
 * digits and underscores, because macros paste levels into labels. */
bool experiment_words_is_name(const char *s);

/* Writes ": did you mean NAME?" for a word that is not among names, or "" if none of them is near.
 */
void experiment_words_hint(char *text, size_t size, const char *word, const char *const *names,
                           size_t n);

/* A whole number from 0 to EXPERIMENT_WORDS_NUMBER, digits only, of the n bytes at s. */
bool experiment_words_number(const char *s, size_t n, long *out);

/* "LO..HI" of numbers. False if it is not of that form; lo may exceed hi. */
bool experiment_words_range(const char *s, long *lo, long *hi);

/* The factor of "factor=..." or "factor!=..." and what stands behind the sign. No sign, an unknown
 * factor: ERROR_INPUT. */
int experiment_words_term(const struct experiment *x, const struct experiment_words_place *at,
                          const char *word, size_t *factor, bool *negated, const char **value,
                          struct error *err);

/* The levels that "level,level", "all" or, for a range, "LO..HI/STEP" names, written out one by one
 * in the order given. */
int experiment_words_levels(const struct experiment_factor *f,
                            const struct experiment_words_place *at, const char *value,
                            struct experiment_words_list *out, struct error *err);

/* The same for a condition: no "all", no steps, and the LO..HI parts of a range stay as they are.
 */
int experiment_words_parts(const struct experiment_factor *f,
                           const struct experiment_words_place *at, const char *value,
                           struct experiment_words_list *out, struct error *err);

#endif
