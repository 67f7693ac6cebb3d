#include "engine/record.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- made-up runs ---- */

static uint64_t dice_state;

/* splitmix64: the same runs every time */
static uint64_t dice(uint64_t sides)
{
	uint64_t z = dice_state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return sides ? z % sides : z;
}

static double some_number(void)
{
	static const double odd[] = {NAN,    0.0,      -0.0,   1.0 / 3, 5e-324,
	                             1e300,  197.9,    0.1,    -0.001,  9007199254740993.0,
	                             123456, 1.79e308, 1e-100, 0.99,    2595.124};
	size_t n = sizeof odd / sizeof odd[0];
	uint64_t i = dice(2 * n);
	return i < n ? odd[i] : (double)(int64_t)dice(0) / 1e12;
}

static struct stats_interval some_interval(void)
{
	return (struct stats_interval){some_number(), some_number(), some_number()};
}

static char *some_text(void)
{
	static const char *const texts[] = {
	        NULL,
	        "",
	        "plain",
	        "é ü € \xf0\x9f\x90\xa7",
	        "\"quoted\"",
	        "back\\slash \\\" both",
	        "two\nlines\tand a tab",
	        "true, 1.50, null",
	        "'; --",
	        "e1.50e",
	        "\x01\x1f\x7f",
	};
	const char *t = texts[dice(sizeof texts / sizeof texts[0])];
	return t ? strdup(t) : NULL;
}

static uint64_t some_count(void)
{
	return dice(4) ? dice(1000000) : dice(0) >> 1;
}

static char *some_level(void)
{
	char text[32] = "level_1";
	if (dice(8))
		snprintf(text, sizeof text, "%llu",
		         (unsigned long long)(dice(2) ? dice(9) : dice(0)));
	return strdup(text);
}

static void fill_row(struct result_row *row, const struct result_run *run, size_t index)
{
	row->levels = calloc(run->factor_count + 1, sizeof *row->levels);
	for (size_t i = 0; i < run->factor_count; i++)
		row->levels[i] = i ? some_level() : strdup("x86_64");
	row->label = some_text();
	row->state = (enum result_state)(index % RESULT_STATES);
	row->reason = some_text();
	if (row->state == RESULT_DIED || row->state == RESULT_HUNG) {
		row->crash.signal = (int)dice(NSIG);
		row->crash.in_code = dice(2);
		row->crash.offset = row->crash.in_code ? (uint32_t)dice(UINT32_MAX) : 0;
		row->crash.address = row->crash.in_code ? 0 : dice(0);
		snprintf(row->crash.instruction, sizeof row->crash.instruction,
		         "mov %%fs:0x%x,%%eax", (unsigned)dice(4096));
	}
	row->cycles = some_interval();
	row->ns = some_interval();
	row->ticks = some_interval();
	row->kept = some_count();
	row->interrupted = some_count();
	row->fenced = some_count();
	row->footprint = (enum result_footprint)dice(3);
	row->footprint_why = some_text();
	row->blocks = (uint32_t)dice(UINT32_MAX);
	row->workers = (uint32_t)dice(100);
	row->unroll = (uint32_t)dice(1000);
	row->code_bytes = (uint32_t)dice(UINT32_MAX);
	if (dice(2))
		memset(row->sha256, "0123456789abcdef"[dice(16)], sizeof row->sha256 - 1);
	row->mode_count = dice(5);
	for (size_t i = 0; i < row->mode_count; i++)
		row->modes[i] = (struct stats_mode){some_number(), some_number(), some_number(),
		                                    some_count()};
	row->placement_count = dice(4) ? dice(50) : 0;
	row->placements = calloc(row->placement_count + 1, sizeof *row->placements);
	for (size_t i = 0; i < row->placement_count; i++)
		row->placements[i] = some_number();
	row->base = (long)dice(run->row_count + 1) - 1;
	bool compared = row->base >= 0 && (size_t)row->base != index;
	row->diff = compared ? some_interval() : (struct stats_interval){NAN, NAN, NAN};
	row->p = compared ? some_number() : NAN;
	row->p_holm = compared ? some_number() : NAN;
	row->detectable = compared ? some_number() : NAN;
	row->verdict = (enum result_verdict)dice(RESULT_VERDICTS);
}

