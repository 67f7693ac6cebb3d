#include "engine/stats.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Simulations have fixed seeds, so that they pass or fail for good. A rate is accepted unless its
 * count would be this rare. */
#define RARE 1e-4

static gsl_rng *seeded(unsigned long seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	assert_non_null(rng);
	gsl_rng_set(rng, seed);
	return rng;
}

static double *values(size_t n)
{
	double *x = calloc(n, sizeof *x);

	assert_non_null(x);
	return x;
}

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.10g is not within %g of %.10g", value, tolerance, expected);
}

static void assert_rate(unsigned int count, unsigned int trials, double least, double most)
{
	if (gsl_cdf_binomial_P(count, least, trials) < RARE)
		fail_msg("%u of %u is too few for a rate of %g", count, trials, least);
	if (count && gsl_cdf_binomial_Q(count - 1, most, trials) < RARE)
		fail_msg("%u of %u is too many for a rate of %g", count, trials, most);
}

/* Shapes symmetric about 0 */
static double normal(gsl_rng *rng)
{
	return gsl_ran_ugaussian(rng);
}

static double laplace(gsl_rng *rng)
{
	return gsl_ran_laplace(rng, 1);
}

static double student(gsl_rng *rng)
{
	return gsl_ran_tdist(rng, 2);
}

static double two_humps(gsl_rng *rng)
{
	return (gsl_rng_uniform(rng) < 0.5 ? 3 : -3) + gsl_ran_ugaussian(rng);
}

static double quantised(gsl_rng *rng)
{
	return round(2 * gsl_ran_ugaussian(rng));
}

static double (*const shapes[])(gsl_rng *) = {normal, laplace, student, two_humps};

static void fill(double *x, size_t n, gsl_rng *rng, double (*draw)(gsl_rng *), double centre)
{
	for (size_t i = 0; i < n; i++)
		x[i] = centre + draw(rng);
}

/* Hamilton depression scale factor IV, after minus before therapy: Hollander and Wolfe,
 * Nonparametric Statistical Methods, table 3.1 and examples 3.1, 3.3 and 3.4. */
static const double depression[] = {
        0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68,
        1.29 - 1.88,  1.06 - 1.55,  3.14 - 3.06,  1.29 - 1.30,
};

/* Darwin's crossed minus self-fertilised maize in eighths of an inch: Fisher, The Design of
 * Experiments, chapter 3. */
static const double maize[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};

/* Hours of sleep gained, second drug minus first (Student 1908): a zero and a tie. */
static const double sleep_gain[] = {1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4};

static void wilcoxon_gives_the_published_p_of_worked_examples(void **state)
{
	(void)state;
	/* T+ = 5: 10 of the 512 sets of ranks have a sum of at most 5. */
	assert_near(stats_wilcoxon(depression, COUNT(depression)), 20.0 / 512, 1e-15);
	/* T- = 24 */
	assert_near(stats_wilcoxon(maize, COUNT(maize)), 0.041259765625, 1e-15);
	/* T- = 0 of 9: R's wilcox.test prints 0.009091, with the normal approximation as there are
	 * ties. */
	assert_near(stats_wilcoxon(sleep_gain, COUNT(sleep_gain)), 0.009091, 5e-7);
}

/* n different values of which those of the smallest ranks are positive until their sum is t. */
static void with_rank_sum(double *d, size_t n, size_t t)
{
	for (size_t rank = n; rank >= 1; rank--) {
		bool positive = rank <= t;

		d[rank - 1] = positive ? (double)rank : -(double)rank;
		t -= positive ? rank : 0;
	}
	assert_int_equal(t, 0);
}

static void wilcoxon_agrees_with_the_published_tables_up_to_fifty(void **state)
{
	/* The largest rank sums that are significant, two-sided (Wilcoxon and Wilcox 1964) */
	static const struct {
		size_t n, at_05, at_01;
	} table[] = {
	        {8, 3, 0},    {9, 5, 1},      {10, 8, 3},     {15, 25, 15},   {20, 52, 37},
	        {25, 89, 68}, {30, 137, 109}, {40, 264, 220}, {50, 434, 373},
	};
	double d[50];

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		size_t n = table[i].n;

		with_rank_sum(d, n, table[i].at_05);
		assert_true(stats_wilcoxon(d, n) <= 0.05);
		with_rank_sum(d, n, table[i].at_05 + 1);
		assert_true(stats_wilcoxon(d, n) > 0.05);
		with_rank_sum(d, n, table[i].at_01);
		assert_true(stats_wilcoxon(d, n) <= 0.01);
		with_rank_sum(d, n, table[i].at_01 + 1);
		assert_true(stats_wilcoxon(d, n) > 0.01);
	}
}

/* p by going through all signs of the ranks 1 to n */
static double enumerated_p(const double *d, size_t n)
{
	size_t all = n * (n + 1) / 2, t = 0, as_far = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			t += d[i] > 0 && fabs(d[j]) <= fabs(d[i]);
	if (t > all - t)
		t = all - t;
	for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
		size_t sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += signs >> i & 1 ? i + 1 : 0;
		as_far += sum <= t || sum >= all - t;
	}
	return (double)as_far / (double)((size_t)1 << n);
}

