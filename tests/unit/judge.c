/* What runs are called, by simulation: blocks of known noise go straight to the judging part of a
 * run (run_judge.c), without a worker. Fixed seeds: the counts are the same every time. -DSCALE=100
 * makes it a hundred times as many runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <cmocka.h>

#include "engine/run_state.h"

#ifndef SCALE
#define SCALE 1
#endif

enum { TRACKS = 64, BLOCKS = 256 };
enum noise { NORMAL, LONG_TAILED, SKEWED, TWO_MODES, NOISES };

static gsl_rng *rng;

/* A run without workers: a ruler, its controls, `rows` rows and the second copy of the first. */
struct paper {
	struct run r;
	struct run_track tracks[TRACKS];
	double ticks[TRACKS][BLOCKS], spread[TRACKS][BLOCKS];
	struct host_probes probes;
	unsigned worker_of[BLOCKS];
};

static struct paper *paper_new(size_t rows, uint32_t blocks)
{
	struct paper *p = calloc(1, sizeof *p);
	assert_non_null(p);
	struct run_abi *a = &p->r.abi[EXPERIMENT_X86_64];
	static const enum run_role roles[] = {RUN_RULER, RUN_TEN, RUN_ELEVEN, RUN_IMUL};
	p->probes.abi[EXPERIMENT_X86_64][HOST_FOOTPRINT].present = true;
	p->r.spec.probes = &p->probes;
	p->r.spec.precision_cycles = 0.1;
	p->r.host.tsc_hz = 2.5e9;
	p->r.host.tsc_granule = 26;
	p->r.blocks = blocks;
	p->r.result = calloc(1, sizeof *p->r.result);
	assert_non_null(p->r.result);
	p->r.result->confidence = 0.99;
	p->r.result->alpha = 0.001;
	p->r.result->rows = calloc(rows, sizeof *p->r.result->rows);
	assert_non_null(p->r.result->rows);
	p->r.result->row_count = rows;
	a->used = true;
	a->worker_of = p->worker_of;
	for (uint32_t b = 0; b < BLOCKS; b++)
		p->worker_of[b] = 1 + b / RUN_BLOCKS_A_WORKER;
	a->tracks = p->tracks;
	a->track_count = 4 + rows + 1;
	a->ten = 1;
	a->eleven = 2;
	a->imul = 3;
	a->again = (long)(4 + rows);
	for (size_t k = 0; k < a->track_count; k++) {
		long row = k < 4 ? -1 : k < 4 + rows ? (long)k - 4 : 0;
		p->tracks[k] = (struct run_track){.role = k < 4          ? roles[k]
		                                          : k < 4 + rows ? RUN_ROW
		                                                         : RUN_AGAIN,
		                                  .row = row,
		                                  .baseline = -1,
		                                  .name = "row",
		                                  .ticks = p->ticks[k],
		                                  .spread = p->spread[k],
		                                  .room = BLOCKS};
	}
	return p;
}

static void paper_free(struct paper *p)
{
	result_run_free(p->r.result);
	free(p);
}

/* Of standard deviation 1 and, but for the skewed ones, symmetric. */
static double draw(enum noise kind)
{
	switch (kind) {
	case NORMAL:
		return gsl_ran_gaussian(rng, 1);
	case LONG_TAILED:
		return gsl_ran_laplace(rng, M_SQRT1_2);
	case SKEWED:
		return gsl_ran_exponential(rng, 1);
	default:
		return (gsl_rng_uniform(rng) < 0.3 ? 2 : 0) + gsl_ran_gaussian(rng, 0.3);
	}
}

/* Rows of 50 cycles with this noise; every odd one (base 0) dearer by delta. The clock ticks 0.8
 * times a cycle. */
static void paper_fill(struct paper *p, enum noise kind, double sd, double delta)
{
	static const double cost[] = {100, 10, 11, 300};
	struct run_abi *a = &p->r.abi[EXPERIMENT_X86_64];
	for (uint32_t b = 0; b < p->r.blocks; b++)
		for (size_t k = 0; k < a->track_count; k++) {
			double c =
			        k < 4 ? cost[k] + gsl_ran_gaussian(rng, 0.005)
			              : 50 + (p->tracks[k].row % 2 ? delta : 0) + sd * draw(kind);
			p->ticks[k][b] = 0.8 * c;
			p->spread[k][b] = 0.01;
		}
	for (size_t i = 0; i < p->r.result->row_count; i++)
		p->r.result->rows[i].base = 0;
}

