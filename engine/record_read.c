#include "record.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first thing wrong ends the reading: `code` is set once, and getters give zeros from then on.
 */
struct reader {
	struct result_run *run;
	size_t line;
	size_t rows; /* as the "run" line promises */
	bool begun;  /* the "run" line was there */
	int code;
	struct error *err;
};

__attribute__((format(printf, 2, 3))) static void bad(struct reader *r, const char *fmt, ...)
{
	char what[256];
	if (r->code)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	r->code = error_set(r->err, ERROR_INPUT, "line %zu of the record: %s", r->line, what);
}

static void out_of_memory(struct reader *r)
{
	if (!r->code)
		r->code = error_set(r->err, ERROR_INTERNAL, "out of memory reading a record");
}

/* ---- one field each. A text or number may be null or missing; what a wrong default would falsify
 * may not. ---- */

static char *get_text(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!v || json_is_null(v))
		return NULL;
	if (!json_is_string(v)) {
		bad(r, "\"%s\" must be a string or null", key);
		return NULL;
	}
	char *copy = strdup(json_string_value(v));
	if (!copy)
		out_of_memory(r);
	return copy;
}

static void get_fixed_text(struct reader *r, const json_t *o, const char *key, char *to,
                           size_t size)
{
	char *text = get_text(r, o, key);
	if (text && strlen(text) >= size)
		bad(r, "\"%s\" is longer than %zu bytes", key, size - 1);
	snprintf(to, size, "%s", text ? text : "");
	free(text);
}

static double get_number(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!v || json_is_null(v))
		return NAN;
	if (!json_is_number(v)) {
		bad(r, "\"%s\" must be a number or null", key);
		return NAN;
	}
	return json_number_value(v);
}

static json_int_t get_integer(struct reader *r, const json_t *o, const char *key, json_int_t lo,
                              json_int_t hi)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);
	if (json_is_integer(v) && n >= lo && n <= hi)
		return n;
	bad(r, "\"%s\" must be a whole number from %lld to %lld", key, (long long)lo,
	    (long long)hi);
	return 0;
}

/* As get_integer, but null or missing gives what absent says. */
static json_int_t get_optional_integer(struct reader *r, const json_t *o, const char *key,
                                       json_int_t hi, json_int_t absent)
{
	const json_t *v = json_object_get(o, key);
	return !v || json_is_null(v) ? absent : get_integer(r, o, key, 0, hi);
}

static uint64_t get_u64(struct reader *r, const json_t *o, const char *key)
{
	return (uint64_t)get_integer(r, o, key, 0, INT64_MAX);
}

static uint32_t get_u32(struct reader *r, const json_t *o, const char *key)
{
	return (uint32_t)get_integer(r, o, key, 0, UINT32_MAX);
}

/* A 64-bit number that stands as a string; null or missing is 0. */
static uint64_t get_string_u64(struct reader *r, const json_t *o, const char *key, int base)
{
	char *text = get_text(r, o, key), *end = NULL;
	if (!text)
		return 0;
	errno = 0;
	uint64_t n = strtoull(text, &end, base);
	if (errno || end == text || *end || *text == '-')
		bad(r, "\"%s\" must be a string with a number below 2^64", key);
	free(text);
	return n;
}

static bool get_flag(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_boolean(v))
		bad(r, "\"%s\" must be true or false", key);
	return json_is_true(v);
}

static const json_t *get_object(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_object(v))
		bad(r, "\"%s\" must be an object", key);
	return v;
}

static const json_t *get_array(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_array(v))
		bad(r, "\"%s\" must be an array", key);
	return v;
}

static int get_name(struct reader *r, const json_t *o, const char *key, const char *const *names,
                    int count)
{
	const char *text = json_string_value(json_object_get(o, key));
	for (int i = 0; text && i < count; i++)
		if (!strcmp(text, names[i]))
			return i;
	char known[160] = "";
	for (int i = 0; i < count; i++) {
		size_t used = strlen(known);
		snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
	}
	bad(r, "\"%s\" must be one of %s", key, known);
	return 0;
}

static struct stats_interval get_interval(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = get_object(r, o, key);
	return (struct stats_interval){
	        .est = get_number(r, v, "est"),
	        .lo = get_number(r, v, "lo"),
	        .hi = get_number(r, v, "hi"),
	};
}

/* Makes room for one element more in *array (a pointer to some element type); arrays grow at the
 * powers of two. Gives the zeroed element, or NULL. */
