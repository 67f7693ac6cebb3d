#include "tui/wb_tab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_figure.h"
#include "tui/wb_histogram.h"

enum { FACTS = 2 /* lines below the picture */ };

static void write_facts(const struct render_page *page, const struct result_row *row)
{
	struct render_figure f;

	render_figure_interval(&f, &row->cycles, false);
	render_page_say(
	        page, 2, NULL,
	        memory_format("  %s %s cycles · %zu placements in %u workers · samples: "
	                      "%llu kept, %llu interrupted, %llu fenced · U %u · %u bytes",
	                      f.est, f.half, row->placement_count, row->workers,
	                      (unsigned long long)row->kept, (unsigned long long)row->interrupted,
	                      (unsigned long long)row->fenced, row->unroll, row->code_bytes));
	for (size_t i = 0; row->mode_count > 1 && i < row->mode_count; i++) {
		char at[32];

		render_figure_number(at, row->modes[i].at, 2, false);
		render_page_say(page, 4, NULL,
		                memory_format("  mode at %s cycles: %.0f%% of placements", at,
		                              100.0 * (double)row->modes[i].count /
		                                      (double)row->placement_count));
	}
}

static void write_distribution(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_row *row = wb_results_row(&wb->model.results, NULL);

	if (!row) {
		fputs("no row is selected\n", page->out);
		return;
	}
	if (row->state != RESULT_MEASURED) {
		render_page_say(page, 2, NULL,
		                memory_format("%s%s%s", result_state_name[row->state],
		                              row->reason ? ": " : "",
		                              row->reason ? row->reason : ""));
		return;
	}
	wb_histogram_write(page, row->placements, row->placement_count, height - FACTS, "cycles");
	write_facts(page, row);
}

const struct wb_tab tab_distribution = {
        .name = "distribution",
        .title = "Distribution",
        .help = "How the cycles of the selected row are spread over placements, and what became "
                "of its samples.",
        .write = write_distribution,
        .key = wb_tabs_figures_key,
};
