#include "tui/wb_pane.h"

#include "tui/memory.h"
#include "tui/render.h"
#include "tui/wb.h"
#include "tui/wb_text.h"

static struct wb_text text;

static void draw(struct wb *wb, const struct wb_area *a)
{
	const struct wb_model *m = &wb->model;

	if (text.width != a->w || !text.count) {
		struct render_style style = wb_draw_style(a->w - 2);

		render_host(m->host_json, m->advice, m->advice_count, RENDER_TEXT, &style,
		            wb_text_begin(&text));
		wb_text_end(&text);
		text.width = a->w;
	}
	wb_text_draw(&text, a);
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	return memory_copy("Host: what was found, and what would make results better");
}

static bool act(struct wb *wb, enum wb_action action)
{
	(void)wb;
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

/* It may have been looked at again. */
static void open_host(struct wb *wb)
{
	(void)wb;
	text.width = 0;
}

static void close_host(void)
{
	wb_text_free(&text);
}

const struct wb_pane pane_host = {
        .name = "host",
        .help = "This machine: what was found, and what would make results better, each with the "
                "command that changes it.",
        .place = WB_WHOLE,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .open = open_host,
        .close = close_host,
};
