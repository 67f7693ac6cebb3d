#include "tui/render_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_figure.h"

enum {
	STEPS = 16,      /* rows between the lowest and the highest, about */
	TICKS = 5,       /* of the vertical axis, about */
	OVERHANG = 2,    /* columns of a label behind the plot */
	LABEL_MOST = 16, /* bytes of a label of the horizontal axis */
};

/* A curve that goes down to this share of its height is drawn from 0. */
static const double FROM_ZERO = 0.5;
/* Intervals stretch the chart by so much of its height at most. */
static const double INTERVALS_MOST = 0.25;

struct drawing {
	const char *marks[RENDER_CHART_SERIES];
	const char *bar;                                        /* of an interval */
	const char *up, *up_tick, *corner, *right, *right_tick; /* axes */
	const char *knee, *knee_begin, *knee_on, *knee_end;     /* the place of a knee */
};

static const struct drawing drawings[2] = {
        [false] = {.marks = {"*", "o", "+", "x", "#", "@", "%", "&"},
                   .bar = "|",
                   .up = "|",
                   .up_tick = "+",
                   .corner = "+",
                   .right = "-",
                   .right_tick = "+",
                   .knee = "^",
                   .knee_begin = "[",
                   .knee_on = "-",
                   .knee_end = "]"},
        [true] = {.marks = {"●", "○", "■", "□", "▲", "△", "◆", "◇"},
                  .bar = "╎",
                  .up = "│",
                  .up_tick = "┤",
                  .corner = "└",
                  .right = "─",
                  .right_tick = "┴",
                  .knee = "↑",
                  .knee_begin = "├",
                  .knee_on = "─",
                  .knee_end = "┤"},
};

/* Colours of the marks, which tell nothing that the marks do not. */
static const char *const colors[RENDER_CHART_SERIES] = {"34", "31", "32", "35",
                                                        "36", "33", "94", "91"};

struct cell {
	unsigned char marks;         /* of how many series */
	unsigned char series, other; /* the first and the last of these */
	bool bar;
};

struct chart {
	const struct render_page *page;
	const struct drawing *draw;
	const struct curve_series *series;
	size_t n;
	double bottom, top, tick; /* of the vertical axis */
	int decimals;             /* of its labels */
	double left, right;       /* places of the horizontal axis */
	double least, most;       /* the numbers there */
	int label, columns, rows; /* characters: of labels, and of the plot */
	struct cell *cells;
	bool crowded; /* some place has several marks */
};

const char *render_chart_mark(const struct render_page *page, size_t i)
{
	return drawings[page->style.utf8].marks[i % RENDER_CHART_SERIES];
}

/* The range of the points; false if there is none that can be drawn. */
static bool measure(struct chart *c, double *low, double *high)
{
	double reach_low = INFINITY, reach_high = -INFINITY, most, least;

	*low = c->left = c->least = INFINITY;
	*high = c->right = c->most = -INFINITY;
	for (size_t s = 0; s < c->n; s++) {
		for (size_t i = 0; i < c->series[s].point_count; i++) {
			const struct curve_point *p = &c->series[s].points[i];

			*low = fmin(*low, p->cycles.est);
			*high = fmax(*high, p->cycles.est);
			reach_low = fmin(reach_low, p->cycles.lo);
			reach_high = fmax(reach_high, p->cycles.hi);
			c->left = fmin(c->left, p->place);
			c->right = fmax(c->right, p->place);
			c->least = fmin(c->least, p->x);
			c->most = fmax(c->most, p->x);
		}
	}
	most = INTERVALS_MOST * (*high - *low);
	/* that an interval reaches below 0 is worth no scale of its own */
	least = *low >= 0 ? 0 : -INFINITY;
	*low = fmax(fmin(*low, fmax(reach_low, *low - most)), least);
	*high = fmax(*high, fmin(reach_high, *high + most));
	return isfinite(*high - *low) && isfinite(c->right - c->left);
}

/* 1, 2 or 5 times a power of ten, not below x. */
static double round_step(double x)
{
	double power = pow(10, floor(log10(x)));

	for (int i = 0; i < 3; i++) {
		static const double steps[] = {1, 2, 5};

		if (steps[i] * power >= x * (1 - 1e-9))
			return steps[i] * power;
	}
	return 10 * power;
}

static void scale(struct chart *c, double low, double high)
{
	int ticks;

	if (low >= 0 && high - low >= FROM_ZERO * high)
		low = 0;
	if (!(high - low > 1e-6 * fabs(high))) { /* level: drawn in the middle */
		double room = fmax(fabs(high) * 0.05, 0.05);

		low -= room;
		high += room;
	}
	c->tick = round_step((high - low) / TICKS);
	c->bottom = c->tick * floor(low / c->tick + 1e-9);
	c->top = c->tick * ceil(high / c->tick - 1e-9);
	ticks = (int)lround((c->top - c->bottom) / c->tick);
	c->rows = ticks * (ticks >= STEPS ? 1 : STEPS / ticks) + 1;
	c->decimals = (int)fmin(fmax(-floor(log10(c->tick) + 1e-9), 0), 9);
}

