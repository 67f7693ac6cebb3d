#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each looks at one fact, and fills in advice if it applies. */
typedef bool advise(const struct host *h, struct host_advice *out);

static bool advise_governor(const struct host *h, struct host_advice *out)
{
	if (strcmp(h->governor, "performance") == 0 || strcmp(h->governor, "unknown") == 0)
		return false;
	snprintf(out->what, sizeof out->what,
	         "CPU %d's governor is %s: its clock moves while it is measured", h->cpu,
	         h->governor);
	snprintf(out->command, sizeof out->command,
	         "echo performance > /sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
	         h->cpu);
	return true;
}

static bool advise_sibling(const struct host *h, struct host_advice *out)
{
	static const char before[] = "on, sibling ";
	struct cpulist siblings;
	if (strncmp(h->smt, before, sizeof before - 1) != 0 ||
	    !cpulist_parse(h->smt + sizeof before - 1, &siblings))
		return false;
	int sibling = siblings.count ? siblings.cpus[0] : -1;
	cpulist_free(&siblings);
	if (sibling < 0)
		return false;
	snprintf(out->what, sizeof out->what,
	         "CPU %d shares its core with CPU %s: what runs there slows what is measured here",
	         h->cpu, h->smt + sizeof before - 1);
	snprintf(out->command, sizeof out->command, "echo 0 > /sys/devices/system/cpu/cpu%d/online",
	         sibling);
	return true;
}

static bool isolated(const struct host *h)
{
	char *copy = strdup(h->cmdline_isolation), *save = NULL;
	bool found = false;
	for (char *word = copy ? strtok_r(copy, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save)) {
		struct cpulist list;
		if (strncmp(word, "isolcpus=", 9) != 0 || !cpulist_parse(word + 9, &list))
			continue;
		found |= cpulist_has(&list, h->cpu);
		cpulist_free(&list);
	}
	free(copy);
	return found;
}

static bool advise_isolation(const struct host *h, struct host_advice *out)
{
	if (h->cpus < 2 || isolated(h))
		return false;
	snprintf(out->what, sizeof out->what,
	         "CPU %d is not isolated: other programs and the timer interrupt it", h->cpu);
	snprintf(out->command, sizeof out->command,
	         "boot with isolcpus=%d nohz_full=%d rcu_nocbs=%d", h->cpu, h->cpu, h->cpu);
	return true;
}

static bool advise_kstack_offset(const struct host *h, struct host_advice *out)
{
	if (strcmp(h->kstack_offset, "on") != 0)
		return false;
	snprintf(out->what, sizeof out->what,
	         "the kernel moves its stack by a random amount in every system call: their costs "
	         "scatter more");
	snprintf(out->command, sizeof out->command, "boot with randomize_kstack_offset=off");
	return true;
}

static bool advise_clocksource(const struct host *h, struct host_advice *out)
{
	if (strcmp(h->clocksource, "tsc") == 0 || strcmp(h->clocksource, "unknown") == 0 ||
	    !h->tsc_invariant)
		return false;
	snprintf(out->what, sizeof out->what,
	         "the kernel keeps time by %s, not by the time stamp counter", h->clocksource);
	snprintf(out->command, sizeof out->command,
	         "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource");
	return true;
}

static bool advise_paranoid(const struct host *h, struct host_advice *out)
{
	if (h->pmu_counters > 0 || h->perf_paranoid <= 2)
		return false;
	snprintf(out->what, sizeof out->what,
	         "hardware counters are refused: kernel.perf_event_paranoid is %d",
	         h->perf_paranoid);
	snprintf(out->command, sizeof out->command, "sysctl kernel.perf_event_paranoid=2");
	return true;
}

/* In order of what each gains. */
static advise *const advisers[] = {
        advise_sibling,       advise_governor,    advise_isolation,
        advise_kstack_offset, advise_clocksource, advise_paranoid,
};

size_t host_advise(const struct host *h, struct host_advice *out, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof advisers / sizeof advisers[0] && n < max; i++)
		if (advisers[i](h, &out[n]))
			n++;
	return n;
}
