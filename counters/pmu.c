#include "pmu.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pin.h"

enum {
	LOOP_PASSES = 20000,
	LOOP_INSTRUCTIONS = 2 * LOOP_PASSES,
	/* the user part of two ioctl calls around the loop, and what an interrupt or an
	   over-counting CPU may add */
	LOOP_SLACK = LOOP_INSTRUCTIONS / 50,
	MOST_COUNTERS =
	        32, /* more than any PMU has: Intel's architectural limit is 32 of each kind */
};

static int linux_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                      unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static int linux_control(int fd, unsigned long request, unsigned long argument)
{
	return ioctl(fd, request, argument);
}

const struct pmu_kernel pmu_kernel_linux = {
        .open = linux_open,
        .control = linux_control,
        .read = read,
        .close = close,
};

/* As PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING lay it out:
 * perf_event_open(2). */
struct reading {
	uint64_t value, enabled, running;
};

int pmu_paranoid(void)
{
	int value = INT_MIN;
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (!f)
		return INT_MIN;
	if (fscanf(f, "%d", &value) != 1)
		value = INT_MIN;
	fclose(f);
	return value;
}

/* Where a machine has two kinds of core, each kind is a PMU of its own, and a generic event must
 * carry that PMU's type in the upper half of its config, or it counts on the other kind only
 * (PERF_PMU_CAP_EXTENDED_HW_TYPE, Linux 5.13). Returns 0 where there is one kind. */
static uint32_t hybrid_type(int cpu, char *name, size_t size)
{
	static const char *const kinds[] = {"core", "atom", "lowpower"};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char path[96], line[512];
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/cpu_%s/cpus", kinds[i]);
		FILE *f = fopen(path, "re");
		if (!f)
			continue;
		bool ours = false;
		char *list = fgets(line, sizeof line, f);
		fclose(f);
		while (list && *list >= '0' && *list <= '9') {
			long first = strtol(list, &list, 10), last = first;
			if (*list == '-')
				last = strtol(list + 1, &list, 10);
			ours |= cpu >= first && cpu <= last;
			list += *list == ',';
		}
		if (!ours)
			continue;
		uint32_t type = 0;
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/cpu_%s/type", kinds[i]);
		f = fopen(path, "re");
		if (f && fscanf(f, "%u", &type) != 1)
			type = 0;
		if (f)
			fclose(f);
		snprintf(name, size, "%s", kinds[i]);
		return type;
	}
	return 0;
}

static struct perf_event_attr user_event(uint32_t hybrid, uint64_t event)
{
	return (struct perf_event_attr){
	        .type = PERF_TYPE_HARDWARE,
	        .size = sizeof(struct perf_event_attr),
	        .config = (uint64_t)hybrid << 32 | event,
	        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	        .disabled = 1,
	        /* perf_event_paranoid 2, the usual value, allows user mode only */
	        .exclude_kernel = 1,
	        .exclude_hv = 1,
	};
}

/* LOOP_INSTRUCTIONS instructions, half of them branches. */
static void known_loop(void)
{
	unsigned long n = LOOP_PASSES;
	__asm__ volatile("1: dec %0\n\t"
	                 "jnz 1b"
	                 : "+r"(n)
	                 :
	                 : "cc", "memory");
}

/* Runs the known loop while the group led by fd is enabled. */
static bool run_group(const struct pmu_kernel *kernel, int fd)
{
	if (kernel->control(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP) < 0 ||
	    kernel->control(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0)
		return false;
	known_loop();
	return kernel->control(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) >= 0;
}

static bool read_event(const struct pmu_kernel *kernel, int fd, struct reading *out)
{
	*out = (struct reading){0};
	return kernel->read(fd, out, sizeof *out) == (ssize_t)sizeof *out;
}

static bool plausible(const struct reading *r, uint64_t expected)
{
	return r->running > 0 && r->running == r->enabled && r->value >= expected &&
	       r->value <= expected + LOOP_SLACK;
}

static bool group_runs(const struct pmu_kernel *kernel, const int *fds, unsigned n)
{
	if (!run_group(kernel, fds[0]))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct reading r;
		if (!read_event(kernel, fds[i], &r) || !plausible(&r, LOOP_PASSES))
			return false;
	}
	return true;
}

/* A group is opened one member at a time until the kernel refuses: it checks a group against an
 * idle PMU. Then members are taken off until all that are left count, because a counter that
 * someone else holds (the NMI watchdog) is only noticed in running. Branches are counted, since
 * Intel has fixed counters of their own for instructions and cycles. */
