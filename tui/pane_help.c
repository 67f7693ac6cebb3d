#include "tui/wb_pane.h"

#include <stdlib.h>

#include "tui/memory.h"
#include "tui/render_page.h"
#include "tui/wb.h"
#include "tui/wb_tab.h"
#include "tui/wb_text.h"

enum { NAMES = 16 };

static struct wb_text text;

static void item(const struct render_page *page, const char *name, const char *help)
{
	fprintf(page->out, "  %-*s", NAMES - 2, name);
	render_page_wrap(page, NAMES, NAMES, help);
}

static void write_help(const struct render_page *page)
{
	render_page_say(page, 0, RENDER_PAGE_BOLD, memory_copy("Keys"));
	for (size_t i = 0; i < wb_key_count; i++) {
		char *names = wb_keys_names(&wb_key_table[i]);

		item(page, names, wb_key_table[i].help);
		free(names);
	}
	fputc('\n', page->out);
	render_page_say(page, 0, RENDER_PAGE_BOLD, memory_copy("Panes and screens (:view NAME)"));
	for (size_t i = 0; i < wb_pane_count; i++)
		item(page, wb_panes[i]->name, wb_panes[i]->help);
	fputc('\n', page->out);
	render_page_say(page, 0, RENDER_PAGE_BOLD, memory_copy("Tabs of the detail (:view NAME)"));
	for (size_t i = 0; i < wb_tab_count; i++)
		item(page, wb_tabs[i]->name, wb_tabs[i]->help);
	fputc('\n', page->out);
	render_page_say(page, 0, RENDER_PAGE_BOLD,
	                memory_copy("Commands (:help COMMAND tells more)"));
	for (size_t i = 0; i < command_count; i++)
		item(page, command_table[i].name, command_table[i].help);
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	(void)wb;
	if (text.width != a->w || !text.count) {
		struct render_style style = wb_draw_style(a->w - 2 < 100 ? a->w - 2 : 100);
		struct render_page page = render_page_on(&style, wb_text_begin(&text));

		write_help(&page);
		wb_text_end(&text);
		text.width = a->w;
	}
	wb_text_draw(&text, a);
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	return memory_copy("Help: Esc goes back, / searches");
}

static bool act(struct wb *wb, enum wb_action action)
{
	if (action == WB_HELP) {
		wb_show(wb, wb->part);
		return true;
	}
	return wb_text_act(&text, action);
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)wb;
	(void)x;
	(void)twice;
	wb_text_click(&text, y);
}

static bool find(struct wb *wb, const char *what, int step)
{
	(void)wb;
	return wb_text_find(&text, what, step);
}

static void close_help(void)
{
	wb_text_free(&text);
}

const struct wb_pane pane_help = {
        .name = "help",
        .help = "The keys, the panes and the commands.",
        .place = WB_WHOLE,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .close = close_help,
};
