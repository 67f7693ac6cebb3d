#include "segments.h"

#include <asm/ldt.h>
#include <asm/prctl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/host_capability.h"

static uint16_t read_selector_ss(void)
{
	uint16_t s;
	__asm__ volatile("movw %%ss, %0" : "=r"(s));
	return s;
}

static uint16_t read_selector_cs(void)
{
	uint16_t s;
	__asm__ volatile("movw %%cs, %0" : "=r"(s));
	return s;
}

/* A flat 32-bit data segment. */
static struct user_desc flat(unsigned entry)
{
	struct user_desc d;
	memset(&d, 0, sizeof d);
	d.entry_number = entry;
	d.limit = 0xfffff;
	d.seg_32bit = 1;
	d.limit_in_pages = 1;
	d.useable = 1;
	return d;
}

static uint16_t write_ldt(struct user_desc d)
{
	/* modify_ldt(0x11): write one entry; selector: index, table bit, RPL 3 */
	if (syscall(SYS_modify_ldt, 0x11, &d, sizeof d))
		return 0;
	return (uint16_t)(d.entry_number << 3 | 7);
}

static uint16_t write_flat(unsigned entry, unsigned contents)
{
	struct user_desc d = flat(entry);
	d.contents = contents;
	return write_ldt(d);
}

#ifdef __x86_64__
/* There is no set_thread_area in 64-bit programs; int $0x80 number 243 takes one whose argument
 * lies below 4 GB. */
static uint16_t take_thread_area(void)
{
	struct user_desc *d = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (d == MAP_FAILED)
		return 0;
	*d = flat((unsigned)-1);
	long r;
	__asm__ volatile("int $0x80"
	                 : "=a"(r)
	                 : "a"(243L), "b"(d)
	                 : "memory", "r8", "r9", "r10", "r11");
	uint16_t selector = (int)r ? 0 : (uint16_t)(d->entry_number << 3 | 3);
	munmap(d, 4096);
	return selector;
}

static void find_tls(struct environment *env)
{
	unsigned long base = 0;
	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &base))
		base = 0;
	env->sel_tls = 0;
	env->base_tls = base;
}
#else
static uint16_t take_thread_area(void)
{
	struct user_desc d = flat((unsigned)-1);
	if (syscall(SYS_set_thread_area, &d))
		return 0;
	return (uint16_t)(d.entry_number << 3 | 3);
}

static void find_tls(struct environment *env)
{
	uint16_t s;
	__asm__ volatile("movw %%gs, %0" : "=r"(s));
	struct user_desc d = flat(s >> 3);
	env->sel_tls = s;
	env->base_tls = syscall(SYS_get_thread_area, &d) ? 0 : d.base_addr;
}
#endif

enum { CONTENTS_DATA = MODIFY_LDT_CONTENTS_DATA, CONTENTS_CODE = MODIFY_LDT_CONTENTS_CODE };

static void prepare_ldt(struct environment *env, const struct protocol_config *config)
{
	for (unsigned i = 0; i < config->ldt_data; i++)
		write_flat(i, CONTENTS_DATA);
	for (unsigned i = 0; i < config->ldt_code && i < PROTOCOL_LDT_CODE_MOST; i++)
		write_flat(PROTOCOL_LDT_CODE + i, CONTENTS_CODE);
	env->sel_ldt = write_flat(1, CONTENTS_DATA);
	env->sel_ldt2 = write_flat(2, CONTENTS_DATA);
	env->ldt_first = config->ldt_data ? 7 : config->ldt_code ? PROTOCOL_LDT_CODE << 3 | 7 : 0;
}

void segments_prepare(struct environment *env, const struct protocol_config *config)
{
	uintptr_t counter = (uintptr_t)&env->counter;
	env->sel_null = 0;
	env->sel_data = read_selector_ss();
	env->sel_code = read_selector_cs();
	if (config->capabilities & 1u << HOST_LDT)
		prepare_ldt(env, config);
	if (config->capabilities & 1u << HOST_GDT) {
		env->sel_gdt = take_thread_area();
		env->sel_gdt2 = take_thread_area();
	}
	find_tls(env);
	env->at_data = env->at_ldt = env->at_ldt2 = env->at_gdt = env->at_gdt2 = counter;
	env->at_tls = counter - (uintptr_t)env->base_tls;
}

uint16_t segments_area(uintptr_t base, uint32_t size)
{
	struct user_desc d = flat(3);
	d.base_addr = (unsigned)base;
	d.limit = size - 1;
	d.limit_in_pages = 0;
	return write_ldt(d);
}

static uintptr_t code_base[PROTOCOL_LDT_SEGMENT_MOST];

uint16_t segments_code(uint32_t slot, uintptr_t base, uint32_t bits)
{
	if (slot >= PROTOCOL_LDT_SEGMENT_MOST)
		return 0;
	struct user_desc d = flat(PROTOCOL_LDT_SEGMENT + slot);
	d.base_addr = (unsigned)base;
	d.limit = 0xffff; /* what a 16-bit instruction pointer reaches */
	d.limit_in_pages = 0;
	d.contents = CONTENTS_CODE;
	d.seg_32bit = bits == 32;
	code_base[slot] = base;
	return write_ldt(d);
}

uintptr_t segments_base(uint16_t selector)
{
	unsigned entry = selector >> 3;
	bool ours = (selector & 4) && entry >= PROTOCOL_LDT_SEGMENT &&
	            entry < PROTOCOL_LDT_SEGMENT + PROTOCOL_LDT_SEGMENT_MOST;
	return ours ? code_base[entry - PROTOCOL_LDT_SEGMENT] : 0;
}
