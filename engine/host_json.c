#include "host.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"

#define FIELD(field, kind, matters)                                                                \
	{                                                                                          \
		.name = #field, .type = kind, .offset = offsetof(struct host, field),              \
		.compared = matters                                                                \
	}

/* Every scalar field, under its name in struct host. */
static const struct field {
	const char *name;
	enum { TEXT, WHOLE, UNSIGNED, REAL, TRUTH } type;
	size_t offset;
	bool compared; /* a difference makes two runs incomparable without a word */
} fields[] = {
        FIELD(cpu_name, TEXT, true),
        FIELD(vendor, TEXT, true),
        FIELD(family, WHOLE, true),
        FIELD(model, WHOLE, true),
        FIELD(stepping, WHOLE, true),
        FIELD(microcode, TEXT, true),
        FIELD(hypervisor, TEXT, true),
        FIELD(kernel, TEXT, true),
        FIELD(kstack_offset, TEXT, true),
        FIELD(fred, TEXT, true),
        FIELD(cmdline_isolation, TEXT, false),
        FIELD(tsc_hz, REAL, false),
        FIELD(tsc_source, TEXT, false),
        FIELD(tsc_granule, UNSIGNED, false),
        FIELD(tsc_invariant, TRUTH, false),
        FIELD(core_hz, REAL, false),
        FIELD(governor, TEXT, false),
        FIELD(smt, TEXT, false),
        FIELD(sibling_load, TEXT, false),
        FIELD(clocksource, TEXT, false),
        FIELD(pmu, TEXT, false),
        FIELD(pmu_counters, WHOLE, false),
        FIELD(perf_paranoid, WHOLE, false),
        FIELD(boot_id, TEXT, false),
        FIELD(cpu, WHOLE, false),
        FIELD(cpus, WHOLE, false),
        FIELD(steal, TEXT, false),
        FIELD(tool_version, TEXT, false),
};

/* JSON is UTF-8, and firmware and kernel builders may write anything: what is not UTF-8 has its odd
 * bytes replaced. */
static json_t *text_json(const char *text)
{
	json_t *value = json_string(text);
	if (value)
		return value;
	char *copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++)
		if (!isascii((unsigned char)*p))
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static json_t *field_json(const struct host *h, const struct field *f)
{
	const void *at = (const char *)h + f->offset;
	switch (f->type) {
	case TEXT:
		return text_json(at);
	case WHOLE: /* INT_MIN: not there */
		return *(const int *)at == INT_MIN ? json_null() : json_integer(*(const int *)at);
	case UNSIGNED:
		return json_integer(*(const unsigned *)at);
	case REAL: /* no rate is zero: that is one not known yet */
		return *(const double *)at > 0 ? json_real(*(const double *)at) : json_null();
	case TRUTH:
		return json_boolean(*(const bool *)at);
	}
	return NULL;
}

static json_t *mitigations_json(const struct host *h)
{
	json_t *all = json_object();
	for (size_t i = 0; i < h->mitigation_count; i++)
		if (json_object_set_new(all, h->mitigations[i][0],
		                        text_json(h->mitigations[i][1])) < 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *probes_json(const struct host_probes *probes)
{
	json_t *all = json_object();
	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		json_t *one = json_object();
		int rc = 0;
		for (int i = 0; i < HOST_CAPABILITIES; i++) {
			const struct host_probe *p = &probes->abi[abi][i];
			rc |= json_object_set_new(one, host_capabilities[i].name,
			                          p->present ? json_true() : text_json(p->why));
		}
		rc |= json_object_set_new(all, experiment_abi_name[abi], one);
		if (rc < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

/* What the i386 worker found at __kernel_vsyscall: which way it enters the kernel is a property of
 * the kernel and the CPU, like a mitigation. Null where there is none. */
static json_t *vsyscall_json(const struct host_probes *probes)
{
	const struct host_probe *p = &probes->abi[EXPERIMENT_I386][HOST_SYSCALL32];
	return p->present && p->why[0] ? text_json(p->why) : json_null();
}

char *host_json(const struct host *h, const struct host_probes *probes)
{
	json_t *all = json_object();
	int rc = 0;
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		rc |= json_object_set_new(all, fields[i].name, field_json(h, &fields[i]));
	rc |= json_object_set_new(all, "mitigations", mitigations_json(h));
	if (probes) {
		rc |= json_object_set_new(all, "vsyscall", vsyscall_json(probes));
		rc |= json_object_set_new(all, "capabilities", probes_json(probes));
	}
	char *text = rc < 0 ? NULL : json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

/* A scalar as text, "unknown" where the record lacks it. */
static char *value_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!value || json_is_null(value))
		return strdup("unknown");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

static void compare_key(FILE *out, const char *what, const char *key, const json_t *a,
                        const json_t *b)
{
	char *x = value_text(a, key), *y = value_text(b, key);
	if (x && y && strcmp(x, y) != 0)
		fprintf(out, "%s%s: \"%s\" against \"%s\"\n", what, key, x, y);
	free(x);
	free(y);
}

static void compare_mitigations(FILE *out, json_t *a, json_t *b)
{
	const char *key;
	json_t *value;
	json_object_foreach(a, key, value) compare_key(out, "mitigation ", key, a, b);
	json_object_foreach(b, key, value) if (!json_object_get(a, key))
	        compare_key(out, "mitigation ", key, a, b);
}

static json_t *load(FILE *out, const char *which, const char *text)
{
	json_error_t error;
	json_t *object = json_loads(text, 0, &error);
	if (json_is_object(object))
		return object;
	json_decref(object);
	fprintf(out, "the description of the %s host cannot be read\n", which);
	return NULL;
}

char *host_compare(const char *json_a, const char *json_b)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	json_t *a = load(out, "first", json_a), *b = load(out, "second", json_b);
	if (a && b) {
		for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
			if (fields[i].compared)
				compare_key(out, "", fields[i].name, a, b);
		compare_mitigations(out, json_object_get(a, "mitigations"),
		                    json_object_get(b, "mitigations"));
	}
	json_decref(a);
	json_decref(b);
	if (fclose(out) != 0 || size == 0) {
		free(text);
		return NULL;
	}
	text[size - 1] = 0; /* lines are separated by newlines, none at the end */
	return text;
}