static void wilcoxon_is_the_share_of_sign_patterns_as_far_out(void **state)
{
	gsl_rng *rng = seeded(11);
	double d[12];

	(void)state;
	for (size_t n = 1; n <= COUNT(d); n++)
		for (int repeat = 0; repeat < 20; repeat++) {
			fill(d, n, rng, normal, 0.3);
			assert_near(stats_wilcoxon(d, n), enumerated_p(d, n), 1e-15);
		}
	gsl_rng_free(rng);
}

static void wilcoxon_goes_on_smoothly_where_the_exact_table_ends(void **state)
{
	double d[51];

	(void)state;
	/* The same data with one zero more, or with a tie, must give nearly the exact p. */
	for (size_t t = 420; t <= 620; t += 20) {
		with_rank_sum(d, 50, t);
		double exact = stats_wilcoxon(d, 50);

		d[50] = 0;
		assert_true(stats_wilcoxon(d, 51) == exact);
		d[49] = d[48];
		assert_near(stats_wilcoxon(d, 50), exact, 0.01 * exact + 0.0005);
	}
}

static void wilcoxon_of_nothing_or_only_zeros_is_one(void **state)
{
	static const double zeros[] = {0, 0, -0.0, 0};

	(void)state;
	assert_true(stats_wilcoxon(NULL, 0) == 1);
	assert_true(stats_wilcoxon(zeros, COUNT(zeros)) == 1);
	assert_true(stats_wilcoxon((double[]){3}, 1) == 1);
	assert_true(isnan(stats_wilcoxon((double[]){3, NAN}, 2)));
}

static void wilcoxon_does_not_depend_on_the_sign_or_the_scale(void **state)
{
	gsl_rng *rng = seeded(12);
	double d[120], e[120];

	(void)state;
	for (size_t n = 5; n <= COUNT(d); n += 23)
		for (size_t shape = 0; shape < 2; shape++) {
			fill(d, n, rng, shape ? quantised : normal, 0.25);
			for (size_t i = 0; i < n; i++)
				e[n - 1 - i] = d[i] * -1024;
			assert_true(stats_wilcoxon(d, n) == stats_wilcoxon(e, n));
		}
	gsl_rng_free(rng);
}

static void wilcoxon_never_goes_below_its_floor(void **state)
{
	double same[50], apart[50];

	(void)state;
	for (size_t n = 1; n <= COUNT(same); n++) {
		same[n - 1] = 7;
		apart[n - 1] = (double)n;
		assert_true(stats_wilcoxon(apart, n) == stats_wilcoxon_floor(n));
		assert_true(stats_wilcoxon(same, n) >= stats_wilcoxon_floor(n));
	}
	assert_true(stats_wilcoxon_floor(0) == 1);
	assert_true(stats_wilcoxon_floor(10) == 2.0 / 1024);
	assert_true(stats_wilcoxon_floor(100000) == 0);
}

static void wilcoxon_raises_false_alarms_at_the_rate_of_its_level(void **state)
{
	static const size_t sizes[] = {20, 60, 200};
	const unsigned int trials = 10000;
	gsl_rng *rng = seeded(13);
	double d[200];

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++)
		for (size_t shape = 0; shape < COUNT(shapes); shape++) {
			unsigned int at_01 = 0, at_001 = 0;

			for (unsigned int i = 0; i < trials; i++) {
				fill(d, sizes[k], rng, shapes[shape], 0);
				double p = stats_wilcoxon(d, sizes[k]);

				at_01 += p < 0.01;
				at_001 += p < 0.001;
			}
			assert_rate(at_01, trials, 0.0095, 0.01);
			assert_rate(at_001, trials, 0.0008, 0.001);
		}
	gsl_rng_free(rng);
}

static void wilcoxon_keeps_its_level_on_quantised_differences(void **state)
{
	const unsigned int trials = 20000;
	gsl_rng *rng = seeded(14);
	double d[200];

	(void)state;
	for (size_t n = 12; n <= COUNT(d); n = n * 4 + 8) {
		unsigned int at_01 = 0, at_001 = 0;

		for (unsigned int i = 0; i < trials; i++) {
			fill(d, n, rng, quantised, 0);
			double p = stats_wilcoxon(d, n);

			at_01 += p < 0.01;
			at_001 += p < 0.001;
		}
		/* A dozen values that are mostly tied cannot come close to the level. */
		assert_rate(at_01, trials, n < 20 ? 0.002 : 0.008, 0.01);
		assert_rate(at_001, trials, 0, 0.001);
	}
	gsl_rng_free(rng);
}

static void hodges_lehmann_gives_the_published_depression_estimate_and_interval(void **state)
{
	struct stats_interval r = stats_hodges_lehmann(depression, COUNT(depression), 0.96);

	(void)state;
	assert_near(r.est, -0.46, 1e-12);
	assert_near(r.lo, -0.786, 5e-4);
	assert_near(r.hi, -0.010, 5e-4);
}

