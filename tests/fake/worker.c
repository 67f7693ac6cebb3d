/* A worker that runs nothing: it speaks protocol.h on descriptor 3 and answers with made-up
 * figures, as the file "script" beside the program tells. The engine starts workers with an empty
 * environment and no arguments; so a test copies this program into a directory of its own and
 * writes the script there.
 *
 * A line of the script is a word and its arguments; '#' begins a comment line. Variants are
 * numbered as in the program that the engine sends: 0 to 3 are the engine's own (a hundred adds,
 * ten, eleven, a hundred multiplications), 4 is the first row.
 *
 *   seed N              of everything random here; the engine's block seeds go into it
 *   rate TICKS          per cycle (0.8)
 *   drift SHARE         by which the clock's rate changes from block to block (0)
 *   granule TICKS       step of the clock (26)
 *   size U              answer to SIZE (100)
 *   cost V CYCLES       per iteration (0: 100, 1: 10, 2: 11, 3: 300, others: 50)
 *   again V CYCLES      added where V stands in a block a second time: the engine's A/A pair
 *   early V CYCLES N    added to V in the first N blocks
 *   i386 CYCLES         added to every row in the i386 worker (0)
 *   layout SD           cycles per iteration, normal, of each row in a block
 *   wobble SD           the same, of the engine's own variants
 *   laplace             the same, long-tailed
 *   shared SD           the same, of all rows in a block alike, of both ABIs
 *   jitter SD           ticks of a sample
 *   interrupt P         share of samples that are lengthened and, where the footprint is put
 *                       down, marked
 *   slow P              share of samples that are lengthened and not marked
 *   spoil V             every sample of V is marked as interrupted
 *   footprint N         of 8, answer to CHECK (8)
 *   result V N          what V leaves in the environment's field result; its counter is the number
 *                       of iterations
 *   fault V BITS MOVED  answer to CHECK
 *   delay MS            before every answer
 *   split               messages leave byte by byte
 *   die WHEN V SIGNAL PART OFFSET [REFUSED]
 *                       WHEN: ready, check, quiet (a check with the footprint put down), size,
 *                       sample. Last words in the status page, then exit 111
 *   exit WHEN V STATUS  the same without a signal
 *   kill WHEN V SIGNAL  the same by a signal that no handler caught
 *   hang WHEN V         silent for ever
 *   close WHEN V        closes the socket and lives on
 *   fail WHEN V         answers FAILED
 *   garbage WHEN V KIND instead of an answer: type, size, huge, short, other, zero, flood
 *   after N             the misdeed above only once N blocks have been answered, by all workers
 *                       together
 *
 * It holds the engine to the order of things: BEGIN behind a program or END alone, checks under the
 * guard, sizes and samples without it. Otherwise it ends with status 99.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/protocol.h"

enum { VARIANTS = 4096, NOBODY = -1 };
enum when { READY, CHECK, QUIET, SIZE, SAMPLE, NEVER };
static const char *const when_name[] = {"ready", "check", "quiet", "size", "sample"};

static struct {
	uint64_t seed;
	double rate, drift, i386, layout, wobble, shared, jitter, interrupt, slow;
	uint32_t granule, size, footprint, delay;
	bool laplace, split;
	double cost[VARIANTS], again[VARIANTS], early[VARIANTS];
	long early_blocks[VARIANTS];
	uint64_t result[VARIANTS];
	uint32_t faults[VARIANTS];
	int32_t moved[VARIANTS];
	bool spoiled[VARIANTS];
	char deed[32];
	enum when when;
	long variant, signal, part, offset, refused;
	char kind[32];
	long after;
} script = {.rate = 0.8, .granule = 26, .size = 100, .footprint = 8, .when = NEVER};

static struct protocol_status *status;
static char directory[4096];
static bool is_i386; /* by its name */
static uint64_t rng;
static bool once[VARIANTS];

_Noreturn static void give_up(const char *what)
{
	fprintf(stderr, "fake worker: %s\n", what);
	_exit(99);
}

/* ---- chance ---- */

