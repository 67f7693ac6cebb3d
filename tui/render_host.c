#include "tui/render_host.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/experiment.h"
#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_figure.h"
#include "tui/render_json.h"
#include "tui/table.h"

enum { DECIMALS_CORE = 2, DECIMALS_TSC = 3 };

/* The scalar fields in the order a person reads them. Fields that are not here come behind them
 * under their own names. */
static const struct {
	const char *key, *label;
	enum { FIELD_TEXT, FIELD_HZ, FIELD_TICKS } kind;
} fields[] = {
        {"cpu_name", "CPU", FIELD_TEXT},
        {"vendor", "vendor", FIELD_TEXT},
        {"family", "family", FIELD_TEXT},
        {"model", "model", FIELD_TEXT},
        {"stepping", "stepping", FIELD_TEXT},
        {"microcode", "microcode", FIELD_TEXT},
        {"hypervisor", "hypervisor", FIELD_TEXT},
        {"kernel", "kernel", FIELD_TEXT},
        {"cpu", "measures on CPU", FIELD_TEXT},
        {"cpus", "CPUs", FIELD_TEXT},
        {"core_hz", "core clock", FIELD_HZ},
        {"governor", "governor", FIELD_TEXT},
        {"smt", "SMT", FIELD_TEXT},
        {"sibling_load", "its load", FIELD_TEXT},
        {"cmdline_isolation", "isolation", FIELD_TEXT},
        {"tsc_hz", "time stamp", FIELD_HZ},
        {"tsc_source", "its rate from", FIELD_TEXT},
        {"tsc_granule", "its granule", FIELD_TICKS},
        {"tsc_invariant", "invariant", FIELD_TEXT},
        {"clocksource", "clock source", FIELD_TEXT},
        {"pmu", "PMU", FIELD_TEXT},
        {"pmu_counters", "counters", FIELD_TEXT},
        {"perf_paranoid", "perf paranoid", FIELD_TEXT},
        {"fred", "FRED", FIELD_TEXT},
        {"kstack_offset", "kstack offset", FIELD_TEXT},
        {"vsyscall", "vsyscall", FIELD_TEXT},
        {"boot_id", "boot id", FIELD_TEXT},
        {"tool_version", "entrylab", FIELD_TEXT},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static char *ghz(double hz, int decimals)
{
	char number[32];

	render_figure_number(number, hz / 1e9, decimals, false);
	return memory_format("%s GHz", number);
}

/* A scalar as a person reads it. "" for null and what is no scalar. */
static char *scalar_text(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_STRING:
		return memory_copy(json_string_value(v));
	case JSON_INTEGER:
		return memory_format("%lld", (long long)json_integer_value(v));
	case JSON_REAL:
		return memory_format("%.10g", json_real_value(v));
	case JSON_TRUE:
		return memory_copy("yes");
	case JSON_FALSE:
		return memory_copy("no");
	default:
		return memory_copy("");
	}
}

static char *field_text(size_t field, const json_t *v)
{
	char *text, *longer;

	if (fields[field].kind == FIELD_HZ) {
		bool core = strcmp(fields[field].key, "core_hz") == 0;

		if (json_number_value(v) > 0)
			return ghz(json_number_value(v), core ? DECIMALS_CORE : DECIMALS_TSC);
		return memory_copy(core ? "calibrated in every run" : "unknown");
	}
	text = scalar_text(v);
	if (fields[field].kind == FIELD_TEXT || !*text)
		return text;
	longer = memory_format("%s ticks", text);
	free(text);
	return longer;
}

char *render_host_line(const char *json, int cpu)
{
	json_t *host = json ? json_loads(json, 0, NULL) : NULL;
	const char *name = json_string_value(json_object_get(host, "cpu_name"));
	double core = json_number_value(json_object_get(host, "core_hz"));
	double tsc = json_number_value(json_object_get(host, "tsc_hz"));
	char *core_text = core > 0 ? ghz(core, DECIMALS_CORE) : NULL;
	char *tsc_text = tsc > 0 ? ghz(tsc, DECIMALS_TSC) : NULL;
	char *line = memory_format("%s%s%s%s%s%s · cpu %d", name && *name ? name : "unknown CPU",
	                           core_text ? " · " : "", core_text ? core_text : "",
	                           core_text ? " (calibrated)" : "", tsc_text ? " · TSC " : "",
	                           tsc_text ? tsc_text : "", cpu);

	free(core_text);
	free(tsc_text);
	json_decref(host);
	return line;
}

static bool field_known(const char *key)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].key, key) == 0)
			return true;
	return false;
}

static bool scalar(const json_t *v)
{
	return v && !json_is_object(v) && !json_is_array(v);
}

static void put_pair(struct table *t, const char *label, char *text)
{
	table_row_begin(t);
	table_cell_set(t, 0, label);
	table_span_set(t, 1, *text ? text : "unknown");
	free(text);
}

static void say_fields(const struct render_page *page, json_t *host)
{
	static const struct table_column columns[] = {{.head = ""}, {.head = "", .gap = 2}};
	struct table *t = table_new(page, columns, 2);
	const char *key;
	json_t *v;

	for (size_t i = 0; i < FIELDS; i++) {
		v = json_object_get(host, fields[i].key);
		if (scalar(v))
			put_pair(t, fields[i].label, field_text(i, v));
	}
	json_object_foreach(host, key, v) if (scalar(v) && !field_known(key) &&
	                                      !(json_is_string(v) && !json_string_length(v)))
	        put_pair(t, key, scalar_text(v));
	table_print(t);
	table_free(t);
}

