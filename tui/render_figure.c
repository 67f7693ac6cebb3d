#include "tui/render_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One side of an interval up to this many times the other still reads as "±": the larger side is
 * shown. */
static const double SYMMETRIC = 2.0;

int render_figure_decimals(double half)
{
	int decimals;

	if (isnan(half))
		return 1;
	half = fabs(half);
	if (half <= 0)
		return RENDER_FIGURE_DECIMALS;
	decimals = -(int)floor(log10(half));
	if (half * pow(10, decimals) < 1.95) /* would round to 1 and something */
		decimals++;
	if (decimals < 0)
		return 0;
	return decimals < RENDER_FIGURE_DECIMALS ? decimals : RENDER_FIGURE_DECIMALS;
}

double render_figure_half(const struct stats_interval *i)
{
	return fmax(i->hi - i->est, i->est - i->lo);
}

void render_figure_number(char out[static 32], double v, int decimals, bool sign)
{
	if (!isfinite(v)) {
		strcpy(out, "n/a");
		return;
	}
	if (snprintf(out, 32, sign ? "%+.*f" : "%.*f", decimals, v) >= 32)
		snprintf(out, 32, "%.3e", v); /* no measurement is this long */
	if ((*out == '-' || *out == '+') && strspn(out + 1, "0.") == strlen(out + 1))
		memmove(out, out + 1, strlen(out));
}

void render_figure_interval(struct render_figure *out, const struct stats_interval *i, bool sign)
{
	double up = i->hi - i->est, down = i->est - i->lo, half = render_figure_half(i);
	int decimals = render_figure_decimals(half);
	double unit = pow(10, -decimals);
	char lo[32], hi[32];

	render_figure_number(out->est, i->est, decimals, sign);
	if (!isfinite(i->est)) {
		*out->half = 0;
		return;
	}
	if (isnan(half)) {
		strcpy(out->half, "±n/a");
		return;
	}
	/* Sides that differ by no more than the last digit shown do not look different. */
	if (fmax(up, down) <= SYMMETRIC * fmin(up, down) || fabs(up - down) <= unit) {
		/* An interval too narrow for its digits is shown as one unit, not as none. */
		render_figure_number(lo, half > 0 ? fmax(half, unit) : 0, decimals, false);
		snprintf(out->half, sizeof out->half, "±%s", lo);
		return;
	}
	render_figure_number(lo, i->lo, decimals, sign);
	render_figure_number(hi, i->hi, decimals, sign);
	snprintf(out->half, sizeof out->half, "%s..%s", lo, hi);
}