static struct result_run *make_run(size_t rows)
{
	struct result_run *run = calloc(1, sizeof *run);
	assert_non_null(run);
	if (dice(2))
		snprintf(run->id, sizeof run->id, "%llu", (unsigned long long)dice(0));
	run->command = some_text();
	run->experiment = some_text();
	run->title = some_text();
	run->legend = some_text();
	snprintf(run->started, sizeof run->started, "2026-11-30T15:14:41Z");
	run->seconds = some_number();
	run->factor_count = dice(4);
	run->factors = calloc(run->factor_count + 1, sizeof *run->factors);
	for (size_t i = 0; i < run->factor_count; i++) {
		assert_true(asprintf(&run->factors[i].name, i ? "factor%zu" : "abi", i) > 0);
		run->factors[i].varies = dice(2);
	}
	run->curve = run->factor_count > 1 ? (long)dice(run->factor_count) : 0;
	if (!run->curve)
		run->curve = -1; /* abi is no number */
	run->curve_bytes = dice(2) ? (uint32_t)dice(1000000) : 0;
	run->curve_scale =
	        run->curve_bytes && run->factor_count ? (long)dice(run->factor_count) : 0;
	if (!run->curve_scale)
		run->curve_scale = -1;
	run->report_count = dice(2) ? 1 + (uint32_t)dice(1000000) : 0;
	run->report_seconds = run->report_count && dice(2);
	run->row_count = rows;
	run->rows = calloc(rows + 1, sizeof *run->rows);
	for (size_t i = 0; i < rows; i++)
		fill_row(&run->rows[i], run, i);
	run->excluded = dice(100);
	run->control_count = dice(5);
	run->controls = calloc(run->control_count + 1, sizeof *run->controls);
	for (size_t i = 0; i < run->control_count; i++)
		run->controls[i] = (struct result_control){
		        some_text(),   some_text(), some_interval(), some_number(),
		        some_number(), dice(2),     dice(2),         some_text()};
	for (uint64_t n = dice(4); n; n--)
		result_event_add(run, dice(2) ? "warning" : "note", "%s \"%d\"", "é", (int)n);
	if (dice(4))
		run->host = strdup("{\"cpu_name\":\"A \\\"CPU\\\"\",\"tsc_hz\":2595124000.5,"
		                   "\"mitigations\":{\"spectre_v2\":\"Mitigation: x\"},\"cpu\":1}");
	run->unit = some_text();
	run->seed = dice(0) | (uint64_t)1 << 63; /* above what a JSON integer holds */
	run->cpu = (int)dice(512);
	run->workers = (uint32_t)dice(UINT32_MAX);
	run->blocks = (uint32_t)dice(UINT32_MAX);
	run->rounds = (uint32_t)dice(UINT32_MAX);
	run->confidence = 0.99;
	run->alpha = 0.001;
	run->precision_cycles = some_number();
	run->precision_share = some_number();
	run->trusted = dice(2);
	run->not_trusted_why = some_text();
	run->cut_short = dice(2);
	run->stop_reason = some_text();
	run->samples_rejected = some_count();
	return run;
}

/* ---- equality, field by field ---- */

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

/* Bit for bit, but that one NAN is as good as another. */
static void same_number(double a, double b)
{
	assert_int_equal(isnan(a) != 0, isnan(b) != 0);
	if (!isnan(a))
		assert_memory_equal(&a, &b, sizeof a);
}

static void same_interval(struct stats_interval a, struct stats_interval b)
{
	same_number(a.est, b.est);
	same_number(a.lo, b.lo);
	same_number(a.hi, b.hi);
}

static void same_crash(const struct result_crash *a, const struct result_crash *b)
{
	assert_int_equal(a->signal, b->signal);
	assert_int_equal(a->in_code, b->in_code);
	assert_int_equal(a->offset, b->offset);
	assert_true(a->address == b->address);
	assert_string_equal(a->instruction, b->instruction);
}

static void same_row(const struct result_row *a, const struct result_row *b, size_t factors)
{
	for (size_t i = 0; i < factors; i++)
		assert_string_equal(a->levels[i], b->levels[i]);
	same_text(a->label, b->label);
	assert_int_equal(a->state, b->state);
	same_text(a->reason, b->reason);
	same_crash(&a->crash, &b->crash);
	same_interval(a->cycles, b->cycles);
	same_interval(a->ns, b->ns);
	same_interval(a->ticks, b->ticks);
	assert_true(a->kept == b->kept);
	assert_true(a->interrupted == b->interrupted);
	assert_true(a->fenced == b->fenced);
	assert_int_equal(a->footprint, b->footprint);
	same_text(a->footprint_why, b->footprint_why);
	assert_int_equal(a->blocks, b->blocks);
	assert_int_equal(a->workers, b->workers);
	assert_int_equal(a->unroll, b->unroll);
	assert_int_equal(a->code_bytes, b->code_bytes);
	assert_string_equal(a->sha256, b->sha256);
	assert_int_equal(a->mode_count, b->mode_count);
	for (size_t i = 0; i < a->mode_count; i++) {
		same_number(a->modes[i].at, b->modes[i].at);
		same_number(a->modes[i].lo, b->modes[i].lo);
		same_number(a->modes[i].hi, b->modes[i].hi);
		assert_true(a->modes[i].count == b->modes[i].count);
	}
	assert_int_equal(a->placement_count, b->placement_count);
	for (size_t i = 0; i < a->placement_count; i++)
		same_number(a->placements[i], b->placements[i]);
	assert_int_equal(a->base, b->base);
	same_interval(a->diff, b->diff);
	same_number(a->p, b->p);
	same_number(a->p_holm, b->p_holm);
	same_number(a->detectable, b->detectable);
	assert_int_equal(a->verdict, b->verdict);
}

