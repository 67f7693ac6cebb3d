/* The conversation with real workers: what they answer, and their last words when a variant kills
 * them. No figure is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/worker.h"

enum { HUNG_AFTER_MS = 150, PATIENCE_MS = 10000 };

static struct host_probes probes;
static struct worker *running; /* so that a test that fails does not leave its worker to the next */
static int cpu;

static bool has(enum experiment_abi abi, enum host_capability c)
{
	return probes.abi[abi][c].present;
}

/* ---- a worker and its program ---- */

struct bench {
	enum experiment_abi abi;
	struct experiment *x;
	char *levels[2];
	struct program p;
	struct worker *w;
	struct protocol_config config;
	struct protocol_head head;
	const void *body;
	struct error err;
};

static void bench_open(struct bench *b, enum experiment_abi abi, const char *text)
{
	memset(b, 0, sizeof *b);
	b->abi = abi;
	if (experiment_parse("t", "/x/t.s", text, strlen(text), &b->x, &b->err))
		fail_msg("%s", b->err.text);
	b->levels[0] = (char *)experiment_abi_name[abi];
	struct program_item item = {b->x, b->levels};
	if (program_build(abi, &item, 1, &probes, &b->p, &b->err))
		fail_msg("%s", b->err.text);
	b->config = (struct protocol_config){.version = PROTOCOL_VERSION,
	                                     .cpu = cpu,
	                                     .seed = 42,
	                                     .granule = 26,
	                                     .deadline_ms = HUNG_AFTER_MS};
	for (int c = 0; c < HOST_CAPABILITIES; c++)
		b->config.capabilities |= (uint32_t)has(abi, (enum host_capability)c) << c;
}

/* Waits for the next message; -1 when the worker has ended. */
static int hear(struct bench *b)
{
	for (;;) {
		int got = worker_receive(b->w, &b->head, &b->body);
		if (got)
			return got;
		struct pollfd p = {.fd = worker_fd(b->w), .events = worker_events(b->w)};
		if (poll(&p, 1, PATIENCE_MS) == 0)
			fail_msg("a worker is silent");
	}
}

static void bench_start(struct bench *b)
{
	if (worker_start(b->abi, &b->config, &b->p, &b->w, &b->err))
		fail_msg("%s", b->err.text);
	running = b->w;
}

static void bench_ready(struct bench *b)
{
	bench_start(b);
	assert_int_equal(hear(b), 1);
	if (b->head.type == PROTOCOL_FAILED)
		fail_msg("%.*s", (int)b->head.size, (const char *)b->body);
	assert_int_equal(b->head.type, PROTOCOL_READY);
	assert_int_equal(b->head.size, 0);
}

static void bench_close(struct bench *b)
{
	worker_free(b->w);
	running = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	program_free(&b->p);
	experiment_free(b->x);
}

static void ask(struct bench *b, uint32_t type, const void *body, size_t size)
{
	if (worker_send(b->w, type, body, size, NULL, 0, &b->err))
		fail_msg("%s", b->err.text);
}

static void ask_check(struct bench *b)
{
	uint32_t variant = 0;
	ask(b, PROTOCOL_CHECK, &variant, sizeof variant);
}

static struct protocol_checked check(struct bench *b)
{
	struct protocol_checked c;
	ask_check(b);
	if (hear(b) < 0) {
		struct worker_end end = worker_end(b->w);
		fail_msg("a worker died: status %d, signal %u, part %u, offset 0x%x, at 0x%llx",
		         end.status, end.last.signal, end.last.part, end.last.offset,
		         (unsigned long long)end.last.pc);
	}
	assert_int_equal(b->head.type, PROTOCOL_CHECKED);
	assert_int_equal(b->head.size, sizeof c);
	memcpy(&c, b->body, sizeof c);
	assert_int_equal(c.variant, 0);
	return c;
}

#define ONE(code) "#: title T\n#: abi i386 x86_64\n.macro body\n" code "\n.endm\n"
#define WITH(header, macros, code)                                                                 \
	"#: title T\n#: abi i386 x86_64\n" header macros ".macro body\n" code "\n.endm\n"

/* Once for every ABI that this machine has. */
static void for_abis(void (*test)(enum experiment_abi))
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

/* What a check finds in a field of the environment after three iterations. */
static struct protocol_checked check_of(enum experiment_abi abi, const char *text)
{
	struct bench b;
	bench_open(&b, abi, text);
	bench_ready(&b);
	struct protocol_checked c = check(&b);
	bench_close(&b);
	return c;
}

