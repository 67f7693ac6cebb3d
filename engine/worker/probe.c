#include "probe.h"

#include <asm/ldt.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host_capability.h"

/* The segment register that the C library does not use for its thread pointer. */
#ifdef __x86_64__
#define SPARE "gs"
#else
#define SPARE "fs"
#endif

#define NO_IA32 "booted with ia32_emulation=0, or a kernel without CONFIG_IA32_EMULATION"

enum {
	PATTERN = 0x5eed1e55,
	SYS_IA32_GETPID = 20,
	SYS_IA32_SET_THREAD_AREA = 243,
	CHILD_SECONDS = 1,
	SIGNAL_BASE = 64, /* exit status of a child that caught a signal: this and its number */
};

/* A probe returns true, with what it found in why if that is of use, or false with a reason there.
 * It runs in a child that ends with it. */
typedef bool probe(char *why, size_t size);

static bool no(char *why, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool no(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return false;
}

/* Memory that a descriptor's 32-bit base and an int $0x80's 32-bit pointer can reach. */
static void *low_page(int protection)
{
#ifdef __x86_64__
	int low = MAP_32BIT;
#else
	int low = 0;
#endif
	void *page = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS | low, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

static uint32_t address32(const void *p)
{
	return (uint32_t)(uintptr_t)p;
}

/* A data descriptor over the page at base, as modify_ldt(2) and set_thread_area(2) take it. */
static struct user_desc data_descriptor(unsigned entry, const void *base, bool is_32bit)
{
	return (struct user_desc){
	        .entry_number = entry,
	        .base_addr = address32(base),
	        .limit = 4095,
	        .seg_32bit = is_32bit,
	        .contents = MODIFY_LDT_CONTENTS_DATA,
	        .useable = 1,
	};
}

/* Loads the selector, reads the word at offset 0 through it, and leaves the null selector. */
static uint32_t read_through(unsigned selector)
{
	uint32_t value;
	__asm__ volatile("mov %1, %%" SPARE "\n\t"
	                 "mov %%" SPARE ":0, %0\n\t"
	                 "mov %2, %%" SPARE
	                 : "=&r"(value)
	                 : "r"(selector), "r"(0)
	                 : "memory");
	return value;
}

static bool modify_ldt_refused(int error, char *why, size_t size)
{
	switch (error) {
	case ENOSYS:
		return no(why, size,
		          "modify_ldt: ENOSYS: the kernel was built without "
		          "CONFIG_MODIFY_LDT_SYSCALL, or a sandbox hides it");
	case EPERM:
		return no(
		        why, size,
		        "modify_ldt: EPERM: a sandbox refuses it (seccomp, or a hardened kernel)");
	case EINVAL:
		return no(why, size,
		          "modify_ldt: EINVAL: the kernel refuses this kind of descriptor");
	default:
		return no(why, size, "modify_ldt: %s", strerror(error));
	}
}

/* 0 or an errno value. Function 0x11 writes one entry, in the form without the old mode's limits.
 */
static int write_ldt(const struct user_desc *d)
{
	return syscall(SYS_modify_ldt, 0x11, d, sizeof *d) == 0 ? 0 : errno;
}

static unsigned ldt_selector(unsigned entry)
{
	return entry << 3 | 7; /* table indicator: LDT; RPL 3 */
}

static bool ldt_data(bool is_32bit, char *why, size_t size)
{
	uint32_t *page = low_page(PROT_READ | PROT_WRITE);
	if (!page)
		return no(why, size, "no memory below 4 GB: %s", strerror(errno));
	*page = PATTERN;
	struct user_desc d = data_descriptor(1, page, is_32bit);
	int error = write_ldt(&d);
	if (error)
		return modify_ldt_refused(error, why, size);
	if (read_through(ldt_selector(1)) != PATTERN)
		return no(why, size,
		          "a descriptor of ours in the LDT does not show the memory at its base");
	return true;
}

static bool probe_ldt(char *why, size_t size)
{
	return ldt_data(true, why, size);
}

#ifdef __x86_64__
/* Far calls out of 64-bit code need a stack below 4 GB; whether the descriptor is there and is code
 * is enough. lar gives the access byte in bits 8 to 15, zero flag set (SDM Vol. 2A, LAR): S and the
 * code bit. */
static bool runs_16bit(unsigned selector, void *page)
{
	uint32_t rights = 0;
	bool visible;
	(void)page;
	__asm__ volatile("lar %2, %0" : "+r"(rights), "=@ccz"(visible) : "r"(selector) : "memory");
	return visible && (rights & 0x1800) == 0x1800;
}
#else
/* Calls 16-bit code that sets %ax and returns. The stack stays the flat 32-bit one, so the return
 * pops two words of 32 bits: 66 cb in 16-bit code. */
static bool runs_16bit(unsigned selector, void *page)
{
	static const uint8_t code[] = {0xb8, 0x55, 0x1e, 0x66, 0xcb}; /* mov $0x1e55,%ax ; lretl */
	struct __attribute__((packed)) {
		uint32_t offset;
		uint16_t selector;
	} target = {0, (uint16_t)selector};
	uint32_t ax = 0;
	memcpy(page, code, sizeof code);
	__asm__ volatile("lcall *%1" : "+a"(ax) : "m"(target) : "memory", "cc");
	return ax == 0x1e55;
}
#endif

static bool probe_ldt16(char *why, size_t size)
{
	if (!ldt_data(false, why, size))
		return false;
	void *page = low_page(PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!page)
		return no(why, size, "no executable memory below 4 GB: %s", strerror(errno));
	struct user_desc d = data_descriptor(2, page, false);
	d.contents = MODIFY_LDT_CONTENTS_CODE;
	int error = write_ldt(&d);
	if (error)
		return modify_ldt_refused(error, why, size);
	if (!runs_16bit(ldt_selector(2), page))
		return no(why, size, "a 16-bit code descriptor of ours in the LDT does not work");
	return true;
}

/* A system call of the 32-bit table. int $0x80 from 64-bit code takes the 32-bit numbers; kernels
 * before 4.17 cleared r8 to r11 on the way. */
static long int80(long number, uint32_t argument)
{
	long rc;
#ifdef __x86_64__
	__asm__ volatile("int $0x80"
	                 : "=a"(rc)
	                 : "0"(number), "b"((unsigned long)argument)
	                 : "memory", "cc", "r8", "r9", "r10", "r11");
#else
	__asm__ volatile("int $0x80" : "=a"(rc) : "0"(number), "b"(argument) : "memory", "cc");
#endif
	return (int32_t)rc;
}

/* set_thread_area exists in the 32-bit table only; there, 64-bit code reaches it by int $0x80. */
static bool probe_gdt(char *why, size_t size)
{
	uint32_t *page = low_page(PROT_READ | PROT_WRITE);
	struct user_desc *d = low_page(PROT_READ | PROT_WRITE);
	if (!page || !d)
		return no(why, size, "no memory below 4 GB: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		*page = PATTERN + (uint32_t)i;
		*d = data_descriptor(UINT32_MAX, page,
		                     true); /* -1: the kernel picks a free entry and writes which */
		long rc = int80(SYS_IA32_SET_THREAD_AREA, address32(d));
		if (rc == -ESRCH)
			return no(why, size, "set_thread_area: only %d of two entries free", i);
		if (rc < 0)
			return no(why, size, "set_thread_area: %s: %s", strerrorname_np((int)-rc),
			          strerror((int)-rc));
		if (read_through(d->entry_number << 3 | 3) != *page)
			return no(why, size,
			          "a descriptor of ours in the GDT does not show the memory at its "
			          "base");
	}
	return true;
}

static bool probe_int80(char *why, size_t size)
{
	long rc = int80(SYS_IA32_GETPID, 0);
	if (rc == -ENOSYS)
		return no(why, size, "int $0x80: ENOSYS: " NO_IA32);
	if (rc != getpid())
		return no(why, size, "int $0x80 with getpid gives %ld", rc);
	return true;
}

static bool probe_sysenter(char *why, size_t size)
{
#ifdef __x86_64__
	return no(why, size, "sysenter enters the kernel from 32-bit programs only");
#else
	/* The kernel does not return behind the instruction but to the vDSO's landing pad, which
	 * pops ebp, edx and ecx and returns: so it is called with the frame that __kernel_vsyscall
	 * makes (arch/x86/entry/vdso/vdso32/system_call.S). */
	long rc;
	__asm__ volatile("call 1f\n\t"
	                 "jmp 2f\n"
	                 "1: push %%ecx\n\t"
	                 "push %%edx\n\t"
	                 "push %%ebp\n\t"
	                 "mov %%esp, %%ebp\n\t"
	                 "sysenter\n\t"
	                 "ud2\n"
	                 "2:"
	                 : "=a"(rc)
	                 : "0"(SYS_getpid)
	                 : "memory", "cc");
	if (rc != getpid())
		return no(why, size, "sysenter with getpid gives %ld", rc);
	return true;
#endif
}

/* In a 32-bit program AMD's CPUs have it, under a 64-bit kernel; Intel's raise #UD outside 64-bit
 * mode (SDM Vol. 2B, SYSCALL). The kernel returns to the vDSO's landing pad, as from sysenter; ecx
 * takes the return address, so the second argument travels in ebp (entry_64_compat.S). */
static bool probe_syscall(char *why, size_t size)
{
	long rc;
#ifdef __x86_64__
	__asm__ volatile("syscall"
	                 : "=a"(rc)
	                 : "0"((long)SYS_getpid)
	                 : "memory", "cc", "rcx", "r11");
#else
	__asm__ volatile("call 1f\n\t"
	                 "jmp 2f\n"
	                 "1: push %%ecx\n\t"
	                 "push %%edx\n\t"
	                 "push %%ebp\n\t"
	                 "mov %%ecx, %%ebp\n\t"
	                 "syscall\n\t"
	                 "ud2\n"
	                 "2:"
	                 : "=a"(rc)
	                 : "0"(SYS_getpid)
	                 : "memory", "cc");
#endif
	if (rc != getpid())
		return no(why, size, "syscall with getpid gives %ld", rc);
	return true;
}

#ifdef __i386__
/* The code of __kernel_vsyscall up to its return, and the first instruction there that enters the
 * kernel: which of the three it is was decided by the kernel when it booted. */
static void describe_vsyscall(const uint8_t *code, char *out, size_t size)
{
	static const struct {
		uint8_t bytes[2];
		const char *name;
	} entries[] = {
	        {{0x0f, 0x34}, "sysenter"}, {{0x0f, 0x05}, "syscall"}, {{0xcd, 0x80}, "int $0x80"}};
	enum { RET = 0xc3, LONGEST = 40 };
	const char *name = NULL;
	size_t used = 0;
	for (int i = 0; i < LONGEST; i++) {
		for (size_t k = 0; !name && k < sizeof entries / sizeof entries[0]; k++)
			if (!memcmp(code + i, entries[k].bytes, 2))
				name = entries[k].name;
		used += (size_t)snprintf(out + used, size - used, "%s%02x", i ? " " : "", code[i]);
		if (name && code[i] == RET)
			break;
	}
	snprintf(out + used, size - used, ": %s", name ? name : "no instruction that we know");
}
#endif

static bool probe_syscall32(char *why, size_t size)
{
#ifdef __x86_64__
	return no(why, size, "__kernel_vsyscall (AT_SYSINFO) is in 32-bit programs only");
#else
	unsigned long entry = getauxval(AT_SYSINFO);
	long rc;
	if (!entry)
		return no(why, size,
		          "no AT_SYSINFO: the kernel gives 32-bit programs no vDSO (vdso32=0)");
	__asm__ volatile("call *%1" : "=a"(rc) : "r"(entry), "0"(SYS_getpid) : "memory", "cc");
	if (rc != getpid())
		return no(why, size, "__kernel_vsyscall with getpid gives %ld", rc);
	describe_vsyscall((const uint8_t *)entry, why, size);
	return true;
#endif
}

static bool probe_fsgsbase(char *why, size_t size)
{
#ifdef __x86_64__
	unsigned long base;
	/* bit 1, HWCAP2_FSGSBASE: the kernel has set CR4.FSGSBASE
	 * (Documentation/arch/x86/elf_auxvec.rst). CPUID alone does not tell */
	if (!(getauxval(AT_HWCAP2) & 2))
		return no(why, size,
		          "the CPU lacks it, or the kernel has not enabled it (AT_HWCAP2 bit 1, "
		          "Linux 5.9, nofsgsbase)");
	__asm__ volatile("rdfsbase %0" : "=r"(base));
	if (!base)
		return no(why, size, "rdfsbase gives 0 for the thread pointer");
	return true;
#else
	/* SDM Vol. 2B, RDFSBASE/RDGSBASE: #UD outside 64-bit mode */
	return no(why, size, "rdfsbase and wrfsbase exist in 64-bit code only");
#endif
}

/* A return to an outer privilege level by iret nulls each data segment register that may not be
 * held there, and the null selectors 1, 2 and 3 become 0 with it (SDM Vol. 2A, IRET,
 * "RETURN-TO-OUTER-PRIVILEGE-LEVEL"). FRED's eretu does no such thing. The exception is the first
 * write to a fresh page. One block of assembly, without string instructions: they would use %es. */
static bool probe_footprint(char *why, size_t size)
{
	volatile uint8_t *fresh = low_page(PROT_READ | PROT_WRITE);
	unsigned before, after, saved;
	if (!fresh)
		return no(why, size, "no memory: %s", strerror(errno));
	__asm__ volatile("mov %%es, %[saved]\n\t"
	                 "mov %[one], %%es\n\t"
	                 "mov %%es, %[before]\n\t"
	                 "movb $1, %[fresh]\n\t"
	                 "mov %%es, %[after]\n\t"
	                 "mov %[saved], %%es"
	                 : [saved] "=&r"(saved), [before] "=&r"(before), [after] "=&r"(after),
	                   [fresh] "+m"(*fresh)
	                 : [one] "r"(1)
	                 : "memory");
	/* before may be 0 as well: an interrupt in between */
	if ((after & 0xffff) != 0)
		return no(why, size,
		          "%%es still holds %u after an exception (FRED, or an emulated return)",
		          after & 0xffff);
	if ((before & 0xffff) > 1)
		return no(why, size, "null selector 1 in %%es reads back as %u", before & 0xffff);
	return true;
}

static bool probe_ring0(char *why, size_t size)
{
	return no(why, size, "needs the ring-0 worker, which this version does not have");
}

static bool probe_i386(char *why, size_t size)
{
#ifdef __i386__
	(void)why, (void)size;
	return true;
#else
	return no(why, size, "this is a 64-bit program");
#endif
}

static bool probe_x86_64(char *why, size_t size)
{
#ifdef __x86_64__
	(void)why, (void)size;
	return true;
#else
	return no(why, size, "this is a 32-bit program");
#endif
}

/* What to try, and what SIGILL and SIGSEGV mean there where that is known. */
static const struct {
	probe *run;
	const char *on_ill, *on_segv;
} probes[HOST_CAPABILITIES] = {
        [HOST_I386] = {.run = probe_i386},
        [HOST_X86_64] = {.run = probe_x86_64},
        [HOST_LDT] = {.run = probe_ldt},
        [HOST_LDT16] = {.run = probe_ldt16},
        [HOST_GDT] = {.run = probe_gdt, .on_segv = "int $0x80 faults: " NO_IA32},
        [HOST_INT80] = {.run = probe_int80, .on_segv = "int $0x80 faults: " NO_IA32},
        /* APM Vol. 3, SYSENTER: #UD in long mode, compatibility mode included */
        [HOST_SYSENTER] = {.run = probe_sysenter,
                           .on_ill = "not on this CPU in long mode (#UD)",
                           .on_segv = "sysenter faults: no vDSO to return to (vdso32=0)"},
        [HOST_SYSCALL] = {.run = probe_syscall,
                          .on_ill = "not on this CPU in 32-bit code (#UD)",
                          .on_segv = "syscall faults: no vDSO to return to (vdso32=0)"},
        [HOST_SYSCALL32] = {.run = probe_syscall32},
        [HOST_FSGSBASE] = {.run = probe_fsgsbase,
                           .on_ill = "rdfsbase raises #UD: the kernel has not enabled it"},
        [HOST_FOOTPRINT] = {.run = probe_footprint},
        [HOST_RING0] = {.run = probe_ring0},
};

/* Ends the child without the C library: its thread pointer may be gone. Caught rather than left to
 * kill, so that neither a core nor a line in the kernel's log is left behind. */
static void on_signal(int number)
{
#ifdef __x86_64__
	__asm__ volatile("syscall"
	                 :
	                 : "a"(SYS_exit_group), "D"(SIGNAL_BASE + number)
	                 : "rcx", "r11", "memory");
#else
	__asm__ volatile("int $0x80" : : "a"(SYS_exit_group), "b"(SIGNAL_BASE + number) : "memory");
#endif
	__builtin_trap();
}

static void catch_signals(void)
{
	static const int caught[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGSYS, SIGALRM};
	static char stack[64 * 1024];
	stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigset_t all;
	sigaltstack(&alternative, NULL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		sigaction(caught[i], &action, NULL);
}

/* Where children leave their reasons: shared memory, as a pipe needs a child in working order. */
struct reason {
	char text[160];
};

static void run_child(int i, struct reason *reason) __attribute__((noreturn));

static void run_child(int i, struct reason *reason)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0); /* where a signal kills after all: no core */
	catch_signals();
	alarm(CHILD_SECONDS);
	_exit(probes[i].run(reason->text, sizeof reason->text) ? 0 : 1);
}

static void explain_signal(int i, int number, char *why, size_t size)
{
	const char *name = sigabbrev_np(number);
	if (number == SIGILL && probes[i].on_ill)
		snprintf(why, size, "%s", probes[i].on_ill);
	else if (number == SIGSEGV && probes[i].on_segv)
		snprintf(why, size, "%s", probes[i].on_segv);
	else if (number == SIGALRM)
		snprintf(why, size, "the attempt hangs");
	else if (number == SIGSYS)
		snprintf(why, size, "a sandbox kills the attempt (SIGSYS)");
	else
		snprintf(why, size, "the attempt dies: SIG%s", name ? name : "?");
}

/* Waits for child i and prints its line. */
static void report(int i, pid_t child, const char *fork_error, struct reason *reason)
{
	const char *name = host_capabilities[i].name;
	int status = 0;
	if (child < 0) {
		printf("%s no fork: %s\n", name, fork_error);
		return;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) {
			printf("%s no the attempt's end was lost: %s\n", name, strerror(errno));
			return;
		}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		printf("%s yes%s%s\n", name, reason->text[0] ? ": " : "", reason->text);
		return;
	}
	if (WIFSIGNALED(status))
		explain_signal(i, WTERMSIG(status), reason->text, sizeof reason->text);
	else if (WEXITSTATUS(status) > SIGNAL_BASE)
		explain_signal(i, WEXITSTATUS(status) - SIGNAL_BASE, reason->text,
		               sizeof reason->text);
	printf("%s no %s\n", name, reason->text);
}

/* All children are started before the first is waited for: several that hang cost one time-out. */
int probe_main(void)
{
	pid_t children[HOST_CAPABILITIES];
	const char *fork_error = "";
	struct reason *reasons = mmap(NULL, sizeof *reasons * HOST_CAPABILITIES,
	                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reasons == MAP_FAILED)
		return 1;
	signal(SIGCHLD,
	       SIG_DFL); /* ignored, as a parent may have it, it would lose the children's ends */
	fflush(stdout);
	for (int i = 0; i < HOST_CAPABILITIES; i++) {
		children[i] = fork();
		if (children[i] == 0)
			run_child(i, &reasons[i]);
		if (children[i] < 0)
			fork_error = strerror(errno);
	}
	for (int i = 0; i < HOST_CAPABILITIES; i++)
		report(i, children[i], fork_error, &reasons[i]);
	munmap(reasons, sizeof *reasons * HOST_CAPABILITIES);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
