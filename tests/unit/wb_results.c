/* Which run is shown, and in what order its rows stand. */
#include "tui/wb_results.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *copy(const char *s)
{
	char *p = strdup(s);

	assert_non_null(p);
	return p;
}

/* Rows reg=fs, gs, es with 30, 10 cycles and none. */
static struct result_run *run_make(const char *id)
{
	static const char *const regs[] = {"fs", "gs", "es"};
	static const double cycles[] = {30, 10, NAN};
	struct result_run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	snprintf(run->id, sizeof(run->id), "%s", id);
	run->experiment = copy("t");
	run->factor_count = 2;
	run->factors = calloc(2, sizeof(*run->factors));
	run->factors[0] = (struct result_factor){copy("abi"), false};
	run->factors[1] = (struct result_factor){copy("reg"), true};
	run->row_count = 3;
	run->rows = calloc(3, sizeof(*run->rows));
	for (size_t i = 0; i < 3; i++) {
		struct result_row *row = &run->rows[i];
		char label[16];

		snprintf(label, sizeof(label), "reg=%s", regs[i]);
		row->label = copy(label);
		row->levels = calloc(2, sizeof(*row->levels));
		row->levels[0] = copy("i386");
		row->levels[1] = copy(regs[i]);
		row->state = isnan(cycles[i]) ? RESULT_ABSENT : RESULT_MEASURED;
		row->cycles = (struct stats_interval){cycles[i], cycles[i] - 1, cycles[i] + 1};
		row->diff.est = NAN;
		row->base = -1;
	}
	return run;
}

static int tear_down(void **state)
{
	wb_results_free(*state);
	free(*state);
	return 0;
}

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct wb_results));
	return *state ? 0 : -1;
}

static void nothing_is_shown_before_the_first_run(void **state)
{
	struct wb_results *r = *state;

	wb_results_refresh(r);
	assert_null(wb_results_run(r));
	assert_null(wb_results_row(r, NULL));
	assert_false(wb_results_step(r, -1));
}

static void rows_without_figures_are_last_whatever_the_direction(void **state)
{
	struct wb_results *r = *state;
	struct error err;

	wb_results_add(r, run_make("1"));
	assert_int_equal(wb_results_sort(r, "cycles", false, &err), ERROR_NONE);
	assert_int_equal(r->order[0], 1);
	assert_int_equal(r->order[1], 0);
	assert_int_equal(r->order[2], 2);
	assert_int_equal(wb_results_sort(r, "cycles", true, &err), ERROR_NONE);
	assert_int_equal(r->order[0], 0);
	assert_int_equal(r->order[1], 1);
	assert_int_equal(r->order[2], 2);
}

static void the_selected_row_stays_selected_when_the_order_changes(void **state)
{
	struct wb_results *r = *state;
	struct error err;
	size_t row;

	wb_results_add(r, run_make("1"));
	r->selected = 1;
	wb_results_sort(r, "name", false, &err);
	wb_results_row(r, &row);
	assert_int_equal(row, 1);
	assert_int_equal(r->selected, 2);
}

static void an_unknown_column_is_refused_with_the_nearest(void **state)
{
	struct error err;

	assert_int_equal(wb_results_sort(*state, "cycle", false, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "did you mean cycles?"));
}

static void a_filter_wants_every_word_and_none_shows_all(void **state)
{
	struct wb_results *r = *state;

	wb_results_add(r, run_make("1"));
	wb_results_filter(r, (const char *const[]){"abi=i386", "gs"}, 2);
	assert_int_equal(r->order_count, 1);
	assert_int_equal(r->order[0], 1);
	wb_results_filter(r, (const char *const[]){"xyz"}, 1);
	assert_int_equal(r->order_count, 0);
	assert_null(wb_results_row(r, NULL));
	wb_results_filter(r, NULL, 0);
	assert_int_equal(r->order_count, 3);
}

static void the_run_that_is_on_is_what_is_shown(void **state)
{
	struct wb_results *r = *state;
	struct result_run *live = run_make("");

	wb_results_add(r, run_make("1"));
	wb_results_live_set(r, live);
	assert_ptr_equal(wb_results_run(r), live);
	assert_false(wb_results_step(r, -1));
	wb_results_live_set(r, NULL);
	assert_string_equal(wb_results_run(r)->id, "1");
	result_run_free(live);
}

static void a_run_opened_twice_is_held_once(void **state)
{
	struct wb_results *r = *state;

	wb_results_add(r, run_make("1"));
	wb_results_add(r, run_make("2"));
	wb_results_add(r, run_make("1"));
	assert_int_equal(r->count, 2);
	assert_string_equal(wb_results_run(r)->id, "1");
	assert_true(wb_results_step(r, -1));
	assert_string_equal(wb_results_run(r)->id, "2");
	assert_false(wb_results_step(r, -1));
}

static void the_oldest_runs_are_let_go(void **state)
{
	struct wb_results *r = *state;

	for (int i = 0; i < WB_RUNS_HELD + 3; i++) {
		char id[8];

		snprintf(id, sizeof(id), "%d", i);
		wb_results_add(r, run_make(id));
	}
	assert_int_equal(r->count, WB_RUNS_HELD);
	assert_string_equal(r->runs[0]->id, "3");
}

static void a_row_is_named_by_the_factors_that_vary(void **state)
{
	struct wb_results *r = *state;
	char *terms;

	wb_results_add(r, run_make("1"));
	terms = wb_results_terms(wb_results_run(r), wb_results_row(r, NULL));
	assert_string_equal(terms, "reg=fs");
	free(terms);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(nothing_is_shown_before_the_first_run),
	        T(rows_without_figures_are_last_whatever_the_direction),
	        T(the_selected_row_stays_selected_when_the_order_changes),
	        T(an_unknown_column_is_refused_with_the_nearest),
	        T(a_filter_wants_every_word_and_none_shows_all),
	        T(the_run_that_is_on_is_what_is_shown),
	        T(a_run_opened_twice_is_held_once),
	        T(the_oldest_runs_are_let_go),
	        T(a_row_is_named_by_the_factors_that_vary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