static void *append(struct reader *r, void *array, size_t *count, size_t size)
{
	char *items;
	size_t n = *count;
	memcpy(&items, array, sizeof items);
	if (!(n & (n - 1))) {
		items = reallocarray(items, n ? 2 * n : 1, size);
		if (!items) {
			out_of_memory(r);
			return NULL;
		}
		memcpy(array, &items, sizeof items);
	}
	++*count;
	return memset(items + n * size, 0, size);
}

/* ---- one kind of line each ---- */

/* The factor that a field names; -1 for null, or where an older record has no such field. */
static long get_factor(struct reader *r, const json_t *o, const char *key)
{
	char *name = get_text(r, o, key);
	long factor = -1;
	for (size_t i = 0; name && i < r->run->factor_count && factor < 0; i++)
		if (r->run->factors[i].name && !strcmp(r->run->factors[i].name, name))
			factor = (long)i;
	if (name && factor < 0)
		bad(r, "\"%s\" names no factor of the run", key);
	free(name);
	return factor;
}

/* Null for most runs, and older records have no such field. The figures follow from those of the
 * rows. */
static void read_report(struct reader *r, const json_t *o)
{
	static const char *const units[] = {"cycles", "seconds"};
	const json_t *report = json_object_get(o, "report");
	if (!report || json_is_null(report))
		return;
	report = get_object(r, o, "report");
	r->run->report_count = (uint32_t)get_integer(r, report, "count", 1, UINT32_MAX);
	r->run->report_seconds = get_name(r, report, "unit", units, 2) == 1;
}

static void read_run(struct reader *r, const json_t *o)
{
	struct result_run *run = r->run;
	if (r->begun) {
		bad(r, "a second run: one record holds one");
		return;
	}
	r->begun = true;
	get_fixed_text(r, o, "run", run->id, sizeof run->id);
	run->command = get_text(r, o, "command");
	run->experiment = get_text(r, o, "experiment");
	run->title = get_text(r, o, "title");
	run->legend = get_text(r, o, "legend");
	get_fixed_text(r, o, "started", run->started, sizeof run->started);
	run->seconds = get_number(r, o, "seconds");

	const json_t *factors = get_array(r, o, "factors");
	for (size_t i = 0; i < json_array_size(factors) && !r->code; i++) {
		const json_t *f = json_array_get(factors, i);
		struct result_factor *to = append(r, &run->factors, &run->factor_count, sizeof *to);
		if (!to)
			return;
		to->name = get_text(r, f, "name");
		if (!to->name)
			bad(r, "a factor has no \"name\"");
		to->varies = get_flag(r, f, "varies");
	}
	run->curve = get_factor(r, o, "curve");
	run->curve_bytes = (uint32_t)get_optional_integer(r, o, "curve_bytes", UINT32_MAX, 0);
	run->curve_scale = get_factor(r, o, "curve_scale");

	read_report(r, o);

	r->rows = get_u64(r, o, "rows");
	run->excluded = get_u64(r, o, "excluded");
	run->unit = get_text(r, o, "unit");
	run->seed = get_string_u64(r, o, "seed", 10);
	run->cpu = (int)get_integer(r, o, "cpu", INT32_MIN, INT32_MAX);
	run->workers = get_u32(r, o, "workers");
	run->blocks = get_u32(r, o, "blocks");
	run->rounds = get_u32(r, o, "rounds");
	run->confidence = get_number(r, o, "confidence");
	run->alpha = get_number(r, o, "alpha");
	run->precision_cycles = get_number(r, o, "precision_cycles");
	run->precision_share = get_number(r, o, "precision_share");
	run->trusted = get_flag(r, o, "trusted");
	run->not_trusted_why = get_text(r, o, "not_trusted_why");
	run->cut_short = get_flag(r, o, "cut_short");
	run->stop_reason = get_text(r, o, "stop_reason");
	run->samples_rejected = get_u64(r, o, "samples_rejected");
}

