#include "tsc.h"

#include <cpuid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum {
	READINGS = 3000,
	CHECK_NS = 500 * 1000,
	MEASURE_NS = 2000 * 1000,
	BRACKETS = 8,
	SMALLEST_SCALED = 8, /* below, rounding and a step cannot be told apart */
};

/* lfence on both sides: rdtsc neither waits for what stands before it nor holds back what follows
 * (SDM Vol. 2B, RDTSC; on AMD lfence serialises where the kernel has set MSR C001_1029 bit 1, as
 * Linux does). */
static inline uint64_t ticks_now(void)
{
	_mm_lfence();
	uint64_t t = __rdtsc();
	_mm_lfence();
	return t;
}

static uint64_t raw_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct instant {
	double ticks; /* in the middle of the bracket */
	uint64_t ns;
};

/* Both clocks at one instant: the narrowest of several brackets, so that an interrupt between the
 * readings does no harm. */
static struct instant both_clocks(void)
{
	struct instant best = {0};
	uint64_t width = UINT64_MAX;
	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = ticks_now(), ns = raw_now(), after = ticks_now();
		if (after - before >= width)
			continue;
		width = after - before;
		best = (struct instant){.ticks = (double)before + (double)width / 2, .ns = ns};
	}
	return best;
}

double tsc_hz_measure(uint64_t nanoseconds)
{
	struct instant start = both_clocks();
	while (raw_now() - start.ns < nanoseconds)
		;
	struct instant end = both_clocks();
	return (end.ticks - start.ticks) * 1e9 / (double)(end.ns - start.ns);
}

/* CPUID leaf 15H: crystal clock ECX (0: not told) times EBX/EAX (SDM Vol. 2A, CPUID; Vol. 3B,
 * "Determining the Processor Base Frequency"). AMD reserves the leaf: all zero. */
static double crystal_hz(void)
{
	unsigned a, b, c, d;
	if (!__get_cpuid(0x15, &a, &b, &c, &d) || a == 0 || b == 0)
		return 0;
	return (double)c * b / a;
}

/* Leaf 4000_0010H EAX, in kHz: VMware's, which KVM and others have taken over. Only behind CPUID's
 * hypervisor bit, and only if leaf 4000_0000H EAX says that it goes that far: beyond, a CPU answers
 * with something else. */
static double hypervisor_hz(void)
{
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return 0;
	__cpuid(0x40000000, a, b, c, d);
	if (a < 0x40000010)
		return 0;
	__cpuid(0x40000010, a, b, c, d);
	return a * 1000.0;
}

double tsc_hz(char *source, size_t source_size)
{
	static const struct {
		const char *name;
		double (*ask)(void);
	} sources[] = {
	        {"CPUID 0x15", crystal_hz},
	        {"CPUID 0x40000010", hypervisor_hz},
	};
	const char *contradicted = NULL;
	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
		double hz = sources[i].ask();
		if (hz <= 0)
			continue;
		/* a guest moved to another machine may be told the rate of the one it came from */
		if (fabs(tsc_hz_measure(CHECK_NS) / hz - 1) < 0.0005) {
			snprintf(source, source_size, "%s", sources[i].name);
			return hz;
		}
		contradicted = sources[i].name;
	}
	if (contradicted)
		snprintf(source, source_size, "measured (%s is wrong)", contradicted);
	else
		snprintf(source, source_size, "measured");
	return tsc_hz_measure(MEASURE_NS);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Values this close to the smallest were not interrupted. */
static bool near(const uint64_t *sorted, size_t i)
{
	return sorted[i] <= 16 * sorted[0];
}

/* The smallest distance between clusters of sorted values, a cluster being one value or two
 * neighbours. 0: only one cluster. */
static uint64_t cluster_distance(const uint64_t *sorted, size_t n)
{
	uint64_t start = sorted[0], distance = 0;
	for (size_t i = 1; i < n && near(sorted, i); i++) {
		if (sorted[i] <= start + 1)
			continue;
		if (distance == 0 || sorted[i] - start < distance)
			distance = sorted[i] - start;
		start = sorted[i];
	}
	return distance;
}

/* Whether all near values are multiples of one step, rounded. The step is refined on the way, as
 * larger values tell it more exactly; a value may be off by its own rounding and by that of the one
 * before. */
static bool rounded_multiples(const uint64_t *sorted, size_t n, double step)
{
	for (size_t i = 0; i < n && near(sorted, i); i++) {
		double steps = round((double)sorted[i] / step);
		if (steps < 1 || fabs((double)sorted[i] - steps * step) > 2)
			return false;
		step = (double)sorted[i] / steps;
	}
	return true;
}

unsigned tsc_granule_of(uint64_t *differences, size_t n)
{
	uint64_t divisor = 0;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (differences[i] == 0)
			continue;
		divisor = common_divisor(divisor, differences[i]);
		differences[kept++] = differences[i];
	}
	if (kept == 0)
		return 1;
	if (divisor == 1) {
		qsort(differences, kept, sizeof *differences, ascending);
		uint64_t distance = cluster_distance(differences, kept);
		if (distance >= SMALLEST_SCALED &&
		    rounded_multiples(differences, kept, (double)distance))
			divisor = distance;
	}
	return divisor > UINT32_MAX ? 1 : (unsigned)divisor;
}

unsigned tsc_granule(void)
{
	uint64_t differences[READINGS], last = ticks_now();
	for (size_t i = 0; i < READINGS; i++) {
		uint64_t now = ticks_now();
		differences[i] = now - last;
		last = now;
	}
	return tsc_granule_of(differences, READINGS);
}

/* CPUID Fn8000_0007 EDX[8], TscInvariant (APM Vol. 3, appendix E.4.6; SDM Vol. 3B, "Invariant
 * TSC"). */
bool tsc_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
