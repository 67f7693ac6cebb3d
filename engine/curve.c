#include "curve.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_fit.h"

const char *const curve_kind_name[CURVE_KINDS] = {
        [CURVE_STEP] = "step",
        [CURVE_SLOPE] = "slope",
};

enum {
	SCATTER_POINTS_LEAST = 10, /* with fewer, a knee or two would pass for scatter */
	MEDIAN_LEAST = 6,
};

/* What placements cannot tell is at least so much: code for another number is other code. */
static const double FLOOR_CYCLES = 0.02;
static const double FLOOR_SHARE = 0.001;
/* Scatter is read where a third of the points is closer to its neighbours: the points at knees are
 * not among these. That share of normal values is within 0.4307 standard deviations. */
static const double SCATTER_SHARE = 1.0 / 3;
static const double SCATTER_SHARE_AT = 0.4307;
static const double POWER = 0.9;

/* What is worked on for one series. */
struct study {
	const struct result_run *run;
	struct curve_series *series;
	double confidence, z; /* of intervals */
	size_t placements;    /* that all points have in common, or 0: they cannot be paired */
	double *u, *y;        /* places and costs, as curve_fit.h takes them */
	double *noise, *floor,
	        *total;  /* standard deviations: of placements, of the rest, of both */
	double *scratch; /* room for one value a placement and for one a point */
	double *weights; /* of a contrast: one a point */
	struct curve_fit fit;
	struct curve_fit_segment *segments;
};

bool curve_is_set(const struct result_run *run)
{
	return run->curve > 0 && (size_t)run->curve < run->factor_count;
}

uint64_t curve_bytes(const struct result_run *run, const struct curve_series *s)
{
	if (run->curve_scale <= 0)
		return run->curve_bytes;
	return run->curve_bytes * strtoull(run->rows[s->row].levels[run->curve_scale], NULL, 10);
}

/* ---- series and points ---- */

static bool read_number(const char *level, double *x)
{
	size_t digits = strspn(level, "0123456789");

	*x = strtod(level, NULL);
	return digits && !level[digits] && digits < 16;
}

struct entry {
	const struct result_run *run;
	size_t row;
	double x;
};

/* By the levels of the other factors that vary. */
static int compare_series(const struct entry *a, const struct entry *b)
{
	const struct result_run *run = a->run;

	for (size_t f = 0; f < run->factor_count; f++) {
		if (!run->factors[f].varies || (long)f == run->curve)
			continue;
		int order = strcmp(run->rows[a->row].levels[f], run->rows[b->row].levels[f]);

		if (order)
			return order;
	}
	return 0;
}

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = compare_series(a, b);

	if (order)
		return order;
	if (a->x < b->x || a->x > b->x)
		return a->x < b->x ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_first_rows(const void *x, const void *y)
{
	const struct curve_series *a = x, *b = y;

	return (a->row > b->row) - (a->row < b->row);
}

static bool measured(const struct result_row *row)
{
	return row->state == RESULT_MEASURED && isfinite(row->cycles.est);
}

/* n sorted entries of one series. */
static int series_fill(struct curve_series *s, const struct entry *entries, size_t n,
                       double zero_place)
{
	s->row = entries[0].row;
	s->points = calloc(n, sizeof *s->points);
	if (!s->points)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct result_row *row = &entries[i].run->rows[entries[i].row];
		double x = entries[i].x;

		if (entries[i].row < s->row)
			s->row = entries[i].row;
		if (i && !(entries[i - 1].x < x))
			continue; /* the same variant twice: no run of ours has that */
		if (!measured(row)) {
			s->missing++;
			continue;
		}
		s->points[s->point_count++] = (struct curve_point){
		        .x = x,
		        .place = x > 0 ? log2(x) : zero_place,
		        .cycles = row->cycles,
		        .row = entries[i].row,
		        .apart_by = NAN,
		};
	}
	return 0;
}

/* Whether the entries have more than one number; and the place of 0. */
static bool look_over(const struct entry *entries, size_t n, double *zero_place)
{
	double least = INFINITY;
	bool differ = false;

	for (size_t i = 0; i < n; i++) {
		if (entries[i].x > 0)
			least = fmin(least, entries[i].x);
		differ |= entries[i].x < entries[0].x || entries[i].x > entries[0].x;
	}
	*zero_place = isfinite(least) ? log2(least) - 1 : 0;
	return differ;
}

