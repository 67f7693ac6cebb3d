/* What code may not ask the kernel for while it is checked, with real workers: by every way into
 * the kernel that an ABI has. */
#include "bench.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* sys: a system call with up to three arguments, by the ABI's usual way, or (by_int80) in x86_64 by
 * int $0x80, where numbers and registers are those of i386. */
static const char sys[] = ".macro sys nr32, nr64, a=$0, b=$0, c=$0\n"
                          ".if abi64 && !by_int80\n"
                          "mov \\a, %rdi\nmov \\b, %rsi\nmov \\c, %rdx\n"
                          "mov $\\nr64, %eax\nsyscall\n"
                          ".else\n"
                          "mov \\a, %ebx\nmov \\b, %ecx\nmov \\c, %edx\n"
                          "mov $\\nr32, %eax\nint $0x80\n"
                          ".endif\n"
                          ".endm\n";

/* The usual way, and the other one where there is one. */
static int ways(enum experiment_abi abi)
{
	return abi == EXPERIMENT_X86_64 && has(abi, HOST_INT80) ? 2 : 1;
}

static void open_guarded(struct bench *b, enum experiment_abi abi, int way, const char *code)
{
	char text[4096];
	snprintf(text, sizeof text,
	         "#: title T\n#: abi i386 x86_64\n#: repeat once\nby_int80 = %d\n%s.macro "
	         "body\n%s\n.endm\n",
	         way, sys, code);
	bench_open(b, abi, text);
	b->begin.guard = 1;
	bench_ready(b);
}

static const struct refused {
	const char *name, *call;
	enum protocol_refused why;
} refused[] = {
        {"fork", "sys 2, 57", PROTOCOL_REFUSED_STARTS},
        {"vfork", "sys 190, 58", PROTOCOL_REFUSED_STARTS},
        {"clone", "sys 120, 56", PROTOCOL_REFUSED_STARTS},
        {"a thread by clone", "sys 120, 56, $0x10900", PROTOCOL_REFUSED_STARTS},
        {"clone3", "sys 435, 435", PROTOCOL_REFUSED_STARTS},
        {"execve", "sys 11, 59", PROTOCOL_REFUSED_STARTS},
        {"execveat", "sys 358, 322, $-1", PROTOCOL_REFUSED_STARTS},
        {"ptrace", "sys 26, 101", PROTOCOL_REFUSED_REACHES},
        {"process_vm_writev", "sys 348, 311, $1", PROTOCOL_REFUSED_REACHES},
        {"kill its parent", "sys 37, 62, env_ppid(env)", PROTOCOL_REFUSED_REACHES},
        {"kill its group", "sys 37, 62", PROTOCOL_REFUSED_REACHES},
        {"kill everybody", "sys 37, 62, $-1", PROTOCOL_REFUSED_REACHES},
        {"tkill its parent", "sys 238, 200, env_ppid(env)", PROTOCOL_REFUSED_REACHES},
        {"tgkill its parent", "sys 270, 234, env_ppid(env), env_ppid(env)",
         PROTOCOL_REFUSED_REACHES},
        {"rt_sigqueueinfo to its parent", "sys 178, 129, env_ppid(env)", PROTOCOL_REFUSED_REACHES},
        {"rt_tgsigqueueinfo to its parent", "sys 335, 297, env_ppid(env), env_ppid(env)",
         PROTOCOL_REFUSED_REACHES},
        {"pidfd_send_signal", "sys 424, 424, $-1", PROTOCOL_REFUSED_REACHES},
        {"reboot", "sys 88, 169", PROTOCOL_REFUSED_REACHES},
        {"close 3", "sys 6, 3, $3", PROTOCOL_REFUSED_BREAKS},
        {"close 4", "sys 6, 3, $4", PROTOCOL_REFUSED_BREAKS},
        {"close_range", "sys 436, 436, $3, $4", PROTOCOL_REFUSED_BREAKS},
        {"write to 3", "sys 4, 1, $3, env_buffer(env), $1", PROTOCOL_REFUSED_BREAKS},
        {"write to 4", "sys 4, 1, $4, env_buffer(env), $1", PROTOCOL_REFUSED_BREAKS},
        {"writev to 3", "sys 146, 20, $3", PROTOCOL_REFUSED_BREAKS},
        {"read from 3", "sys 3, 0, $3, env_buffer(env), $1", PROTOCOL_REFUSED_BREAKS},
        {"readv from 4", "sys 145, 19, $4", PROTOCOL_REFUSED_BREAKS},
        {"ftruncate 4", "sys 93, 77, $4", PROTOCOL_REFUSED_BREAKS},
};