/* ---- answers ---- */

FOR_ABIS(a_check_runs_three_iterations_and_gives_the_environment)
{
	struct protocol_checked c =
	        check_of(abi, ONE("incl env_counter(env)\nmov env_buffer_size(env), xax\nmov xax, "
	                          "env_result(env)"));
	assert_int_equal(c.iterations, 3);
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.counter, 3);
	assert_int_equal(c.env.result, 256 << 10);
	assert_int_equal(c.env.sel_null, 0);
	assert_true(c.env.sel_code != 0 && c.env.sel_data != 0);
	assert_true(c.size >= 6);
	assert_int_equal(c.footprint, has(abi, HOST_FOOTPRINT) ? 8 : 0);
}

FOR_ABIS(a_loop_runs_the_same_bytes_as_often)
{
	struct protocol_checked c =
	        check_of(abi, WITH("#: repeat loop\n", "", "incl env_counter(env)\n"));
	assert_int_equal(c.env.counter, 3);
	assert_int_equal(c.faults, 0);
}

FOR_ABIS(a_single_shot_is_one_iteration)
{
	struct protocol_checked c =
	        check_of(abi, WITH("#: repeat once\n", "", "incl env_counter(env)\n"));
	assert_int_equal(c.iterations, 1);
	assert_int_equal(c.env.counter, 1);
}

FOR_ABIS(setup_and_teardown_run_once)
{
	struct protocol_checked c =
	        check_of(abi, WITH("",
	                           ".macro setup\nincl env_save0(env)\n.endm\n.macro "
	                           "teardown\nincl env_save1(env)\n.endm\n",
	                           "nop"));
	/* one execution with three iterations, and the quiet ones behind it are not in the answer
	 */
	assert_int_equal(c.env.save0, 1);
	assert_int_equal(c.env.save1, 1);
}

FOR_ABIS(every_copy_of_a_body_reaches_shared_data)
{
	struct protocol_checked c =
	        check_of(abi, WITH("",
	                           ".data\n.long 7\nfoo: .long 40\n.text\n.macro teardown\n.if "
	                           "abi64\nmov foo(%rip), %eax\n.else\nmov foo, %eax\n.endif\n"
	                           "mov %eax, env_result(env)\n.endm\n",
	                           ".if abi64\nincl foo(%rip)\n.else\nincl foo\n.endif"));
	assert_int_equal(c.env.result, 43);
}

FOR_ABIS(shared_data_is_as_the_file_says_for_every_placement)
{
	struct bench b;
	bench_open(&b, abi,
	           WITH("", ".data\nfoo: .long 40\n.bss\n.balign 16\nbar: .skip 40\n.text\n",
	                ".if abi64\nincl foo(%rip)\nmov foo(%rip), %eax\nincl bar+36(%rip)\nadd "
	                "bar+36(%rip), %eax\n"
	                ".else\nincl foo\nmov foo, %eax\nincl bar+36\nadd bar+36, "
	                "%eax\n.endif\nmov %eax, env_result(env)"));
	bench_ready(&b);
	assert_int_equal(check(&b).env.result, 43 + 3);
	assert_int_equal(check(&b).env.result, 43 + 3);
	bench_close(&b);
}

FOR_ABIS(every_copy_of_a_body_calls_code_out_of_line)
{
	struct protocol_checked c = check_of(
	        abi, WITH("", ".macro pool\nincl env_counter(env)\nret\n.endm\n", "call pool"));
	assert_int_equal(c.env.counter, 3);
	c = check_of(abi, WITH("", "helper: incl env_counter(env)\nret\n", "call helper"));
	assert_int_equal(c.env.counter, 3);
}

/* What an iret frame needs. Were the address that of the first copy, the others would never be
 * left. */
FOR_ABIS(a_copy_of_a_body_that_takes_its_own_address_gets_its_own)
{
	struct protocol_checked c =
	        check_of(abi, ONE("push $1f\nret\nud2\n1: incl env_counter(env)"));
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.counter, 3);
}

FOR_ABIS(code_lies_elsewhere_every_time)
{
	struct bench b;
	uint64_t at[4];
	bench_open(&b, abi, ONE("1: mov $1b, %eax\nmov %eax, env_result(env)"));
	bench_ready(&b);
	for (int i = 0; i < 4; i++)
		at[i] = check(&b).env.result;
	for (int i = 1; i < 4; i++)
		assert_true(at[i] != at[0] && at[i] < 0x80000000u);
	bench_close(&b);
}

