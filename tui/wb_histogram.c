#include "tui/wb_histogram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/stats.h"
#include "tui/render_figure.h"

enum {
	LINES_BESIDE = 2, /* the axis and its labels */
	BARS_LEAST = 2,
	BARS_MOST = 12,
	BINS_MOST = 120,
	UNIT_ROOM = 12, /* columns for the unit */
};

/* The picture: counts of values. */
struct histogram {
	size_t counts[BINS_MOST];
	int bins;
	int wide; /* columns of each */
	size_t peak;
	double lo, hi;
};

/* As many bins as that many placements fill, and bars as wide as there is room for. */
static bool histogram_make(struct histogram *h, const double *x, size_t n, int width)
{
	int bins = (int)(4 * sqrt((double)n));

	if (width > BINS_MOST)
		width = BINS_MOST;
	bins = bins < 1 ? 1 : bins > width ? width : bins;
	*h = (struct histogram){.bins = bins, .wide = width / bins};
	/* The outermost hundredths would make the rest one bar. */
	if (n < WB_HISTOGRAM_LEAST)
		return false;
	h->lo = stats_quantile(x, n, 0.01);
	h->hi = stats_quantile(x, n, 0.99);
	if (!(h->hi > h->lo)) {
		h->lo -= 0.5;
		h->hi += 0.5;
	}
	for (size_t i = 0; i < n; i++) {
		double at = (x[i] - h->lo) / (h->hi - h->lo) * h->bins;
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

static void write_axis(const struct render_page *page, const struct histogram *h, const char *unit)
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
	fprintf(page->out, "\n  %-*s%-*s%s %s\n", half - (int)strlen(middle) / 2, lo,
	        columns - half - (int)(strlen(hi) + 1) / 2 + (int)strlen(middle) / 2, middle, hi,
	        unit);
}

void wb_histogram_write(const struct render_page *page, const double *x, size_t n, int height,
                        const char *unit)
{
	int rows = height - LINES_BESIDE;
	struct histogram h;

	rows = rows < BARS_LEAST ? BARS_LEAST : rows > BARS_MOST ? BARS_MOST : rows;
	if (!histogram_make(&h, x, n, page->style.width - UNIT_ROOM))
		return;
	write_bars(page, &h, rows);
	write_axis(page, &h, unit);
}
