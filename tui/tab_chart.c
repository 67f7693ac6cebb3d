#include "tui/wb_tab.h"

#include "engine/curve.h"
#include "tui/render_chart.h"

static void write_chart(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);
	struct curve *c = NULL;
	size_t n;

	(void)height;
	/* Knees are looked for in whole runs: it takes time. */
	if (wb->model.results.live) {
		fputs("the chart is drawn when the run has ended\n", page->out);
		return;
	}
	if (!run || !curve_is_set(run) || curve_find(run, &c, NULL) != ERROR_NONE || !c) {
		fputs("this run is no curve: only runs over a range of numbers have a chart\n",
		      page->out);
		return;
	}
	n = c->series_count < RENDER_CHART_SERIES ? c->series_count : RENDER_CHART_SERIES;
	render_chart_draw(page, c->series, n);
	curve_free(c);
}

static unsigned long key(struct wb *wb)
{
	return (unsigned long)(uintptr_t)wb_results_run(&wb->model.results) +
	       (wb->model.results.live != NULL);
}

const struct wb_tab tab_chart = {
        .name = "chart",
        .title = "Chart",
        .help = "Cost against a number, with its knees, for runs that are a curve.",
        .write = write_chart,
        .key = key,
};
