/* What a curve looks like, byte for byte, where a golden is worth reading. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tui/render.h"

enum { PLACEMENTS = 40 };

static const struct render_style utf8 = {.utf8 = true, .width = 72};
static const struct render_style ascii = {.width = 60};

/* Rows of one series: abi, reg, n; the cost of each number. */
struct row {
	const char *reg;
	unsigned n;
	double cycles;
};

static struct result_run *run_new(const struct row *rows, size_t n)
{
	static const char *const factors[] = {"abi", "reg", "n"};
	struct result_run *run = calloc(1, sizeof *run);

	assert_non_null(run);
	run->experiment = strdup("desccache");
	run->title = strdup("is there a descriptor cache");
	run->command = strdup("run desccache");
	run->host = strdup("{\"cpu_name\":\"A CPU\",\"core_hz\":3e9,\"tsc_hz\":2.5e9}");
	run->unit = strdup("iteration");
	run->factor_count = 3;
	run->factors = calloc(3, sizeof *run->factors);
	for (size_t f = 0; f < 3; f++)
		run->factors[f] = (struct result_factor){strdup(factors[f]), f == 2};
	run->curve = 2;
	run->rows = calloc(n, sizeof *run->rows);
	run->row_count = n;
	run->seconds = 0.5;
	run->rounds = 40;
	run->confidence = 0.99;
	run->alpha = 0.001;
	run->trusted = true;
	for (size_t i = 0; i < n; i++) {
		struct result_row *row = &run->rows[i];
		char number[16];

		snprintf(number, sizeof number, "%u", rows[i].n);
		row->levels = calloc(3, sizeof *row->levels);
		row->levels[0] = strdup("i386");
		row->levels[1] = strdup(rows[i].reg);
		row->levels[2] = strdup(number);
		run->factors[1].varies |= strcmp(rows[i].reg, rows[0].reg) != 0;
		row->state = RESULT_MEASURED;
		row->base = -1;
		row->workers = 2;
		row->kept = 1600;
		row->p = row->p_holm = row->detectable = NAN;
		row->diff = (struct stats_interval){NAN, NAN, NAN};
		row->placement_count = row->blocks = PLACEMENTS;
		row->placements = calloc(PLACEMENTS, sizeof *row->placements);
		for (size_t b = 0; b < PLACEMENTS; b++)
			row->placements[b] =
			        rows[i].cycles + 0.01 * (double)(b * (i + 3) % 13) - 0.06;
		row->cycles = (struct stats_interval){rows[i].cycles, rows[i].cycles - 0.1,
		                                      rows[i].cycles + 0.1};
		row->ns = row->ticks = row->cycles;
	}
	return run;
}

static void change(struct result_row *row, double by, double add)
{
	row->cycles.est = by * row->cycles.est + add;
	row->cycles.lo = row->cycles.est - 0.1;
	row->cycles.hi = row->cycles.est + 0.1;
	for (size_t b = 0; b < row->placement_count; b++)
		row->placements[b] = by * row->placements[b] + add;
}

