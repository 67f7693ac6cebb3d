#include "tui/wb_pane.h"

#include <string.h>

#include "tui/memory.h"
#include "tui/wb.h"
#include "tui/wb_tab.h"
#include "tui/wb_text.h"

static struct {
	size_t tab;
	struct wb_text text;
	size_t written; /* the tab that stands there; wb_tab_count: none */
	int height;
	int heads[16]; /* columns where the names of the tabs begin */
} detail = {.written = 16};

static void write_text(struct wb *wb, const struct wb_area *a)
{
	const struct wb_tab *tab = wb_tabs[detail.tab];
	unsigned long key = tab->key(wb);
	struct render_style style = wb_draw_style(a->w - 2);
	struct render_page page;
	bool other = detail.written != detail.tab;

	if (!other && detail.text.key == key && detail.text.width == a->w && detail.height == a->h)
		return;
	page = render_page_on(&style, wb_text_begin(&detail.text));
	tab->write(wb, &page, a->h);
	wb_text_end(&detail.text);
	if (other)
		detail.text.left = 0;
	if (tab->at_end)
		detail.text.at = detail.text.count ? detail.text.count - 1 : 0;
	else if (other)
		detail.text.at = detail.text.top = 0;
	detail.text.key = key;
	detail.text.width = a->w;
	detail.height = a->h;
	detail.written = detail.tab;
}

static int heads_width(int gap)
{
	int w = 0;

	for (size_t i = 0; i < wb_tab_count; i++)
		w += gap + wb_draw_width(wb_tabs[i]->title);
	return w + 1;
}

/* The brackets stand in the gaps, so that names stay where they are. */
static void draw_heads(const struct wb_area *a)
{
	int x = 0, gap = heads_width(2) <= a->w ? 2 : 1;

	for (size_t i = 0; i < wb_tab_count; i++) {
		bool here = i == detail.tab;
		int name = x + gap;

		detail.heads[i] = x;
		x = name + wb_draw_text(a, 0, name, here ? WB_STRONG : WB_FAINT, wb_tabs[i]->title);
		if (here) {
			wb_draw_text(a, 0, name - 1, WB_STRONG, "[");
			wb_draw_text(a, 0, x, WB_STRONG, "]");
		}
	}
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	struct wb_area text = *a;

	if (a->h >= 3) {
		draw_heads(a);
		text.y++;
		text.h--;
	}
	write_text(wb, &text);
	wb_text_draw(&detail.text, &text);
}

static char *title(struct wb *wb, int width)
{
	const struct result_row *row = wb_results_row(&wb->model.results, NULL);

	(void)width;
	return row ? memory_format("Detail: %s", row->label) : memory_copy("Detail");
}

static bool act(struct wb *wb, enum wb_action action)
{
	if (action == WB_TAB_BACK || action == WB_TAB_ON) {
		detail.tab =
		        (detail.tab + (action == WB_TAB_ON ? 1 : wb_tab_count - 1)) % wb_tab_count;
		wb_say(wb, WB_PLAIN, "%s", wb_tabs[detail.tab]->help);
		return true;
	}
	return wb_text_act(&detail.text, action);
}

bool pane_detail_show(struct wb *wb, const char *tab)
{
	for (size_t i = 0; i < wb_tab_count; i++) {
		if (strcmp(wb_tabs[i]->name, tab) != 0)
			continue;
		detail.tab = i;
		wb_show(wb, &pane_detail);
		return true;
	}
	return false;
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)wb;
	(void)twice;
	if (y > 0)
		wb_text_click(&detail.text, y - 1);
	for (size_t i = wb_tab_count; y == 0 && i-- > 0;) {
		if (x >= detail.heads[i]) {
			detail.tab = i;
			return;
		}
	}
}

static bool find(struct wb *wb, const char *text, int step)
{
	(void)wb;
	return wb_text_find(&detail.text, text, step);
}

static void close_detail(void)
{
	wb_text_free(&detail.text);
}

const struct wb_pane pane_detail = {
        .name = "detail",
        .help = "The selected row in depth, the run's checks, the claims it bears on, and the log "
                "of commands, each in a tab: [ and ] go from one to the next.",
        .place = WB_BOTTOM,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .close = close_detail,
};