static int collect(const struct result_run *run, struct entry *entries, struct curve **out)
{
	size_t n = 0;
	double zero_place;
	struct curve *c;

	for (size_t i = 0; i < run->row_count; i++) {
		entries[n] = (struct entry){run, i, 0};
		if (read_number(run->rows[i].levels[run->curve], &entries[n].x))
			n++;
	}
	if (!look_over(entries, n, &zero_place))
		return 0;
	qsort(entries, n, sizeof *entries, compare_entries);
	c = *out = calloc(1, sizeof *c);
	if (!c)
		return -1;
	c->factor = (size_t)run->curve;
	c->series = calloc(n, sizeof *c->series);
	if (!c->series)
		return -1;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_series(&entries[i], &entries[end]);)
			end++;
		if (series_fill(&c->series[c->series_count++], entries + i, end - i, zero_place))
			return -1;
	}
	qsort(c->series, c->series_count, sizeof *c->series, compare_first_rows);
	return 0;
}

/* ---- noise ---- */

static const struct result_row *row_of(const struct study *s, size_t point)
{
	return &s->run->rows[s->series->points[point].row];
}

/* Takes the middle of n values (those that are numbers) and its standard deviation; false if there
 * are too few. */
static bool locate(const struct study *s, double *x, size_t n, double *y, double *noise)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]))
			x[kept++] = x[i];
	struct stats_interval m = stats_median(x, kept, s->confidence);

	*y = m.est;
	*noise = (m.hi - m.lo) / 2 / s->z;
	return kept >= CURVE_PLACEMENTS_LEAST && isfinite(*noise);
}

/* By how much all points of the series together were off at one placement: a factor near 1. Points
 * of less than a cycle have no share in it: relative to themselves they are all noise. */
static double common_factor(const struct study *s, const double *levels, size_t placement,
                            double *room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->fit.n; i++) {
		double ratio = row_of(s, i)->placements[placement] / levels[i];

		if (levels[i] >= 1 && isfinite(ratio))
			room[n++] = ratio;
	}
	/* the median of a few would be one of them, and take all noise off that point */
	double factor = n < 2 ? 1 : stats_trimmed_mean(room, n, n < MEDIAN_LEAST ? 0 : 0.5);

	return factor > 0.5 && factor < 2 ? factor : 1;
}

/* Costs and their noise once more, without what was common to the series at each placement; kept if
 * that makes the series quieter. */
static int pair_points(struct study *s)
{
	size_t n = s->fit.n, quieter = 0;
	double *factors = malloc((s->placements + 2 * n) * sizeof *factors);

	if (!factors)
		return -1;
	double *y = factors + s->placements, *noise = y + n;
	/* the common factor has a share of each point's own noise */
	double share = sqrt((double)n / (double)(n - 1));

	for (size_t b = 0; b < s->placements; b++)
		factors[b] = common_factor(s, s->y, b, s->scratch);
	for (size_t i = 0; i < n; i++) {
		for (size_t b = 0; b < s->placements; b++)
			s->scratch[b] = row_of(s, i)->placements[b] / factors[b];
		if (!locate(s, s->scratch, s->placements, &y[i], &noise[i]))
			y[i] = noise[i] = NAN;
		noise[i] *= share;
		quieter += noise[i] < s->noise[i];
	}
	if (2 * quieter > n)
		for (size_t i = 0; i < n; i++) {
			if (!isfinite(noise[i]))
				continue;
			s->y[i] = y[i];
			s->noise[i] = noise[i];
		}
	free(factors);
	return 0;
}

/* The noise of one point is itself known badly: it is not taken for less than is usual around it.
 */
static void smooth_noise(struct study *s)
{
	size_t n = s->fit.n;

	for (size_t i = 0; i < n; i++) {
		size_t from = i < 2 ? 0 : i - 2, to = i + 2 < n ? i + 2 : n - 1;

		s->scratch[i] =
		        fmax(s->noise[i], stats_quantile(s->noise + from, to - from + 1, 0.5));
	}
	memcpy(s->noise, s->scratch, n * sizeof *s->noise);
}

