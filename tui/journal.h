/* journal: the commands of a session and how each ended; the log of the workbench, and what `write`
 * makes a script of. */
#ifndef TUI_JOURNAL_H
#define TUI_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/error.h"

struct journal_entry {
	char *line; /* as it could be typed again, in any session */
	char *said; /* what it told: messages and results, or NULL; lines ended by LF */
	enum error_code code;
	bool ended;
	bool repeats; /* belongs to a script */
};

/* Zeroed is empty. */
struct journal {
	struct journal_entry *items;
	size_t count;
};

/* Adds a command that begins; returns its number. */
size_t journal_begin(struct journal *j, const char *line, bool repeats) __attribute__((nonnull));

/* Replaces the line of an entry. */
void journal_line_set(struct journal *j, size_t entry, const char *line) __attribute__((nonnull));

void journal_end(struct journal *j, size_t entry, enum error_code code) __attribute__((nonnull));

/* Adds to what an entry told. */
void journal_tell(struct journal *j, size_t entry, const char *text) __attribute__((nonnull));

/* If the last two entries are the same command, went well and are none that repeat, the older one
 * goes: of ten toggles the last composition is what counts. */
void journal_fold(struct journal *j) __attribute__((nonnull));

/* Writes the commands that measure or set something, one a line, with a remark where one was not
 * carried through. Those that were errors are left out. */
void journal_write(const struct journal *j, FILE *out) __attribute__((nonnull));

void journal_free(struct journal *j) __attribute__((nonnull));

#endif
