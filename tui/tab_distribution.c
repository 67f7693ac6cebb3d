#include "tui/wb_tab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/stats.h"
#include "tui/memory.h"
#include "tui/render_figure.h"

enum {
	LEAST = 5,        /* placements below which there is no picture */
	LINES_BESIDE = 4, /* axis, its labels, facts */
	BARS_LEAST = 2,
	BARS_MOST = 12,
	BINS_MOST = 120,
};

/* The picture: counts of placements by cycles. */
struct histogram {
	size_t counts[BINS_MOST];
	int bins;
	int wide; /* columns of each */
	size_t peak;
	double lo, hi;
};

/* As many bins as that many placements fill, and bars as wide as there is room for. */
static bool histogram_make(struct histogram *h, const struct result_row *row, int width)
{
	int bins = (int)(4 * sqrt((double)row->placement_count));

	if (width > BINS_MOST)
		width = BINS_MOST;
	bins = bins < 1 ? 1 : bins > width ? width : bins;
	*h = (struct histogram){.bins = bins, .wide = width / bins};
	/* The outermost hundredths would make the rest one bar. */
	if (row->placement_count < LEAST)
		return false;
	h->lo = stats_quantile(row->placements, row->placement_count, 0.01);
	h->hi = stats_quantile(row->placements, row->placement_count, 0.99);
	if (!(h->hi > h->lo)) {
		h->lo -= 0.5;
		h->hi += 0.5;
	}
	for (size_t i = 0; i < row->placement_count; i++) {
		double at = (row->placements[i] - h->lo) / (h->hi - h->lo) * h->bins;
		int bin = at < 0 ? 0 : at >= h->bins ? h->bins - 1 : (int)at;

		if (++h->counts[bin] > h->peak)
			h->peak = h->counts[bin];
	}
	return true;
}

static void write_bars(const struct render_page *page, const struct histogram *h, int rows)
{
	static const char *const part[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	for (int y = rows - 1; y >= 0; y--) {
		fputs("  ", page->out);
		for (int b = 0; b < h->bins; b++) {
			double eighths =
			        (double)h->counts[b] * rows * 8 / (double)h->peak - 8.0 * y;
			int n = eighths >= 8 ? 8 : eighths <= 0 ? 0 : (int)eighths;

			/* What is not empty is seen. */
			if (y == 0 && h->counts[b] && n == 0)
				n = 1;
			for (int i = 0; i < h->wide; i++)
				fputs(page->style.utf8 ? part[n]
				      : n >= 4         ? "#"
				      : n              ? "."
				                       : " ",
				      page->out);
		}
		fputc('\n', page->out);
	}
}

static void write_axis(const struct render_page *page, const struct histogram *h)
{
	char lo[32], middle[32], hi[32];
	int columns = h->bins * h->wide, half = columns / 2;
	int decimals = render_figure_decimals((h->hi - h->lo) / 8);

	render_figure_number(lo, h->lo, decimals, false);
	render_figure_number(middle, (h->lo + h->hi) / 2, decimals, false);
	render_figure_number(hi, h->hi, decimals, false);
	fputs("  ", page->out);
	for (int b = 0; b < columns; b++) {
		bool tick = b == 0 || b == columns - 1 || b == half;

		fputs(!page->style.utf8 ? tick ? "+" : "-" : tick ? "┴" : "─", page->out);
	}
	fprintf(page->out, "\n  %-*s%-*s%s cycles\n", half - (int)strlen(middle) / 2, lo,
	        columns - half - (int)(strlen(hi) + 1) / 2 + (int)strlen(middle) / 2, middle, hi);
}

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
	struct histogram h;
	int rows = height - LINES_BESIDE;

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
	rows = rows < BARS_LEAST ? BARS_LEAST : rows > BARS_MOST ? BARS_MOST : rows;
	if (histogram_make(&h, row, page->style.width - 12)) {
		write_bars(page, &h, rows);
		write_axis(page, &h);
	}
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
