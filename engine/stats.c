#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Doubles that a call needs for itself: on the stack for the usual sizes, because these functions
 * are called for every row of a run every few blocks. */
struct scratch {
	double small[1024];
	double *at;
};

static double *scratch_take(struct scratch *s, size_t n)
{
	s->at = n <= sizeof s->small / sizeof *s->small ? s->small : calloc(n, sizeof *s->at);
	return s->at;
}

static void scratch_drop(struct scratch *s)
{
	if (s->at != s->small)
		free(s->at);
}

static double *take_sorted(struct scratch *s, const double *x, size_t n)
{
	double *v = n ? scratch_take(s, n) : NULL;

	if (!v)
		return NULL;
	memcpy(v, x, n * sizeof *v);
	gsl_sort(v, 1, n);
	return v;
}

static const struct stats_interval none = {.est = NAN, .lo = NAN, .hi = NAN};

double stats_trimmed_mean(const double *x, size_t n, double share)
{
	struct scratch s;
	double *v = take_sorted(&s, x, n);

	if (!v)
		return NAN;
	double cut = share * (double)n;
	size_t whole = (size_t)cut;
	double mean;

	if (2 * whole + 1 >= n) {
		mean = gsl_stats_median_from_sorted_data(v, 1, n);
	} else {
		double ends = 1 - (cut - (double)whole);
		double sum = ends * (v[whole] + v[n - 1 - whole]);

		for (size_t i = whole + 1; i < n - 1 - whole; i++)
			sum += v[i];
		mean = sum / ((double)n - 2 * cut);
	}
	scratch_drop(&s);
	return mean;
}

double stats_quantile(const double *x, size_t n, double q)
{
	struct scratch s;
	double *v = take_sorted(&s, x, n);

	if (!v)
		return NAN;
	double value = gsl_stats_quantile_from_sorted_data(v, 1, n, q);

	scratch_drop(&s);
	return value;
}

double stats_upper_fence(const double *x, size_t n, double granule)
{
	struct scratch s;
	double *v = take_sorted(&s, x, n);

	if (!v)
		return NAN;
	double median = gsl_stats_median_from_sorted_data(v, 1, n);
	double q10 = gsl_stats_quantile_from_sorted_data(v, 1, n, 0.1);

	scratch_drop(&s);
	return median + fmax(6 * (median - q10), fmax(2 * granule, 0.02 * median));
}

/* The chance that the k-th smallest and the k-th largest of n values enclose the true median. */
static double order_coverage(size_t k, size_t n)
{
	return k ? 1 - 2 * gsl_cdf_binomial_P((unsigned int)k - 1, 0.5, (unsigned int)n) : 1;
}

static bool is_confidence(double confidence)
{
	return confidence > 0 && confidence < 1;
}

struct stats_interval stats_median(const double *x, size_t n, double confidence)
{
	struct stats_interval r = none;
	struct scratch s;
	double *v = take_sorted(&s, x, n);

	if (!v)
		return r;
	r.est = gsl_stats_median_from_sorted_data(v, 1, n);
	if (is_confidence(confidence) && order_coverage(1, n) >= confidence) {
		/* The largest k that covers enough, from where the normal approximation puts it. */
		double z = gsl_cdf_ugaussian_Pinv((1 + confidence) / 2);
		double guess = ((double)n - z * sqrt((double)n)) / 2;
		size_t k = guess > 1 ? (size_t)guess : 1;

		while (k > 1 && order_coverage(k, n) < confidence)
			k--;
		while (2 * (k + 1) <= n && order_coverage(k + 1, n) >= confidence)
			k++;
		double wide = order_coverage(k, n);
		double narrow = fmax(0, order_coverage(k + 1, n));
		double step = (wide - confidence) / (wide - narrow);
		double kd = (double)k, rest = (double)(n - k);
		double w = rest * step / (kd + (rest - kd) * step);

		/* Where the next pair has crossed over, the median is the end of the way. */
		double in_lo = fmin(v[k < n ? k : n - 1], r.est);
		double in_hi = fmax(v[k < n ? n - 1 - k : 0], r.est);

		r.lo = (1 - w) * v[k - 1] + w * in_lo;
		r.hi = (1 - w) * v[n - k] + w * in_hi;
	}
	scratch_drop(&s);
	return r;
}

