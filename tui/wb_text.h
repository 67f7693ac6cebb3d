/* wb_text: a text that is scrolled: lines as a renderer wrote them. */
#ifndef TUI_WB_TEXT_H
#define TUI_WB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/wb_draw.h"
#include "tui/wb_keys.h"

/* Zeroed is empty. */
struct wb_text {
	char **lines;
	size_t count;
	size_t at;  /* the line the cursor is on */
	size_t top; /* the first line shown */
	int left;   /* columns scrolled away */
	int shown;  /* lines that were shown last */
	FILE *out;  /* while it is written */
	char *buffer;
	size_t size;
	unsigned long key; /* of what stands here, for those who make texts only when they must */
	int width;         /* that it was made for */
};

/* Begins anew; what is written to the stream that comes back is the text. */
FILE *wb_text_begin(struct wb_text *t);

/* Ends it. Where the place that was looked at still exists, it stays. */
void wb_text_end(struct wb_text *t);

void wb_text_free(struct wb_text *t);

void wb_text_draw(struct wb_text *t, const struct wb_area *a);

/* Moves; false if the action is none of its own. */
bool wb_text_act(struct wb_text *t, enum wb_action action);

/* Goes to the next line (step 1) or the one before (-1) that has the text, around the end; false if
 * none has. */
bool wb_text_find(struct wb_text *t, const char *text, int step);

void wb_text_click(struct wb_text *t, int y);

#endif
