#include "tui/wb_tab.h"

#include <math.h>

#include "tui/memory.h"
#include "tui/render_figure.h"
#include "tui/render_summary.h"

static void write_control(const struct render_page *page, const struct result_control *c)
{
	struct render_figure f = {.est = "", .half = ""};

	if (isfinite(c->value.est))
		render_figure_interval(&f, &c->value, false);
	render_page_say(page, 10, c->ok ? NULL : RENDER_PAGE_BAD,
	                memory_format("  %-7s %s %s %s: %s", c->ok ? "holds" : "FAILS", c->name,
	                              f.est, f.half,
	                              c->what   ? c->what
	                              : c->text ? c->text
	                                        : ""));
}

static void write_checks(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);

	(void)height;
	if (!run) {
		fputs("no run yet\n", page->out);
		return;
	}
	if (!run->trusted && !wb->model.results.live)
		render_page_say(page, 4, RENDER_PAGE_BAD,
		                memory_format("NOT TRUSTED: %s",
		                              run->not_trusted_why ? run->not_trusted_why : ""));
	if (!wb->model.results.live)
		render_summary_text(page, run);
	for (size_t i = 0; i < run->control_count; i++)
		write_control(page, &run->controls[i]);
	for (size_t i = 0; i < run->event_count; i++)
		render_page_say(
		        page, 4, NULL,
		        memory_format("  %s: %s", run->events[i].level, run->events[i].text));
	if (run->stop_reason)
		render_page_say(page, 4, NULL, memory_format("  ended: %s", run->stop_reason));
	render_page_say(
	        page, 4, NULL,
	        memory_format("  seed %llu, CPU %d, %u workers, %u placements, %u rounds each",
	                      (unsigned long long)run->seed, run->cpu, run->workers, run->blocks,
	                      run->rounds));
}

const struct wb_tab tab_checks = {
        .name = "checks",
        .title = "Checks",
        .help = "What the run shows in sentences, its controls, warnings and notes.",
        .write = write_checks,
        .key = wb_tabs_figures_key,
};