FOR_ABIS(alignment_is_kept)
{
	struct bench b;
	bench_open(&b, abi,
	           WITH("#: align 256\n#: repeat once\n", "",
	                "1: mov $1b, %eax\nmov %eax, env_result(env)"));
	bench_ready(&b);
	for (int i = 0; i < 8; i++)
		assert_int_equal(check(&b).env.result % 256, 0);
	bench_close(&b);
}

FOR_ABIS(what_a_body_leaves_on_the_stack_is_expected_or_a_fault)
{
	struct protocol_checked c = check_of(
	        abi, WITH("#: stack 16\n", "", ".rept 16 / (4 + 4 * abi64)\npush xax\n.endr"));
	assert_int_equal(c.faults, 0);
	c = check_of(abi, ONE("push xax"));
	assert_int_equal(c.faults, PROTOCOL_CHECK_STACK);
	assert_int_equal(c.stack_moved, abi == EXPERIMENT_I386 ? -12 : -24);
	c = check_of(abi, ONE("lea 64(xsp), xsp"));
	assert_int_equal(c.faults, PROTOCOL_CHECK_STACK);
	assert_int_equal(c.stack_moved, 192);
}

FOR_ABIS(a_body_that_changes_its_pointer_is_a_fault)
{
	struct protocol_checked c = check_of(abi, ONE("inc xbp"));
	assert_int_equal(c.faults, PROTOCOL_CHECK_POINTER);
}

FOR_ABIS(a_body_that_forks_is_a_fault)
{
	/* fork by number 57 and 2; both go on behind it */
	struct bench b;
	bench_open(
	        &b, abi,
	        WITH("#: repeat once\n", "",
	             ".if abi64\nmov $57, %eax\nsyscall\n.else\nmov $2, %eax\nint $0x80\n.endif"));
	bench_ready(&b);
	struct protocol_checked c = check(&b);
	assert_int_equal(c.faults, PROTOCOL_CHECK_FORKED);
	bench_close(&b);
}

FOR_ABIS(a_body_that_uses_es_keeps_no_footprint)
{
	if (!has(abi, HOST_FOOTPRINT))
		return;
	struct protocol_checked c = check_of(abi, ONE("mov %ss, %eax\nmov %eax, %es"));
	assert_int_equal(c.footprint, 0);
}

FOR_ABIS(registers_segments_and_flags_may_come_back_anyhow)
{
	struct bench b;
	bench_open(&b, abi,
	           ONE("xor %ebx, %ebx\nxor %esi, %esi\nxor %edi, %edi\nmov %ebx, %ds\nmov %ebx, "
	               "%es\nmov %ebx, %fs\nmov %ebx, %gs\n"
	               "std\n.if abi64\nxor %r12d, %r12d\nxor %r15d, %r15d\n.endif\nincl "
	               "%ss:env_counter(env)"));
	bench_ready(&b);
	for (int i = 0; i < 3; i++) {
		struct protocol_checked c = check(&b);
		assert_int_equal(c.faults, 0);
		assert_int_equal(c.env.counter, 3);
	}
	bench_close(&b);
}

static void a_base_that_a_body_replaces_is_put_back(void **state)
{
	(void)state;
	struct bench b;
	if (!has(EXPERIMENT_X86_64, HOST_X86_64) || !has(EXPERIMENT_X86_64, HOST_FSGSBASE))
		skip();
	bench_open(&b, EXPERIMENT_X86_64,
	           ONE("rdfsbase %rax\nmov %rax, env_result(env)\nxor %ecx, %ecx\nwrfsbase "
	               "%rcx\nwrgsbase %rbp"));
	bench_ready(&b);
	/* the last of three iterations finds what the first has left, the first of the next check
	 * what the C library needs */
	struct protocol_checked c = check(&b);
	assert_int_equal(c.env.result, 0);
	c = check(&b);
	assert_true(c.env.base_tls != 0);
	bench_close(&b);
	bench_open(&b, EXPERIMENT_X86_64,
	           WITH("#: repeat once\n", "",
	                "rdfsbase %rax\nmov %rax, env_result(env)\nxor %ecx, %ecx\nwrfsbase "
	                "%rcx\nmov %ecx, %fs"));
	bench_ready(&b);
	for (int i = 0; i < 3; i++) {
		c = check(&b);
		assert_int_equal(c.env.result, c.env.base_tls);
	}
	bench_close(&b);
}

