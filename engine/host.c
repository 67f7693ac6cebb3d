#include "host.h"

#include <cpuid.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "counters/pin.h"
#include "counters/pmu.h"
#include "tsc.h"

#define CPU_DIR "/sys/devices/system/cpu/"

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* The first line of a file without its newline; "unknown" and false where it cannot be read or is
 * empty. */
static bool read_line(char *out, size_t size, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static bool read_line(char *out, size_t size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(out, (int)size, f);
	if (f)
		fclose(f);
	if (ok)
		out[strcspn(out, "\n")] = 0;
	if (ok && *out)
		return true;
	copy_text(out, size, "unknown");
	return false;
}

/* CPUID Fn0000_0001 EAX: a family of 15 is extended, and with it (Intel: also in family 6) the
 * model (APM Vol. 3, appendix E.3.2; SDM Vol. 2A, CPUID, "Version Information"). */
static void read_version(struct host *h)
{
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	h->stepping = a & 15;
	h->model = a >> 4 & 15;
	h->family = a >> 8 & 15;
	if (h->family == 15 || h->family == 6)
		h->model |= (a >> 16 & 15) << 4;
	if (h->family == 15)
		h->family += a >> 20 & 255;
}

static void read_vendor(struct host *h)
{
	unsigned a, regs[3];
	if (__get_cpuid(0, &a, &regs[0], &regs[2], &regs[1]))
		memcpy(h->vendor, regs, sizeof regs);
	else
		copy_text(h->vendor, sizeof h->vendor, "unknown");
}

/* Fn8000_0002 to 8000_0004: 48 characters, padded as each vendor likes (APM Vol. 3, appendix
 * E.4.3). */
static void read_name(struct host *h)
{
	unsigned regs[12];
	char raw[sizeof regs + 1] = "", *name = raw;
	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &regs[4 * i], &regs[4 * i + 1], &regs[4 * i + 2],
		                 &regs[4 * i + 3])) {
			copy_text(h->cpu_name, sizeof h->cpu_name, "unknown");
			return;
		}
	memcpy(raw, regs, sizeof regs);
	while (*name == ' ')
		name++;
	size_t length = strlen(name);
	while (length && name[length - 1] == ' ')
		name[--length] = 0;
	copy_text(h->cpu_name, sizeof h->cpu_name, name);
}

/* Fn4000_0000 EBX, ECX, EDX: the hypervisor's signature; the leaf is one only behind Fn0000_0001
 * ECX[31]. */