static uint64_t draw(void)
{
	uint64_t z = (rng += 0x9e3779b97f4a7c15ull);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Between 0 and 1, neither of them. */
static double uniform(void)
{
	return ((double)(draw() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double noise(double sd)
{
	if (!script.laplace)
		return sd * normal();
	double u = uniform() - 0.5;
	return sd * (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / M_SQRT2;
}

/* ---- the script ---- */

static void read_deed(const char *word, const char *rest)
{
	char when[16] = "";
	int used = 0;
	snprintf(script.deed, sizeof script.deed, "%s", word);
	if (sscanf(rest, "%15s %ld%n", when, &script.variant, &used) < 2)
		give_up(word);
	for (script.when = READY; script.when < NEVER; script.when++)
		if (!strcmp(when, when_name[script.when]))
			break;
	if (script.when == NEVER)
		give_up(when);
	if (!strcmp(word, "garbage"))
		sscanf(rest + used, "%31s", script.kind);
	else
		sscanf(rest + used, "%ld %ld %ld %ld", &script.signal, &script.part, &script.offset,
		       &script.refused);
}

static void read_line(const char *word, const char *rest)
{
	unsigned long v = 0;
	double x = 0;
	int used = 0;
	sscanf(rest, "%lu%n", &v, &used);
	if (!strcmp(word, "laplace"))
		script.laplace = true;
	else if (!strcmp(word, "split"))
		script.split = true;
	else if (!strcmp(word, "cost") && v < VARIANTS)
		script.cost[v] = strtod(rest + used, NULL);
	else if (!strcmp(word, "again") && v < VARIANTS)
		script.again[v] = strtod(rest + used, NULL);
	else if (!strcmp(word, "early") && v < VARIANTS)
		sscanf(rest + used, "%lf %ld", &script.early[v], &script.early_blocks[v]);
	else if (!strcmp(word, "result") && v < VARIANTS)
		script.result[v] = strtoull(rest + used, NULL, 0);
	else if (!strcmp(word, "spoil") && v < VARIANTS)
		script.spoiled[v] = true;
	else if (!strcmp(word, "fault") && v < VARIANTS)
		sscanf(rest + used, "%u %d", &script.faults[v], &script.moved[v]);
	else if (!strcmp(word, "die") || !strcmp(word, "exit") || !strcmp(word, "kill") ||
	         !strcmp(word, "hang") || !strcmp(word, "close") || !strcmp(word, "fail") ||
	         !strcmp(word, "garbage"))
		read_deed(word, rest);
	else if (sscanf(rest, "%lf", &x) != 1)
		give_up(word);
	else if (!strcmp(word, "rate"))
		script.rate = x;
	else if (!strcmp(word, "drift"))
		script.drift = x;
	else if (!strcmp(word, "i386"))
		script.i386 = x;
	else if (!strcmp(word, "layout"))
		script.layout = x;
	else if (!strcmp(word, "wobble"))
		script.wobble = x;
	else if (!strcmp(word, "shared"))
		script.shared = x;
	else if (!strcmp(word, "jitter"))
		script.jitter = x;
	else if (!strcmp(word, "interrupt"))
		script.interrupt = x;
	else if (!strcmp(word, "slow"))
		script.slow = x;
	else if (!strcmp(word, "seed"))
		script.seed = v;
	else if (!strcmp(word, "granule"))
		script.granule = (uint32_t)v;
	else if (!strcmp(word, "size"))
		script.size = (uint32_t)v;
	else if (!strcmp(word, "footprint"))
		script.footprint = (uint32_t)v;
	else if (!strcmp(word, "delay"))
		script.delay = (uint32_t)v;
	else if (!strcmp(word, "after"))
		script.after = (long)v;
	else
		give_up(word);
}

static void read_script(void)
{
	char path[4200], line[256], word[32];
	ssize_t n = readlink("/proc/self/exe", directory, sizeof directory - 1);
	char *slash = n > 0 ? strrchr(directory, '/') : NULL;
	if (!slash)
		give_up("/proc/self/exe");
	is_i386 = strstr(slash, "i386");
	*slash = '\0';
	snprintf(path, sizeof path, "%s/script", directory);
	for (size_t i = 0; i < VARIANTS; i++)
		script.cost[i] = i == 0 ? 100 : i == 1 ? 10 : i == 2 ? 11 : i == 3 ? 300 : 50;
	FILE *f = fopen(path, "r");
	if (!f)
		give_up(path);
	while (fgets(line, sizeof line, f)) {
		int used = 0;
		if (*line != '#' && sscanf(line, "%31s%n", word, &used) == 1)
			read_line(word, line + used);
	}
	fclose(f);
}

/* How many blocks all workers of this directory have answered: the size of a file. */
static long blocks_done(bool one_more)
{
	char path[4200];
	struct stat st;
	snprintf(path, sizeof path, "%s/blocks", directory);
	FILE *f = fopen(path, "a");
	if (!f)
		give_up(path);
	if (one_more)
		fputc('.', f);
	fclose(f);
	return stat(path, &st) ? 0 : (long)st.st_size;
}

/* ---- the socket ---- */

static void read_all(void *to, size_t n)
{
	for (char *p = to; n;) {
		ssize_t r = recv(PROTOCOL_FD, p, n, 0);
		if (r <= 0)
			_exit(0);
		p += r;
		n -= (size_t)r;
	}
}

static void write_all(const void *from, size_t n)
{
	for (const char *p = from; n;) {
		ssize_t w = send(PROTOCOL_FD, p, script.split ? 1 : n, MSG_NOSIGNAL);
		if (w <= 0)
			_exit(0);
		p += w;
		n -= (size_t)w;
	}
}

static void answer(uint32_t type, const void *first, size_t first_size, const void *second,
                   size_t second_size)
{
	struct protocol_head head = {.type = type, .size = (uint32_t)(first_size + second_size)};
	struct timespec wait = {.tv_sec = script.delay / 1000,
	                        .tv_nsec = script.delay % 1000 * 1000000L};
	if (script.delay)
		nanosleep(&wait, NULL);
	write_all(&head, sizeof head);
	write_all(first, first_size);
	write_all(second, second_size);
}

/* ---- misdeeds ---- */

static const struct {
	uint32_t type, doing, size;
} reply[] = {
        [READY] = {PROTOCOL_READY, PROTOCOL_PREPARING, 0},
        [CHECK] = {PROTOCOL_CHECKED, PROTOCOL_CHECKING, sizeof(struct protocol_checked)},
        [QUIET] = {PROTOCOL_CHECKED, PROTOCOL_QUIET, sizeof(struct protocol_checked)},
        [SIZE] = {PROTOCOL_SIZED, PROTOCOL_SIZING, sizeof(struct protocol_sized)},
        [SAMPLE] = {PROTOCOL_SAMPLES, PROTOCOL_SAMPLING, sizeof(struct protocol_samples)},
};

_Noreturn static void misanswer(enum when when)
{
	static const char zeros[4096];
	uint32_t type = reply[when].type, size = reply[when].size;
	if (!strcmp(script.kind, "type")) {
		answer(77, zeros, 12, NULL, 0);
	} else if (!strcmp(script.kind, "size")) {
		answer(type, zeros, size + 4, NULL, 0);
	} else if (!strcmp(script.kind, "zero")) {
		answer(type, zeros, size, NULL, 0);
	} else if (!strcmp(script.kind, "other")) {
		/* a well-formed answer to what was not asked */
		enum when other = when == SAMPLE ? CHECK : SAMPLE;
		answer(reply[other].type, zeros, reply[other].size, NULL, 0);
	} else if (!strcmp(script.kind, "huge")) {
		struct protocol_head head = {.type = type, .size = 0xfffffff0u};
		write_all(&head, sizeof head);
	} else if (!strcmp(script.kind, "short")) {
		/* a head that promises more than ever comes */
		struct protocol_head head = {.type = type, .size = 200 << 20};
		write_all(&head, sizeof head);
		write_all(zeros, 100);
	} else if (!strcmp(script.kind, "flood")) {
		for (;;)
			answer(type, zeros, size, NULL, 0);
	} else {
		give_up(script.kind);
	}
	for (;;)
		pause();
}

static void misbehave(enum when when, long variant)
{
	bool named = script.variant == NOBODY || script.variant == variant;
	if (script.when != when || !named || (script.after && blocks_done(false) < script.after))
		return;
	status->doing = reply[when].doing;
	status->variant = variant < 0 ? 0 : (uint32_t)variant;
	if (!strcmp(script.deed, "die")) {
		status->signal = (uint32_t)script.signal;
		status->part = (uint32_t)script.part;
		status->offset = (uint32_t)script.offset;
		status->pc = 0x12345678;
		status->address = 0x1000;
		status->refused = (uint32_t)script.refused;
		_exit(111);
	} else if (!strcmp(script.deed, "exit")) {
		_exit((int)script.signal);
	} else if (!strcmp(script.deed, "kill")) {
		raise((int)script.signal);
	} else if (!strcmp(script.deed, "close")) {
		shutdown(PROTOCOL_FD, SHUT_RDWR);
	} else if (!strcmp(script.deed, "fail")) {
		status->doing = PROTOCOL_IDLE;
		answer(PROTOCOL_FAILED, "no room for code", 16, NULL, 0);
		_exit(1);
	} else if (!strcmp(script.deed, "garbage")) {
		misanswer(when);
	}
	for (;;)
		pause();
}

/* ---- answers ---- */

/* Single shots are asked for in a way of their own. */
static void load(const void *body)
{
	struct protocol_program n;
	struct protocol_variant v;
	memcpy(&n, body, sizeof n);
	const char *at = (const char *)body + sizeof n +
	                 n.sections * sizeof(struct protocol_section) +
	                 n.fixups * sizeof(struct protocol_fixup);
	for (uint32_t i = 0; i < n.variants && i < VARIANTS; i++) {
		memcpy(&v, at + i * sizeof v, sizeof v);
		once[i] = v.repeat == PROTOCOL_ONCE;
	}
}

static uint32_t *list_of(const struct protocol_head *head, const void *body, uint32_t *n)
{
	*n = head->size / sizeof(uint32_t);
	uint32_t *list = malloc(head->size + 1);
	if (!list)
		give_up("memory");
	memcpy(list, body, head->size);
	for (uint32_t i = 0; i < *n; i++)
		if ((list[i] & ~PROTOCOL_CHECK_BARE) >= VARIANTS)
			give_up("a variant's number");
	return list;
}

static void check(const struct protocol_head *head, const void *body)
{
	uint32_t n, *list = list_of(head, body, &n);
	for (uint32_t i = 0; i < n; i++) {
		bool bare = list[i] & PROTOCOL_CHECK_BARE;
		uint32_t v = list[i] & ~PROTOCOL_CHECK_BARE;
		struct protocol_checked c = {.variant = v,
		                             .iterations = once[v] ? 1 : 3,
		                             .faults = script.faults[v],
		                             .stack_moved = script.moved[v],
		                             .footprint = bare ? 0 : script.footprint};
		c.env.counter = c.iterations;
		c.env.result = script.result[v];
		misbehave(CHECK, v);
		if (!bare)
			misbehave(QUIET, v);
		answer(PROTOCOL_CHECKED, &c, sizeof c, NULL, 0);
	}
	free(list);
}

static void size(const struct protocol_head *head, const void *body)
{
	uint32_t n, *list = list_of(head, body, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct protocol_sized s = {.variant = list[i], .unroll = script.size, .ticks = 100};
		misbehave(SIZE, list[i]);
		answer(PROTOCOL_SIZED, &s, sizeof s, NULL, 0);
	}
	free(list);
}

/* One sample: sixty cycles of fences and the iterations, read from a clock that moves in steps. */
static uint32_t sample(const struct protocol_entry *e, double cost, uint32_t iterations,
                       double rate)
{
	double ticks = (60 + iterations * cost) * rate + script.jitter * fabs(normal());
	bool interrupted = uniform() < script.interrupt;
	if (interrupted || uniform() < script.slow)
		ticks += 3000 + 20000 * uniform();
	uint32_t t = (uint32_t)(floor(ticks / script.granule + uniform()) * script.granule);
	return (interrupted || script.spoiled[e->variant]) && e->footprint
	               ? t | PROTOCOL_INTERRUPTED
	               : t;
}

static void block(const void *body)
{
	struct protocol_block b;
	memcpy(&b, body, sizeof b);
	const struct protocol_entry *entries = (const void *)((const char *)body + sizeof b);
	struct protocol_samples head = {
	        .rounds = b.rounds, .entries = b.entries, .begin = 1, .end = 2};
	uint32_t *out = calloc((size_t)b.rounds * b.entries + 1, 2 * sizeof *out);
	bool *seen = calloc(VARIANTS, sizeof *seen);
	if (!out || !seen)
		give_up("memory");
	/* the clock's rate and what all entries share follow from the number of the block, whoever
	 * measures it */
	long number = blocks_done(false) / (script.shared > 0 ? 2 : 1);
	rng = script.seed * 1000003 + (uint64_t)number;
	double shared = script.shared * normal();
	double rate = script.rate * (1 + script.drift * (double)number);
	rng = script.seed ^ b.seed;
	for (uint32_t i = 0; i < b.entries; i++) {
		uint32_t v = entries[i].variant;
		misbehave(SAMPLE, v);
		double cost = script.cost[v] + (seen[v] ? script.again[v] : 0);
		cost += number < script.early_blocks[v] ? script.early[v] : 0;
		cost += v < 4 ? noise(script.wobble)
		              : noise(script.layout) + shared + (is_i386 ? script.i386 : 0);
		seen[v] = true;
		uint32_t low = once[v] ? 0 : entries[i].unroll, high = once[v] ? 1 : 2 * low;
		for (uint32_t r = 0; r < b.rounds; r++) {
			uint32_t *at = out + 2 * ((size_t)r * b.entries + i);
			at[0] = sample(&entries[i], cost, high, rate);
			at[1] = sample(&entries[i], cost, low, rate);
		}
	}
	blocks_done(true);
	answer(PROTOCOL_SAMPLES, &head, sizeof head, out,
	       (size_t)b.rounds * b.entries * 2 * sizeof *out);
	free(out);
	free(seen);
}

/* Where the conversation is. */
static enum { UNLOADED, LOADED, CHECKS, MEASURES } state;

static void begin(const struct protocol_head *head, const void *body)
{
	struct protocol_begin b;
	if (state != LOADED || head->size != sizeof b)
		give_up("BEGIN out of turn");
	memcpy(&b, body, sizeof b);
	state = b.guard ? CHECKS : MEASURES;
	misbehave(READY, NOBODY);
	answer(PROTOCOL_READY, NULL, 0, NULL, 0);
}

static void hear(const struct protocol_head *head, const void *body)
{
	switch (head->type) {
	case PROTOCOL_CONFIG:
		break;
	case PROTOCOL_PROGRAM:
		load(body);
		state = LOADED;
		break;
	case PROTOCOL_BEGIN:
		begin(head, body);
		break;
	case PROTOCOL_END:
		if (state < CHECKS)
			give_up("END without BEGIN");
		state = LOADED;
		break;
	case PROTOCOL_CHECK:
		if (state != CHECKS)
			give_up("CHECK without the guard");
		check(head, body);
		break;
	case PROTOCOL_SIZE:
	case PROTOCOL_BLOCK:
		if (state != MEASURES)
			give_up("something to be timed under the guard");
		if (head->type == PROTOCOL_SIZE)
			size(head, body);
		else
			block(body);
		break;
	default:
		give_up("a message of an unknown type");
	}
}

int main(void)
{
	read_script();
	status = mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED, PROTOCOL_STATUS_FD,
	              0);
	if (status == MAP_FAILED)
		give_up("status page");
	for (;;) {
		struct protocol_head head;
		read_all(&head, sizeof head);
		void *body = malloc(head.size + 1);
		if (!body)
			give_up("memory");
		read_all(body, head.size);
		hear(&head, body);
		free(body);
	}
}
