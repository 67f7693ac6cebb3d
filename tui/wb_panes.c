#include "tui/wb_pane.h"

#include <string.h>

const struct wb_pane *const wb_panes[] = {
        &pane_experiments, &pane_compose, &pane_results, &pane_detail, &pane_archive,
        &pane_claims,      &pane_host,    &pane_help,    &pane_output,
};
const size_t wb_pane_count = sizeof(wb_panes) / sizeof(wb_panes[0]);

const struct wb_pane *wb_panes_find(const char *name)
{
	for (size_t i = 0; i < wb_pane_count; i++) {
		if (strcmp(wb_panes[i]->name, name) == 0)
			return wb_panes[i];
	}
	return NULL;
}
