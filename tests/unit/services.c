/* What real workers provide for bodies beyond a place to run: patterns, descriptors, code segments,
 * signals, and caches without the body in them. The bodies themselves look whether all is as the
 * manual says. */
#include "bench.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* ---- patterns ---- */

/* What entrylab-experiment(5) says of them. */
enum { PATTERN = 1000000, PERIOD = 64, BLOCKS = PATTERN / 1000 };

/* Of a pattern's bytes. */
struct pattern {
	uint32_t ones;
	uint32_t unlike; /* those that differ from the one a period before */
	uint32_t edges;  /* those that differ from the one before */
};

/* result: the sum; save0: bytes that are neither 0 nor 1. */
static const char counting[] =
        "#: title T\n#: abi i386 x86_64\n#: repeat once\n#: factor share 0..100\n"
        "#: factor kind random short blocks\n#: default share=0\n#: pattern share kind\n"
        ".macro body share, kind\n"
        "mov env_pattern(env), xsi\nxor %ecx, %ecx\n"
        "1: movzbl (xsi,xcx), %eax\nadd %eax, env_result(env)\ntest $0xfe, %al\njz 2f\n"
        "incl env_save0(env)\n"
        "2: cmp $64, %ecx\njb 3f\ncmp -64(xsi,xcx), %al\nje 3f\nincl env_counter(env)\n"
        "3: test %ecx, %ecx\njz 4f\ncmp -1(xsi,xcx), %al\nje 4f\nincl env_counter2(env)\n"
        "4: inc %ecx\ncmp env_pattern_size(env), %ecx\njb 1b\n"
        ".endm\n";

static struct pattern pattern_of(struct bench *b, uint32_t variant)
{
	struct protocol_checked c = check_bare(b, variant);
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.pattern_size, PATTERN);
	assert_int_equal(c.env.save0, 0);
	return (struct pattern){(uint32_t)c.env.result, (uint32_t)c.env.counter,
	                        (uint32_t)c.env.counter2};
}

static void open_patterns(struct bench *b, enum experiment_abi abi,
                          const char *const (*levels)[BENCH_FACTORS], size_t n)
{
	bench_open_levels(b, abi, counting, levels, n);
	b->config.deadline_ms = 2000;
	bench_ready(b);
}

FOR_ABIS(a_random_pattern_has_its_share_and_no_period)
{
	static const char *const levels[][BENCH_FACTORS] = {{"0", "random"},
	                                                    {"1", "random"},
	                                                    {"25", "random"},
	                                                    {"50", "random"},
	                                                    {"100", "random"}};
	static const double share[] = {0, 0.01, 0.25, 0.5, 1};
	struct bench b;
	open_patterns(&b, abi, levels, 5);
	for (uint32_t i = 0; i < 5; i++) {
		struct pattern p = pattern_of(&b, i);
		double sd = sqrt(PATTERN * share[i] * (1 - share[i]));
		/* two that have nothing to do with each other differ that often */
		double unlike = 2 * share[i] * (1 - share[i]);
		double unlike_sd = 2 * sqrt(PATTERN * unlike * (1 - unlike));
		assert_true(fabs(p.ones - PATTERN * share[i]) <= 5 * sd);
		assert_true(fabs(p.unlike - (PATTERN - PERIOD) * unlike) <= 5 * unlike_sd);
		assert_true(fabs(p.edges - (PATTERN - 1) * unlike) <= 5 * unlike_sd);
	}
	bench_close(&b);
}

FOR_ABIS(a_short_pattern_has_exactly_its_share_and_its_period)
{
	static const char *const levels[][BENCH_FACTORS] = {{"0", "short"},  {"1", "short"},
	                                                    {"25", "short"}, {"50", "short"},
	                                                    {"75", "short"}, {"100", "short"}};
	/* of 64: as near as it goes */
	static const uint32_t ones[] = {0, 1, 16, 32, 48, 64};
	struct bench b;
	open_patterns(&b, abi, levels, 6);
	for (uint32_t i = 0; i < 6; i++) {
		struct pattern p = pattern_of(&b, i);
		assert_int_equal(p.ones, ones[i] * (PATTERN / PERIOD));
		assert_int_equal(p.unlike, 0);
		/* in no order: not one run of ones in each period */
		if (ones[i] > 1 && ones[i] < 64)
			assert_true(p.edges > 4 * PATTERN / PERIOD);
	}
	bench_close(&b);
}

