/* environment: the block of memory that %rbp (in i386 %ebp) points to while setup, body and
 * teardown run.
 *
 * One layout for both ABIs: pointers have 8 bytes everywhere, and 32-bit code reads the lower half.
 * The table below is the only list of the fields: the assembler's symbols (env_NAME), the names
 * that "#: expect" accepts and the list in entrylab-experiment(5) come from it. */
#ifndef ENGINE_ENVIRONMENT_H
#define ENGINE_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

struct environment {
	uint64_t counter; /* zero before every execution; a body's own proof of work */
	uint64_t counter2;
	uint64_t result;     /* zero before every execution; for what a body found */
	uint64_t iterations; /* of this execution */
	uint64_t loop;       /* counts down in "repeat loop"; the engine's */
	uint64_t pushed;     /* below the stack that the body began with */
	uint64_t checking;   /* in the functional check, not timed */
	uint64_t sel_null, sel_data, sel_ldt, sel_ldt2, sel_gdt, sel_gdt2, sel_tls, sel_code;
	uint64_t at_data, at_ldt, at_ldt2, at_gdt, at_gdt2, at_tls;
	uint64_t base_ldt, base_ldt2, base_gdt, base_gdt2, base_tls;
	uint64_t sel_area, base_area;
	uint64_t buffer, buffer_size;
	uint64_t pattern, pattern_size;
	uint64_t ldt_first, sel_pool;
	uint64_t on_signal, signal_number, signal_pc, signal_address;
	uint64_t vsyscall, pipe_read, pipe_write, tls_offset, ppid, uid;
	uint64_t save0, save1, save2, save3, save4, save5, save6, save7;
};

struct environment_field {
	const char *name; /* without the env_ in front */
	uint32_t offset;
	uint32_t size;    /* 8 */
	const char *help; /* one sentence, for the manual */
};
extern const struct environment_field environment_fields[];
extern const size_t environment_field_count;

/* Index of a field, or -1. */
int environment_field_find(const char *name);

#endif
