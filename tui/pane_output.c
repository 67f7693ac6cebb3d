#include "tui/pane_output.h"

#include <stdlib.h>

#include "tui/memory.h"
#include "tui/wb.h"
#include "tui/wb_pane.h"
#include "tui/wb_text.h"

static struct wb_text text;
static char *heading;

void pane_output_set(const char *title, const char *printed)
{
	free(heading);
	heading = memory_copy(title);
	fputs(printed, wb_text_begin(&text));
	wb_text_end(&text);
	text.at = text.top = 0;
	text.left = 0;
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	(void)wb;
	wb_text_draw(&text, a);
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	return memory_format(":%s", heading ? heading : "");
}

static bool act(struct wb *wb, enum wb_action action)
{
	if (action == WB_ENTER) {
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

static void close_output(void)
{
	wb_text_free(&text);
	free(heading);
	heading = NULL;
}

const struct wb_pane pane_output = {
        .name = "output",
        .help = "What the last command printed that has no pane of its own.",
        .place = WB_WHOLE,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .close = close_output,
};
