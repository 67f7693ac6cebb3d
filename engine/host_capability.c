#include "host_capability.h"

#include <string.h>

const struct host_capability_info host_capabilities[HOST_CAPABILITIES] = {
        [HOST_I386] = {"i386", "32-bit programs run"},
        [HOST_X86_64] = {"x86_64", "64-bit programs run"},
        [HOST_LDT] = {"ldt", "32-bit segment descriptors of our own in the LDT (modify_ldt)"},
        [HOST_LDT16] = {"ldt16", "16-bit segment descriptors of our own in the LDT"},
        [HOST_GDT] = {"gdt", "two segment descriptors of our own in the GDT (set_thread_area)"},
        [HOST_INT80] = {"int80", "system calls by int $0x80"},
        [HOST_SYSENTER] = {"sysenter", "system calls by the sysenter instruction"},
        [HOST_SYSCALL] = {"syscall", "system calls by the syscall instruction"},
        [HOST_SYSCALL32] = {"syscall32",
                            "the vDSO's entry for 32-bit system calls (__kernel_vsyscall)"},
        [HOST_FSGSBASE] = {"fsgsbase",
                           "segment bases read and written by rdfsbase, wrfsbase and their like"},
        [HOST_FOOTPRINT] = {"footprint",
                            "an interrupt leaves a trace in %es, so that samples it hit are found"},
        [HOST_RING0] = {"ring0", "privileged instructions (cli, sti, wrmsr)"},
};

int host_capability_find(const char *name)
{
	for (int i = 0; i < HOST_CAPABILITIES; i++)
		if (strcmp(host_capabilities[i].name, name) == 0)
			return i;
	return -1;
}
