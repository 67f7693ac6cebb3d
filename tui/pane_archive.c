#include "tui/wb_pane.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/archive.h"
#include "tui/command_archive.h"
#include "tui/memory.h"
#include "tui/render.h"
#include "tui/wb.h"
#include "tui/wb_text.h"

enum {
	RUNS_READ = 2000, /* older ones are listed by the command `list runs` */
	LINE_MOST = 1000,
};

/* The newest runs, and the renderer's list of them: a heading, then a line each. */
static struct {
	struct archive_entry *entries;
	size_t count;
	char *why; /* there are none, or NULL */
	struct wb_text list;
	int64_t base; /* the run others are compared with; 0: none */
} runs;

static char *copy_or_null(const char *s)
{
	return s ? memory_copy(s) : NULL;
}

static int entry_add(const struct archive_entry *e, void *ctx)
{
	struct archive_entry *copy;

	(void)ctx;
	if (runs.count % 256 == 0)
		runs.entries = memory_grow(runs.entries, runs.count + 256, sizeof(*runs.entries));
	copy = &runs.entries[runs.count++];
	*copy = *e;
	copy->started = copy_or_null(e->started);
	copy->experiment = copy_or_null(e->experiment);
	copy->command = copy_or_null(e->command);
	copy->verdict = copy_or_null(e->verdict);
	copy->host = copy_or_null(e->host);
	return 0;
}

static void runs_free(void)
{
	for (size_t i = 0; i < runs.count; i++)
		archive_entry_free(&runs.entries[i]);
	free(runs.entries);
	free(runs.why);
	runs.entries = NULL;
	runs.why = NULL;
	runs.count = 0;
	runs.list.width = 0;
}

static void open_archive(struct wb *wb)
{
	struct archive *a = NULL;
	struct error err = {0};
	char *path = NULL;

	runs_free();
	if (command_archive_path(&wb->session->defaults, &path, &err) == ERROR_NONE &&
	    archive_open(path, false, &a, &err) == ERROR_NONE)
		archive_each(a, NULL, RUNS_READ, entry_add, NULL, &err);
	archive_close(a);
	free(path);
	if (!runs.count)
		runs.why = memory_copy(err.text[0] ? err.text : "no run has been kept yet");
}

static void close_archive(void)
{
	runs_free();
	wb_text_free(&runs.list);
}

static void write_list(int width)
{
	/* A line a run: what does not fit is reached sideways. */
	struct render_style style = wb_draw_style(LINE_MOST);

	render_runs(runs.entries, runs.count, RENDER_TEXT, &style, wb_text_begin(&runs.list));
	wb_text_end(&runs.list);
	runs.list.width = width;
	if (runs.list.at == 0)
		runs.list.at = 1; /* the heading is no run */
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	(void)wb;
	if (runs.why) {
		wb_draw_text(a, 0, 1, WB_FAINT, runs.why);
		return;
	}
	if (runs.list.width != a->w)
		write_list(a->w);
	wb_text_draw(&runs.list, a);
}

static const struct archive_entry *selected(void)
{
	size_t i = runs.list.at;

	return i >= 1 && i - 1 < runs.count ? &runs.entries[i - 1] : NULL;
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	if (runs.base)
		return memory_format(
		        "Archive: Enter opens, r repeats, b compares with run %" PRId64, runs.base);
	return memory_copy("Archive: Enter opens, r repeats, b makes it the base to compare with");
}

static void repeat(struct wb *wb, const struct archive_entry *e)
{
	char *command = memory_copy(e->command);

	wb_show(wb, &pane_results);
	wb_command(wb, command);
	free(command);
}

/* The first b says which run is the base, the next one compares. */
static void base(struct wb *wb, const struct archive_entry *e)
{
	int64_t with = runs.base;

	if (!with) {
		runs.base = e->id;
		wb_say(wb, WB_GOOD, "base: run %" PRId64 "; b on another run compares", e->id);
		return;
	}
	runs.base = 0;
	if (with == e->id)
		wb_say(wb, WB_PLAIN, "no base");
	else
		wb_command_format(wb, "compare %" PRId64 " %" PRId64, with, e->id);
}

static bool act(struct wb *wb, enum wb_action action)
{
	const struct archive_entry *e = selected();

	switch (e ? action : WB_NONE) {
	case WB_ENTER:
		wb_command_format(wb, "show %" PRId64, e->id);
		wb_show(wb, &pane_results);
		return true;
	case WB_RUN:
		repeat(wb, e);
		return true;
	case WB_BASE:
		base(wb, e);
		return true;
	default:
		return wb_text_act(&runs.list, action);
	}
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)x;
	wb_text_click(&runs.list, y);
	if (twice)
		act(wb, WB_ENTER);
}

static bool find(struct wb *wb, const char *what, int step)
{
	(void)wb;
	return wb_text_find(&runs.list, what, step);
}

const struct wb_pane pane_archive = {
        .name = "archive",
        .help = "The runs that are kept, newest first. Enter opens one, r repeats it, b makes it "
                "the base to compare another one with.",
        .place = WB_WHOLE,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .open = open_archive,
        .close = close_archive,
};
