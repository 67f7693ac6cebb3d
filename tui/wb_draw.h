/* wb_draw: drawing into an area of the screen. Panes draw with this and know no curses.
 *
 * All text passes through here: no control character reaches the terminal, a screen without UTF-8
 * gets ASCII, what is wider than the area is cut. No state is told by a style alone. */
#ifndef TUI_WB_DRAW_H
#define TUI_WB_DRAW_H

#include <stdbool.h>

#include "tui/render.h"

struct wb_area {
	int y, x, h, w;
	bool focused;
};

enum wb_style {
	WB_PLAIN,
	WB_STRONG,
	WB_FAINT,
	WB_TITLE, /* of the pane that has the focus */
	WB_GOOD,
	WB_WARN,
	WB_BAD,
	WB_SELECTED, /* in the pane that has the focus */
	WB_STYLES,
};

/* Characters to draw with. */
enum wb_glyph {
	WB_HLINE,
	WB_VLINE,
	WB_TEE,       /* a vertical line begins below a horizontal one */
	WB_TEE_RIGHT, /* a horizontal one begins beside it */
	WB_MARK,      /* the selected line */
	WB_DOT,       /* between facts */
	WB_ON,        /* a level that is chosen */
	WB_OFF,
	WB_GONE, /* a level that does not exist */
	WB_FULL, /* progress */
	WB_REST,
	WB_MORE,   /* text goes on */
	WB_RETURN, /* the end of a line, within one */
	WB_GLYPHS,
};
const char *wb_draw_glyph(enum wb_glyph g);

/* Sets styles and glyphs up for the terminal that curses has started. */
void wb_draw_begin(bool utf8);

/* What renderers are to write texts with that are drawn with wb_draw_rich. */
struct render_style wb_draw_style(int width);

/* Draws text at a place of the area and returns the columns it took. */
int wb_draw_text(const struct wb_area *a, int y, int x, enum wb_style s, const char *text);
int wb_draw_format(const struct wb_area *a, int y, int x, enum wb_style s, const char *fmt, ...)
        __attribute__((format(printf, 5, 6)));

/* A line that a renderer wrote, from the column `skip` on: its escape sequences become styles. base
 * holds where they say nothing. */
void wb_draw_rich(const struct wb_area *a, int y, int x, enum wb_style base, const char *line,
                  int skip);

/* Fills a line with blanks, or with n times a glyph. */
void wb_draw_blank(const struct wb_area *a, int y, enum wb_style s);
void wb_draw_line(const struct wb_area *a, int y, int x, int n, enum wb_style s, enum wb_glyph g);
void wb_draw_upright(const struct wb_area *a, int x, enum wb_style s);

/* Where the hardware cursor goes: on what is selected, for those who follow it by other means than
 * sight. Counts only in the area that has the focus. */
void wb_draw_cursor(const struct wb_area *a, int y, int x);

/* Columns that a text takes. */
int wb_draw_width(const char *text);

/* One frame: begin, draw, end. end sends what has changed, once. */
void wb_draw_frame_begin(void);
void wb_draw_frame_end(void);

#endif
