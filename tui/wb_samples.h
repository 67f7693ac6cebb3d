/* wb_samples: what single samples of the last run cost, for a picture of their distribution. Of
 * each row so many are kept, drawn evenly from all. */
#ifndef TUI_WB_SAMPLES_H
#define TUI_WB_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/result.h"
#include "engine/run.h"

enum {
	WB_SAMPLES_KEPT = 2048, /* of a row */
	WB_SAMPLES_ROUNDS = 512,
};

struct wb_samples_row {
	double *ticks; /* per iteration: what 2U executions took above U */
	size_t count;
	uint64_t seen;
};

/* Zeroed is empty. */
struct wb_samples {
	const struct result_run *run; /* they are of; not owned, to be compared only */
	uint64_t seed;                /* of that run */
	struct wb_samples_row *rows;
	size_t row_count;
	/* the half of a pair that has come: of this row and block, by round */
	long row;
	uint32_t block, iterations;
	double first[WB_SAMPLES_ROUNDS]; /* ticks; NAN: none, or not kept */
	uint64_t draw;
};

/* Begins anew, for a run that is about to be measured. */
void wb_samples_begin(struct wb_samples *s, const struct result_run *run);

/* Takes a sample as the run reports it: of each row and block first those of U executions and then
 * those of 2U, or the other way round. */
void wb_samples_take(struct wb_samples *s, const struct run_sample *sample);

/* The samples of a row of a run; NULL where there are none. */
const struct wb_samples_row *wb_samples_of(const struct wb_samples *s, const struct result_run *run,
                                           size_t row);

void wb_samples_free(struct wb_samples *s);

#endif