/* Mid-ranks, 1 to n, in the order of x. */
static bool fill_ranks(const double *x, size_t n, double *rank)
{
	size_t *order = malloc(n * sizeof *order);

	if (!order)
		return false;
	gsl_sort_index(order, x, 1, n);
	for (size_t i = 0; i < n;) {
		size_t end = i;

		while (end < n && x[order[end]] <= x[order[i]])
			end++;
		for (size_t k = i; k < end; k++)
			rank[order[k]] = (double)(i + end + 1) / 2;
		i = end;
	}
	free(order);
	return true;
}

double stats_cluster_widening(const double *x, const unsigned *group, size_t n)
{
	double *rank = malloc((n + 1) * sizeof *rank);
	double between = 0, within = 0, all = ((double)n + 1) / 2;
	size_t groups = 0;

	if (!rank || n < 2 || !fill_ranks(x, n, rank)) {
		free(rank);
		return 1;
	}
	for (size_t i = 0; i < n; groups++) {
		size_t end = i;
		double mean = 0;

		for (; end < n && group[end] == group[i]; end++)
			mean += rank[end];
		mean /= (double)(end - i);
		between += (double)(end - i) * (mean - all) * (mean - all);
		for (; i < end; i++)
			within += (rank[i] - mean) * (rank[i] - mean);
	}
	free(rank);
	if (groups < 3 || n <= groups || within <= 0)
		return 1;
	double free_between = (double)(groups - 1), free_within = (double)(n - groups);
	double ratio = between / free_between / (within / free_within);

	return gsl_cdf_fdist_Q(ratio, free_between, free_within) < 0.01 ? sqrt(fmax(ratio, 1)) : 1;
}

/* Wilcoxon's signed-rank statistic is the sum of those of the ranks 1 to n whose value is positive.
 */
enum { EXACT_MAX = 50, EXACT_SUMS = EXACT_MAX * (EXACT_MAX + 1) / 4 + 1 };

/* Of the 2^n sets of ranks, how many have the sum 0, 1, … max: each rank doubles the sets, with it
 * and without. Exact in a double, as 2^50 is less than 2^53. */
static void count_rank_sums(size_t n, size_t max, double *sets)
{
	memset(sets, 0, (max + 1) * sizeof *sets);
	sets[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		size_t top = rank * (rank + 1) / 2;

		for (size_t sum = top < max ? top : max; sum >= rank; sum--)
			sets[sum] += sets[sum - rank];
	}
}

static double signed_rank_mean(double n)
{
	return n * (n + 1) / 4;
}

static double signed_rank_variance(double n)
{
	return n * (n + 1) * (2 * n + 1) / 24;
}

double stats_wilcoxon_floor(size_t n)
{
	return n < 2 ? 1 : ldexp(2, -(int)(n < 4096 ? n : 4096));
}

/* p from the smaller of the two rank sums: exact. */
static double exact_p(size_t n, size_t smaller)
{
	double sets[EXACT_SUMS], tail = 0;

	count_rank_sums(n, smaller, sets);
	for (size_t sum = 0; sum <= smaller; sum++)
		tail += sets[sum];
	return fmin(1, ldexp(2 * tail, -(int)n));
}

/* Absolute values without the zeros to size[], signs to sign[]; ordered by size. Returns how many.
 */
static size_t split_signs(const double *d, size_t n, double *size, double *sign)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (d[i] == 0)
			continue;
		size[m] = fabs(d[i]);
		sign[m++] = d[i];
	}
	gsl_sort2(size, 1, sign, 1, m);
	return m;
}

double stats_wilcoxon(const double *d, size_t n)
{
	struct scratch s;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(d[i]))
			return NAN;
	double *size = scratch_take(&s, 2 * n);
	if (!size)
		return NAN;
	double *sign = size + n;
	size_t m = split_signs(d, n, size, sign);
	double positive = 0, tied = 0;

	for (size_t i = 0, end; i < m; i = end) {
		for (end = i + 1; end < m && size[end] == size[i];)
			end++;
		double together = (double)(end - i);

		tied += together * together * together - together;
		for (size_t j = i; j < end; j++)
			if (sign[j] > 0)
				positive += (double)(i + 1 + end) / 2;
	}
	scratch_drop(&s);

	double md = (double)m, mean = signed_rank_mean(md);
	double smaller = fmin(positive, 2 * mean - positive);

	if (m == 0)
		return 1;
	if (m <= EXACT_MAX && tied == 0)
		return exact_p(m, (size_t)smaller);

	double off = fmax(0, mean - smaller - 0.5);
	double p = 2 * gsl_cdf_ugaussian_Q(off / sqrt(signed_rank_variance(md) - tied / 48));

	/* With ties in a few values the normal tail falls below what any permutation of the signs
	 * can reach. */
	return fmax(p, stats_wilcoxon_floor(m));
}

