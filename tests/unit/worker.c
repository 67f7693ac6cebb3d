/* The conversation with real workers: what they answer, and their last words when a variant kills
 * them. No figure is looked at. */
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

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
	/* as a process does that was told to end: it was not */
	end = end_of(abi, ONE(".if abi64\nmov $231, %eax\nmov $42, %edi\nsyscall\n.else\nmov "
	                      "$252, %eax\nmov $42, %ebx\nint $0x80\n.endif"));
	assert_int_equal(end.status, 42);
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

/* The keeper has the socket too, so nothing is noticed before the time is over. */
FOR_ABIS(a_variant_that_closes_the_socket_and_stays_is_found_in_time)
{
	struct worker_end end =
	        end_of(abi, ONE(".if abi64\nmov $3, %eax\nmov $3, %edi\nsyscall\n.else\nmov $6, "
	                        "%eax\nmov $3, %ebx\nint $0x80\n.endif\n1: jmp 1b"));
	assert_int_equal(end.last.signal, SIGALRM);
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

#define SETSID ".if abi64\nmov $112, %eax\nsyscall\n.else\nmov $66, %eax\nint $0x80\n.endif"

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
	assert_goes(child);
}

FOR_ABIS(children_of_a_variant_end_with_the_worker)
{
	expect_no_children(abi, FORK(""));
	/* setsid: the worker's group is not theirs */
	expect_no_children(abi, FORK(SETSID));
}

/* The child makes a session of its own, forks again and ends; what it leaves behind has no parent
 * any more. Its number goes through the pipe. */
FOR_ABIS(children_without_a_parent_end_with_the_worker)
{
	static const char text[] = WITH(
	        "#: repeat once\n",
	        ".macro sys nr32, nr64, a, b, c\n.if abi64\nmov \\a, %rdi\nmov \\b, %rsi\nmov \\c, "
	        "%rdx\nmov $\\nr64, %eax\nsyscall\n.else\nmov \\a, %ebx\nmov \\b, %ecx\nmov \\c, "
	        "%edx\nmov $\\nr32, %eax\nint $0x80\n.endif\n.endm\n",
	        "sys 2, 57, $0, $0, $0\ntest %eax, %eax\njnz 3f\n" SETSID "\n"
	        "sys 2, 57, $0, $0, $0\ntest %eax, %eax\njz 2f\nmov env_buffer(env), xcx\n"
	        "mov %eax, (xcx)\nsys 4, 1, env_pipe_write(env), env_buffer(env), $4\n"
	        "sys 252, 231, $0, $0, $0\n"
	        "2: jmp 2b\n"
	        "3: sys 3, 0, env_pipe_read(env), env_buffer(env), $4\nmov env_buffer(env), xcx\n"
	        "mov (xcx), %eax\nmov %eax, env_result(env)");
	expect_no_children(abi, text);
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

/* ---- the keeper and the processes that answer ---- */

/* The first child of a process, or 0: the kernel may have been built without that list. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	pid_t child = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &child) != 1)
		child = 0;
	fclose(f);
	return child;
}

struct family {
	pid_t keeper, child;
};

static struct family family_of(pid_t parent)
{
	struct family f = {.keeper = child_of(parent)};
	f.child = f.keeper ? child_of(f.keeper) : 0;
	return f;
}

/* Opens a worker; false where its processes cannot be told. */
static bool open_family(struct bench *b, enum experiment_abi abi, struct family *f)
{
	bench_open(b, abi, ONE("nop"));
	bench_ready(b);
	*f = family_of(getpid());
	if (f->child)
		return true;
	assert_int_equal(f->keeper, 0);
	print_message("no /proc/PID/task/TID/children: not tried\n");
	bench_close(b);
	return false;
}

FOR_ABIS(a_keeper_that_is_killed_takes_its_child_with_it)
{
	struct bench b;
	struct family f;
	if (!open_family(&b, abi, &f))
		return;
	assert_int_equal(kill(f.keeper, SIGKILL), 0);
	assert_int_equal(hear(&b), -1);
	assert_int_equal(worker_end(b.w).status, -SIGKILL);
	assert_goes(f.child);
	bench_close(&b);
}

FOR_ABIS(a_child_that_is_killed_takes_its_keeper_with_it)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV};
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		struct bench b;
		struct family f;
		if (!open_family(&b, abi, &f))
			return;
		assert_int_equal(kill(f.child, signals[i]), 0);
		if (signals[i] == SIGTERM) /* is blocked, as all are that no code raises */
			assert_int_equal(kill(f.child, SIGKILL), 0);
		assert_int_equal(hear(&b), -1);
		struct worker_end end = worker_end(b.w);
		/* SIGSEGV is caught, told and followed by an exit */
		if (signals[i] == SIGSEGV)
			assert_int_equal(end.status, 111);
		else
			assert_int_equal(end.status, -SIGKILL);
		assert_int_equal(end.last.doing, PROTOCOL_IDLE);
		assert_goes(f.child);
		assert_goes(f.keeper);
		bench_close(&b);
	}
}

