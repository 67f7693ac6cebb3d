#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "counters/pin.h"

#define CPU_DIR "/sys/devices/system/cpu/"

/* Reads a list file of CPU_DIR. False where there is none. */
static bool read_list(const char *name, struct cpulist *out)
{
	char path[64], *line = NULL;
	size_t size = 0;
	*out = (struct cpulist){0};
	snprintf(path, sizeof path, CPU_DIR "%s", name);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool ok = getline(&line, &size, f) > 0 && cpulist_parse(line, out);
	free(line);
	fclose(f);
	return ok;
}

/* present and online, or what the C library knows where there is no sysfs. False without memory. */
static bool read_existing(const char *name, int count, struct cpulist *out)
{
	if (read_list(name, out))
		return true;
	for (int cpu = 0; cpu < count; cpu++)
		if (!cpulist_add(out, cpu))
			return false;
	return true;
}

static bool movable_to(int cpu)
{
	struct pin_set saved;
	return pin_to(cpu, &saved) == 0 && pin_restore(&saved) == 0;
}

/* init starts on the CPUs that are not isolated (kernel/sched/isolation.c), and children inherit
 * that. A set that holds all of those was narrowed by nobody; then an isolated CPU is ours for the
 * asking, if the cpuset lets us. */
static bool narrowed(const struct pin_set *set, const struct cpulist *online,
                     const struct cpulist *isolated)
{
	for (size_t i = 0; i < online->count; i++)
		if (!cpulist_has(isolated, online->cpus[i]) &&
		    !CPU_ISSET_S((size_t)online->cpus[i], set->size, set->cpus))
			return true;
	return false;
}

static bool read_allowed(const struct cpulist *online, const struct cpulist *isolated,
                         struct cpulist *out)
{
	struct pin_set set;
	*out = (struct cpulist){0};
	if (pin_get(&set) < 0)
		return false;
	bool ask = isolated->count && !narrowed(&set, online, isolated), ok = true;
	for (int cpu = 0; ok && (size_t)cpu < set.size * 8; cpu++)
		if (CPU_ISSET_S((size_t)cpu, set.size, set.cpus) ||
		    (ask && cpulist_has(isolated, cpu) && movable_to(cpu)))
			ok = cpulist_add(out, cpu);
	pin_free(&set);
	if (!ok)
		cpulist_free(out);
	return ok;
}

int *host_cpus_allowed(size_t *n)
{
	struct cpulist online, isolated, allowed = {0};
	read_list("isolated", &isolated);
	if (read_existing("online", (int)sysconf(_SC_NPROCESSORS_ONLN), &online))
		read_allowed(&online, &isolated, &allowed);
	cpulist_free(&online);
	cpulist_free(&isolated);
	*n = allowed.count;
	return allowed.cpus;
}

/* "CPU 7 WHAT LIST END" */
static int refuse(struct error *err, int cpu, const char *what, const struct cpulist *list,
                  const char *end)
{
	char *text = cpulist_format(list);
	int rc = error_set(err, ERROR_INPUT, "CPU %d %s%s%s", cpu, what, text ? text : "?", end);
	free(text);
	return rc;
}

int host_cpu_choose(int cpu, const struct cpulist *present, const struct cpulist *online,
                    const struct cpulist *allowed, const struct cpulist *isolated, int *out,
                    struct error *err)
{
	if (cpu != -1) {
		if (!cpulist_has(present, cpu))
			return refuse(err, cpu, "does not exist: this machine has ", present, "");
		if (!cpulist_has(online, cpu))
			return error_set(err, ERROR_INPUT,
			                 "CPU %d is offline: echo 1 > " CPU_DIR "cpu%d/online", cpu,
			                 cpu);
		if (!cpulist_has(allowed, cpu))
			return refuse(err, cpu,
			              "is not allowed to this process (allowed: ", allowed, ")");
		*out = cpu;
		return 0;
	}
	if (allowed->count == 0)
		return error_set(err, ERROR_INTERNAL, "no CPU is allowed to this process");
	*out = allowed->cpus[allowed->count - 1];
	for (size_t i = 0; i < allowed->count; i++)
		if (cpulist_has(isolated, allowed->cpus[i]))
			*out = allowed->cpus[i];
	return 0;
}

int host_cpu_pick(int cpu, int *out, struct error *err)
{
	struct cpulist present = {0}, online = {0}, isolated = {0}, allowed = {0};
	int rc;
	read_list("isolated", &isolated);
	if (read_existing("present", (int)sysconf(_SC_NPROCESSORS_CONF), &present) &&
	    read_existing("online", (int)sysconf(_SC_NPROCESSORS_ONLN), &online) &&
	    read_allowed(&online, &isolated, &allowed))
		rc = host_cpu_choose(cpu, &present, &online, &allowed, &isolated, out, err);
	else
		rc = error_set(err, ERROR_INTERNAL,
		               "the CPUs of this machine cannot be listed: out of memory, or "
		               "sched_getaffinity is refused");
	cpulist_free(&present);
	cpulist_free(&online);
	cpulist_free(&isolated);
	cpulist_free(&allowed);
	return rc;
}