FOR_ABIS(a_pattern_of_blocks_has_exactly_its_share_in_long_runs)
{
	static const char *const levels[][BENCH_FACTORS] = {{"0", "blocks"},
	                                                    {"1", "blocks"},
	                                                    {"50", "blocks"},
	                                                    {"99", "blocks"},
	                                                    {"100", "blocks"}};
	static const uint32_t percent[] = {0, 1, 50, 99, 100};
	struct bench b;
	open_patterns(&b, abi, levels, 5);
	for (uint32_t i = 0; i < 5; i++) {
		struct pattern p = pattern_of(&b, i);
		assert_int_equal(p.ones, PATTERN / 100 * percent[i]);
		/* a run of ones and a run of zeros in each thousand, where there are both */
		assert_int_equal(p.edges, percent[i] % 100 ? 2 * BLOCKS - 1 : 0);
	}
	bench_close(&b);
}

FOR_ABIS(a_pattern_is_the_same_in_every_process_and_absent_where_none_is_wanted)
{
	static const char *const levels[][BENCH_FACTORS] = {{"50", "random"}};
	struct bench b;
	open_patterns(&b, abi, levels, 1);
	struct pattern first = pattern_of(&b, 0);
	b.begin.seed = 77;
	bench_again(&b);
	struct pattern second = pattern_of(&b, 0);
	assert_memory_equal(&first, &second, sizeof first);
	bench_close(&b);
	struct protocol_checked c = check_of(abi, ONE("nop"));
	assert_int_equal(c.env.pattern, 0);
	assert_int_equal(c.env.pattern_size, 0);
}

/* ---- descriptors ---- */

static struct protocol_checked check_ldt(enum experiment_abi abi, uint32_t data, uint32_t code,
                                         const char *text)
{
	struct bench b;
	bench_open(&b, abi, text);
	b.config.ldt_data = data;
	b.config.ldt_code = code;
	b.config.deadline_ms = 2000;
	bench_ready(&b);
	/* the LDT is inherited by every process that answers */
	bench_again(&b);
	struct protocol_checked c = check_bare(&b, 0);
	bench_close(&b);
	assert_int_equal(c.faults, 0);
	return c;
}

/* counter: flat ones that can be loaded; entry 3 is the buffer's. counter2: 1 when one is not as it
 * should be; result then is its number. */
FOR_ABIS(a_whole_ldt_of_data_descriptors_can_be_loaded)
{
	static const char text[] =
	        WITH("#: repeat once\n", "",
	             "mov env_ldt_first(env), %eax\nxor %esi, %esi\n"
	             "1: lsl %eax, %edx\njnz 8f\ncmp env_sel_area(env), %eax\nje 2f\n"
	             "cmp $-1, %edx\njne 8f\nmov %eax, %es\nmov %es, %ecx\ncmp %eax, %ecx\njne 8f\n"
	             "incl %es:env_counter(env)\njmp 3f\n"
	             "2: cmp $256 * 1024 - 1, %edx\njne 8f\nmov %eax, %es\nincl env_save0(env)\n"
	             "3: add $8, %eax\ninc %esi\ncmp $8192, %esi\njb 1b\njmp 9f\n"
	             "8: mov %esi, env_result(env)\nincl env_counter2(env)\n9:");
	if (!has(abi, HOST_LDT)) {
		print_message("no LDT: %s\n", probes.abi[abi][HOST_LDT].why);
		return;
	}
	struct protocol_checked c = check_ldt(abi, 8192, 0, text);
	assert_int_equal(c.env.ldt_first, 7);
	if (c.env.counter2)
		fail_msg("descriptor %u is not as it should be", (unsigned)c.env.result);
	assert_int_equal(c.env.counter, 8191);
	assert_int_equal(c.env.save0, 1);
	assert_int_equal(c.env.sel_area, 3 << 3 | 7);
	/* and those that have names are among them */
	assert_int_equal(c.env.sel_ldt, 1 << 3 | 7);
	assert_int_equal(c.env.sel_ldt2, 2 << 3 | 7);
}

