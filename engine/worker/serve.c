#include "serve.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"
#include "engine/host_capability.h"
#include "guard.h"
#include "link.h"
#include "pattern.h"
#include "place.h"
#include "segments.h"
#include "shot.h"

enum {
	STACK = 1 << 20,
	BUFFER = 256 << 10,
	CHECK_ITERATIONS = 3,
	QUIET_SHOTS = 8,
	LOOP_LIMIT = 1 << 20,
	GRANULES = 100, /* a difference has at least that many steps of the clock */
	LINE = 64,
	WARM_TURNS = 4,
	REARM_TICKS = 1 << 28, /* a tenth of a second or less */
};

struct shot shot = {.one = 1};
static struct environment env __attribute__((aligned(64)));
static struct protocol_config config;
static uint64_t rng;
static uint8_t *stack, *buffer;
static uintptr_t stack_top;
static pid_t self;
static uint64_t armed; /* time stamp of the deadline set last */
static struct {
	uint8_t *at;
	uint64_t size;
} eviction, sled;

void serve_prepare(const struct protocol_config *c)
{
	config = *c;
	shot.fsgsbase = c->capabilities >> HOST_FSGSBASE & 1;
	segments_prepare(&env, c);
	shot.fs_base = env.base_tls;
	for (uint32_t v = 0; v < place_variant_count(); v++)
		pattern_make(place_variant(v)->pattern, place_variant(v)->share);
}

static _Thread_local uint32_t tls_word;

static void describe_process(void)
{
	int fds[2];
	if (pipe(fds))
		link_fail("pipe");
	env.pipe_read = (uint64_t)fds[0];
	env.pipe_write = (uint64_t)fds[1];
	env.ppid = (uint64_t)getppid();
	env.uid = getuid();
	env.vsyscall = sizeof(long) == 4 ? getauxval(AT_SYSINFO) : 0;
	env.tls_offset = (uint64_t)(int64_t)((intptr_t)&tls_word - (intptr_t)env.base_tls);
}

void serve_begin(const struct protocol_begin *begin)
{
	rng = begin->seed | 1;
	self = getpid();
	crash_prepare(&env);
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* below 2 GB, so that 32 bits address it in both ABIs */
	buffer = place_map(BUFFER, &rng);
	if (stack == MAP_FAILED || !buffer || mprotect(stack, 4096, PROT_NONE))
		link_fail("cannot map a stack and a buffer");
	env.buffer = (uintptr_t)buffer;
	env.buffer_size = BUFFER;
	if (config.capabilities & 1u << HOST_LDT) {
		env.sel_area = segments_area((uintptr_t)buffer, BUFFER);
		env.base_area = (uintptr_t)buffer;
	}
	describe_process();
	if (begin->guard)
		guard_install();
}

/* Where the stack begins is part of a placement. */
static void move_stack(void)
{
	stack_top = (uintptr_t)stack + STACK - 8192 - (uintptr_t)(place_random(&rng) % 256) * 16;
}

/* Places code, its segments and the stack anew. */
static void put(const uint32_t *variants, const uint32_t *copies, uint32_t n, struct place *places)
{
	place_block(variants, copies, n, &rng, places);
	for (uint32_t i = 0, slot = 0; i < n; i++)
		if (place_variant(variants[i])->segment)
			places[i].segment = segments_code(slot++, places[i].pool,
			                                  place_variant(variants[i])->segment);
	move_stack();
}

/* Copies of the body between one jump back and the next. */
static uint32_t turn(uint32_t variant)
{
	const struct protocol_variant *v = place_variant(variant);
	return v->repeat == PROTOCOL_LOOP && v->copies ? v->copies : 1;
}

static uint32_t multiple(uint32_t n, uint32_t step)
{
	return (n + step - 1) / step * step;
}

/* Iterations of a loop come in whole turns, and in whole periods of a pattern that has one: every
 * execution then has the pattern's share, and the ones of blocks are no outliers among its zeros.
 */
static uint32_t step(uint32_t variant)
{
	const struct protocol_variant *v = place_variant(variant);
	uint32_t period = v->repeat != PROTOCOL_LOOP              ? 1
	                  : v->pattern == PROTOCOL_PATTERN_SHORT  ? PATTERN_PERIOD
	                  : v->pattern == PROTOCOL_PATTERN_BLOCKS ? PATTERN_RUN
	                                                          : 1;
	return multiple(period, turn(variant));
}

