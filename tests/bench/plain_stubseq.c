/* plain_stubseq push_imm|push_cs|extract: what stubseq's sequences cost in a program that anybody
 * might write.
 *
 * 1,024 times the sequence, one copy behind the other, then the stack pointer is taken back; prints
 * time-stamp ticks for the 1,024. i386 only. Each reading is of some passes, a fraction of a time
 * slice long; the middle one is printed, so that other programs on the same CPU do not count. Of
 * entrylab's method there is nothing, and the two can only agree by measuring the same thing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READINGS = 1001, PASSES = 20, REPEATS = 1024 }; /* REPEATS: .rept below */

static uint64_t time_stamp(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Returns the word that the last sequence left. */
#define PASSES_OF(sequence)                                                                        \
	uint32_t last, stack;                                                                      \
	__asm__ volatile("mov %%esp, %[stack]\n"                                                   \
	                 "1:\n\t"                                                                  \
	                 ".rept 1024\n\t" sequence ".endr\n\t"                                     \
	                 "mov (%%esp), %[last]\n\t"                                                \
	                 "mov %[stack], %%esp\n\t"                                                 \
	                 "sub $1, %[passes]\n\t"                                                   \
	                 "jnz 1b"                                                                  \
	                 : [passes] "+r"(passes), [stack] "=&r"(stack), [last] "=&r"(last)         \
	                 :                                                                         \
	                 : "memory", "cc", "eax");                                                 \
	return last

static uint32_t push_imm(uint32_t passes)
{
	PASSES_OF("push $95\n\t");
}

static uint32_t push_cs(uint32_t passes)
{
	PASSES_OF("push %%cs\n\t");
}

static uint32_t extract(uint32_t passes)
{
	PASSES_OF("push %%eax\n\t"
	          "push %%eax\n\t"
	          "mov %%cs, %%eax\n\t"
	          "shr $3, %%eax\n\t"
	          "and $0xff, %%eax\n\t"
	          "not %%eax\n\t"
	          "mov %%eax, 4(%%esp)\n\t"
	          "pop %%eax\n\t");
}

static uint16_t code_selector(void)
{
	uint16_t selector;
	__asm__("movw %%cs, %0" : "=r"(selector));
	return selector;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		uint32_t (*run)(uint32_t passes);
		uint32_t last, mask;
	} sequences[] = {
	        {"push_imm", push_imm, 95, ~0u},
	        /* some CPUs write two bytes of the four */
	        {"push_cs", push_cs, code_selector(), 0xffff},
	        {"extract", extract, ~(code_selector() >> 3 & 0xffu), ~0u},
	};
	static uint64_t reading[READINGS];
	for (size_t s = 0; s < sizeof sequences / sizeof sequences[0]; s++) {
		if (argc != 2 || strcmp(argv[1], sequences[s].name))
			continue;
		for (int i = 0; i < READINGS; i++) {
			uint64_t begin = time_stamp();
			uint32_t last = sequences[s].run(PASSES);
			reading[i] = time_stamp() - begin;
			if ((last & sequences[s].mask) != sequences[s].last) {
				fprintf(stderr, "plain_stubseq: left %#x on the stack, not %#x\n",
				        last, sequences[s].last);
				return 1;
			}
		}
		qsort(reading, READINGS, sizeof reading[0], compare);
		printf("%.2f\n", (double)reading[READINGS / 2] / PASSES);
		return 0;
	}
	fputs("plain_stubseq: push_imm, push_cs or extract\n", stderr);
	return 2;
}