FOR_ABIS(selectors_lead_to_the_environment)
{
	static const char *const names[] = {"ldt", "ldt2", "gdt", "gdt2"};
	for (size_t i = 0; i < 4; i++) {
		char text[512];
		if (!has(abi, i < 2 ? HOST_LDT : HOST_GDT))
			continue;
		/* through %ds, but for the store of ours */
		snprintf(text, sizeof text,
		         "#: title T\n#: abi i386 x86_64\n.macro body\nmov %%ds, %%esi\nmov "
		         "env_sel_%s(env), %%eax\nmov env_at_%s(env), %%ecx\n"
		         "mov %%eax, %%ds\nincl %%ds:(%%ecx)\nmov %%esi, %%ds\n.endm\n",
		         names[i], names[i]);
		/* x86_64 has no segment bases here: flat descriptors are what both have */
		struct protocol_checked c = check_of(abi, text);
		assert_int_equal(c.env.counter, 3);
	}
}

FOR_ABIS(sizing_finds_enough_iterations_and_a_block_gives_every_sample)
{
	struct bench b;
	uint32_t variant = 0;
	struct protocol_sized s;
	bench_open(&b, abi, ONE(".rept 20\nimul %ecx, %eax\n.endr"));
	bench_ready(&b);
	ask(&b, PROTOCOL_SIZE, &variant, sizeof variant);
	assert_int_equal(hear(&b), 1);
	assert_int_equal(b.head.type, PROTOCOL_SIZED);
	assert_int_equal(b.head.size, sizeof s);
	memcpy(&s, b.body, sizeof s);
	assert_int_equal(s.variant, 0);
	assert_true(s.unroll > 1 && s.ticks >= 2600);

	struct {
		struct protocol_block block;
		struct protocol_entry entries[3];
	} request = {.block = {.seed = 9, .rounds = 7, .entries = 3}};
	struct protocol_samples head;
	for (int i = 0; i < 3; i++)
		request.entries[i] =
		        (struct protocol_entry){.unroll = s.unroll, .footprint = i == 1};
	ask(&b, PROTOCOL_BLOCK, &request, sizeof request);
	assert_int_equal(hear(&b), 1);
	assert_int_equal(b.head.type, PROTOCOL_SAMPLES);
	assert_int_equal(b.head.size, sizeof head + 7 * 3 * 2 * sizeof(uint32_t));
	memcpy(&head, b.body, sizeof head);
	assert_int_equal(head.rounds, 7);
	assert_int_equal(head.entries, 3);
	assert_true(head.end > head.begin);
	uint32_t sample[7][3][2];
	memcpy(sample, (const char *)b.body + sizeof head, sizeof sample);
	for (int r = 0; r < 7; r++)
		for (int i = 0; i < 3; i++)
			for (int k = 0; k < 2; k++) {
				assert_true((sample[r][i][k] & ~PROTOCOL_INTERRUPTED) > 0);
				assert_true(i == 1 || !(sample[r][i][k] & PROTOCOL_INTERRUPTED));
			}
	bench_close(&b);
}

static void a_thousand_variants_are_checked_sized_and_sampled(void **state)
{
	(void)state;
	enum { N = 1000 };
	static char words[N][16];
	static char *levels[N][2];
	static struct program_item items[N];
	static uint32_t list[N];
	static const char text[] = "#: title T\n#: abi x86_64\n#: factor n 0..999\n#: default "
	                           "n=1\n.macro body n\nmovl $\\n, env_result(env)\n.endm\n";
	struct bench b = {.abi = EXPERIMENT_X86_64};
	if (!has(EXPERIMENT_X86_64, HOST_X86_64))
		skip();
	bench_open(&b, EXPERIMENT_X86_64, ONE("nop"));
	program_free(&b.p);
	struct experiment *x;
	if (experiment_parse("t", "/x/t.s", text, strlen(text), &x, &b.err))
		fail_msg("%s", b.err.text);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(words[i], sizeof words[i], "%u", i);
		levels[i][0] = (char *)"x86_64";
		levels[i][1] = words[i];
		items[i] = (struct program_item){x, levels[i]};
		list[i] = i;
	}
	if (program_build(EXPERIMENT_X86_64, items, N, &probes, &b.p, &b.err))
		fail_msg("%s", b.err.text);
	b.config.deadline_ms = 2000;
	bench_ready(&b);
	ask(&b, PROTOCOL_CHECK, list, sizeof list);
	for (uint32_t i = 0; i < N; i++) {
		struct protocol_checked c;
		assert_int_equal(hear(&b), 1);
		assert_int_equal(b.head.type, PROTOCOL_CHECKED);
		memcpy(&c, b.body, sizeof c);
		assert_int_equal(c.variant, i);
		assert_int_equal(c.env.result, i);
	}
	struct protocol_block block = {.seed = 1, .rounds = 2, .entries = N};
	struct protocol_entry *entries = calloc(N, sizeof *entries);
	for (uint32_t i = 0; i < N; i++)
		entries[i] = (struct protocol_entry){.variant = i, .unroll = 100};
	if (worker_send(b.w, PROTOCOL_BLOCK, &block, sizeof block, entries, N * sizeof *entries,
	                &b.err))
		fail_msg("%s", b.err.text);
	free(entries);
	assert_int_equal(hear(&b), 1);
	assert_int_equal(b.head.type, PROTOCOL_SAMPLES);
	bench_close(&b);
	experiment_free(x);
}