static char *tick_label(const struct chart *c, int tick)
{
	double y = c->bottom + tick * c->tick + 0.0;

	return fmax(fabs(c->top), fabs(c->bottom)) < 1e9 ? memory_format("%.*f", c->decimals, y)
	                                                 : memory_format("%.3e", y);
}

static int tick_count(const struct chart *c)
{
	return (int)lround((c->top - c->bottom) / c->tick);
}

static void size(struct chart *c)
{
	int width = c->page->style.width;

	if (width > RENDER_CHART_MOST)
		width = RENDER_CHART_MOST;
	c->label = 1;
	for (int t = 0; t <= tick_count(c); t++) {
		char *text = tick_label(c, t);

		if ((int)strlen(text) > c->label)
			c->label = (int)strlen(text);
		free(text);
	}
	/* a blank, the axis, the plot; the last label may stand half behind it */
	c->columns = width - c->label - 2 - OVERHANG;
}

static int column_of(const struct chart *c, double place)
{
	if (!(c->right > c->left))
		return c->columns / 2;
	return (int)lround((place - c->left) / (c->right - c->left) * (c->columns - 1));
}

/* Values outside are at the edge. */
static int row_of(const struct chart *c, double y)
{
	double row = (c->top - y) / (c->top - c->bottom) * (c->rows - 1);

	return (int)lround(fmin(fmax(row, 0), c->rows - 1));
}

static void put_point(struct chart *c, const struct curve_point *p, size_t series)
{
	int column = column_of(c, p->place), row = row_of(c, p->cycles.est);
	struct cell *cell = &c->cells[row * c->columns + column];

	if (isfinite(p->cycles.lo) && isfinite(p->cycles.hi))
		for (int r = row_of(c, p->cycles.hi); r <= row_of(c, p->cycles.lo); r++)
			c->cells[r * c->columns + column].bar = true;
	if (!cell->marks)
		cell->series = (unsigned char)series;
	if (!cell->marks || cell->other != series)
		cell->marks++;
	cell->other = (unsigned char)series;
	c->crowded |= cell->marks > 1;
}

static void put_text(const struct chart *c, const char *sgr, const char *text)
{
	if (sgr)
		render_page_sgr(c->page, sgr);
	fputs(text, c->page->out);
	if (sgr)
		render_page_sgr(c->page, NULL);
}

static void print_cell(const struct chart *c, const struct cell *cell)
{
	if (cell->marks > 1)
		fprintf(c->page->out, "%d", cell->marks);
	else if (cell->marks)
		put_text(c, colors[cell->series], c->draw->marks[cell->series]);
	else
		put_text(c, NULL, cell->bar ? c->draw->bar : " ");
}

static void print_rows(const struct chart *c)
{
	int every = (c->rows - 1) / tick_count(c);

	for (int r = 0; r < c->rows; r++) {
		const struct cell *cells = &c->cells[r * c->columns];
		bool tick = r % every == 0;
		char *label = tick ? tick_label(c, (c->rows - 1 - r) / every) : memory_copy("");
		int end = c->columns;

		while (end > 0 && !cells[end - 1].marks && !cells[end - 1].bar)
			end--;
		fprintf(c->page->out, "%*s %s", c->label, label,
		        tick ? c->draw->up_tick : c->draw->up);
		free(label);
		for (int i = 0; i < end; i++)
			print_cell(c, &cells[i]);
		fputc('\n', c->page->out);
	}
}

/* "512", "8192", "16K", "3M": as short as it can be said. */
static void number_label(char out[static LABEL_MOST], double x)
{
	static const char units[] = "KMGT";
	char unit[2] = "";

	for (size_t i = 0; x >= (i ? 1024 : 10000) && fmod(x, 1024) <= 0 && units[i]; i++) {
		x /= 1024;
		unit[0] = units[i];
	}
	snprintf(out, LABEL_MOST, "%.6g%s", x, unit);
}

/* Labels of the horizontal axis: at powers of two, and at 0; at the ends where those do not say
 * enough. */
struct label {
	int column, at; /* of its tick; of its first character */
	char text[LABEL_MOST];
};

static void add_label(const struct chart *c, struct label *labels, size_t *n, double place,
                      double x)
{
	struct label *l = &labels[(*n)++];
	int width;

	number_label(l->text, x);
	width = (int)strlen(l->text);
	l->column = column_of(c, place);
	l->at = l->column - (width - 1) / 2;
	if (l->at + width > c->columns + OVERHANG)
		l->at = c->columns + OVERHANG - width;
	if (l->at < -2) /* of the vertical axis and the blank before it */
		l->at = -2;
}

