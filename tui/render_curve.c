#include "tui/render_curve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_capacity.h"
#include "tui/render_chart.h"
#include "tui/render_figure.h"
#include "tui/table.h"

struct curve *render_curve_new(const struct result_run *run)
{
	struct curve *c;

	/* Without memory for it the usual table is shown, as for any other run. */
	return curve_find(run, &c, NULL) ? NULL : c;
}

bool render_curve_folds(const struct result_run *run, const struct curve *c)
{
	size_t placed = 0;

	if (!c)
		return false;
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].base >= 0)
			return false;
	for (size_t i = 0; i < c->series_count; i++)
		placed += c->series[i].point_count + c->series[i].missing;
	return placed == run->row_count;
}

/* "reg=fs stride=8", or "fs 8" without the names; "" where nothing else varies. */
static char *series_name(const struct result_run *run, const struct curve *c,
                         const struct curve_series *s, bool names)
{
	char *text = memory_copy("");

	for (size_t f = 0; f < run->factor_count; f++) {
		char *longer;

		if (f == c->factor || !run->factors[f].varies)
			continue;
		longer = memory_format("%s%s%s%s%s", text, *text ? " " : "",
		                       names ? run->factors[f].name : "", names ? "=" : "",
		                       run->rows[s->row].levels[f]);
		free(text);
		text = longer;
	}
	return text;
}

static char *factors_name(const struct result_run *run, const struct curve *c)
{
	char *text = memory_copy("");

	for (size_t f = 0; f < run->factor_count; f++) {
		char *longer;

		if (f == c->factor || !run->factors[f].varies)
			continue;
		longer = memory_format("%s%s%s", text, *text ? " " : "", run->factors[f].name);
		free(text);
		text = longer;
	}
	return text;
}

/* ---- the table ---- */

/* All numbers of all series, in order, each once. */
static double *numbers_new(const struct curve *c, size_t *n)
{
	size_t *next = memory_get(c->series_count * sizeof *next), room = 0;
	double *numbers;

	for (size_t i = 0; i < c->series_count; i++)
		room += c->series[i].point_count;
	numbers = memory_get(room * sizeof *numbers);
	for (*n = 0;; (*n)++) {
		double least = INFINITY;

		for (size_t i = 0; i < c->series_count; i++)
			if (next[i] < c->series[i].point_count)
				least = fmin(least, c->series[i].points[next[i]].x);
		if (isinf(least))
			break;
		numbers[*n] = least;
		for (size_t i = 0; i < c->series_count; i++)
			if (next[i] < c->series[i].point_count &&
			    !(c->series[i].points[next[i]].x > least))
				next[i]++;
	}
	free(next);
	return numbers;
}

static const struct curve_point *point_find(const struct curve_series *s, double x)
{
	for (size_t i = 0; i < s->point_count; i++)
		if (!(s->points[i].x < x) && !(s->points[i].x > x))
			return &s->points[i];
	return NULL;
}

/* Columns that the two of a series take in the table. */
static int width_of(const struct render_page *page, const struct curve_series *s, const char *head)
{
	int before = 0, after = 0, half_before = 0, half_after = 0, width;

	for (size_t i = 0; i < s->point_count; i++) {
		struct render_figure figure;

		render_figure_interval(&figure, &s->points[i].cycles, false);
		for (int half = 0; half < 2; half++) {
			char *text =
			        render_page_clean(page, half ? figure.half : figure.est, false);
			char *point = strchr(text, '.');
			int behind = point ? (int)strlen(point) : 0;
			int ahead = render_page_width(page, text) - behind;
			int *most_ahead = half ? &half_before : &before;
			int *most_behind = half ? &half_after : &after;

			*most_ahead = ahead > *most_ahead ? ahead : *most_ahead;
			*most_behind = behind > *most_behind ? behind : *most_behind;
			free(text);
		}
	}
	width = render_page_width(page, head);
	if (before + after > width)
		width = before + after;
	return width + 1 + half_before + half_after;
}