FOR_ABIS(calls_that_reach_out_of_a_check_are_refused_before_they_are_done)
{
	for (int way = 0; way < ways(abi); way++) {
		for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
			struct bench b;
			char code[256];
			/* a nop in front, so that the offset says something */
			snprintf(code, sizeof code, "nop\n%s\nincl env_counter(env)",
			         refused[i].call);
			open_guarded(&b, abi, way, code);
			ask_check(&b);
			if (hear(&b) != -1)
				fail_msg("%s, %s, way %d: not refused", refused[i].name,
				         experiment_abi_name[abi], way);
			struct worker_end end = worker_end(b.w);
			size_t size;
			const uint8_t *body = program_body(&b.p, 0, &size);
			if (end.last.signal != SIGSYS || end.last.refused != refused[i].why)
				fail_msg("%s, %s, way %d: signal %u, refused for %u",
				         refused[i].name, experiment_abi_name[abi], way,
				         end.last.signal, end.last.refused);
			assert_int_equal(end.status, 111);
			assert_int_equal(end.last.doing, PROTOCOL_CHECKING);
			/* told where: at the instruction itself */
			assert_int_equal(end.last.part, PROTOCOL_PART_BODY);
			assert_in_range(end.last.offset, 1, size - 2);
			static const uint8_t entry[2][2] = {{0xcd, 0x80}, {0x0f, 0x05}};
			assert_memory_equal(body + end.last.offset,
			                    entry[abi == EXPERIMENT_X86_64 && !way], 2);
			bench_close(&b);
		}
	}
}

/* Each leaves what the kernel answered in result. */
FOR_ABIS(calls_that_stay_within_are_let_pass)
{
	static const struct {
		const char *name, *code;
		int answer;
	} cases[] = {
	        {"write to 1", "sys 4, 1, $1, env_buffer(env), $16", 16},
	        {"write to the pipe, read from it",
	         "sys 4, 1, env_pipe_write(env), env_buffer(env), $5\n"
	         "sys 3, 0, env_pipe_read(env), env_buffer(env), $16",
	         5},
	        {"close of what is not open", "sys 6, 3, $50", -EBADF},
	        {"kill of itself with nothing",
	         "sys 20, 39\nmov %eax, env_save0(env)\nsys 37, 62, env_save0(env)", 0},
	        {"tgkill of itself with nothing",
	         "sys 20, 39\nmov %eax, env_save0(env)\nsys 270, 234, env_save0(env), "
	         "env_save0(env)",
	         0},
	        {"a number that no table has", "sys 9999, 9999", -ENOSYS},
	};
	for (int way = 0; way < ways(abi); way++) {
		struct bench b;
		struct protocol_checked c;
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			char code[512];
			snprintf(code, sizeof code, "%s\nmov %%eax, env_result(env)",
			         cases[i].code);
			open_guarded(&b, abi, way, code);
			c = check(&b);
			if (c.faults || (int)c.env.result != cases[i].answer)
				fail_msg("%s, %s, way %d: faults %u, answer %d", cases[i].name,
				         experiment_abi_name[abi], way, c.faults,
				         (int)c.env.result);
			bench_close(&b);
		}
		open_guarded(&b, abi, way, "sys 64, 110\nmov %eax, env_result(env)");
		c = check(&b);
		assert_int_equal(c.env.result, c.env.ppid);
		assert_true(c.env.ppid > 1);
		bench_close(&b);
	}
}

