#include "tui/wb_pane.h"

#include <string.h>

#include "tui/memory.h"
#include "tui/wb.h"

/* The experiments, with a line for each group in front of its own. */
static struct {
	size_t at;  /* the experiment the cursor is on */
	size_t top; /* the first line shown */
	int rows;
} list;

static bool group_begins(const struct wb_model *m, size_t i)
{
	return i == 0 || strcmp(wb_model_group(m->experiments.items[i - 1]),
	                        wb_model_group(m->experiments.items[i])) != 0;
}

/* The line that experiment i stands on. */
static size_t line_of(const struct wb_model *m, size_t i)
{
	size_t line = 0;

	for (size_t k = 0; k <= i; k++)
		line += 1 + group_begins(m, k);
	return line - 1;
}

static void keep_in_sight(const struct wb_model *m, int rows)
{
	size_t n = m->experiments.count, room = rows > 0 ? (size_t)rows : 1, line, above;

	if (n == 0)
		return;
	if (list.at >= n)
		list.at = n - 1;
	line = line_of(m, list.at);
	above = line - group_begins(m, list.at);
	list.rows = rows;
	if (above < list.top)
		list.top = above;
	if (line >= list.top + room)
		list.top = line - room + 1;
}

static void draw_line(struct wb *wb, const struct wb_area *a, int y, size_t i)
{
	const struct experiment *x = wb->model.experiments.items[i];
	bool here = i == list.at, composed = x == wb->model.compose.experiment;
	bool wide = a->w > 40;
	enum wb_style s = here && a->focused ? WB_SELECTED : composed ? WB_STRONG : WB_PLAIN;

	if (here && a->focused)
		wb_draw_blank(a, y, s);
	if (composed)
		wb_draw_text(a, y, 1, s, wb_draw_glyph(WB_MARK));
	wb_draw_text(a, y, 3, s, x->name);
	if (wide)
		wb_draw_text(a, y, 18, s == WB_SELECTED ? s : WB_FAINT, x->title);
	if (here)
		wb_draw_cursor(a, y, 1);
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	const struct wb_model *m = &wb->model;
	size_t line = 0;

	if (m->experiments.count == 0)
		wb_draw_text(a, 0, 1, WB_WARN, "no experiments found");
	keep_in_sight(m, a->h);
	for (size_t i = 0; i < m->experiments.count; i++) {
		if (group_begins(m, i) && line++ >= list.top)
			wb_draw_text(a, (int)(line - 1 - list.top), 1, WB_FAINT,
			             wb_model_group(m->experiments.items[i]));
		if (line++ >= list.top)
			draw_line(wb, a, (int)(line - 1 - list.top), i);
	}
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	return memory_copy("Experiments");
}

static int want(struct wb *wb, int width)
{
	(void)width;
	return wb->model.experiments.count
	               ? (int)line_of(&wb->model, wb->model.experiments.count - 1) + 1
	               : 1;
}

static void compose(struct wb *wb)
{
	if (list.at < wb->model.experiments.count)
		wb_command_format(wb, "compose %s", wb->model.experiments.items[list.at]->name);
}

static bool act(struct wb *wb, enum wb_action action)
{
	size_t last = wb->model.experiments.count ? wb->model.experiments.count - 1 : 0;
	size_t page = list.rows > 1 ? (size_t)list.rows - 1 : 1;

	switch (action) {
	case WB_UP:
		list.at -= list.at > 0;
		return true;
	case WB_DOWN:
		list.at += list.at < last;
		return true;
	case WB_PAGE_UP:
		list.at = list.at > page ? list.at - page : 0;
		return true;
	case WB_PAGE_DOWN:
		list.at = list.at + page < last ? list.at + page : last;
		return true;
	case WB_HOME:
		list.at = 0;
		return true;
	case WB_END:
		list.at = last;
		return true;
	case WB_ENTER:
	case WB_TOGGLE:
	case WB_RIGHT:
		compose(wb);
		wb_show(wb, &pane_compose);
		return true;
	default:
		return false;
	}
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)x;
	for (size_t i = 0; i < wb->model.experiments.count; i++) {
		if (line_of(&wb->model, i) != list.top + (size_t)y)
			continue;
		list.at = i;
		compose(wb);
		if (twice)
			wb_show(wb, &pane_compose);
	}
}

static bool find(struct wb *wb, const char *text, int step)
{
	size_t n = wb->model.experiments.count;

	for (size_t k = 1; k <= n; k++) {
		size_t i = step > 0 ? (list.at + k) % n : (list.at + n - k) % n;
		const struct experiment *x = wb->model.experiments.items[i];

		if (strcasestr(x->name, text) || strcasestr(x->title, text) ||
		    strcasestr(wb_model_group(x), text)) {
			list.at = i;
			return true;
		}
	}
	return false;
}

/* The cursor begins where what is composed stands. */
static void open_experiments(struct wb *wb)
{
	for (size_t i = 0; i < wb->model.experiments.count; i++) {
		if (wb->model.experiments.items[i] == wb->model.compose.experiment)
			list.at = i;
	}
}

const struct wb_pane pane_experiments = {
        .name = "experiments",
        .help = "The experiments by group. Enter composes the selected one.",
        .place = WB_SIDE,
        .title = title,
        .want = want,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .open = open_experiments,
};
