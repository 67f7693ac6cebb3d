/* pin: run the calling thread on one CPU for a while, and give it back what it was allowed before.
 * Works with any number of CPUs. */
#ifndef COUNTERS_PIN_H
#define COUNTERS_PIN_H

#include <sched.h>
#include <stddef.h>

/* A CPU set as large as the kernel wants it. Zeroed is empty. */
struct pin_set {
	cpu_set_t *cpus;
	size_t size; /* bytes, for the CPU_*_S macros */
};

/* The CPUs the calling thread may run on. 0, or a negative errno. pin_free frees the set. */
int pin_get(struct pin_set *out);
void pin_free(struct pin_set *set);

/* Moves the calling thread to cpu; *saved takes what it was allowed before. 0, or a negative errno
 * with nothing changed. */
int pin_to(int cpu, struct pin_set *saved);

/* Undoes pin_to and frees *saved. 0, or a negative errno. */
int pin_restore(struct pin_set *saved);

#endif
