#include "tui/wb_input.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <curses.h>

#include "tui/memory.h"
#include "tui/wb_act.h"
#include "tui/wb_frame.h"
#include "tui/wb_line.h"
#include "tui/wb_term_keys.h"

enum {
	ESCAPE = 27,
	DOUBLE_CLICK_MS = 400,
	WHEEL_LINES = 3,
};

/* A paste on its way in. */
static struct {
	bool on;
	FILE *out;
	char *text;
	size_t size;
} paste;

/* Keys that curses has codes for: their names in wb_keys.h, and the bytes that an editor of lines
 * knows them by. */
static const struct {
	int code;
	const char *name, *bytes;
} special[] = {
        {KEY_UP, "Up", "\033[A"},
        {KEY_DOWN, "Down", "\033[B"},
        {KEY_RIGHT, "Right", "\033[C"},
        {KEY_LEFT, "Left", "\033[D"},
        {KEY_HOME, "Home", "\033[H"},
        {KEY_END, "End", "\033[F"},
        {KEY_PPAGE, "PgUp", "\033[5~"},
        {KEY_NPAGE, "PgDn", "\033[6~"},
        {KEY_DC, "Del", "\033[3~"},
        {KEY_IC, "Ins", "\033[2~"},
        {KEY_BTAB, "Shift-Tab", "\033[Z"},
        {KEY_ENTER, "Enter", "\r"},
        {KEY_BACKSPACE, "Backspace", "\177"},
};

/* What keyname calls keys with Ctrl or Alt that terminals send and curses has no code for. */
static const struct {
	const char *name, *bytes;
} extended[] = {
        {"kLFT5", "\033[1;5D"}, {"kRIT5", "\033[1;5C"}, {"kLFT3", "\033[1;3D"},
        {"kRIT3", "\033[1;3C"}, {"kDC5", "\033[3;5~"},
};

static void paste_begin(void)
{
	paste.on = true;
	paste.out = open_memstream(&paste.text, &paste.size);
}

static void paste_char(wint_t c)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t n = wcrtomb(bytes, (wchar_t)(c == '\r' ? '\n' : c), &state);

	if (paste.out && n != (size_t)-1)
		fwrite(bytes, 1, n, paste.out);
}

/* A paste opens the command line if it is not open. Nothing runs before Enter. */
static void paste_end(struct wb *wb)
{
	paste.on = false;
	if (!paste.out)
		return;
	fclose(paste.out);
	paste.out = NULL;
	for (size_t n = paste.size; n > 0 && paste.text[n - 1] == '\n'; n--)
		paste.text[n - 1] = '\0'; /* the last newline is what would have run it */
	if (!wb_line_is_open())
		wb_ask(wb, "");
	wb_line_paste(paste.text);
	free(paste.text);
	paste.text = NULL;
}

static void line_special(int code)
{
	const char *name = keyname(code);

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (special[i].code == code) {
			wb_line_bytes(special[i].bytes);
			return;
		}
	}
	for (size_t i = 0; name && i < sizeof(extended) / sizeof(extended[0]); i++) {
		if (strcmp(extended[i].name, name) == 0)
			wb_line_bytes(extended[i].bytes);
	}
}

static const char *special_name(int code, char out[static 16])
{
	if (code >= KEY_F(1) && code <= KEY_F(12)) {
		snprintf(out, 16, "F%d", code - KEY_F0);
		return out;
	}
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (special[i].code == code)
			return special[i].name;
	}
	return "";
}

static const char *char_name(wint_t c, char out[static 16])
{
	switch (c) {
	case '\t':
		return "Tab";
	case '\r':
	case '\n':
		return "Enter";
	case ESCAPE:
		return "Esc";
	case ' ':
		return "Space";
	}
	if (c < 32)
		snprintf(out, 16, "Ctrl-%c", (int)c + '@');
	else if (c < 127)
		snprintf(out, 16, "%c", (int)c);
	else
		out[0] = '\0';
	return out;
}

static bool is_double(int y, int x)
{
	static struct timespec last;
	static int last_y = -1, last_x = -1;
	struct timespec now;
	double ms;
	bool twice;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (double)(now.tv_sec - last.tv_sec) * 1e3 + (double)(now.tv_nsec - last.tv_nsec) / 1e6;
	twice = y == last_y && x == last_x && ms < DOUBLE_CLICK_MS;
	last = now;
	last_y = twice ? -1 : y;
	last_x = x;
	return twice;
}

static void take_mouse(struct wb *wb)
{
	const struct wb_pane *p;
	MEVENT e;
	int y, x;

	if (getmouse(&e) != OK)
		return;
	y = e.y;
	x = e.x;
	if (y == wb->layout.bar) {
		if (e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
			wb_act(wb, wb_frame_bar_at(x));
		return;
	}
	p = wb_frame_pane_at(wb, &y, &x);
	if (!p)
		return;
	if (e.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		for (int i = 0; i < WHEEL_LINES; i++)
			p->act(wb, e.bstate & BUTTON4_PRESSED ? WB_UP : WB_DOWN);
	} else if (e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) {
		bool twice = is_double(e.y, e.x);

		wb_show(wb, p);
		if (p->click && y >= 0)
			p->click(wb, y, x, twice);
	}
}

static void take_special(struct wb *wb, int code)
{
	char name[16];

	if (code == WB_TERM_PASTE_BEGIN)
		paste_begin();
	else if (code == WB_TERM_PASTE_END)
		paste_end(wb);
	else if (code == KEY_MOUSE)
		take_mouse(wb);
	else if (code == KEY_RESIZE)
		return; /* the size is asked when SIGWINCH comes */
	else if (wb_line_is_open())
		line_special(code);
	else
		wb_act(wb, wb_keys_action(special_name(code, name)));
}

static void take_char(struct wb *wb, wint_t c)
{
	char name[16];

	if (!wb_line_is_open())
		wb_act(wb, wb_keys_action(char_name(c, name)));
	else if (c == '\n')
		wb_line_bytes("\r");
	else
		wb_line_char((wchar_t)c);
}

/* A lone Esc is ours; with a character right behind it, it is Alt and that character. */
static void take_escape(struct wb *wb)
{
	wint_t c;
	int rc = get_wch(&c);

	if (rc == OK && c != ESCAPE && wb_line_is_open()) {
		char bytes[3] = {ESCAPE, (char)c, '\0'};

		if (c < 128)
			wb_line_bytes(bytes);
		return;
	}
	if (wb_line_is_open())
		wb_line_escape();
	else
		wb_act(wb, WB_BACK);
	if (rc == OK && c != ESCAPE)
		take_char(wb, c);
	else if (rc == KEY_CODE_YES)
		take_special(wb, (int)c);
}

bool wb_input_read(struct wb *wb)
{
	bool any = false;
	wint_t c;
	int rc;

	/* A command may end the session, or run this again inside. */
	while (!wb->session->quit && (rc = get_wch(&c)) != ERR) {
		any = wb->dirty = true;
		if (paste.on && !(rc == KEY_CODE_YES && (int)c == WB_TERM_PASTE_END)) {
			if (rc == OK)
				paste_char(c);
		} else if (rc == KEY_CODE_YES) {
			take_special(wb, (int)c);
		} else if (c == ESCAPE) {
			take_escape(wb);
		} else {
			take_char(wb, c);
		}
	}
	return any;
}
