/* bench: a real worker with a program of its own, for tests that talk to it. Included by one test
 * program each; what one does not use is no warning there. */
#ifndef TESTS_UNIT_BENCH_H
#define TESTS_UNIT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/worker.h"

enum {
	BENCH_HUNG_AFTER_MS = 150,
	BENCH_PATIENCE_MS = 10000,
	BENCH_VARIANTS = 8,
	BENCH_FACTORS = 2
};

static struct host_probes probes;
static struct worker *running; /* so that a test that fails does not leave its worker to the next */
static int cpu;

static inline bool has(enum experiment_abi abi, enum host_capability c)
{
	return probes.abi[abi][c].present;
}

/* ---- a worker and its program ---- */

struct bench {
	enum experiment_abi abi;
	struct experiment *x;
	struct program p;
	struct worker *w;
	struct protocol_config config;
	struct protocol_begin begin;
	struct protocol_head head;
	const void *body;
	struct error err;
};

/* n variants, with these levels of the file's factors; abi is put in front. */
static inline void bench_open_levels(struct bench *b, enum experiment_abi abi, const char *text,
                                     const char *const (*levels)[BENCH_FACTORS], size_t n)
{
	char *own[BENCH_VARIANTS][BENCH_FACTORS + 1];
	struct program_item items[BENCH_VARIANTS];
	memset(b, 0, sizeof *b);
	b->abi = abi;
	if (experiment_parse("t", "/x/t.s", text, strlen(text), &b->x, &b->err))
		fail_msg("%s", b->err.text);
	assert_true(n <= BENCH_VARIANTS && b->x->factor_count <= BENCH_FACTORS + 1);
	for (size_t i = 0; i < n; i++) {
		own[i][0] = (char *)experiment_abi_name[abi];
		for (size_t f = 1; f < b->x->factor_count; f++)
			own[i][f] = (char *)levels[i][f - 1];
		items[i] = (struct program_item){b->x, own[i]};
	}
	if (program_build(abi, items, n, &probes, &b->p, &b->err))
		fail_msg("%s", b->err.text);
	b->config = (struct protocol_config){.version = PROTOCOL_VERSION,
	                                     .cpu = cpu,
	                                     .granule = 26,
	                                     .deadline_ms = BENCH_HUNG_AFTER_MS};
	b->begin = (struct protocol_begin){.seed = 42};
	for (int c = 0; c < HOST_CAPABILITIES; c++)
		b->config.capabilities |= (uint32_t)has(abi, (enum host_capability)c) << c;
}

/* One variant of a file without factors. */
static inline void bench_open(struct bench *b, enum experiment_abi abi, const char *text)
{
	static const char *const none[1][BENCH_FACTORS];
	bench_open_levels(b, abi, text, none, 1);
}

/* Waits for the next message; -1 when the worker has ended. */
static inline int hear(struct bench *b)
{
	for (;;) {
		int got = worker_receive(b->w, &b->head, &b->body);
		if (got)
			return got;
		struct pollfd p = {.fd = worker_fd(b->w), .events = worker_events(b->w)};
		if (poll(&p, 1, BENCH_PATIENCE_MS) == 0)
			fail_msg("a worker is silent");
	}
}

static inline void ask(struct bench *b, uint32_t type, const void *body, size_t size)
{
	if (worker_send(b->w, type, body, size, NULL, 0, &b->err))
		fail_msg("%s", b->err.text);
}

static inline void bench_start(struct bench *b)
{
	if (worker_start(b->abi, &b->config, &b->p, &b->w, &b->err))
		fail_msg("%s", b->err.text);
	running = b->w;
	ask(b, PROTOCOL_BEGIN, &b->begin, sizeof b->begin);
}

static inline void bench_hear_ready(struct bench *b)
{
	assert_int_equal(hear(b), 1);
	if (b->head.type == PROTOCOL_FAILED)
		fail_msg("%.*s", (int)b->head.size, (const char *)b->body);
	assert_int_equal(b->head.type, PROTOCOL_READY);
	assert_int_equal(b->head.size, 0);
}

static inline void bench_ready(struct bench *b)
{
	bench_start(b);
	bench_hear_ready(b);
}

/* Another process to answer. */
static inline void bench_again(struct bench *b)
{
	ask(b, PROTOCOL_END, NULL, 0);
	ask(b, PROTOCOL_BEGIN, &b->begin, sizeof b->begin);
	bench_hear_ready(b);
}

static inline void bench_close(struct bench *b)
{
	worker_free(b->w);
	running = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	program_free(&b->p);
	experiment_free(b->x);
}

static inline void ask_check(struct bench *b)
{
	uint32_t variant = 0;
	ask(b, PROTOCOL_CHECK, &variant, sizeof variant);
}

