#include "cpulist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIGHEST_CPU = 1 << 20 }; /* far above any kernel's NR_CPUS: guards against nonsense */

void cpulist_free(struct cpulist *list)
{
	free(list->cpus);
	*list = (struct cpulist){0};
}

bool cpulist_add(struct cpulist *list, int cpu)
{
	/* grows at powers of two, so that no capacity need be kept */
	if ((list->count & (list->count - 1)) == 0) {
		int *grown =
		        realloc(list->cpus, (list->count ? list->count * 2 : 1) * sizeof *grown);
		if (!grown)
			return false;
		list->cpus = grown;
	}
	list->cpus[list->count++] = cpu;
	return true;
}

static bool parse_number(const char **text, int *out)
{
	if (!isdigit((unsigned char)**text))
		return false;
	char *end;
	unsigned long value = strtoul(*text, &end, 10);
	if (value > HIGHEST_CPU)
		return false;
	*text = end;
	*out = (int)value;
	return true;
}

static bool parse_range(const char **text, struct cpulist *out)
{
	int first, last;
	if (!parse_number(text, &first))
		return false;
	last = first;
	if (**text == '-') {
		++*text;
		if (!parse_number(text, &last) || last < first)
			return false;
	}
	if (out->count && first <= out->cpus[out->count - 1])
		return false;
	for (int cpu = first; cpu <= last; cpu++)
		if (!cpulist_add(out, cpu))
			return false;
	return true;
}

bool cpulist_parse(const char *text, struct cpulist *out)
{
	*out = (struct cpulist){0};
	if (!*text || *text == '\n' || strncmp(text, "(null)", 6) == 0)
		return true;
	bool ok = parse_range(&text, out);
	while (ok && *text == ',') {
		text++;
		ok = parse_range(&text, out);
	}
	if (ok && (!*text || *text == '\n'))
		return true;
	cpulist_free(out);
	return false;
}

bool cpulist_has(const struct cpulist *list, int cpu)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->cpus[i] == cpu)
			return true;
	return false;
}

char *cpulist_format(const struct cpulist *list)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	if (list->count == 0)
		fputs("none", f);
	for (size_t i = 0; i < list->count;) {
		size_t j = i;
		while (j + 1 < list->count && list->cpus[j + 1] == list->cpus[j] + 1)
			j++;
		fprintf(f, "%s%d", i ? "," : "", list->cpus[i]);
		if (j > i)
			fprintf(f, "-%d", list->cpus[j]);
		i = j + 1;
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
