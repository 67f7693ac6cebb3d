/* protocol: the conversation between the engine and whatever runs variants.
 *
 * The engine sends requests, the other side answers each; both as messages of a head and a body,
 * over a byte stream. Everything is little-endian and laid out alike for 32- and 64-bit code
 * (fields sorted so that no padding arises). A worker is one kind of answerer; a guest behind a
 * serial line can be another.
 *
 *   engine                                worker
 *   CONFIG, PROGRAM, BEGIN            ->  READY
 *   CHECK variant...                  ->  CHECKED (one for each)
 *   SIZE variant...                   ->  SIZED (one for each)
 *   BLOCK variant, unroll... rounds   ->  SAMPLES
 *   END, BEGIN                        ->  READY
 *
 * Between BEGIN and END the requests are answered by a process of its own, so that a new one costs
 * a fork: the program and the LDT are inherited, memory for code and data is fresh.
 *
 * A worker that dies answers by dying: what it did at that moment stands in the status page that
 * both have mapped. */
#ifndef ENGINE_PROTOCOL_H
#define ENGINE_PROTOCOL_H

#include <stdint.h>

#include "environment.h"

enum { PROTOCOL_VERSION = 1, PROTOCOL_MAX_MESSAGE = 256 << 20 };

/* Descriptors a worker is started with. */
enum { PROTOCOL_FD = 3, PROTOCOL_STATUS_FD = 4 };

enum protocol_type {
	PROTOCOL_CONFIG = 1,
	PROTOCOL_PROGRAM,
	PROTOCOL_CHECK,
	PROTOCOL_SIZE,
	PROTOCOL_BLOCK,
	PROTOCOL_BEGIN,
	PROTOCOL_END, /* no body */
	PROTOCOL_READY = 100,
	PROTOCOL_CHECKED,
	PROTOCOL_SIZED,
	PROTOCOL_SAMPLES,
	PROTOCOL_FAILED, /* body: a text; the worker cannot go on and exits */
};

struct protocol_head {
	uint32_t type;
	uint32_t size; /* of the body that follows, in bytes */
};

struct protocol_config {
	uint32_t version;
	int32_t cpu;
	uint32_t granule;      /* ticks between two values of the time stamp */
	uint32_t capabilities; /* bit mask, 1 << enum host_capability: what may be tried */
	uint32_t deadline_ms;  /* a variant that takes longer than this hangs */
	uint32_t ldt_data,
	        ldt_code; /* flat descriptors wanted: from entry 0 on, from PROTOCOL_LDT_CODE on */
	uint32_t pad;
};
enum {
	PROTOCOL_LDT_CODE = 256,
	PROTOCOL_LDT_CODE_MOST = 256,
	PROTOCOL_LDT_SEGMENT = 512,
	PROTOCOL_LDT_SEGMENT_MOST = 4096
};

struct protocol_begin {
	uint64_t seed;  /* addresses */
	uint32_t guard; /* functional checks only, and what a variant may ask the kernel for is
	                   limited (guard.h) */
	uint32_t pad;
};

/* A program: sections with fixups, and variants that name their sections. The bytes follow the four
 * arrays. */
struct protocol_program {
	uint32_t sections, fixups, variants, bytes;
};

enum { PROTOCOL_EXEC = 1, PROTOCOL_WRITE = 2 };

struct protocol_section {
	uint32_t offset; /* into the bytes */
	uint32_t size;   /* bytes given; the rest up to memory is zero */
	uint32_t memory;
	uint32_t align;
	uint32_t flags;
	uint32_t fixup, fixups; /* first, number */
	uint32_t variant;       /* owner, or PROTOCOL_SHARED: one for all variants */
};
#define PROTOCOL_SHARED 0xffffffffu

enum protocol_fixup_kind {
	PROTOCOL_ABS16 = 1,
	PROTOCOL_ABS32,
	PROTOCOL_ABS64,
	PROTOCOL_REL8,
	PROTOCOL_REL16,
	PROTOCOL_REL32,
	PROTOCOL_REL64,
};

/* value = address(section) + addend [- address of the field] */
struct protocol_fixup {
	int64_t addend;
	uint32_t at;
	uint32_t kind;
	uint32_t section; /* PROTOCOL_SHARED: absolute, no section */
	uint32_t pad;
};

