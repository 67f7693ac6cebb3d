#include "tui/wb_text.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

enum { SIDEWAYS = 8 };

static void lines_free(struct wb_text *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->lines[i]);
	free(t->lines);
	t->lines = NULL;
	t->count = 0;
}

FILE *wb_text_begin(struct wb_text *t)
{
	lines_free(t);
	free(t->buffer);
	t->buffer = NULL;
	t->out = open_memstream(&t->buffer, &t->size);
	if (!t->out)
		abort(); /* no memory, as in memory.h */
	return t->out;
}

void wb_text_end(struct wb_text *t)
{
	char *line, *next;

	fclose(t->out);
	t->out = NULL;
	for (line = t->buffer; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		t->lines = memory_grow(t->lines, t->count + 1, sizeof(*t->lines));
		t->lines[t->count++] = memory_copy(line);
	}
	free(t->buffer);
	t->buffer = NULL;
	if (t->at >= t->count)
		t->at = t->count ? t->count - 1 : 0;
}

void wb_text_free(struct wb_text *t)
{
	lines_free(t);
	*t = (struct wb_text){0};
}

/* The line of the cursor is among those that are shown. */
static void keep_in_sight(struct wb_text *t, int rows)
{
	size_t room = rows > 0 ? (size_t)rows : 1;

	t->shown = rows;
	if (t->at < t->top)
		t->top = t->at;
	if (t->at >= t->top + room)
		t->top = t->at - room + 1;
	if (t->top + room > t->count)
		t->top = t->count > room ? t->count - room : 0;
}

void wb_text_draw(struct wb_text *t, const struct wb_area *a)
{
	keep_in_sight(t, a->h);
	for (int y = 0; y < a->h && t->top + (size_t)y < t->count; y++) {
		size_t i = t->top + (size_t)y;

		if (i == t->at && a->focused)
			wb_draw_text(a, y, 0, WB_STRONG, wb_draw_glyph(WB_MARK));
		wb_draw_rich(a, y, 1, WB_PLAIN, t->lines[i], t->left);
	}
	wb_draw_cursor(a, (int)(t->at - t->top), 0);
}

bool wb_text_act(struct wb_text *t, enum wb_action action)
{
	size_t page = t->shown > 1 ? (size_t)t->shown - 1 : 1, last = t->count ? t->count - 1 : 0;

	switch (action) {
	case WB_UP:
		t->at -= t->at > 0;
		break;
	case WB_DOWN:
		t->at += t->at < last;
		break;
	case WB_PAGE_UP:
		t->at = t->at > page ? t->at - page : 0;
		break;
	case WB_PAGE_DOWN:
		t->at = t->at + page < last ? t->at + page : last;
		break;
	case WB_HOME:
		t->at = 0;
		t->left = 0;
		break;
	case WB_END:
		t->at = last;
		break;
	case WB_LEFT:
		t->left = t->left > SIDEWAYS ? t->left - SIDEWAYS : 0;
		break;
	case WB_RIGHT:
		t->left += SIDEWAYS;
		break;
	default:
		return false;
	}
	return true;
}

bool wb_text_find(struct wb_text *t, const char *text, int step)
{
	for (size_t i = 1; i <= t->count; i++) {
		size_t at = step > 0 ? (t->at + i) % t->count : (t->at + t->count - i) % t->count;

		if (strcasestr(t->lines[at], text)) {
			t->at = at;
			return true;
		}
	}
	return false;
}

void wb_text_click(struct wb_text *t, int y)
{
	if (y >= 0 && t->top + (size_t)y < t->count)
		t->at = t->top + (size_t)y;
}
