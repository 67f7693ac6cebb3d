#include "tui/render_csv.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_curve.h"
#include "tui/render_text.h"

void render_csv_text(FILE *out, bool first, const char *text)
{
	if (!first)
		fputc(',', out);
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n") && *text != ' ') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void render_csv_number(FILE *out, bool first, double v)
{
	if (!first)
		fputc(',', out);
	if (isfinite(v)) /* + 0.0: -0 is 0 */
		fprintf(out, "%.10g", v + 0.0);
}

void render_csv_end(FILE *out)
{
	fputs("\r\n", out);
}

/* Puts a malloc'ed field and frees it. */
static void put_owned(FILE *out, char *text)
{
	render_csv_text(out, false, text);
	free(text);
}

static void put_count(FILE *out, unsigned long long n)
{
	fprintf(out, ",%llu", n);
}

/* A row that was not measured has no counts either. */
static void put_count_if(FILE *out, const struct result_row *row, unsigned long long n)
{
	if (row->state == RESULT_MEASURED)
		put_count(out, n);
	else
		fputc(',', out);
}

static void put_value(FILE *out, const struct result_row *row, double v)
{
	render_csv_number(out, false, row->state == RESULT_MEASURED ? v : NAN);
}

static bool compared(const struct result_run *run, const struct result_row *row)
{
	return row->state == RESULT_MEASURED && row->base >= 0 &&
	       (size_t)row->base < run->row_count && row != &run->rows[row->base];
}

static void put_compared(FILE *out, const struct result_run *run, const struct result_row *row,
                         double v)
{
	render_csv_number(out, false, compared(run, row) ? v : NAN);
}

static void put_base(FILE *out, const struct result_run *run, const struct result_row *row)
{
	if (row->base >= 0 && (size_t)row->base < run->row_count)
		put_owned(out, render_text_label(run, &run->rows[row->base]));
	else
		fputc(',', out);
}

/* "61.1:160 62.4:40": where each mode is and how many placements it holds. */
static void put_modes(FILE *out, const struct result_row *row)
{
	fputc(',', out);
	for (size_t i = 0; i < row->mode_count; i++)
		fprintf(out, "%s%.10g:%zu", i ? " " : "", row->modes[i].at + 0.0,
		        row->modes[i].count);
}

static void put_signal(FILE *out, const struct result_row *row)
{
	const char *name = row->crash.signal ? sigabbrev_np(row->crash.signal) : NULL;

	if (name)
		put_owned(out, memory_format("SIG%s", name));
	else if (row->crash.signal)
		put_count(out, (unsigned long long)row->crash.signal);
	else
		fputc(',', out);
}

static void put_crash_at(FILE *out, const struct result_row *row)
{
	if (row->crash.in_code)
		fprintf(out, ",+0x%x", row->crash.offset);
	else if (row->crash.address)
		fprintf(out, ",0x%llx", (unsigned long long)row->crash.address);
	else
		fputc(',', out);
}

#define COLUMN(column, statement)                                                                  \
	static void column_##column(FILE *out, const struct result_run *run,                       \
	                            const struct result_row *row)                                  \
	{                                                                                          \
		(void)run, (void)row;                                                              \
		statement;                                                                         \
	}
