/* result: what a run found, as plain data. run.h fills it while it measures; record.h turns it into
 * JSON lines and back; tui/ draws it. Owned by whoever holds the struct result_run; result_run_free
 * frees all of it. Strings are UTF-8. */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats.h"

enum result_state {
	RESULT_PENDING, /* nothing measured yet */
	RESULT_MEASURED,
	RESULT_ABSENT, /* does not exist on this machine: reason */
	RESULT_WRONG,  /* failed its functional check: reason */
	RESULT_DIED,   /* a signal, an exit, a fork, a moved stack pointer: reason, crash */
	RESULT_HUNG,
	RESULT_STATES,
};
extern const char *const result_state_name[RESULT_STATES]; /* "pending", "measured", "absent",
                                                              "wrong", "died", "hung" */

enum result_footprint {
	RESULT_FOOTPRINT_ON,
	RESULT_FOOTPRINT_PARTIAL, /* the body enters the kernel: interrupts taken there leave none
	                           */
	RESULT_FOOTPRINT_OFF, /* the body uses %es, or this CPU's return from an interrupt leaves it
	                         alone */
};
extern const char *const result_footprint_name[3]; /* "on", "partial", "off" */

enum result_verdict {
	RESULT_VERDICT_NONE, /* no base, or not measured */
	RESULT_BASE,         /* this row is a base */
	RESULT_DIFFERENT,
	RESULT_NO_DIFFERENCE,
	RESULT_NOT_TRUSTED,
	RESULT_VERDICTS,
};
extern const char *const result_verdict_name[RESULT_VERDICTS]; /* "none", "base", "different",
                                                                  "no-difference", "not-trusted" */

struct result_crash {
	int signal;           /* 0: none */
	bool in_code;         /* the address is inside the variant's own code */
	uint32_t offset;      /* into the body, if in_code */
	uint64_t address;     /* program counter otherwise */
	char instruction[80]; /* disassembled, or "" */
};

struct result_row {
	char **levels; /* one per factor of the run, levels[0] is the abi */
	char *label;   /* the factors that vary: "reg=fs outer=null" */
	enum result_state state;
	char *reason; /* for every state but measured and pending; NULL otherwise */
	struct result_crash crash;
	struct stats_interval cycles, ns, ticks; /* per iteration, 99% */
	uint64_t kept, interrupted, fenced;      /* samples */
	enum result_footprint footprint;
	char *footprint_why;        /* NULL when on */
	uint32_t blocks, workers;   /* placements, processes */
	uint32_t unroll;            /* U */
	uint32_t code_bytes;        /* of one body */
	uint32_t pool_bytes;        /* of the code that lies elsewhere, without the room in it */
	char sha256[65];            /* of one body as assembled, before placement */
	struct stats_mode modes[4]; /* in cycles, over placements */
	size_t mode_count;
	double *placements; /* cycles of each block, in the order measured; block_count of them */
	size_t placement_count;
	/* against the base */
	long base;                  /* index of the base row, -1: none, own index: is a base */
	struct stats_interval diff; /* cycles, row minus base */
	double p, p_holm;           /* NAN where not compared */
	double detectable;          /* cycles: the smallest difference seen nine times in ten */
	enum result_verdict verdict;
};

struct result_control {
	char *name; /* "a/a i386", "one add i386", "imul over add i386", "footprint i386" */
	char *what; /* one sentence: what is checked */
	struct stats_interval value;
	double expected, tolerance; /* NAN where there is none */
	bool ok;
	bool fatal; /* a failure makes the run not trusted */
	char *text; /* outcome for a person */
};

struct result_event {
	char *level; /* "warning", "note" */
	char *text;
};

struct result_factor {
	char *name;
	bool varies;
};

struct result_run {
	char id[40];   /* "" until archived: then the archive's number in decimal */
	char *command; /* as a user could type it again */
	char *experiment, *title;
	char *legend;     /* what levels stand for, line by line (asm: the snippets); "" or NULL if
	                     their names say it */
	char started[32]; /* 2026-11-30T15:14:41Z */
	double seconds;   /* wall time of the measurement */
	struct result_factor *factors;
	size_t factor_count;
	uint32_t report_count; /* one more figure: what so many iterations cost; 0: none */
	bool report_seconds;   /* in seconds, else in cycles */
	long curve;            /* factor that the run is a curve against (curve.h), or -1 */
	uint32_t curve_bytes;  /* that one of its number takes; 0: not told */
	long curve_scale; /* factor whose number that is multiplied by; none if it is not above 0 */
	struct result_row *rows;
	size_t row_count;
	size_t excluded; /* combinations that do not exist by the file's own rules */
	struct result_control *controls;
	size_t control_count;
	struct result_event *events;
	size_t event_count;
	char *host; /* one JSON object, see host.h */
	char *unit; /* "iteration" */
	uint64_t seed;
	int cpu;
	uint32_t workers, blocks, rounds;
	double confidence;                        /* 0.99 */
	double alpha;                             /* 0.001, before Holm */
	double precision_cycles, precision_share; /* what was asked for */
	bool trusted;
	char *not_trusted_why; /* NULL when trusted */
	bool cut_short;        /* stopped by the user */
	char *stop_reason;     /* "precision reached", "time limit of 5 s", "stopped" */
	uint64_t samples_rejected;
};

void result_run_free(struct result_run *run);

/* What report_count iterations of a row cost, in seconds or cycles as the run reports. NANs where
 * it reports nothing, or the row has no figure. */
struct stats_interval result_row_report(const struct result_run *run, const struct result_row *row);

/* Whether any variant has a pool: then it is the pools' bytes that are compared, and those of one
 * without are 0. */
bool result_run_has_pools(const struct result_run *run);

/* Appends an event; the text is copied. */
void result_event_add(struct result_run *run, const char *level, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

#endif
