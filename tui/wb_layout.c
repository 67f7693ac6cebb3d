#include "tui/wb_layout.h"

enum {
	SIDE_WIDTH = 24, /* of the experiments' column */
	SIDE_FROM = 96,  /* columns from which they have one */
	ALL_FROM = 16,   /* lines of body from which all parts are shown */
	TWO_FROM = 9,    /* and from which results keep the focused one company */
	TITLE_FROM = 10, /* lines of screen from which there is a title line */
	BAR_FROM = 6,
	TOP_LEAST = 5,
	MIDDLE_LEAST = 5,
	BOTTOM_LEAST = 5,
};

static int clamp(int v, int lo, int hi)
{
	if (v > hi)
		v = hi;
	return v < lo ? lo : v;
}

/* Three parts above each other. Compose gets what it wants up to two fifths, results theirs while
 * the detail keeps a third, the detail the rest. */
static void stack_all(struct wb_layout *l, struct wb_box body, const int want[WB_PLACES])
{
	int top = clamp(want[WB_TOP] + 1, TOP_LEAST, body.h * 2 / 5), middle, bottom;

	if (top < TOP_LEAST)
		top = TOP_LEAST;
	bottom = clamp((body.h - top) / 2, BOTTOM_LEAST, body.h);
	middle = clamp(want[WB_MIDDLE] + 1, MIDDLE_LEAST, body.h - top - bottom);
	if (middle < MIDDLE_LEAST && body.h - top - BOTTOM_LEAST >= MIDDLE_LEAST)
		middle = MIDDLE_LEAST;
	bottom = body.h - top - middle;
	l->parts[WB_TOP] = (struct wb_box){body.y, body.x, top, body.w};
	l->parts[WB_MIDDLE] = (struct wb_box){body.y + top, body.x, middle, body.w};
	l->parts[WB_BOTTOM] = (struct wb_box){body.y + top + middle, body.x, bottom, body.w};
}

static void stack_two(struct wb_layout *l, struct wb_box body, enum wb_place focus)
{
	enum wb_place upper = focus == WB_BOTTOM ? WB_MIDDLE : WB_TOP;
	enum wb_place lower = focus == WB_BOTTOM ? WB_BOTTOM : WB_MIDDLE;
	int half = body.h / 2;

	l->parts[upper] = (struct wb_box){body.y, body.x, half, body.w};
	l->parts[lower] = (struct wb_box){body.y + half, body.x, body.h - half, body.w};
}

struct wb_layout wb_layout_make(int height, int width, const int want[WB_PLACES],
                                enum wb_place focus)
{
	struct wb_layout l = {.title = -1, .status = -1, .bar = -1};
	struct wb_box body = {0, 0, height, width};

	if (height >= BAR_FROM)
		l.bar = height - 1;
	if (height >= 2)
		l.status = height - 1 - (l.bar >= 0);
	if (height >= TITLE_FROM)
		l.title = 0;
	body.y = l.title >= 0;
	body.h = height - body.y - (l.bar >= 0) - (l.status >= 0);
	l.whole = body;
	if (focus == WB_WHOLE)
		return l;
	if (width >= SIDE_FROM && body.h >= ALL_FROM) {
		l.side = true;
		l.rule = SIDE_WIDTH;
		l.parts[WB_SIDE] = (struct wb_box){body.y, 0, body.h, SIDE_WIDTH};
		body.x = SIDE_WIDTH + 1;
		body.w = width - body.x;
	} else if (focus == WB_SIDE) {
		/* The picker takes the place of all while it is open. */
		l.parts[WB_SIDE] = body;
		return l;
	}
	if (body.h >= ALL_FROM)
		stack_all(&l, body, want);
	else if (body.h >= TWO_FROM)
		stack_two(&l, body, focus);
	else
		l.parts[focus == WB_SIDE ? WB_TOP : focus] = body;
	return l;
}