/* How far the points with floors `by` times as large scatter about the line through their
 * neighbours, at the share of them that SCATTER_SHARE says, in standard deviations. */
static double scatter(const struct study *s, double by)
{
	size_t n = 0;

	for (size_t i = 1; i + 1 < s->fit.n; i++) {
		double a = (s->u[i] - s->u[i - 1]) / (s->u[i + 1] - s->u[i - 1]), variance = 0;
		const double part[3] = {a - 1, 1, -a};

		for (size_t k = 0; k < 3; k++) {
			double sd = hypot(s->noise[i + k - 1], by * s->floor[i + k - 1]);

			variance += part[k] * part[k] * sd * sd;
		}
		s->scratch[n++] = fabs(part[0] * s->y[i - 1] + s->y[i] + part[2] * s->y[i + 1]) /
		                  sqrt(variance);
	}
	return stats_quantile(s->scratch, n, SCATTER_SHARE);
}

/* Raises the floors to what the points' scatter says. */
static void scale_floor(struct study *s)
{
	double lo = 0, hi = 20; /* of log2 of the factor */

	if (s->fit.n < SCATTER_POINTS_LEAST || !(scatter(s, 1) > SCATTER_SHARE_AT))
		return;
	for (int step = 0; step < 30; step++) {
		double middle = (lo + hi) / 2;

		if (scatter(s, exp2(middle)) > SCATTER_SHARE_AT)
			lo = middle;
		else
			hi = middle;
	}
	/* the quantile of few points is often too low by chance: 4/n keeps false knees rare
	 * (tests/unit/curve.c) */
	for (size_t i = 0; i < s->fit.n; i++)
		s->floor[i] *= exp2(hi) * (1 + 4 / (double)s->fit.n);
}

/* Costs, noise and floor of every point. 1 if the series has too few placements. */
static int learn_noise(struct study *s)
{
	for (size_t i = 0; i < s->fit.n; i++) {
		const struct result_row *row = row_of(s, i);

		s->u[i] = s->series->points[i].place;
		if (row->placement_count)
			memcpy(s->scratch, row->placements,
			       row->placement_count * sizeof *s->scratch);
		if (!locate(s, s->scratch, row->placement_count, &s->y[i], &s->noise[i]))
			return 1;
	}
	if (s->placements && pair_points(s))
		return -1;
	smooth_noise(s);
	for (size_t i = 0; i < s->fit.n; i++)
		s->floor[i] = fmax(FLOOR_CYCLES, FLOOR_SHARE * fabs(s->y[i]));
	scale_floor(s);
	for (size_t i = 0; i < s->fit.n; i++)
		s->total[i] = hypot(s->noise[i], s->floor[i]);
	return 0;
}

/* ---- figures ---- */

static void contrast_begin(struct study *s)
{
	memset(s->weights, 0, s->fit.n * sizeof *s->weights);
}

/* The sum of the points' costs times the weights. The placements' part of its interval comes from
 * that sum at each placement, so that what was common at one cancels; the rest is added. */
static struct stats_interval contrast_end(struct study *s)
{
	double est = 0, noise = 0, rest = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->fit.n; i++) {
		est += s->weights[i] * s->y[i];
		noise = hypot(noise, s->z * s->weights[i] * s->noise[i]);
		rest = hypot(rest, s->z * s->weights[i] * s->floor[i]);
	}
	for (size_t b = 0; b < s->placements; b++) {
		double sum = 0;

		for (size_t i = 0; i < s->fit.n; i++)
			if (fabs(s->weights[i]) > 0)
				sum += s->weights[i] * row_of(s, i)->placements[b];
		if (isfinite(sum))
			s->scratch[n++] = sum;
	}
	struct stats_interval d = stats_hodges_lehmann(s->scratch, n, s->confidence);

	if (!isfinite(d.lo) || !isfinite(d.hi))
		d = (struct stats_interval){0, -noise, noise};
	return (struct stats_interval){est, est - hypot(d.est - d.lo, rest),
	                               est + hypot(d.hi - d.est, rest)};
}

static struct stats_interval line_at(struct study *s, const struct curve_fit_segment *seg,
                                     size_t point)
{
	contrast_begin(s);
	curve_fit_line(&s->fit, seg, s->u[point], 1, s->weights);
	return contrast_end(s);
}