static void read_host(struct reader *r, const json_t *o)
{
	if (r->run->host) {
		bad(r, "a second host: a run has one");
		return;
	}
	r->run->host = get_text(r, o, "unreadable");
	if (r->run->host || r->code)
		return;
	json_t *host = json_copy((json_t *)o);
	json_object_del(host, "kind");
	json_object_del(host, "run");
	r->run->host = json_dumps(host, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(host);
	if (!r->run->host)
		out_of_memory(r);
}

static void read_event(struct reader *r, const json_t *o)
{
	struct result_event *to = append(r, &r->run->events, &r->run->event_count, sizeof *to);
	if (!to)
		return;
	to->level = get_text(r, o, "level");
	to->text = get_text(r, o, "text");
}

static void read_control(struct reader *r, const json_t *o)
{
	struct result_control *to =
	        append(r, &r->run->controls, &r->run->control_count, sizeof *to);
	if (!to)
		return;
	to->name = get_text(r, o, "name");
	to->what = get_text(r, o, "what");
	to->value = get_interval(r, o, "value");
	to->expected = get_number(r, o, "expected");
	to->tolerance = get_number(r, o, "tolerance");
	to->ok = get_flag(r, o, "ok");
	to->fatal = get_flag(r, o, "fatal");
	to->text = get_text(r, o, "text");
}

static int signal_of_name(const char *name)
{
	if (strncmp(name, "SIG", 3))
		return 0;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);
		if (known && !strcmp(name + 3, known))
			return i;
	}
	char *end;
	long n = strtol(name + 3, &end, 10);
	return end != name + 3 && !*end && n > 0 && n < NSIG ? (int)n : 0;
}

static void read_crash(struct reader *r, const json_t *row, struct result_crash *to)
{
	if (!json_object_get(row, "crash"))
		return;
	const json_t *o = get_object(r, row, "crash");
	char *name = get_text(r, o, "signal");
	if (name) {
		to->signal = signal_of_name(name);
		if (!to->signal)
			bad(r, "\"signal\" is no signal's name");
	}
	free(name);
	to->in_code = get_flag(r, o, "in_code");
	to->offset = (uint32_t)get_optional_integer(r, o, "offset", UINT32_MAX, 0);
	to->address = get_string_u64(r, o, "address", 16);
	get_fixed_text(r, o, "instruction", to->instruction, sizeof to->instruction);
}

static void read_samples(struct reader *r, const json_t *row, struct result_row *to)
{
	const json_t *o = get_object(r, row, "samples");
	to->kept = get_u64(r, o, "kept");
	to->interrupted = get_u64(r, o, "interrupted");
	to->fenced = get_u64(r, o, "fenced");
	to->footprint = (enum result_footprint)get_name(r, o, "footprint", result_footprint_name,
	                                                sizeof result_footprint_name /
	                                                        sizeof result_footprint_name[0]);
	to->footprint_why = get_text(r, o, "footprint_why");
}

static void read_layouts(struct reader *r, const json_t *row, struct result_row *to)
{
	const json_t *o = get_object(r, row, "layouts");
	to->blocks = get_u32(r, o, "blocks");
	to->workers = get_u32(r, o, "workers");

	const json_t *modes = get_array(r, o, "modes");
	size_t room = sizeof to->modes / sizeof to->modes[0];
	for (size_t i = 0; i < json_array_size(modes) && i < room && !r->code; i++) {
		const json_t *m = json_array_get(modes, i);
		to->modes[to->mode_count++] = (struct stats_mode){
		        .at = get_number(r, m, "at"),
		        .lo = get_number(r, m, "lo"),
		        .hi = get_number(r, m, "hi"),
		        .count = get_u64(r, m, "count"),
		};
	}

	const json_t *cycles = get_array(r, o, "cycles");
	size_t n = json_array_size(cycles);
	to->placements = n ? calloc(n, sizeof *to->placements) : NULL;
	if (n && !to->placements) {
		out_of_memory(r);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(cycles, i);
		if (!json_is_number(v) && !json_is_null(v))
			bad(r, "\"layouts.cycles\" must hold numbers or null");
		to->placements[to->placement_count++] =
		        json_is_number(v) ? json_number_value(v) : NAN;
	}
}

static void read_levels(struct reader *r, const json_t *row, struct result_row *to)
{
	const json_t *variant = get_object(r, row, "variant");
	size_t n = r->run->factor_count;
	to->levels = n ? calloc(n, sizeof *to->levels) : NULL;
	if (n && !to->levels) {
		out_of_memory(r);
		return;
	}
	for (size_t i = 0; i < n && !r->code; i++) {
		to->levels[i] = get_text(r, variant, r->run->factors[i].name);
		if (!to->levels[i])
			bad(r, "\"variant\" has no level for \"%s\"", r->run->factors[i].name);
	}
}

