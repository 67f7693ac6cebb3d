/* wb_line: the line at the bottom of the workbench: readline, with its callbacks fed by curses.
 *
 * readline does not touch the terminal here: keys come in by wb_line_key, and what it would draw is
 * drawn by wb_line_draw. Nothing runs but by Enter; a paste goes into the line with its newlines.
 */
#ifndef TUI_WB_LINE_H
#define TUI_WB_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "tui/command.h"
#include "tui/wb_draw.h"

/* Sets readline up and loads the history. Once; after curses has started. */
void wb_line_init(struct session *s);
void wb_line_free(void);

/* Opens the line with a text in it. kept: what is entered goes into the history. done gets the line
 * (its own to free), or NULL if it was given up; the line is closed before. */
void wb_line_open(const char *prompt, const char *text, bool kept,
                  void (*done)(void *ctx, char *line), void *ctx);
bool wb_line_is_open(void);

/* Gives up the line. */
void wb_line_close(void);

/* A character, or the bytes of a key as terminals send them. */
void wb_line_char(wchar_t c);
void wb_line_bytes(const char *bytes);

/* A lone Esc: ends a search in the history, or gives up the line. */
void wb_line_escape(void);

void wb_line_paste(const char *text);

void wb_line_draw(const struct wb_area *a);

/* Lines that the completions on show take, and drawing them. 0: there are none. */
int wb_line_matches_height(int width, int most);
void wb_line_matches_draw(const struct wb_area *a);

#endif