/* ---- last words ---- */

static struct worker_end end_of(enum experiment_abi abi, const char *text)
{
	struct bench b;
	bench_open(&b, abi, text);
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.last.doing, PROTOCOL_CHECKING);
	assert_int_equal(end.last.variant, 0);
	assert_false(end.closed);
	/* asked again it says the same */
	assert_int_equal(worker_end(b.w).status, end.status);
	bench_close(&b);
	return end;
}

static void assert_dies(enum experiment_abi abi, const char *text, int signal,
                        enum protocol_part part, uint32_t offset)
{
	struct worker_end end = end_of(abi, text);
	if (end.last.signal != (uint32_t)signal || end.last.part != part ||
	    (part && end.last.offset != offset))
		fail_msg("%s\nstatus %d, signal %u, part %u, offset 0x%x, at 0x%llx", text,
		         end.status, end.last.signal, end.last.part, end.last.offset,
		         (unsigned long long)end.last.pc);
	assert_int_equal(end.status, 111);
}

FOR_ABIS(a_variant_that_dies_says_of_what_and_where)
{
	assert_dies(abi, ONE("nop\nud2"), SIGILL, PROTOCOL_PART_BODY, 1);
	assert_dies(abi, ONE("nop\nnop\nhlt"), SIGSEGV, PROTOCOL_PART_BODY, 2);
	assert_dies(abi, ONE("xor %edx, %edx\nxor %ecx, %ecx\ndiv %ecx"), SIGFPE,
	            PROTOCOL_PART_BODY, 4);
	assert_dies(abi, ONE("nop\nint3"), SIGTRAP, PROTOCOL_PART_BODY, 1);
	assert_dies(abi, ONE("xor %eax, %eax\nmov %eax, 0x10(xax)"), SIGSEGV, PROTOCOL_PART_BODY,
	            2);
	assert_dies(abi, WITH("", ".macro setup\nnop\nud2\n.endm\n", "nop"), SIGILL,
	            PROTOCOL_PART_SETUP, 1);
	assert_dies(abi, WITH("", ".macro teardown\nnop\nnop\nud2\n.endm\n", "nop"), SIGILL,
	            PROTOCOL_PART_TEARDOWN, 2);
	assert_dies(abi, WITH("#: repeat loop\n", "", "nop\nud2"), SIGILL, PROTOCOL_PART_BODY, 1);
	/* alignment checks: a misaligned access with the flag on */
	assert_dies(abi,
	            ONE(".if abi64\npushfq\n.else\npushfl\n.endif\norl $0x40000, (xsp)\n.if "
	                "abi64\npopfq\n.else\npopfl\n.endif\nmov env_buffer(env), xcx\nmov 1(xcx), "
	                "%eax"),
	            SIGBUS, PROTOCOL_PART_BODY, abi == EXPERIMENT_I386 ? 15 : 16);
}

