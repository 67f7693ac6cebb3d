/* wb_pane: a pane or a screen of the workbench: one file, one const struct of operations, one row
 * in wb_panes.c.
 *
 * A pane draws the model and turns keys into commands; it keeps nothing but where it is scrolled
 * to. It knows no curses. */
#ifndef TUI_WB_PANE_H
#define TUI_WB_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/wb_draw.h"
#include "tui/wb_keys.h"
#include "tui/wb_layout.h"

struct wb;

struct wb_pane {
	const char *name; /* what the command `view` takes */
	const char *help; /* one sentence: what it shows */
	enum wb_place place;
	/* What stands in its title line, malloc'ed; NULL: no title line. */
	char *(*title)(struct wb *wb, int width);
	/* Lines that it would fill; NULL: as many as there are. */
	int (*want)(struct wb *wb, int width);
	void (*draw)(struct wb *wb, const struct wb_area *area);
	/* True if the action was its own. */
	bool (*act)(struct wb *wb, enum wb_action action);
	/* A click on a line and column of its area; twice: a double click. NULL: only the focus
	 * follows. */
	void (*click)(struct wb *wb, int y, int x, bool twice);
	/* Goes to the next (1) or the one before (-1) place that has the text, from where it is;
	 * NULL: nothing to search. */
	bool (*find)(struct wb *wb, const char *text, int step);
	/* Begins to be shown as a screen of its own: the time to read what it shows. Or NULL. */
	void (*open)(struct wb *wb);
	/* Frees what it keeps. Or NULL. */
	void (*close)(void);
};

/* All of them, in the order in which Tab goes through those of the workbench. */
extern const struct wb_pane *const wb_panes[];
extern const size_t wb_pane_count;

extern const struct wb_pane pane_experiments, pane_compose, pane_results, pane_detail, pane_host,
        pane_archive, pane_claims, pane_help, pane_output;

/* The pane of that name, or NULL. */
const struct wb_pane *wb_panes_find(const char *name);

#endif