enum { GAP = 2 };

/* What a part of the table needs to know. */
struct part {
	const struct curve_series *series;
	char **heads;
	const char *half; /* heading of the half-widths */
	size_t n;
	const char *factor;
	const double *numbers;
	size_t count;
};

/* Those numbers at which one of n series has a point. */
static void print_part(const struct render_page *page, const struct part *p)
{
	struct table_column *columns = memory_get((1 + 2 * p->n) * sizeof *columns);
	struct table *t;

	columns[0] = (struct table_column){.head = p->factor, .align = TABLE_RIGHT};
	for (size_t i = 0; i < p->n; i++) {
		columns[1 + 2 * i] = (struct table_column){
		        .head = p->heads[i], .align = TABLE_POINT, .gap = GAP};
		columns[2 + 2 * i] =
		        (struct table_column){.head = p->half, .align = TABLE_POINT, .gap = 1};
	}
	t = table_new(page, columns, 1 + 2 * p->n);
	for (size_t k = 0; k < p->count; k++) {
		bool begun = false;

		for (size_t i = 0; i < p->n; i++) {
			const struct curve_point *point = point_find(&p->series[i], p->numbers[k]);
			struct render_figure figure;
			char number[32];

			if (!point)
				continue;
			if (!begun) {
				table_row_begin(t);
				snprintf(number, sizeof number, "%.15g", p->numbers[k]);
				table_cell_set(t, 0, number);
				begun = true;
			}
			render_figure_interval(&figure, &point->cycles, false);
			table_cell_set(t, 1 + 2 * i, figure.est);
			table_cell_set(t, 2 + 2 * i, figure.half);
		}
	}
	table_print(t);
	table_free(t);
	free(columns);
}

static void say_modes(const struct render_page *page, const struct result_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->row_count; i++)
		count += run->rows[i].state == RESULT_MEASURED && run->rows[i].mode_count > 1;
	if (count)
		render_page_say(page, 2, RENDER_PAGE_DIM,
		                memory_format("%zu of %zu rows have several modes over placements "
		                              "(--format csv has every column)",
		                              count, run->row_count));
}

/* How many series from the first on have room beside the numbers: one at least. */
static size_t part_share(const struct render_page *page, const struct part *p, size_t most)
{
	char number[32];
	int width = snprintf(number, sizeof number, "%.15g", p->numbers[p->count - 1]);
	int name = render_page_width(page, p->factor);
	size_t n = 0;

	width = name > width ? name : width;
	for (; n < most; n++) {
		width += GAP + width_of(page, &p->series[n], p->heads[n]);
		if (n && width > page->style.width)
			break;
	}
	return n;
}

void render_curve_table(const struct render_page *page, const struct result_run *run,
                        const struct curve *c)
{
	char **heads = memory_get(c->series_count * sizeof *heads), *others = factors_name(run, c);
	char *half = memory_format("±%g%%", 100 * run->confidence);
	struct part part = {.half = *others ? "" : half, .factor = run->factors[c->factor].name};
	double *numbers = numbers_new(c, &part.count);

	part.numbers = numbers;
	if (*others && part.count)
		render_page_say(page, 2, RENDER_PAGE_DIM,
		                memory_format("cycles %s against %s, for each %s", half,
		                              part.factor, others));
	for (size_t i = 0; i < c->series_count; i++)
		heads[i] =
		        *others ? series_name(run, c, &c->series[i], false) : memory_copy("cycles");
	for (size_t i = 0; i < c->series_count && part.count; i += part.n) {
		part.series = c->series + i;
		part.heads = heads + i;
		part.n = part_share(page, &part, c->series_count - i);
		if (i)
			fputc('\n', page->out);
		print_part(page, &part);
	}
	say_modes(page, run);
	for (size_t i = 0; i < c->series_count; i++)
		free(heads[i]);
	free(heads);
	free(others);
	free(half);
	free(numbers);
}

/* ---- sentences ---- */