/* result: the first that is no flat code segment, as lar and lsl tell: present, privilege 3, code
 * that may be read. In i386 each is also called through. */
FOR_ABIS(code_descriptors_of_the_ldt_can_be_called_through)
{
	static const char text[] = WITH(
	        "#: repeat once\n", "",
	        "mov env_ldt_first(env), %eax\nxor %esi, %esi\n"
	        "1: lsl %eax, %edx\njnz 8f\ncmp $-1, %edx\njne 8f\n"
	        "lar %eax, %edx\njnz 8f\nand $0xfa00, %edx\ncmp $0xfa00, %edx\njne 8f\n"
	        ".if !abi64\n"
	        "movl $5f, env_save0(env)\nmov %eax, env_save0+4(env)\nlcall *env_save0(env)\n"
	        "cmp %eax, %ecx\njne 8f\n"
	        ".endif\n"
	        "incl env_counter(env)\nadd $8, %eax\ninc %esi\ncmp $256, %esi\njb 1b\njmp 9f\n"
	        "5: mov %cs, %ecx\n.if !abi64\nlret\n.endif\n"
	        "8: mov %esi, env_result(env)\nincl env_counter2(env)\n9:");
	if (!has(abi, HOST_LDT)) {
		print_message("no LDT: %s\n", probes.abi[abi][HOST_LDT].why);
		return;
	}
	struct protocol_checked c = check_ldt(abi, 0, 256, text);
	assert_int_equal(c.env.ldt_first, PROTOCOL_LDT_CODE << 3 | 7);
	if (c.env.counter2)
		fail_msg("descriptor %u is not as it should be", (unsigned)c.env.result);
	assert_int_equal(c.env.counter, 256);
}

FOR_ABIS(without_a_line_for_it_the_ldt_has_no_first_descriptor)
{
	struct protocol_checked c = check_of(abi, ONE("nop"));
	assert_int_equal(c.env.ldt_first, 0);
	assert_int_equal(c.env.sel_pool, 0);
}

/* ---- code segments at the pool ---- */

#define FAR_CALL                                                                                   \
	"movl $0, env_save0(env)\nmov env_sel_pool(env), %eax\nmov %eax, env_save0+4(env)\nlcall " \
	"*env_save0(env)"
/* What the pool is entered with and at: the selector, and where a call to the next instruction
 * pushes. */
#define LOOK(ret) "mov %cs, %ecx\nmov %ecx, env_counter2(env)\nincl env_counter(env)\n" ret "\n"
static const char pool32[] = WITH(
        "#: repeat loop\n#: segment code32\n",
        ".macro pool\ncall 1f\n1: pop %eax\nmov %eax, env_result(env)\n" LOOK("lret") ".endm\n",
        FAR_CALL);
/* In 16-bit code a call pushes two bytes, and what a far call from 32-bit code pushed is taken by
 * lretl. */
static const char pool16[] =
        WITH("#: repeat loop\n#: segment code16\n",
             ".macro pool\n.code16\ncall 1f\n1: pop %ax\nmovzx %ax, %eax\nmov %eax, "
             "env_result(env)\n" LOOK("lretl") ".code32\n.endm\n",
             FAR_CALL);

static bool has_segments(enum host_capability c)
{
	if (!has(EXPERIMENT_I386, HOST_I386) || !has(EXPERIMENT_I386, c)) {
		print_message("%s: %s\n", host_capabilities[c].name,
		              probes.abi[EXPERIMENT_I386][c].why);
		return false;
	}
	return true;
}

static void assert_called(const char *text, uint32_t call_size)
{
	struct bench b;
	bench_open(&b, EXPERIMENT_I386, text);
	bench_ready(&b);
	for (int i = 0; i < 3; i++) {
		struct protocol_checked c = check(&b);
		assert_int_equal(c.faults, 0);
		assert_int_equal(c.env.counter, 3);
		assert_true(c.env.sel_pool & 4);
		assert_int_equal(c.env.counter2, c.env.sel_pool);
		/* the program counter is relative to the pool, wherever that is */
		assert_int_equal(c.env.result, call_size);
	}
	bench_close(&b);
}