/* The engine dies by a signal that it cannot catch. */
FOR_ABIS(a_worker_ends_with_its_engine)
{
	int fds[2];
	struct family f = {0};
	assert_int_equal(pipe(fds), 0);
	pid_t engine = fork();
	assert_true(engine >= 0);
	if (!engine) {
		struct bench b;
		uint32_t variant = 0;
		bench_open(&b, abi, ONE("1: jmp 1b"));
		b.config.deadline_ms = 60000;
		bench_ready(&b);
		f = family_of(getpid());
		/* busy, so that it does not look at the socket */
		ask(&b, PROTOCOL_CHECK, &variant, sizeof variant);
		assert_int_equal(worker_receive(b.w, &b.head, &b.body), 0);
		if (write(fds[1], &f, sizeof f) == sizeof f)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(read(fds[0], &f, sizeof f), sizeof f);
	int status;
	assert_int_equal(waitpid(engine, &status, 0), engine);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(fds[0]);
	close(fds[1]);
	if (!f.child) {
		print_message("no /proc/PID/task/TID/children: not tried\n");
		return;
	}
	assert_goes(f.keeper);
	assert_goes(f.child);
}

FOR_ABIS(another_process_answers_after_end)
{
	struct bench b;
	bench_open(&b, abi,
	           ONE(".if abi64\nmov $39, %eax\nsyscall\n.else\nmov $20, %eax\nint "
	               "$0x80\n.endif\nmov %eax, env_result(env)"));
	bench_ready(&b);
	struct protocol_checked first = check(&b), same = check(&b);
	assert_int_equal(first.env.result, same.env.result);
	bench_again(&b);
	struct protocol_checked second = check(&b);
	assert_true(second.env.result != first.env.result);
	/* of one parent, which stays */
	assert_int_equal(first.env.ppid, second.env.ppid);
	assert_true(first.env.ppid != second.env.result);
	bench_close(&b);
}

FOR_ABIS(nothing_is_ready_before_begin)
{
	struct bench b;
	bench_open(&b, abi, ONE("nop"));
	if (worker_start(b.abi, &b.config, &b.p, &b.w, &b.err))
		fail_msg("%s", b.err.text);
	running = b.w;
	/* all that was queued is sent, and nothing comes back */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(worker_receive(b.w, &b.head, &b.body), 0);
		poll(NULL, 0, 2);
	}
	ask(&b, PROTOCOL_BEGIN, &b.begin, sizeof b.begin);
	bench_hear_ready(&b);
	bench_close(&b);
}

/* result: what stood in the buffer's first and last word, in save0 and in the file's own data; a
 * change of each is left behind. */
FOR_ABIS(memory_is_fresh_in_another_process)
{
	struct bench b;
	bench_open(
	        &b, abi,
	        WITH("#: repeat once\n", ".data\nfoo: .long 0\n.text\n",
	             "mov env_buffer(env), xcx\nmov (xcx), %eax\nor 256 * 1024 - 4(xcx), %eax\nor "
	             "env_save0(env), %eax\n"
	             ".if abi64\nor foo(%rip), %eax\nincl foo(%rip)\n.else\nor foo, %eax\nincl "
	             "foo\n.endif\n"
	             "mov %eax, env_result(env)\nmovl $1, (xcx)\nmovl $2, 256 * 1024 - 4(xcx)\n"
	             "movl $4, env_save0(env)"));
	bench_ready(&b);
	assert_int_equal(check_bare(&b, 0).env.result, 0);
	/* in the same process all but the file's data, which each placement has anew, is what it
	 * was */
	assert_int_equal(check_bare(&b, 0).env.result, 7);
	for (int i = 0; i < 3; i++) {
		bench_again(&b);
		assert_int_equal(check_bare(&b, 0).env.result, 0);
		/* its kin have been told the same seed and found the same addresses */
		assert_int_equal(check_bare(&b, 0).env.result, 7);
	}
	bench_close(&b);
}

