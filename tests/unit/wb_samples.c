/* Single samples, paired and drawn from. */
#include "tui/wb_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct result_run run = {.seed = 7, .row_count = 2};

static void take(struct wb_samples *s, long row, uint32_t block, uint32_t round,
                 uint32_t iterations, uint64_t ticks, char state)
{
	const struct run_sample sample = {.row = row,
	                                  .block = block,
	                                  .round = round,
	                                  .iterations = iterations,
	                                  .ticks = ticks,
	                                  .state = state};

	wb_samples_take(s, &sample);
}

static void pairs_of_a_round_make_a_value_in_either_order(void **state)
{
	struct wb_samples s = {0};
	const struct wb_samples_row *row;

	(void)state;
	wb_samples_begin(&s, &run);
	take(&s, 0, 0, 0, 20, 300, 'k');
	take(&s, 0, 0, 1, 20, 310, 'k');
	take(&s, 0, 0, 0, 10, 200, 'k');
	take(&s, 0, 0, 1, 10, 200, 'k');
	take(&s, 1, 0, 0, 10, 200, 'k');
	take(&s, 1, 0, 0, 20, 250, 'k');
	row = wb_samples_of(&s, &run, 0);
	assert_non_null(row);
	assert_int_equal(row->count, 2);
	assert_true(row->ticks[0] == 10 && row->ticks[1] == 11);
	row = wb_samples_of(&s, &run, 1);
	assert_non_null(row);
	assert_true(row->count == 1 && row->ticks[0] == 5);
	wb_samples_free(&s);
}

static void rejected_samples_controls_and_halves_of_other_blocks_make_none(void **state)
{
	struct wb_samples s = {0};

	(void)state;
	wb_samples_begin(&s, &run);
	take(&s, -1, 0, 0, 10, 100, 'k');
	take(&s, -1, 0, 0, 20, 200, 'k');
	take(&s, 0, 0, 0, 10, 100, 'i');
	take(&s, 0, 0, 0, 20, 200, 'k');
	take(&s, 0, 1, 0, 20, 200, 'k');
	take(&s, 0, 2, 0, 10, 100, 'k');
	take(&s, 9, 0, 0, 10, 100, 'k');
	assert_null(wb_samples_of(&s, &run, 0));
	assert_null(wb_samples_of(&s, &run, 9));
	wb_samples_free(&s);
}

static void a_long_run_is_drawn_from_evenly(void **state)
{
	struct wb_samples s = {0};
	const struct wb_samples_row *row;
	enum { BLOCKS = 8 * WB_SAMPLES_KEPT };
	double mean = 0;

	(void)state;
	wb_samples_begin(&s, &run);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		take(&s, 0, b, 0, 0, 0, 'k');
		take(&s, 0, b, 0, 1, b, 'k');
	}
	row = wb_samples_of(&s, &run, 0);
	assert_non_null(row);
	assert_int_equal(row->count, WB_SAMPLES_KEPT);
	assert_int_equal(row->seen, BLOCKS);
	for (size_t i = 0; i < row->count; i++)
		mean += row->ticks[i] / (double)row->count;
	/* the standard error of the mean is 0.6% of the range */
	assert_true(mean > 0.46 * BLOCKS && mean < 0.54 * BLOCKS);
	wb_samples_free(&s);
}

static void they_belong_to_one_run(void **state)
{
	struct wb_samples s = {0};
	struct result_run other = {.seed = 8, .row_count = 2};

	(void)state;
	wb_samples_begin(&s, &run);
	take(&s, 0, 0, 0, 10, 100, 'k');
	take(&s, 0, 0, 0, 20, 200, 'k');
	assert_null(wb_samples_of(&s, &other, 0));
	assert_null(wb_samples_of(&s, NULL, 0));
	assert_non_null(wb_samples_of(&s, &run, 0));
	wb_samples_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(pairs_of_a_round_make_a_value_in_either_order),
	        cmocka_unit_test(rejected_samples_controls_and_halves_of_other_blocks_make_none),
	        cmocka_unit_test(a_long_run_is_drawn_from_evenly),
	        cmocka_unit_test(they_belong_to_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