enum { PROTOCOL_UNROLL, PROTOCOL_LOOP, PROTOCOL_ONCE };
enum {
	PROTOCOL_PATTERN_NONE,
	PROTOCOL_PATTERN_RANDOM,
	PROTOCOL_PATTERN_SHORT,
	PROTOCOL_PATTERN_BLOCKS
};
enum { PROTOCOL_EVICT_NONE, PROTOCOL_EVICT_FLUSH, PROTOCOL_EVICT_WALK };
enum { PROTOCOL_TARGET_CODE, PROTOCOL_TARGET_BUFFER, PROTOCOL_TARGET_ALL, PROTOCOL_TARGET_POOL };

struct protocol_variant {
	int32_t setup, teardown, body, baseline, pool; /* section numbers, -1: none */
	uint32_t stack, align;
	uint32_t repeat;
	uint32_t segment;        /* 0, 16 or 32: a code segment whose base is the pool */
	uint32_t pattern, share; /* kind; percent of ones */
	uint32_t copies;         /* of the body in one turn of a loop; 0 means 1 */
	uint32_t evict, target;  /* before single shots */
	uint64_t walk;           /* bytes */
	uint32_t warm; /* iterations of a loop before each timed execution; 0: the worker's own
	                  number, or as many as are timed if these are fewer */
	uint32_t pad;
};

/* CHECK: a list of uint32_t variants; those with this bit are not tried with the footprint. */
#define PROTOCOL_CHECK_BARE 0x80000000u
enum {
	PROTOCOL_CHECK_STACK = 1,   /* the stack pointer is not where it must be */
	PROTOCOL_CHECK_POINTER = 2, /* %rbp was changed */
	PROTOCOL_CHECK_FORKED = 4,  /* there is a child */
};
struct protocol_checked {
	uint32_t variant;
	uint32_t iterations;
	uint32_t faults;
	int32_t stack_moved; /* bytes */
	uint32_t footprint;  /* of 8 quiet executions, how many kept the footprint */
	uint32_t size;       /* bytes of one body, as placed (stride) */
	struct environment env;
};

/* SIZE: a list of uint32_t variants; how many iterations give a difference of `ticks` (in config:
 * 100 granules). */
struct protocol_sized {
	uint32_t variant;
	uint32_t unroll;
	uint64_t ticks; /* of 2U minus U iterations, as seen */
};

/* BLOCK: head, then entries. The answer: head, then for each round, each entry: two uint32_t, ticks
 * of hi and of lo. */
struct protocol_block {
	uint64_t seed;
	uint32_t rounds, entries;
};
struct protocol_entry {
	uint32_t variant, unroll;
	uint32_t footprint; /* put it down */
	uint32_t pad;
};
#define PROTOCOL_INTERRUPTED 0x80000000u /* bit 31 of a sample: the footprint was gone */

struct protocol_samples {
	uint32_t rounds, entries;
	uint64_t begin, end; /* time stamps around the block */
};

/* The page that both sides map. Written by the worker; a signal handler's last words. */
enum protocol_doing {
	PROTOCOL_IDLE,
	PROTOCOL_PREPARING,
	PROTOCOL_CHECKING,
	PROTOCOL_QUIET, /* a check that was passed, again with the footprint put down */
	PROTOCOL_SIZING,
	PROTOCOL_SAMPLING,
};
/* Why the guard refused a system call. */
enum protocol_refused {
	PROTOCOL_NOT_REFUSED,
	PROTOCOL_REFUSED_STARTS,
	PROTOCOL_REFUSED_REACHES,
	PROTOCOL_REFUSED_BREAKS
};
enum protocol_part {
	PROTOCOL_PART_NONE,
	PROTOCOL_PART_SETUP,
	PROTOCOL_PART_BODY,
	PROTOCOL_PART_TEARDOWN,
	PROTOCOL_PART_POOL
};
struct protocol_status {
	uint32_t doing;
	uint32_t variant;
	uint32_t signal;  /* 0: none; SIGALRM: hung */
	uint32_t part;    /* where the program counter was */
	uint64_t pc;      /* linear: the base of its code segment is added */
	uint64_t address; /* of the fault, si_addr */
	uint32_t offset;  /* into that part */
	uint32_t in_shot; /* user code was running */
	uint32_t refused; /* enum protocol_refused, with signal SIGSYS */
	uint32_t pad;
};

#endif