static double select_rank(double *w, size_t count, size_t rank)
{
	return gsl_stats_select(w, 1, count, rank - 1);
}

/* Against all n(n+1)/2 Walsh averages */
static void assert_like_brute_force(const double *d, size_t n, size_t critical)
{
	struct stats_interval r = stats_hodges_lehmann(d, n, 0.99);
	size_t all = n * (n + 1) / 2, count = 0;
	double *w = values(all);

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			w[count++] = (d[i] + d[j]) / 2;
	double lower = select_rank(w, all, (all + 1) / 2), upper = select_rank(w, all, all / 2 + 1);

	assert_true(r.est == (lower + upper) / 2);
	if (critical == 0) {
		assert_true(isnan(r.lo) && isnan(r.hi));
	} else {
		assert_true(r.lo == select_rank(w, all, critical));
		assert_true(r.hi == select_rank(w, all, all + 1 - critical));
	}
	free(w);
}

/* Which Walsh average ends the 99% interval: one more than the largest rank sum significant at
 * 0.01, by the published table; above 50 by the normal approximation. */
static size_t critical_99(size_t n)
{
	static const size_t table[] = {
	        [8] = 1,   [9] = 2,   [10] = 4,   [11] = 6,   [12] = 8,   [13] = 10,
	        [14] = 13, [15] = 16, [16] = 20,  [17] = 24,  [18] = 28,  [19] = 33,
	        [20] = 38, [25] = 69, [30] = 110, [40] = 221, [50] = 374,
	};
	double nd = (double)n;

	if (n < COUNT(table))
		return table[n];
	return (size_t)(nd * (nd + 1) / 4 + 0.5 -
	                2.5758293 * sqrt(nd * (nd + 1) * (2 * nd + 1) / 24));
}

/* Data that are hard on a selection: ties, one heap, far outliers, scales that do not go together
 */
static double few_levels(gsl_rng *rng)
{
	return (double)gsl_rng_uniform_int(rng, 3);
}

static double mostly_one_value(gsl_rng *rng)
{
	return gsl_rng_uniform(rng) < 0.9 ? 5 : gsl_ran_ugaussian(rng);
}

static double with_outliers(gsl_rng *rng)
{
	return gsl_rng_uniform(rng) < 0.05 ? 1e300 * gsl_ran_ugaussian(rng)
	                                   : gsl_ran_ugaussian(rng);
}

static double all_scales(gsl_rng *rng)
{
	return ldexp(gsl_rng_uniform(rng) - 0.5, (int)gsl_rng_uniform_int(rng, 1000) - 500);
}

static double constant(gsl_rng *rng)
{
	(void)rng;
	return -0.1;
}

static double (*const hard[])(gsl_rng *) = {
        normal,           student,       two_humps,  quantised, few_levels,
        mostly_one_value, with_outliers, all_scales, constant,
};

static void hodges_lehmann_equals_brute_force_to_the_last_bit(void **state)
{
	static const size_t sizes[] = {1,  2,  3,  4,  5,  6,   7,   8,   9,   10, 11,
	                               12, 13, 14, 15, 16, 17,  18,  19,  20,  25, 30,
	                               40, 50, 51, 64, 99, 100, 200, 256, 257, 401};
	gsl_rng *rng = seeded(21);
	double d[401];

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++)
		for (size_t shape = 0; shape < COUNT(hard); shape++)
			for (int repeat = 0; repeat < (sizes[k] < 100 ? 10 : 3); repeat++) {
				fill(d, sizes[k], rng, hard[shape], 0);
				assert_like_brute_force(d, sizes[k], critical_99(sizes[k]));
			}
	gsl_rng_free(rng);
}

static void hodges_lehmann_equals_brute_force_on_thousands_of_values(void **state)
{
	static const size_t sizes[] = {1500, 4096};
	gsl_rng *rng = seeded(22);
	double *d = values(4096);

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++) {
		fill(d, sizes[k], rng, k ? student : quantised, 1);
		assert_like_brute_force(d, sizes[k], critical_99(sizes[k]));
	}
	free(d);
	gsl_rng_free(rng);
}

