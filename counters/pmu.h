/* pmu: does this CPU count events for us, and how many at once?
 *
 * The one place that calls perf_event_open. Presence is what the kernel says when asked, not what
 * CPUID or libpfm believes; and an event that opens is not trusted before it has counted a loop
 * whose length is known, because the counters of some virtual machines open and then read 0, or
 * anything. */
#ifndef COUNTERS_PMU_H
#define COUNTERS_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The system calls used, so that tests can play a kernel. Each answers as the system call does: -1
 * and errno for an error. */
struct pmu_kernel {
	int (*open)(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	            unsigned long flags);
	int (*control)(int fd, unsigned long request, unsigned long argument);
	ssize_t (*read)(int fd, void *to, size_t size);
	int (*close)(int fd);
};
extern const struct pmu_kernel pmu_kernel_linux;

enum pmu_verdict {
	PMU_COUNTS,  /* opens, and counted the known loop */
	PMU_REFUSED, /* perf_event_open failed: error says how */
	PMU_SILENT,  /* opens but does not count: expected and counted say what */
	PMU_CPU,     /* the thread could not be moved to that CPU: error */
};

/* What was found out about the PMU of one CPU. */
struct pmu_found {
	enum pmu_verdict verdict;
	int error;    /* an errno value */
	int paranoid; /* /proc/sys/kernel/perf_event_paranoid; INT_MIN: no such file, so a kernel
	                 without perf events */
	bool virtual_machine, wsl;  /* CPUID's hypervisor bit; the kernel's name */
	char core_type[16];         /* "core" or "atom" where the machine has two kinds; else "" */
	uint64_t expected, counted; /* instructions of the known loop */
	unsigned counters;          /* programmable counters that the kernel accepts in one group */
	unsigned usable; /* of these, how many really ran at once: one may be the NMI watchdog's */
};

/* Finds all of it for cpu, on which the calling thread runs meanwhile. Takes well under a
 * millisecond. */
void pmu_find(const struct pmu_kernel *kernel, int cpu, struct pmu_found *out);

/* Says it in one line: "6 counters" or "no counters: ...", and what would change it. */
void pmu_text(const struct pmu_found *found, char *out, size_t size);

/* Both on this machine, with libpfm's version behind: "6 counters; libpfm 4.13.0". Returns the
 * number of counters that can be used. */
int pmu_describe(int cpu, char *out, size_t size);

/* The value of perf_event_paranoid, or INT_MIN. */
int pmu_paranoid(void);

#endif