static void same_host(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (!a)
		return;
	json_t *x = json_loads(a, 0, NULL), *y = json_loads(b, 0, NULL);
	assert_non_null(x);
	assert_true(json_equal(x, y));
	json_decref(x);
	json_decref(y);
}

static void same_run(const struct result_run *a, const struct result_run *b)
{
	assert_string_equal(a->id, b->id);
	same_text(a->command, b->command);
	same_text(a->experiment, b->experiment);
	same_text(a->title, b->title);
	same_text(a->legend, b->legend);
	assert_string_equal(a->started, b->started);
	same_number(a->seconds, b->seconds);
	assert_int_equal(a->factor_count, b->factor_count);
	for (size_t i = 0; i < a->factor_count; i++) {
		assert_string_equal(a->factors[i].name, b->factors[i].name);
		assert_int_equal(a->factors[i].varies, b->factors[i].varies);
	}
	assert_int_equal(a->curve, b->curve);
	assert_int_equal(a->curve_bytes, b->curve_bytes);
	assert_int_equal(a->curve_scale, b->curve_scale);
	assert_int_equal(a->report_count, b->report_count);
	assert_int_equal(a->report_seconds, b->report_seconds);
	assert_int_equal(a->row_count, b->row_count);
	for (size_t i = 0; i < a->row_count; i++)
		same_row(&a->rows[i], &b->rows[i], a->factor_count);
	assert_int_equal(a->excluded, b->excluded);
	assert_int_equal(a->control_count, b->control_count);
	for (size_t i = 0; i < a->control_count; i++) {
		const struct result_control *x = &a->controls[i], *y = &b->controls[i];
		same_text(x->name, y->name);
		same_text(x->what, y->what);
		same_interval(x->value, y->value);
		same_number(x->expected, y->expected);
		same_number(x->tolerance, y->tolerance);
		assert_int_equal(x->ok, y->ok);
		assert_int_equal(x->fatal, y->fatal);
		same_text(x->text, y->text);
	}
	assert_int_equal(a->event_count, b->event_count);
	for (size_t i = 0; i < a->event_count; i++) {
		assert_string_equal(a->events[i].level, b->events[i].level);
		assert_string_equal(a->events[i].text, b->events[i].text);
	}
	same_host(a->host, b->host);
	same_text(a->unit, b->unit);
	assert_true(a->seed == b->seed);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->workers, b->workers);
	assert_int_equal(a->blocks, b->blocks);
	assert_int_equal(a->rounds, b->rounds);
	same_number(a->confidence, b->confidence);
	same_number(a->alpha, b->alpha);
	same_number(a->precision_cycles, b->precision_cycles);
	same_number(a->precision_share, b->precision_share);
	assert_int_equal(a->trusted, b->trusted);
	same_text(a->not_trusted_why, b->not_trusted_why);
	assert_int_equal(a->cut_short, b->cut_short);
	same_text(a->stop_reason, b->stop_reason);
	assert_true(a->samples_rejected == b->samples_rejected);
}

static struct result_run *read_back(const char *text)
{
	struct result_run *run;
	struct error err = {0};
	if (record_read(text, &run, &err))
		fail_msg("%s", err.text);
	return run;
}

static void a_run_reads_back_as_it_was(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		dice_state = seed;
		struct result_run *run = make_run(seed % 17);
		char *text = record_write(run);
		assert_non_null(text);
		struct result_run *back = read_back(text);
		same_run(run, back);
		char *again = record_write(back);
		assert_string_equal(text, again);
		result_run_free(run);
		result_run_free(back);
		free(text);
		free(again);
	}
}

/* ---- what a reader of the lines may count on ---- */

static json_t *parse_line(const char *text, size_t size)
{
	json_error_t e;
	json_t *o = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
	if (!o)
		fail_msg("%s in %.*s", e.text, (int)size, text);
	return o;
}

/* The n-th object of a kind, or NULL. */
static json_t *find_kind(const char *text, const char *kind, size_t n)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		json_t *o = parse_line(text, size);
		if (!strcmp(json_string_value(json_object_get(o, "kind")), kind) && !n--)
			return o;
		json_decref(o);
		text += size + 1;
	}
	return NULL;
}

static void every_line_has_kind_and_run_and_the_kinds_are_in_order(void **state)
{
	static const char *const order[] = {"run",     "host",   "event",
	                                    "control", "result", "comparison"};
	(void)state;
	dice_state = 7;
	struct result_run *run = make_run(6);
	strcpy(run->id, "42");
	char *text = record_write(run);
	size_t at = 0;
	for (const char *s = text; *s;) {
		size_t size = strcspn(s, "\n");
		assert_int_equal(s[size], '\n');
		json_t *o = parse_line(s, size);
		assert_string_equal(json_string_value(json_object_get(o, "run")), "42");
		const char *kind = json_string_value(json_object_get(o, "kind"));
		assert_non_null(kind);
		while (at < 6 && strcmp(kind, order[at]))
			at++;
		assert_true(at < 6);
		json_decref(o);
		s += size + 1;
	}
	assert_int_equal(at, 5);
	free(text);
	result_run_free(run);
}