static void a_pool_is_called_in_a_code_segment_of_its_own(void **state)
{
	(void)state;
	if (!has_segments(HOST_LDT))
		skip();
	assert_called(pool32, 5);
	if (has_segments(HOST_LDT16))
		assert_called(pool16, 3);
}

/* Several in one block: each has a segment of its own, anew for every placement. */
static void every_variant_of_a_block_has_its_own_segment(void **state)
{
	(void)state;
	static const char text[] =
	        "#: title T\n#: abi i386\n#: factor k 0..7\n#: default k=0\n#: repeat loop\n"
	        "#: segment k=1..7 code32\n"
	        ".macro pool k\nmov $\\k, %eax\nlret\n.endm\n"
	        ".macro body k\n.if \\k\n" FAR_CALL "\ncmp $\\k, %eax\nje 9f\nud2\n9:\n.else\nnop\n"
	        ".endif\n.endm\n";
	static const char *const levels[][BENCH_FACTORS] = {{"3"}, {"0"}, {"5"}, {"7"}};
	double sample[8][30], *high[4], *low[4];
	struct bench b;
	if (!has_segments(HOST_LDT))
		skip();
	for (int i = 0; i < 4; i++) {
		high[i] = sample[i];
		low[i] = sample[i + 4];
	}
	bench_open_levels(&b, EXPERIMENT_I386, text, levels, 4);
	bench_ready(&b);
	bench_sample(&b, 4, 10, 3, high, low);
	bench_close(&b);
}

static void a_crash_in_a_code_segment_is_told_by_its_place_in_the_pool(void **state)
{
	(void)state;
	struct bench b;
	if (!has_segments(HOST_LDT))
		skip();
	bench_open(&b, EXPERIMENT_I386,
	           WITH("#: segment code32\n", ".macro pool\nnop\nnop\nud2\n.endm\n", FAR_CALL));
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.last.signal, SIGILL);
	assert_int_equal(end.last.part, PROTOCOL_PART_POOL);
	assert_int_equal(end.last.offset, 2);
	assert_true(end.last.pc > 0x10000000);
	bench_close(&b);
}

/* ---- signals ---- */

/* All registers, the stack pointer and a flag hold something; cause raises the signal, with its
 * program counter at label 1. Behind label 2, where the body goes on, counter counts whether they
 * still do. counter2: cause did not raise any. */
#define AFTER(cause)                                                                               \
	"movl $1f, env_save1(env)\nmovl $2f, env_on_signal(env)\nmov xsp, env_save2(env)\n"        \
	"mov $0x1001, %eax\nmov $0x1002, %ebx\nmov $0x1003, %ecx\nmov $0x1004, %edx\n"             \
	"mov $0x1005, %esi\nmov $0x1006, %edi\n"                                                   \
	".if abi64\nmov $0x1008, %r8d\nmov $0x1009, %r9d\nmov $0x100a, %r10d\nmov $0x100b, "       \
	"%r11d\n"                                                                                  \
	"mov $0x100c, %r12d\nmov $0x100d, %r13d\nmov $0x100e, %r14d\nmov $0x100f, %r15d\n.endif\n" \
	"stc\n" cause "\nincl env_counter2(env)\n"                                                 \
	"2: jnc 9f\ncmp $0x1001, xax\njne 9f\ncmp $0x1002, xbx\njne 9f\ncmp $0x1003, xcx\njne "    \
	"9f\n"                                                                                     \
	"cmp $0x1004, xdx\njne 9f\ncmp $0x1005, xsi\njne 9f\ncmp $0x1006, xdi\njne 9f\n"           \
	".if abi64\ncmp $0x1008, %r8\njne 9f\ncmp $0x1009, %r9\njne 9f\ncmp $0x100a, %r10\n"       \
	"jne 9f\ncmp $0x100b, %r11\njne 9f\ncmp $0x100c, %r12\njne 9f\ncmp $0x100d, %r13\n"        \
	"jne 9f\ncmp $0x100e, %r14\njne 9f\ncmp $0x100f, %r15\njne 9f\n.endif\n"                   \
	"cmp env_save2(env), xsp\njne 9f\nincl env_counter(env)\n9:"