COLUMN(state, render_csv_text(out, false, result_state_name[row->state]))
COLUMN(reason, render_csv_text(out, false, row->reason))
COLUMN(unit, render_csv_text(out, false, run->unit))
COLUMN(cycles, put_value(out, row, row->cycles.est))
COLUMN(cycles_lo, put_value(out, row, row->cycles.lo))
COLUMN(cycles_hi, put_value(out, row, row->cycles.hi))
COLUMN(ns, put_value(out, row, row->ns.est))
COLUMN(ns_lo, put_value(out, row, row->ns.lo))
COLUMN(ns_hi, put_value(out, row, row->ns.hi))
COLUMN(ticks, put_value(out, row, row->ticks.est))
COLUMN(ticks_lo, put_value(out, row, row->ticks.lo))
COLUMN(ticks_hi, put_value(out, row, row->ticks.hi))
COLUMN(base, put_base(out, run, row))
COLUMN(diff, put_compared(out, run, row, row->diff.est))
COLUMN(diff_lo, put_compared(out, run, row, row->diff.lo))
COLUMN(diff_hi, put_compared(out, run, row, row->diff.hi))
COLUMN(p, put_compared(out, run, row, row->p))
COLUMN(p_holm, put_compared(out, run, row, row->p_holm))
COLUMN(mdd, put_compared(out, run, row, row->detectable))
COLUMN(verdict, render_csv_text(out, false, result_verdict_name[row->verdict]))
COLUMN(kept, put_count_if(out, row, row->kept))
COLUMN(interrupted, put_count_if(out, row, row->interrupted))
COLUMN(fenced, put_count_if(out, row, row->fenced))
COLUMN(footprint,
       render_csv_text(out, false,
                       row->state == RESULT_MEASURED ? result_footprint_name[row->footprint]
                                                     : NULL))
COLUMN(footprint_why, render_csv_text(out, false, row->footprint_why))
COLUMN(blocks, put_count_if(out, row, row->blocks))
COLUMN(workers, put_count_if(out, row, row->workers))
COLUMN(unroll, put_count_if(out, row, row->unroll))
COLUMN(modes, put_modes(out, row))
COLUMN(code_bytes, put_count(out, row->code_bytes))
COLUMN(pool_bytes, put_count(out, row->pool_bytes))
COLUMN(sha256, render_csv_text(out, false, row->sha256))
COLUMN(crash_signal, put_signal(out, row))
COLUMN(crash_at, put_crash_at(out, row))
COLUMN(crash_instruction, render_csv_text(out, false, row->crash.instruction))
COLUMN(trusted, render_csv_text(out, false, run->trusted ? "yes" : "no"))
COLUMN(cut_short, render_csv_text(out, false, run->cut_short ? "yes" : "no"))
#undef COLUMN