static void hodges_lehmann_has_no_interval_from_too_few_values(void **state)
{
	static const double d[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct stats_interval r = stats_hodges_lehmann(d, 7, 0.99);

	(void)state;
	assert_true(r.est == 4);
	assert_true(isnan(r.lo) && isnan(r.hi));
	/* With eight, 2 of 256 sign patterns leave it: 99.2%. */
	r = stats_hodges_lehmann(d, 8, 0.99);
	assert_true(r.lo == 1 && r.hi == 8);
	r = stats_hodges_lehmann(NULL, 0, 0.99);
	assert_true(isnan(r.est) && isnan(r.lo) && isnan(r.hi));
	r = stats_hodges_lehmann((double[]){1, INFINITY}, 2, 0.99);
	assert_true(isnan(r.est));
}

static void hodges_lehmann_interval_and_wilcoxon_agree(void **state)
{
	gsl_rng *rng = seeded(23);
	double d[120];

	(void)state;
	for (size_t n = 8; n <= COUNT(d); n += 7)
		for (int repeat = 0; repeat < 50; repeat++) {
			fill(d, n, rng, normal, 0.4);
			struct stats_interval r = stats_hodges_lehmann(d, n, 0.99);
			bool without_zero = r.lo > 0 || r.hi < 0;

			assert_int_equal(without_zero, stats_wilcoxon(d, n) <= 0.01);
		}
	gsl_rng_free(rng);
}

static void hodges_lehmann_interval_covers_as_often_as_it_says(void **state)
{
	static const size_t sizes[] = {20, 60, 200};
	const unsigned int trials = 4000;
	gsl_rng *rng = seeded(24);
	double d[200];

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++)
		for (size_t shape = 0; shape < COUNT(shapes); shape++) {
			unsigned int covered = 0;

			for (unsigned int i = 0; i < trials; i++) {
				fill(d, sizes[k], rng, shapes[shape], 12.5);
				struct stats_interval r = stats_hodges_lehmann(d, sizes[k], 0.99);

				assert_true(r.lo <= r.est && r.est <= r.hi);
				covered += r.lo <= 12.5 && 12.5 <= r.hi;
			}
			assert_rate(covered, trials, 0.99, 0.9915);
		}
	gsl_rng_free(rng);
}

static void the_detectable_difference_is_1_77_half_widths(void **state)
{
	(void)state;
	/* of so many values that their number does not matter any more */
	const size_t many = 1000000000000;
	assert_near(stats_detectable(1, many, 0.99, 0.001, 0.9), 1.775, 0.0005);
	assert_near(stats_detectable(0.25, many, 0.99, 0.001, 0.9), 1.775 / 4, 0.0005);
	/* Half the power is the point where the estimate itself lies on the border. */
	assert_near(stats_detectable(1, many, 0.999, 0.001, 0.5), 1, 1e-9);
}

static void the_detectable_difference_is_larger_for_few_values(void **state)
{
	(void)state;
	const double wide = stats_detectable(1, 1000000000000, 0.99, 0.001, 0.9);
	/* z(0.9995) is 3.2905 */
	assert_near(stats_detectable(1, 24, 0.99, 0.001, 0.9) / wide, 1 + 2.1385 / 24, 1e-5);
	assert_near(stats_detectable(1, 240, 0.99, 0.001, 0.9) / wide, 1 + 2.1385 / 240, 1e-5);
	/* at a level as lax as 0.05 the correction would be below 0 */
	assert_near(stats_detectable(1, 24, 0.99, 0.05, 0.9),
	            stats_detectable(1, 1000000000000, 0.99, 0.05, 0.9), 1e-12);
}

static double mean_half_width(gsl_rng *rng, double (*draw)(gsl_rng *), double *d, size_t n)
{
	const unsigned int trials = 500;
	double sum = 0;

	for (unsigned int i = 0; i < trials; i++) {
		fill(d, n, rng, draw, 0);
		struct stats_interval r = stats_hodges_lehmann(d, n, 0.99);

		sum += (r.hi - r.lo) / 2;
	}
	return sum / trials;
}

static void the_detectable_difference_is_seen_nine_times_in_ten(void **state)
{
	/* Ranks of few values with long tails see a little less than stats.h promises, those of few
	 * normal ones a little more, and the stricter the level the more so. */
	static const struct {
		double (*draw)(gsl_rng *);
		size_t n;
		double alpha, least, most;
	} cases[] = {
	        {normal, 24, 0.001, 0.92, 0.94},  {normal, 24, 0.00001, 0.92, 0.95},
	        {normal, 60, 0.001, 0.89, 0.92},  {normal, 60, 0.00001, 0.91, 0.94},
	        {normal, 200, 0.001, 0.89, 0.91}, {normal, 200, 0.00001, 0.89, 0.91},
	        {laplace, 24, 0.001, 0.83, 0.87}, {laplace, 24, 0.00001, 0.74, 0.79},
	        {laplace, 60, 0.001, 0.86, 0.89}, {laplace, 60, 0.00001, 0.81, 0.84},
	        {laplace, 200, 0.001, 0.88, 0.9}, {laplace, 200, 0.00001, 0.87, 0.9},
	};
	const unsigned int trials = 2000;
	gsl_rng *rng = seeded(31);
	double d[200];

	(void)state;
	for (size_t k = 0; k < COUNT(cases); k++) {
		size_t n = cases[k].n;
		double half = mean_half_width(rng, cases[k].draw, d, n);
		double alpha = cases[k].alpha;
		double difference = stats_detectable(half, n, 0.99, alpha, 0.9);
		unsigned int seen = 0, seen_at_half = 0;

		for (unsigned int i = 0; i < trials; i++) {
			fill(d, n, rng, cases[k].draw, difference);
			seen += stats_wilcoxon(d, n) < alpha;
			fill(d, n, rng, cases[k].draw, difference / 2);
			seen_at_half += stats_wilcoxon(d, n) < alpha;
		}
		assert_rate(seen, trials, cases[k].least, cases[k].most);
		assert_rate(seen_at_half, trials, 0.05, 0.2);
	}
	gsl_rng_free(rng);
}