static void assert_goes_on(enum experiment_abi abi, const char *text, int signal)
{
	struct protocol_checked c = check_of(abi, text);
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.counter2, 0);
	assert_int_equal(c.env.counter, 3);
	assert_int_equal(c.env.signal_number, signal);
	assert_int_equal(c.env.signal_pc, c.env.save1);
	/* the last of three copies, and not the first */
	assert_true(c.env.signal_pc > 0x10000000);
	if (signal == SIGSEGV)
		assert_int_equal(c.env.signal_address, 0x1013);
}

FOR_ABIS(a_body_goes_on_behind_a_signal_with_all_it_had)
{
	assert_goes_on(abi, ONE(AFTER("int3\n1:")), SIGTRAP);
	assert_goes_on(abi, ONE(AFTER("1: ud2")), SIGILL);
	assert_goes_on(abi, ONE(AFTER("1: mov %eax, 0x10(xcx)")), SIGSEGV);
	assert_goes_on(abi, ONE(AFTER("1: mov 0x10(xcx), %eax")), SIGSEGV);
	/* in a loop, too */
	assert_goes_on(abi, WITH("#: repeat loop\n", "", AFTER("int3\n1:")), SIGTRAP);
	assert_goes_on(abi, WITH("#: repeat loop\n", "", AFTER("1: ud2")), SIGILL);
}

FOR_ABIS(a_jump_to_where_nothing_is_tells_where_that_was)
{
	/* as stubs do that are only addresses */
	struct protocol_checked c =
	        check_of(abi, ONE("movl $2f, env_on_signal(env)\nmov $0x1005, %eax\njmp *xax\n2: "
	                          "incl env_counter(env)"));
	assert_int_equal(c.env.counter, 3);
	assert_int_equal(c.env.signal_number, SIGSEGV);
	assert_int_equal(c.env.signal_pc, 0x1005);
	assert_int_equal(c.env.signal_address, 0x1005);
}

FOR_ABIS(setup_may_name_a_common_handler)
{
	struct protocol_checked c =
	        check_of(abi, WITH("",
	                           ".macro setup\nmovl $pool, env_on_signal(env)\n.endm\n"
	                           ".macro pool\nincl env_counter(env)\njmp "
	                           "*env_signal_pc(env)\n.endm\n",
	                           "int3"));
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.counter, 3);
}

FOR_ABIS(an_alignment_fault_is_a_signal_too)
{
	struct protocol_checked c = check_of(
	        abi, ONE("movl $2f, env_on_signal(env)\n.if abi64\npushfq\n.else\npushfl\n.endif\n"
	                 "orl $0x40000, (xsp)\n.if abi64\npopfq\n.else\npopfl\n.endif\n"
	                 "mov env_buffer(env), xcx\nmov 1(xcx), %eax\nincl env_counter2(env)\n"
	                 "2: .if abi64\npushfq\n.else\npushfl\n.endif\nandl $~0x40000, (xsp)\n"
	                 ".if abi64\npopfq\n.else\npopfl\n.endif\nincl env_counter(env)"));
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.counter, 3);
	assert_int_equal(c.env.counter2, 0);
	assert_int_equal(c.env.signal_number, SIGBUS);
}

/* Each execution begins without a place to go on; and what cannot be mended by going on elsewhere
 * ends the variant always. */