/* The answer to a check of this variant. */
static inline struct protocol_checked hear_checked(struct bench *b, uint32_t variant)
{
	struct protocol_checked c;
	if (hear(b) < 0) {
		struct worker_end end = worker_end(b->w);
		fail_msg("a worker died: status %d, signal %u, part %u, offset 0x%x, at 0x%llx",
		         end.status, end.last.signal, end.last.part, end.last.offset,
		         (unsigned long long)end.last.pc);
	}
	if (b->head.type == PROTOCOL_FAILED)
		fail_msg("%.*s", (int)b->head.size, (const char *)b->body);
	assert_int_equal(b->head.type, PROTOCOL_CHECKED);
	assert_int_equal(b->head.size, sizeof c);
	memcpy(&c, b->body, sizeof c);
	assert_int_equal(c.variant, variant);
	return c;
}

static inline struct protocol_checked check(struct bench *b)
{
	ask_check(b);
	return hear_checked(b, 0);
}

/* Without the footprint. */
static inline struct protocol_checked check_bare(struct bench *b, uint32_t variant)
{
	uint32_t asked = variant | PROTOCOL_CHECK_BARE;
	ask(b, PROTOCOL_CHECK, &asked, sizeof asked);
	return hear_checked(b, variant);
}

/* What a check finds in the environment after three iterations. */
static inline struct protocol_checked check_of(enum experiment_abi abi, const char *text)
{
	struct bench b;
	bench_open(&b, abi, text);
	bench_ready(&b);
	struct protocol_checked c = check(&b);
	bench_close(&b);
	return c;
}

/* Blocks of so many rounds, each at another placement, of the n variants of the program, one
 * iteration against two (single shots: against none). Appends to each variant's samples, of 2U and
 * of U iterations, where there is room for all. */
static inline void bench_sample(struct bench *b, uint32_t n, uint32_t rounds, uint32_t blocks,
                                double *high[], double *low[])
{
	struct {
		struct protocol_block block;
		struct protocol_entry entries[BENCH_VARIANTS];
	} request = {.block = {.rounds = rounds, .entries = n}};
	for (uint32_t i = 0; i < n; i++)
		request.entries[i] = (struct protocol_entry){.variant = i, .unroll = 1};
	for (uint32_t k = 0; k < blocks; k++) {
		struct protocol_samples head;
		request.block.seed = 1000 + k;
		ask(b, PROTOCOL_BLOCK, &request,
		    sizeof request.block + n * sizeof request.entries[0]);
		if (hear(b) < 0)
			fail_msg("a worker died by signal %u", worker_end(b->w).last.signal);
		assert_int_equal(b->head.type, PROTOCOL_SAMPLES);
		assert_int_equal(b->head.size,
		                 sizeof head + (size_t)rounds * n * 2 * sizeof(uint32_t));
		const uint32_t *at = (const uint32_t *)((const char *)b->body + sizeof head);
		for (uint32_t r = 0; r < rounds; r++)
			for (uint32_t i = 0; i < n; i++) {
				high[i][k * rounds + r] = *at++;
				low[i][k * rounds + r] = *at++;
			}
	}
}

/* One that only waits to be buried has ended. */
static inline bool exists(pid_t pid)
{
	char path[64], letter = 'Z';
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool read = fscanf(f, "%*d (%*[^)]) %c", &letter) == 1;
	fclose(f);
	return read && letter != 'Z' && letter != 'X';
}

static inline void assert_goes(pid_t pid)
{
	for (int i = 0; i < 2000 && exists(pid); i++)
		poll(NULL, 0, 1);
	assert_false(exists(pid));
}

#define ONE(code) "#: title T\n#: abi i386 x86_64\n.macro body\n" code "\n.endm\n"
#define WITH(header, macros, code)                                                                 \
	"#: title T\n#: abi i386 x86_64\n" header macros ".macro body\n" code "\n.endm\n"

/* Once for every ABI that this machine has. */
static inline void for_abis(void (*test)(enum experiment_abi))
{
	bool some = false;
	for (enum experiment_abi abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		if (!has(abi, abi == EXPERIMENT_I386 ? HOST_I386 : HOST_X86_64)) {
			print_message(
			        "no %s: %s\n", experiment_abi_name[abi],
			        probes.abi[abi][abi == EXPERIMENT_I386 ? HOST_I386 : HOST_X86_64]
			                .why);
			continue;
		}
		some = true;
		test(abi);
	}
	if (!some)
		skip();
}
#define FOR_ABIS(name)                                                                             \
	static void name##_in(enum experiment_abi abi);                                            \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		for_abis(name##_in);                                                               \
	}                                                                                          \
	static void name##_in(enum experiment_abi abi)

/* The real workers are two directories above the unit tests. */
static inline int find_workers(void **state)
{
	(void)state;
	char self[PATH_MAX];
	struct error err;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return -1;
	self[n] = '\0';
	for (int i = 0; i < 3; i++)
		*strrchr(self, '/') = '\0';
	setenv("ENTRYLAB_WORKERS", self, 1);
	alarm(240);
	if (host_cpu_pick(-1, &cpu, &err) || host_probe_run(&probes, &err)) {
		print_message("%s\n", err.text);
		return -1;
	}
	return 0;
}

static inline int end_worker(void **state)
{
	(void)state;
	worker_free(running);
	running = NULL;
	return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, end_worker)

#endif