static void paper_judge(struct paper *p)
{
	run_judge_rows(&p->r);
	run_judge_controls(&p->r);
}

/* How many of `runs` runs of two rows call the second different, and how many fail their A/A
 * control. Returns the mean of what is told to be detectable. */
static double simulate(size_t runs, size_t rows, uint32_t blocks, enum noise kind, double delta,
                       size_t *called, size_t *untrusted)
{
	double detectable = 0;
	*called = *untrusted = 0;
	for (size_t i = 0; i < runs; i++) {
		struct paper *p = paper_new(rows, blocks);
		paper_fill(p, kind, 1, delta);
		run_judge_rows(&p->r);
		for (size_t k = 1; k < rows; k += 2)
			*called += p->r.result->rows[k].verdict == RESULT_DIFFERENT;
		detectable += p->r.result->rows[1].detectable;
		run_judge_controls(&p->r);
		*untrusted += !p->r.result->trusted;
		paper_free(p);
	}
	return detectable / (double)runs;
}

/* Four tests in four thousand are due at 0.001; more than thirteen would be five standard
 * deviations off. */
static void the_same_code_is_called_different_once_in_a_thousand_at_most(void **state)
{
	(void)state;
	for (enum noise kind = 0; kind < NOISES; kind++) {
		size_t called, untrusted, more = 0;
		for (int n = 0; n < 2; n++) {
			simulate(1000 * SCALE, 2, n ? 100 : 24, kind, 0, &called, &untrusted);
			more += called + untrusted;
#if SCALE > 1
			print_message("noise %d, %d blocks, %d runs: %zu called, %zu A/A controls "
			              "failed\n",
			              (int)kind, n ? 100 : 24, 1000 * SCALE, called, untrusted);
#endif
		}
		assert_true(more <= 4 * SCALE + 4 * sqrt(4 * SCALE) + 1);
	}
}

/* Ten rows against one base: the level holds for all of them together. */
static void many_comparisons_of_the_same_code_do_not_call_more(void **state)
{
	(void)state;
	size_t called, untrusted;
	simulate(400 * SCALE, 20, 30, NORMAL, 0, &called, &untrusted);
#if SCALE > 1
	print_message("20 rows, %d runs: %zu called\n", 400 * SCALE, called);
#endif
	assert_true((double)called <= 0.4 * SCALE + 4 * sqrt(0.4 * SCALE) + 1);
}

/* Of true differences as large as what is told to be detectable, nine in ten are called: a few less
 * where blocks are few, for the normal distribution knows nothing of ranks. */
static void what_is_told_to_be_detectable_is_detected(void **state)
{
	(void)state;
	static const struct {
		enum noise kind;
		uint32_t blocks;
		double least;
	} cases[] = {
	        {NORMAL, 24, 0.80},      {NORMAL, 60, 0.85},      {NORMAL, 200, 0.87},
	        {LONG_TAILED, 24, 0.72}, {LONG_TAILED, 60, 0.82}, {LONG_TAILED, 200, 0.86},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t called, untrusted, runs = 400 * SCALE;
		double detectable =
		        simulate(runs, 2, cases[i].blocks, cases[i].kind, 0, &called, &untrusted);
		simulate(runs, 2, cases[i].blocks, cases[i].kind, detectable, &called, &untrusted);
		double share = (double)called / (double)runs;
#if SCALE > 1
		print_message("noise %d, %u blocks: %.3f of differences of %.3f called\n",
		              (int)cases[i].kind, cases[i].blocks, share, detectable);
#endif
		if (share < cases[i].least || share > 0.95)
			fail_msg("%g of differences of %g are called with %u blocks", share,
			         detectable, cases[i].blocks);
	}
}

static void a_smaller_difference_is_not_called_more_often_than_it_is_told(void **state)
{
	(void)state;
	size_t half, whole, untrusted, runs = 200;
	double detectable = simulate(runs, 2, 60, NORMAL, 0, &half, &untrusted);
	simulate(runs, 2, 60, NORMAL, detectable / 2, &half, &untrusted);
	simulate(runs, 2, 60, NORMAL, detectable * 1.5, &whole, &untrusted);
	assert_true(half < runs / 2);
	assert_true(whole > runs * 98 / 100);
}

