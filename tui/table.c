#include "tui/table.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

enum { SPAN_LEAST = 24 }; /* columns that a text across columns should have */

struct cell {
	char *text; /* NULL: empty */
	const char *sgr;
	int width, before; /* columns; of them before the decimal point */
};

struct row {
	struct cell *cells;
	char *span; /* NULL: none */
	size_t span_at;
};

/* What is known of a column once all cells are there. */
struct measure {
	bool used, shown;
	int before, after, width;
};

struct table {
	const struct render_page *page;
	const struct table_column *columns;
	size_t n;
	struct row *rows, head;
	size_t count, room;
	struct measure *measures;
	bool spans;      /* any row has one */
	bool cut;        /* they take one line */
	size_t spans_at; /* the last column where one begins */
};

static struct cell *cells_new(size_t n)
{
	return memory_get(n * sizeof(struct cell));
}

static void cell_put(const struct table *t, struct cell *cell, size_t column, const char *text)
{
	char *point;

	free(cell->text);
	cell->text = render_page_clean(t->page, text, false);
	cell->width = render_page_width(t->page, cell->text);
	if (t->columns[column].most && cell->width > t->columns[column].most) {
		const char *end = t->page->style.utf8 ? "…" : "...";
		int left = t->columns[column].most - render_page_width(t->page, end);
		size_t len = strlen(cell->text);

		/* From the end, a character at a time: what is left of a clean text is clean. */
		while (len > 0 && cell->width > left) {
			while (((unsigned char)cell->text[--len] & 0xc0) == 0x80)
				;
			cell->text[len] = 0;
			cell->width = render_page_width(t->page, cell->text);
		}
		cell->text = memory_grow(cell->text, len + strlen(end) + 1, 1);
		strcpy(cell->text + len, end);
		cell->width = render_page_width(t->page, cell->text);
	}
	point = strchr(cell->text, '.');
	cell->before = cell->width;
	if (point)
		cell->before -= render_page_width(t->page, point);
}

struct table *table_new(const struct render_page *page, const struct table_column *columns,
                        size_t n)
{
	struct table *t = memory_get(sizeof *t);

	t->page = page;
	t->columns = columns;
	t->n = n;
	t->measures = memory_get(n * sizeof *t->measures);
	t->head.cells = cells_new(n);
	for (size_t i = 0; i < n; i++)
		cell_put(t, &t->head.cells[i], i, columns[i].head);
	return t;
}

static void row_free(const struct table *t, struct row *row)
{
	for (size_t i = 0; i < t->n; i++)
		free(row->cells[i].text);
	free(row->cells);
	free(row->span);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		row_free(t, &t->rows[i]);
	row_free(t, &t->head);
	free(t->rows);
	free(t->measures);
	free(t);
}

void table_row_begin(struct table *t)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->rows = memory_grow(t->rows, t->room, sizeof *t->rows);
	}
	t->rows[t->count++] = (struct row){.cells = cells_new(t->n)};
}

void table_cell_set(struct table *t, size_t column, const char *text)
{
	cell_put(t, &t->rows[t->count - 1].cells[column], column, text);
}

void table_cell_sgr(struct table *t, size_t column, const char *sgr)
{
	t->rows[t->count - 1].cells[column].sgr = sgr;
}

void table_span_set(struct table *t, size_t column, const char *text)
{
	struct row *row = &t->rows[t->count - 1];

	free(row->span);
	row->span = memory_copy(text);
	row->span_at = column;
	if (!t->spans || column > t->spans_at)
		t->spans_at = column;
	t->spans = true;
}

void table_spans_cut(struct table *t)
{
	t->cut = true;
}

static void measure_cell(struct measure *m, const struct cell *cell, enum table_align align)
{
	int after = cell->width - cell->before;

	m->used = true;
	if (align != TABLE_POINT) {
		m->width = cell->width > m->width ? cell->width : m->width;
		return;
	}
	m->before = cell->before > m->before ? cell->before : m->before;
	m->after = after > m->after ? after : m->after;
	m->width = m->before + m->after > m->width ? m->before + m->after : m->width;
}