static void median_interval_lies_between_order_statistics(void **state)
{
	static const double d[] = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
	struct stats_interval r = stats_median(d, COUNT(d), 0.95);
	/* The 2nd and 9th of 10 enclose the median in 1002 of 1024 cases, the 3rd and 8th in 912.
	 */
	double share = (1002 - 0.95 * 1024) / 90, w = 8 * share / (2 + 6 * share);

	(void)state;
	assert_near(r.est, 5.5, 0);
	assert_near(r.lo, 2 + w, 1e-12);
	assert_near(r.hi, 9 - w, 1e-12);
	/* Exactly what an order statistic covers: that order statistic. */
	r = stats_median(d, COUNT(d), 1002.0 / 1024);
	assert_near(r.lo, 2, 1e-9);
	assert_near(r.hi, 9, 1e-9);
}

static void median_has_no_interval_from_too_few_values(void **state)
{
	static const double d[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct stats_interval r = stats_median(d, 7, 0.99);

	(void)state;
	assert_true(r.est == 4);
	assert_true(isnan(r.lo) && isnan(r.hi));
	r = stats_median(d, 8, 0.99);
	assert_true(r.lo >= 1 && r.lo < 1.5 && r.hi > 7.5 && r.hi <= 8);
	r = stats_median(d, 1, 0.99);
	assert_true(r.est == 1 && isnan(r.lo));
	r = stats_median(d, 0, 0.99);
	assert_true(isnan(r.est) && isnan(r.lo));
}

static void median_interval_encloses_the_median_at_any_confidence(void **state)
{
	gsl_rng *rng = seeded(41);
	double d[33];

	(void)state;
	for (size_t n = 1; n <= COUNT(d); n++) {
		double last = 0;

		fill(d, n, rng, normal, 0);
		for (double confidence = 0.02; confidence < 0.995; confidence += 0.02) {
			struct stats_interval r = stats_median(d, n, confidence);

			if (isnan(r.lo))
				break;
			assert_true(r.lo <= r.est && r.est <= r.hi);
			assert_true(r.hi - r.lo >= last - 1e-12);
			last = r.hi - r.lo;
		}
	}
	gsl_rng_free(rng);
}

static double skew(gsl_rng *rng)
{
	return gsl_ran_exponential(rng, 1) - M_LN2;
}

static void median_interval_covers_as_often_as_it_says(void **state)
{
	static double (*const kinds[])(gsl_rng *) = {normal, laplace, skew};
	static const size_t sizes[] = {20, 60, 200};
	const unsigned int trials = 4000;
	gsl_rng *rng = seeded(42);
	double d[200];

	(void)state;
	for (size_t k = 0; k < COUNT(sizes); k++)
		for (size_t kind = 0; kind < COUNT(kinds); kind++) {
			unsigned int covered = 0;

			for (unsigned int i = 0; i < trials; i++) {
				fill(d, sizes[k], rng, kinds[kind], 3);
				struct stats_interval r = stats_median(d, sizes[k], 0.99);

				covered += r.lo <= 3 && 3 <= r.hi;
			}
			assert_rate(covered, trials, 0.989, 0.991);
		}
	gsl_rng_free(rng);
}

static void trimmed_mean_cuts_the_share_from_both_ends(void **state)
{
	static const double d[] = {100, 3, 1, 4, 2};

	(void)state;
	assert_near(stats_trimmed_mean(d, 5, 0), 22, 1e-12);
	assert_near(stats_trimmed_mean(d, 5, 0.2), 3, 1e-12);
	/* Half of the 1 and half of the 100 are left. */
	assert_near(stats_trimmed_mean(d, 5, 0.1), (0.5 + 2 + 3 + 4 + 50) / 4, 1e-12);
	assert_near(stats_trimmed_mean(d, 5, 0.5), 3, 1e-12);
	assert_near(stats_trimmed_mean(d, 4, 0.5), 3.0 / 2 + 4.0 / 2, 1e-12);
	assert_near(stats_trimmed_mean(d, 1, 0.3), 100, 1e-12);
	assert_true(isnan(stats_trimmed_mean(d, 0, 0.1)));
}

static void trimmed_mean_is_continuous_in_the_share(void **state)
{
	gsl_rng *rng = seeded(51);
	double d[37];

	(void)state;
	fill(d, COUNT(d), rng, student, 0);
	for (double share = 0; share < 0.5; share += 1.0 / 1024) {
		double here = stats_trimmed_mean(d, COUNT(d), share);

		assert_near(stats_trimmed_mean(d, COUNT(d), fmin(0.5, share + 1e-9)), here, 1e-5);
	}
	gsl_rng_free(rng);
}

/* What a clock of granule 1 shows of a body that takes `cost`: the difference of one sample of
 * twice the work and one of the work, each started anywhere within a granule. */
static double read_by_clock(gsl_rng *rng, double cost, double jitter)
{
	double twice = gsl_rng_uniform(rng) + 2 * cost + gsl_ran_gaussian(rng, jitter);
	double once = gsl_rng_uniform(rng) + cost + gsl_ran_gaussian(rng, jitter);

	return floor(twice) - floor(once);
}

static void coarse_clocks_bias_a_median_but_hardly_a_trimmed_mean(void **state)
{
	static const double jitters[] = {0, 0.4, 0.7, 1};
	const size_t n = 100000;
	gsl_rng *rng = seeded(52);
	double *x = values(n);

	(void)state;
	for (size_t k = 0; k < COUNT(jitters); k++) {
		double of_mean = 0, of_tenth = 0, of_median = 0;

		for (double cost = 100; cost < 101; cost += 0.19) {
			for (size_t i = 0; i < n; i++)
				x[i] = read_by_clock(rng, cost, jitters[k]);
			of_mean = fmax(of_mean, fabs(stats_trimmed_mean(x, n, 0) - cost));
			of_tenth = fmax(of_tenth, fabs(stats_trimmed_mean(x, n, 0.1) - cost));
			of_median = fmax(of_median, fabs(stats_quantile(x, n, 0.5) - cost));
		}
		/* Five standard errors of the mean are allowed for chance. */
		double chance = 5 * sqrt((2 * jitters[k] * jitters[k] + 0.5) / (double)n);

		assert_true(of_mean < chance);
		assert_true(of_tenth < (jitters[k] < 0.4 ? 0.1 : 0.03));
		assert_true(of_median > 0.4);
	}
	free(x);
	gsl_rng_free(rng);
}

static void quantiles_interpolate_between_values(void **state)
{
	static const double d[] = {4, 1, 3, 2};

	(void)state;
	assert_near(stats_quantile(d, 4, 0), 1, 0);
	assert_near(stats_quantile(d, 4, 1), 4, 0);
	assert_near(stats_quantile(d, 4, 0.5), 2.5, 1e-12);
	assert_near(stats_quantile(d, 4, 0.25), 1.75, 1e-12);
	assert_near(stats_quantile(d, 1, 0.9), 4, 0);
	assert_true(isnan(stats_quantile(d, 0, 0.5)));
}

static void values_of_independent_groups_need_no_wider_interval(void **state)
{
	(void)state;
	gsl_rng *rng = seeded(71);
	double x[80];
	unsigned int group[80], widened = 0;

	for (unsigned int trial = 0; trial < 2000; trial++) {
		for (size_t i = 0; i < COUNT(x); i++) {
			x[i] = laplace(rng);
			group[i] = (unsigned int)(i / 8);
		}
		widened += stats_cluster_widening(x, group, COUNT(x)) > 1;
	}
	assert_true(widened < 45); /* 1% of 2000, and five standard deviations */
	assert_true(stats_cluster_widening(x, group, 16) == 1);
	assert_true(stats_cluster_widening(x, group, 0) == 1);
	gsl_rng_free(rng);
}

static void values_of_groups_that_differ_get_an_interval_that_covers(void **state)
{
	(void)state;
	gsl_rng *rng = seeded(72);
	enum { GROUPS = 20, EACH = 8, TRIALS = 1000 };
	double x[GROUPS * EACH];
	unsigned int group[GROUPS * EACH], plain = 0, wide = 0;

	for (unsigned int trial = 0; trial < TRIALS; trial++) {
		for (size_t g = 0; g < GROUPS; g++) {
			double shared = 2 * normal(rng);
			for (size_t i = 0; i < EACH; i++) {
				x[g * EACH + i] = shared + normal(rng);
				group[g * EACH + i] = (unsigned int)g;
			}
		}
		struct stats_interval r = stats_median(x, COUNT(x), 0.99);
		double by = stats_cluster_widening(x, group, COUNT(x));
		plain += r.lo <= 0 && r.hi >= 0;
		wide += r.est - (r.est - r.lo) * by <= 0 && r.est + (r.hi - r.est) * by >= 0;
	}
	assert_true(plain < TRIALS * 80 / 100); /* what independence would have claimed */
	assert_true(wide > TRIALS * 97 / 100);
	gsl_rng_free(rng);
}

static void holm_gives_the_worked_example(void **state)
{
	/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
	static const double expected[] = {0.03, 0.06, 0.06, 0.02};
	double p[] = {0.01, 0.04, 0.03, 0.005};

	(void)state;
	stats_holm(p, p, COUNT(p));
	for (size_t i = 0; i < COUNT(p); i++)
		assert_near(p[i], expected[i], 1e-15);
}

static void holm_leaves_out_what_was_not_compared(void **state)
{
	static const double p[] = {NAN, 0.02, NAN, 0.6, 0.7, NAN};
	double adjusted[COUNT(p)];

	(void)state;
	stats_holm(p, adjusted, COUNT(p));
	assert_true(isnan(adjusted[0]) && isnan(adjusted[2]) && isnan(adjusted[5]));
	assert_near(adjusted[1], 0.06, 1e-15);
	assert_true(adjusted[3] == 1 && adjusted[4] == 1);
	stats_holm(p, adjusted, 0);
	stats_holm(p, adjusted, 1);
	assert_true(isnan(adjusted[0]));
}

static void holm_holds_the_chance_of_any_false_alarm_among_many(void **state)
{
	const unsigned int trials = 2000;
	gsl_rng *rng = seeded(61);
	double *p = values(1000);
	unsigned int alarms = 0;

	(void)state;
	for (unsigned int i = 0; i < trials; i++) {
		bool any = false;

		for (size_t j = 0; j < 1000; j++)
			p[j] = gsl_rng_uniform_pos(rng);
		stats_holm(p, p, 1000);
		for (size_t j = 0; j < 1000; j++)
			any = any || p[j] < 0.05;
		alarms += any;
	}
	assert_rate(alarms, trials, 0.045, 0.05);
	free(p);
	gsl_rng_free(rng);
}

static void modes_are_cut_where_the_gap_is(void **state)
{
	static const double d[] = {20.2, 10, 10.5, 20, 11, 20.4, 10.1, 31};
	struct stats_mode m[4];

	(void)state;
	assert_int_equal(stats_modes(d, COUNT(d), 1, 0.2, m, 4), 2);
	assert_true(m[0].lo == 10 && m[0].hi == 11 && m[0].count == 4);
	assert_near(m[0].at, 10.3, 1e-12);
	assert_true(m[1].lo == 20 && m[1].hi == 20.4 && m[1].count == 3 && m[1].at == 20.2);
	/* With a smaller share the lone 31 is a mode, too; with a wider gap all is one. */
	assert_int_equal(stats_modes(d, COUNT(d), 1, 0.1, m, 4), 3);
	assert_true(m[2].lo == 31 && m[2].hi == 31 && m[2].count == 1);
	assert_int_equal(stats_modes(d, COUNT(d), 15, 0.1, m, 4), 1);
	assert_true(m[0].lo == 10 && m[0].hi == 31 && m[0].count == 8);
}

static void one_spread_without_a_gap_is_one_mode(void **state)
{
	gsl_rng *rng = seeded(71);
	double d[200];
	struct stats_mode m[4];

	(void)state;
	fill(d, COUNT(d), rng, normal, 50);
	assert_int_equal(stats_modes(d, COUNT(d), 2, 0.05, m, 4), 1);
	assert_near(m[0].at, 50, 0.5);
	fill(d + 120, 80, rng, normal, 70);
	assert_int_equal(stats_modes(d, COUNT(d), 2, 0.05, m, 4), 2);
	assert_near(m[1].at, 70, 0.5);
	assert_int_equal(m[0].count + m[1].count, COUNT(d));
	gsl_rng_free(rng);
}

static void when_every_part_is_small_the_largest_is_the_mode(void **state)
{
	static const double d[] = {1, 10, 20, 20.5, 30, 40};
	struct stats_mode m[2];

	(void)state;
	assert_int_equal(stats_modes(d, COUNT(d), 1, 0.5, m, 2), 1);
	assert_true(m[0].lo == 20 && m[0].hi == 20.5 && m[0].count == 2);
	assert_int_equal(stats_modes(d, 1, 1, 0.5, m, 2), 1);
	assert_true(m[0].at == 1 && m[0].count == 1);
	assert_int_equal(stats_modes(d, 0, 1, 0.5, m, 2), 0);
	assert_int_equal(stats_modes(d, 6, 1, 0.5, m, 0), 0);
}

static void more_modes_than_asked_for_leaves_the_fullest_in_order(void **state)
{
	static const double d[] = {1, 1, 1, 10, 20, 20, 30, 30, 30, 30, 40};
	struct stats_mode m[3];

	(void)state;
	memset(m, 0, sizeof m);
	assert_int_equal(stats_modes(d, COUNT(d), 1, 0, m, 2), 2);
	assert_true(m[0].at == 1 && m[1].at == 30);
	assert_int_equal(m[2].count, 0);
	assert_int_equal(stats_modes(d, COUNT(d), 1, 0, m, 3), 3);
	assert_true(m[0].at == 1 && m[1].at == 20 && m[2].at == 30);
}

static void the_fence_stands_at_the_widest_of_its_three_distances(void **state)
{
	static const double same[] = {100, 100, 100, 100, 100};
	double spread[11];

	(void)state;
	for (size_t i = 0; i < COUNT(spread); i++)
		spread[i] = 1000 + (double)i * 10;
	/* two granules, 2% of the median, six times the median's distance from the lowest tenth */
	assert_near(stats_upper_fence(same, 5, 26), 152, 1e-9);
	assert_near(stats_upper_fence(same, 5, 0), 102, 1e-9);
	assert_near(stats_upper_fence(spread, 11, 26), 1050 + 6 * 40, 1e-9);
	assert_true(isnan(stats_upper_fence(same, 0, 26)));
}

static void the_fence_keeps_the_body_and_cuts_interrupts(void **state)
{
	gsl_rng *rng = seeded(81);
	double d[1000];
	size_t own_cut = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(d); i++)
		d[i] = 10000 + gsl_ran_gaussian(rng, 100) + (i % 50 ? 0 : 4000);
	double fence = stats_upper_fence(d, COUNT(d), 26);

	for (size_t i = 0; i < COUNT(d); i++)
		if (i % 50)
			own_cut += d[i] > fence;
		else
			assert_true(d[i] > fence);
	assert_int_equal(own_cut, 0);
	gsl_rng_free(rng);
}

