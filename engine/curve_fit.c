#include "curve_fit.h"

#include <math.h>
#include <stdlib.h>

enum { BEND_STEPS = 64 }; /* places tried between two points */

/* A line through some points: y = level + slope * (u - centre). */
struct line {
	double centre, level, slope;
	double w, wuu; /* sum of the weights, and of weighted squares about the centre */
};

static double weight(const struct curve_fit *f, size_t i)
{
	return 1 / (f->s[i] * f->s[i]);
}

static bool has(const struct curve_fit_segment *seg, size_t i)
{
	return i >= seg->first && i <= seg->last && i != seg->out;
}

/* Two passes, about the centre: the figures may be large and their differences small. */
static struct line line_of(const struct curve_fit *f, const struct curve_fit_segment *seg)
{
	struct line l = {0};
	double wuy = 0;

	for (size_t i = seg->first; i <= seg->last; i++) {
		if (!has(seg, i))
			continue;
		double w = weight(f, i);

		l.w += w;
		l.centre += w * f->u[i];
		l.level += w * f->y[i];
	}
	l.centre /= l.w;
	l.level /= l.w;
	if (!seg->slopes)
		return l;
	for (size_t i = seg->first; i <= seg->last; i++) {
		if (!has(seg, i))
			continue;
		double w = weight(f, i), u = f->u[i] - l.centre;

		l.wuu += w * u * u;
		wuy += w * u * (f->y[i] - l.level);
	}
	l.slope = l.wuu > 0 ? wuy / l.wuu : 0;
	return l;
}

/* How many points a segment must have, those left out not counted. One makes a level only at an end
 * of the series: elsewhere it is a bad point. Two always lie on a line. */
static size_t least_points(const struct curve_fit *f, const struct curve_fit_segment *seg)
{
	if (seg->slopes)
		return 3;
	return seg->first == 0 || seg->last == f->n - 1 ? 1 : 2;
}

/* The deviance of a segment, with the penalty of its slope, and of the point left out if that is
 * worth it: seg->out is set. INFINITY if it has too few points. */
static double deviance(const struct curve_fit *f, struct curve_fit_segment *seg)
{
	size_t n = seg->last - seg->first + 1, least = least_points(f, seg);
	double sum = seg->slopes ? f->slope : 0, most = 0;

	seg->out = CURVE_FIT_NONE;
	if (n < least)
		return INFINITY;
	struct line l = line_of(f, seg);
	size_t worst = CURVE_FIT_NONE;

	for (size_t i = seg->first; i <= seg->last; i++) {
		double w = weight(f, i), u = f->u[i] - l.centre;
		double r = f->y[i] - l.level - l.slope * u;
		double pull = w / l.w + (l.wuu > 0 ? w * u * u / l.wuu : 0);
		/* What the sum would lose with this point: exact, without another fit. */
		double loss = pull < 1 - 1e-9 ? w * r * r / (1 - pull) : 0;

		sum += w * r * r;
		if (loss > most && i > 0 && i < f->n - 1) {
			most = loss;
			worst = i;
		}
	}
	if (most > f->knee && n > least && n > 2) {
		seg->out = worst;
		sum += f->knee - most;
	}
	return isnan(sum) ? INFINITY : sum;
}

size_t curve_fit_cut(const struct curve_fit *f, struct curve_fit_segment *segs)
{
	/* best[j]: the least deviance of the points before j; last[j]: the segment that ends there
	 */
	double *best = malloc((f->n + 1) * sizeof *best);
	struct curve_fit_segment *last = malloc((f->n + 1) * sizeof *last);
	size_t count = 0;

	if (!best || !last)
		goto out;
	best[0] = -f->knee;
	for (size_t j = 1; j <= f->n; j++) {
		best[j] = INFINITY;
		last[j] = (struct curve_fit_segment){0, j - 1, CURVE_FIT_NONE, false};
		for (size_t i = 0; i < j; i++) {
			for (int slopes = 0; slopes < 2; slopes++) {
				struct curve_fit_segment seg = {i, j - 1, CURVE_FIT_NONE, slopes};
				double d = best[i] + f->knee + deviance(f, &seg);

				if (d < best[j]) {
					best[j] = d;
					last[j] = seg;
				}
			}
		}
	}
	for (size_t j = f->n; j > 0; j = last[j].first)
		count++;
	for (size_t j = f->n, k = count; j > 0; j = last[j].first)
		segs[--k] = last[j];
out:
	free(best);
	free(last);
	return count;
}

