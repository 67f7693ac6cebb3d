/* plain_segreg fs|gs: what segreg's iteration costs in a program that anybody might write.
 *
 * Saves a segment register, loads a descriptor of its own, makes one access through it, restores
 * the register; prints time-stamp ticks per iteration. i386 only: there %fs holds the null selector
 * and %gs the thread's own, as the C library left them. Each reading is of a loop over unrolled
 * iterations, a fraction of a time slice long; the middle one is printed, so that other programs on
 * the same CPU do not count. No fences, no rejection, no placement, no differences: of entrylab's
 * method there is nothing, and the two can only agree by measuring the same thing. */
#include <asm/ldt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READINGS = 1001, PASSES = 20, UNROLLED = 100 }; /* UNROLLED: .rept below */

static uint32_t counter;

/* A flat data segment in the GDT, for this thread. */
static int take_selector(uint16_t *selector)
{
	struct user_desc d = {.entry_number = (unsigned)-1,
	                      .limit = 0xfffff,
	                      .seg_32bit = 1,
	                      .limit_in_pages = 1,
	                      .useable = 1};
	if (syscall(SYS_set_thread_area, &d))
		return -1;
	*selector = (uint16_t)(d.entry_number << 3 | 3);
	return 0;
}

static uint64_t time_stamp(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The C library's own accesses go through %gs: none is made before it is restored. */
#define ITERATIONS(reg)                                                                            \
	__asm__ volatile("1:\n\t"                                                                  \
	                 ".rept 100\n\t"                                                           \
	                 "push %%" reg "\n\t"                                                      \
	                 "mov %[selector], %%" reg "\n\t"                                          \
	                 "addl $1, %%" reg ":(%[at])\n\t"                                          \
	                 "pop %%" reg "\n\t"                                                       \
	                 ".endr\n\t"                                                               \
	                 "sub $1, %[passes]\n\t"                                                   \
	                 "jnz 1b"                                                                  \
	                 : [passes] "+r"(passes)                                                   \
	                 : [selector] "r"((uint32_t)selector), [at] "r"(&counter)                  \
	                 : "memory", "cc")

static void iterate_fs(uint16_t selector, uint32_t passes)
{
	ITERATIONS("fs");
}

static void iterate_gs(uint16_t selector, uint32_t passes)
{
	ITERATIONS("gs");
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	void (*iterate)(uint16_t, uint32_t) = NULL;
	uint16_t selector;
	if (argc == 2 && !strcmp(argv[1], "fs"))
		iterate = iterate_fs;
	else if (argc == 2 && !strcmp(argv[1], "gs"))
		iterate = iterate_gs;
	if (!iterate) {
		fputs("plain_segreg: fs or gs\n", stderr);
		return 2;
	}
	if (take_selector(&selector)) {
		perror("plain_segreg: set_thread_area");
		return 1;
	}
	static uint64_t reading[READINGS];
	for (int i = 0; i < READINGS; i++) {
		uint64_t begin = time_stamp();
		iterate(selector, PASSES);
		reading[i] = time_stamp() - begin;
	}
	if (counter != READINGS * PASSES * UNROLLED) {
		fprintf(stderr, "plain_segreg: counted %u, not %d\n", counter,
		        READINGS * PASSES * UNROLLED);
		return 1;
	}
	qsort(reading, READINGS, sizeof reading[0], compare);
	printf("%.3f\n", (double)reading[READINGS / 2] / (PASSES * UNROLLED));
	return 0;
}