static void read_hypervisor(struct host *h)
{
	static const char *const known[][2] = {
	        {"KVMKVMKVM", "KVM"},           {"Linux KVM Hv", "KVM, Hyper-V interface"},
	        {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"},
	        {"XenVMMXenVMM", "Xen"},        {"TCGTCGTCGTCG", "QEMU without KVM (TCG)"},
	        {"VBoxVBoxVBox", "VirtualBox"}, {"bhyve bhyve ", "bhyve"},
	        {"ACRNACRNACRN", "ACRN"},       {" lrpepyh  vr", "Parallels"},
	};
	unsigned a, b, c, d, regs[3];
	char signature[sizeof regs + 1] = "";
	copy_text(h->hypervisor, sizeof h->hypervisor, "none");
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return;
	__cpuid(0x40000000, a, regs[0], regs[1], regs[2]);
	memcpy(signature, regs, sizeof regs);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(signature, known[i][0]) == 0) {
			copy_text(h->hypervisor, sizeof h->hypervisor, known[i][1]);
			return;
		}
	for (char *p = signature; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	copy_text(h->hypervisor, sizeof h->hypervisor, *signature ? signature : "unnamed");
}

/* The microcode of our CPU, and FRED: its flag in /proc/cpuinfo says that CPU and kernel both use
 * it, as the kernel clears the flag where it does not. Blocks stand in CPU order, so reading stops
 * with ours. */
static void read_cpuinfo(struct host *h)
{
	char *line = NULL;
	size_t size = 0;
	int cpu = -1;
	copy_text(h->microcode, sizeof h->microcode, "unknown");
	copy_text(h->fred, sizeof h->fred, "unknown");
	FILE *f = fopen("/proc/cpuinfo", "re");
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		char *value = strchr(line, ':');
		if (sscanf(line, "processor : %d", &cpu) == 1 && cpu > h->cpu)
			break;
		if (!value || cpu != h->cpu)
			continue;
		value += value[1] == ' ' ? 2 : 1;
		value[strcspn(value, "\n")] = 0;
		if (strncmp(line, "microcode", 9) == 0)
			copy_text(h->microcode, sizeof h->microcode, value);
		if (strncmp(line, "flags", 5) == 0) {
			const char *hit = strstr(value, " fred");
			copy_text(h->fred, sizeof h->fred,
			          hit && (hit[5] == ' ' || !hit[5]) ? "yes" : "no");
			break; /* the last line of interest */
		}
	}
	free(line);
	fclose(f);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_mitigations(struct host *h)
{
	char *names[128];
	size_t n = 0;
	DIR *dir = opendir(CPU_DIR "vulnerabilities");
	if (!dir)
		return;
	for (struct dirent *d; n < sizeof names / sizeof names[0] && (d = readdir(dir));)
		if (d->d_name[0] != '.' && (names[n] = strdup(d->d_name)))
			n++;
	closedir(dir);
	qsort(names, n, sizeof names[0], by_name);
	h->mitigations = calloc(n ? n : 1, sizeof *h->mitigations);
	for (size_t i = 0; i < n; i++) {
		if (h->mitigations) {
			char(*m)[256] = h->mitigations[h->mitigation_count++];
			copy_text(m[0], sizeof m[0], names[i]);
			read_line(m[1], sizeof m[1], CPU_DIR "vulnerabilities/%s", names[i]);
		}
		free(names[i]);
	}
}

/* One "NAME=LIST" for a file of isolated CPUs that is not empty. */
static void add_isolation(struct host *h, const char *file, const char *name)
{
	char list[96];
	size_t used = strlen(h->cmdline_isolation);
	if (read_line(list, sizeof list, CPU_DIR "%s", file) && strcmp(list, "(null)") != 0)
		snprintf(h->cmdline_isolation + used, sizeof h->cmdline_isolation - used, "%s%s=%s",
		         used ? " " : "", name, list);
}

static void read_isolation(struct host *h)
{
	add_isolation(h, "isolated", "isolcpus");
	add_isolation(h, "nohz_full", "nohz_full");
	if (!h->cmdline_isolation[0])
		copy_text(h->cmdline_isolation, sizeof h->cmdline_isolation, "none");
}

/* Whether the kernel's configuration has the line. gzopen reads plain files as well. */
static bool config_has(const char *path, const char *wanted, bool *readable)
{
	char line[256];
	bool found = false;
	gzFile f = gzopen(path, "re");
	*readable = f != NULL;
	while (f && !found && gzgets(f, line, sizeof line)) {
		line[strcspn(line, "\n")] = 0;
		found = strcmp(line, wanted) == 0;
	}
	if (f)
		gzclose(f);
	return found;
}

/* randomize_kstack_offset: the last setting on the command line, as kstrtobool reads it; else how
 * the kernel was configured. Its state itself shows nowhere. */
static void read_kstack_offset(struct host *h, const char *release)
{
	static const char key[] = "randomize_kstack_offset=";
	char line[4096], path[96], *save = NULL;
	const char *value = NULL;
	if (read_line(line, sizeof line, "/proc/cmdline"))
		for (char *word = strtok_r(line, " ", &save); word;
		     word = strtok_r(NULL, " ", &save))
			if (strncmp(word, key, sizeof key - 1) == 0)
				value = word + sizeof key - 1;
	if (value) {
		bool on = strchr("yY1tT", *value) ? *value != 0 : strncasecmp(value, "on", 2) == 0;
		copy_text(h->kstack_offset, sizeof h->kstack_offset, on ? "on" : "off");
		return;
	}
	bool readable;
	snprintf(path, sizeof path, "/boot/config-%s", release);
	bool on = config_has(path, "CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT=y", &readable);
	if (!readable)
		on = config_has("/proc/config.gz", "CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT=y",
		                &readable);
	copy_text(h->kstack_offset, sizeof h->kstack_offset,
	          !readable ? "unknown"
	          : on      ? "on"
	                    : "off");
}

static void read_smt(struct host *h)
{
	char line[64];
	struct cpulist siblings, others = {0};
	if (!read_line(line, sizeof line, CPU_DIR "cpu%d/topology/thread_siblings_list", h->cpu) ||
	    !cpulist_parse(line, &siblings)) {
		copy_text(h->smt, sizeof h->smt, "unknown");
		h->sibling = -1;
		copy_text(h->sibling_load, sizeof h->sibling_load, "unknown");
		return;
	}
	for (size_t i = 0; i < siblings.count; i++)
		if (siblings.cpus[i] != h->cpu)
			cpulist_add(&others, siblings.cpus[i]);
	h->sibling = others.count ? others.cpus[0] : -1;
	copy_text(h->sibling_load, sizeof h->sibling_load, others.count ? "unknown" : "none");
	char *text = cpulist_format(&others);
	if (others.count == 0)
		copy_text(h->smt, sizeof h->smt, "off");
	else
		snprintf(h->smt, sizeof h->smt, "on, sibling %s", text ? text : "?");
	free(text);
	cpulist_free(&siblings);
	cpulist_free(&others);
}

/* proc(5), /proc/stat: user nice system idle iowait irq softirq steal, then guest times
 * that are in user already. */
static void read_steal(struct host *h)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/stat", "re");
	copy_text(h->steal, sizeof h->steal, "unknown");
	while (f && getline(&line, &size, f) > 0) {
		unsigned long long t[8], total = 0;
		int cpu;
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0],
		           &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 9 ||
		    cpu != h->cpu)
			continue;
		for (int i = 0; i < 8; i++)
			total += t[i];
		if (total)
			snprintf(h->steal, sizeof h->steal, "%.2f%%",
			         100.0 * (double)t[7] / (double)total);
		break;
	}
	free(line);
	if (f)
		fclose(f);
}