static void say_mitigations(const struct render_page *page, json_t *mitigations)
{
	static const struct table_column columns[] = {{.head = "mitigation"},
	                                              {.head = "", .gap = 2}};
	struct table *t;
	const char *key;
	json_t *v;

	if (json_object_size(mitigations) == 0)
		return;
	fputc('\n', page->out);
	t = table_new(page, columns, 2);
	json_object_foreach(mitigations, key, v) put_pair(t, key, scalar_text(v));
	table_print(t);
	table_free(t);
}

/* Lines behind a capability's: why it is missing, once if both ABIs give the same reason. */
static void put_reasons(struct table *t, const json_t *const v[EXPERIMENT_ABIS])
{
	const char *why[EXPERIMENT_ABIS];
	bool same;

	for (size_t abi = 0; abi < EXPERIMENT_ABIS; abi++)
		why[abi] = json_string_value(v[abi]);
	same = why[EXPERIMENT_I386] && why[EXPERIMENT_X86_64] &&
	       strcmp(why[EXPERIMENT_I386], why[EXPERIMENT_X86_64]) == 0;
	for (size_t abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		char *text;

		if (!why[abi] || (same && abi > 0))
			continue;
		text = same ? memory_copy(why[abi])
		            : memory_format("%s: %s", experiment_abi_name[abi], why[abi]);
		table_row_begin(t);
		table_span_set(t, 3, text);
		free(text);
	}
}

static const char *yes_no(const json_t *v)
{
	return !v ? "unknown" : json_is_true(v) ? "yes" : "no";
}

static void say_capabilities(const struct render_page *page, json_t *capabilities)
{
	const struct table_column columns[] = {
	        {.head = "capability"},
	        {.head = experiment_abi_name[EXPERIMENT_I386], .gap = 2},
	        {.head = experiment_abi_name[EXPERIMENT_X86_64], .gap = 2},
	        {.head = "what it is; why not", .gap = 2},
	};
	struct table *t;

	if (json_object_size(capabilities) == 0)
		return;
	fputc('\n', page->out);
	t = table_new(page, columns, 4);
	for (size_t i = 0; i < HOST_CAPABILITIES; i++) {
		const json_t *v[EXPERIMENT_ABIS];

		table_row_begin(t);
		table_cell_set(t, 0, host_capabilities[i].name);
		for (size_t abi = 0; abi < EXPERIMENT_ABIS; abi++) {
			v[abi] = json_object_get(
			        json_object_get(capabilities, experiment_abi_name[abi]),
			        host_capabilities[i].name);
			table_cell_set(t, 1 + abi, yes_no(v[abi]));
		}
		table_span_set(t, 3, host_capabilities[i].what);
		put_reasons(t, v);
	}
	table_print(t);
	table_free(t);
}

static void say_advice(const struct render_page *page, const struct host_advice *advice, size_t n)
{
	if (n > 0)
		fputs("\nwhat would make results better\n", page->out);
	for (size_t i = 0; i < n; i++) {
		fputs("- ", page->out);
		render_page_wrap(page, 2, 2, advice[i].what);
		if (!advice[i].command[0])
			continue;
		fputs("    ", page->out);
		render_page_wrap(page, 4, 6, advice[i].command);
	}
}

static void host_text(const struct render_page *page, json_t *host,
                      const struct host_advice *advice, size_t n)
{
	if (!json_is_object(host)) {
		render_page_say(page, 0, NULL,
		                memory_copy("the host's description cannot be read"));
		return;
	}
	say_fields(page, host);
	say_mitigations(page, json_object_get(host, "mitigations"));
	say_capabilities(page, json_object_get(host, "capabilities"));
	say_advice(page, advice, n);
}

static void host_jsonl(FILE *out, json_t *host, const struct host_advice *advice, size_t n)
{
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "kind", json_string("host"));
	json_object_update_missing(o, host);
	for (size_t i = 0; i < n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "what", render_json_text(advice[i].what));
		json_object_set_new(one, "command", render_json_text(advice[i].command));
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "advice", list);
	render_json_line(out, o);
}

/* key,value; objects inside have keys joined by points: capabilities.i386.ldt */
static void csv_fields(FILE *out, const char *prefix, json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach(object, key, v)
	{
		char *path = memory_format("%s%s", prefix, key), *text;

		if (json_is_object(v)) {
			char *inner = memory_format("%s.", path);

			csv_fields(out, inner, v);
			free(inner);
		} else {
			text = scalar_text(v);
			render_csv_text(out, true, path);
			render_csv_text(out, false, text);
			render_csv_end(out);
			free(text);
		}
		free(path);
	}
}

static void host_csv(FILE *out, json_t *host, const struct host_advice *advice, size_t n)
{
	fputs("key,value", out);
	render_csv_end(out);
	csv_fields(out, "", host);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "advice.%zu", i + 1);
		render_csv_text(out, false, advice[i].what);
		render_csv_end(out);
		fprintf(out, "advice.%zu.command", i + 1);
		render_csv_text(out, false, advice[i].command);
		render_csv_end(out);
	}
}

void render_host_all(const struct render_page *page, const char *json,
                     const struct host_advice *advice, size_t n, enum render_format format)
{
	json_t *host = json ? json_loads(json, 0, NULL) : NULL;

	switch (format) {
	case RENDER_TEXT:
		host_text(page, host, advice, n);
		break;
	case RENDER_JSONL:
		host_jsonl(page->out, host, advice, n);
		break;
	case RENDER_CSV:
		host_csv(page->out, host, advice, n);
		break;
	case RENDER_FORMATS:
		break;
	}
	json_decref(host);
}