FOR_ABIS(a_variant_that_dies_without_its_stack_or_segments_still_says_so)
{
	assert_dies(abi, ONE("xor %esp, %esp\nud2"), SIGILL, PROTOCOL_PART_BODY, 2);
	assert_dies(abi,
	            ONE("xor %eax, %eax\nmov %eax, %fs\nmov %eax, %gs\nmov %eax, %ds\nmov %eax, "
	                "%es\nud2"),
	            SIGILL, PROTOCOL_PART_BODY, 10);
	if (abi == EXPERIMENT_X86_64 && has(abi, HOST_FSGSBASE))
		assert_dies(abi, ONE("xor %eax, %eax\nwrfsbase %rax\nud2"), SIGILL,
		            PROTOCOL_PART_BODY, 7);
	/* more than the stack holds */
	struct worker_end end = end_of(abi, ONE("1: push xax\njmp 1b"));
	assert_int_equal(end.last.signal, SIGSEGV);
	assert_int_equal(end.last.part, PROTOCOL_PART_BODY);
}

FOR_ABIS(a_variant_that_jumps_away_is_found_outside)
{
	struct worker_end end = end_of(abi, ONE("mov $0x1000, %eax\njmp *xax"));
	assert_int_equal(end.last.signal, SIGSEGV);
	assert_int_equal(end.last.part, PROTOCOL_PART_NONE);
	assert_int_equal(end.last.pc, 0x1000);
}

FOR_ABIS(a_variant_that_never_ends_is_found_in_time)
{
	struct worker_end end = end_of(abi, ONE("nop\n1: jmp 1b"));
	assert_int_equal(end.last.signal, SIGALRM);
	assert_int_equal(end.last.part, PROTOCOL_PART_BODY);
	assert_int_equal(end.last.offset, 1);
}

FOR_ABIS(a_variant_that_exits_is_known_by_its_status)
{
	struct worker_end end =
	        end_of(abi, ONE(".if abi64\nmov $231, %eax\nmov $9, %edi\nsyscall\n.else\nmov "
	                        "$252, %eax\nmov $9, %ebx\nint $0x80\n.endif"));
	assert_int_equal(end.status, 9);
	assert_int_equal(end.last.signal, 0);
}

FOR_ABIS(a_variant_that_kills_its_process_is_known_by_the_signal)
{
	/* kill(getpid(), SIGKILL) */
	struct worker_end end =
	        end_of(abi, ONE(".if abi64\nmov $39, %eax\nsyscall\nmov %eax, %edi\nmov $9, "
	                        "%esi\nmov $62, %eax\nsyscall\n"
	                        ".else\nmov $20, %eax\nint $0x80\nmov %eax, %ebx\nmov $9, "
	                        "%ecx\nmov $37, %eax\nint $0x80\n.endif"));
	assert_int_equal(end.status, -SIGKILL);
	assert_int_equal(end.last.signal, 0);
}

FOR_ABIS(a_variant_that_closes_the_socket_is_to_blame)
{
	struct worker_end end =
	        end_of(abi, ONE(".if abi64\nmov $3, %eax\nmov $3, %edi\nsyscall\n.else\nmov $6, "
	                        "%eax\nmov $3, %ebx\nint $0x80\n.endif"));
	assert_int_equal(end.last.signal, 0);
}

FOR_ABIS(a_variant_that_closes_the_socket_and_stays_is_ended)
{
	struct bench b;
	bench_open(&b, abi,
	           ONE(".if abi64\nmov $3, %eax\nmov $3, %edi\nsyscall\n.else\nmov $6, %eax\nmov "
	               "$3, %ebx\nint $0x80\n.endif\n1: jmp 1b"));
	b.config.deadline_ms = 60000;
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_true(end.closed);
	assert_int_equal(end.last.doing, PROTOCOL_CHECKING);
	bench_close(&b);
}

FOR_ABIS(a_variant_that_writes_into_the_socket_is_no_message)
{
	struct bench b;
	bench_open(&b, abi,
	           WITH("", ".data\nnoise: .fill 16, 1, 0xff\n.text\n",
	                ".if abi64\nmov $1, %eax\nmov $3, %edi\nlea noise(%rip), %rsi\nmov $16, "
	                "%edx\nsyscall\n"
	                ".else\nmov $4, %eax\nmov $3, %ebx\nmov $noise, %ecx\nmov $16, %edx\nint "
	                "$0x80\n.endif"));
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	worker_end(b.w);
	bench_close(&b);
}

/* One that only waits to be buried by init has ended. */
static bool exists(pid_t pid)
{
	char path[64], letter = 'Z';
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &letter), 1);
	fclose(f);
	return letter != 'Z' && letter != 'X';
}

