/* Which part of the screen each part of the workbench gets. */
#include "tui/wb_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int want[WB_PLACES] = {
        [WB_SIDE] = 20, [WB_TOP] = 9, [WB_MIDDLE] = 5, [WB_BOTTOM] = 99};

static void assert_inside(const struct wb_box *b, int h, int w)
{
	if (b->h == 0)
		return;
	assert_true(b->y >= 0 && b->x >= 0 && b->h > 0 && b->w > 0);
	assert_true(b->y + b->h <= h && b->x + b->w <= w);
}

/* Boxes of the same columns must not share a line. */
static void assert_apart(const struct wb_box *a, const struct wb_box *b)
{
	bool columns = a->x < b->x + b->w && b->x < a->x + a->w;

	if (a->h && b->h && columns)
		assert_true(a->y + a->h <= b->y || b->y + b->h <= a->y);
}

static void at_every_size_all_is_on_the_screen_and_the_focus_is_shown(void **state)
{
	(void)state;
	for (int h = 1; h <= 200; h += h < 60 ? 1 : 17) {
		for (int w = 1; w <= 500; w += w < 120 ? 3 : 53) {
			for (int f = 0; f <= WB_WHOLE; f++) {
				struct wb_layout l = wb_layout_make(h, w, want, (enum wb_place)f);

				assert_true(l.title < h && l.status < h && l.bar < h);
				assert_inside(&l.whole, h, w);
				for (int i = 0; i < WB_PLACES; i++) {
					assert_inside(&l.parts[i], h, w);
					for (int k = 0; k < i; k++)
						assert_apart(&l.parts[i], &l.parts[k]);
				}
				assert_true(f == WB_WHOLE ? l.whole.h > 0 : l.parts[f].h > 0);
			}
		}
	}
}

static void at_80x24_three_parts_are_complete_and_the_experiments_are_folded(void **state)
{
	struct wb_layout l = wb_layout_make(24, 80, want, WB_TOP);

	(void)state;
	assert_false(l.side);
	assert_int_equal(l.parts[WB_SIDE].h, 0);
	assert_true(l.parts[WB_TOP].h >= 5);
	assert_true(l.parts[WB_MIDDLE].h >= 5);
	assert_true(l.parts[WB_BOTTOM].h >= 5);
	assert_int_equal(l.title, 0);
	assert_int_equal(l.status, 22);
	assert_int_equal(l.bar, 23);
	l = wb_layout_make(24, 80, want, WB_SIDE);
	assert_int_equal(l.parts[WB_SIDE].h, 21);
}

static void from_96_columns_the_experiments_have_a_column(void **state)
{
	struct wb_layout l = wb_layout_make(30, 100, want, WB_TOP);

	(void)state;
	assert_true(l.side);
	assert_int_equal(l.parts[WB_SIDE].w, l.rule);
	assert_int_equal(l.parts[WB_TOP].x, l.rule + 1);
	assert_int_equal(l.parts[WB_TOP].h, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(at_every_size_all_is_on_the_screen_and_the_focus_is_shown),
	        cmocka_unit_test(at_80x24_three_parts_are_complete_and_the_experiments_are_folded),
	        cmocka_unit_test(from_96_columns_the_experiments_have_a_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