/* The largest c for which the chance of a rank sum below c is at most tail: the c-th smallest and
 * c-th largest Walsh averages are the ends of the interval. 0 if there is none. */
static size_t signed_rank_critical(size_t n, double tail)
{
	if (n > EXACT_MAX) {
		double nd = (double)n, z = gsl_cdf_ugaussian_Qinv(tail);
		double c = signed_rank_mean(nd) + 0.5 - z * sqrt(signed_rank_variance(nd));

		return c > 0 ? (size_t)c : 0;
	}
	double sets[EXACT_SUMS], below = 0, most = ldexp(tail, (int)n);
	size_t max = n * (n + 1) / 4, c = 0;

	count_rank_sums(n, max, sets);
	while (c <= max && below + sets[c] <= most)
		below += sets[c++];
	return c;
}

/* The sums of all pairs i <= j of sorted values, twice the Walsh averages, and a stretch of them:
 * those from `first` to `last`, both sums that occur; `before` sums are smaller than first, `upto`
 * are not larger than last. Rounding keeps the order of sums, so that all of this is exact. */
struct pairs {
	const double *v;
	size_t n;
	double *room; /* for the sums of a short stretch */
	size_t room_count;
};

struct stretch {
	double first, last;
	size_t before, upto;
};

struct split {
	size_t count;        /* sums <= the value asked for */
	double below, above; /* the largest of them, the smallest of the others */
};

/* One walk along the border between the sums up to `at` and those above: i goes up or j down at
 * each of n steps. Without branches, which here would be taken at random. */
static struct split pairs_split(const struct pairs *p, double at)
{
	const double *lo = p->v, *hi = p->v + p->n - 1;
	double below = -INFINITY, above = INFINITY;
	size_t count = 0;

	while (lo <= hi) {
		double sum = *lo + *hi;
		ptrdiff_t up = sum <= at;
		double b = up ? sum : -INFINITY, a = up ? INFINITY : sum;

		below = b > below ? b : below;
		above = a < above ? a : above;
		count += (size_t)((hi - lo + 1) & -up);
		lo += up;
		hi -= 1 - up;
	}
	return (struct split){.count = count, .below = below, .above = above};
}

/* All sums of the stretch to p->room. */
static size_t pairs_collect(const struct pairs *p, const struct stretch *s)
{
	size_t from = p->n, end = p->n, count = 0;

	for (size_t i = 0; i < p->n && end > i; i++) {
		while (end > i && p->v[i] + p->v[end - 1] > s->last)
			end--;
		while (from > i && p->v[i] + p->v[from - 1] >= s->first)
			from--;
		for (size_t j = from > i ? from : i; j < end; j++)
			p->room[count++] = p->v[i] + p->v[j];
	}
	return count;
}

/* A double's place in the order of all doubles, and back: halving between places ends after 64
 * steps whatever the scale. */
