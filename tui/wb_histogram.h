/* wb_histogram: a distribution drawn with bars. */
#ifndef TUI_WB_HISTOGRAM_H
#define TUI_WB_HISTOGRAM_H

#include "tui/render_page.h"

enum { WB_HISTOGRAM_LEAST = 5 /* values below which there is no picture */ };

/* Bars, an axis and its labels, in height lines at least 4; what lies beyond the outermost
 * hundredths is in the outermost bars. unit stands behind the labels. Nothing for too few
 * values. */
void wb_histogram_write(const struct render_page *page, const double *x, size_t n, int height,
                        const char *unit);

#endif