FOR_ABIS(a_variant_may_kill_itself)
{
	struct bench b;
	open_guarded(&b, abi, 0,
	             "sys 20, 39\nmov %eax, env_save0(env)\nsys 37, 62, env_save0(env), $9");
	ask_check(&b);
	assert_int_equal(hear(&b), -1);
	struct worker_end end = worker_end(b.w);
	assert_int_equal(end.status, -SIGKILL);
	assert_int_equal(end.last.signal, 0);
	bench_close(&b);
}

/* What is timed has no filter in its way: it would be timed too. */
FOR_ABIS(only_a_guarded_process_is_guarded)
{
	/* prctl(PR_GET_SECCOMP): 0, or 2 under a filter */
	static const char code[] = "sys 172, 157, $21\nmov %eax, env_result(env)";
	struct bench b;
	open_guarded(&b, abi, 0, code);
	uint64_t before = check(&b).env.result;
	b.begin.guard = 0;
	bench_again(&b);
	uint64_t between = check(&b).env.result;
	b.begin.guard = 1;
	bench_again(&b);
	uint64_t behind = check(&b).env.result;
	bench_close(&b);
	assert_int_equal(before, 2);
	/* a filter that the test itself was started under is passed on */
	assert_int_equal(between, prctl(PR_GET_SECCOMP));
	assert_int_equal(behind, 2);
}

/* ---- a kernel that refuses filters ---- */

/* From here on, for this process and all that come from it. */
static int refuse_filters(void)
{
	const unsigned prctls[] = {157, 172}, seccomps[] = {317, 354};
	const unsigned arches[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386};
	struct sock_filter f[32];
	unsigned short n = 0;
	for (int i = 0; i < 2; i++) {
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		                                      offsetof(struct seccomp_data, arch));
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arches[i], 0, 7);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		                                      offsetof(struct seccomp_data, nr));
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomps[i], 3, 0);
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, prctls[i], 0, 3);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		                                      offsetof(struct seccomp_data, args[0]));
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0,
		                                      1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = n, .filter = f};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

FOR_ABIS(without_filters_a_check_goes_on_and_finds_children_by_waiting)
{
	struct bench b;
	open_guarded(&b, abi, 0, "sys 64, 110\nmov %eax, env_result(env)");
	struct protocol_checked c = check(&b);
	assert_int_equal(c.faults, 0);
	assert_int_equal(c.env.result, c.env.ppid);
	bench_close(&b);
	open_guarded(&b, abi, 0, "sys 2, 57");
	c = check(&b);
	assert_int_equal(c.faults, PROTOCOL_CHECK_FORKED);
	bench_close(&b);
}

static const char without[] = "--without-filters";

/* The same program again, as on such a kernel. */
static void a_kernel_without_filters_is_no_obstacle(void **state)
{
	(void)state;
	char self[PATH_MAX];
	int status;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(n > 0);
	self[n] = '\0';
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execl(self, self, without, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no filters here in the first place */
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest alone[] = {
	        TEST(without_filters_a_check_goes_on_and_finds_children_by_waiting),
	};
	const struct CMUnitTest tests[] = {
	        TEST(calls_that_reach_out_of_a_check_are_refused_before_they_are_done),
	        TEST(calls_that_stay_within_are_let_pass),
	        TEST(a_variant_may_kill_itself),
	        TEST(only_a_guarded_process_is_guarded),
	        TEST(a_kernel_without_filters_is_no_obstacle),
	};
	if (argc == 2 && !strcmp(argv[1], without))
		return refuse_filters() ? 77 : cmocka_run_group_tests(alone, find_workers, NULL);
	return cmocka_run_group_tests(tests, find_workers, NULL);
}