static void callers_arrays_are_left_as_they_were(void **state)
{
	static const double original[] = {5, -3, 9, 1, 7, -2, 8, 6, 4, 10, -1, 2};
	double d[COUNT(original)], adjusted[COUNT(original)];
	struct stats_mode m[4];

	(void)state;
	memcpy(d, original, sizeof d);
	stats_trimmed_mean(d, COUNT(d), 0.1);
	stats_quantile(d, COUNT(d), 0.3);
	stats_median(d, COUNT(d), 0.99);
	stats_hodges_lehmann(d, COUNT(d), 0.99);
	stats_wilcoxon(d, COUNT(d));
	stats_upper_fence(d, COUNT(d), 1);
	stats_modes(d, COUNT(d), 1, 0, m, 4);
	stats_holm(d, adjusted, COUNT(d));
	assert_memory_equal(d, original, sizeof d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(wilcoxon_gives_the_published_p_of_worked_examples),
	        cmocka_unit_test(wilcoxon_agrees_with_the_published_tables_up_to_fifty),
	        cmocka_unit_test(wilcoxon_is_the_share_of_sign_patterns_as_far_out),
	        cmocka_unit_test(wilcoxon_goes_on_smoothly_where_the_exact_table_ends),
	        cmocka_unit_test(wilcoxon_of_nothing_or_only_zeros_is_one),
	        cmocka_unit_test(wilcoxon_does_not_depend_on_the_sign_or_the_scale),
	        cmocka_unit_test(wilcoxon_never_goes_below_its_floor),
	        cmocka_unit_test(wilcoxon_raises_false_alarms_at_the_rate_of_its_level),
	        cmocka_unit_test(wilcoxon_keeps_its_level_on_quantised_differences),
	        cmocka_unit_test(
	                hodges_lehmann_gives_the_published_depression_estimate_and_interval),
	        cmocka_unit_test(hodges_lehmann_equals_brute_force_to_the_last_bit),
	        cmocka_unit_test(hodges_lehmann_equals_brute_force_on_thousands_of_values),
	        cmocka_unit_test(hodges_lehmann_has_no_interval_from_too_few_values),
	        cmocka_unit_test(hodges_lehmann_interval_and_wilcoxon_agree),
	        cmocka_unit_test(hodges_lehmann_interval_covers_as_often_as_it_says),
	        cmocka_unit_test(the_detectable_difference_is_1_77_half_widths),
	        cmocka_unit_test(the_detectable_difference_is_larger_for_few_values),
	        cmocka_unit_test(the_detectable_difference_is_seen_nine_times_in_ten),
	        cmocka_unit_test(median_interval_lies_between_order_statistics),
	        cmocka_unit_test(median_has_no_interval_from_too_few_values),
	        cmocka_unit_test(median_interval_encloses_the_median_at_any_confidence),
	        cmocka_unit_test(median_interval_covers_as_often_as_it_says),
	        cmocka_unit_test(trimmed_mean_cuts_the_share_from_both_ends),
	        cmocka_unit_test(trimmed_mean_is_continuous_in_the_share),
	        cmocka_unit_test(coarse_clocks_bias_a_median_but_hardly_a_trimmed_mean),
	        cmocka_unit_test(quantiles_interpolate_between_values),
	        cmocka_unit_test(values_of_independent_groups_need_no_wider_interval),
	        cmocka_unit_test(values_of_groups_that_differ_get_an_interval_that_covers),
	        cmocka_unit_test(holm_gives_the_worked_example),
	        cmocka_unit_test(holm_leaves_out_what_was_not_compared),
	        cmocka_unit_test(holm_holds_the_chance_of_any_false_alarm_among_many),
	        cmocka_unit_test(modes_are_cut_where_the_gap_is),
	        cmocka_unit_test(one_spread_without_a_gap_is_one_mode),
	        cmocka_unit_test(when_every_part_is_small_the_largest_is_the_mode),
	        cmocka_unit_test(more_modes_than_asked_for_leaves_the_fullest_in_order),
	        cmocka_unit_test(the_fence_stands_at_the_widest_of_its_three_distances),
	        cmocka_unit_test(the_fence_keeps_the_body_and_cuts_interrupts),
	        cmocka_unit_test(callers_arrays_are_left_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