/* Every null number stands beside a reason; walks objects within objects. */
static void check_reasons(json_t *o, const char *const *numbers)
{
	for (size_t i = 0; numbers[i]; i++) {
		json_t *v = json_object_get(o, numbers[i]);
		if (!json_is_null(v))
			continue;
		if (!json_is_string(json_object_get(o, "reason")))
			fail_msg("%s is null without a reason", numbers[i]);
	}
	const char *key;
	json_t *v, *item;
	json_object_foreach(o, key, v)
	{
		size_t i;
		if (json_is_object(v))
			check_reasons(v, numbers);
		json_array_foreach(v, i, item)
		{
			if (json_is_object(item))
				check_reasons(item, numbers);
		}
	}
}

static void a_missing_number_is_null_with_a_reason(void **state)
{
	static const char *const numbers[] = {"est",       "lo",    "hi",     "at",
	                                      "expected",  "p",     "p_holm", "mdd",
	                                      "tolerance", "bytes", NULL};
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		dice_state = 1000 + seed;
		struct result_run *run = make_run(12);
		char *text = record_write(run);
		for (const char *s = text; *s; s += strcspn(s, "\n") + 1) {
			json_t *o = parse_line(s, strcspn(s, "\n"));
			check_reasons(o, numbers);
			json_decref(o);
		}
		free(text);
		result_run_free(run);
	}
}

static struct result_run *one_row(enum result_state row_state)
{
	struct result_run *run = calloc(1, sizeof *run);
	run->factors = calloc(1, sizeof *run->factors);
	run->factor_count = 1;
	run->factors[0].name = strdup("abi");
	run->rows = calloc(1, sizeof *run->rows);
	run->row_count = 1;
	run->rows[0].levels = calloc(1, sizeof *run->rows[0].levels);
	run->rows[0].levels[0] = strdup("i386");
	run->rows[0].state = row_state;
	run->rows[0].base = -1;
	return run;
}

static void an_absent_row_gives_its_reason_and_no_figure(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_ABSENT);
	run->rows[0].reason = strdup("no LDT here");
	run->rows[0].cycles = run->rows[0].ns = run->rows[0].ticks =
	        (struct stats_interval){NAN, INFINITY, -INFINITY};
	char *text = record_write(run);
	json_t *o = find_kind(text, "result", 0);
	json_t *cycles = json_object_get(o, "cycles");
	assert_string_equal(json_string_value(json_object_get(o, "state")), "absent");
	assert_string_equal(json_string_value(json_object_get(o, "reason")), "no LDT here");
	assert_true(json_is_null(json_object_get(cycles, "est")));
	assert_true(json_is_null(json_object_get(cycles, "lo")));
	assert_true(json_is_null(json_object_get(cycles, "hi")));
	assert_string_equal(json_string_value(json_object_get(cycles, "reason")), "no LDT here");
	assert_null(find_kind(text, "comparison", 0));
	json_decref(o);
	free(text);
	result_run_free(run);
}

static void a_crash_is_told_by_name_offset_address_and_instruction(void **state)
{
	static const struct {
		int signal;
		const char *name;
	} cases[] = {{SIGSEGV, "SIGSEGV"}, {SIGILL, "SIGILL"},   {SIGBUS, "SIGBUS"},
	             {SIGFPE, "SIGFPE"},   {SIGTRAP, "SIGTRAP"}, {40, "SIG40"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct result_run *run = one_row(RESULT_DIED);
		struct result_crash *c = &run->rows[0].crash;
		*c = (struct result_crash){.signal = cases[i].signal,
		                           .in_code = i % 2,
		                           .offset = i % 2 ? 12 : 0,
		                           .address = 0xfffffffffffffff0u,
		                           .instruction = "mov (%rax),%eax"};
		char *text = record_write(run);
		json_t *o = find_kind(text, "result", 0), *crash = json_object_get(o, "crash");
		assert_string_equal(json_string_value(json_object_get(crash, "signal")),
		                    cases[i].name);
		assert_string_equal(json_string_value(json_object_get(crash, "address")),
		                    "0xfffffffffffffff0");
		if (i % 2)
			assert_int_equal(json_integer_value(json_object_get(crash, "offset")), 12);
		else
			assert_true(json_is_null(json_object_get(crash, "offset")));
		struct result_run *back = read_back(text);
		same_crash(&back->rows[0].crash, c);
		result_run_free(back);
		json_decref(o);
		free(text);
		result_run_free(run);
	}
}

static void numbers_are_as_short_as_is_exact(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	run->confidence = 0.99;
	run->alpha = 0.001;
	run->seconds = 3;
	run->precision_cycles = 1.0 / 3;
	run->command = strdup("0.98999999999999999 \"0.98999999999999999\\");
	run->rows[0].cycles = (struct stats_interval){197.9, 197.7, -198.1};
	char *text = record_write(run);
	assert_non_null(strstr(text, "\"confidence\":0.99,"));
	assert_non_null(strstr(text, "\"alpha\":0.001,"));
	assert_non_null(strstr(text, "\"seconds\":3.0,"));
	assert_non_null(strstr(text, "\"precision_cycles\":0.33333333333333331,"));
	assert_non_null(strstr(text, "\"cycles\":{\"est\":197.9,\"lo\":197.7,\"hi\":-198.1,"));
	/* within a string nothing is a number */
	assert_non_null(strstr(text, "\"0.98999999999999999 \\\"0.98999999999999999\\\\\""));
	free(text);
	result_run_free(run);
}

static void a_locale_with_decimal_commas_changes_nothing(void **state)
{
	static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8",
	                                     "nl_NL.UTF-8"};
	(void)state;
	bool found = false;
	for (size_t i = 0; i < sizeof commas / sizeof commas[0] && !found; i++)
		found = setlocale(LC_NUMERIC, commas[i]) != NULL;
	if (!found) {
		print_message("skipped: no locale with decimal commas is installed\n");
		skip();
	}
	struct result_run *run = one_row(RESULT_MEASURED);
	run->confidence = 0.99;
	run->alpha = 1.0 / 3;
	char *text = record_write(run);
	struct result_run *back = read_back(text);
	setlocale(LC_NUMERIC, "C");
	assert_non_null(strstr(text, "\"confidence\":0.99,"));
	same_number(back->alpha, 1.0 / 3);
	result_run_free(back);
	free(text);
	result_run_free(run);
}

