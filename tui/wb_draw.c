#include "tui/wb_draw.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <curses.h>

#include "tui/memory.h"
#include "tui/render_page.h"

static struct {
	bool utf8, color;
	int cursor_y, cursor_x;
} screen;

static const char *const glyphs[WB_GLYPHS][2] = {
        [WB_HLINE] = {"-", "─"},     [WB_VLINE] = {"|", "│"},   [WB_TEE] = {"+", "┬"},
        [WB_TEE_RIGHT] = {"+", "├"}, [WB_MARK] = {">", "▸"},    [WB_DOT] = {"|", "·"},
        [WB_ON] = {"[x]", "[x]"},    [WB_OFF] = {"[ ]", "[ ]"}, [WB_GONE] = {"[-]", "[-]"},
        [WB_FULL] = {"#", "━"},      [WB_REST] = {".", "─"},    [WB_MORE] = {"...", "…"},
        [WB_RETURN] = {"^", "↵"},
};

/* Colours are of the terminal's own eight, on its own background. */
static const struct {
	attr_t attributes;
	short color; /* -1: the terminal's */
} styles[WB_STYLES] = {
        [WB_PLAIN] = {A_NORMAL, -1},
        [WB_STRONG] = {A_BOLD, -1},
        [WB_FAINT] = {A_DIM, -1},
        [WB_TITLE] = {A_BOLD, COLOR_CYAN},
        [WB_GOOD] = {A_NORMAL, COLOR_GREEN},
        [WB_WARN] = {A_BOLD, COLOR_YELLOW},
        [WB_BAD] = {A_BOLD, COLOR_RED},
        [WB_SELECTED] = {A_REVERSE, -1},
};

const char *wb_draw_glyph(enum wb_glyph g)
{
	return glyphs[g][screen.utf8];
}

void wb_draw_begin(bool utf8)
{
	const char *no_color = getenv("NO_COLOR");

	screen.utf8 = utf8;
	screen.color = has_colors() && !(no_color && *no_color) && start_color() == OK &&
	               use_default_colors() == OK;
	for (short s = 0; screen.color && s < WB_STYLES; s++) {
		if (styles[s].color >= 0)
			init_pair((short)(s + 1), styles[s].color, -1);
	}
}

struct render_style wb_draw_style(int width)
{
	return (struct render_style){.utf8 = screen.utf8, .width = width, .color = true};
}

static attr_t style_attributes(enum wb_style s, short *pair)
{
	*pair = screen.color && styles[s].color >= 0 ? (short)(s + 1) : 0;
	return styles[s].attributes;
}

static void style_set(enum wb_style s)
{
	short pair;
	attr_t attributes = style_attributes(s, &pair);

	attr_set(attributes, pair, NULL);
}

/* Draws clean text from column `skip` of it on, up to `room` columns; returns the columns drawn. */
static int put(int y, int x, int room, const char *text, size_t size, int *skip)
{
	mbstate_t state = {0};
	int taken = 0;

	while (size > 0) {
		wchar_t c;
		size_t used = screen.utf8 ? mbrtowc(&c, text, size, &state) : 1;
		int columns;

		if (used == 0 || used > size)
			break;
		columns = screen.utf8 ? wcwidth(c) : 1;
		if (*skip > 0) {
			*skip -= columns > 0 ? columns : 0;
		} else {
			if (taken + columns > room)
				break;
			mvaddnstr(y, x + taken, text, (int)used);
			taken += columns > 0 ? columns : 0;
		}
		text += used;
		size -= used;
	}
	return taken;
}

static char *clean(const char *text)
{
	struct render_page page = {.style = {.utf8 = screen.utf8}};

	return render_page_clean(&page, text, false);
}

static bool inside(const struct wb_area *a, int y, int x)
{
	return y >= 0 && y < a->h && x < a->w && a->y + y < LINES && a->x < COLS;
}

int wb_draw_text(const struct wb_area *a, int y, int x, enum wb_style s, const char *text)
{
	char *shown;
	int taken, skip = x < 0 ? -x : 0;

	if (x < 0)
		x = 0;
	if (!inside(a, y, x))
		return 0;
	shown = clean(text);
	style_set(s);
	taken = put(a->y + y, a->x + x, a->w - x, shown, strlen(shown), &skip);
	style_set(WB_PLAIN);
	free(shown);
	return taken;
}

int wb_draw_format(const struct wb_area *a, int y, int x, enum wb_style s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int taken;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	taken = text ? wb_draw_text(a, y, x, s, text) : 0;
	free(text);
	return taken;
}

/* The style that SGR parameters stand for; only render_page.h writes them. */
static enum wb_style sgr_style(const char *parameters, size_t n, enum wb_style base)
{
	static const struct {
		const char *sgr;
		enum wb_style style;
	} known[] = {
	        {RENDER_PAGE_BOLD, WB_STRONG},
	        {RENDER_PAGE_DIM, WB_FAINT},
	        {RENDER_PAGE_GOOD, WB_GOOD},
	        {RENDER_PAGE_BAD, WB_BAD},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].sgr) == n && memcmp(known[i].sgr, parameters, n) == 0)
			return known[i].style;
	}
	return base;
}

void wb_draw_rich(const struct wb_area *a, int y, int x, enum wb_style base, const char *line,
                  int skip)
{
	enum wb_style now = base;

	if (!inside(a, y, x))
		return;
	while (*line) {
		size_t n = strcspn(line, "\033");
		char *part = memory_copy_part(line, n), *shown = clean(part);

		style_set(base == WB_SELECTED ? base : now);
		x += put(a->y + y, a->x + x, a->w - x, shown, strlen(shown), &skip);
		free(shown);
		free(part);
		line += n;
		if (line[0] == '\033' && line[1] == '[') {
			size_t len = strcspn(line + 2, "m");

			now = sgr_style(line + 2, len, base);
			line += 2 + len + (line[2 + len] == 'm');
		} else if (line[0] == '\033') {
			line++;
		}
	}
	style_set(WB_PLAIN);
}

void wb_draw_blank(const struct wb_area *a, int y, enum wb_style s)
{
	if (!inside(a, y, 0))
		return;
	style_set(s);
	mvhline(a->y + y, a->x, ' ', a->w);
	style_set(WB_PLAIN);
}

void wb_draw_line(const struct wb_area *a, int y, int x, int n, enum wb_style s, enum wb_glyph g)
{
	for (int i = 0; i < n; i++)
		wb_draw_text(a, y, x + i, s, wb_draw_glyph(g));
}

void wb_draw_upright(const struct wb_area *a, int x, enum wb_style s)
{
	for (int y = 0; y < a->h; y++)
		wb_draw_text(a, y, x, s, wb_draw_glyph(WB_VLINE));
}

void wb_draw_cursor(const struct wb_area *a, int y, int x)
{
	if (!a->focused || !inside(a, y, x))
		return;
	screen.cursor_y = a->y + y;
	screen.cursor_x = a->x + x;
}

int wb_draw_width(const char *text)
{
	struct render_page page = {.style = {.utf8 = screen.utf8}};
	char *shown = clean(text);
	int width = render_page_width(&page, shown);

	free(shown);
	return width;
}

void wb_draw_frame_begin(void)
{
	screen.cursor_y = LINES - 1;
	screen.cursor_x = 0;
	erase();
}

void wb_draw_frame_end(void)
{
	move(screen.cursor_y, screen.cursor_x);
	wnoutrefresh(stdscr);
	doupdate();
}
