#include "engine/cpustat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char text[] = "cpu  100 0 100 1000 0 0 0 7 0 0\n"
                           "cpu1 10 1 20 300 5 2 3 7 0 0\n"
                           "cpu10 1 1 1 1 1 1 1 1 0 0\n"
                           "intr 12345\n";

static void a_cpu_is_not_taken_for_another_whose_number_begins_alike(void **state)
{
	(void)state;
	struct cpustat a;
	assert_true(cpustat_parse(text, 1, 100, &a));
	assert_float_equal(a.busy, 0.36, 1e-9);
	assert_float_equal(a.idle, 3.05, 1e-9);
	assert_float_equal(a.steal, 0.07, 1e-9);
	assert_true(cpustat_parse(text, 10, 100, &a));
	assert_float_equal(a.busy, 0.05, 1e-9);
}

static void a_cpu_that_is_not_there_is_told(void **state)
{
	(void)state;
	struct cpustat a;
	assert_false(cpustat_parse(text, 0, 100, &a));
	assert_false(cpustat_parse("", 0, 100, &a));
	assert_false(cpustat_parse("cpu0 1 2 3\n", 0, 100, &a));
	assert_false(cpustat_read(100000, &a));
	assert_true(cpustat_read(0, &a));
}

static void shares_are_of_the_time_between(void **state)
{
	(void)state;
	struct cpustat from = {1, 2, 3}, to = {2, 4, 4}, share;
	assert_true(cpustat_between(&from, &to, &share));
	assert_float_equal(share.busy, 0.25, 1e-9);
	assert_float_equal(share.idle, 0.5, 1e-9);
	assert_float_equal(share.steal, 0.25, 1e-9);
	assert_false(cpustat_between(&from, &from, &share));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_cpu_is_not_taken_for_another_whose_number_begins_alike),
	        cmocka_unit_test(a_cpu_that_is_not_there_is_told),
	        cmocka_unit_test(shares_are_of_the_time_between),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