static void bytes_that_are_not_utf8_do_not_lose_the_run(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	run->command = strdup("asm \xff'é\xc3' \xf0\x9f\x90\xa7\xed\xa0\x80");
	char *text = record_write(run);
	assert_non_null(text);
	struct result_run *back = read_back(text);
	assert_string_equal(back->command,
	                    "asm \uFFFD'é\uFFFD' \xf0\x9f\x90\xa7\uFFFD\uFFFD\uFFFD");
	result_run_free(back);
	free(text);
	result_run_free(run);
}

static void a_host_that_is_not_json_is_kept_as_text(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	run->host = strdup("cpu: something {");
	char *text = record_write(run);
	struct result_run *back = read_back(text);
	assert_string_equal(back->host, run->host);
	result_run_free(back);
	free(text);
	result_run_free(run);
}

static void the_hosts_fields_stand_in_the_host_line_itself(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	run->host = strdup("{\"cpu_name\":\"X\",\"family\":25}");
	char *text = record_write(run);
	assert_non_null(strstr(
	        text, "{\"kind\":\"host\",\"run\":\"\",\"cpu_name\":\"X\",\"family\":25}\n"));
	free(text);
	result_run_free(run);
}

static void a_comparison_names_both_rows_and_the_verdict(void **state)
{
	(void)state;
	dice_state = 3;
	struct result_run *run = make_run(2);
	free(run->rows[0].label);
	free(run->rows[1].label);
	run->rows[0].label = strdup("reg=none");
	run->rows[1].label = strdup("reg=fs");
	run->rows[0].base = 0;
	run->rows[0].verdict = RESULT_BASE;
	run->rows[1].base = 0;
	run->rows[1].verdict = RESULT_NO_DIFFERENCE;
	run->rows[1].detectable = 0.25;
	char *text = record_write(run);
	json_t *o = find_kind(text, "comparison", 0);
	assert_string_equal(json_string_value(json_object_get(o, "a")), "reg=fs");
	assert_string_equal(json_string_value(json_object_get(o, "b")), "reg=none");
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "no-difference");
	assert_true(json_real_value(json_object_get(o, "mdd")) == 0.25);
	assert_null(find_kind(text, "comparison", 1)); /* the base is not compared with itself */
	json_decref(o);
	free(text);
	result_run_free(run);
}

static void what_a_run_reports_besides_follows_from_its_rows(void **state)
{
	(void)state;
	struct result_run *run = make_run(1);
	run->report_count = 100000000;
	run->report_seconds = true;
	run->rows[0].ns = (struct stats_interval){250, 248, 252};
	char *text = record_write(run);
	assert_non_null(text);
	assert_non_null(strstr(text, "\"report\":{\"count\":100000000,\"unit\":\"seconds\"}"));
	json_t *row = find_kind(text, "result", 0), *report = json_object_get(row, "report");
	assert_true(fabs(json_number_value(json_object_get(report, "est")) - 25) < 1e-9);
	assert_true(fabs(json_number_value(json_object_get(report, "lo")) - 24.8) < 1e-9);
	assert_true(fabs(json_number_value(json_object_get(report, "hi")) - 25.2) < 1e-9);
	json_decref(row);
	free(text);
	run->report_count = 0;
	text = record_write(run);
	assert_non_null(strstr(text, "\"report\":null"));
	row = find_kind(text, "result", 0);
	assert_null(json_object_get(row, "report"));
	json_decref(row);
	free(text);
	result_run_free(run);
}

