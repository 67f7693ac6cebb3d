/* wb_tab: a tab of the detail: a text about the selected row, the run or the session. A new tab is
 * a file and a row in wb_tabs.c. */
#ifndef TUI_WB_TAB_H
#define TUI_WB_TAB_H

#include "tui/render_page.h"
#include "tui/wb.h"

struct wb_tab {
	const char *name; /* what the command `view` takes */
	const char *title;
	const char *help; /* one sentence */
	/* Writes the text; page has the stream, the width and the characters, height is that of the
	 * pane. */
	void (*write)(struct wb *wb, const struct render_page *page, int height);
	/* Changes when the text must be written anew. */
	unsigned long (*key)(struct wb *wb);
	bool at_end; /* the newest is at the end, and that is what is looked at */
};

extern const struct wb_tab *const wb_tabs[];
extern const size_t wb_tab_count;

extern const struct wb_tab tab_distribution, tab_samples, tab_chart, tab_listing, tab_source,
        tab_checks, tab_counters, tab_claims, tab_log;

/* Shows a tab of that name in the detail; false if there is none. */
bool pane_detail_show(struct wb *wb, const char *tab);

/* For key: a number for the selected row, whatever its figures are; and one that changes with
 * them. */
unsigned long wb_tabs_row_key(struct wb *wb);
unsigned long wb_tabs_figures_key(struct wb *wb);

#endif
