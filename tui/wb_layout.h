/* wb_layout: which part of the screen each part of the workbench gets. Pure arithmetic. */
#ifndef TUI_WB_LAYOUT_H
#define TUI_WB_LAYOUT_H

#include <stdbool.h>

enum wb_place {
	WB_SIDE,   /* the experiments: on the left where there is room */
	WB_TOP,    /* what is composed */
	WB_MIDDLE, /* results */
	WB_BOTTOM, /* detail */
	WB_PLACES,
	WB_WHOLE = WB_PLACES, /* a screen of its own */
};

struct wb_box {
	int y, x, h, w; /* h is 0 where a part is not shown; the first line is the part's title */
};

struct wb_layout {
	struct wb_box parts[WB_PLACES];
	struct wb_box whole; /* what a screen of its own gets */
	bool side;           /* the experiments have a column of their own */
	int rule;            /* column of the line beside them */
	int title;           /* line of the host, or -1 */
	int status;          /* line of messages and of the command line, or -1 */
	int bar;             /* line of the function bar, or -1 */
};

/* Any size from 1x1 on. want: lines that each part would fill, titles not counted. focus: the part
 * that stays when there is no room for all. */
struct wb_layout wb_layout_make(int height, int width, const int want[WB_PLACES],
                                enum wb_place focus);

#endif