static void a_curve_has_a_line_for_each_series_and_for_each_knee(void **state)
{
	(void)state;
	struct result_run *run = calloc(1, sizeof *run);
	static const char *const names[] = {"abi", "reg", "n"};
	run->factor_count = 3;
	run->factors = calloc(3, sizeof *run->factors);
	for (size_t i = 0; i < 3; i++)
		run->factors[i] = (struct result_factor){strdup(names[i]), i > 0};
	run->curve = 2;
	run->trusted = true;
	run->alpha = 0.001;
	run->confidence = 0.99;
	run->row_count = 16;
	run->rows = calloc(16, sizeof *run->rows);
	for (size_t i = 0; i < 16; i++) {
		struct result_row *row = &run->rows[i];
		double cost = i < 8 && i > 3 ? 41.5 : 33;
		char n[8];
		snprintf(n, sizeof n, "%d", 1 << i % 8);
		row->levels = calloc(3, sizeof *row->levels);
		row->levels[0] = strdup("i386");
		row->levels[1] = strdup(i < 8 ? "fs" : "gs");
		row->levels[2] = strdup(n);
		row->state = RESULT_MEASURED;
		row->base = -1;
		row->cycles = (struct stats_interval){cost, cost - 0.1, cost + 0.1};
		row->placement_count = 20;
		row->placements = calloc(20, sizeof *row->placements);
		for (size_t b = 0; b < 20; b++)
			row->placements[b] = cost + 0.01 * (double)(b * (i + 3) % 7);
	}
	char *text = record_write(run);
	json_t *fs = find_kind(text, "curve", 0), *gs = find_kind(text, "curve", 1);
	json_t *knee = find_kind(text, "knee", 0);
	assert_null(find_kind(text, "knee", 1));
	assert_non_null(strstr(text, "\"curve\":\"n\""));
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(fs, "series"), "reg")), "fs");
	assert_int_equal(json_integer_value(json_object_get(fs, "knees")), 1);
	assert_int_equal(json_integer_value(json_object_get(gs, "knees")), 0);
	assert_true(json_real_value(json_object_get(gs, "mdd")) > 0);
	assert_string_equal(json_string_value(json_object_get(knee, "change")), "step");
	assert_int_equal(json_integer_value(json_object_get(knee, "from")), 8);
	assert_int_equal(json_integer_value(json_object_get(knee, "to")), 16);
	double step = json_real_value(json_object_get(json_object_get(knee, "step"), "est"));
	assert_true(fabs(step - 8.5) < 0.05);
	json_decref(fs);
	json_decref(gs);
	json_decref(knee);

	/* nothing was told of bytes */
	assert_null(strstr(text, "curve_bytes"));
	assert_null(strstr(text, "from_bytes"));

	struct result_run *back = read_back(text);
	assert_int_equal(back->curve, 2);
	char *again = record_write(back);
	assert_string_equal(text, again);
	free(again);
	result_run_free(back);
	free(text);
	result_run_free(run);
}

static void a_knee_is_told_in_bytes_where_the_run_knows_them(void **state)
{
	(void)state;
	struct result_run *run = calloc(1, sizeof *run);
	static const char *const names[] = {"abi", "stride", "n"};
	run->factor_count = 3;
	run->factors = calloc(3, sizeof *run->factors);
	for (size_t i = 0; i < 3; i++)
		run->factors[i] = (struct result_factor){strdup(names[i]), i > 0};
	run->curve = 2;
	run->curve_bytes = 8;
	run->curve_scale = 1;
	run->trusted = true;
	run->alpha = 0.001;
	run->confidence = 0.99;
	run->row_count = 16;
	run->rows = calloc(16, sizeof *run->rows);
	for (size_t i = 0; i < 16; i++) {
		struct result_row *row = &run->rows[i];
		double cost = i % 8 > 3 ? 41.5 : 33;
		char n[8];
		snprintf(n, sizeof n, "%d", 1 << i % 8);
		row->levels = calloc(3, sizeof *row->levels);
		row->levels[0] = strdup("i386");
		row->levels[1] = strdup(i < 8 ? "1" : "64");
		row->levels[2] = strdup(n);
		row->state = RESULT_MEASURED;
		row->base = -1;
		row->placement_count = 20;
		row->placements = calloc(20, sizeof *row->placements);
		for (size_t b = 0; b < 20; b++)
			row->placements[b] = cost + 0.01 * (double)(b * (i + 3) % 7);
	}
	for (int scaled = 0; scaled < 2; scaled++) {
		run->curve_scale = scaled ? 1 : -1;
		char *text = record_write(run);
		json_t *knee = find_kind(text, "knee", 1);
		json_int_t of_one = scaled ? 8 * 64 : 8;
		assert_int_equal(json_integer_value(json_object_get(knee, "from_bytes")),
		                 8 * of_one);
		assert_int_equal(json_integer_value(json_object_get(knee, "to_bytes")),
		                 16 * of_one);
		json_decref(knee);
		struct result_run *back = read_back(text);
		assert_int_equal(back->curve_bytes, 8);
		assert_int_equal(back->curve_scale, run->curve_scale);
		result_run_free(back);
		free(text);
	}
	result_run_free(run);
}

