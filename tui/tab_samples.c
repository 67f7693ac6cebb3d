#include "tui/wb_tab.h"

#include <stdlib.h>

#include "engine/stats.h"
#include "tui/memory.h"
#include "tui/wb_histogram.h"

enum { FACTS = 2 /* lines below the picture */ };

static void write_samples(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);
	size_t index = 0;
	const struct result_row *row = wb_results_row(&wb->model.results, &index);
	const struct wb_samples_row *s = row ? wb_samples_of(&wb->model.samples, run, index) : NULL;
	double scale;
	double *cycles;

	if (!s) {
		render_page_say(
		        page, 2, NULL,
		        memory_copy("  Single samples are at hand for the last run that was "
		                    "measured here; the archive keeps placements (and --raw "
		                    "FILE all samples)."));
		return;
	}
	/* The run's own rate: samples are read in ticks. */
	scale = row->cycles.est / row->ticks.est;
	cycles = memory_get(s->count * sizeof(*cycles));
	for (size_t i = 0; i < s->count; i++)
		cycles[i] = s->ticks[i] * scale;
	wb_histogram_write(page, cycles, s->count, height - FACTS, "cycles");
	render_page_say(
	        page, 2, NULL,
	        memory_format("  %zu of %llu pairs of samples, each the difference of 2U and "
	                      "U executions; what is subtracted from the row is in them",
	                      s->count, (unsigned long long)s->seen));
	free(cycles);
}

const struct wb_tab tab_samples = {
        .name = "samples",
        .title = "Samples",
        .help = "How the single samples of the selected row are spread, for the last run.",
        .write = write_samples,
        .key = wb_tabs_figures_key,
};
