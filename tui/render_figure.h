/* render_figure: numbers with as many digits as their uncertainty supports.
 *
 * The half-width of an interval gets two significant digits if it begins with a 1, else one, and at
 * most three decimals; the estimate gets the same decimals. No figure reads -0. Texts are UTF-8. */
#ifndef TUI_RENDER_FIGURE_H
#define TUI_RENDER_FIGURE_H

#include <stdbool.h>

#include "engine/stats.h"

enum { RENDER_FIGURE_DECIMALS = 3 };

struct render_figure {
	char est[32];  /* "197.9", "+136.8", "n/a" */
	char half[72]; /* "±0.2"; "197.1..203.4" where the sides are too unlike; "±n/a" without an
	                  interval */
};

/* Decimals that a half-width supports, 0 to RENDER_FIGURE_DECIMALS. NAN: 1. */
int render_figure_decimals(double half);

/* The larger side of an interval; NAN where it has none. */
double render_figure_half(const struct stats_interval *i);

/* v with so many decimals; sign: '+' before what is above zero. NAN is "n/a". */
void render_figure_number(char out[static 32], double v, int decimals, bool sign);

/* An estimate and its interval. sign as above. */
void render_figure_interval(struct render_figure *out, const struct stats_interval *i, bool sign);

#endif
