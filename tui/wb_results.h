/* wb_results: the runs that the workbench holds, which of them is shown, and in what order its rows
 * stand. Model alone: it draws nothing. */
#ifndef TUI_WB_RESULTS_H
#define TUI_WB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/error.h"
#include "engine/result.h"

enum wb_sort {
	WB_SORT_MEASURED, /* as the run has them */
	WB_SORT_NAME,
	WB_SORT_CYCLES,
	WB_SORT_DIFFERENCE,
	WB_SORT_INTERVAL, /* its half-width */
	WB_SORT_SPREAD,   /* over placements: the middle half */
	WB_SORTS,
};
extern const char *const wb_sort_name[WB_SORTS]; /* what the command `sort` takes */

enum { WB_RUNS_HELD = 32 }; /* the oldest are let go; the archive has them */

/* Zeroed is empty. */
struct wb_results {
	struct result_run **runs; /* ended or opened, oldest first; owned */
	size_t count;
	const struct result_run *live; /* the run that is on, or NULL; not owned */
	size_t shown;                  /* of runs, where none is on */
	enum wb_sort sort;
	bool down;
	char **filter; /* words that a row's label must have */
	size_t filter_count;
	/* what follows */
	size_t *order; /* rows of the run shown */
	size_t order_count;
	size_t selected;  /* of order */
	unsigned version; /* changes whenever what is shown may have */
};

/* The run that is shown, or NULL. */
const struct result_run *wb_results_run(const struct wb_results *r);

/* The row that is selected, or NULL; *index (or NULL) is its place in the run. */
const struct result_row *wb_results_row(const struct wb_results *r, size_t *index);

/* A run is on from now; NULL: no longer. What it has measured is looked at with
 * wb_results_refresh. */
void wb_results_live_set(struct wb_results *r, const struct result_run *live);

/* Takes a run and shows it. A run of the archive that is held already replaces that copy. */
void wb_results_add(struct wb_results *r, struct result_run *run);

/* Shows the run before or behind the one shown; false if there is none. */
bool wb_results_step(struct wb_results *r, int step);

/* Puts the rows in order again; the row selected stays so. */
void wb_results_refresh(struct wb_results *r);

/* ERROR_INPUT: no such column (the nearest is offered). */
int wb_results_sort(struct wb_results *r, const char *column, bool down, struct error *err);
void wb_results_filter(struct wb_results *r, const char *const *words, size_t n);

void wb_results_free(struct wb_results *r);

/* "reg=gs,outer=tls": a row as --against names it: the factors that vary in the run. malloc'ed. */
char *wb_results_terms(const struct result_run *run, const struct result_row *row);

#endif