/* The true difference lies in the interval 99 times in 100. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
	(void)state;
	for (enum noise kind = NORMAL; kind <= LONG_TAILED; kind++) {
		size_t outside[2] = {0, 0}, runs = 1000 * SCALE;
		for (size_t i = 0; i < runs; i++) {
			struct paper *p = paper_new(2, 40);
			paper_fill(p, kind, 1, 0.7);
			paper_judge(p);
			const struct result_row *row = &p->r.result->rows[1];
			outside[0] += row->cycles.lo > 50.7 || row->cycles.hi < 50.7;
			outside[1] += row->diff.lo > 0.7 || row->diff.hi < 0.7;
			paper_free(p);
		}
#if SCALE > 1
		print_message("noise %d: of %zu intervals, %zu levels and %zu differences miss\n",
		              (int)kind, runs, outside[0], outside[1]);
#endif
		for (int k = 0; k < 2; k++)
			assert_true((double)outside[k] <= 10 * SCALE + 4 * sqrt(10 * SCALE));
	}
}

/* Both a difference in every block and its absence survive a clock that drifts and a level that all
 * rows share. */
static void what_all_rows_share_cancels(void **state)
{
	(void)state;
	struct paper *p = paper_new(3, 30);
	paper_fill(p, NORMAL, 0.02, 0.5);
	for (uint32_t b = 0; b < 30; b++) {
		double rate = 1 + 0.01 * b, shared = 5 * sin(b);
		for (size_t k = 0; k < 8; k++)
			p->ticks[k][b] = (p->ticks[k][b] + (k >= 4 ? shared : 0)) * rate;
	}
	paper_judge(p);
	const struct result_row *row = p->r.result->rows;
	assert_int_equal(row[1].verdict, RESULT_DIFFERENT);
	assert_true(fabs(row[1].diff.est - 0.5) < 0.02);
	assert_int_equal(row[2].verdict, RESULT_NO_DIFFERENCE);
	assert_true(fabs(row[2].diff.est) < 0.02);
	assert_true(row[0].cycles.hi - row[0].cycles.lo > 1);
	assert_true(p->r.result->trusted);
	paper_free(p);
}

static void placements_of_two_kinds_are_two_modes(void **state)
{
	(void)state;
	struct paper *p = paper_new(2, 100);
	paper_fill(p, NORMAL, 0.02, 0);
	for (uint32_t b = 0; b < 100; b += 4)
		p->ticks[5][b] += 0.8 * 7;
	paper_judge(p);
	const struct result_row *row = p->r.result->rows;
	assert_int_equal(row[0].mode_count, 1);
	assert_int_equal(row[1].mode_count, 2);
	assert_true(fabs(row[1].modes[0].at - 50) < 0.1 && fabs(row[1].modes[1].at - 57) < 0.1);
	assert_int_equal(row[1].modes[1].count, 25);
	paper_free(p);
}

/* Looked at again after something died, a row or a base has nothing left of what was called before.
 */
static void a_second_look_forgets_what_the_first_called(void **state)
{
	(void)state;
	struct paper *p = paper_new(4, 30);
	paper_fill(p, NORMAL, 0.05, 2);
	struct result_row *row = p->r.result->rows;
	run_judge_rows(&p->r);
	assert_int_equal(row[1].verdict, RESULT_DIFFERENT);
	assert_int_equal(row[2].verdict, RESULT_NO_DIFFERENCE);
	p->tracks[4 + 1].dead = true;
	row[1].state = RESULT_DIED;
	row[2].base = -1;
	run_judge_rows(&p->r);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(row[i].verdict, RESULT_VERDICT_NONE);
		assert_true(isnan(row[i].diff.est) && isnan(row[i].p) && isnan(row[i].p_holm) &&
		            isnan(row[i].detectable));
	}
	assert_int_equal(row[3].verdict, RESULT_DIFFERENT);
	p->tracks[4].dead = true;
	row[0].state = RESULT_DIED;
	run_judge_rows(&p->r);
	assert_int_equal(row[0].verdict, RESULT_VERDICT_NONE);
	assert_int_equal(row[3].verdict, RESULT_VERDICT_NONE);
	paper_free(p);
}

static int begin(void **state)
{
	(void)state;
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20061005);
	return rng ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	gsl_rng_free(rng);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_same_code_is_called_different_once_in_a_thousand_at_most),
	        TEST(many_comparisons_of_the_same_code_do_not_call_more),
	        TEST(what_is_told_to_be_detectable_is_detected),
	        TEST(a_smaller_difference_is_not_called_more_often_than_it_is_told),
	        TEST(intervals_hold_the_truth_as_often_as_they_say),
	        TEST(what_all_rows_share_cancels),
	        TEST(placements_of_two_kinds_are_two_modes),
	        TEST(a_second_look_forgets_what_the_first_called),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