/* Whether two blanks are between each and the next. */
static bool labels_fit(const struct label *labels, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (labels[i].at < labels[i - 1].at + (int)strlen(labels[i - 1].text) + 2)
			return false;
	return true;
}

static size_t labels_find(const struct chart *c, struct label labels[static 64])
{
	bool zero = !(c->least > 0);
	double first = ceil(c->left - 1e-9) + zero, last = floor(c->right + 1e-9);

	if (zero) /* its place is one below that of a number, which need not be a power of two */
		first = ceil(c->left + 1 - 1e-9);
	for (int every = 1; last - first >= every; every++) {
		size_t n = 0;

		if (zero)
			add_label(c, labels, &n, c->left, 0);
		for (double e = first; e <= last && n < 64; e += every)
			add_label(c, labels, &n, e, exp2(e));
		if (labels_fit(labels, n))
			return n;
	}
	size_t n = 0;

	add_label(c, labels, &n, c->left, c->least);
	if (c->right > c->left)
		add_label(c, labels, &n, c->right, c->most);
	return n;
}

static void print_axis(const struct chart *c)
{
	struct label labels[64];
	size_t n = labels_find(c, labels), next = 0;
	int at = 0;

	fprintf(c->page->out, "%*s %s", c->label, "", c->draw->corner);
	for (int i = 0; i < c->columns; i++) {
		bool tick = next < n && labels[next].column == i;

		put_text(c, NULL, tick ? c->draw->right_tick : c->draw->right);
		next += tick;
	}
	fputc('\n', c->page->out);
	for (size_t i = 0; i < n; i++)
		at += fprintf(c->page->out, "%*s%s", c->label + 2 + labels[i].at - at, "",
		              labels[i].text);
	fputc('\n', c->page->out);
}

static double place_of(const struct curve_series *s, double x)
{
	for (size_t i = 0; i < s->point_count; i++)
		if (!(s->points[i].x < x))
			return s->points[i].place;
	return s->points[0].place; /* cannot be: knees stand at points */
}

/* One line: where the knees of a series are. */
static void print_knees(const struct chart *c, size_t series)
{
	const struct curve_series *s = &c->series[series];
	const char **line;
	int end = 0;

	if (!s->knee_count)
		return;
	line = memory_get((size_t)c->columns * sizeof *line);
	for (size_t k = 0; k < s->knee_count; k++) {
		int from = column_of(c, place_of(s, s->knees[k].from));
		int to = column_of(c, place_of(s, s->knees[k].to));

		for (int i = from; i <= to; i++)
			line[i] = from == to  ? c->draw->knee
			          : i == from ? c->draw->knee_begin
			          : i == to   ? c->draw->knee_end
			                      : c->draw->knee_on;
		if (to >= end)
			end = to + 1;
	}
	fprintf(c->page->out, "%*s", c->label - 1, "");
	put_text(c, colors[series], c->draw->marks[series]);
	fputs("  ", c->page->out);
	for (int i = 0; i < end; i++)
		put_text(c, NULL, line[i] ? line[i] : " ");
	fputc('\n', c->page->out);
	free(line);
}

static void print_notes(const struct chart *c)
{
	char *bottom = tick_label(c, 0), *text = memory_copy(""), *more;

	if (c->crowded) {
		free(text);
		text = memory_copy("a digit: so many curves in one place");
	}
	if (c->bottom < 0 || c->bottom > 0) {
		more = memory_format("%s%sthe upright axis begins at %s, not at 0", text,
		                     *text ? " · " : "", bottom);
		free(text);
		text = more;
	}
	free(bottom);
	if (*text)
		render_page_say(c->page, 2, RENDER_PAGE_DIM, text);
	else
		free(text);
}

void render_chart_draw(const struct render_page *page, const struct curve_series *series, size_t n)
{
	struct chart c = {.page = page,
	                  .draw = &drawings[page->style.utf8],
	                  .series = series,
	                  .n = n < RENDER_CHART_SERIES ? n : RENDER_CHART_SERIES};
	double low, high;

	if (!measure(&c, &low, &high))
		return;
	scale(&c, low, high);
	size(&c);
	c.cells = memory_get((size_t)(c.rows * c.columns) * sizeof *c.cells);
	for (size_t s = 0; s < c.n; s++)
		for (size_t i = 0; i < series[s].point_count; i++)
			put_point(&c, &series[s].points[i], s);
	print_rows(&c);
	print_axis(&c);
	for (size_t s = 0; s < c.n; s++)
		print_knees(&c, s);
	free(c.cells);
	print_notes(&c);
}