void curve_fit_line(const struct curve_fit *f, const struct curve_fit_segment *seg, double u,
                    double by, double *c)
{
	struct line l = line_of(f, seg);

	for (size_t i = seg->first; i <= seg->last; i++)
		if (has(seg, i))
			c[i] += by * weight(f, i) / l.w;
	curve_fit_slope(f, seg, by * (u - l.centre), c);
}

void curve_fit_slope(const struct curve_fit *f, const struct curve_fit_segment *seg, double by,
                     double *c)
{
	struct line l = line_of(f, seg);

	for (size_t i = seg->first; i <= seg->last && l.wuu > 0; i++)
		if (has(seg, i))
			c[i] += by * weight(f, i) * (f->u[i] - l.centre) / l.wuu;
}

size_t curve_fit_first(const struct curve_fit_segment *seg)
{
	return seg->first + (seg->out == seg->first);
}

size_t curve_fit_last(const struct curve_fit_segment *seg)
{
	return seg->last - (seg->out == seg->last);
}

/* One place that a knee may have. */
struct choice {
	double deviance;
	double width; /* its weight before anything was measured */
	size_t from, to;
};

static int choice_compare(const void *x, const void *y)
{
	const struct choice *a = x, *b = y;

	return (a->deviance > b->deviance) - (a->deviance < b->deviance);
}

/* The most likely places that together hold the share given, and all between them. */
static void choices_span(struct choice *choices, size_t n, double share, size_t *from, size_t *to)
{
	double all = 0, some = 0;

	qsort(choices, n, sizeof *choices, choice_compare);
	for (size_t i = 0; i < n; i++)
		all += choices[i].width * exp((choices[0].deviance - choices[i].deviance) / 2);
	*from = choices[0].from;
	*to = choices[0].to;
	for (size_t i = 0; i < n && some < share * all; i++) {
		some += choices[i].width * exp((choices[0].deviance - choices[i].deviance) / 2);
		if (choices[i].from < *from)
			*from = choices[i].from;
		if (choices[i].to > *to)
			*to = choices[i].to;
	}
}

int curve_fit_step_place(const struct curve_fit *f, const struct curve_fit_segment *a,
                         const struct curve_fit_segment *b, double share, size_t *from, size_t *to)
{
	struct choice *choices = malloc((b->last - a->first) * sizeof *choices);
	size_t n = 0;

	if (!choices)
		return -1;
	for (size_t k = a->first; k < b->last; k++) {
		struct curve_fit_segment low = {a->first, k, CURVE_FIT_NONE, a->slopes};
		struct curve_fit_segment high = {k + 1, b->last, CURVE_FIT_NONE, b->slopes};
		double d = deviance(f, &low) + deviance(f, &high);

		if (isfinite(d))
			choices[n++] =
			        (struct choice){d, 1, curve_fit_last(&low), curve_fit_first(&high)};
	}
	if (n) {
		choices_span(choices, n, share, from, to);
	} else { /* figures beyond what a double's square holds */
		*from = curve_fit_last(a);
		*to = curve_fit_first(b);
	}
	free(choices);
	return 0;
}

/* The deviance of a and b, whose lines meet at the place t, without penalties. The unknowns are the
 * level there and the slopes on both sides; no point lies on both sides, so that the slopes follow
 * from the level. */
