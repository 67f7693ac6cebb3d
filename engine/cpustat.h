/* cpustat: what a CPU did between two moments, from /proc/stat (proc(5)): for what others took from
 * it while a run was on. */
#ifndef ENGINE_CPUSTAT_H
#define ENGINE_CPUSTAT_H

#include <stdbool.h>

/* Seconds since boot, in steps of a clock tick (10 ms). */
struct cpustat {
	double busy;  /* user, nice, system, irq, softirq */
	double idle;  /* idle, iowait */
	double steal; /* given to others by the hypervisor */
};

/* False when it cannot be read: no such CPU, no /proc. */
bool cpustat_read(int cpu, struct cpustat *out);

/* The shares (0 to 1) of the time between two readings. False if no tick has passed. */
bool cpustat_between(const struct cpustat *from, const struct cpustat *to, struct cpustat *share);

/* As cpustat_read, from the text of /proc/stat: for tests. */
bool cpustat_parse(const char *text, int cpu, double ticks_a_second, struct cpustat *out);

#endif
