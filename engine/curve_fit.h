/* curve_fit: points cut into segments that are constant or linear. The arithmetic behind curve.h.
 *
 * Deviance is the sum of squared residuals in units of their noise, plus the penalties. */
#ifndef ENGINE_CURVE_FIT_H
#define ENGINE_CURVE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve_fit {
	size_t n;
	const double *u; /* places, rising */
	const double *y; /* cost at each */
	const double *s; /* standard deviation of its noise, above 0 */
	double knee;     /* penalty of a knee, and of a point left out */
	double slope;    /* penalty of a slope, and of a jump where two segments meet */
};

#define CURVE_FIT_NONE SIZE_MAX

struct curve_fit_segment {
	size_t first, last;
	size_t out; /* a point between first and last (both may be it) that is left out, or
	               CURVE_FIT_NONE */
	bool slopes;
};

/* Cuts the points into the segments of least deviance; segs has room for n of them. Returns how
 * many, 0 without memory. */
size_t curve_fit_cut(const struct curve_fit *f, struct curve_fit_segment *segs);

/* Adds to c[0..n-1] the weights, times `by`, with which the points make up the segment's line at
 * the place u. */
void curve_fit_line(const struct curve_fit *f, const struct curve_fit_segment *seg, double u,
                    double by, double *c);

/* The same for its slope; nothing if it is constant. */
void curve_fit_slope(const struct curve_fit *f, const struct curve_fit_segment *seg, double by,
                     double *c);

/* The first and the last point of a segment that are not left out. */
size_t curve_fit_first(const struct curve_fit_segment *seg);
size_t curve_fit_last(const struct curve_fit_segment *seg);

/* Between which points the step from a to b (which follows it) lies with the probability given: the
 * places are weighed by how likely they make the figures of the two segments. 0, or -1 without
 * memory. */
int curve_fit_step_place(const struct curve_fit *f, const struct curve_fit_segment *a,
                         const struct curve_fit_segment *b, double share, size_t *from, size_t *to);

/* Whether a and b meet without a jump; then, between which points they do with the probability
 * given. -1 without memory. */
int curve_fit_bend_place(const struct curve_fit *f, const struct curve_fit_segment *a,
                         const struct curve_fit_segment *b, double share, size_t *from, size_t *to);

#endif
