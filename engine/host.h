/* host: the machine a run is measured on, and what it can do.
 *
 * Two runs whose hosts differ in what moves an entry path (mitigations, microcode, kernel) are not
 * comparable without a word; so every run carries this description. What cannot be read is
 * "unknown", never guessed and never a warning by itself. */
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpulist.h"
#include "error.h"
#include "host_capability.h"

struct host_probe {
	bool present;
	char why[160]; /* when not: "modify_ldt: ENOSYS: this kernel was built without
	                  CONFIG_MODIFY_LDT_SYSCALL"; when it is: what was found, or empty */
};

/* What each ABI's worker found: [enum experiment_abi][enum host_capability]. A capability that has
 * no meaning in an ABI is not present with a why that says so. */
struct host_probes {
	struct host_probe abi[2][HOST_CAPABILITIES];
};

/* Asks both worker programs (`entrylab-worker-ABI --probe`), both at once. A worker that is not
 * built, does not start, dies or does not answer within 2 s lacks every capability, with the
 * reason; that is not an error. Takes some milliseconds. ERROR_INTERNAL: no pipe, no memory. */
int host_probe_run(struct host_probes *out, struct error *err);

/* Reads what a worker's --probe printed, one line a capability: "NAME yes", "NAME yes: WHAT" or
 * "NAME no WHY". Other lines are passed over; a capability without a line is not present. Returns
 * how many capabilities had one. */
size_t host_probe_parse(const char *text, struct host_probe out[HOST_CAPABILITIES]);

struct host {
	char cpu_name[64], vendor[16];
	int family, model, stepping;
	char microcode[32];
	char hypervisor[32]; /* CPUID leaf 0x40000000 signature spelled out ("KVM"), or "none" */
	char kernel[136];    /* release and version */
	char cmdline_isolation[128]; /* "isolcpus=1 nohz_full=1" as /sys tells; "none" */
	char kstack_offset[16];      /* randomize_kstack_offset: "on", "off", "unknown" */
	char (*mitigations)[2][256]; /* [i][0] name, [i][1] text; all of
	                                /sys/devices/system/cpu/vulnerabilities, sorted */
	size_t mitigation_count;
	double tsc_hz; /* right within 0.05%, see tsc.h */
	char tsc_source[48];
	unsigned tsc_granule; /* ticks between two values the counter can take: 26 */
	bool tsc_invariant;
	double core_hz; /* 0 until a run calibrates it */
	char governor[32];
	char smt[64]; /* "off", "on, sibling 3", "unknown" */
	int sibling;  /* another CPU of the same core, the first if there are several; -1: none or
	                 unknown */
	char sibling_load[16]; /* how busy it was during a run; "unknown" before, "none" where there
	                          is none */
	char clocksource[32];
	char fred[8];      /* "yes", "no", "unknown" */
	char pmu[224];     /* "6 counters; libpfm 4.13.0" or why none, from counters/ */
	int pmu_counters;  /* that can be used; 0: none */
	int perf_paranoid; /* kernel.perf_event_paranoid; INT_MIN: not there */
	char boot_id[40];
	int cpu;  /* the CPU that measures */
	int cpus; /* how many are online; 0: unknown */
	char tool_version[32];
	char steal[16]; /* share of this CPU's time since boot that the hypervisor gave to others:
	                   "0.02%", or "unknown" */
};

/* Reads everything above for the CPU given, on which the calling thread runs meanwhile, in less
 * than 5 ms. Never fails for something that cannot be read. ERROR_INPUT: the CPU cannot be used.
 * host_free also takes a zeroed host. */
int host_read(int cpu, struct host *out, struct error *err);
void host_free(struct host *h);

/* One JSON object (malloc'ed) with every field under its name, for records. mitigations is an
 * object; core_hz is null until calibrated; with probes, capabilities.ABI.NAME is true, or the text
 * that says why not, and vsyscall is the code of __kernel_vsyscall. NULL without memory. */
char *host_json(const struct host *h, const struct host_probes *probes /* or NULL */);

/* What would make results better on this machine, each with the command that changes it: governor
 * not "performance", SMT sibling, no isolation, perf_event_paranoid, ... Returns how many were
 * written to out (at most max). */
struct host_advice {
	char what[200], command[200];
};
size_t host_advise(const struct host *h, struct host_advice *out, size_t max);

/* The differences between two hosts (JSON objects from records) that make runs incomparable without
 * a word: kernel, microcode, mitigations, CPU. malloc'ed text, one line each, or NULL if none. Text
 * that is no such object is a difference too. */
char *host_compare(const char *json_a, const char *json_b);

/* CPUs this process may run on, ascending; malloc'ed, *n of them. Isolated CPUs, which the kernel
 * leaves out of what a process gets at its start, are among them unless someone has narrowed that
 * set. NULL and 0 without memory. */
int *host_cpus_allowed(size_t *n);

/* Checks that cpu exists and is allowed, ERROR_INPUT with the list otherwise; cpu -1 picks the
 * default: the last isolated one if any is allowed, else the last allowed one. */
int host_cpu_pick(int cpu, int *out, struct error *err);

/* What host_cpu_pick decides, from the lists: CPUs that exist, that are online, allowed, isolated.
 */
int host_cpu_choose(int cpu, const struct cpulist *present, const struct cpulist *online,
                    const struct cpulist *allowed, const struct cpulist *isolated, int *out,
                    struct error *err);

#endif
