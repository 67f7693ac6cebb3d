/* wb: the workbench: screens around the engine and the commands.
 *
 * One loop waits for the terminal, for signals and for what the run needs. A command that measures
 * comes back only when its run has ended; meanwhile the same loop goes on inside of it, so that
 * every other pane and every command that measures nothing stay usable. */
#ifndef TUI_WB_H
#define TUI_WB_H

#include <stdbool.h>
#include <time.h>

#include "engine/run.h"
#include "tui/command.h"
#include "tui/wb_layout.h"
#include "tui/wb_model.h"
#include "tui/wb_pane.h"

struct wb {
	struct wb_model model;
	struct session *session;
	const volatile int *terminate;
	const struct wb_pane *focus; /* has the keys: a part of the workbench, or a whole screen */
	const struct wb_pane *part;  /* the part that had them last */
	struct wb_layout layout;     /* as drawn last */
	struct run *run;             /* that is on, or NULL */
	char *message;               /* for the status line */
	enum wb_style tone;
	char *search;   /* what was searched last, or NULL */
	bool stopped;   /* the user stopped the run that is on */
	bool lost;      /* the terminal is gone */
	bool dirty;     /* something may have changed on the screen */
	unsigned taken; /* runs that were taken so far */
};

/* Opens the workbench; comes back when the user leaves, or when terminate is set by a signal.
 * Returns the code that the exit status tells: what fails inside has been told there and does not
 * count. ERROR_INPUT: no screens here; err says what to do instead. */
enum error_code wb_run(struct session *s, const volatile int *terminate, struct error *err);

/* ---- for panes ---- */

/* Carries out a command as if it had been typed: it is shown and logged. */
void wb_command(struct wb *wb, const char *line);

/* The same, made of a format. */
void wb_command_format(struct wb *wb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One line for the user, until the next one. */
void wb_say(struct wb *wb, enum wb_style tone, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Gives a pane the keys; a screen of its own is opened. */
void wb_show(struct wb *wb, const struct wb_pane *pane);

/* Opens the command line with a text in it. */
void wb_ask(struct wb *wb, const char *text);

/* Shows a text that a command printed as a screen of its own. */
void wb_output(struct wb *wb, const char *title, const char *text);

#endif
