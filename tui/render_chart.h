/* render_chart: curves drawn with characters: cost upwards, the logarithm of a number to the right.
 */
#ifndef TUI_RENDER_CHART_H
#define TUI_RENDER_CHART_H

#include "engine/curve.h"
#include "tui/render_page.h"

enum {
	RENDER_CHART_SERIES = 8, /* of one chart: as many as there are marks to tell them by */
	RENDER_CHART_MOST = 100, /* columns: a wider one is hard to follow */
};

/* The mark of the i-th series of a chart. */
const char *render_chart_mark(const struct render_page *page, size_t i);

/* Draws n series (at most RENDER_CHART_SERIES): a mark for each point, a bar where its interval is
 * higher than the mark, a digit for so many marks in one place; axes with labels; below, for each
 * series that has knees, a line with the place of each; and what needs saying: what a digit is, and
 * where the upright axis begins if that is not at 0. Draws nothing where nothing is measured. */
void render_chart_draw(const struct render_page *page, const struct curve_series *series, size_t n);

#endif
