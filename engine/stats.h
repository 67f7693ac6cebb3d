/* stats: the statistics of a run.
 *
 * What GSL has (quantiles, distributions, random numbers, sorting) is GSL's; Wilcoxon's signed-rank
 * test and the Hodges-Lehmann estimate are ours. Nothing here knows about cycles: values in, values
 * out, in the caller's unit. No function keeps or frees what it is given; arrays marked const are
 * not reordered. NAN comes back where there are no values or no memory; the two signed-rank
 * functions give NAN for values that are not finite, too. */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats_interval {
	double est, lo, hi; /* NAN where there is too little data for it */
};

/* The mean of what is left when the given share (0 to 0.5) is cut from either end of the sorted
 * values. n >= 1. The fraction of a value that falls on the cut is weighted, so that the estimate
 * is continuous in the share. For values quantised by a coarse clock with random phase the plain
 * mean (share 0) is unbiased and a median can be half a granule off; with a tenth cut from either
 * end of differences of two such values it is at most 0.1 granule, and 0.03 once the jitter is
 * above 0.4 granule (tests/unit/stats.c). */
double stats_trimmed_mean(const double *x, size_t n, double share);

/* The quantile q (0 to 1) of unsorted values. n >= 1. */
double stats_quantile(const double *x, size_t n, double q);

/* Median of x with the distribution-free interval of order statistics at the confidence given
 * (0.99), from the binomial distribution; lo and hi are interpolated between neighbouring order
 * statistics so that the coverage is close to what is asked for, not above it by a whole step
 * (Hettmansperger and Sheather 1986). With too few values for the confidence lo and hi are NAN. */
struct stats_interval stats_median(const double *x, size_t n, double confidence);

/* By how much an interval for the centre of x must be wider than that of independent values,
 * because values of one group (group[i], any numbers; equal ones stand together) are alike: the
 * root of the ratio of the mean squares between and within groups, of ranks. 1 where that ratio is
 * no larger than chance would make it (F test at 0.01), with fewer than 3 groups, or without
 * memory. */
double stats_cluster_widening(const double *x, const unsigned *group, size_t n);

/* Hodges-Lehmann estimate of the centre of symmetric differences d: the median of the n(n+1)/2
 * Walsh averages; lo and hi are the order statistics of the Walsh averages that Wilcoxon's
 * distribution gives (Hollander and Wolfe, section 3.3). Exact for any n, in time O(n log n) and
 * memory O(n): the averages are not all stored. */
struct stats_interval stats_hodges_lehmann(const double *d, size_t n, double confidence);

/* Two-sided p of Wilcoxon's signed-rank test that d is symmetric about 0. Zeros are dropped, ties
 * get mid-ranks. Exact up to n = 50 without ties, else the normal approximation with tie and
 * continuity correction. 1 if nothing is left. */
double stats_wilcoxon(const double *d, size_t n);

/* The smallest p that stats_wilcoxon can return with n values: 2 / 2^n; 1 for n = 0. */
double stats_wilcoxon_floor(size_t n);

/* Holm's step-down correction of m p-values: adjusted[i] is the p to hold against the level; it is
 * monotone in p and at most 1. NAN stays NAN and does not count. adjusted may be p. */
void stats_holm(const double *p, double *adjusted, size_t m);

/* The smallest true difference that a two-sided signed-rank test of n values at level alpha calls
 * in the share `power` of runs, given the half-width of the interval at the confidence given: half
 * * (z(1-alpha/2) + z(power)) / z((1+confidence)/2), times 1 + c/n. For 0.001, 0.9 and 0.99 the
 * first part is 1.77 half-widths. The second, with c = 0.53 z(1-alpha/2)^2 - 3.6 and at least 0, is
 * for few values: ranks see less of a large difference than a normal distribution has; it was
 * fitted to simulated power at n = 24 to 200 and alpha = 0.001 to 0.00001 with normal and Laplace
 * noise, and tests/unit/stats.c looks at it again. */
double stats_detectable(double half_width, size_t n, double confidence, double alpha, double power);

/* Several modes in a set of values: values are sorted and cut wherever two neighbours are further
 * apart than gap; parts holding less than share of the values count as outliers and not as modes.
 * Fills at most max modes, ordered by position (the fullest if there are more), and returns how
 * many it filled: at least 1 for n >= 1 and max >= 1, even if every part is small: then the
 * largest. */
struct stats_mode {
	double at;     /* median of the part */
	double lo, hi; /* smallest and largest value of the part */
	size_t count;
};
size_t stats_modes(const double *x, size_t n, double gap, double share, struct stats_mode *modes,
                   size_t max);

/* Upper fence for interrupted samples: values above it are not this body's own time. median + max(6
 * * (median - q10), 2 * granule, 0.02 * median) where granule is the step of the clock. Lower tails
 * are never cut. n >= 1. */
double stats_upper_fence(const double *x, size_t n, double granule);

#endif
