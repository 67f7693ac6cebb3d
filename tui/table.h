/* table: columns that line up, at the decimal point where there is one, within a width.
 *
 * Columns whose cells are all empty are not shown. A table that is too wide leaves out columns,
 * those with the highest `drop` first. A text too long for cells spans the columns behind it and
 * wraps under itself. */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include <stddef.h>

#include "tui/render_page.h"

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_POINT, /* at the decimal point; the heading ends where the figures end */
};

struct table_column {
	const char *head;
	enum table_align align;
	int gap;  /* spaces before it (none before the first shown) */
	int drop; /* 0: never left out. Columns with the same number go together */
	int most; /* 0, or the columns a cell may take: longer ones are cut and end in "…" */
};

struct table;

/* columns and page must live as long as the table. */
struct table *table_new(const struct render_page *page, const struct table_column *columns,
                        size_t n);
void table_free(struct table *t);

/* Begins a row; what follows goes there. */
void table_row_begin(struct table *t);
void table_cell_set(struct table *t, size_t column, const char *text);

/* How a page with colour shows that cell; sgr must live as long as the table. */
void table_cell_sgr(struct table *t, size_t column, const char *sgr);

/* In place of this column's cell and all behind it. */
void table_span_set(struct table *t, size_t column, const char *text);

/* Texts across columns are cut at the width from now on, and take one line. */
void table_spans_cut(struct table *t);

/* Writes the heading (if it has any word) and the rows, every line without blanks at its end. */
void table_print(struct table *t);

/* After table_print: whether a column that has something to show was left out, and whether it was
 * shown. */
bool table_column_dropped(const struct table *t, size_t column);
bool table_column_shown(const struct table *t, size_t column);

#endif
