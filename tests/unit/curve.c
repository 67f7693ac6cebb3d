/* The knees of made-up curves. What is promised of noise is tested on many seeds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/curve.h"

enum { MOST = 64, PLACEMENTS = 40 };

static uint64_t dice_state;

/* splitmix64: the same curves every time */
static uint64_t dice(void)
{
	uint64_t z = dice_state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return ((double)(dice() >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
}

/* A curve as it is, and what is seen of it. */
struct shape {
	size_t n;
	double x[MOST], y[MOST];
	double own;    /* cycles: noise of one placement of one point */
	double common; /* share: what moves all points at one placement */
	double unlike; /* cycles: what no placement tells, the same in all of them */
	size_t placements;
};

/* 1 2 3 4 6 8 12 16 ...: powers of two and midpoints, all at one level. */
static struct shape flat(size_t n, double level)
{
	struct shape s = {.n = n, .own = 0.3, .common = 0.003, .placements = PLACEMENTS};

	for (size_t i = 0; i < n; i++) {
		s.x[i] = i < 2 ? (double)(i + 1) : (i % 2 ? 2 : 1.5) * exp2((double)(i / 2));
		s.y[i] = level;
	}
	return s;
}

static void add_step(struct shape *s, double above, double size)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->x[i] > above)
			s->y[i] += size;
}

static void add_slope(struct shape *s, double above, double by)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->x[i] > above)
			s->y[i] += by * log2(s->x[i] / above);
}

static struct result_run *run_new(const char *const *factors, size_t factor_count, size_t rows)
{
	struct result_run *run = calloc(1, sizeof *run);

	assert_non_null(run);
	run->factor_count = factor_count;
	run->factors = calloc(factor_count, sizeof *run->factors);
	for (size_t f = 0; f < factor_count; f++)
		run->factors[f] = (struct result_factor){strdup(factors[f]), f > 0};
	run->curve = (long)factor_count - 1;
	run->rows = calloc(rows, sizeof *run->rows);
	run->row_count = rows;
	run->confidence = 0.99;
	run->alpha = 0.001;
	run->trusted = true;
	return run;
}

static void fill_row(struct result_run *run, size_t i, const char *series, double x, double y,
                     double own, const double *factors, size_t placements)
{
	struct result_row *row = &run->rows[i];
	char number[32];

	snprintf(number, sizeof number, "%.15g", x);
	row->levels = calloc(run->factor_count, sizeof *row->levels);
	row->levels[0] = strdup("x86_64");
	if (run->factor_count > 2)
		row->levels[1] = strdup(series);
	row->levels[run->factor_count - 1] = strdup(number);
	row->state = RESULT_MEASURED;
	row->base = -1;
	row->placements = calloc(placements + 1, sizeof *row->placements);
	row->placement_count = placements;
	for (size_t b = 0; b < placements; b++)
		row->placements[b] = y * factors[b] + own * normal();
	row->cycles = stats_median(row->placements, placements, run->confidence);
}

/* Rows from `at` on: what is measured of the shape. */
static void measure(struct result_run *run, size_t at, const char *series, const struct shape *s)
{
	double factors[256];

	for (size_t b = 0; b < s->placements; b++)
		factors[b] = 1 + s->common * normal();
	for (size_t i = 0; i < s->n; i++)
		fill_row(run, at + i, series, s->x[i], s->y[i] + s->unlike * normal(), s->own,
		         factors, s->placements);
}

static struct result_run *measured(const struct shape *s, uint64_t seed)
{
	static const char *const factors[] = {"abi", "n"};
	struct result_run *run = run_new(factors, 2, s->n);

	dice_state = seed;
	measure(run, 0, NULL, s);
	return run;
}

static struct curve *find(const struct result_run *run)
{
	struct error err = {0};
	struct curve *c;