static double bend_deviance(const struct curve_fit *f, const struct curve_fit_segment *a,
                            const struct curve_fit_segment *b, double t)
{
	double w = 0, wy = 0, sum = 0, slope[2];
	double wu[2] = {0}, wuu[2] = {0}, wuy[2] = {0};
	const bool slopes[2] = {a->slopes, b->slopes};
	double mean = f->y[curve_fit_first(a)];

	for (size_t i = a->first; i <= b->last; i++) {
		if (!has(a, i) && !has(b, i))
			continue;
		double wi = weight(f, i), u = f->u[i] - t, y = f->y[i] - mean;
		int side = u > 0;

		w += wi;
		wy += wi * y;
		if (!slopes[side])
			continue;
		wu[side] += wi * u;
		wuu[side] += wi * u * u;
		wuy[side] += wi * u * y;
	}
	for (int side = 0; side < 2; side++) {
		if (wuu[side] <= 0)
			continue;
		w -= wu[side] * wu[side] / wuu[side];
		wy -= wu[side] * wuy[side] / wuu[side];
	}
	if (w <= 0)
		return INFINITY;
	double level = wy / w;

	for (int side = 0; side < 2; side++)
		slope[side] = wuu[side] > 0 ? (wuy[side] - level * wu[side]) / wuu[side] : 0;
	for (size_t i = a->first; i <= b->last; i++) {
		if (!has(a, i) && !has(b, i))
			continue;
		double u = f->u[i] - t, r = f->y[i] - mean - level - slope[u > 0] * u;

		sum += weight(f, i) * r * r;
	}
	return sum;
}

static double plain_deviance(const struct curve_fit *f, const struct curve_fit_segment *seg)
{
	struct line l = line_of(f, seg);
	double sum = 0;

	for (size_t i = seg->first; i <= seg->last; i++) {
		double r = f->y[i] - l.level - l.slope * (f->u[i] - l.centre);

		if (has(seg, i))
			sum += weight(f, i) * r * r;
	}
	return sum;
}

/* Where the lines of a and b cross, if that is between the two points where they would meet; else
 * between the two. */
static double crossing(const struct curve_fit *f, const struct curve_fit_segment *a,
                       const struct curve_fit_segment *b)
{
	struct line low = line_of(f, a), high = line_of(f, b);
	double from = f->u[curve_fit_last(a)], to = f->u[curve_fit_first(b)];
	double t = (high.level - high.slope * high.centre - low.level + low.slope * low.centre) /
	           (low.slope - high.slope);

	return t >= from && t <= to ? t : (from + to) / 2;
}

int curve_fit_bend_place(const struct curve_fit *f, const struct curve_fit_segment *a,
                         const struct curve_fit_segment *b, double share, size_t *from, size_t *to)
{
	if (!a->slopes && !b->slopes)
		return 0;
	struct choice *choices = malloc(((b->last - a->first) * BEND_STEPS + 1) * sizeof *choices);
	size_t n = 0, between = a->last;
	double least = INFINITY, meet = crossing(f, a, b);

	if (!choices)
		return -1;
	for (size_t k = a->first; k < b->last; k++) {
		double gap = (f->u[k + 1] - f->u[k]) / BEND_STEPS;

		for (int i = 0; i < BEND_STEPS; i++) {
			double d = bend_deviance(f, a, b, f->u[k] + (i + 0.5) * gap);

			if (!isfinite(d))
				continue;
			least = fmin(least, d);
			choices[n++] = (struct choice){d, gap, k, k + 1};
		}
	}
	/* The best place may be one between those tried: so well it is known where the slope is
	 * steep. */
	double d = bend_deviance(f, a, b, meet);

	if (isfinite(d)) {
		while (between > a->first && f->u[between] > meet)
			between--;
		while (between + 1 < b->last && f->u[between + 1] < meet)
			between++;
		least = fmin(least, d);
		choices[n++] = (struct choice){d, (f->u[between + 1] - f->u[between]) / BEND_STEPS,
		                               between, between + 1};
	}
	bool bends = least - plain_deviance(f, a) - plain_deviance(f, b) < f->slope;

	if (bends)
		choices_span(choices, n, share, from, to);
	free(choices);
	return bends;
}