static void find_counters(const struct pmu_kernel *kernel, int cpu, uint32_t hybrid,
                          struct pmu_found *out)
{
	int fds[MOST_COUNTERS];
	unsigned n = 0;
	while (n < MOST_COUNTERS) {
		struct perf_event_attr attr = user_event(hybrid, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
		attr.disabled = n == 0; /* members follow their leader */
		int fd = kernel->open(&attr, 0, cpu, n ? fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			break;
		fds[n++] = fd;
	}
	out->counters = n;
	while (n > 0 && !group_runs(kernel, fds, n))
		kernel->close(fds[--n]);
	out->usable = n;
	while (n > 0)
		kernel->close(fds[--n]);
}

static void find_pinned(const struct pmu_kernel *kernel, int cpu, struct pmu_found *out)
{
	uint32_t hybrid = hybrid_type(cpu, out->core_type, sizeof out->core_type);
	struct perf_event_attr attr = user_event(hybrid, PERF_COUNT_HW_INSTRUCTIONS);
	int fd = kernel->open(&attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		out->verdict = PMU_REFUSED;
		out->error = errno;
		return;
	}
	struct reading r = {0};
	bool counts = run_group(kernel, fd) && read_event(kernel, fd, &r) &&
	              plausible(&r, LOOP_INSTRUCTIONS);
	kernel->close(fd);
	out->expected = LOOP_INSTRUCTIONS;
	out->counted = r.value;
	out->verdict = counts ? PMU_COUNTS : PMU_SILENT;
	if (counts)
		find_counters(kernel, cpu, hybrid, out);
}

void pmu_find(const struct pmu_kernel *kernel, int cpu, struct pmu_found *out)
{
	unsigned eax, ebx, ecx = 0, edx;
	struct utsname name;
	struct pin_set saved;

	*out = (struct pmu_found){.paranoid = pmu_paranoid()};
	/* CPUID Fn0000_0001 ECX[31]: never set by hardware, set by hypervisors (APM Vol. 3,
	 * appendix E.3.2) */
	out->virtual_machine = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 31;
	out->wsl = uname(&name) == 0 && strcasestr(name.release, "microsoft");
	int rc = pin_to(cpu, &saved);
	if (rc < 0) {
		out->verdict = PMU_CPU;
		out->error = -rc;
		return;
	}
	find_pinned(kernel, cpu, out);
	rc = pin_restore(&saved);
	if (rc < 0) {
		out->verdict = PMU_CPU;
		out->error = -rc;
	}
}

static const char *errno_name(int error)
{
	const char *name = strerrorname_np(error);
	return name ? name : "an unknown error";
}

static void refused_text(const struct pmu_found *f, char *out, size_t size)
{
	switch (f->error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
		snprintf(out, size, "no counters: %s (perf_event_open: %s)",
		         f->wsl               ? "WSL2 gives this machine no PMU"
		         : f->virtual_machine ? "this virtual machine has no PMU"
		                              : "the kernel has no PMU driver for this CPU",
		         errno_name(f->error));
		return;
	case EACCES:
		snprintf(out, size,
		         "no counters: EACCES, kernel.perf_event_paranoid is %d: sysctl "
		         "kernel.perf_event_paranoid=2",
		         f->paranoid);
		return;
	case ENOSYS:
		if (f->paranoid == INT_MIN) {
			snprintf(out, size,
			         "no counters: ENOSYS, the kernel was built without "
			         "CONFIG_PERF_EVENTS");
			return;
		}
		/* fall through */
	case EPERM:
		snprintf(out, size,
		         "no counters: %s, seccomp refuses perf_event_open: start the container "
		         "with --security-opt "
		         "seccomp=unconfined (or --cap-add PERFMON)",
		         errno_name(f->error));
		return;
	default:
		snprintf(out, size, "no counters: perf_event_open: %s: %s", errno_name(f->error),
		         strerror(f->error));
	}
}

void pmu_text(const struct pmu_found *f, char *out, size_t size)
{
	switch (f->verdict) {
	case PMU_CPU:
		snprintf(out, size, "unknown: the CPU cannot be used: %s", strerror(f->error));
		return;
	case PMU_REFUSED:
		refused_text(f, out, size);
		return;
	case PMU_SILENT:
		snprintf(out, size,
		         "no counters: they open but do not count: %llu instructions read %llu",
		         (unsigned long long)f->expected, (unsigned long long)f->counted);
		return;
	case PMU_COUNTS:
		break;
	}
	int n = f->counters == 0 ? snprintf(out, size,
	                                    "1 counter or more (branches cannot be counted, so "
	                                    "they were not tried)")
	                         : snprintf(out, size, "%u counter%s", f->counters,
	                                    f->counters == 1 ? "" : "s");
	if (f->core_type[0] && n >= 0 && (size_t)n < size)
		n += snprintf(out + n, size - (size_t)n, " of a %s CPU", f->core_type);
	if (f->usable < f->counters && n >= 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n,
		         ", %u free (others are held, often by the NMI watchdog: sysctl "
		         "kernel.nmi_watchdog=0)",
		         f->usable);
}

/* pfm_get_version tells the interface only (4.0 for every 4.x), and an event that is missing is a
 * matter of the release: the name of the shared object carries it. */
static void libpfm_version(char *out, size_t size)
{
	static const char stem[] = "libpfm.so.";
	Dl_info info;
	int version = pfm_get_version();
	snprintf(out, size, "%d.%d", PFM_MAJ_VERSION(version), PFM_MIN_VERSION(version));
	if (!dladdr((void *)pfm_get_version, &info) || !info.dli_fname)
		return;
	char *path = realpath(info.dli_fname, NULL);
	const char *found = path ? strstr(path, stem) : NULL;
	if (found && strchr(found + sizeof stem - 1, '.'))
		snprintf(out, size, "%s", found + sizeof stem - 1);
	free(path);
}

int pmu_describe(int cpu, char *out, size_t size)
{
	struct pmu_found found;
	char text[192], version[32];
	pmu_find(&pmu_kernel_linux, cpu, &found);
	pmu_text(&found, text, sizeof text);
	libpfm_version(version, sizeof version);
	snprintf(out, size, "%s; libpfm %s", text, version);
	if (found.verdict != PMU_COUNTS)
		return 0;
	return found.counters == 0 ? 1 : (int)found.usable;
}
