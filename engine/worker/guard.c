#include "guard.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/protocol.h"

/* One list for both ABIs: an x86_64 program may enter by int $0x80 too, and then the numbers are
 * i386's. -1: no such call. The numbers are those of arch/x86/entry/syscalls/syscall_32.tbl and
 * syscall_64.tbl. */
static const struct {
	int nr32, nr64; /* i386 is a macro in 32-bit builds */
	enum protocol_refused why;
	char rule; /* 'a' always; 'd' when the first argument is one of the worker's descriptors;
	              'o' when it is not our own process */
} calls[] = {
        {2, 57, PROTOCOL_REFUSED_STARTS, 'a'},     /* fork */
        {190, 58, PROTOCOL_REFUSED_STARTS, 'a'},   /* vfork */
        {120, 56, PROTOCOL_REFUSED_STARTS, 'a'},   /* clone */
        {435, 435, PROTOCOL_REFUSED_STARTS, 'a'},  /* clone3 */
        {11, 59, PROTOCOL_REFUSED_STARTS, 'a'},    /* execve */
        {358, 322, PROTOCOL_REFUSED_STARTS, 'a'},  /* execveat */
        {26, 101, PROTOCOL_REFUSED_REACHES, 'a'},  /* ptrace */
        {348, 311, PROTOCOL_REFUSED_REACHES, 'a'}, /* process_vm_writev */
        {37, 62, PROTOCOL_REFUSED_REACHES, 'o'},   /* kill */
        {238, 200, PROTOCOL_REFUSED_REACHES, 'o'}, /* tkill */
        {270, 234, PROTOCOL_REFUSED_REACHES, 'o'}, /* tgkill */
        {178, 129, PROTOCOL_REFUSED_REACHES, 'o'}, /* rt_sigqueueinfo */
        {335, 297, PROTOCOL_REFUSED_REACHES, 'o'}, /* rt_tgsigqueueinfo */
        {424, 424, PROTOCOL_REFUSED_REACHES, 'a'}, /* pidfd_send_signal */
        {88, 169, PROTOCOL_REFUSED_REACHES, 'a'},  /* reboot */
        {6, 3, PROTOCOL_REFUSED_BREAKS, 'd'},      /* close */
        {436, 436, PROTOCOL_REFUSED_BREAKS, 'a'},  /* close_range */
        {4, 1, PROTOCOL_REFUSED_BREAKS, 'd'},      /* write */
        {146, 20, PROTOCOL_REFUSED_BREAKS, 'd'},   /* writev */
        {3, 0, PROTOCOL_REFUSED_BREAKS, 'd'},      /* read */
        {145, 19, PROTOCOL_REFUSED_BREAKS, 'd'},   /* readv */
        {93, 77, PROTOCOL_REFUSED_BREAKS, 'd'},    /* ftruncate */
};
enum { CALLS = sizeof calls / sizeof calls[0] };

unsigned guard_reason(unsigned arch, unsigned number)
{
	for (size_t i = 0; i < CALLS; i++)
		if ((unsigned)(arch == AUDIT_ARCH_I386 ? calls[i].nr32 : calls[i].nr64) == number)
			return calls[i].why;
	return PROTOCOL_NOT_REFUSED;
}

/* Two instructions compare a call's number, up to four more its argument. */
static size_t add_rule(struct sock_filter *out, uint32_t number, char rule, uint32_t self)
{
	const struct sock_filter load =
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_filter trap = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	size_t n = 1;
	if (rule == 'a') {
		out[n++] = trap;
	} else if (rule == 'd') {
		out[n++] = load;
		out[n++] =
		        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROTOCOL_FD, 1, 0);
		out[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		                                        PROTOCOL_STATUS_FD, 0, 1);
		out[n++] = trap;
		out[n++] = allow;
	} else {
		out[n++] = load;
		out[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 1, 0);
		out[n++] = trap;
		out[n++] = allow;
	}
	out[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0,
	                                      (uint8_t)(n - 1));
	return n;
}

int guard_install(void)
{
	struct sock_filter filter[8 + 2 * CALLS * 6];
	size_t n = 0, jump;
	uint32_t self = (uint32_t)getpid();
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, arch));
	/* a long jump over the rules of x86_64: they are more than the 255 instructions that a
	 * conditional one reaches */
	filter[n++] =
	        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	jump = n++;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CALLS; i++)
		n += add_rule(filter + n, (uint32_t)calls[i].nr64, calls[i].rule, self);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[jump] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)(n - jump - 1));
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CALLS; i++)
		n += add_rule(filter + n, (uint32_t)calls[i].nr32, calls[i].rule, self);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
