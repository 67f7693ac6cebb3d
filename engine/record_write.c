#include "record.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"

struct writer {
	const struct result_run *run;
	FILE *out;
	bool failed; /* out of memory somewhere: the text is thrown away */
};

/* Copies a number token of n bytes, in the short form if that is the same number: 0.99, not
 * 0.98999999999999999. */
static char *copy_number(char *out, const char *in, size_t n)
{
	char buf[40];
	if (strcspn(in, ".eE,]}") < n) { /* a real */
		double value = strtod(in, NULL);
		int len = snprintf(buf, sizeof buf - 2, "%.15g", value);
		if (!strpbrk(buf, ".e")) {
			memcpy(buf + len, ".0", 3);
			len += 2;
		}
		if ((size_t)len < n && strtod(buf, NULL) == value) {
			memcpy(out, buf, (size_t)len);
			return out + len;
		}
	}
	memmove(out, in, n);
	return out + n;
}

/* jansson prints every real of a text with one precision. 17 digits are what some need; this
 * shortens those that do with 15, in place. */
static void shorten_reals(char *in)
{
	char *out = in;
	bool quoted = false;
	while (*in) {
		size_t n = quoted ? 0 : strspn(in, "+-.0123456789eE");
		if (n && *in != 'e' && *in != 'E') { /* the e of "true" begins no number */
			out = copy_number(out, in, n);
			in += n;
			continue;
		}
		if (quoted && *in == '\\')
			*out++ = *in++;
		else if (*in == '"')
			quoted = !quoted;
		*out++ = *in++;
	}
	*out = '\0';
}

/* A string whose bytes are not all UTF-8: a command line can hold any. */
static json_t *repaired_text(const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t left = strlen(s);
	char *copy = malloc(3 * left + 1), *out = copy;
	if (!copy)
		return NULL;
	while (left) {
		size_t n = 1;
		json_t *one = NULL;
		for (; n <= 4 && n <= left && !one; n++)
			one = json_stringn(s, n);
		if (one) {
			n--;
			out = mempcpy(out, s, n);
			json_decref(one);
		} else {
			n = 1;
			out = mempcpy(out, replacement, sizeof replacement - 1);
		}
		s += n;
		left -= n;
	}
	json_t *text = json_stringn(copy, (size_t)(out - copy));
	free(copy);
	return text;
}

static json_t *text_json(const char *s)
{
	if (!s)
		return json_null();
	json_t *text = json_string(s);
	return text ? text : repaired_text(s);
}

static void put(struct writer *w, json_t *to, const char *key, json_t *value)
{
	if (json_object_set_new(to, key, value)) /* takes NULLs, of either, as an error */
		w->failed = true;
}

static void put_text(struct writer *w, json_t *to, const char *key, const char *s)
{
	put(w, to, key, text_json(s));
}

/* Counts stay far below 2^63, where JSON's integers end in jansson. */
static void put_count(struct writer *w, json_t *to, const char *key, uint64_t n)
{
	put(w, to, key, json_integer((json_int_t)n));
}

