#include "tui/wb_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curses.h>

#include "tui/memory.h"
#include "tui/render_host.h"
#include "tui/wb_line.h"

enum {
	PROGRESS_WIDTH = 20,
	PROGRESS_FROM = 60, /* columns of screen from which there is room for a bar */
	BAR_WORDS = 16,
	BAR_GAP = 3,
};

const struct wb_pane *wb_frame_part(enum wb_place place)
{
	for (size_t i = 0; i < wb_pane_count; i++) {
		if (wb_panes[i]->place == place)
			return wb_panes[i];
	}
	return NULL;
}

static void draw_host(struct wb *wb, int y)
{
	struct wb_area a = {y, 0, 1, COLS, false};
	char *host = render_host_line(wb->model.host_json, wb->model.host.cpu);
	size_t n = wb->model.advice_count;
	int x = wb_draw_text(&a, 0, 1, WB_STRONG, "entrylab") + 3;
	char *advice = n ? memory_format("%zu hint%s: F9", n, n == 1 ? "" : "s") : memory_copy("");
	int at = COLS - wb_draw_width(advice) - 1;
	struct wb_area left = {y, 0, 1, at > x + 20 ? at - 1 : COLS, false};

	wb_draw_text(&left, 0, x, WB_PLAIN, host);
	if (at > x + 20)
		wb_draw_text(&a, 0, at, WB_WARN, advice);
	free(advice);
	free(host);
}

/* "── Results · run 14 ──────" */
static void draw_title(struct wb *wb, const struct wb_pane *p, const struct wb_box *box)
{
	struct wb_area a = {box->y, box->x, 1, box->w, false};
	bool focused = wb->focus == p;
	char *title = p->title ? p->title(wb, box->w > 6 ? box->w - 6 : 1) : NULL;
	int x = 3;

	wb_draw_line(&a, 0, 0, box->w, WB_FAINT, WB_HLINE);
	if (focused)
		wb_draw_text(&a, 0, 1, WB_TITLE, wb_draw_glyph(WB_MARK));
	if (title) {
		wb_draw_text(&a, 0, x - 1, WB_PLAIN, " ");
		x += wb_draw_text(&a, 0, x, focused ? WB_TITLE : WB_PLAIN, title);
		wb_draw_text(&a, 0, x, WB_PLAIN, " ");
	}
	free(title);
}

static struct wb_area area_of(struct wb *wb, const struct wb_pane *p, const struct wb_box *box)
{
	bool keys = wb->focus == p && !wb_line_is_open();

	return (struct wb_area){box->y + 1, box->x, box->h - 1, box->w, keys};
}

static void draw_pane(struct wb *wb, const struct wb_pane *p, const struct wb_box *box)
{
	struct wb_area a = area_of(wb, p, box);

	if (box->h <= 0)
		return;
	/* With a single line there is no room for a title. */
	if (box->h == 1) {
		a.y = box->y;
		a.h = 1;
	} else {
		draw_title(wb, p, box);
	}
	p->draw(wb, &a);
}

static void draw_body(struct wb *wb)
{
	int want[WB_PLACES] = {0};

	for (int i = 0; i < WB_PLACES; i++) {
		const struct wb_pane *p = wb_frame_part((enum wb_place)i);

		want[i] = p->want ? p->want(wb, COLS) : LINES;
	}
	wb->layout = wb_layout_make(LINES, COLS, want, wb->focus->place);
	if (wb->focus->place == WB_WHOLE) {
		draw_pane(wb, wb->focus, &wb->layout.whole);
		return;
	}
	for (int i = 0; i < WB_PLACES; i++)
		draw_pane(wb, wb_frame_part((enum wb_place)i), &wb->layout.parts[i]);
	if (wb->layout.side) {
		const struct wb_box *side = &wb->layout.parts[WB_SIDE];
		struct wb_area a = {side->y, wb->layout.rule, side->h, 1, false};

		wb_draw_upright(&a, 0, WB_FAINT);
		wb_draw_text(&a, 0, 0, WB_FAINT, wb_draw_glyph(WB_TEE));
		for (int i = WB_TOP + 1; i < WB_PLACES; i++) {
			if (wb->layout.parts[i].h > 1)
				wb_draw_text(&a, wb->layout.parts[i].y - side->y, 0, WB_FAINT,
				             wb_draw_glyph(WB_TEE_RIGHT));
		}
	}
}

/* "42% ━━━━━───── 3 s left, Esc stops", at the right; returns the column where it begins. */
static int draw_progress(struct wb *wb, const struct wb_area *a)
{
	double share = fmin(fmax(wb->model.progress, 0), 1), left = wb->model.seconds_left;
	char *time = isfinite(left) ? memory_format("%.0f s left, ", ceil(left)) : memory_copy("");
	char *text = memory_format("%s%s", time, "Esc stops");
	int bar = COLS >= PROGRESS_FROM ? PROGRESS_WIDTH : 0;
	int x = a->w - wb_draw_width(text) - (bar ? bar + 1 : 0) - 6, from = x;
	int full = (int)lround(share * bar);

	if (x < 0)
		x = from = 0;
	x += wb_draw_format(a, 0, x, WB_STRONG, "%3.0f%% ", floor(share * 100));
	wb_draw_line(a, 0, x, full, WB_GOOD, WB_FULL);
	wb_draw_line(a, 0, x + full, bar - full, WB_FAINT, WB_REST);
	x += bar ? bar + 1 : 0;
	wb_draw_text(a, 0, x, WB_PLAIN, text);
	free(text);
	free(time);
	return from;
}