struct sentence {
	const char *factor;
	uint64_t bytes; /* that one takes, or 0 */
	const struct curve_series *series;
	char *text;
};

static void say(struct sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sentence *s, const char *fmt, ...)
{
	char *more = NULL, *longer;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&more, fmt, ap) < 0)
		more = memory_copy("");
	va_end(ap);
	longer = memory_format("%s%s", s->text, more);
	free(more);
	free(s->text);
	s->text = longer;
}

/* "+8.5 ±0.2" */
static void say_interval(struct sentence *s, const struct stats_interval *i, bool sign)
{
	struct render_figure figure;

	render_figure_interval(&figure, i, sign);
	say(s, "%s %s", figure.est, figure.half);
}

static void say_slope(struct sentence *s, const struct stats_interval *slope)
{
	bool falls = slope->est < 0;
	struct stats_interval size = *slope;

	if (falls)
		size = (struct stats_interval){-slope->est, -slope->hi, -slope->lo};
	say(s, "%s by ", falls ? "falling" : "rising");
	say_interval(s, &size, false);
	say(s, " a doubling");
}

static double x_of(const struct sentence *s, size_t point)
{
	return s->series->points[point].x;
}

static void say_level(struct sentence *s, const struct stats_interval *level)
{
	struct render_figure figure;

	render_figure_interval(&figure, level, false);
	say(s, "%s", figure.est);
}

/* The first segment: what the curve is before any knee. */
static void say_first(struct sentence *s)
{
	const struct curve_segment *seg = &s->series->segments[0];
	bool only = s->series->segment_count == 1;

	if (seg->slopes) {
		say_slope(s, &seg->slope);
		say(s, ", from ");
		say_level(s, &seg->begin);
		say(s, " cycles at %s=%.15g to ", s->factor, x_of(s, seg->first));
		say_level(s, &seg->end);
		say(s, " at %s=%.15g", s->factor, x_of(s, seg->last));
		return;
	}
	if (seg->first < seg->last)
		say(s, "flat at ");
	say_interval(s, &seg->begin, false);
	say(s, " cycles ");
	if (seg->first == seg->last)
		say(s, "at %s=%.15g", s->factor, x_of(s, seg->first));
	else if (only)
		say(s, "for %s=%.15g..%.15g", s->factor, x_of(s, seg->first), x_of(s, seg->last));
	else if (s->series->knees[0].kind == CURVE_SLOPE)
		say(s, "up to %s=%.15g", s->factor,
		    fmax(x_of(s, seg->last), s->series->knees[0].from));
	else
		say(s, "up to %s=%.15g", s->factor, x_of(s, seg->last));
}

/* "from n=33..48 on": the first number that is behind the knee. Numbers are whole: behind 32
 * comes 33. Bytes are those of what still fits and of what does not. */
static void say_place(struct sentence *s, const struct curve_knee *knee)
{
	double first = knee->kind == CURVE_STEP ? knee->from + 1 : knee->from;

	if (first < knee->to)
		say(s, "; from %s=%.15g..%.15g", s->factor, first, knee->to);
	else
		say(s, "; from %s=%.15g", s->factor, knee->to);
	if (s->bytes) {
		char *bytes = render_capacity_bytes((uint64_t)knee->from * s->bytes,
		                                    (uint64_t)knee->to * s->bytes);

		say(s, " (%s)", bytes);
		free(bytes);
	}
	say(s, " on ");
}

static void say_knee(struct sentence *s, size_t k)
{
	const struct curve_knee *knee = &s->series->knees[k];
	const struct curve_segment *seg = &s->series->segments[k + 1];

	say_place(s, knee);
	if (knee->kind == CURVE_STEP) {
		say_level(s, &seg->begin);
		say(s, " (");
		say_interval(s, &knee->size, true);
		say(s, ")");
		if (seg->slopes)
			say(s, ", ");
	} else if (!seg->slopes) {
		say(s, "flat at ");
		say_interval(s, &seg->begin, false);
	}
	if (seg->slopes) {
		say_slope(s, &seg->slope);
		say(s, " to ");
		say_level(s, &seg->end);
		say(s, " at %s=%.15g", s->factor, x_of(s, seg->last));
	}
	if (seg->first == seg->last)
		say(s, ", which rests on %s=%.15g alone", s->factor, x_of(s, seg->first));
}