static void progress_is_one_event_line_that_reading_passes_over(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	char *line = record_progress(run, 0.25, 1.5), *unknown = record_progress(run, 0, NAN);
	assert_string_equal(line, "{\"kind\":\"event\",\"run\":\"\",\"level\":\"progress\","
	                          "\"experiment\":null,\"fraction\":0.25,\"seconds_left\":1.5}\n");
	assert_non_null(strstr(unknown, "\"seconds_left\":null,\"reason\":"));
	char *text = record_write(run), *all;
	assert_true(asprintf(&all, "%s%s%s", line, text, unknown) > 0);
	struct result_run *back = read_back(all);
	assert_int_equal(back->event_count, 0);
	assert_int_equal(back->row_count, 1);
	result_run_free(back);
	free(all);
	free(text);
	free(line);
	free(unknown);
	result_run_free(run);
}

static void facts_of_a_newer_version_are_passed_over(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	run->command = strdup("here");
	char *text = record_write(run), *newer;
	char *rest = strchr(text, '\n') + 1;
	assert_true(asprintf(&newer,
	                     "{\"kind\":\"preface\",\"x\":[1,{}]}\n\n%.*s,\"colour\":\"red\"}\n"
	                     "{\"kind\":\"spectrum\",\"run\":\"\"}\r\n%s",
	                     (int)(rest - text - 2), text, rest) > 0);
	struct result_run *back = read_back(newer);
	assert_string_equal(back->command, "here");
	assert_int_equal(back->row_count, 1);
	result_run_free(back);
	free(newer);
	free(text);
	result_run_free(run);
}

static void refuse(const char *text, const char *message)
{
	struct result_run *run = (struct result_run *)&run;
	struct error err = {0};
	assert_int_equal(record_read(text, &run, &err), ERROR_INPUT);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_null(run);
	if (!strstr(err.text, message))
		fail_msg("\"%s\" does not say \"%s\"", err.text, message);
}

static void text_that_is_no_record_is_refused_with_the_line(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_MEASURED);
	char *text = record_write(run), *changed;
	size_t first = strcspn(text, "\n") + 1;

	refuse("", "no record of a run");
	refuse("\n\n{\"kind\":\"spectrum\"}\n", "none of its 3 lines");
	refuse("hello\n", "line 1 of the record: not JSON");
	refuse("\x7f"
	       "ELF\x02\x01",
	       "line 1 of the record: not JSON");
	refuse("[1,2]\n", "line 1 of the record: not an object");
	refuse("\n{\"kind\":7}\n", "line 2 of the record: not an object with a \"kind\"");
	refuse("{\"kind\":\"run\"}\n", "line 1 of the record: \"factors\" must be an array");
	refuse(text + first, "line 1 of the record: a \"result\" before the \"run\"");

	assert_true(asprintf(&changed, "%.*s", (int)first, text) > 0);
	refuse(changed, "ends after 0 of its 1 results");
	free(changed);
	assert_true(asprintf(&changed, "%.*s", (int)strlen(text) / 2 + (int)first / 2, text) > 0);
	refuse(changed, "line 2 of the record: not JSON");
	free(changed);
	assert_true(asprintf(&changed, "%s%s", text, text) > 0);
	refuse(changed, "line 3 of the record: a second run");
	free(changed);
	assert_true(asprintf(&changed, "%s%s", text, text + first) > 0);
	refuse(changed, "line 3 of the record: result 0 where 1 is next");
	free(changed);
	assert_true(asprintf(&changed, "%s{\"kind\":\"comparison\",\"row\":1}\n", text) > 0);
	refuse(changed, "line 3 of the record: a comparison of result 1");
	free(changed);
	free(text);
	result_run_free(run);
}

/* Replaces `from` in the text of a run, wants the reading to fail. */
static void refuse_changed(const char *text, const char *from, const char *to, const char *message)
{
	char *changed;
	const char *at = strstr(text, from);
	assert_non_null(at);
	assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
	            0);
	refuse(changed, message);
	free(changed);
}

