#include "tui/wb_tab.h"

const struct wb_tab *const wb_tabs[] = {
        &tab_distribution, &tab_samples,  &tab_chart,  &tab_listing, &tab_source,
        &tab_checks,       &tab_counters, &tab_claims, &tab_log,
};
const size_t wb_tab_count = sizeof(wb_tabs) / sizeof(wb_tabs[0]);

unsigned long wb_tabs_row_key(struct wb *wb)
{
	const struct wb_results *r = &wb->model.results;
	size_t row = 0;

	wb_results_row(r, &row);
	return (unsigned long)(uintptr_t)wb_results_run(r) * 31 + row * 2 +
	       (unsigned long)(uintptr_t)wb->model.compose.experiment;
}

unsigned long wb_tabs_figures_key(struct wb *wb)
{
	return wb_tabs_row_key(wb) + 1000003ul * wb->model.results.version;
}
