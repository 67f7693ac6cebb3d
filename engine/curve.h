/* curve: a run as cost against a number, and the knees of it.
 *
 * "#: curve FACTOR" in an experiment's file makes a run a curve: one series for each combination of
 * the other factors that vary, one point for each number. A series is cut into segments, over each
 * of which the cost is either constant or linear in log2 of the number; a knee is where one segment
 * gives way to the next.
 *
 * The segments are those of the least penalised deviance (Jackson et al. 2005, "optimal
 * partitioning"). The penalty of a knee is not the Bayesian criterion's log(n) but what makes it a
 * test: the quantile of chi-squared at the run's alpha over the number of places and series, which
 * is stricter for any number of points that a run can have. Each segment may leave out one point at
 * the price of a knee (so that a bad point does not become two), but not the first or last of a
 * series: whether such a point is bad nobody can tell.
 *
 * The noise of a point is that of its placements after what moves a whole series at one placement
 * (the ruler, the neighbours on the machine) is taken off, which is what pairing by placement does
 * to differences. To this is added what placements cannot tell: that variants of unlike numbers are
 * unlike code. It is not less than 0.02 cycle or 0.1% of the cost, and from ten points on at least
 * what the points' own scatter about their neighbours says. */
#ifndef ENGINE_CURVE_H
#define ENGINE_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "result.h"

enum {
	CURVE_POINTS_MOST =
	        400, /* of one series in which knees are sought: the search takes the cube of it */
	CURVE_PLACEMENTS_LEAST = 8 /* of a point: below, there is no 99% interval of a median */
};

struct curve_point {
	double x;     /* the number */
	double place; /* log2(x); for 0, one less than that of the smallest other number of the run
	               */
	struct stats_interval cycles;
	size_t row;      /* of the run */
	bool apart;      /* far from the segments on both sides: a knee it is not */
	double apart_by; /* cycles above the segment that it stands in; NAN if it is not apart */
};

struct curve_segment {
	size_t first, last; /* points, without any that lie on the way to a neighbour */
	bool slopes;        /* linear in log2(x), not constant */
	struct stats_interval begin, end; /* cycles at its ends; the same if constant */
	struct stats_interval slope;      /* cycles for each doubling; 0 if constant */
};

enum curve_kind {
	CURVE_STEP,  /* the cost jumps */
	CURVE_SLOPE, /* the cost goes on where it was, but climbs otherwise */
	CURVE_KINDS,
};
extern const char *const curve_kind_name[CURVE_KINDS]; /* "step", "slope" */

/* Knee k stands between segments k and k+1. It is above the number `from` and not above `to`, both
 * measured, at the run's confidence. */
struct curve_knee {
	enum curve_kind kind;
	double from, to;
	struct stats_interval size; /* cycles; of a slope, cycles for each doubling */
	bool thin;                  /* one of the two segments is a single point */
};

struct curve_series {
	size_t row; /* of the run: one that has the levels of this series */
	struct curve_point *points;
	size_t point_count; /* measured ones, in the order of x */
	size_t missing;     /* numbers that have no figure */
	struct curve_segment *segments;
	size_t segment_count; /* 0: no knee was sought, and why says why */
	struct curve_knee *knees;
	size_t knee_count; /* segment_count - 1 */
	double detectable; /* cycles: the smallest single step, two points or more from either end,
	                    * that would have been found nine times in ten; NAN with fewer than two
	                    * points or without noise */
	const char *why;   /* NULL, or a text that lives for ever */
};

struct curve {
	size_t factor; /* what the numbers are of */
	struct curve_series *series;
	size_t series_count;
};

/* Whether the run says that it is a curve. (abi, factor 0, is no number: a run of zeros is no
 * curve.) */
bool curve_is_set(const struct result_run *run);

/* Bytes that one of the curve's number takes in a series; 0: the run does not tell. */
uint64_t curve_bytes(const struct result_run *run, const struct curve_series *s);

/* Finds the series and their knees. *out is NULL if the run is no curve or has fewer than two
 * numbers; else it is the caller's. ERROR_INTERNAL: out of memory. */
int curve_find(const struct result_run *run, struct curve **out, struct error *err);
void curve_free(struct curve *c);

#endif