static double line_value(struct study *s, const struct curve_fit_segment *seg, size_t point)
{
	double value = 0;

	contrast_begin(s);
	curve_fit_line(&s->fit, seg, s->u[point], 1, s->weights);
	for (size_t i = 0; i < s->fit.n; i++)
		value += s->weights[i] * s->y[i];
	return value;
}

static void take_segment(struct study *s, size_t k)
{
	const struct curve_fit_segment *seg = &s->segments[k];
	struct curve_segment *to = &s->series->segments[k];

	*to = (struct curve_segment){
	        .first = curve_fit_first(seg),
	        .last = curve_fit_last(seg),
	        .slopes = seg->slopes,
	};
	to->begin = line_at(s, seg, to->first);
	to->end = seg->slopes ? line_at(s, seg, to->last) : to->begin;
	if (!seg->slopes)
		return;
	contrast_begin(s);
	curve_fit_slope(&s->fit, seg, 1, s->weights);
	to->slope = contrast_end(s);
}

/* A point that its segment left out is apart, unless it is on the way to the segment that follows
 * or went before. */
static void take_left_out(struct study *s, size_t k)
{
	const struct curve_fit_segment *seg = &s->segments[k];
	size_t i = seg->out;

	if (i == CURVE_FIT_NONE)
		return;
	double own = line_value(s, seg, i);
	const struct curve_fit_segment *next = i == seg->last && k + 1 < s->series->segment_count
	                                               ? seg + 1
	                                       : i == seg->first && k > 0 ? seg - 1
	                                                                  : NULL;

	if (next && (s->y[i] - own) * (s->y[i] - line_value(s, next, i)) <= 0)
		return;
	s->series->points[i].apart = true;
	s->series->points[i].apart_by = s->y[i] - own;
}

static int take_knee(struct study *s, size_t k)
{
	const struct curve_fit_segment *a = &s->segments[k], *b = a + 1;
	struct curve_knee *knee = &s->series->knees[k];
	const struct curve_point *points = s->series->points;
	size_t from, to;
	int bends = curve_fit_bend_place(&s->fit, a, b, s->confidence, &from, &to);

	if (bends < 0 || (!bends && curve_fit_step_place(&s->fit, a, b, s->confidence, &from, &to)))
		return -1;
	*knee = (struct curve_knee){
	        .kind = bends ? CURVE_SLOPE : CURVE_STEP,
	        .from = points[from].x,
	        .to = points[to].x,
	        .thin = curve_fit_first(a) == curve_fit_last(a) ||
	                curve_fit_first(b) == curve_fit_last(b),
	};
	contrast_begin(s);
	if (bends) {
		curve_fit_slope(&s->fit, b, 1, s->weights);
		curve_fit_slope(&s->fit, a, -1, s->weights);
	} else {
		curve_fit_line(&s->fit, b, s->u[curve_fit_first(b)], 1, s->weights);
		curve_fit_line(&s->fit, a, s->u[curve_fit_last(a)], -1, s->weights);
	}
	knee->size = contrast_end(s);
	return 0;
}

/* The smallest step that would be found, wherever it is but at the last point on either side. */
static double detectable(const struct study *s)
{
	size_t n = s->fit.n, edge = n < 4 ? 1 : 2;
	double all = 0, before = 0, worst = 0;

	for (size_t i = 0; i < n; i++)
		all += 1 / (s->total[i] * s->total[i]);
	for (size_t i = 1; i + edge <= n; i++) {
		before += 1 / (s->total[i - 1] * s->total[i - 1]);
		if (i >= edge)
			worst = fmax(worst, 1 / before + 1 / (all - before));
	}
	/* where scatter counts, the step itself adds to it (tests/unit/curve.c) */
	double shy = n < SCATTER_POINTS_LEAST ? 1 : 1 + 80 / ((double)n * (double)n);

	return shy * (sqrt(s->fit.knee) + gsl_cdf_ugaussian_Pinv(POWER)) * sqrt(worst);
}

