#include "tui/wb_pane.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_text.h"
#include "tui/wb.h"
#include "tui/wb_text.h"

/* The table is written by the renderer that batch uses, a line a row, and drawn from there. */
static struct {
	struct wb_text table; /* the heading, then a line for each row of the order */
	unsigned version;
	size_t top;
	int rows;
} view;

static void write_table(const struct wb_results *r, int width)
{
	struct render_style style = wb_draw_style(width);
	struct render_page page = render_page_on(&style, wb_text_begin(&view.table));

	render_text_rows(&page, wb_results_run(r), r->order, r->order_count);
	wb_text_end(&view.table);
	view.version = r->version;
	view.table.width = width;
}

static void keep_in_sight(const struct wb_results *r, int rows)
{
	size_t room = rows > 0 ? (size_t)rows : 1;

	view.rows = rows;
	if (r->selected < view.top)
		view.top = r->selected;
	if (r->selected >= view.top + room)
		view.top = r->selected - room + 1;
	if (view.top + room > r->order_count)
		view.top = r->order_count > room ? r->order_count - room : 0;
}

static void draw_rows(const struct wb_results *r, const struct wb_area *a)
{
	keep_in_sight(r, a->h);
	for (int y = 0; y < a->h && view.top + (size_t)y < r->order_count; y++) {
		size_t i = view.top + (size_t)y;
		bool here = i == r->selected;
		enum wb_style s = here && a->focused ? WB_SELECTED : WB_PLAIN;

		if (here && a->focused)
			wb_draw_blank(a, y, s);
		if (here)
			wb_draw_text(a, y, 0, s, wb_draw_glyph(WB_MARK));
		if (i + 1 < view.table.count)
			wb_draw_rich(a, y, 2, s, view.table.lines[i + 1], 0);
		if (here)
			wb_draw_cursor(a, y, 0);
	}
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	const struct wb_results *r = &wb->model.results;
	struct wb_area rows = *a;

	if (!wb_results_run(r)) {
		wb_draw_text(a, a->h > 3 ? 1 : 0, 3, WB_FAINT,
		             "no run yet: F5 or r runs what is composed, F7 or a opens one that is "
		             "kept");
		return;
	}
	if (view.version != r->version || view.table.width != a->w - 2)
		write_table(r, a->w - 2);
	if (r->order_count == 0) {
		wb_draw_text(a, 0, 3, WB_WARN, "the filter leaves no row; :filter shows all");
		return;
	}
	if (a->h > 1) {
		wb_draw_rich(a, 0, 2, WB_FAINT, view.table.count ? view.table.lines[0] : "", 0);
		rows.y++;
		rows.h--;
	}
	draw_rows(r, &rows);
}

/* "4 of 12 rows, sorted by cycles" where that needs to be said. */
static char *order_text(const struct wb_results *r, const struct result_run *run)
{
	const char *dot = wb_draw_glyph(WB_DOT);
	char *rows =
	        r->order_count != run->row_count
	                ? memory_format(" %s %zu of %zu rows", dot, r->order_count, run->row_count)
	                : memory_copy("");
	char *sorted = r->sort != WB_SORT_MEASURED || r->down
	                       ? memory_format(" %s by %s%s", dot, wb_sort_name[r->sort],
	                                       r->down ? ", down" : "")
	                       : memory_copy("");
	char *text = memory_format("%s%s", rows, sorted);

	free(rows);
	free(sorted);
	return text;
}

static char *title(struct wb *wb, int width)
{
	const struct wb_results *r = &wb->model.results;
	const struct result_run *run = wb_results_run(r);
	const char *dot = wb_draw_glyph(WB_DOT);
	char *order, *text;

	(void)width;
	if (!run)
		return memory_copy("Results");
	order = order_text(r, run);
	if (r->live)
		text = memory_format("%s %s measuring %s %zu placements%s", run->experiment, dot,
		                     dot, render_text_placements(run), order);
	else
		text = memory_format("%s%s %s %s %s %s %s %zu placements %s %.2f s%s",
		                     run->id[0] ? "run " : "not kept", run->id, dot,
		                     run->experiment, dot,
		                     run->trusted     ? run->cut_short ? "cut short" : "trusted"
		                     : run->cut_short ? "NOT TRUSTED, cut short"
		                                      : "NOT TRUSTED",
		                     dot, render_text_placements(run), dot, run->seconds, order);
	free(order);
	return text;
}

static int want(struct wb *wb, int width)
{
	const struct result_run *run = wb_results_run(&wb->model.results);

	(void)width;
	return run ? (int)run->row_count + 1 : 3;
}

static void go(struct wb_results *r, long to)
{
	long last = (long)r->order_count - 1;

	to = to > last ? last : to;
	r->selected = to < 0 ? 0 : (size_t)to;
}

static bool act(struct wb *wb, enum wb_action action)
{
	struct wb_results *r = &wb->model.results;
	long page = view.rows > 1 ? view.rows - 1 : 1, at = (long)r->selected;

	switch (action) {
	case WB_UP:
		go(r, at - 1);
		return true;
	case WB_DOWN:
		go(r, at + 1);
		return true;
	case WB_PAGE_UP:
		go(r, at - page);
		return true;
	case WB_PAGE_DOWN:
		go(r, at + page);
		return true;
	case WB_HOME:
		go(r, 0);
		return true;
	case WB_END:
		go(r, (long)r->order_count);
		return true;
	case WB_ENTER:
		wb_show(wb, &pane_detail);
		return true;
	default:
		return false;
	}
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)x;
	if (y >= 1)
		go(&wb->model.results, (long)view.top + y - 1);
	if (twice)
		wb_show(wb, &pane_detail);
}

static bool find(struct wb *wb, const char *text, int step)
{
	struct wb_results *r = &wb->model.results;
	const struct result_run *run = wb_results_run(r);

	for (size_t k = 1; run && k <= r->order_count; k++) {
		size_t n = r->order_count;
		size_t i = step > 0 ? (r->selected + k) % n : (r->selected + n - k) % n;
		const struct result_row *row = &run->rows[r->order[i]];

		if (strcasestr(row->label, text) ||
		    (row->reason && strcasestr(row->reason, text))) {
			r->selected = i;
			return true;
		}
	}
	return false;
}

static void close_results(void)
{
	wb_text_free(&view.table);
}

const struct wb_pane pane_results = {
        .name = "results",
        .help = "The rows of the run that is on, or of the one shown last, with their intervals. "
                "* is a base; Enter shows the row in the detail.",
        .place = WB_MIDDLE,
        .title = title,
        .want = want,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .close = close_results,
};