FOR_ABIS(many_processes_leave_nothing_behind)
{
	struct bench b;
	struct family f;
	bool known = open_family(&b, abi, &f);
	if (!known)
		return;
	/* a worker may have 64 descriptors: a pipe a process would be too many */
	for (int i = 0; i < 100; i++) {
		bench_again(&b);
		assert_int_equal(check(&b).faults, 0);
	}
	assert_false(exists(f.child));
	char path[64], list[256] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)f.keeper, (int)f.keeper);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(list, sizeof list, file));
	fclose(file);
	/* one, and no zombie beside it */
	char *end;
	f.child = (pid_t)strtol(list, &end, 10);
	assert_string_equal(end, " ");
	bench_close(&b);
	assert_goes(f.child);
	assert_goes(f.keeper);
}

/* Dies where %es holds the footprint, and nowhere else. */
FOR_ABIS(a_check_that_dies_of_the_footprint_says_so)
{
	struct bench b;
	if (!has(abi, HOST_FOOTPRINT))
		return;
	bench_open(&b, abi, ONE("mov %es, %eax\ncmp $1, %ax\njne 1f\nud2\n1:"));
	bench_ready(&b);
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.last.doing, PROTOCOL_QUIET);
	assert_int_equal(end.last.signal, SIGILL);
	assert_int_equal(end.last.part, PROTOCOL_PART_BODY);
	bench_close(&b);
	bench_open(&b, abi, ONE("mov %es, %eax\ncmp $1, %ax\njne 1f\nud2\n1:"));
	bench_ready(&b);
	struct protocol_checked c = check_bare(&b, 0);
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.footprint, 0);
	bench_close(&b);
}

/* ---- a conversation out of order, byte for byte ---- */

struct raw {
	int fd;
	pid_t pid;
};

static void raw_open(struct raw *r, enum experiment_abi abi)
{
	int pair[2], page = memfd_create("status", 0);
	char *path = worker_path(abi);
	assert_non_null(path);
	assert_true(page >= 0);
	assert_int_equal(ftruncate(page, sizeof(struct protocol_status)), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (!r->pid) {
		int fd = fcntl(pair[1], F_DUPFD, 16), status = fcntl(page, F_DUPFD, 16);
		dup2(fd, PROTOCOL_FD);
		dup2(status, PROTOCOL_STATUS_FD);
		close(fd);
		close(status);
		execl(path, "entrylab-worker", (char *)NULL);
		_exit(99);
	}
	close(pair[1]);
	close(page);
	free(path);
	r->fd = pair[0];
}

static void raw_send(const struct raw *r, uint32_t type, const void *body, size_t size)
{
	struct protocol_head head = {.type = type, .size = (uint32_t)size};
	assert_int_equal(send(r->fd, &head, sizeof head, MSG_NOSIGNAL), sizeof head);
	if (size)
		assert_int_equal(send(r->fd, body, size, MSG_NOSIGNAL), size);
}

static uint32_t raw_hear(const struct raw *r, char *text, size_t size)
{
	struct protocol_head head;
	assert_int_equal(recv(r->fd, &head, sizeof head, MSG_WAITALL), sizeof head);
	assert_true(head.size < size);
	if (head.size)
		assert_int_equal(recv(r->fd, text, head.size, MSG_WAITALL), head.size);
	text[head.size] = '\0';
	return head.type;
}

/* The status that it exits with; nothing more comes. */
static int raw_close(struct raw *r)
{
	char rest;
	int status;
	/* what has not been read makes the other side's end an error */
	ssize_t n = recv(r->fd, &rest, 1, 0);
	assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
	assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
	close(r->fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void raw_refused(struct raw *r, const char *message)
{
	char text[300];
	assert_int_equal(raw_hear(r, text, sizeof text), PROTOCOL_FAILED);
	assert_string_equal(text, message);
	assert_int_equal(raw_close(r), 1);
}

FOR_ABIS(messages_out_of_order_are_refused)
{
	const struct protocol_config config = {
	        .version = PROTOCOL_VERSION, .cpu = cpu, .granule = 26, .deadline_ms = 100};
	const struct protocol_program none = {0}, wrong = {.sections = 3};
	const struct protocol_begin begin = {.seed = 1};
	struct raw r;
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_PROGRAM, &none, sizeof none);
	raw_refused(&r, "CONFIG was expected");
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config - 4);
	raw_refused(
	        &r,
	        "a CONFIG message of the wrong size: worker and engine are of different versions");
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config);
	raw_send(&r, PROTOCOL_BEGIN, &begin, sizeof begin);
	raw_refused(&r, "PROGRAM was expected");
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config);
	raw_send(&r, PROTOCOL_PROGRAM, &wrong, sizeof wrong);
	raw_refused(&r, "a program's size does not add up");
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config);
	raw_send(&r, PROTOCOL_PROGRAM, &none, sizeof none);
	raw_send(&r, PROTOCOL_CHECK, NULL, 0);
	raw_refused(&r, "BEGIN was expected");
	raw_open(&r, abi);
	raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config);
	raw_send(&r, PROTOCOL_PROGRAM, &none, sizeof none);
	raw_send(&r, PROTOCOL_BEGIN, &begin, sizeof begin - 8);
	raw_refused(&r, "BEGIN was expected");
	struct protocol_head huge = {.type = PROTOCOL_CONFIG, .size = PROTOCOL_MAX_MESSAGE + 1};
	raw_open(&r, abi);
	assert_int_equal(send(r.fd, &huge, sizeof huge, MSG_NOSIGNAL), sizeof huge);
	raw_refused(&r, "a message is too large");
}

