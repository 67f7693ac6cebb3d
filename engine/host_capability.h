/* host_capability: what a machine may or may not be able to do. The engine and the worker programs
 * are compiled with this one list: "#: needs" lines, `host` and the probes all use its names. */
#ifndef ENGINE_HOST_CAPABILITY_H
#define ENGINE_HOST_CAPABILITY_H

enum host_capability {
	HOST_I386, /* a 32-bit worker is built and starts (ia32 emulation) */
	HOST_X86_64,
	HOST_LDT,       /* modify_ldt, 32-bit data segments */
	HOST_LDT16,     /* modify_ldt, 16-bit segments (refused by hardened kernels) */
	HOST_GDT,       /* set_thread_area: two entries of our own */
	HOST_INT80,     /* int $0x80 (in x86_64 too) */
	HOST_SYSENTER,  /* the instruction itself in a 32-bit program; #UD on AMD in long mode */
	HOST_SYSCALL,   /* the instruction itself; in a 32-bit program AMD only */
	HOST_SYSCALL32, /* the vDSO's __kernel_vsyscall exists */
	HOST_FSGSBASE,  /* rdfsbase and friends, enabled by the kernel (AT_HWCAP2 bit 1) */
	HOST_FOOTPRINT, /* a return from an exception clears a null selector of value 1 in %es */
	HOST_RING0,     /* privileged instructions; a worker in user mode never has them */
	HOST_CAPABILITIES,
};

struct host_capability_info {
	const char *name; /* "ldt" */
	const char *what; /* "segment descriptors of our own in the LDT" */
};
extern const struct host_capability_info host_capabilities[HOST_CAPABILITIES];

/* The index of a capability name, or -1. */
int host_capability_find(const char *name);

#endif