/* The columns behind run, experiment and the factors. */
static const struct {
	const char *name;
	void (*put)(FILE *out, const struct result_run *run, const struct result_row *row);
} columns[] = {
#define COLUMN(column)                                                                             \
	{                                                                                          \
#column, column_##column                                                           \
	}
        COLUMN(state),
        COLUMN(reason),
        COLUMN(unit),
        COLUMN(cycles),
        COLUMN(cycles_lo),
        COLUMN(cycles_hi),
        COLUMN(ns),
        COLUMN(ns_lo),
        COLUMN(ns_hi),
        COLUMN(ticks),
        COLUMN(ticks_lo),
        COLUMN(ticks_hi),
        COLUMN(base),
        COLUMN(diff),
        COLUMN(diff_lo),
        COLUMN(diff_hi),
        COLUMN(p),
        COLUMN(p_holm),
        COLUMN(mdd),
        COLUMN(verdict),
        COLUMN(kept),
        COLUMN(interrupted),
        COLUMN(fenced),
        COLUMN(footprint),
        COLUMN(footprint_why),
        COLUMN(blocks),
        COLUMN(workers),
        COLUMN(unroll),
        COLUMN(modes),
        COLUMN(code_bytes),
        COLUMN(pool_bytes),
        COLUMN(sha256),
        COLUMN(crash_signal),
        COLUMN(crash_at),
        COLUMN(crash_instruction),
        COLUMN(trusted),
        COLUMN(cut_short),
#undef COLUMN
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Behind these, of a run that reports one more figure. */
static const char *const report_columns[] = {
        "report", "report_lo", "report_hi", "report_count", "report_unit",
};
enum { REPORT_COLUMNS = sizeof report_columns / sizeof *report_columns };

/* Behind these, of a curve. */
static const char *const curve_columns[] = {
        "knee",         "knee_from",    "knee_to", "knee_size",
        "knee_size_lo", "knee_size_hi", "apart",   "knee_mdd",
};
enum { CURVE_COLUMNS = sizeof curve_columns / sizeof *curve_columns };

/* A factor may be named like a column of ours (pda has a factor "base"): then it is "factor_base".
 */
static void put_factor_name(FILE *out, const char *name)
{
	bool taken = strcmp(name, "run") == 0 || strcmp(name, "experiment") == 0;

	for (size_t i = 0; i < COLUMNS && !taken; i++)
		taken = strcmp(name, columns[i].name) == 0;
	for (size_t i = 0; i < REPORT_COLUMNS && !taken; i++)
		taken = strcmp(name, report_columns[i]) == 0;
	for (size_t i = 0; i < CURVE_COLUMNS && !taken; i++)
		taken = strcmp(name, curve_columns[i]) == 0;
	put_owned(out, memory_format("%s%s", taken ? "factor_" : "", name));
}

/* What a row of a curve has besides: the knee that it is the first to be behind, how far it stands
 * out, and the smallest step that would have been seen in its series. */
struct row_curve {
	const struct curve_series *series; /* NULL: none */
	const struct curve_knee *knee;     /* NULL: none */
	double apart_by;
};

/* One for each row of the run. */
static struct row_curve *row_curves(const struct result_run *run, const struct curve *c)
{
	struct row_curve *rows = memory_get(run->row_count * sizeof *rows);

	for (size_t i = 0; i < run->row_count; i++)
		rows[i].apart_by = NAN;
	for (size_t i = 0; c && i < c->series_count; i++) {
		const struct curve_series *s = &c->series[i];

		for (size_t p = 0; p < s->point_count; p++)
			rows[s->points[p].row] =
			        (struct row_curve){.series = s, .apart_by = s->points[p].apart_by};
		for (size_t k = 0; k < s->knee_count; k++)
			rows[s->points[s->segments[k + 1].first].row].knee = &s->knees[k];
	}
	return rows;
}

static void put_curve(FILE *out, const struct row_curve *row)
{
	static const struct curve_knee none = {
	        .from = NAN, .to = NAN, .size = {.est = NAN, .lo = NAN, .hi = NAN}};
	const struct curve_knee *knee = row->knee ? row->knee : &none;

	render_csv_text(out, false, row->knee ? curve_kind_name[knee->kind] : NULL);
	render_csv_number(out, false, knee->from);
	render_csv_number(out, false, knee->to);
	render_csv_number(out, false, knee->size.est);
	render_csv_number(out, false, knee->size.lo);
	render_csv_number(out, false, knee->size.hi);
	render_csv_number(out, false, row->apart_by);
	render_csv_number(out, false, row->series ? row->series->detectable : NAN);
}

static void put_report(FILE *out, const struct result_run *run, const struct result_row *row)
{
	struct stats_interval report = result_row_report(run, row);

	put_value(out, row, report.est);
	put_value(out, row, report.lo);
	put_value(out, row, report.hi);
	put_count(out, run->report_count);
	render_csv_text(out, false, run->report_seconds ? "seconds" : "cycles");
}

void render_csv_run(const struct result_run *run, FILE *out)
{
	struct curve *curve = render_curve_new(run);
	struct row_curve *curves = row_curves(run, curve);

	fputs("run,experiment", out);
	for (size_t f = 0; f < run->factor_count; f++)
		put_factor_name(out, run->factors[f].name);
	for (size_t i = 0; i < COLUMNS; i++)
		render_csv_text(out, false, columns[i].name);
	for (size_t i = 0; run->report_count && i < REPORT_COLUMNS; i++)
		render_csv_text(out, false, report_columns[i]);
	for (size_t i = 0; curve && i < CURVE_COLUMNS; i++)
		render_csv_text(out, false, curve_columns[i]);
	render_csv_end(out);
	for (size_t r = 0; r < run->row_count; r++) {
		const struct result_row *row = &run->rows[r];

		render_csv_text(out, true, run->id);
		render_csv_text(out, false, run->experiment);
		for (size_t f = 0; f < run->factor_count; f++)
			render_csv_text(out, false, row->levels[f]);
		for (size_t i = 0; i < COLUMNS; i++)
			columns[i].put(out, run, row);
		if (run->report_count)
			put_report(out, run, row);
		if (curve)
			put_curve(out, &curves[r]);
		render_csv_end(out);
	}
	free(curves);
	curve_free(curve);
}
