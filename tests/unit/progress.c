/* The progress line's text. */
#include "tui/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_line(double share, double left, int width, const char *expected)
{
	char out[201];

	assert_int_equal(progress_text(out, width, "segreg", share, left), strlen(expected));
	assert_string_equal(out, expected);
}

static void share_and_time_left_are_told(void **state)
{
	(void)state;
	assert_line(0.424, 2.1, 79, "segreg: 42%, 3 s left");
	assert_line(0, 3725, 79, "segreg: 0%, 62 min 05 s left");
	assert_line(1, 0, 79, "segreg: 100%, 0 s left");
}

static void what_is_not_known_is_not_told(void **state)
{
	(void)state;
	assert_line(0.1, NAN, 79, "segreg: 10%");
	assert_line(0.1, INFINITY, 79, "segreg: 10%");
	assert_line(0.1, -1, 79, "segreg: 10%");
	assert_line(NAN, 1, 79, "segreg: 0%, 1 s left");
	assert_line(1.7, NAN, 79, "segreg: 100%");
}

static void a_narrow_terminal_gets_a_shorter_line(void **state)
{
	(void)state;
	assert_line(0.424, 2.1, 10, "segreg: 42");
	assert_line(0.424, 2.1, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(share_and_time_left_are_told),
	        cmocka_unit_test(what_is_not_known_is_not_told),
	        cmocka_unit_test(a_narrow_terminal_gets_a_shorter_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