static void read_system(struct host *h)
{
	struct utsname name;
	struct cpulist online;
	char line[512];
	if (uname(&name) == 0) {
		snprintf(h->kernel, sizeof h->kernel, "%s %s", name.release, name.version);
		read_kstack_offset(h, name.release);
	} else {
		copy_text(h->kernel, sizeof h->kernel, "unknown");
		copy_text(h->kstack_offset, sizeof h->kstack_offset, "unknown");
	}
	if (read_line(line, sizeof line, CPU_DIR "online") && cpulist_parse(line, &online)) {
		h->cpus = (int)online.count;
		cpulist_free(&online);
	}
	read_line(h->governor, sizeof h->governor, CPU_DIR "cpu%d/cpufreq/scaling_governor",
	          h->cpu);
	read_line(h->clocksource, sizeof h->clocksource,
	          "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	read_line(h->boot_id, sizeof h->boot_id, "/proc/sys/kernel/random/boot_id");
	read_cpuinfo(h);
	read_isolation(h);
	read_smt(h);
	read_steal(h);
	read_mitigations(h);
}

int host_read(int cpu, struct host *out, struct error *err)
{
	struct pin_set saved;
	*out = (struct host){.cpu = cpu};
	int rc = pin_to(cpu, &saved);
	if (rc < 0)
		return error_set(err, ERROR_INPUT, "CPU %d cannot be used: %s", cpu, strerror(-rc));
	read_vendor(out);
	read_version(out);
	read_name(out);
	read_hypervisor(out);
	out->tsc_hz = tsc_hz(out->tsc_source, sizeof out->tsc_source);
	out->tsc_granule = tsc_granule();
	out->tsc_invariant = tsc_invariant();
	out->perf_paranoid = pmu_paranoid();
	out->pmu_counters = pmu_describe(cpu, out->pmu, sizeof out->pmu);
	rc = pin_restore(&saved);
	if (rc < 0)
		return error_set(
		        err, ERROR_INTERNAL,
		        "sched_setaffinity: the CPUs allowed before cannot be set again: %s",
		        strerror(-rc));
	read_system(out);
	copy_text(out->tool_version, sizeof out->tool_version, ENTRYLAB_VERSION);
	return 0;
}

void host_free(struct host *h)
{
	free(h->mitigations);
	h->mitigations = NULL;
	h->mitigation_count = 0;
}
