/* render_curve: a run that is a curve, as text: a table with a line for each number, the chart, the
 * knees in sentences. */
#ifndef TUI_RENDER_CURVE_H
#define TUI_RENDER_CURVE_H

#include "engine/curve.h"
#include "tui/render_page.h"

/* The curve of a run, to be freed with curve_free; NULL if the run is none. */
struct curve *render_curve_new(const struct result_run *run);

/* Whether the short table below tells what the usual one does: no row is compared with another, and
 * every row has a place in the curve. c may be NULL: it does not. */
bool render_curve_folds(const struct result_run *run, const struct curve *c);

/* The measured rows: a line for each number, two columns (cycles and half-width) for each series,
 * as many beside each other as the page has room for. */
void render_curve_table(const struct render_page *page, const struct result_run *run,
                        const struct curve *c);

/* The chart, as many of them as the series need, and below each what it shows. */
void render_curve_chart(const struct render_page *page, const struct result_run *run,
                        const struct curve *c);

#endif