static void read_result(struct reader *r, const json_t *o)
{
	size_t index = get_u64(r, o, "row");
	if (!r->code && index != r->run->row_count)
		bad(r, "result %zu where %zu is next: lines are missing or out of order", index,
		    r->run->row_count);
	struct result_row *to =
	        r->code ? NULL : append(r, &r->run->rows, &r->run->row_count, sizeof *to);
	if (!to)
		return;
	to->diff = (struct stats_interval){NAN, NAN, NAN};
	to->p = to->p_holm = to->detectable = NAN;
	read_levels(r, o, to);
	to->label = get_text(r, o, "label");
	to->state = (enum result_state)get_name(r, o, "state", result_state_name, RESULT_STATES);
	to->reason = get_text(r, o, "reason");
	read_crash(r, o, &to->crash);
	to->cycles = get_interval(r, o, "cycles");
	to->ns = get_interval(r, o, "ns");
	to->ticks = get_interval(r, o, "ticks");
	read_samples(r, o, to);
	read_layouts(r, o, to);
	const json_t *code = get_object(r, o, "code");
	to->code_bytes = (uint32_t)get_optional_integer(r, code, "bytes", UINT32_MAX, 0);
	get_fixed_text(r, code, "sha256", to->sha256, sizeof to->sha256);
	to->pool_bytes = (uint32_t)get_optional_integer(r, code, "pool_bytes", UINT32_MAX, 0);
	to->unroll = get_u32(r, code, "unroll");
	to->base = (long)get_optional_integer(r, o, "base", (json_int_t)r->rows - 1, -1);
	to->verdict = (enum result_verdict)get_name(r, o, "verdict", result_verdict_name,
	                                            RESULT_VERDICTS);
}

static void read_comparison(struct reader *r, const json_t *o)
{
	size_t index = get_u64(r, o, "row");
	if (!r->code && index >= r->run->row_count)
		bad(r, "a comparison of result %zu, which is not there", index);
	if (r->code)
		return;
	struct result_row *to = &r->run->rows[index];
	to->diff = get_interval(r, o, "diff");
	to->p = get_number(r, o, "p");
	to->p_holm = get_number(r, o, "p_holm");
	to->detectable = get_number(r, o, "mdd");
}

static const struct {
	const char *kind;
	void (*read)(struct reader *r, const json_t *o);
} kinds[] = {
        {"run", read_run},         {"host", read_host},     {"event", read_event},
        {"control", read_control}, {"result", read_result}, {"comparison", read_comparison},
};

static void read_line(struct reader *r, const char *line, size_t size)
{
	json_error_t e;
	json_t *o = json_loadb(line, size, 0, &e);
	const char *kind = json_string_value(json_object_get(o, "kind"));
	if (!o && json_error_code(&e) == json_error_out_of_memory)
		out_of_memory(r);
	else if (!o)
		bad(r, "not JSON from column %d on", e.column);
	else if (!kind)
		bad(r, "not an object with a \"kind\"");

	const char *level = json_string_value(json_object_get(o, "level"));
	bool passing = kind && !strcmp(kind, "event") && level && !strcmp(level, "progress");
	for (size_t i = 0; kind && !passing && i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strcmp(kind, kinds[i].kind))
			continue;
		if (i && !r->begun)
			bad(r, "a \"%s\" before the \"run\" it belongs to", kind);
		else
			kinds[i].read(r, o);
	}
	json_decref(o);
}

static void read_lines(struct reader *r, const char *text)
{
	while (*text && !r->code) {
		size_t size = strcspn(text, "\n");
		r->line++;
		if (strspn(text, " \t\r") < size)
			read_line(r, text, size);
		text += size + (text[size] == '\n');
	}
	if (r->code)
		return;
	if (!r->begun)
		r->code = error_set(r->err, ERROR_INPUT,
		                    "no record of a run: none of its %zu lines is a \"run\"",
		                    r->line);
	else if (r->run->row_count != r->rows)
		bad(r, "the record ends after %zu of its %zu results", r->run->row_count, r->rows);
}

int record_read(const char *text, struct result_run **out, struct error *err)
{
	struct reader r = {.run = calloc(1, sizeof *r.run), .err = err};
	*out = NULL;
	if (!r.run)
		out_of_memory(&r);
	else
		read_lines(&r, text);
	if (r.code)
		result_run_free(r.run);
	else
		*out = r.run;
	return r.code;
}
