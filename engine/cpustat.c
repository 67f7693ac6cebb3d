#include "cpustat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cpustat_parse(const char *text, int cpu, double ticks_a_second, struct cpustat *out)
{
	char head[32];
	int n = snprintf(head, sizeof head, "cpu%d ", cpu);
	for (const char *line = text; line && *line;
	     line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		unsigned long long t[8];
		if (strncmp(line, head, (size_t)n))
			continue;
		if (sscanf(line + n, "%llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
		           &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
			return false;
		out->busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / ticks_a_second;
		out->idle = (double)(t[3] + t[4]) / ticks_a_second;
		out->steal = (double)t[7] / ticks_a_second;
		return true;
	}
	return false;
}

bool cpustat_read(int cpu, struct cpustat *out)
{
	FILE *f = fopen("/proc/stat", "re");
	long ticks = sysconf(_SC_CLK_TCK);
	char *text = NULL;
	size_t size = 0;
	bool found = false;
	if (!f)
		return false;
	/* a zero byte does not occur: this reads the whole file */
	if (getdelim(&text, &size, '\0', f) > 0 && ticks > 0)
		found = cpustat_parse(text, cpu, (double)ticks, out);
	free(text);
	fclose(f);
	return found;
}

bool cpustat_between(const struct cpustat *from, const struct cpustat *to, struct cpustat *share)
{
	double busy = to->busy - from->busy, idle = to->idle - from->idle,
	       steal = to->steal - from->steal;
	double all = busy + idle + steal;
	if (all <= 0)
		return false;
	*share = (struct cpustat){busy / all, idle / all, steal / all};
	return true;
}