static void fire(uint32_t variant, const struct place *p, uint32_t iterations, bool footprint)
{
	shot.entry = place_entry(variant, p, iterations);
	shot.env = (uintptr_t)&env;
	shot.stack = stack_top;
	shot.setup = p->setup;
	shot.teardown = p->teardown;
	shot.footprint = footprint;
	env.counter = env.counter2 = env.result = env.on_signal = 0;
	env.sel_pool = p->segment;
	env.pattern = pattern_address(place_variant(variant)->pattern,
	                              place_variant(variant)->share, &env.pattern_size);
	env.iterations = iterations;
	env.loop = iterations / turn(variant);
	link_status->in_shot = 1;
	shot_fire();
	link_status->in_shot = 0;
}

static uint64_t now(void)
{
	uint32_t a, d;
	__asm__ volatile("rdtsc" : "=a"(a), "=d"(d));
	return (uint64_t)d << 32 | a;
}

static uint64_t ticks(void)
{
	return shot.end - shot.begin;
}

static uint32_t copies_for(uint32_t variant, uint32_t iterations)
{
	return place_variant(variant)->repeat == PROTOCOL_LOOP ? turn(variant) : iterations;
}

/* A child came back from the body too: it must not go on as a second worker. */
static bool is_child(void)
{
	return (pid_t)syscall(SYS_getpid) != self;
}

static uint32_t find_faults(const struct protocol_variant *v, uint32_t iterations, int32_t *moved)
{
	uint32_t faults = 0;
	/* a loop has taken back what it should have left */
	uint32_t left = v->repeat == PROTOCOL_LOOP ? 0 : v->stack * iterations;
	*moved = (int32_t)((int64_t)shot.sp_after + left - (int64_t)stack_top);
	if (*moved)
		faults |= PROTOCOL_CHECK_STACK;
	if (shot.bp_after != (uintptr_t)&env)
		faults |= PROTOCOL_CHECK_POINTER;
	/* any child will do, also one that has ended */
	if (waitpid(-1, NULL, WNOHANG | __WALL) >= 0)
		faults |= PROTOCOL_CHECK_FORKED;
	return faults;
}

static void check_one(uint32_t asked)
{
	bool bare = asked & PROTOCOL_CHECK_BARE;
	uint32_t variant = asked & ~PROTOCOL_CHECK_BARE;
	const struct protocol_variant *v = place_variant(variant);
	uint32_t n = v->repeat == PROTOCOL_ONCE ? 1 : multiple(CHECK_ITERATIONS, turn(variant));
	uint32_t copies = copies_for(variant, n);
	struct place p;
	struct protocol_checked answer = {.variant = variant, .iterations = n};
	crash_note_variant(PROTOCOL_PREPARING, variant, NULL);
	put(&variant, &copies, 1, &p);
	crash_note_variant(PROTOCOL_CHECKING, variant, &p);
	crash_deadline(config.deadline_ms);
	env.checking = 1;
	fire(variant, &p, n, false);
	env.checking = 0;
	if (is_child())
		_exit(0);
	answer.faults = find_faults(v, n, &answer.stack_moved);
	answer.env = env;
	answer.size = p.stride;
	if (!answer.faults && !bare && config.capabilities & 1u << HOST_FOOTPRINT) {
		/* code that minds a null %es dies here: then the footprint is off, and nothing is
		 * wrong with the code */
		link_status->doing = PROTOCOL_QUIET;
		for (int i = 0; i < QUIET_SHOTS; i++) {
			fire(variant, &p, n, true);
			answer.footprint += (uint16_t)shot.es_after == 1;
		}
		link_status->doing = PROTOCOL_CHECKING;
	}
	crash_deadline(0);
	/* a variant that has closed the socket is still to blame when this cannot be sent */
	link_write(PROTOCOL_CHECKED, &answer, sizeof answer, NULL, 0);
	crash_note_variant(PROTOCOL_IDLE, variant, NULL);
}

void serve_check(const uint32_t *variants, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		check_one(variants[i]);
}

