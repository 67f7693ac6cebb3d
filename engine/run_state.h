/* run_state: what the parts of a run share (run.c the conversation, run_plan.c what is measured,
 * run_judge.c what it means). Not for callers of run.h. */
#ifndef ENGINE_RUN_STATE_H
#define ENGINE_RUN_STATE_H

#include "cpustat.h"
#include "program.h"
#include "run.h"
#include "worker.h"

enum {
	RUN_RULER_ADDS = 100,
	RUN_ROUNDS = 20,      /* of a block */
	RUN_ROUNDS_ONCE = 60, /* of a block of single shots: each is one iteration */
	RUN_ROUNDS_SWEPT = 6, /* of a block that reads RUN_SWEEP bytes or more before a shot: it
	                         takes milliseconds, and placements count */
	RUN_SWEEP = 8 << 20,
	RUN_BLOCKS_A_WORKER = 8, /* then a new process, for fresh physical pages */
	RUN_CONTROLS_FIRST = 16, /* blocks that carry every control; then each RUN_CONTROLS_EVERY-th
	                            does: the time is the rows' */
	RUN_CONTROLS_EVERY = 4,
	RUN_BLOCKS_LEAST = 24, /* before precision is looked at */
	RUN_BLOCKS_MOST = 4096,
	RUN_DEADLINE_MS = 2000, /* a variant that takes longer hangs */
	RUN_ASKED = 64,         /* variants of one CHECK or SIZE */
	RUN_UNROLL_MOST = 1 << 20,
};

/* What one entry of a block is for. */
enum run_role {
	RUN_ROW,
	RUN_BASELINE, /* subtracted from rows */
	RUN_RULER,    /* a hundred dependent adds: one cycle each */
	RUN_TEN,      /* ten adds and eleven: one add apart */
	RUN_ELEVEN,
	RUN_IMUL,  /* a hundred dependent multiplications: a whole number of cycles each */
	RUN_AGAIN, /* a row a second time: must not differ from the first */
};

/* One variant of a program and what was measured of it. */
struct run_track {
	enum run_role role;
	long row;      /* RUN_ROW, RUN_AGAIN: of the result */
	long baseline; /* index of a track to subtract, or -1 */
	const char *name;
	uint32_t variant; /* of the program */
	uint32_t unroll;  /* 0: not yet known */
	bool checked, dead;
	bool footprint; /* put down */
	bool bare;      /* not tried with the footprint: it uses %es, or died of it */
	bool once;      /* single shots */
	double seconds; /* that 2U iterations take longer than U */
	uint64_t kept, interrupted, fenced;
	double *ticks;  /* per iteration, baseline not taken off; one a block, NAN where too few
	                   samples were kept */
	double *spread; /* standard error of that */
	size_t room;    /* blocks there is room for */
};

struct run_abi {
	bool used;
	struct program program;
	struct run_track *tracks;
	size_t track_count;
	long ruler, ten, eleven, imul, again; /* indices of tracks */
	struct worker *worker;
	uint32_t ldt_data, ldt_code; /* descriptors that its variants want */
	bool guarded;                /* the process that answers is one for checks */
	unsigned *worker_of;         /* the process that measured each block */
	size_t worker_room;
	uint32_t workers_started, blocks_of_worker;
	uint32_t asked[RUN_ASKED]; /* the CHECK or SIZE on now: tracks, in order */
	uint32_t asked_count, answered;
	uint32_t *entry_track; /* the block on now: tracks, in order */
	size_t entry_count;
	struct protocol_samples
	        *samples; /* its answer: nothing counts before all ABIs have delivered */
	enum {
		RUN_NOTHING,
		RUN_STARTING,
		RUN_WAIT_CHECK,
		RUN_WAIT_SIZE,
		RUN_WAIT_BLOCK,
		RUN_READY
	} waiting;
};

struct run {
	struct run_spec spec;
	struct host host; /* a copy: core_hz becomes known */
	struct result_run *result;
	struct run_abi abi[EXPERIMENT_ABIS];
	enum { RUN_PREPARING, RUN_MEASURING, RUN_DONE } phase;
	int now;         /* the ABI whose turn it is; -1: none */
	unsigned todo;   /* ABIs still to deliver the block on now, a bit mask */
	uint32_t blocks; /* complete */
	uint64_t random;
	double started, deadline, measure_from; /* monotonic seconds */
	double next_look;    /* number of blocks at which precision is looked at again */
	double next_refresh; /* when intervals are refreshed again */
	double fraction;
	double patience; /* until then a run whose controls fail goes on; 0: they have not failed
	                    yet */
	struct cpustat cpu_before, sibling_before;
	bool cpu_known, sibling_known;
	int sibling; /* of the CPU that measures, or -1 */
	bool stop;
	struct error failure;
};

/* A random number that follows from the run's seed. */
uint64_t run_draw(struct run *r);

/* run_plan.c: the tracks and the program of one ABI, for rows that are not absent. */
int run_plan_rows(struct run *r, struct error *err); /* result rows, and which are absent */
int run_plan_abi(struct run *r, enum experiment_abi abi, struct error *err);
void run_plan_bases(struct run *r); /* bases that turned out not to exist */

/* run_judge.c */
void run_judge_block(struct run *r,
                     enum experiment_abi abi); /* the samples that it has delivered */
void run_judge_rows(struct run *r);            /* intervals, comparisons */
void run_judge_controls(struct run *r); /* controls and whether the run is trusted; then verdicts.
                                           May be called again */
void run_judge_drift(struct run *r);    /* warns of differences that did not stay the same from the
                                           first block to the last */
bool run_judge_precise(struct run *r);  /* what was asked for is narrow enough; sets fraction */

#endif