	if (curve_find(run, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

/* The one series of a shape's curve. Kept in *c. */
static const struct curve_series *find_one(const struct shape *s, uint64_t seed, struct curve **c)
{
	struct result_run *run = measured(s, seed);

	*c = find(run);
	assert_non_null(*c);
	assert_int_equal((*c)->series_count, 1);
	result_run_free(run);
	return (*c)->series;
}

static void assert_within(struct stats_interval i, double value, double half)
{
	if (!(i.lo <= value && i.hi >= value && i.hi - i.lo <= 2 * half && i.lo <= i.est &&
	      i.est <= i.hi))
		fail_msg("%g (%g to %g) is not %g within %g", i.est, i.lo, i.hi, value, half);
}

static void assert_knee(const struct curve_series *s, size_t k, enum curve_kind kind, double from,
                        double to)
{
	assert_true(k < s->knee_count);
	assert_int_equal(s->knees[k].kind, kind);
	if (!(s->knees[k].from >= from && s->knees[k].to <= to &&
	      s->knees[k].from < s->knees[k].to))
		fail_msg("knee %zu is between %g and %g, not %g and %g", k, s->knees[k].from,
		         s->knees[k].to, from, to);
}

static void a_flat_curve_has_no_knee_and_says_what_would_have_been_seen(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s = find_one(&shape, 1, &c);

	(void)state;
	assert_null(s->why);
	assert_int_equal(s->point_count, 27);
	assert_int_equal(s->segment_count, 1);
	assert_int_equal(s->knee_count, 0);
	assert_false(s->segments[0].slopes);
	assert_within(s->segments[0].begin, 33, 0.2);
	assert_true(s->detectable > 0.1 && s->detectable < 0.5);
	curve_free(c);
}

static void a_step_is_between_the_two_numbers_around_it(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_step(&shape, 32, 8.5);
	s = find_one(&shape, 2, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_STEP, 32, 48);
	assert_false(s->knees[0].thin);
	assert_within(s->knees[0].size, 8.5, 0.2);
	assert_within(s->segments[0].begin, 33, 0.2);
	assert_within(s->segments[1].begin, 41.5, 0.2);
	assert_true(s->points[s->segments[0].last].x <= 32);
	assert_true(s->points[s->segments[1].first].x >= 48);
	curve_free(c);
}

static void two_steps_are_two_knees(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_step(&shape, 16, -2);
	add_step(&shape, 1024, 20);
	s = find_one(&shape, 3, &c);
	assert_int_equal(s->knee_count, 2);
	assert_knee(s, 0, CURVE_STEP, 16, 24);
	assert_within(s->knees[0].size, -2, 0.3);
	assert_knee(s, 1, CURVE_STEP, 1024, 1536);
	assert_within(s->knees[1].size, 20, 0.3);
	curve_free(c);
}

static void a_slope_that_begins_somewhere_is_a_knee_of_its_own_kind(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_slope(&shape, 64, 3);
	s = find_one(&shape, 4, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_SLOPE, 48, 96);
	assert_within(s->knees[0].size, 3, 0.2);
	assert_false(s->segments[0].slopes);
	assert_true(s->segments[1].slopes);
	assert_within(s->segments[1].slope, 3, 0.2);
	assert_within(s->segments[1].end, 33 + 3 * log2(12288.0 / 64), 0.5);
	curve_free(c);
}

static void a_slope_that_is_very_exact_is_still_no_step(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	shape.own = 0.01;
	shape.common = 0;
	add_slope(&shape, 100, 30);
	s = find_one(&shape, 5, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_SLOPE, 96, 128);
	curve_free(c);
}

static void a_step_with_numbers_on_the_way_is_one_knee_around_them(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_step(&shape, 32, 4);
	add_step(&shape, 48, 6);
	s = find_one(&shape, 6, &c);
	assert_int_equal(s->knee_count, 1);
	assert_true(s->knees[0].from <= 32 && s->knees[0].to >= 64);
	assert_knee(s, 0, CURVE_STEP, 32, 64);
	assert_within(s->knees[0].size, 10, 0.2);
	for (size_t i = 0; i < s->point_count; i++)
		assert_false(s->points[i].apart);
	curve_free(c);
}

static void one_bad_point_is_no_knee(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;
	size_t apart = 0;

	(void)state;
	shape.y[8] += 15;
	add_step(&shape, 128, 5);
	s = find_one(&shape, 7, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_STEP, 128, 192);
	assert_within(s->knees[0].size, 5, 0.2);
	for (size_t i = 0; i < s->point_count; i++)
		apart += s->points[i].apart;
	assert_int_equal(apart, 1);
	assert_true(s->points[8].apart);
	assert_true(fabs(s->points[8].apart_by - 15) < 0.5);
	assert_true(isnan(s->points[9].apart_by));
	curve_free(c);
}

static void a_bad_point_beside_a_knee_leaves_the_knee_where_it_is(void **state)
{
	struct shape shape = flat(27, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_step(&shape, 32, 8.5);
	shape.y[9] -= 6; /* 32 itself */
	s = find_one(&shape, 8, &c);
	assert_int_equal(s->knee_count, 1);
	assert_true(s->knees[0].from <= 32 && s->knees[0].to >= 48);
	assert_knee(s, 0, CURVE_STEP, 24, 48);
	assert_true(s->points[9].apart);
	curve_free(c);
}

static void what_rests_on_one_number_at_the_end_says_so(void **state)
{
	struct shape shape = flat(10, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	shape.y[9] += 8;
	s = find_one(&shape, 9, &c);
	assert_int_equal(s->knee_count, 1);
	assert_true(s->knees[0].thin);
	assert_knee(s, 0, CURVE_STEP, 24, 32);
	curve_free(c);
}

static void two_numbers_have_a_knee_or_none(void **state)
{
	struct shape shape = flat(2, 33);
	struct curve *c;
	const struct curve_series *s = find_one(&shape, 10, &c);

	(void)state;
	assert_int_equal(s->knee_count, 0);
	assert_true(isfinite(s->detectable));
	curve_free(c);
	add_step(&shape, 1, 5);
	s = find_one(&shape, 10, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_STEP, 1, 2);
	assert_true(s->knees[0].thin);
	assert_within(s->knees[0].size, 5, 0.4);
	curve_free(c);
}

static void three_numbers_have_a_step_or_one_that_stands_out(void **state)
{
	struct shape shape = flat(3, 33);
	struct curve *c;
	const struct curve_series *s;

	(void)state;
	add_step(&shape, 2, 5);
	s = find_one(&shape, 11, &c);
	assert_int_equal(s->knee_count, 1);
	assert_knee(s, 0, CURVE_STEP, 2, 3);
	curve_free(c);
	shape = flat(3, 33);
	shape.y[1] += 5;
	s = find_one(&shape, 11, &c);
	assert_int_equal(s->knee_count, 0);
	assert_true(s->points[1].apart);
	curve_free(c);
}

/* What is asked of n curves of one shape. */
struct tally {
	size_t knees;      /* curves with any, or with a slope */
	size_t steps;      /* curves with exactly one knee, a step */
	size_t placed;     /* of these: the true place is in its interval */
	size_t sized;      /* of these: the true size is in its interval */
	double detectable; /* mean */
};

static struct tally count(const struct shape *shape, size_t n, double above, double size)
{
	struct tally t = {0};

	for (size_t i = 0; i < n; i++) {
		struct curve *c;
		const struct curve_series *s = find_one(shape, 1000 + i, &c);

		t.detectable += s->detectable / (double)n;
		t.knees += s->knee_count > 0 || s->segments[0].slopes;
		if (s->knee_count == 1 && s->knees[0].kind == CURVE_STEP) {
			t.steps++;
			t.placed += s->knees[0].from <= above && s->knees[0].to > above;
			t.sized += s->knees[0].size.lo <= size && s->knees[0].size.hi >= size;
		}
		curve_free(c);
	}
	return t;
}

static void noise_makes_no_knees(void **state)
{
	static const size_t points[] = {2, 3, 4, 6, 10, 27, 40};
	static const double own[] = {0.002, 0.3, 5};

	(void)state;
	for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
		for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
			struct shape shape = flat(points[p], 33);

			shape.own = own[k];
			shape.placements = 24;
			struct tally t = count(&shape, 200, 1, 0);

			if (t.knees > 2)
				fail_msg("%zu points, noise %g: %zu of 200 curves have a knee",
				         points[p], own[k], t.knees);
		}
	}
}

static void what_moves_all_points_together_hides_no_step(void **state)
{
	struct shape shape = flat(20, 300);

	(void)state;
	shape.own = 0.1;
	shape.common = 0.02; /* 6 cycles */
	add_step(&shape, 32, 2);
	struct tally t = count(&shape, 100, 32, 2);
	assert_true(t.steps >= 98);
	assert_true(t.placed >= 98);
}

/* Variants of unlike numbers are unlike code: their levels scatter by more than their placements
 * do. */
static void scatter_among_the_points_is_taken_for_noise(void **state)
{
	struct shape shape = flat(40, 33);

	(void)state;
	shape.own = 0.1;
	shape.unlike = 0.2;
	struct tally t = count(&shape, 300, 1, 0);
	assert_true(t.knees <= 9);
	add_step(&shape, 512, 3);
	t = count(&shape, 300, 512, 3);
	assert_true(t.steps >= 285);
	assert_true(t.placed >= 280);
	assert_true(t.sized >= 280);
}

static void a_step_of_the_size_named_is_found_nine_times_in_ten(void **state)
{
	static const size_t points[] = {4, 6, 10, 14, 27, 40};

	(void)state;
	for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
		struct shape shape = flat(points[p], 33);
		double size = count(&shape, 20, 2, 0).detectable;

		add_step(&shape, 2, size); /* two points before it: the worst place */
		struct tally t = count(&shape, 300, 2, size);
		if (t.knees < 264) /* 270 less what chance takes */
			fail_msg("%zu points: %zu of 300 steps of %g are seen", points[p], t.knees,
			         size);
	}
}

static void places_and_sizes_hold_99_times_in_100(void **state)
{
	static const double sizes[] = {0.3, 0.5, 2};

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		struct shape shape = flat(27, 33);

		add_step(&shape, 64, sizes[k]);
		struct tally t = count(&shape, 400, 64, sizes[k]);
		if (t.steps < 300 || t.steps - t.placed > 8 || t.steps - t.sized > 12)
			fail_msg("step of %g: of %zu, %zu places and %zu sizes hold", sizes[k],
			         t.steps, t.placed, t.sized);
	}
}

static void series_are_told_apart_and_points_sorted(void **state)
{
	static const char *const factors[] = {"abi", "reg", "n"};
	struct shape fs = flat(20, 33), gs = flat(20, 40);
	struct result_run *run = run_new(factors, 3, 40);
	struct curve *c;

	(void)state;
	add_step(&gs, 8, 9);
	dice_state = 20;
	measure(run, 0, "gs", &gs);
	measure(run, 20, "fs", &fs);
	for (size_t i = 0; i < 39;
	     i++) { /* out of order, but for the first, which names the first series */
		size_t k = 1 + dice() % 39;
		struct result_row row = run->rows[i ? i : 1];

		run->rows[i ? i : 1] = run->rows[k];
		run->rows[k] = row;
	}
	c = find(run);
	assert_int_equal(c->series_count, 2);
	assert_int_equal(c->factor, 2);
	for (size_t k = 0; k < 2; k++) {
		const struct curve_series *s = &c->series[k];

		assert_int_equal(s->point_count, 20);
		assert_string_equal(run->rows[s->row].levels[1], k ? "fs" : "gs");
		for (size_t i = 0; i < 20; i++) {
			assert_true(s->points[i].x == fs.x[i]);
			assert_string_equal(run->rows[s->points[i].row].levels[1], k ? "fs" : "gs");
		}
	}
	assert_int_equal(c->series[0].knee_count, 1);
	assert_knee(&c->series[0], 0, CURVE_STEP, 8, 12);
	assert_int_equal(c->series[1].knee_count, 0);
	curve_free(c);
	result_run_free(run);
}

static void the_number_0_stands_one_doubling_below_the_smallest(void **state)
{
	struct shape shape = {
	        .n = 4, .x = {0, 4, 8, 16}, .y = {33, 33, 33, 33}, .own = 0.1, .placements = 20};
	struct curve *c;
	const struct curve_series *s = find_one(&shape, 12, &c);

	(void)state;
	assert_true(s->points[0].place == 1);
	assert_true(s->points[1].place == 2);
	assert_int_equal(s->knee_count, 0);
	curve_free(c);
}

static void rows_without_figures_are_counted_and_left_out(void **state)
{
	struct shape shape = flat(12, 33);
	struct result_run *run;
	struct curve *c;

	(void)state;
	add_step(&shape, 16, 4);
	run = measured(&shape, 13);
	run->rows[0].state = RESULT_DIED;
	run->rows[5].state = RESULT_ABSENT;
	c = find(run);
	assert_int_equal(c->series[0].point_count, 10);
	assert_int_equal(c->series[0].missing, 2);
	assert_int_equal(c->series[0].knee_count, 1);
	curve_free(c);
	result_run_free(run);
}

static void points_with_unlike_numbers_of_placements_are_not_paired(void **state)
{
	struct shape shape = flat(12, 33);
	struct result_run *run;
	struct curve *c;

	(void)state;
	add_step(&shape, 16, 4);
	run = measured(&shape, 14);
	run->rows[3].placement_count -= 3;
	run->rows[7].placements[2] = NAN;
	c = find(run);
	assert_int_equal(c->series[0].knee_count, 1);
	assert_knee(c->series, 0, CURVE_STEP, 16, 24);
	assert_within(c->series[0].knees[0].size, 4, 0.5);
	curve_free(c);
	result_run_free(run);
}

static void where_knees_cannot_be_sought_it_says_why(void **state)
{
	struct shape shape = flat(12, 33);
	struct result_run *run = measured(&shape, 15);
	struct curve *c;

	(void)state;
	run->trusted = false;
	c = find(run);
	assert_string_equal(c->series[0].why, "the run is not trusted");
	assert_int_equal(c->series[0].segment_count, 0);
	assert_true(isnan(c->series[0].detectable));
	curve_free(c);
	run->trusted = true;
	run->rows[4].placement_count = CURVE_PLACEMENTS_LEAST - 1;
	c = find(run);
	assert_string_equal(c->series[0].why, "fewer than 8 placements of a number");
	curve_free(c);
	for (size_t i = 1; i < 12; i++)
		run->rows[i].state = RESULT_ABSENT;
	c = find(run);
	assert_string_equal(c->series[0].why, "a single number was measured");
	curve_free(c);
	run->rows[0].state = RESULT_PENDING;
	c = find(run);
	assert_string_equal(c->series[0].why, "nothing was measured");
	curve_free(c);
	result_run_free(run);
}

static void a_run_that_is_no_curve_has_none(void **state)
{
	struct shape shape = flat(3, 33);
	struct result_run *run = measured(&shape, 16);

	(void)state;
	run->curve = -1;
	assert_null(find(run));
	run->curve = 0; /* abi */
	assert_null(find(run));
	run->curve = 2; /* no factor */
	assert_null(find(run));
	run->curve = 1;
	run->row_count = 1;
	assert_null(find(run));
	run->row_count = 3;
	result_run_free(run);
}

static void figures_beyond_all_reason_do_no_harm(void **state)
{
	static const double odd[] = {1e300, -1e300, 0, 5e-324, 1e17, 1, -1};

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct shape shape = flat(2 + seed % 12, 33);
		struct result_run *run;

		dice_state = seed;
		for (size_t i = 0; i < shape.n; i++)
			shape.y[i] = odd[dice() % 7];
		shape.own = odd[dice() % 6];
		run = measured(&shape, seed);
		curve_free(find(run));
		result_run_free(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_flat_curve_has_no_knee_and_says_what_would_have_been_seen),
	        cmocka_unit_test(a_step_is_between_the_two_numbers_around_it),
	        cmocka_unit_test(two_steps_are_two_knees),
	        cmocka_unit_test(a_slope_that_begins_somewhere_is_a_knee_of_its_own_kind),
	        cmocka_unit_test(a_slope_that_is_very_exact_is_still_no_step),
	        cmocka_unit_test(a_step_with_numbers_on_the_way_is_one_knee_around_them),
	        cmocka_unit_test(one_bad_point_is_no_knee),
	        cmocka_unit_test(a_bad_point_beside_a_knee_leaves_the_knee_where_it_is),
	        cmocka_unit_test(what_rests_on_one_number_at_the_end_says_so),
	        cmocka_unit_test(two_numbers_have_a_knee_or_none),
	        cmocka_unit_test(three_numbers_have_a_step_or_one_that_stands_out),
	        cmocka_unit_test(noise_makes_no_knees),
	        cmocka_unit_test(what_moves_all_points_together_hides_no_step),
	        cmocka_unit_test(scatter_among_the_points_is_taken_for_noise),
	        cmocka_unit_test(a_step_of_the_size_named_is_found_nine_times_in_ten),
	        cmocka_unit_test(places_and_sizes_hold_99_times_in_100),
	        cmocka_unit_test(series_are_told_apart_and_points_sorted),
	        cmocka_unit_test(the_number_0_stands_one_doubling_below_the_smallest),
	        cmocka_unit_test(rows_without_figures_are_counted_and_left_out),
	        cmocka_unit_test(points_with_unlike_numbers_of_placements_are_not_paired),
	        cmocka_unit_test(where_knees_cannot_be_sought_it_says_why),
	        cmocka_unit_test(a_run_that_is_no_curve_has_none),
	        cmocka_unit_test(figures_beyond_all_reason_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
