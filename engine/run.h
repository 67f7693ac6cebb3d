/* run: everything measured by one command.
 *
 * A run is driven by its caller, without threads: start it, poll its file descriptors, step it
 * whenever one is ready or its time-out has passed, look at the rows as they narrow, stop it at any
 * moment, take the result. Between steps nothing of the run executes in the calling process; the
 * measuring is done by workers (protocol.h) pinned to the CPU that was asked for. The method is
 * that of entrylab-method(7). */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <poll.h>
#include <stdint.h>

#include "error.h"
#include "experiment.h"
#include "host.h"
#include "result.h"

struct run;

/* One timed execution, for --raw. */
struct run_sample {
	enum experiment_abi abi;
	uint32_t worker, block, round;
	long row;            /* row of the result; negative: a control or ruler */
	const char *name;    /* the control's name, or the row's label */
	uint32_t iterations; /* U or 2U (single shots: 0 or 1) */
	uint64_t ticks;
	char state; /* 'k' kept, 'i' interrupted (footprint), 'f' fenced */
};

struct run_spec {
	const struct experiment *experiment;
	const struct experiment_variants *variants; /* at least one */
	const long *bases;       /* of experiment_bases, or NULL: no comparisons */
	const char *command;     /* to be kept with the result */
	const char *legend;      /* what levels stand for, or NULL: kept with the result */
	const struct host *host; /* host_read of the CPU that measures; host->cpu is that CPU */
	const struct host_probes *probes;
	uint64_t seed;           /* order, addresses */
	double time_limit;       /* seconds of measuring, 0.01 to 86400 */
	double precision_cycles; /* half-width wanted: the larger of this ... */
	double precision_share;  /* ... and this share of the level */
	void (*sample)(void *ctx, const struct run_sample *s); /* or NULL */
	void *ctx;
};

/* Assembles the variants, checks levels, starts the first workers. Everything in spec must live
 * until run_free. Takes some milliseconds (one GNU as run for each ABI). ERROR_INPUT: the
 * assembler's or a level's message, with the file and line of the experiment's file. ERROR_ABSENT:
 * no assembler, no worker for any ABI that was asked for, or no variant possible here (the result
 * then still has every row with its reason: run_result). */
int run_start(const struct run_spec *spec, struct run **out, struct error *err);

/* Writes the descriptors to wait for (at most max) and returns how many. */
size_t run_poll_fds(const struct run *r, struct pollfd *fds, size_t max);

/* Milliseconds until run_step must be called even if no descriptor is ready; -1: no limit. */
int run_timeout_ms(const struct run *r);

/* Goes on without blocking. 1: more to come; 0: finished; ERROR_INTERNAL: cannot go on (the result
 * so far stands). */
int run_step(struct run *r, struct error *err);

/* The result as it stands; intervals are refreshed at the end of every block, at most 20 times a
 * second. Never NULL. Belongs to the run. */
const struct result_run *run_result(const struct run *r);

/* Share done (0 to 1) and an estimate of the seconds left, for a progress line. */
double run_progress(const struct run *r, double *seconds_left);

/* Stops as soon as the block on now is abandoned; complete blocks are kept, the result is marked
 * cut short. run_step finishes it. */
void run_stop(struct run *r);

/* Takes the final result out of a finished (or stopped) run: the caller's. */
struct result_run *run_take(struct run *r);

/* Ends workers that still live, frees everything. */
void run_free(struct run *r);

/* run_step in a loop with poll, until finished. stop (or NULL) is looked at between steps: non-zero
 * calls run_stop. tick (or NULL) is called after every step. For callers without a loop of their
 * own. */
int run_to_end(struct run *r, const volatile int *stop, void (*tick)(struct run *, void *),
               void *ctx, struct error *err);

#endif