/* What the shown columns before `end` take, with the gap before `end`. */
static int width_before(const struct table *t, size_t end)
{
	int width = 0;

	for (size_t i = 0; i < end; i++)
		if (t->measures[i].shown)
			width += (width ? t->columns[i].gap : 0) + t->measures[i].width;
	return width + (width && end < t->n ? t->columns[end].gap : 0);
}

static bool fits(const struct table *t)
{
	int width = t->page->style.width;

	return width_before(t, t->n) <= width &&
	       (!t->spans || width_before(t, t->spans_at) + SPAN_LEAST <= width);
}

static void measure_column(struct table *t, size_t column)
{
	struct measure *m = &t->measures[column];

	*m = (struct measure){0};
	for (size_t r = 0; r < t->count; r++) {
		const struct row *row = &t->rows[r];
		const struct cell *cell = &row->cells[column];

		if (row->span && column >= row->span_at)
			m->used |= column == row->span_at;
		else if (cell->text && *cell->text)
			measure_cell(m, cell, t->columns[column].align);
	}
	if (t->head.cells[column].width > m->width)
		m->width = t->head.cells[column].width;
	m->shown = m->used;
}

/* Measures every column, then leaves out the most dispensable until the rest fits. */
static void measure_all(struct table *t)
{
	int most = 0;

	for (size_t i = 0; i < t->n; i++) {
		measure_column(t, i);
		if (t->columns[i].drop > most)
			most = t->columns[i].drop;
	}
	for (; most > 0 && !fits(t); most--)
		for (size_t i = 0; i < t->n; i++)
			if (t->columns[i].drop == most)
				t->measures[i].shown = false;
}

/* Columns from the start of a cell's column to the start of its text. */
static int cell_lead(const struct table *t, const struct row *row, size_t column)
{
	const struct measure *m = &t->measures[column];
	const struct cell *cell = &row->cells[column];

	switch (t->columns[column].align) {
	case TABLE_LEFT:
		return 0;
	case TABLE_RIGHT:
		return m->width - cell->width;
	case TABLE_POINT:
		/* The heading is no number. */
		if (row == &t->head)
			return m->width - cell->width;
		return m->width - m->after - cell->before;
	}
	return 0;
}

/* The text as far as there is room. */
static void span_cut(const struct render_page *page, int start, const char *span)
{
	char *text = render_page_clean(page, span, false);
	size_t len = strlen(text);

	while (len > 0 && start + render_page_width(page, text) > page->style.width) {
		while (((unsigned char)text[--len] & 0xc0) == 0x80)
			;
		text[len] = '\0';
	}
	fprintf(page->out, "%s\n", text);
	free(text);
}

static void row_print(const struct table *t, const struct row *row)
{
	const struct render_page *page = t->page;
	int at = 0;    /* where the cursor is */
	int start = 0; /* where the next column begins, its gap not counted */

	for (size_t i = 0; i < t->n; i++) {
		const struct measure *m = &t->measures[i];
		const struct cell *cell = &row->cells[i];
		int lead;

		if (row->span && i >= row->span_at)
			break;
		if (!m->shown)
			continue;
		start += start ? t->columns[i].gap : 0;
		if (cell->text && *cell->text) {
			lead = start + cell_lead(t, row, i) - at;
			fprintf(page->out, "%*s", lead, "");
			if (cell->sgr)
				render_page_sgr(page, cell->sgr);
			fputs(cell->text, page->out);
			if (cell->sgr)
				render_page_sgr(page, NULL);
			at += lead + cell->width;
		}
		start += m->width;
	}
	if (row->span) {
		start = width_before(t, row->span_at);
		fprintf(page->out, "%*s", start - at, "");
		if (t->cut) {
			span_cut(page, start, row->span);
			return;
		}
		render_page_wrap(page, start, start, row->span);
		return;
	}
	fputc('\n', page->out);
}

void table_print(struct table *t)
{
	bool headed = false;

	measure_all(t);
	for (size_t i = 0; i < t->n && !headed; i++)
		headed = t->measures[i].shown && t->head.cells[i].width > 0;
	if (headed)
		row_print(t, &t->head);
	for (size_t i = 0; i < t->count; i++)
		row_print(t, &t->rows[i]);
}

bool table_column_dropped(const struct table *t, size_t column)
{
	return t->measures[column].used && !t->measures[column].shown;
}

bool table_column_shown(const struct table *t, size_t column)
{
	return t->measures[column].shown;
}
