/* complete: what could stand at the cursor. A pure function of the line, the cursor and what there
 * is; it knows no terminal.
 *
 * The prompt asks it with what the machine holds, the tests with what they made up. */
#ifndef TUI_COMPLETE_H
#define TUI_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/experiment.h"

/* Where names come from that are in no table. Each may be NULL: there are none. */
struct complete_source {
	/* Adds the name of every experiment by add. */
	void (*experiments)(void *ctx, void (*add)(void *list, const char *name), void *list);
	/* The experiment of that name, or NULL. It belongs to the source and lives as long. */
	const struct experiment *(*experiment)(void *ctx, const char *name);
	/* Adds the name of every claim, and of every published table. */
	void (*claims)(void *ctx, void (*add)(void *list, const char *name), void *list);
	void (*tables)(void *ctx, void (*add)(void *list, const char *name), void *list);
	/* Adds the numbers of the runs that are kept. */
	void (*runs)(void *ctx, void (*add)(void *list, const char *name), void *list);
	void *ctx;
	bool workbench; /* the commands that only the workbench has are offered too */
};

struct complete_list {
	size_t start; /* byte in the line where what is completed begins; it ends at the cursor */
	char **items; /* what could stand from start on, sorted, no two alike */
	size_t count;
	bool files; /* names of files could stand here too: that is readline's part */
	bool open;  /* more follows without a blank: no blank is to be put behind the only candidate
	             */
};

/* Fills out, which complete_free frees. point: the cursor's byte, at most the line's length. */
void complete_line(const char *line, size_t point, const struct complete_source *source,
                   struct complete_list *out) __attribute__((nonnull));
void complete_free(struct complete_list *list) __attribute__((nonnull));

#endif
