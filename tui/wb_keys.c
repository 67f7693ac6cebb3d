#include "tui/wb_keys.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

const struct wb_key wb_key_table[] = {
        {{"F1", "?"}, "Help", "Show the keys and what the panes are for.", WB_HELP},
        {{"F2", "c"}, "Compose", "Go to the factors and levels of the next run.", WB_COMPOSE},
        {{"F3", "/"}, "Search", "Search in the pane; n and N go on.", WB_SEARCH},
        {{"F4", "t"}, "Counters", "Go to what the counters read.", WB_COUNTERS},
        {{"F5", "r"}, "Run", "Run what is composed; on a screen, what is selected there.", WB_RUN},
        {{"F6", "b"},
         "Base",
         "Make the selected row the base that others are held against.",
         WB_BASE},
        {{"F7", "a"}, "Archive", "Show the runs that are kept.", WB_ARCHIVE},
        {{"F8", "v"}, "Claims", "Show the published claims, to be verified here.", WB_CLAIMS},
        {{"F9", "i"}, "Host", "Describe this machine and what would make results better.", WB_HOST},
        {{"F10", "q"},
         "Quit",
         "Leave a screen, then the workbench; a run that is on is stopped and kept.",
         WB_QUIT},
        {{":"}, NULL, "Type a command; Tab completes, Ctrl-R searches the history.", WB_COMMAND},
        {{"Esc"},
         NULL,
         "Go back; in the workbench, stop the run that is on and keep what is complete.",
         WB_BACK},
        {{"Ctrl-C"}, NULL, "Stop the run that is on.", WB_STOP},
        {{"Tab"}, NULL, "Go to the next pane.", WB_NEXT},
        {{"Shift-Tab"}, NULL, "Go to the pane before.", WB_PREVIOUS},
        {{"Up", "k"}, NULL, "Go up a line.", WB_UP},
        {{"Down", "j"}, NULL, "Go down a line.", WB_DOWN},
        {{"Left", "h"}, NULL, "Go to the level or column on the left.", WB_LEFT},
        {{"Right", "l"}, NULL, "Go to the level or column on the right.", WB_RIGHT},
        {{"PgUp"}, NULL, "Go up a page.", WB_PAGE_UP},
        {{"PgDn"}, NULL, "Go down a page.", WB_PAGE_DOWN},
        {{"Home", "g"}, NULL, "Go to the first line.", WB_HOME},
        {{"End", "G"}, NULL, "Go to the last line.", WB_END},
        {{"Enter"}, NULL, "Open what is selected.", WB_ENTER},
        {{"Space"}, NULL, "Choose the level, or leave it out.", WB_TOGGLE},
        {{"*"}, NULL, "Choose all levels of the factor, or its defaults again.", WB_TOGGLE_ALL},
        {{"d"}, NULL, "Compose the experiment's defaults again.", WB_DEFAULTS},
        {{"e"}, NULL, "Go to the experiments.", WB_EXPERIMENTS},
        {{"u"}, NULL, "Go to the results.", WB_RESULTS},
        {{"x"}, NULL, "Go to the detail of the selected row.", WB_DETAIL},
        {{"["}, NULL, "Show the tab on the left in the detail.", WB_TAB_BACK},
        {{"]"}, NULL, "Show the tab on the right in the detail.", WB_TAB_ON},
        {{"w"}, NULL, "Show the log of commands.", WB_LOG},
        {{"<"}, NULL, "Show the run before this one.", WB_OLDER},
        {{">"}, NULL, "Show the run behind this one.", WB_NEWER},
        {{"o"}, NULL, "Sort the results by the next column.", WB_SORT},
        {{"O"}, NULL, "Turn the order of the results round.", WB_SORT_DOWN},
        {{"\\"}, NULL, "Show only the results that have the words given.", WB_FILTER},
        {{"s"}, NULL, "Write snippets in $EDITOR, to be measured with asm.", WB_SNIPPETS},
        {{"n"}, NULL, "Go to the next place that the search finds.", WB_SEARCH_NEXT},
        {{"N"}, NULL, "Go to the place before that the search finds.", WB_SEARCH_BACK},
        {{"Ctrl-L"}, NULL, "Draw the screen again.", WB_REDRAW},
        {{"Ctrl-Z"}, NULL, "Suspend; fg comes back.", WB_SUSPEND},
};
const size_t wb_key_count = sizeof(wb_key_table) / sizeof(wb_key_table[0]);

const struct wb_key *wb_keys_for(enum wb_action action)
{
	for (size_t i = 0; i < wb_key_count; i++) {
		if (wb_key_table[i].action == action)
			return &wb_key_table[i];
	}
	return NULL;
}

char *wb_keys_names(const struct wb_key *key)
{
	char *text = memory_copy("");

	for (size_t i = 0; key->keys[i]; i++) {
		char *longer = memory_format("%s%s%s", text, i ? ", " : "", key->keys[i]);

		free(text);
		text = longer;
	}
	return text;
}

enum wb_action wb_keys_action(const char *name)
{
	for (size_t i = 0; i < wb_key_count; i++) {
		for (size_t k = 0; wb_key_table[i].keys[k]; k++) {
			if (strcmp(wb_key_table[i].keys[k], name) == 0)
				return wb_key_table[i].action;
		}
	}
	return WB_NONE;
}