static json_t *number_json(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* Returns whether there was a number; if not, the caller owes a reason. */
static bool put_number(struct writer *w, json_t *to, const char *key, double x)
{
	put(w, to, key, number_json(x));
	return isfinite(x);
}

static json_t *put_interval(struct writer *w, json_t *to, const char *key, struct stats_interval x,
                            const char *why)
{
	json_t *o = json_object();
	bool est = put_number(w, o, "est", x.est);
	bool lo = put_number(w, o, "lo", x.lo);
	bool hi = put_number(w, o, "hi", x.hi);
	if (!est)
		put_text(w, o, "reason", why);
	else if (!lo || !hi)
		put_text(w, o, "reason", "too few placements for an interval");
	put(w, to, key, o);
	return o;
}

static json_t *begin(struct writer *w, const char *kind)
{
	json_t *o = json_object();
	put_text(w, o, "kind", kind);
	put_text(w, o, "run", w->run->id);
	return o;
}

static void end(struct writer *w, json_t *o)
{
	char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(o);
	if (!line) {
		w->failed = true;
		return;
	}
	shorten_reals(line);
	if (fprintf(w->out, "%s\n", line) < 0)
		w->failed = true;
	free(line);
}

/* What the results' field of that name is of. */
static json_t *report_json(struct writer *w)
{
	if (!w->run->report_count)
		return json_null();
	json_t *o = json_object();
	put_count(w, o, "count", w->run->report_count);
	put_text(w, o, "unit", w->run->report_seconds ? "seconds" : "cycles");
	return o;
}

static void write_run(struct writer *w)
{
	const struct result_run *run = w->run;
	json_t *o = begin(w, "run");
	put_text(w, o, "command", run->command);
	put_text(w, o, "experiment", run->experiment);
	put_text(w, o, "title", run->title);
	put_text(w, o, "legend", run->legend);
	put_text(w, o, "started", run->started);
	bool whole = put_number(w, o, "seconds", run->seconds);

	json_t *factors = json_array();
	for (size_t i = 0; i < run->factor_count; i++) {
		json_t *f = json_object();
		put_text(w, f, "name", run->factors[i].name);
		put(w, f, "varies", json_boolean(run->factors[i].varies));
		if (json_array_append_new(factors, f))
			w->failed = true;
	}
	put(w, o, "factors", factors);
	put_text(w, o, "curve", curve_is_set(run) ? run->factors[run->curve].name : NULL);
	if (run->curve_bytes) {
		put_count(w, o, "curve_bytes", run->curve_bytes);
		put_text(w, o, "curve_scale",
		         run->curve_scale > 0 ? run->factors[run->curve_scale].name : NULL);
	}

	put(w, o, "report", report_json(w));

	put_count(w, o, "rows", run->row_count);
	put_count(w, o, "excluded", run->excluded);
	put_text(w, o, "unit", run->unit);
	char seed[24]; /* a string: readers that hold numbers as doubles would change it */
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
	put_text(w, o, "seed", seed);
	put(w, o, "cpu", json_integer(run->cpu));
	put_count(w, o, "workers", run->workers);
	put_count(w, o, "blocks", run->blocks);
	put_count(w, o, "rounds", run->rounds);
	whole &= put_number(w, o, "confidence", run->confidence);
	whole &= put_number(w, o, "alpha", run->alpha);
	whole &= put_number(w, o, "precision_cycles", run->precision_cycles);
	whole &= put_number(w, o, "precision_share", run->precision_share);
	put(w, o, "trusted", json_boolean(run->trusted));
	put_text(w, o, "not_trusted_why", run->not_trusted_why);
	put(w, o, "cut_short", json_boolean(run->cut_short));
	put_text(w, o, "stop_reason", run->stop_reason);
	put_count(w, o, "samples_rejected", run->samples_rejected);
	if (!whole)
		put_text(w, o, "reason", "not set when the record was written");
	end(w, o);
}

/* The host's own fields stand beside "kind" and "run". */
static void write_host(struct writer *w)
{
	if (!w->run->host)
		return;
	json_t *o = begin(w, "host");
	json_t *host = json_loads(w->run->host, 0, NULL);
	if (json_is_object(host)) {
		if (json_object_update_missing(o, host))
			w->failed = true;
	} else {
		put_text(w, o, "unreadable", w->run->host);
	}
	json_decref(host);
	end(w, o);
}

static void write_events(struct writer *w)
{
	for (size_t i = 0; i < w->run->event_count; i++) {
		json_t *o = begin(w, "event");
		put_text(w, o, "level", w->run->events[i].level);
		put_text(w, o, "text", w->run->events[i].text);
		end(w, o);
	}
}

static void write_control(struct writer *w, const struct result_control *c)
{
	json_t *o = begin(w, "control");
	put_text(w, o, "name", c->name);
	put_text(w, o, "what", c->what);
	put_interval(w, o, "value", c->value, "not measured");
	bool whole = put_number(w, o, "expected", c->expected);
	whole &= put_number(w, o, "tolerance", c->tolerance);
	if (!whole)
		put_text(w, o, "reason", "this control has no such number");
	put(w, o, "ok", json_boolean(c->ok));
	put(w, o, "fatal", json_boolean(c->fatal));
	put_text(w, o, "text", c->text);
	end(w, o);
}

static void put_crash(struct writer *w, json_t *to, const struct result_crash *c)
{
	json_t *o = json_object();
	char buf[32];
	if (c->signal) {
		const char *name = sigabbrev_np(c->signal);
		if (name)
			snprintf(buf, sizeof buf, "SIG%s", name);
		else
			snprintf(buf, sizeof buf, "SIG%d", c->signal);
	}
	put_text(w, o, "signal", c->signal ? buf : NULL);
	put(w, o, "in_code", json_boolean(c->in_code));
	put(w, o, "offset", c->in_code ? json_integer(c->offset) : json_null());
	snprintf(buf, sizeof buf, "0x%llx", (unsigned long long)c->address);
	put_text(w, o, "address", c->in_code && !c->address ? NULL : buf);
	put_text(w, o, "instruction", c->instruction);
	put(w, to, "crash", o);
}

static bool crash_known(const struct result_row *row)
{
	const struct result_crash *c = &row->crash;
	return row->state == RESULT_DIED || c->signal || c->in_code || c->address ||
	       c->instruction[0];
}

static void put_samples(struct writer *w, json_t *to, const struct result_row *row)
{
	json_t *o = json_object();
	put_count(w, o, "kept", row->kept);
	put_count(w, o, "interrupted", row->interrupted);
	put_count(w, o, "fenced", row->fenced);
	put_text(w, o, "footprint", result_footprint_name[row->footprint]);
	put_text(w, o, "footprint_why", row->footprint_why);
	put(w, to, "samples", o);
}

static void put_layouts(struct writer *w, json_t *to, const struct result_row *row)
{
	json_t *o = json_object(), *modes = json_array(), *cycles = json_array();
	put_count(w, o, "blocks", row->blocks);
	put_count(w, o, "workers", row->workers);
	for (size_t i = 0; i < row->mode_count; i++) {
		json_t *m = json_object();
		bool whole = put_number(w, m, "at", row->modes[i].at);
		whole &= put_number(w, m, "lo", row->modes[i].lo);
		whole &= put_number(w, m, "hi", row->modes[i].hi);
		if (!whole)
			put_text(w, m, "reason", "not measured");
		put_count(w, m, "count", row->modes[i].count);
		if (json_array_append_new(modes, m))
			w->failed = true;
	}
	put(w, o, "modes", modes);
	bool whole = true;
	for (size_t i = 0; i < row->placement_count; i++) {
		whole &= isfinite(row->placements[i]) != 0;
		if (json_array_append_new(cycles, number_json(row->placements[i])))
			w->failed = true;
	}
	put(w, o, "cycles", cycles);
	if (!whole)
		put_text(w, o, "reason", "null: no sample was kept at that placement");
	put(w, to, "layouts", o);
}

static void put_code(struct writer *w, json_t *to, const struct result_row *row)
{
	json_t *o = json_object();
	if (row->code_bytes || row->sha256[0]) {
		put_count(w, o, "bytes", row->code_bytes);
		put_text(w, o, "sha256", row->sha256[0] ? row->sha256 : NULL);
	} else {
		put(w, o, "bytes", json_null());
		put(w, o, "sha256", json_null());
		put_text(w, o, "reason", "not assembled");
	}
	put_count(w, o, "pool_bytes", row->pool_bytes);
	put_count(w, o, "unroll", row->unroll);
	put(w, to, "code", o);
}

/* Why a row has no figure. */
static const char *row_why(const struct result_row *row)
{
	if (row->reason)
		return row->reason;
	if (row->state == RESULT_PENDING)
		return "not measured yet";
	if (row->state == RESULT_MEASURED)
		return "too few samples";
	return result_state_name[row->state];
}

static void write_result(struct writer *w, size_t index)
{
	const struct result_run *run = w->run;
	const struct result_row *row = &run->rows[index];
	json_t *o = begin(w, "result"), *variant = json_object();
	put_count(w, o, "row", index);
	put_text(w, o, "experiment", run->experiment);
	for (size_t i = 0; i < run->factor_count; i++)
		put_text(w, variant, run->factors[i].name, row->levels[i]);
	put(w, o, "variant", variant);
	put_text(w, o, "label", row->label);
	put_text(w, o, "unit", run->unit);
	put_text(w, o, "state", result_state_name[row->state]);
	put_text(w, o, "reason", row->reason);
	if (crash_known(row))
		put_crash(w, o, &row->crash);
	json_t *cycles = put_interval(w, o, "cycles", row->cycles, row_why(row));
	put_text(w, cycles, "source", "calibrated"); /* from the chain of adds, not a counter */
	put_interval(w, o, "ns", row->ns, row_why(row));
	put_interval(w, o, "ticks", row->ticks, row_why(row));
	if (run->report_count)
		put_interval(w, o, "report", result_row_report(run, row), row_why(row));
	put_samples(w, o, row);
	put_layouts(w, o, row);
	put_code(w, o, row);
	put(w, o, "base", row->base >= 0 ? json_integer(row->base) : json_null());
	put_text(w, o, "verdict", result_verdict_name[row->verdict]);
	end(w, o);
}

/* Why a comparison lacks a figure. */
static const char *comparison_why(const struct result_run *run, const struct result_row *row)
{
	if (row->state != RESULT_MEASURED)
		return row_why(row);
	if ((size_t)row->base < run->row_count && run->rows[row->base].state != RESULT_MEASURED)
		return "the base is not measured";
	if (!run->trusted)
		return "the run is not trusted: nothing is called";
	return "too few placements to compare";
}

static void write_comparison(struct writer *w, size_t index)
{
	const struct result_run *run = w->run;
	const struct result_row *row = &run->rows[index];
	if (row->base < 0 || (size_t)row->base == index)
		return;
	json_t *o = begin(w, "comparison");
	const char *why = comparison_why(run, row);
	put_text(w, o, "experiment", run->experiment);
	put_count(w, o, "row", index);
	put_count(w, o, "base", (uint64_t)row->base);
	put_text(w, o, "a", row->label);
	put_text(w, o, "b", (size_t)row->base < run->row_count ? run->rows[row->base].label : NULL);
	put_interval(w, o, "diff", row->diff, why);
	bool whole = put_number(w, o, "p", row->p);
	whole &= put_number(w, o, "p_holm", row->p_holm);
	whole &= put_number(w, o, "mdd", row->detectable);
	if (!whole)
		put_text(w, o, "reason", why);
	put_text(w, o, "verdict", result_verdict_name[row->verdict]);
	end(w, o);
}

/* The levels that tell a series of a curve from the others. */
static void put_series(struct writer *w, json_t *to, const struct curve *c,
                       const struct curve_series *s)
{
	const struct result_run *run = w->run;
	json_t *o = json_object();
	for (size_t f = 0; f < run->factor_count; f++)
		if (f != c->factor && run->factors[f].varies)
			put_text(w, o, run->factors[f].name, run->rows[s->row].levels[f]);
	put_text(w, to, "experiment", run->experiment);
	put_text(w, to, "factor", run->factors[c->factor].name);
	put(w, to, "series", o);
}

static void put_segments(struct writer *w, json_t *to, const struct curve_series *s)
{
	json_t *segments = json_array(), *apart = json_array();
	for (size_t k = 0; k < s->segment_count; k++) {
		const struct curve_segment *seg = &s->segments[k];
		json_t *o = json_object();
		put_count(w, o, "from", (uint64_t)s->points[seg->first].x);
		put_count(w, o, "to", (uint64_t)s->points[seg->last].x);
		put_interval(w, o, "begin", seg->begin, "beyond the range of numbers");
		put_interval(w, o, "end", seg->end, "beyond the range of numbers");
		if (seg->slopes)
			put_interval(w, o, "slope", seg->slope, "beyond the range of numbers");
		if (json_array_append_new(segments, o))
			w->failed = true;
	}
	for (size_t i = 0; i < s->point_count; i++) {
		if (!s->points[i].apart)
			continue;
		json_t *o = json_object();
		put_count(w, o, "at", (uint64_t)s->points[i].x);
		put_number(w, o, "by", s->points[i].apart_by);
		if (json_array_append_new(apart, o))
			w->failed = true;
	}
	put(w, to, "segments", segments);
	put(w, to, "apart", apart);
}

static void write_series(struct writer *w, const struct curve *c, const struct curve_series *s)
{
	json_t *o = begin(w, "curve");
	put_series(w, o, c, s);
	put_count(w, o, "points", s->point_count);
	put_count(w, o, "missing", s->missing);
	put_segments(w, o, s);
	put_count(w, o, "knees", s->knee_count);
	if (!put_number(w, o, "mdd", s->detectable))
		put_text(w, o, "reason", s->why ? s->why : "beyond the range of numbers");
	end(w, o);
	for (size_t k = 0; k < s->knee_count; k++) {
		o = begin(w, "knee");
		put_series(w, o, c, s);
		put_text(w, o, "change", curve_kind_name[s->knees[k].kind]);
		put_count(w, o, "from", (uint64_t)s->knees[k].from);
		put_count(w, o, "to", (uint64_t)s->knees[k].to);
		uint64_t bytes = curve_bytes(w->run, s);
		if (bytes) {
			put_count(w, o, "from_bytes", (uint64_t)s->knees[k].from * bytes);
			put_count(w, o, "to_bytes", (uint64_t)s->knees[k].to * bytes);
		}
		put_interval(w, o, curve_kind_name[s->knees[k].kind], s->knees[k].size,
		             "beyond the range of numbers");
		put(w, o, "thin", json_boolean(s->knees[k].thin));
		end(w, o);
	}
}

static void write_curve(struct writer *w)
{
	struct curve *c;
	if (curve_find(w->run, &c, NULL))
		w->failed = true;
	for (size_t i = 0; c && i < c->series_count; i++)
		write_series(w, c, &c->series[i]);
	curve_free(c);
}

static void write_record(struct writer *w)
{
	write_run(w);
	write_host(w);
	write_events(w);
	for (size_t i = 0; i < w->run->control_count; i++)
		write_control(w, &w->run->controls[i]);
	for (size_t i = 0; i < w->run->row_count; i++)
		write_result(w, i);
	for (size_t i = 0; i < w->run->row_count; i++)
		write_comparison(w, i);
	write_curve(w);
}

struct progress {
	double fraction, seconds_left;
};

static void write_progress(struct writer *w, const struct progress *p)
{
	json_t *o = begin(w, "event");
	put_text(w, o, "level", "progress");
	put_text(w, o, "experiment", w->run->experiment);
	bool whole = put_number(w, o, "fraction", p->fraction);
	whole &= put_number(w, o, "seconds_left", p->seconds_left < 0 ? NAN : p->seconds_left);
	if (!whole)
		put_text(w, o, "reason", "not known yet");
	end(w, o);
}

/* The text of a whole record, or of one line of progress if there is some. Numbers have a decimal
 * point whatever the caller's locale says. */
static char *write_text(const struct result_run *run, const struct progress *progress)
{
	char *text = NULL;
	size_t size = 0;
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	struct writer w = {.run = run};
	if (c)
		w.out = open_memstream(&text, &size);
	if (w.out) {
		locale_t before = uselocale(c);
		if (progress)
			write_progress(&w, progress);
		else
			write_record(&w);
		uselocale(before);
		if (fclose(w.out))
			w.failed = true;
	}
	if (c)
		freelocale(c);
	if (w.failed) {
		free(text);
		return NULL;
	}
	return text;
}

char *record_write(const struct result_run *run)
{
	return write_text(run, NULL);
}

char *record_progress(const struct result_run *run, double fraction, double seconds_left)
{
	return write_text(run, &(struct progress){fraction, seconds_left});
}
