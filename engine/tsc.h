/* tsc: how fast the time stamp counter of the CPU we run on ticks, and in what steps. Callers pin
 * themselves to that CPU first. */
#ifndef ENGINE_TSC_H
#define ENGINE_TSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ticks a second, right within 0.05%, and where the figure comes from. CPUID 0x15 and the
 * hypervisor's leaf 0x40000010 are believed only where half a millisecond of CLOCK_MONOTONIC_RAW
 * bears them out; else the counter is measured for 2 ms. */
double tsc_hz(char *source, size_t source_size);

/* Ticks a second against CLOCK_MONOTONIC_RAW, watched for that many nanoseconds. */
double tsc_hz_measure(uint64_t nanoseconds);

/* The step of the counter, from some thousand differences of readings that follow each other at
 * once: 26 means that every value is a multiple of 26. Takes less than 0.3 ms. */
unsigned tsc_granule(void);

/* The step that explains n differences: their greatest common divisor; or, where a hypervisor
 * scales the counter and rounds (steps of 26.4 read as 26 or 27), the distance between the values
 * they cluster at. 1 if there is no such step. Sorts differences in place. */
unsigned tsc_granule_of(uint64_t *differences, size_t n);

/* The counter keeps its rate whatever the CPU's clock does, and does not stop. */
bool tsc_invariant(void);

#endif
