/* plain_intr_entry always|skip16|skip32|skip16p: what intr-entry's sequences cost in a program that
 * anybody might write.
 *
 * 1,000,000 simulated interrupts in a loop, 75% of them from user mode (the code selector in %fs)
 * in random order; prints time-stamp ticks for one, with what a loop takes off that sets %fs alone.
 * i386 only. The clock is read after every thousand, a fraction of a time slice, and the middle
 * thousand counts, so that other programs on the same CPU do not. Of entrylab's method there is
 * nothing, and the two can only agree by measuring the same thing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERRUPTS = 1000000, USER_PERCENT = 75, READINGS = 1000 };

static uint32_t selectors[INTERRUPTS], handled;

static uint16_t data_selector(void)
{
	uint16_t selector;
	__asm__("movw %%ss, %0" : "=r"(selector));
	return selector;
}

static uint16_t code_selector(void)
{
	uint16_t selector;
	__asm__("movw %%cs, %0" : "=r"(selector));
	return selector;
}

static void draw_selectors(void)
{
	uint64_t random = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
	for (int i = 0; i < INTERRUPTS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		selectors[i] = random % 100 < USER_PERCENT ? code_selector() : data_selector();
	}
}

static uint64_t time_stamp(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The kernel's selector is an immediate of the sequences: 0x2b, where the kernel has 64 bits. */
#define KERNEL "$0x2b"
enum { KERNEL_SELECTOR = 0x2b };

#define LOOP(interrupt)                                                                            \
	uint64_t begin = time_stamp();                                                             \
	uint32_t left = INTERRUPTS / READINGS;                                                     \
	__asm__ volatile("1:\n\t"                                                                  \
	                 "mov (%[next]), %%eax\n\t"                                                \
	                 "add $4, %[next]\n\t"                                                     \
	                 "mov %%eax, %%fs\n\t" interrupt "sub $1, %[left]\n\t"                     \
	                 "jnz 1b\n\t"                                                              \
	                 "mov $0, %%eax\n\t"                                                       \
	                 "mov %%eax, %%fs"                                                         \
	                 : [next] "+r"(next), [left] "+r"(left)                                    \
	                 : [handled] "b"(&handled)                                                 \
	                 : "memory", "cc", "eax");                                                 \
	return time_stamp() - begin

#define INTERRUPT(loads)                                                                           \
	"pusha\n\t"                                                                                \
	"push %%ds\n\t"                                                                            \
	"push %%es\n\t"                                                                            \
	"push %%fs\n\t" loads "addl $1, %%fs:(%[handled])\n\t"                                     \
	"pop %%fs\n\t"                                                                             \
	"pop %%es\n\t"                                                                             \
	"pop %%ds\n\t"                                                                             \
	"popa\n\t"

#define UNLESS_KERNEL(loads)                                                                       \
	"mov %%fs, %%ax\n\t"                                                                       \
	"cmp " KERNEL ", %%ax\n\t"                                                                 \
	"je 2f\n\t" loads "2:\n\t"

#define LOADS(prefix, immediate)                                                                   \
	immediate prefix "mov %%eax, %%ds\n\t" prefix "mov %%eax, %%es\n\t" immediate prefix       \
	                 "mov %%eax, %%fs\n\t"

#define MOVE_32 "mov " KERNEL ", %%eax\n\t"
#define MOVE_16 "mov " KERNEL ", %%ax\n\t"

static uint64_t arrive(const uint32_t *next)
{
	LOOP("");
}

static uint64_t always(const uint32_t *next)
{
	LOOP(INTERRUPT(LOADS("", MOVE_32)));
}

static uint64_t skip16(const uint32_t *next)
{
	LOOP(INTERRUPT(UNLESS_KERNEL(LOADS("", MOVE_16))));
}

static uint64_t skip32(const uint32_t *next)
{
	LOOP(INTERRUPT(UNLESS_KERNEL(LOADS("", MOVE_32))));
}

static uint64_t skip16p(const uint32_t *next)
{
	LOOP(INTERRUPT(UNLESS_KERNEL(LOADS("data16 ", MOVE_16))));
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Ticks for one interrupt. */
static double middle(uint64_t (*loop)(const uint32_t *next))
{
	static uint64_t reading[READINGS];
	for (int i = 0; i < READINGS; i++)
		reading[i] = loop(selectors + (size_t)i * (INTERRUPTS / READINGS));
	qsort(reading, READINGS, sizeof reading[0], compare);
	return (double)reading[READINGS / 2] / (INTERRUPTS / READINGS);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*loop)(const uint32_t *next);
	} sequences[] = {
	        {"always", always}, {"skip16", skip16}, {"skip32", skip32}, {"skip16p", skip16p}};
	if (data_selector() != KERNEL_SELECTOR) {
		fprintf(stderr,
		        "plain_intr_entry: written for the data selector %#x, and it is %#x\n",
		        KERNEL_SELECTOR, data_selector());
		return 1;
	}
	draw_selectors();
	for (size_t s = 0; s < sizeof sequences / sizeof sequences[0]; s++) {
		if (argc != 2 || strcmp(argv[1], sequences[s].name))
			continue;
		double whole = middle(sequences[s].loop), arrival = middle(arrive);
		if (handled != INTERRUPTS) {
			fprintf(stderr, "plain_intr_entry: %u interrupts, not %d\n", handled,
			        INTERRUPTS);
			return 1;
		}
		printf("%.3f\n", whole - arrival);
		return 0;
	}
	fputs("plain_intr_entry: always, skip16, skip32 or skip16p\n", stderr);
	return 2;
}
