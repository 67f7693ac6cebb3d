/* wb_term: the terminal: taking it, giving it back, under all circumstances.
 *
 * curses draws on a stream of its own. Standard output and standard error of the process lead into
 * memory meanwhile, so that commands may print as they do in batch and nothing scribbles over the
 * screen. */
#ifndef TUI_WB_TERM_H
#define TUI_WB_TERM_H

#include <stdbool.h>
#include <signal.h>

#include "engine/error.h"

/* Set by signals; looked at between steps. */
extern volatile sig_atomic_t wb_term_resized, wb_term_stopped, wb_term_continued;

/* Takes the terminal. ERROR_INPUT: this is no terminal that screens can be drawn on, and what to do
 * instead. */
int wb_term_begin(bool mouse, struct error *err);

/* Gives it back. Does nothing where it is not taken. */
void wb_term_end(void);

/* The same from a signal handler, when there is no time for curses. */
void wb_term_end_now(void);

/* Mouse on or off from now on. */
void wb_term_mouse(bool on);

/* Whether UTF-8 can be drawn. */
bool wb_term_utf8(void);

/* Asks the terminal's size and makes curses draw for it. */
void wb_term_resize(void);

/* Stops this process as ^Z does; returns when it goes on, with the screen drawn as before. */
void wb_term_suspend(void);

/* After a SIGCONT that no stop of ours came before: modes and size may be others. */
void wb_term_again(void);

/* The terminal is given back for a program that wants it, and taken again; the streams too. */
void wb_term_lend(void);
void wb_term_lend_end(void);

/* Has everything drawn anew by the next frame. */
void wb_term_redraw(void);

/* What was printed: a mark of where it is now, and what has come since, malloc'ed and taken out. */
long wb_term_mark(void);
char *wb_term_printed(long mark);

#endif
