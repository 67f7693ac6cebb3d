#include "crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard.h"
#include "link.h"
#include "segments.h"

static const int fatal[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGSYS, SIGALRM};
static uint8_t handler_stack[32768] __attribute__((aligned(64)));
static struct place where;
static struct environment *environment;

/* A variant may have set the flag that makes misaligned accesses faults (SDM vol. 3, 6.15,
 * interrupt 17), and the kernel does not clear it for a handler: code that the compiler makes is
 * free to have some. */
static void allow_misaligned(void)
{
#ifdef __x86_64__
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andl $~0x40000, (%%rsp); popfq; lea "
	                 "128(%%rsp), %%rsp" ::
	                         : "memory", "cc");
#else
	__asm__ volatile("pushfl; andl $~0x40000, (%%esp); popfl" ::: "memory", "cc");
#endif
}

/* Not the C library's: it may use the thread pointer, which a variant may have replaced. */
_Noreturn static void leave(void)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" ::"a"((long)SYS_exit_group), "D"(111L) : "memory", "rcx", "r11");
#else
	__asm__ volatile("int $0x80" ::"a"(SYS_exit_group), "b"(111) : "memory");
#endif
	__builtin_trap();
}

static void locate(uint64_t pc)
{
	struct protocol_status *s = link_status;
	uint64_t end = where.code + (uint64_t)where.stride * where.copies;
	s->part = PROTOCOL_PART_NONE;
	s->offset = 0;
	if (where.setup && pc >= where.setup && pc <= where.setup + where.setup_size) {
		s->part = PROTOCOL_PART_SETUP;
		s->offset = (uint32_t)(pc - where.setup);
	} else if (where.teardown && pc >= where.teardown &&
	           pc <= where.teardown + where.teardown_size) {
		s->part = PROTOCOL_PART_TEARDOWN;
		s->offset = (uint32_t)(pc - where.teardown);
	} else if (where.pool && pc >= where.pool && pc < where.pool + where.pool_size) {
		s->part = PROTOCOL_PART_POOL;
		s->offset = (uint32_t)(pc - where.pool);
	} else if (where.code && pc >= where.code && pc < end + 32) {
		s->part = PROTOCOL_PART_BODY;
		s->offset = pc >= end || !where.stride ? where.stride
		                                       : (uint32_t)(pc - where.code) % where.stride;
	}
}

#ifdef __x86_64__
enum { PC = REG_RIP, CODE_SELECTOR = REG_CSGSFS };
#else
enum { PC = REG_EIP, CODE_SELECTOR = REG_CS };
#endif

/* A signal that the variant asked for: goes on where it said. */
static bool resume(int sig, const siginfo_t *info, ucontext_t *c)
{
	struct environment *e = environment;
	if (!link_status->in_shot || !e->on_signal ||
	    (sig != SIGTRAP && sig != SIGSEGV && sig != SIGILL && sig != SIGBUS))
		return false;
	e->signal_number = (uint64_t)sig;
	e->signal_pc = (uintptr_t)c->uc_mcontext.gregs[PC];
	e->signal_address = (uintptr_t)info->si_addr;
	c->uc_mcontext.gregs[PC] = (greg_t)e->on_signal;
	return true;
}

static void handle(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	allow_misaligned();
	if (resume(sig, info, c))
		return;
	uint64_t pc = (uintptr_t)c->uc_mcontext.gregs[PC];
	if (sig == SIGTRAP && c->uc_mcontext.gregs[REG_TRAPNO] == 3)
		pc--; /* int3 is a trap: what is saved lies behind it (SDM vol. 3, 6.5), in the next
		         copy perhaps */
	/* in a code segment of ours the program counter is relative to its base */
	pc += segments_base((uint16_t)c->uc_mcontext.gregs[CODE_SELECTOR]);
	if (sig == SIGSYS) {
		pc -= 2; /* syscall, sysenter and int n have two bytes, and are done with */
		link_status->refused = guard_reason(info->si_arch, (unsigned)info->si_syscall);
	}
	link_status->pc = pc;
	link_status->address = (uintptr_t)info->si_addr;
	locate(pc);
	link_status->signal = (uint32_t)sig;
	leave();
}

void crash_prepare(struct environment *env)
{
	environment = env;
	stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
	sigset_t all;
	if (sigaltstack(&stack, NULL))
		link_fail("sigaltstack");
	sigfillset(&all);
	struct sigaction action = {
	        .sa_sigaction = handle, .sa_mask = all, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
		if (sigaction(fatal[i], &action, NULL))
			link_fail("sigaction");
		sigdelset(&all, fatal[i]);
	}
	if (sigprocmask(SIG_SETMASK, &all, NULL))
		link_fail("sigprocmask");
}

void crash_note_variant(uint32_t doing, uint32_t variant, const struct place *place)
{
	link_status->doing = doing;
	link_status->variant = variant;
	if (place)
		where = *place;
	else
		memset(&where, 0, sizeof where);
}

void crash_deadline(uint32_t milliseconds)
{
	struct itimerval t = {
	        .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}