FOR_ABIS(signals_that_nobody_waits_for_are_deadly)
{
	static const struct {
		const char *text;
		int signal;
	} cases[] = {
	        /* the second execution, of the quiet ones, has no handler any more */
	        {WITH("",
	              ".macro setup\ncmpl $0, env_save0(env)\njne 1f\nmovl $pool, "
	              "env_on_signal(env)\n1: incl env_save0(env)\n.endm\n"
	              ".macro pool\njmp *env_signal_pc(env)\n.endm\n",
	              "int3"),
	         SIGTRAP},
	        {ONE("movl $1f, env_on_signal(env)\n1: xor %edx, %edx\nxor %ecx, %ecx\ndiv %ecx"),
	         SIGFPE},
	        {ONE("movl $1f, env_on_signal(env)\n1: jmp 1b"), SIGALRM},
	        /* goes on at what raised it, for ever: the deadline is not put off by it */
	        {ONE("movl $1f, env_on_signal(env)\n1: ud2"), SIGALRM},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct bench b;
		if (!i && !has(abi, HOST_FOOTPRINT))
			continue;
		bench_open(&b, abi, cases[i].text);
		bench_ready(&b);
		ask_check(&b);
		assert_int_equal(hear(&b), -1);
		assert_int_equal(worker_end(b.w).last.signal, cases[i].signal);
		bench_close(&b);
	}
}

FOR_ABIS(signals_do_not_spoil_samples)
{
	double sample[2][50], *high = sample[0], *low = sample[1];
	struct bench b;
	/* every execution has as many as it has iterations, or it dies */
	bench_open(
	        &b, abi,
	        WITH("#: repeat loop\n",
	             ".macro teardown\nmov env_iterations(env), %eax\ncmp env_counter(env), %eax\n"
	             "je 1f\nmovl $0, env_on_signal(env)\nud2\n1:\n.endm\n",
	             AFTER("int3\n1:")));
	bench_ready(&b);
	bench_sample(&b, 1, 10, 5, &high, &low);
	for (int i = 0; i < 50; i++)
		assert_true(high[i] > 0 && low[i] > 0);
	bench_close(&b);
}

/* ---- caches ---- */

enum { ROUNDS = 60, ROUNDS_LONG = 15, MOST = 20 * ROUNDS };

static double median(double *x, size_t n)
{
	gsl_sort(x, 1, n);
	return gsl_stats_median_from_sorted_data(x, 1, n);
}

/* Medians, in ticks, of executions of one iteration and of none. */
struct shots {
	double one, none;
};

static void shoot(enum experiment_abi abi, const char *text, uint32_t n, uint32_t rounds,
                  uint32_t blocks, struct shots *out)
{
	static const char *const levels[][BENCH_FACTORS] = {{"0"}, {"1"}, {"2"}, {"3"}};
	static double sample[8][MOST];
	double *high[4], *low[4];
	struct bench b;
	for (uint32_t i = 0; i < n; i++) {
		high[i] = sample[2 * i];
		low[i] = sample[2 * i + 1];
	}
	bench_open_levels(&b, abi, text, levels, n);
	b.config.deadline_ms = 5000;
	bench_ready(&b);
	bench_sample(&b, n, rounds, blocks, high, low);
	bench_close(&b);
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct shots){median(high[i], (size_t)rounds * blocks),
		                        median(low[i], (size_t)rounds * blocks)};
}

/* What eviction must cost at least, if it does anything: memory is hundreds of cycles away, the
 * next cache a dozen, and the body has many lines. */
enum { COLD = 50 };

static void assert_colder(const struct shots *warm, const struct shots *cold, const char *name)
{
	double w = warm->one - warm->none, c = cold->one - cold->none;
	if (!(c >= w + COLD))
		fail_msg("%s costs %g ticks, warm %g", name, c, w);
}

/* Thirty-two jumps from line to line, in an order that no prefetcher guesses: four lines apart and
 * to and fro. */
static void write_jumps(char *to, size_t size)
{
	enum { JUMPS = 32, STEP = 11 };
	size_t used = (size_t)snprintf(to, size, "jmp 100f\n");
	for (int place = 0; place < JUMPS; place++) {
		/* the place after this one on the way; the last is the way out */
		int next = (place + STEP) % JUMPS;
		used += (size_t)snprintf(to + used, size - used, ".balign 256\n%d: jmp %d%c\n",
		                         100 + place, next ? 100 + next : 99,
		                         next > place || !next ? 'f' : 'b');
	}
	snprintf(to + used, size - used, "99:\n");
}