static void say_no_knee(struct sentence *s)
{
	double step = s->series->detectable;
	int decimals = render_figure_decimals(step);
	char seen[32];

	if (step * pow(10, decimals) < 10 && decimals < RENDER_FIGURE_DECIMALS)
		decimals++; /* two digits */
	render_figure_number(seen, step, decimals, false);
	say(s, ": no knee (a step of %s would have been seen)", seen);
}

static void say_apart(struct sentence *s)
{
	bool begun = false;

	for (size_t i = 0; i < s->series->point_count; i++) {
		const struct curve_point *p = &s->series->points[i];
		char by[32];

		if (!p->apart)
			continue;
		render_figure_number(by, p->apart_by,
		                     render_figure_decimals(render_figure_half(&p->cycles)), true);
		if (begun)
			say(s, ", %.15g (%s)", p->x, by);
		else
			say(s, "; standing out, alone: %s=%.15g (%s)", s->factor, p->x, by);
		begun = true;
	}
}

static char *sentence_new(const struct result_run *run, const char *factor,
                          const struct curve_series *series)
{
	struct sentence s = {factor, curve_bytes(run, series), series, memory_copy("")};

	if (series->why) {
		say(&s, "no knee is sought: %s", series->why);
	} else {
		say_first(&s);
		for (size_t k = 0; k < series->knee_count; k++)
			say_knee(&s, k);
		if (!series->knee_count)
			say_no_knee(&s);
		say_apart(&s);
	}
	if (series->missing)
		say(&s, "; %zu number%s no figure", series->missing,
		    series->missing == 1 ? " has" : "s have");
	return s.text;
}

/* How many series the next chart gets: as many as there are marks; with more, whole rounds of the
 * last factor's levels, so that what belongs together stays together. */
static size_t chart_share(const struct result_run *run, const struct curve *c)
{
	size_t same;

	if (c->series_count <= RENDER_CHART_SERIES)
		return c->series_count;
	for (size_t f = 0; f < run->factor_count; f++) {
		if (f == c->factor || !run->factors[f].varies)
			continue;
		for (same = 1; same < c->series_count; same++)
			if (strcmp(run->rows[c->series[same].row].levels[f],
			           run->rows[c->series[0].row].levels[f]))
				break;
		if (same <= RENDER_CHART_SERIES)
			return RENDER_CHART_SERIES / same * same;
	}
	return RENDER_CHART_SERIES;
}

static void chart_print(const struct render_page *page, const struct result_run *run,
                        const struct curve *c, const struct curve_series *series, size_t n)
{
	const char *factor = run->factors[c->factor].name;

	render_page_say(page, 2, RENDER_PAGE_BOLD,
	                memory_format("cycles against %s, on a scale of doublings", factor));
	render_chart_draw(page, series, n);
	for (size_t i = 0; i < n; i++) {
		char *name = series_name(run, c, &series[i], true);
		char *text = sentence_new(run, factor, &series[i]);
		char *line = memory_format("%s%s%s", name, *name ? ": " : "", text);

		if (*name)
			fprintf(page->out, "%s ", render_chart_mark(page, i));
		render_page_wrap(page, *name ? 2 : 0, 4, line);
		free(name);
		free(text);
		free(line);
	}
}

void render_curve_chart(const struct render_page *page, const struct result_run *run,
                        const struct curve *c)
{
	size_t share = chart_share(run, c);

	for (size_t i = 0; i < c->series_count; i += share) {
		size_t left = c->series_count - i;

		fputc('\n', page->out);
		chart_print(page, run, c, c->series + i, left < share ? left : share);
	}
	render_capacity_print(page, run, c);
}