/* The least of a few, of 2u and of u iterations: interrupts only add. */
static uint64_t difference(uint32_t variant, const struct place *p, uint32_t u)
{
	uint64_t low[2] = {~0ull, ~0ull};
	for (int i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			fire(variant, p, u << k, false);
			if (i && ticks() < low[k]) /* the first warms */
				low[k] = ticks();
		}
	}
	return low[1] > low[0] ? low[1] - low[0] : 0;
}

static void size_one(uint32_t variant)
{
	const struct protocol_variant *v = place_variant(variant);
	bool loop = v->repeat == PROTOCOL_LOOP;
	uint32_t least = step(variant);
	uint32_t limit = loop ? LOOP_LIMIT / least * least : place_copies_limit(variant) / 2;
	uint64_t want = (uint64_t)GRANULES * config.granule;
	uint32_t copies = copies_for(variant, limit * 2);
	struct place p;
	struct protocol_sized answer = {.variant = variant, .unroll = 1};
	if (v->repeat == PROTOCOL_ONCE) {
		link_write(PROTOCOL_SIZED, &answer, sizeof answer, NULL, 0);
		return;
	}
	crash_note_variant(PROTOCOL_PREPARING, variant, NULL);
	put(&variant, &copies, 1, &p);
	crash_note_variant(PROTOCOL_SIZING, variant, &p);
	crash_deadline(config.deadline_ms);
	uint32_t u = least;
	uint64_t d = difference(variant, &p, u);
	while (d < want && u < limit) {
		/* the first differences are of the clock's own grain: grow by powers of two, then
		 * land on what is needed */
		uint64_t next = d > want / 8 ? (uint64_t)u * want / d + 1 : (uint64_t)u * 4;
		u = next > limit ? limit : multiple((uint32_t)next, least);
		d = difference(variant, &p, u);
	}
	crash_deadline(0);
	crash_note_variant(PROTOCOL_IDLE, variant, NULL);
	answer.unroll = u;
	answer.ticks = d;
	link_write(PROTOCOL_SIZED, &answer, sizeof answer, NULL, 0);
}

void serve_size(const uint32_t *variants, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		size_one(variants[i]);
}

/* Reads a set of lines that covers the cache, twice: once is not enough for caches that do not
 * replace the oldest line. */
static void walk_data(uint64_t size)
{
	if (eviction.size < size) {
		if (eviction.at)
			munmap(eviction.at, (size_t)eviction.size);
		eviction.at = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (eviction.at == MAP_FAILED)
			link_fail("cannot map an eviction set");
		eviction.size = size;
	}
	for (int pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < size; i += LINE)
			(void)*(volatile uint8_t *)(eviction.at + i);
}

/* Code that jumps from line to line and returns at its end. */
static void sled_make(uint8_t *at, size_t size)
{
	const uint8_t hop[] = {0xeb, LINE - 2}; /* jmp to the next line */
	for (size_t i = 0; i < size; i += LINE)
		memcpy(at + i, hop, sizeof hop);
	at[size - LINE] = 0xc3;
}

/* Executes lines of other code, for instruction caches are not filled by reading. */
static void walk_code(uint64_t size)
{
	if (sled.size != size) {
		if (sled.at)
			munmap(sled.at, (size_t)sled.size);
		sled.at = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (sled.at == MAP_FAILED)
			link_fail("cannot map an eviction set");
		sled.size = size;
		sled_make(sled.at, (size_t)size);
		if (mprotect(sled.at, (size_t)size, PROT_READ | PROT_EXEC))
			link_fail("cannot make an eviction set executable");
	}
	for (int pass = 0; pass < 2; pass++)
		((void (*)(void))(uintptr_t)sled.at)();
}

static void flush(uintptr_t from, size_t size)
{
	for (uintptr_t at = from & ~(uintptr_t)(LINE - 1); at < from + size; at += LINE)
		__asm__ volatile("clflush (%0)" ::"r"(at) : "memory");
}