static int64_t to_place(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double from_place(int64_t place)
{
	int64_t bits = place < 0 ? INT64_MIN - place : place;
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Where to split next: by interpolation a little to either side of the rank wanted, so that both
 * ends close in; every third time half way, which needs no luck. */
static double stretch_pivot(const struct stretch *s, double rank, double margin, unsigned int step)
{
	double at;

	if (step % 3 == 2) {
		int64_t a = to_place(s->first), b = to_place(s->last);

		at = from_place((a >> 1) + (b >> 1) + (a & b & 1));
	} else {
		double wanted = rank + (step % 3 ? margin : -margin) - (double)s->before;

		at = s->first + (s->last - s->first) * wanted / (double)(s->upto - s->before);
	}
	/* Below last, so that every split takes at least one value off the stretch. */
	return fmin(fmax(at, s->first), nextafter(s->last, -INFINITY));
}

/* The sums of rank k and of rank k + more (more is 0 or 1), the smallest having rank 1. */
static void pairs_select(const struct pairs *p, struct stretch s, size_t k, size_t more,
                         double out[2])
{
	for (unsigned int step = 0; s.first < s.last; step++) {
		if (s.upto - s.before <= p->room_count) {
			size_t count = pairs_collect(p, &s);

			out[0] = gsl_stats_select(p->room, 1, count, k - s.before - 1);
			out[1] = gsl_stats_select(p->room, 1, count, k + more - s.before - 1);
			return;
		}
		double at = stretch_pivot(&s, (double)k, (double)p->room_count / 3, step);
		struct split cut = pairs_split(p, at);

		if (cut.count >= k + more) {
			s.last = cut.below;
			s.upto = cut.count;
		} else if (cut.count < k) {
			s.first = cut.above;
			s.before = cut.count;
		} else {
			out[0] = cut.below;
			out[1] = cut.above;
			return;
		}
	}
	out[0] = out[1] = s.first;
}

struct stats_interval stats_hodges_lehmann(const double *d, size_t n, double confidence)
{
	struct stats_interval r = none;
	struct scratch s;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(d[i]))
			return r;
	double *v = n ? scratch_take(&s, 4 * n) : NULL;
	if (!v)
		return r;
	memcpy(v, d, n * sizeof *v);
	gsl_sort(v, 1, n);

	struct pairs p = {.v = v, .n = n, .room = v + n, .room_count = 3 * n};
	size_t all = n * (n + 1) / 2;
	struct stretch whole = {.first = 2 * v[0], .last = 2 * v[n - 1], .before = 0, .upto = all};
	double sum[2];

	pairs_select(&p, whole, (all + 1) / 2, all % 2 ? 0 : 1, sum);
	r.est = (sum[0] + sum[1]) / 4;

	size_t c = is_confidence(confidence) ? signed_rank_critical(n, (1 - confidence) / 2) : 0;
	if (c > 0) {
		pairs_select(&p, whole, c, 0, sum);
		r.lo = sum[0] / 2;
		pairs_select(&p, whole, all + 1 - c, 0, sum);
		r.hi = sum[0] / 2;
	}
	scratch_drop(&s);
	return r;
}

void stats_holm(const double *p, double *adjusted, size_t m)
{
	struct scratch s;
	size_t count = 0;
	double *known = m ? scratch_take(&s, 2 * m) : NULL;

	if (!known) {
		for (size_t i = 0; i < m; i++)
			adjusted[i] = NAN;
		return;
	}
	double *place = known + m;
	for (size_t i = 0; i < m; i++) {
		adjusted[i] = p[i];
		if (isnan(p[i]))
			continue;
		known[count] = p[i];
		place[count++] = (double)i;
	}
	gsl_sort2(known, 1, place, 1, count);

	double least = 0;
	for (size_t i = 0; i < count; i++) {
		least = fmax(least, fmin(1, known[i] * (double)(count - i)));
		adjusted[(size_t)place[i]] = least;
	}
	scratch_drop(&s);
}

double stats_detectable(double half_width, size_t n, double confidence, double alpha, double power)
{
	double z = gsl_cdf_ugaussian_Qinv(alpha / 2);
	double seen = z + gsl_cdf_ugaussian_Pinv(power);
	double few = n ? fmax(0, 0.53 * z * z - 3.6) / (double)n : 0;

	return half_width * seen / gsl_cdf_ugaussian_Pinv((1 + confidence) / 2) * (1 + few);
}

static struct stats_mode mode_of(const double *v, size_t count)
{
	return (struct stats_mode){
	        .at = gsl_stats_median_from_sorted_data(v, 1, count),
	        .lo = v[0],
	        .hi = v[count - 1],
	        .count = count,
	};
}

/* The index of the mode with the fewest values, the last of them if several have as few. */
static size_t smallest_mode(const struct stats_mode *modes, size_t count)
{
	size_t least = 0;

	for (size_t i = 1; i < count; i++)
		if (modes[i].count <= modes[least].count)
			least = i;
	return least;
}

size_t stats_modes(const double *x, size_t n, double gap, double share, struct stats_mode *modes,
                   size_t max)
{
	struct scratch s;
	double *v = max ? take_sorted(&s, x, n) : NULL;
	struct stats_mode largest = {.count = 0};
	size_t filled = 0;

	if (!v)
		return 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end] - v[end - 1] <= gap;)
			end++;
		struct stats_mode mode = mode_of(v + i, end - i);

		if (mode.count > largest.count)
			largest = mode;
		if ((double)mode.count < share * (double)n)
			continue;
		if (filled == max) {
			size_t least = smallest_mode(modes, filled);

			if (modes[least].count >= mode.count)
				continue;
			memmove(modes + least, modes + least + 1,
			        (filled - least - 1) * sizeof *modes);
			filled--;
		}
		modes[filled++] = mode;
	}
	if (filled == 0)
		modes[filled++] = largest;
	scratch_drop(&s);
	return filled;
}