FOR_ABIS(code_that_was_evicted_costs_more_than_warm_code)
{
	char text[4096], jumps[2048];
	struct shots s[3];
	write_jumps(jumps, sizeof jumps);
	snprintf(
	        text, sizeof text,
	        "#: title T\n#: abi i386 x86_64\n#: factor k 0..3\n#: default k=0\n#: repeat once\n"
	        "#: align 256\n#: evict k=1 code flush\n#: evict k=2 code walk 4M\n"
	        ".macro body k\n%s.endm\n",
	        jumps);
	shoot(abi, text, 3, ROUNDS_LONG, 20, s);
	assert_colder(&s[0], &s[1], "flushed code");
	assert_colder(&s[0], &s[2], "code that other code has pushed out");
}

FOR_ABIS(data_that_was_evicted_costs_more_than_warm_data)
{
	/* each address needs what was loaded before */
	static const char text[] =
	        "#: title T\n#: abi i386 x86_64\n#: factor k 0..3\n#: default k=0\n#: repeat once\n"
	        "#: evict k=1 buffer flush\n#: evict k=2 buffer walk 4M\n#: evict k=3 all walk "
	        "16M\n"
	        ".macro setup k\nmov env_buffer(env), xsi\n.endm\n"
	        ".macro body k\n.set at, 0\n.rept 16\nmov at(xsi), %eax\nand $0, %eax\nadd xax, "
	        "xsi\n.set at, at + 4160\n.endr\n.endm\n";
	struct shots s[4];
	shoot(abi, text, 3, ROUNDS_LONG, 20, s);
	assert_colder(&s[0], &s[1], "a flushed buffer");
	assert_colder(&s[0], &s[2], "a buffer that other data has pushed out");
	shoot(abi, text, 4, ROUNDS_LONG, 4, s);
	assert_colder(&s[0], &s[3], "a buffer behind a sweep over everything");
}

/* An execution of no iterations is what is taken off. Were its code on a line of the body's, it
 * would be as cold as the body is, and cold code would look warm. */
FOR_ABIS(an_execution_of_no_iterations_is_warm_where_the_body_is_cold)
{
	static const char text[] =
	        "#: title T\n#: abi i386 x86_64\n#: factor k 0..1\n#: default k=0\n#: repeat once\n"
	        "#: evict k=1 code flush\n.macro body k\nnop\n.endm\n";
	struct shots s[2];
	shoot(abi, text, 2, ROUNDS, 20, s);
	assert_colder(&s[0], &s[1], "flushed code");
	if (s[1].none - s[0].none > (s[1].one - s[0].one) / 2)
		fail_msg("no iterations: %g ticks, with the body flushed %g; one: %g, flushed %g",
		         s[0].none, s[1].none, s[0].one, s[1].one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_random_pattern_has_its_share_and_no_period),
	        TEST(a_short_pattern_has_exactly_its_share_and_its_period),
	        TEST(a_pattern_of_blocks_has_exactly_its_share_in_long_runs),
	        TEST(a_pattern_is_the_same_in_every_process_and_absent_where_none_is_wanted),
	        TEST(a_whole_ldt_of_data_descriptors_can_be_loaded),
	        TEST(code_descriptors_of_the_ldt_can_be_called_through),
	        TEST(without_a_line_for_it_the_ldt_has_no_first_descriptor),
	        TEST(a_pool_is_called_in_a_code_segment_of_its_own),
	        TEST(every_variant_of_a_block_has_its_own_segment),
	        TEST(a_crash_in_a_code_segment_is_told_by_its_place_in_the_pool),
	        TEST(a_body_goes_on_behind_a_signal_with_all_it_had),
	        TEST(a_jump_to_where_nothing_is_tells_where_that_was),
	        TEST(setup_may_name_a_common_handler),
	        TEST(an_alignment_fault_is_a_signal_too),
	        TEST(signals_that_nobody_waits_for_are_deadly),
	        TEST(signals_do_not_spoil_samples),
	        TEST(code_that_was_evicted_costs_more_than_warm_code),
	        TEST(data_that_was_evicted_costs_more_than_warm_data),
	        TEST(an_execution_of_no_iterations_is_warm_where_the_body_is_cold),
	};
	return cmocka_run_group_tests(tests, find_workers, NULL);
}
