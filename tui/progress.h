/* progress: one line on standard error while a run is on: what is measured, how far it is, how long
 * it will still take.
 *
 * Only where standard error is a terminal and nobody asked for quiet; at most ten times a second;
 * erased at the end, so that nothing of it stays between the results. */
#ifndef TUI_PROGRESS_H
#define TUI_PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "engine/run.h"

struct progress {
	bool on;
	bool quiet;
	const char *name;     /* of the experiment */
	int drawn;            /* columns of the line that stands there */
	struct timespec next; /* not before this */
};

/* Begins. name must live until progress_end. */
void progress_begin(struct progress *p, const char *name, bool quiet) __attribute__((nonnull));

/* Draws anew if it is time; to be given to run_to_end with a struct progress. */
void progress_tick(struct run *r, void *p) __attribute__((nonnull));

/* The same for programs that read --format jsonl: twice a second an object of kind event and level
 * progress on standard output, whatever that is, unless quiet was asked for. */
void progress_tick_json(struct run *r, void *p) __attribute__((nonnull));

/* Erases the line. */
void progress_end(struct progress *p) __attribute__((nonnull));

/* The line's text, no more than width columns: "segreg: 42%, 3 s left". Pure, for tests. out has
 * width + 1 bytes; returns its length. */
int progress_text(char *out, int width, const char *name, double share, double seconds_left)
        __attribute__((nonnull));

#endif
