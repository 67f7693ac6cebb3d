/* wb_keys: every key of the workbench, in one table: what the loop looks up, the function bar, the
 * help screen and the manual all come from it. */
#ifndef TUI_WB_KEYS_H
#define TUI_WB_KEYS_H

#include <stddef.h>

enum wb_action {
	WB_NONE,
	/* about the pane that has the focus */
	WB_UP,
	WB_DOWN,
	WB_LEFT,
	WB_RIGHT,
	WB_PAGE_UP,
	WB_PAGE_DOWN,
	WB_HOME,
	WB_END,
	WB_TOGGLE,
	WB_TOGGLE_ALL,
	WB_ENTER,
	WB_TAB_BACK,
	WB_TAB_ON,
	/* about the workbench */
	WB_BACK,
	WB_NEXT,
	WB_PREVIOUS,
	WB_RUN,
	WB_STOP,
	WB_BASE,
	WB_DEFAULTS,
	WB_SORT,
	WB_SORT_DOWN,
	WB_FILTER,
	WB_OLDER,
	WB_NEWER,
	WB_EXPERIMENTS,
	WB_COMPOSE,
	WB_RESULTS,
	WB_DETAIL,
	WB_COUNTERS,
	WB_ARCHIVE,
	WB_CLAIMS,
	WB_HOST,
	WB_LOG,
	WB_SNIPPETS,
	WB_SEARCH,
	WB_SEARCH_NEXT,
	WB_SEARCH_BACK,
	WB_COMMAND,
	WB_HELP,
	WB_REDRAW,
	WB_SUSPEND,
	WB_QUIT,
	WB_ACTIONS,
};

enum { WB_KEYS_MOST = 4 };

struct wb_key {
	const char *keys[WB_KEYS_MOST + 1]; /* "F5", "r", "Up", "Ctrl-L", "Space" */
	const char *label; /* in the function bar, for those with an F-key; else NULL */
	const char *help;  /* one sentence */
	enum wb_action action;
};
extern const struct wb_key wb_key_table[];
extern const size_t wb_key_count;

/* The row of an action. */
const struct wb_key *wb_keys_for(enum wb_action action);

/* "F5, r": the keys of a row. malloc'ed. */
char *wb_keys_names(const struct wb_key *key);

/* The action that a key's name stands for, WB_NONE if no row has it. */
enum wb_action wb_keys_action(const char *name);

#endif