static void evict(const struct protocol_variant *v, const struct place *p)
{
	if (v->evict == PROTOCOL_EVICT_WALK && v->target == PROTOCOL_TARGET_CODE) {
		walk_code(v->walk);
	} else if (v->evict == PROTOCOL_EVICT_WALK) {
		walk_data(v->walk);
	} else if (v->target == PROTOCOL_TARGET_CODE) {
		flush(p->code, (size_t)p->stride * p->copies + 5);
		flush(p->pool, p->pool_size);
	} else if (v->target == PROTOCOL_TARGET_POOL) {
		flush(p->pool, p->pool_size);
	} else {
		flush((uintptr_t)buffer, BUFFER);
	}
	__asm__ volatile("mfence; lfence" ::: "memory");
}

static uint32_t sample(const struct protocol_entry *e, const struct place *p, uint32_t iterations)
{
	const struct protocol_variant *v = place_variant(e->variant);
	/* Untimed: brings code, translations and predictors back. A loop needs a few turns for
	 * that, unrolled code every copy. */
	uint32_t warm = multiple(v->warm ? v->warm : WARM_TURNS, step(e->variant));
	bool other = v->repeat == PROTOCOL_LOOP && (v->warm || iterations > warm);
	fire(e->variant, p, other ? warm : iterations, e->footprint);
	if (v->evict)
		evict(v, p);
	fire(e->variant, p, iterations, e->footprint);
	uint64_t t = ticks();
	uint32_t s = t >= PROTOCOL_INTERRUPTED ? PROTOCOL_INTERRUPTED - 1 : (uint32_t)t;
	if (e->footprint && (uint16_t)shot.es_after != 1)
		s |= PROTOCOL_INTERRUPTED;
	return s;
}

static void sample_round(const struct protocol_entry *entries, uint32_t n,
                         const struct place *places, uint32_t *order, uint32_t *out)
{
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t j = (uint32_t)(place_random(&rng) % (i + 1));
		order[i] = order[j];
		order[j] = i;
	}
	for (uint32_t k = 0; k < 2 * n; k++) {
		uint32_t i = order[k] / 2, low = order[k] % 2;
		const struct protocol_entry *e = &entries[i];
		bool once = place_variant(e->variant)->repeat == PROTOCOL_ONCE;
		uint32_t iterations = once ? !low : low ? e->unroll : 2 * e->unroll;
		/* a fresh deadline now and then, seldom enough not to disturb: a long block is not
		 * a hang */
		uint64_t t = now();
		if (t - armed > REARM_TICKS) {
			crash_deadline(config.deadline_ms);
			armed = t;
		}
		crash_note_variant(PROTOCOL_SAMPLING, e->variant, &places[i]);
		out[order[k]] = sample(e, &places[i], iterations);
	}
}

void serve_block(const struct protocol_block *block, const struct protocol_entry *entries)
{
	uint32_t n = block->entries;
	struct protocol_samples head = {.rounds = block->rounds, .entries = n};
	struct place *places = calloc(n, sizeof *places);
	uint32_t *variants = calloc(n, sizeof *variants), *copies = calloc(n, sizeof *copies);
	uint32_t *order = calloc(2 * (size_t)n, sizeof *order);
	uint32_t *out = calloc((size_t)block->rounds * n, 2 * sizeof *out);
	if (!places || !variants || !copies || !order || !out)
		link_fail("out of memory");
	rng = block->seed | 1;
	for (uint32_t i = 0; i < n; i++) {
		variants[i] = entries[i].variant;
		bool once = place_variant(variants[i])->repeat == PROTOCOL_ONCE;
		copies[i] = copies_for(variants[i], once ? 1 : 2 * entries[i].unroll);
	}
	crash_note_variant(PROTOCOL_PREPARING, 0, NULL);
	put(variants, copies, n, places);
	crash_deadline(config.deadline_ms);
	armed = head.begin = now();
	for (uint32_t r = 0; r < block->rounds; r++)
		sample_round(entries, n, places, order, out + (size_t)r * 2 * n);
	head.end = now();
	crash_deadline(0);
	crash_note_variant(PROTOCOL_IDLE, 0, NULL);
	if (is_child())
		_exit(0);
	link_write(PROTOCOL_SAMPLES, &head, sizeof head, out,
	           (size_t)block->rounds * n * 2 * sizeof *out);
	free(places);
	free(variants);
	free(copies);
	free(order);
	free(out);
}