static void draw_status(struct wb *wb, int y)
{
	struct wb_area a = {y, 0, 1, COLS, false};
	int room = COLS;

	if (wb_line_is_open()) {
		wb_line_draw(&a);
		return;
	}
	if (wb->run)
		room = draw_progress(wb, &a) - 1;
	a.w = room;
	if (wb->message && room > 0)
		wb_draw_text(&a, 0, 1, wb->tone, wb->message);
}

/* ---- the function bar ---- */

/* Where each word stands. "F1 Help", or "1Help" where there is less room, or the letter. */
struct bar {
	const struct wb_key *words[BAR_WORDS];
	int at[BAR_WORDS + 1];
	const char *format; /* of key and label */
	int n;
};

static const char *bar_key(const struct wb_key *k, bool letter)
{
	return letter ? k->keys[1] : k->keys[0] + 1;
}

static struct bar bar_make(int width)
{
	static const char *const formats[] = {"F%s ", "F%s", "%s", NULL};
	struct bar b = {0};
	int taken = 0, gap, x;

	for (size_t i = 0; i < wb_key_count && b.n < BAR_WORDS; i++) {
		if (wb_key_table[i].label)
			b.words[b.n++] = &wb_key_table[i];
	}
	for (size_t f = 0; formats[f]; f++) {
		b.format = formats[f];
		taken = 0;
		for (int i = 0; i < b.n; i++)
			taken += (int)(strlen(b.format) - 2 + strlen(bar_key(b.words[i], false)) +
			               strlen(b.words[i]->label));
		if (taken + b.n <= width)
			break;
	}
	gap = (width - taken) / b.n;
	x = 0;
	for (int i = 0; i < b.n; i++) {
		b.at[i] = taken + b.n <= width ? x : width * i / b.n;
		x += (int)(strlen(b.format) - 2 + strlen(bar_key(b.words[i], false)) +
		           strlen(b.words[i]->label)) +
		     (gap < BAR_GAP ? gap : BAR_GAP);
	}
	b.at[b.n] = taken + b.n <= width ? x : width;
	if (taken + b.n > width)
		b.format = NULL; /* letters: no more is legible */
	return b;
}

static void draw_bar(int y)
{
	struct bar b = bar_make(COLS);

	for (int i = 0; i < b.n; i++) {
		struct wb_area a = {y, b.at[i], 1, b.at[i + 1] - b.at[i], false};
		char key[16];
		int x;

		if (b.format)
			snprintf(key, sizeof(key), "%s%s%s", b.format[0] == 'F' ? "F" : "",
			         bar_key(b.words[i], false), strchr(b.format, ' ') ? " " : "");
		else
			snprintf(key, sizeof(key), "%s", bar_key(b.words[i], true));
		x = wb_draw_text(&a, 0, 0, WB_TITLE, key);
		if (!b.format)
			a.w--; /* a blank before the next word */
		wb_draw_text(&a, 0, x, WB_PLAIN, b.words[i]->label);
	}
}

enum wb_action wb_frame_bar_at(int x)
{
	struct bar b = bar_make(COLS);

	for (int i = 0; i < b.n; i++) {
		if (x >= b.at[i] && x < b.at[i + 1])
			return b.words[i]->action;
	}
	return WB_NONE;
}

static void draw_matches(struct wb *wb)
{
	int above = wb->layout.status > 0 ? wb->layout.status : 0;
	int h = wb_line_is_open() ? wb_line_matches_height(COLS, above * 2 / 3) : 0;
	struct wb_area a = {above - h, 0, h, COLS, false};

	if (h > 0) {
		wb_line_matches_draw(&a);
		if (above - h > 0) {
			struct wb_area rule = {above - h - 1, 0, 1, COLS, false};

			wb_draw_line(&rule, 0, 0, COLS, WB_FAINT, WB_HLINE);
		}
	}
}

void wb_frame_draw(struct wb *wb)
{
	wb_draw_frame_begin();
	draw_body(wb);
	if (wb->layout.title >= 0)
		draw_host(wb, wb->layout.title);
	if (wb->layout.status >= 0)
		draw_status(wb, wb->layout.status);
	else if (wb_line_is_open())
		draw_status(wb, LINES - 1);
	if (wb->layout.bar >= 0)
		draw_bar(wb->layout.bar);
	draw_matches(wb);
	wb_draw_frame_end();
}

static bool within(const struct wb_box *b, int y, int x)
{
	return y >= b->y && y < b->y + b->h && x >= b->x && x < b->x + b->w;
}

const struct wb_pane *wb_frame_pane_at(struct wb *wb, int *y, int *x)
{
	const struct wb_box *box = &wb->layout.whole;
	const struct wb_pane *p = NULL;

	if (wb->focus->place == WB_WHOLE && within(box, *y, *x))
		p = wb->focus;
	for (int i = 0; !p && wb->focus->place != WB_WHOLE && i < WB_PLACES; i++) {
		box = &wb->layout.parts[i];
		if (within(box, *y, *x))
			p = wb_frame_part((enum wb_place)i);
	}
	if (p) {
		*y -= box->y + (box->h > 1);
		*x -= box->x;
	}
	return p;
}