static char *rendered(const struct result_run *run, enum render_format format,
                      const struct render_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	render_run(run, format, style, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect(const struct result_run *run, const struct render_style *style,
                   const char *wanted)
{
	char *text = rendered(run, RENDER_TEXT, style);

	assert_string_equal(text, wanted);
	free(text);
}

static void assert_has(const struct result_run *run, const struct render_style *style,
                       const char *part)
{
	char *text = rendered(run, RENDER_TEXT, style);

	if (!strstr(text, part))
		fail_msg("not in the text: %s\n%s", part, text);
	free(text);
}

static const struct row step[] = {
        {"fs", 1, 33},  {"fs", 2, 33},    {"fs", 4, 33},    {"fs", 8, 33},
        {"fs", 16, 33}, {"fs", 32, 41.5}, {"fs", 64, 41.5}, {"fs", 128, 41.5},
};
static const struct row pair[] = {
        {"fs", 1, 33},  {"fs", 2, 33},  {"fs", 4, 33},    {"fs", 8, 33},
        {"fs", 16, 43}, {"fs", 32, 43}, {"fs", 64, 43},   {"gs", 1, 33},
        {"gs", 2, 33},  {"gs", 4, 33},  {"gs", 8, 33},    {"gs", 16, 53},
        {"gs", 32, 73}, {"gs", 64, 93}, {"gs", 128, 113}, {"gs", 256, 133},
};
enum { STEP = sizeof step / sizeof *step, PAIR = sizeof pair / sizeof *pair };

/* What is expected stands as it is printed, a line a line. */
/* clang-format off */
static void a_step_is_drawn_and_named(void **state)
{
	struct result_run *run = run_new(step, STEP);

	(void)state;
	expect(run, &ascii,
		"desccache: is there a descriptor cache\n"
		"A CPU | 3.00 GHz (calibrated) | TSC 2.500 GHz | cpu 0\n"
		"trusted | 2 workers x 20 placements x 40 rounds | 0.50 s | 0\n"
		"    samples rejected\n"
		"per iteration, with abi=i386 reg=fs\n"
		"\n"
		"  n  cycles  +-99%\n"
		"  1   33.00 +-0.10\n"
		"  2   33.00 +-0.10\n"
		"  4   33.00 +-0.10\n"
		"  8   33.00 +-0.10\n"
		" 16   33.00 +-0.10\n"
		" 32   41.50 +-0.10\n"
		" 64   41.50 +-0.10\n"
		"128   41.50 +-0.10\n"
		"\n"
		"cycles against n, on a scale of doublings\n"
		"42 +\n"
		"   |                                      *      *       *\n"
		"   |\n"
		"40 +\n"
		"   |\n"
		"   |\n"
		"38 +\n"
		"   |\n"
		"   |\n"
		"36 +\n"
		"   |\n"
		"   |\n"
		"34 +\n"
		"   ||       |      |       |      |\n"
		"   |*       *      *       *      *\n"
		"32 +\n"
		"   ++-------+------+-------+------+-------+------+-------+\n"
		"    1       2      4       8      16      32     64     128\n"
		" *                                [-------]\n"
		"the upright axis begins at 32, not at 0\n"
		"flat at 33.00 +-0.04 cycles up to n=16; from n=17..32 on\n"
		"    41.50 (+8.50 +-0.07)\n");
	result_run_free(run);
}

static void two_curves_have_a_column_and_a_mark_each(void **state)
{
	struct result_run *run = run_new(pair, PAIR);

	(void)state;
	expect(run, &utf8,
		"desccache: is there a descriptor cache\n"
		"A CPU · 3.00 GHz (calibrated) · TSC 2.500 GHz · cpu 0\n"
		"trusted · 2 workers x 20 placements x 40 rounds · 0.50 s · 0 samples\n"
		"    rejected\n"
		"per iteration, with abi=i386\n"
		"\n"
		"cycles ±99% against n, for each reg\n"
		"  n     fs            gs\n"
		"  1  33.00 ±0.10   33.00 ±0.10\n"
		"  2  33.00 ±0.10   33.00 ±0.10\n"
		"  4  33.00 ±0.10   33.00 ±0.10\n"
		"  8  33.00 ±0.10   33.00 ±0.10\n"
		" 16  43.00 ±0.10   53.00 ±0.10\n"
		" 32  43.00 ±0.10   73.00 ±0.10\n"
		" 64  43.00 ±0.10   93.00 ±0.10\n"
		"128               113.00 ±0.10\n"
		"256               133.00 ±0.10\n"
		"\n"
		"cycles against n, on a scale of doublings\n"
		"150 ┤\n"
		"    │\n"
		"    │                                                                ○\n"
		"    │\n"
		"    │                                                        ○\n"
		"100 ┤\n"
		"    │                                                ○\n"
		"    │\n"
		"    │                                        ○\n"
		"    │\n"
		" 50 ┤                                ○\n"
		"    │                                ●       ●       ●\n"
		"    │2       2       2       2\n"
		"    │\n"
		"    │\n"
		"  0 ┤\n"
		"    └┴───────┴───────┴───────┴───────┴───────┴───────┴───────┴───────┴\n"
		"     1       2       4       8       16      32      64     128     256\n"
		"  ●                          ├───────┤\n"
		"  ○                          ├───────┤\n"
		"a digit: so many curves in one place\n"
		"● reg=fs: flat at 33.00 ±0.04 cycles up to n=8; from n=9..16 on 43.00\n"
		"    (+10.00 ±0.08)\n"
		"○ reg=gs: flat at 33.00 ±0.05 cycles up to n=8; from n=8..16 on rising\n"
		"    by 20.02 ±0.05 a doubling to 133.0 at n=256\n");
	result_run_free(run);
}
/* clang-format on */

static void rows_without_figures_stand_below_with_their_reason(void **state)
{
	struct result_run *run = run_new(step, STEP);

	(void)state;
	run->rows[2].state = RESULT_ABSENT;
	run->rows[2].reason = strdup("no LDT here");
	assert_has(run, &ascii, "\n  2   33.00 +-0.10\n  8   33.00 +-0.10\n");
	assert_has(run, &ascii, "\n\nn  cycles\n4  n/a: no LDT here\n\n");
	assert_has(run, &ascii, "; 1 number has no figure\n");
	result_run_free(run);
}

static void with_a_base_the_table_is_the_usual_one_and_the_chart_follows(void **state)
{
	struct result_run *run = run_new(step, STEP);

	(void)state;
	for (size_t i = 0; i < STEP; i++) {
		run->rows[i].base = 0;
		run->rows[i].verdict = i ? RESULT_DIFFERENT : RESULT_BASE;
		run->rows[i].diff = (struct stats_interval){1, 0.9, 1.1};
	}
	assert_has(run, &utf8, "vs base");
	assert_has(run, &utf8, "\n\ncycles against n, on a scale of doublings\n");
	assert_has(run, &utf8, " on 41.50");
	assert_has(run, &utf8, "(+8.50");
	result_run_free(run);
}

static void a_run_that_is_not_trusted_names_no_knee(void **state)
{
	struct result_run *run = run_new(step, STEP);

	(void)state;
	run->trusted = false;
	run->not_trusted_why = strdup("one add reads 1.4");
	assert_has(run, &utf8, "\nno knee is sought: the run is not trusted\n");
	result_run_free(run);
}

static void a_number_that_stands_out_is_told(void **state)
{
	struct result_run *run = run_new(step, 5);

	(void)state;
	change(&run->rows[2], 1, 6);
	assert_has(run, &utf8, "flat at 33.00 ±0.04 cycles for n=1..16: no knee (a step of 0.");
	assert_has(run, &utf8, " have been seen); standing out, alone: n=4 (+6.00)\n");
	result_run_free(run);
}

static void a_curve_that_falls_says_so(void **state)
{
	struct result_run *run = run_new(pair + 10, 6);

	(void)state;
	for (size_t i = 0; i < 6; i++)
		change(&run->rows[i], -1, 133);
	assert_has(run, &utf8, "\nfalling by 20.0");
	assert_has(run, &utf8, " a doubling, from 100.00 cycles at n=8 to 0.00 at\n");
	result_run_free(run);
}

static void what_rests_on_one_number_says_so(void **state)
{
	struct result_run *run = run_new(step, 6);

	(void)state;
	assert_has(run, &utf8, "which rests on n=32 alone\n");
	result_run_free(run);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void more_series_than_marks_have_several_charts(void **state)
{
	static const char *const regs[] = {"r0", "r1", "r2", "r3", "r4",
	                                   "r5", "r6", "r7", "r8", "r9"};
	struct row rows[40];
	struct result_run *run;
	char *text;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		rows[i] = (struct row){regs[i / 4], 1u << i % 4, 10.0 * (double)(i / 4) + 10};
	run = run_new(rows, 40);
	text = rendered(run, RENDER_TEXT, &utf8);
	assert_int_equal(count(text, "on a scale of doublings\n"), 2);
	assert_int_equal(count(text, ": no knee ("), 10);
	assert_int_equal(count(text, "● reg="), 2);
	/* nor do the columns of the table fit beside each other */
	assert_true(count(text, "\nn ") >= 2);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		wchar_t wide[256];

		assert_true(mbstowcs(wide, line, 256) < 256);
		assert_true(wcswidth(wide, 256) <= 72);
	}
	free(text);
	result_run_free(run);
}

static void a_chart_is_as_wide_as_the_page_and_at_most_100(void **state)
{
	static const int widths[][2] = {{60, 58}, {80, 78}, {100, 98}, {200, 98}};
	struct result_run *run = run_new(step, STEP);

	(void)state;
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct render_style style = {.width = widths[i][0]};
		char *text = rendered(run, RENDER_TEXT, &style), *axis = strstr(text, "\n   ++--");

		assert_non_null(axis);
		assert_int_equal(strcspn(axis + 1, "\n"), widths[i][1]);
		free(text);
	}
	result_run_free(run);
}

static void without_utf8_no_other_byte_is_in_it(void **state)
{
	struct result_run *run = run_new(pair, PAIR);
	char *text = rendered(run, RENDER_TEXT, &ascii);

	(void)state;
	for (const char *s = text; *s; s++)
		assert_true((unsigned char)*s < 0x80);
	free(text);
	result_run_free(run);
}

/* ---- how many bytes one takes ---- */

/* A run whose factor reg is a number that bytes are multiplied by; its curves rise by 10 cycles
 * where a cache of so many bytes, ways and sets is full that puts the things at this distance. */
struct cache {
	unsigned bytes_of_one; /* the cache's own unit: a line, or one thing */
	unsigned ways, sets;
};

static unsigned fit_of(const struct cache *cache, unsigned scale)
{
	unsigned units = 8 * scale / cache->bytes_of_one; /* from one thing to the next */
	unsigned in_one = units ? 1 : cache->bytes_of_one / (8 * scale);
	unsigned sets = units > 1 ? cache->sets / units : cache->sets;

	return (sets ? sets : 1) * cache->ways * in_one;
}

static void assert_capacity(const struct cache *cache, unsigned most_scale, const char *wanted)
{
	static const unsigned numbers[] = {1,  2,  3,   4,   6,   8,   12,  16,  24,   32,  48,
	                                   64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536};
	enum { NUMBERS = sizeof numbers / sizeof *numbers, SCALES = 11 };
	static char names[SCALES][16];
	struct row rows[NUMBERS * SCALES];
	size_t n = 0;

	for (unsigned k = 0; 1u << k <= most_scale; k++) {
		snprintf(names[k], sizeof names[k], "%u", 1u << k);
		for (size_t i = 0; i < NUMBERS; i++)
			rows[n++] = (struct row){names[k], numbers[i],
			                         numbers[i] > fit_of(cache, 1u << k) ? 43 : 33};
	}
	struct result_run *run = run_new(rows, n);

	run->curve_bytes = 8;
	run->curve_scale = 1;
	assert_has(run, &utf8, wanted);
	result_run_free(run);
}

static void a_cache_of_lines_is_named_by_its_bytes(void **state)
{
	(void)state;
	/* 8 ways of 32 lines: 16 KiB, and a set for each line up to 2 KiB apart */
	assert_capacity(&(struct cache){64, 8, 32}, 128,
	                "\nwhat is full at the first knee holds 16 to 24 KiB at reg=2, 4, 8, 16,\n"
	                "  32, 64 and 128; of those at reg=128 it holds 16 to 23, so it has at\n"
	                "  most that many ways\n");
}

static void a_cache_of_things_is_named_by_their_number(void **state)
{
	(void)state;
	assert_capacity(&(struct cache){8, 32, 1}, 128,
	                "\nwhat is full at the first knee holds 32 to 47, however many bytes they\n"
	                "  take (reg=1, 2, 4, 8, 16, 32, 64 and 128): any of its places will do\n"
	                "  for any of them\n");
}

static void ways_are_what_is_left_when_distances_grow(void **state)
{
	(void)state;
	assert_capacity(
	        &(struct cache){8, 1, 32}, 256,
	        "\nwhat is full at the first knee holds 256 to 384 bytes at reg=1, 2, 4, 8,\n"
	        "  16 and 32, and 1 at reg=32, 64, 128 and 256: so many ways it has\n");
	assert_capacity(
	        &(struct cache){8, 4, 8}, 256,
	        "\nwhat is full at the first knee holds 256 to 384 bytes at reg=1, 2, 4 and\n"
	        "  8, and 4 to 5 at reg=8, 16, 32, 64, 128 and 256: so many ways it has\n");
}

static void csv_has_the_knee_in_the_first_row_behind_it(void **state)
{
	struct result_run *run = run_new(step, STEP);
	char *text = rendered(run, RENDER_CSV, &utf8), *line = text, *end;

	(void)state;
	assert_non_null(strstr(text, ",knee,knee_from,knee_to,knee_size,knee_size_lo,knee_size_hi,"
	                             "apart,knee_mdd\r\n"));
	for (size_t i = 0; i <= STEP; i++, line = end + 2) {
		end = strstr(line, "\r\n");
		assert_non_null(end);
		*end = 0;
		assert_int_equal(strstr(line, ",step,16,32,8.50") != NULL, i == 6);
		if (i && i != 6)
			assert_non_null(strstr(line, ",no,,,,,,,,0."));
	}
	free(text);
	run->curve = -1;
	text = rendered(run, RENDER_CSV, &utf8);
	assert_null(strstr(text, "knee"));
	free(text);
	result_run_free(run);
}

static void a_run_that_is_no_curve_has_no_chart(void **state)
{
	struct result_run *run = run_new(step, STEP);
	char *text;

	(void)state;
	run->curve = -1;
	text = rendered(run, RENDER_TEXT, &utf8);
	assert_null(strstr(text, "doublings"));
	assert_non_null(strstr(text, "spread"));
	free(text);
	result_run_free(run);
}

static void large_numbers_and_0_have_labels(void **state)
{
	static const struct row rows[] = {{"fs", 0, 1},       {"fs", 1, 1},
	                                  {"fs", 64, 1},      {"fs", 4096, 1.5},
	                                  {"fs", 65536, 1.5}, {"fs", 4194304, 1.5}};
	struct result_run *run = run_new(rows, 6);

	(void)state;
	assert_has(run, &utf8, "\n     0  1 ");
	assert_has(run, &utf8, " 32K ");
	assert_has(run, &utf8, " 2M\n");
	result_run_free(run);
}

static void numbers_without_a_power_of_two_between_them_are_labelled_themselves(void **state)
{
	static const struct row rows[] = {
	        {"fs", 33, 7}, {"fs", 40, 7}, {"fs", 47, 7}, {"fs", 60, 7}};
	struct result_run *run = run_new(rows, 4);

	(void)state;
	assert_has(run, &utf8, " 33");
	assert_has(run, &utf8, " 60\n");
	result_run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_step_is_drawn_and_named),
	        cmocka_unit_test(two_curves_have_a_column_and_a_mark_each),
	        cmocka_unit_test(rows_without_figures_stand_below_with_their_reason),
	        cmocka_unit_test(with_a_base_the_table_is_the_usual_one_and_the_chart_follows),
	        cmocka_unit_test(a_run_that_is_not_trusted_names_no_knee),
	        cmocka_unit_test(a_number_that_stands_out_is_told),
	        cmocka_unit_test(a_curve_that_falls_says_so),
	        cmocka_unit_test(what_rests_on_one_number_says_so),
	        cmocka_unit_test(more_series_than_marks_have_several_charts),
	        cmocka_unit_test(a_chart_is_as_wide_as_the_page_and_at_most_100),
	        cmocka_unit_test(without_utf8_no_other_byte_is_in_it),
	        cmocka_unit_test(a_cache_of_lines_is_named_by_its_bytes),
	        cmocka_unit_test(a_cache_of_things_is_named_by_their_number),
	        cmocka_unit_test(ways_are_what_is_left_when_distances_grow),
	        cmocka_unit_test(csv_has_the_knee_in_the_first_row_behind_it),
	        cmocka_unit_test(a_run_that_is_no_curve_has_no_chart),
	        cmocka_unit_test(large_numbers_and_0_have_labels),
	        cmocka_unit_test(
	                numbers_without_a_power_of_two_between_them_are_labelled_themselves),
	};
	/* characters are as wide as they are in a terminal */
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