/* Forks; the child runs some code and stays for ever, the parent keeps its number. */
#define FORK(child)                                                                                \
	WITH("#: repeat once\n", "",                                                               \
	     ".if abi64\nmov $57, %eax\nsyscall\n.else\nmov $2, %eax\nint $0x80\n.endif\ntest "    \
	     "%eax, %eax\njz 1f\n"                                                                 \
	     "mov %eax, env_result(env)\njmp 2f\n1:" child "\n3: jmp 3b\n2:")

static void expect_no_children(enum experiment_abi abi, const char *text)
{
	struct bench b;
	bench_open(&b, abi, text);
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), 1);
	struct protocol_checked c;
	memcpy(&c, b.body, sizeof c);
	assert_int_equal(c.faults, PROTOCOL_CHECK_FORKED);
	pid_t child = (pid_t)c.env.result;
	assert_true(child > 1 && exists(child));
	bench_close(&b);
	for (int i = 0; i < 2000 && exists(child); i++)
		poll(NULL, 0, 1);
	assert_false(exists(child));
}

FOR_ABIS(children_of_a_variant_end_with_the_worker)
{
	expect_no_children(abi, FORK(""));
	/* setsid: the worker's group is not theirs */
	expect_no_children(abi, FORK(".if abi64\nmov $112, %eax\nsyscall\n.else\nmov $66, "
	                             "%eax\nint $0x80\n.endif"));
}

FOR_ABIS(a_worker_can_be_ended_in_the_middle)
{
	struct bench b;
	bench_open(&b, abi, ONE("1: jmp 1b"));
	b.config.deadline_ms = 60000;
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(worker_receive(b.w, &b.head, &b.body), 0);
	worker_kill(b.w);
	worker_kill(b.w);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.status, -SIGKILL);
	assert_false(end.closed);
	bench_close(&b);
}

static void a_long_block_is_no_hang_and_a_hang_in_one_is_found(void **state)
{
	(void)state;
	struct bench b;
	if (!has(EXPERIMENT_X86_64, HOST_X86_64))
		skip();
	/* an iteration of about a millisecond; twenty rounds are several deadlines */
	bench_open(&b, EXPERIMENT_X86_64,
	           WITH("#: repeat loop\n", "",
	                "mov $1000000, %ecx\n1: dec %ecx\njnz 1b\nincl env_save0(env)\n"));
	b.config.deadline_ms = 400;
	bench_ready(&b);
	struct {
		struct protocol_block block;
		struct protocol_entry entry;
	} request = {.block = {.seed = 9, .rounds = 250, .entries = 1}, .entry = {.unroll = 1}};
	ask(&b, PROTOCOL_BLOCK, &request, sizeof request);
	if (hear(&b) < 0)
		fail_msg("signal %u", worker_end(b.w).last.signal);
	assert_int_equal(b.head.type, PROTOCOL_SAMPLES);
	bench_close(&b);
	/* goes on for ever from the ninth execution on */
	bench_open(&b, EXPERIMENT_X86_64,
	           WITH("#: repeat loop\n", "",
	                "incl env_save0(env)\n1: cmpl $9, env_save0(env)\njae 1b"));
	bench_ready(&b);
	ask(&b, PROTOCOL_BLOCK, &request, sizeof request);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.last.doing, PROTOCOL_SAMPLING);
	assert_int_equal(end.last.signal, SIGALRM);
	bench_close(&b);
}

/* ---- starting ---- */

static void assert_fails(struct bench *b, const char *message)
{
	assert_int_equal(hear(b), 1);
	assert_int_equal(b->head.type, PROTOCOL_FAILED);
	char text[300];
	snprintf(text, sizeof text, "%.*s", (int)b->head.size, (const char *)b->body);
	assert_string_equal(text, message);
	assert_int_equal(hear(b), -1);
	assert_int_equal(worker_end(b->w).status, 1);
}

FOR_ABIS(a_worker_of_another_version_says_so)
{
	struct bench b;
	bench_open(&b, abi, ONE("nop"));
	b.config.version++;
	bench_start(&b);
	assert_fails(&b, "worker and engine are of different versions");
	bench_close(&b);
}

FOR_ABIS(a_worker_refuses_what_it_does_not_understand)
{
	struct bench b;
	bench_open(&b, abi, ONE("nop"));
	bench_ready(&b);
	ask(&b, 66, NULL, 0);
	assert_fails(&b, "a message of an unknown type");
	bench_close(&b);
	bench_open(&b, abi, ONE("nop"));
	bench_ready(&b);
	struct protocol_program wrong = {.sections = 3};
	ask(&b, PROTOCOL_PROGRAM, &wrong, sizeof wrong);
	assert_fails(&b, "a program's size does not add up");
	bench_close(&b);
}