static void a_field_of_the_wrong_kind_is_refused_by_name(void **state)
{
	(void)state;
	struct result_run *run = one_row(RESULT_DIED);
	run->rows[0].crash.signal = SIGSEGV;
	char *text = record_write(run);
	refuse_changed(text, "\"kept\":0", "\"kept\":null", "line 2 of the record: \"kept\"");
	refuse_changed(text, "\"kept\":0", "\"kept\":-1", "\"kept\" must be a whole number");
	refuse_changed(text, "\"kept\":0", "\"kept\":1.5", "\"kept\" must be a whole number");
	refuse_changed(text, "\"est\":0.0", "\"est\":\"0\"", "\"est\" must be a number or null");
	refuse_changed(text, "\"state\":\"died\"", "\"state\":\"fine\"",
	               "one of pending, measured");
	refuse_changed(text, "\"i386\"", "null", "no level for \"abi\"");
	refuse_changed(text, "\"SIGSEGV\"", "\"SIGNOT\"", "\"signal\" is no signal's name");
	refuse_changed(text, "\"0x0\"", "\"0xg\"", "\"address\" must be");
	refuse_changed(text, "\"seed\":\"0\"", "\"seed\":\"99999999999999999999\"", "\"seed\"");
	refuse_changed(text, "\"seed\":\"0\"", "\"seed\":\"-1\"", "\"seed\"");
	refuse_changed(text, "\"trusted\":false", "\"trusted\":0",
	               "\"trusted\" must be true or false");
	refuse_changed(text, "\"base\":null", "\"base\":1", "\"base\" must be a whole number");
	refuse_changed(text, "\"cycles\":[]", "\"cycles\":[\"a\"]", "\"layouts.cycles\"");
	refuse_changed(text, "\"started\":\"\"",
	               "\"started\":\"0123456789012345678901234567890123\"",
	               "\"started\" is longer");
	refuse_changed(text, "\"command\":null", "\"command\":{}", "\"command\" must be a string");
	refuse_changed(text, "\"curve\":null", "\"curve\":\"n\"",
	               "\"curve\" names no factor of the run");
	refuse_changed(text, "\"curve\":null", "\"curve\":2", "\"curve\" must be a string");
	refuse_changed(text, "\"curve\":null", "\"curve\":null,\"curve_bytes\":-1",
	               "\"curve_bytes\" must be a whole number from 0 to 4294967295");
	refuse_changed(text, "\"curve\":null", "\"curve\":null,\"curve_scale\":\"n\"",
	               "\"curve_scale\" names no factor of the run");
	refuse_changed(text, "\"report\":null", "\"report\":1024", "\"report\" must be an object");
	refuse_changed(text, "\"report\":null", "\"report\":{\"count\":0,\"unit\":\"cycles\"}",
	               "\"count\" must be a whole number from 1");
	refuse_changed(text, "\"report\":null", "\"report\":{\"count\":8,\"unit\":\"bytes\"}",
	               "\"unit\" must be one of cycles, seconds");
	free(text);
	result_run_free(run);
}

static void damaged_records_never_crash_the_reader(void **state)
{
	(void)state;
	dice_state = 99;
	struct result_run *run = make_run(5);
	char *text = record_write(run);
	size_t size = strlen(text), refused = 0;
	char *copy = malloc(size + 1);
	for (int i = 0; i < 3000; i++) {
		struct result_run *back = NULL;
		struct error err;
		memcpy(copy, text, size + 1);
		for (uint64_t n = 1 + dice(3); n; n--)
			copy[dice(size)] = (char)dice(256);
		if (record_read(copy, &back, &err))
			refused++;
		result_run_free(back);
	}
	assert_true(refused > 1000); /* most changed bytes are noticed */
	free(copy);
	free(text);
	result_run_free(run);
}

static void an_event_is_formatted_and_appended(void **state)
{
	(void)state;
	struct result_run *run = calloc(1, sizeof *run);
	result_event_add(run, "warning", "%d of %s", 3, "five");
	result_event_add(run, "note", "done");
	assert_int_equal(run->event_count, 2);
	assert_string_equal(run->events[0].level, "warning");
	assert_string_equal(run->events[0].text, "3 of five");
	assert_string_equal(run->events[1].level, "note");
	assert_string_equal(run->events[1].text, "done");
	result_run_free(run);
	result_run_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_run_reads_back_as_it_was),
	        cmocka_unit_test(every_line_has_kind_and_run_and_the_kinds_are_in_order),
	        cmocka_unit_test(a_missing_number_is_null_with_a_reason),
	        cmocka_unit_test(an_absent_row_gives_its_reason_and_no_figure),
	        cmocka_unit_test(a_crash_is_told_by_name_offset_address_and_instruction),
	        cmocka_unit_test(numbers_are_as_short_as_is_exact),
	        cmocka_unit_test(a_locale_with_decimal_commas_changes_nothing),
	        cmocka_unit_test(bytes_that_are_not_utf8_do_not_lose_the_run),
	        cmocka_unit_test(a_host_that_is_not_json_is_kept_as_text),
	        cmocka_unit_test(the_hosts_fields_stand_in_the_host_line_itself),
	        cmocka_unit_test(a_comparison_names_both_rows_and_the_verdict),
	        cmocka_unit_test(what_a_run_reports_besides_follows_from_its_rows),
	        cmocka_unit_test(a_curve_has_a_line_for_each_series_and_for_each_knee),
	        cmocka_unit_test(a_knee_is_told_in_bytes_where_the_run_knows_them),
	        cmocka_unit_test(progress_is_one_event_line_that_reading_passes_over),
	        cmocka_unit_test(facts_of_a_newer_version_are_passed_over),
	        cmocka_unit_test(text_that_is_no_record_is_refused_with_the_line),
	        cmocka_unit_test(a_field_of_the_wrong_kind_is_refused_by_name),
	        cmocka_unit_test(damaged_records_never_crash_the_reader),
	        cmocka_unit_test(an_event_is_formatted_and_appended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
