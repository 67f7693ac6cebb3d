#include "environment.h"

#include <string.h>

#define FIELD(member, text)                                                                        \
	{                                                                                          \
		.name = #member, .offset = offsetof(struct environment, member), .size = 8,        \
		.help = text                                                                       \
	}

const struct environment_field environment_fields[] = {
        FIELD(counter, "Zero before every execution; a body adds to it to prove what it did."),
        FIELD(counter2, "A second counter, for bodies that do two things."),
        FIELD(result, "Zero before every execution; where a body leaves what it found."),
        FIELD(iterations, "How many iterations this execution has."),
        FIELD(loop, "Counts down in repeat loop. It is the engine's: leave it alone."),
        FIELD(pushed, "For teardown: what body pushed first (if balanced, in its last iteration), "
                      "whether it popped it or not."),
        FIELD(checking,
              "1 in the functional check, else 0: what takes its time to look closer looks at it."),
        FIELD(sel_null, "The null selector, 0."),
        FIELD(sel_data, "The kernel's flat user data selector."),
        FIELD(sel_ldt, "Entry 1 of the LDT: a flat data segment of ours."),
        FIELD(sel_ldt2, "Entry 2 of the LDT: another."),
        FIELD(sel_gdt, "A thread-area entry of the GDT: a flat data segment of ours."),
        FIELD(sel_gdt2, "Another."),
        FIELD(sel_tls, "The C library's thread selector: in i386 what %gs holds, in x86_64 0, for "
                       "there it is a base and no selector."),
        FIELD(sel_code, "The code selector."),
        FIELD(at_data, "Address of the field counter relative to the base of sel_data."),
        FIELD(at_ldt, "The same through sel_ldt."),
        FIELD(at_ldt2, "The same through sel_ldt2."),
        FIELD(at_gdt, "The same through sel_gdt."),
        FIELD(at_gdt2, "The same through sel_gdt2."),
        FIELD(at_tls, "The same through sel_tls (x86_64: through base_tls)."),
        FIELD(base_ldt, "Base address of sel_ldt."),
        FIELD(base_ldt2, "Base address of sel_ldt2."),
        FIELD(base_gdt, "Base address of sel_gdt."),
        FIELD(base_gdt2, "Base address of sel_gdt2."),
        FIELD(base_tls, "Base address of the C library's thread area."),
        FIELD(sel_area, "Entry 3 of the LDT: a data segment whose base is the buffer."),
        FIELD(base_area, "Base address of sel_area: that of the buffer."),
        FIELD(buffer, "Address of a buffer that is the body's own, aligned to a page."),
        FIELD(buffer_size, "Its size in bytes."),
        FIELD(pattern, "Address of the pattern: bytes that are 0 or 1."),
        FIELD(pattern_size, "Its size in bytes; 0 without a pattern line."),
        FIELD(ldt_first,
              "Selector of the first descriptor of an ldt line; the next ones are 8 apart."),
        FIELD(sel_pool, "Selector of the code segment of a segment line."),
        FIELD(on_signal, "Zero before every execution; where to go on after a signal of body's, if "
                         "setup stores an address here."),
        FIELD(signal_number, "The last such signal."),
        FIELD(signal_pc, "Its program counter: behind int3, else at the instruction."),
        FIELD(signal_address, "The address that it was about."),
        FIELD(vsyscall, "Address of the vDSO's __kernel_vsyscall; 0 in x86_64."),
        FIELD(pipe_read, "Descriptor to read from a pipe of the worker's."),
        FIELD(pipe_write, "Descriptor to write into it."),
        FIELD(tls_offset, "Offset of a thread-local word of 4 bytes from base_tls."),
        FIELD(ppid, "What getppid returns."),
        FIELD(uid, "What getuid returns."),
        FIELD(save0,
              "For setup, body and teardown to keep something in; zero when the worker starts."),
        FIELD(save1, "Another."),
        FIELD(save2, "Another."),
        FIELD(save3, "Another."),
        FIELD(save4, "Another."),
        FIELD(save5, "Another."),
        FIELD(save6, "Another."),
        FIELD(save7, "Another."),
};
const size_t environment_field_count = sizeof environment_fields / sizeof environment_fields[0];

int environment_field_find(const char *name)
{
	for (size_t i = 0; i < environment_field_count; i++)
		if (!strcmp(environment_fields[i].name, name))
			return (int)i;
	return -1;
}