FOR_ABIS(a_cpu_that_does_not_exist_is_told)
{
	struct bench b;
	bench_open(&b, abi, ONE("nop"));
	b.config.cpu = 1000;
	bench_start(&b);
	assert_fails(&b, "cannot run on the CPU that was asked for: Invalid argument");
	bench_close(&b);
}

static void a_worker_that_is_not_built_is_told(void **state)
{
	(void)state;
	char *kept = strdup(getenv("ENTRYLAB_WORKERS"));
	struct bench b;
	bench_open(&b, EXPERIMENT_X86_64, ONE("nop"));
	setenv("ENTRYLAB_WORKERS", "/nowhere", 1);
	assert_null(worker_path(EXPERIMENT_I386));
	assert_int_equal(worker_start(EXPERIMENT_X86_64, &b.config, &b.p, &b.w, &b.err),
	                 ERROR_ABSENT);
	assert_string_equal(b.err.text, "no x86_64 worker: it is not built");
	assert_int_equal(worker_start(EXPERIMENT_I386, &b.config, &b.p, &b.w, &b.err),
	                 ERROR_ABSENT);
	assert_string_equal(b.err.text, "no i386 worker: it is not built (Debian: apt-get install "
	                                "gcc-multilib, then make)");
	assert_null(b.w);
	setenv("ENTRYLAB_WORKERS", kept, 1);
	char *path = worker_path(EXPERIMENT_X86_64);
	assert_non_null(path);
	assert_int_equal(strncmp(path, kept, strlen(kept)), 0);
	free(path);
	free(kept);
	bench_close(&b);
}

/* The real workers are two directories above the unit tests. */
static int find_workers(void **state)
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

static int end_worker(void **state)
{
	(void)state;
	worker_free(running);
	running = NULL;
	return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, end_worker)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_check_runs_three_iterations_and_gives_the_environment),
	        TEST(a_loop_runs_the_same_bytes_as_often),
	        TEST(a_single_shot_is_one_iteration),
	        TEST(setup_and_teardown_run_once),
	        TEST(every_copy_of_a_body_reaches_shared_data),
	        TEST(shared_data_is_as_the_file_says_for_every_placement),
	        TEST(every_copy_of_a_body_calls_code_out_of_line),
	        TEST(a_copy_of_a_body_that_takes_its_own_address_gets_its_own),
	        TEST(code_lies_elsewhere_every_time),
	        TEST(alignment_is_kept),
	        TEST(what_a_body_leaves_on_the_stack_is_expected_or_a_fault),
	        TEST(a_body_that_changes_its_pointer_is_a_fault),
	        TEST(a_body_that_forks_is_a_fault),
	        TEST(a_body_that_uses_es_keeps_no_footprint),
	        TEST(registers_segments_and_flags_may_come_back_anyhow),
	        TEST(a_base_that_a_body_replaces_is_put_back),
	        TEST(selectors_lead_to_the_environment),
	        TEST(sizing_finds_enough_iterations_and_a_block_gives_every_sample),
	        TEST(a_thousand_variants_are_checked_sized_and_sampled),
	        TEST(a_variant_that_dies_says_of_what_and_where),
	        TEST(a_variant_that_dies_without_its_stack_or_segments_still_says_so),
	        TEST(a_variant_that_jumps_away_is_found_outside),
	        TEST(a_variant_that_never_ends_is_found_in_time),
	        TEST(a_variant_that_exits_is_known_by_its_status),
	        TEST(a_variant_that_kills_its_process_is_known_by_the_signal),
	        TEST(a_variant_that_closes_the_socket_is_to_blame),
	        TEST(a_variant_that_closes_the_socket_and_stays_is_ended),
	        TEST(a_variant_that_writes_into_the_socket_is_no_message),
	        TEST(children_of_a_variant_end_with_the_worker),
	        TEST(a_worker_can_be_ended_in_the_middle),
	        TEST(a_long_block_is_no_hang_and_a_hang_in_one_is_found),
	        TEST(a_worker_of_another_version_says_so),
	        TEST(a_worker_refuses_what_it_does_not_understand),
	        TEST(a_cpu_that_does_not_exist_is_told),
	        TEST(a_worker_that_is_not_built_is_told),
	};
	return cmocka_run_group_tests(tests, find_workers, NULL);
}
