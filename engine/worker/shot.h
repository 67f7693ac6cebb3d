/* shot: one execution of a variant between two time stamps. The code is in shot.S; the offsets
 * there are those of this struct. */
#ifndef WORKER_SHOT_H
#define WORKER_SHOT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/environment.h"

struct shot {
	uint64_t entry;      /* where the iterations begin; they end in a jump to shot_exit */
	uint64_t env;        /* %rbp */
	uint64_t stack;      /* %rsp */
	uint64_t setup;      /* called before the clock, 0: none */
	uint64_t teardown;   /* called behind it */
	uint32_t footprint;  /* put the null selector 1 into %es */
	uint32_t one;        /* 1: what is loaded */
	uint64_t begin, end; /* time stamps */
	uint64_t es_after;
	uint64_t sp_after, bp_after;
	uint64_t saved_sp;
	uint64_t saved_ds, saved_es, saved_fs, saved_gs;
	uint64_t fs_base, gs_base; /* x86_64 */
	uint64_t ax, dx;
	uint64_t fsgsbase; /* the instructions may be used */
};
_Static_assert(offsetof(struct shot, footprint) == 40, "shot.S");
_Static_assert(offsetof(struct shot, begin) == 48, "shot.S");
_Static_assert(offsetof(struct shot, saved_sp) == 88, "shot.S");
_Static_assert(offsetof(struct shot, fs_base) == 128, "shot.S");
_Static_assert(offsetof(struct shot, fsgsbase) == 160, "shot.S");
_Static_assert(offsetof(struct environment, pushed) == 40, "shot.S");

extern struct shot shot;

/* Fires: setup, clock, iterations, clock, teardown; segment registers, bases, flags and
 * callee-saved registers are as before. */
void shot_fire(void);

extern const char shot_exit[]; /* where bodies jump to */

#endif
