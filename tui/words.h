/* words: a line of the command language cut into words, and words made a line again.
 *
 * Quoting is a shell's: single quotes keep everything; double quotes keep everything but \" \\ \$
 * \` and a backslash before the end of a line; outside of quotes a backslash keeps the next
 * character, and before the end of a line it disappears together with it. A # at the start of a
 * word begins a comment that ends with the line. There are no variables, patterns or pipes. */
#ifndef TUI_WORDS_H
#define TUI_WORDS_H

#include <stddef.h>

#include "engine/error.h"

enum words_end {
	WORDS_WHOLE,     /* the text ends between words or with one */
	WORDS_IN_QUOTE,  /* a quote is still open: more lines may belong to it */
	WORDS_IN_ESCAPE, /* the last character is a backslash: the next line belongs to this one */
};

struct words {
	char **items;   /* without quotes */
	size_t *starts; /* byte in the text where each begins, quotes included */
	size_t count;
	enum words_end end;
	size_t open;    /* byte of the quote or backslash that end speaks of */
	char quote;     /* the quote that is open, or 0 */
	int in_word;    /* the last word touches the end of the text: it may still grow */
	int in_comment; /* the text ends inside a comment */
};

/* Cuts the first size bytes of text; an open quote or a last backslash is told in out->end and is
 * no error. */
void words_scan(const char *text, size_t size, struct words *out) __attribute__((nonnull));

/* Cuts text. ERROR_INPUT, with the column (from 1, in bytes) of the quote, where a quote is never
 * closed or nothing follows a backslash. */
int words_split(const char *text, struct words *out, struct error *err)
        __attribute__((nonnull(1, 2)));

/* The bytes of the first command in text, its newline with it: up to the first newline that no
 * quote or backslash holds. 0 if there is none. */
size_t words_command_size(const char *text, size_t size) __attribute__((nonnull));

void words_free(struct words *w) __attribute__((nonnull));

/* One word quoted so that words_split gives it back; as it is where no quotes are needed.
 * malloc'ed. */
char *words_quote(const char *word) __attribute__((nonnull));

/* n words quoted and joined by spaces. malloc'ed. */
char *words_join(const char *const *words, size_t n);

#endif