/* Wherever the conversation is, an engine that closes its end has no further use for a worker. */
FOR_ABIS(a_closed_connection_ends_a_worker)
{
	const struct protocol_config config = {
	        .version = PROTOCOL_VERSION, .cpu = cpu, .granule = 26, .deadline_ms = 100};
	const struct protocol_program none = {0};
	const struct protocol_begin begin = {.seed = 1};
	for (int said = 0; said < 4; said++) {
		struct raw r;
		char text[300];
		raw_open(&r, abi);
		if (said > 0)
			raw_send(&r, PROTOCOL_CONFIG, &config, sizeof config);
		if (said > 1)
			raw_send(&r, PROTOCOL_PROGRAM, &none, sizeof none);
		if (said > 2) {
			raw_send(&r, PROTOCOL_BEGIN, &begin, sizeof begin);
			assert_int_equal(raw_hear(&r, text, sizeof text), PROTOCOL_READY);
		}
		shutdown(r.fd, SHUT_WR);
		assert_int_equal(raw_close(&r), 0);
	}
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
	/* a second program comes too late */
	bench_open(&b, abi, ONE("nop"));
	bench_ready(&b);
	struct protocol_program none = {0};
	ask(&b, PROTOCOL_PROGRAM, &none, sizeof none);
	assert_fails(&b, "a message of an unknown type");
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
	        TEST(a_variant_that_closes_the_socket_and_stays_is_found_in_time),
	        TEST(a_variant_that_writes_into_the_socket_is_no_message),
	        TEST(children_of_a_variant_end_with_the_worker),
	        TEST(children_without_a_parent_end_with_the_worker),
	        TEST(a_keeper_that_is_killed_takes_its_child_with_it),
	        TEST(a_child_that_is_killed_takes_its_keeper_with_it),
	        TEST(a_worker_ends_with_its_engine),
	        TEST(another_process_answers_after_end),
	        TEST(nothing_is_ready_before_begin),
	        TEST(memory_is_fresh_in_another_process),
	        TEST(many_processes_leave_nothing_behind),
	        TEST(a_check_that_dies_of_the_footprint_says_so),
	        TEST(a_worker_can_be_ended_in_the_middle),
	        TEST(a_long_block_is_no_hang_and_a_hang_in_one_is_found),
	        TEST(a_worker_of_another_version_says_so),
	        TEST(messages_out_of_order_are_refused),
	        TEST(a_closed_connection_ends_a_worker),
	        TEST(a_worker_refuses_what_it_does_not_understand),
	        TEST(a_cpu_that_does_not_exist_is_told),
	        TEST(a_worker_that_is_not_built_is_told),
	};
	return cmocka_run_group_tests(tests, find_workers, NULL);
}
