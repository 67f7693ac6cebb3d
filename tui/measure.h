/* measure: one measurement as commands make it, in steps: prepare, start, drive, finish. Batch and
 * workbench go the same way; only who drives the run differs. */
#ifndef TUI_MEASURE_H
#define TUI_MEASURE_H

#include <sched.h>
#include <stdio.h>

#include "engine/archive.h"
#include "engine/experiment.h"
#include "engine/host.h"
#include "engine/result.h"
#include "engine/run.h"
#include "tui/command.h"

/* A run that was measured and kept. */
struct measure_outcome {
	struct result_run *result; /* NULL: there is none. The caller's, for result_run_free */
	struct error not_kept; /* why it is not in the archive; code 0 if it is, or need not be */
	struct error raw_lost; /* the same for the file of --raw */
};

/* All that one measurement holds. Begins zeroed. */
struct measure {
	struct command_call *call;
	const struct experiment *experiment;
	struct experiment_selection selection;
	struct experiment_variants variants;
	long *bases; /* NULL: no comparison */
	struct host host;
	struct host_probes probes;
	struct archive *archive;
	FILE *raw;
	struct run *run;
	struct measure_outcome *out;
	cpu_set_t before; /* where this process might run, if it had to leave a CPU */
	bool moved;
};

/* Selects the variants and their bases, looks at the machine, opens the file of --raw. call,
 * experiment and out live until measure_free. against: terms of --against, or none. */
int measure_prepare(struct measure *m, struct command_call *call, const struct experiment *x,
                    const char *const *words, size_t n, const char *const *against,
                    size_t against_count, struct measure_outcome *out, struct error *err);

/* Opens the archive, takes this process off the CPU that measures, and starts the run under the
 * call's line. ERROR_ABSENT comes with rows in out->result that say why none is possible. */
int measure_start(struct measure *m, struct error *err);

/* To its end, by the session's face if it has one. */
int measure_drive(struct measure *m, struct error *err);

/* Takes the result of the run and keeps it, so that it is on disk before anything is shown. */
void measure_finish(struct measure *m);

void measure_free(struct measure *m);

/* How many rows are in a state. */
size_t measure_count(const struct result_run *result, enum result_state state);

#endif