static int take_knees(struct study *s)
{
	struct curve_series *series = s->series;
	size_t n = curve_fit_cut(&s->fit, s->segments);

	series->segments = calloc(n, sizeof *series->segments);
	series->knees = calloc(n, sizeof *series->knees);
	if (!n || !series->segments || !series->knees)
		return -1;
	series->segment_count = n;
	series->knee_count = n - 1;
	for (size_t k = 0; k < n; k++)
		take_segment(s, k);
	for (size_t k = 0; k < n; k++)
		take_left_out(s, k);
	for (size_t k = 0; k + 1 < n; k++)
		if (take_knee(s, k))
			return -1;
	return 0;
}

/* ---- one series ---- */

static size_t common_placements(const struct study *s)
{
	size_t n = row_of(s, 0)->placement_count;

	for (size_t i = 1; i < s->fit.n; i++)
		if (row_of(s, i)->placement_count != n)
			return 0;
	return n;
}

static int study_alloc(struct study *s)
{
	size_t n = s->fit.n, most = n;

	for (size_t i = 0; i < n; i++)
		if (row_of(s, i)->placement_count > most)
			most = row_of(s, i)->placement_count;
	s->u = calloc(6 * n + most, sizeof *s->u);
	s->segments = calloc(n, sizeof *s->segments);
	if (!s->u || !s->segments)
		return -1;
	s->y = s->u + n;
	s->noise = s->y + n;
	s->floor = s->noise + n;
	s->total = s->floor + n;
	s->weights = s->total + n;
	s->scratch = s->weights + n;
	s->fit.u = s->u;
	s->fit.y = s->y;
	s->fit.s = s->total;
	return 0;
}

static double usable(double share, double otherwise)
{
	return share > 0 && share < 1 ? share : otherwise;
}

static const char *no_study(const struct result_run *run, const struct curve_series *series)
{
	if (series->point_count < 2)
		return series->point_count ? "a single number was measured"
		                           : "nothing was measured";
	if (!run->trusted)
		return "the run is not trusted";
	if (series->point_count > CURVE_POINTS_MOST)
		return "more than 400 numbers";
	return NULL;
}

/* places: how many knees any series of the run could have, together; count: of series */
static int study_series(const struct result_run *run, struct curve_series *series, size_t places,
                        size_t count)
{
	double alpha = usable(run->alpha, 0.001), confidence = usable(run->confidence, 0.99);
	struct study s = {
	        .run = run,
	        .series = series,
	        .confidence = confidence,
	        .z = gsl_cdf_ugaussian_Pinv((1 + confidence) / 2),
	        .fit = {.n = series->point_count,
	                .knee = gsl_cdf_chisq_Qinv(alpha / (double)places, 1),
	                .slope = gsl_cdf_chisq_Qinv(alpha / (double)count, 1)},
	};
	int rc = study_alloc(&s);

	if (!rc) {
		s.placements = common_placements(&s);
		rc = learn_noise(&s);
	}
	if (rc > 0)
		series->why = "fewer than 8 placements of a number";
	if (!rc) {
		series->detectable = detectable(&s);
		rc = take_knees(&s);
	}
	free(s.u);
	free(s.segments);
	return rc < 0 ? -1 : 0;
}

static int study_all(const struct result_run *run, struct curve *c)
{
	size_t places = 0;
	int rc = 0;

	for (size_t i = 0; i < c->series_count; i++) {
		c->series[i].detectable = NAN;
		c->series[i].why = no_study(run, &c->series[i]);
		if (!c->series[i].why)
			places += c->series[i].point_count - 1;
	}
	for (size_t i = 0; i < c->series_count && !rc; i++)
		if (!c->series[i].why)
			rc = study_series(run, &c->series[i], places, c->series_count);
	return rc;
}

int curve_find(const struct result_run *run, struct curve **out, struct error *err)
{
	struct entry *entries;
	int rc = 0;

	*out = NULL;
	if (!curve_is_set(run) || !run->row_count)
		return 0;
	entries = calloc(run->row_count, sizeof *entries);
	rc = entries ? collect(run, entries, out) : -1;
	free(entries);
	if (!rc && *out)
		rc = study_all(run, *out);
	if (!rc)
		return 0;
	curve_free(*out);
	*out = NULL;
	return error_set(err, ERROR_INTERNAL, "out of memory looking for the knees of a curve");
}

void curve_free(struct curve *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->series_count; i++) {
		free(c->series[i].points);
		free(c->series[i].segments);
		free(c->series[i].knees);
	}
	free(c->series);
	free(c);
}
