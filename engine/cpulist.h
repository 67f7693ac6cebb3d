/* cpulist: sets of CPUs as the kernel writes them, "0-3,8". */
#ifndef ENGINE_CPULIST_H
#define ENGINE_CPULIST_H

#include <stdbool.h>
#include <stddef.h>

/* CPU numbers, ascending, each once. Zeroed is empty. */
struct cpulist {
	int *cpus;
	size_t count;
};

/* Reads "0-3,8"; an empty text and "(null)", which sysfs writes for no CPU, are empty lists. False,
 * with *out empty, for anything else or without memory. cpulist_free frees it. */
bool cpulist_parse(const char *text, struct cpulist *out);
void cpulist_free(struct cpulist *list);

/* Appends a CPU that is higher than all in the list. False without memory. */
bool cpulist_add(struct cpulist *list, int cpu);

bool cpulist_has(const struct cpulist *list, int cpu);

/* "0-3,8", malloc'ed; "none" for an empty list. NULL without memory. */
char *cpulist_format(const struct cpulist *list);

#endif
