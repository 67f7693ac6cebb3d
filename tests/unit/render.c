/* What the renderers print, byte for byte. The runs are made up; the outputs are small enough to
 * read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tui/render.h"
#include "tui/render_figure.h"
#include "tui/table.h"

static const struct render_style wide = {.utf8 = true, .width = 100};
static const struct render_style narrow = {.utf8 = true, .width = 80};
static const struct render_style ascii_wide = {.width = 100};
static const struct render_style ascii_narrow = {.width = 80};

static const char host[] =
        "{\"cpu_name\":\"AMD EPYC 9R14\",\"core_hz\":3.7e9,\"tsc_hz\":2.596e9,\"cpu\":1}";

/* A stream that becomes a string. */
struct capture {
	FILE *out;
	char *text;
	size_t size;
};

/* The stream keeps the addresses of text and size: c must stay where it is. */
static void capture_begin(struct capture *c)
{
	*c = (struct capture){0};
	c->out = open_memstream(&c->text, &c->size);
	assert_non_null(c->out);
}

static char *capture_end(struct capture *c)
{
	assert_int_equal(fclose(c->out), 0);
	return c->text;
}

static void expect(struct capture *c, const char *wanted)
{
	char *text = capture_end(c);

	assert_string_equal(text, wanted);
	free(text);
}

/* Forty placements around a level: most near it, a few above, as layout effects leave them. */
enum { PLACEMENTS = 40 };
static void place(struct result_row *row, double level, double step)
{
	static const signed char shape[8] = {0, 1, -1, 0, 1, 2, -1, 0};

	row->placements = malloc(PLACEMENTS * sizeof *row->placements);
	assert_non_null(row->placements);
	row->placement_count = row->blocks = PLACEMENTS;
	for (size_t i = 0; i < PLACEMENTS; i++)
		row->placements[i] = level + step * shape[i % 8] + 1e-4 * (double)(i / 8);
}

static struct stats_interval around(double est, double half)
{
	return (struct stats_interval){est, est - half, est + half};
}

/* A run over the factors named; its rows are filled by fill_row. */
static struct result_run *run_new(size_t rows, const char *const *factors, const bool *varies,
                                  size_t n)
{
	struct result_run *run = calloc(1, sizeof *run);

	assert_non_null(run);
	run->experiment = strdup("segreg");
	run->title = strdup("save, load, use and restore a segment register");
	run->command = strdup("run segreg");
	run->host = strdup(host);
	run->unit = strdup("iteration");
	strcpy(run->started, "2026-11-30T15:14:41Z");
	run->factors = calloc(n, sizeof *run->factors);
	for (size_t f = 0; f < n; f++)
		run->factors[f] = (struct result_factor){strdup(factors[f]), varies[f]};
	run->factor_count = n;
	run->rows = calloc(rows, sizeof *run->rows);
	run->row_count = rows;
	run->seconds = 0.294;
	run->cpu = 1;
	run->workers = 2;
	run->blocks = 20;
	run->rounds = 40;
	run->confidence = 0.99;
	run->alpha = 0.001;
	run->trusted = true;
	run->stop_reason = strdup("precision reached");
	run->samples_rejected = 86;
	return run;
}

/* Measured, with figures that go together: 3.7 GHz, 2.596 GHz. */
static struct result_row *fill_row(struct result_run *run, size_t i, const char *const *levels,
                                   double cycles, double half)
{
	struct result_row *row = &run->rows[i];

	row->levels = calloc(run->factor_count, sizeof *row->levels);
	for (size_t f = 0; f < run->factor_count; f++)
		row->levels[f] = strdup(levels[f]);
	row->state = RESULT_MEASURED;
	row->cycles = around(cycles, half);
	row->ns = around(cycles / 3.7, half / 3.7);
	row->ticks = around(cycles / 3.7 * 2.596, half / 3.7 * 2.596);
	row->kept = 3178;
	row->interrupted = 4 + i;
	row->fenced = 18 - i;
	row->workers = 2;
	row->unroll = 64;
	row->code_bytes = 17;
	strcpy(row->sha256, "ab12");
	row->base = -1;
	row->p = row->p_holm = row->detectable = NAN;
	row->diff = (struct stats_interval){NAN, NAN, NAN};
	place(row, cycles, half);
	return row;
}

static void compare_row(struct result_row *row, long base, struct stats_interval diff,
                        enum result_verdict verdict)
{
	row->base = base;
	row->diff = diff;
	row->verdict = verdict;
	row->p = verdict == RESULT_DIFFERENT ? 1e-9 : 0.4;
	row->p_holm = verdict == RESULT_DIFFERENT ? 2e-9 : 0.8;
	row->detectable = 1.77 * render_figure_half(&diff);
}

static void add_control(struct result_run *run, const char *name, struct stats_interval value,
                        double expected, double tolerance, bool ok, const char *text)
{
	run->controls = realloc(run->controls, (run->control_count + 1) * sizeof *run->controls);
	assert_non_null(run->controls);
	run->controls[run->control_count++] = (struct result_control){
	        .name = strdup(name),
	        .what = strdup("checked"),
	        .value = value,
	        .expected = expected,
	        .tolerance = tolerance,
	        .ok = ok,
	        .fatal = true,
	        .text = strdup(text),
	};
}

/* The usual table: two factors vary, one base. */
static struct result_run *usual_run(void)
{
	static const char *const factors[] = {"abi", "reg", "outer", "inner", "use"};
	static const bool varies[] = {false, true, true, false, false};
	static const char *const levels[4][5] = {
	        {"i386", "gs", "tls", "gdt", "inner"},
	        {"i386", "fs", "tls", "gdt", "inner"},
	        {"i386", "fs", "null", "gdt", "inner"},
	        {"i386", "gs", "null", "gdt", "inner"},
	};
	struct result_run *run = run_new(4, factors, varies, 5);

	compare_row(fill_row(run, 0, levels[0], 61.12, 0.1), 0, around(0, 0), RESULT_BASE);
	compare_row(fill_row(run, 1, levels[1], 61.12, 0.1), 0, around(-0.004, 0.085),
	            RESULT_NO_DIFFERENCE);
	compare_row(fill_row(run, 2, levels[2], 197.93, 0.2), 0, around(136.81, 0.2),
	            RESULT_DIFFERENT);
	compare_row(fill_row(run, 3, levels[3], 197.81, 0.2), 0, around(136.69, 0.24),
	            RESULT_DIFFERENT);
	run->rows[2].mode_count = 2;
	run->rows[2].modes[0] = (struct stats_mode){197.9, 197.7, 198.1, 32};
	run->rows[2].modes[1] = (struct stats_mode){199.4, 199.3, 199.5, 8};
	add_control(run, "a/a i386", around(-0.001, 0.02), 0, 0.1, true, "no difference");
	add_control(run, "one add i386", around(1.002, 0.012), 1, 0.05, true, "1.00 as expected");
	add_control(run, "imul over add i386", around(3.001, 0.004), 3, 0.03, true, "3.00");
	add_control(run, "footprint i386", (struct stats_interval){NAN, NAN, NAN}, NAN, NAN, true,
	            "on");
	run->excluded = 2;
	strcpy(run->id, "14");
	return run;
}

/* One row each that was not measured, with what is known of it. */
static void fail_row(struct result_row *row, enum result_state state, const char *reason)
{
	row->state = state;
	row->reason = reason ? strdup(reason) : NULL;
}

/* Snippets: every way in which a row can have no figures, in a run that was stopped. */
static struct result_run *failing_run(void)
{
	static const char *const factors[] = {"abi", "code"};
	static const bool varies[] = {false, true};
	static const char *const names[] = {"good", "gone", "ud", "hang", "wrong", "jump", "late"};
	struct result_run *run = run_new(7, factors, varies, 2);

	for (size_t i = 0; i < 7; i++) {
		const char *levels[] = {"x86_64", names[i]};

		fill_row(run, i, levels, 12.5, 0.4);
	}
	fail_row(
	        &run->rows[1], RESULT_ABSENT,
	        "this level needs descriptors of our own in the LDT, and modify_ldt fails: ENOSYS: "
	        "this kernel was built without CONFIG_MODIFY_LDT_SYSCALL");
	fail_row(&run->rows[2], RESULT_DIED, NULL);
	run->rows[2].crash = (struct result_crash){
	        .signal = SIGILL, .in_code = true, .offset = 0x2a, .instruction = "ud2"};
	fail_row(&run->rows[3], RESULT_HUNG, "did not end within 2 s");
	fail_row(&run->rows[4], RESULT_WRONG, "counter is 63 after 64 iterations");
	fail_row(&run->rows[5], RESULT_DIED, "SIGSEGV: no memory at 0x10");
	run->rows[5].crash = (struct result_crash){
	        .signal = SIGSEGV, .address = 0x7f0010, .instruction = "mov 0x10,%eax"};
	fail_row(&run->rows[6], RESULT_PENDING, NULL);
	free(run->stop_reason);
	run->stop_reason = strdup("stopped");
	run->cut_short = true;
	return run;
}

static struct result_run *ladder_run(void)
{
	static const char *const factors[] = {"abi", "adds"};
	static const bool varies[] = {false, true};
	static const char *const names[] = {"1", "10", "1000"};
	struct result_run *run = run_new(3, factors, varies, 2);

	for (size_t i = 0; i < 3; i++) {
		const char *levels[] = {"x86_64", names[i]};

		fill_row(run, i, levels, strtod(names[i], NULL), i == 2 ? 0.4 : 0.006);
	}
	run->rows[1].cycles.hi = 10.09;
	return run;
}

/* Placements around a level with noise of the row's own (by its number), of no direction. */
static void scatter(struct result_row *row, size_t number, double level, double half)
{
	unsigned seed = 2654435761u * (unsigned)(number + 1);

	for (size_t i = 0; i < PLACEMENTS; i++) {
		seed = seed * 1103515245u + 12345u;
		row->placements[i] = level + half * (((seed >> 16) % 1000) / 500.0 - 1);
	}
	row->cycles = around(level, half);
}

/* A run over all of three factors' levels (up to four each), whose costs are cost's. */
enum { GRID_LEVELS = 4 };
struct grid {
	const char *factors[3];
	const char *levels[3][GRID_LEVELS];
	double (*cost)(size_t a, size_t b, size_t c);
};

static size_t grid_levels(const struct grid *g, size_t f)
{
	size_t n = 0;

	while (n < GRID_LEVELS && g->levels[f][n])
		n++;
	return n;
}

/* Rows that cost nothing are empty bodies. */
static struct result_run *grid_run(const struct grid *g)
{
	size_t n[3] = {grid_levels(g, 0), grid_levels(g, 1), grid_levels(g, 2)};
	const bool varies[] = {n[0] > 1, n[1] > 1, n[2] > 1};
	struct result_run *run = run_new(n[0] * n[1] * n[2], g->factors, varies, 3);

	for (size_t i = 0; i < run->row_count; i++) {
		size_t a = i / (n[1] * n[2]), b = i / n[2] % n[1], c = i % n[2];
		const char *levels[] = {g->levels[0][a], g->levels[1][b], g->levels[2][c]};
		double cost = g->cost(a, b, c);
		struct result_row *row = fill_row(run, i, levels, cost, 0.1);

		scatter(row, i, cost, cost > 0 ? 0.2 : 0.001);
		if (cost == 0)
			row->code_bytes = 0;
	}
	return run;
}

/* What is expected stands as it is printed, a line a line. */
/* clang-format off */
static void a_usual_table_fits_100_columns(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &wide, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1\n"
		"trusted · 2 workers x 20 placements x 40 rounds · 0.29 s · 86 samples rejected · precision reached\n"
		"per iteration, with abi=i386 inner=gdt use=inner\n"
		"\n"
		"  reg outer  cycles  ±99%     ns   ticks  vs base  ±99%  verdict        sees  kept rejected  spread\n"
		"* gs  tls     61.12 ±0.10  16.52   42.88                 base                 3178     4+18  ▅ █ ▅ ▃\n"
		"  fs  tls     61.12 ±0.10  16.52   42.88     0.00 ±0.09  no difference ≥0.15  3178     5+17  ▅ █ ▅ ▃\n"
		"  fs  null   197.9  ±0.2   53.49  138.87  +136.8  ±0.2   different            3178     6+16  ▅ █ ▅ ▃\n"
		"             2 modes: 197.9 (80%), 199.4 (20%)\n"
		"  gs  null   197.8  ±0.2   53.46  138.79  +136.7  ±0.2   different            3178     7+15  ▅ █ ▅ ▃\n"
		"sees: would be found 9 times in 10 · rejected: interrupted+fenced · spread: placements, fast to slow\n"
		"\n"
		"2 combinations are left out: the experiment's own rules exclude them\n"
		"controls: a/a 0.00 ±0.02, one add 1.002 ±0.012, imul over add 3.001 ±0.004, footprint on\n"
		"run 14\n");
	result_run_free(run);
}

static void where_variants_have_pools_their_bytes_are_shown(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;
	char *text;

	(void)state;
	capture_begin(&c);
	run->rows[0].pool_bytes = 1792;
	run->rows[1].pool_bytes = 952;
	render_run(run, RENDER_TEXT, &wide, c.out);
	text = capture_end(&c);
	assert_non_null(strstr(text, "\n  reg outer  bytes  cycles  ±99% "));
	assert_non_null(strstr(text, "\n* gs  tls     1792   61.12 ±0.10 "));
	assert_non_null(strstr(text, "\n  fs  tls      952   61.12 ±0.10 "));
	assert_non_null(strstr(text, "\n  fs  null       0  197.9  ±0.2 ")); /* it has none */
	assert_non_null(strstr(text, "\nbytes: of the pool · "));
	free(text);
	result_run_free(run);
}

static void at_80_columns_ns_and_ticks_go_and_it_is_said(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1\n"
		"trusted · 2 workers x 20 placements x 40 rounds · 0.29 s · 86 samples rejected ·\n"
		"    precision reached\n"
		"per iteration, with abi=i386 inner=gdt use=inner\n"
		"\n"
		"  reg outer  cycles  ±99%  vs base  ±99%  verdict        sees  kept  spread\n"
		"* gs  tls     61.12 ±0.10                 base                 3178  ▅ █ ▅ ▃\n"
		"  fs  tls     61.12 ±0.10     0.00 ±0.09  no difference ≥0.15  3178  ▅ █ ▅ ▃\n"
		"  fs  null   197.9  ±0.2   +136.8  ±0.2   different            3178  ▅ █ ▅ ▃\n"
		"             2 modes: 197.9 (80%), 199.4 (20%)\n"
		"  gs  null   197.8  ±0.2   +136.7  ±0.2   different            3178  ▅ █ ▅ ▃\n"
		"sees: would be found 9 times in 10 · spread: placements, fast to slow\n"
		"not shown at this width: ns, ticks, rejected (--format csv has every column)\n"
		"\n"
		"2 combinations are left out: the experiment's own rules exclude them\n"
		"controls: a/a 0.00 ±0.02, one add 1.002 ±0.012, imul over add 3.001 ±0.004,\n"
		"    footprint on\n"
		"run 14\n");
	result_run_free(run);
}

static void ascii_at_100_columns_has_no_other_byte(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &ascii_wide, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 | 3.70 GHz (calibrated) | TSC 2.596 GHz | cpu 1\n"
		"trusted | 2 workers x 20 placements x 40 rounds | 0.29 s | 86 samples rejected | precision reached\n"
		"per iteration, with abi=i386 inner=gdt use=inner\n"
		"\n"
		"  reg outer  cycles  +-99%   ticks  vs base  +-99%  verdict         sees  kept rejected  spread\n"
		"* gs  tls     61.12 +-0.10   42.88                  base                  3178     4+18  + # + -\n"
		"  fs  tls     61.12 +-0.10   42.88     0.00 +-0.09  no difference >=0.15  3178     5+17  + # + -\n"
		"  fs  null   197.9  +-0.2   138.87  +136.8  +-0.2   different             3178     6+16  + # + -\n"
		"             2 modes: 197.9 (80%), 199.4 (20%)\n"
		"  gs  null   197.8  +-0.2   138.79  +136.7  +-0.2   different             3178     7+15  + # + -\n"
		"sees: would be found 9 times in 10 | rejected: interrupted+fenced | spread: placements, fast to slow\n"
		"not shown at this width: ns (--format csv has every column)\n"
		"\n"
		"2 combinations are left out: the experiment's own rules exclude them\n"
		"controls: a/a 0.00 +-0.02, one add 1.002 +-0.012, imul over add 3.001 +-0.004, footprint on\n"
		"run 14\n");
	result_run_free(run);
}

static void ascii_at_80_columns_lines_up(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &ascii_narrow, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 | 3.70 GHz (calibrated) | TSC 2.596 GHz | cpu 1\n"
		"trusted | 2 workers x 20 placements x 40 rounds | 0.29 s | 86 samples rejected |\n"
		"    precision reached\n"
		"per iteration, with abi=i386 inner=gdt use=inner\n"
		"\n"
		"  reg outer  cycles  +-99%  vs base  +-99%  verdict         sees  kept  spread\n"
		"* gs  tls     61.12 +-0.10                  base                  3178  + # + -\n"
		"  fs  tls     61.12 +-0.10     0.00 +-0.09  no difference >=0.15  3178  + # + -\n"
		"  fs  null   197.9  +-0.2   +136.8  +-0.2   different             3178  + # + -\n"
		"             2 modes: 197.9 (80%), 199.4 (20%)\n"
		"  gs  null   197.8  +-0.2   +136.7  +-0.2   different             3178  + # + -\n"
		"sees: would be found 9 times in 10 | spread: placements, fast to slow\n"
		"not shown at this width: ns, ticks, rejected (--format csv has every column)\n"
		"\n"
		"2 combinations are left out: the experiment's own rules exclude them\n"
		"controls: a/a 0.00 +-0.02, one add 1.002 +-0.012, imul over add 3.001 +-0.004,\n"
		"    footprint on\n"
		"run 14\n");
	result_run_free(run);
}

static void at_40_columns_the_verdict_still_stands(void **state)
{
	static const struct render_style tiny = {.utf8 = true, .width = 1};
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &tiny, c.out);
	expect(&c,
		"segreg: save, load, use and restore a\n"
		"    segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) ·\n"
		"    TSC 2.596 GHz · cpu 1\n"
		"trusted · 2 workers x 20 placements x 40\n"
		"    rounds · 0.29 s · 86 samples\n"
		"    rejected · precision reached\n"
		"per iteration, with abi=i386 inner=gdt\n"
		"    use=inner\n"
		"\n"
		"  reg outer  cycles  ±99%  verdict\n"
		"* gs  tls     61.12 ±0.10  base\n"
		"  fs  tls     61.12 ±0.10  no difference\n"
		"  fs  null   197.9  ±0.2   different\n"
		"             2 modes: 197.9 (80%), 199.4\n"
		"             (20%)\n"
		"  gs  null   197.8  ±0.2   different\n"
		"not shown at this width: ns, ticks, vs\n"
		"  base, sees, kept, rejected, spread\n"
		"  (--format csv has every column)\n"
		"\n"
		"2 combinations are left out: the\n"
		"    experiment's own rules exclude them\n"
		"controls: a/a 0.00 ±0.02, one add 1.002\n"
		"    ±0.012, imul over add 3.001 ±0.004,\n"
		"    footprint on\n"
		"run 14\n");
	result_run_free(run);
}

static void rows_without_figures_have_the_reason_in_their_place(void **state)
{
	struct result_run *run = failing_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1\n"
		"cut short · trusted · 2 workers x 20 placements x 40 rounds · 0.29 s · 86\n"
		"    samples rejected · stopped\n"
		"per iteration, with abi=x86_64\n"
		"\n"
		"  code   cycles ±99%    ns  ticks  kept rejected  spread\n"
		"  good     12.5 ±0.4  3.38    8.8  3178     4+18  ▅ █ ▅ ▃\n"
		"  gone   n/a: this level needs descriptors of our own in the LDT, and modify_ldt\n"
		"         fails: ENOSYS: this kernel was built without CONFIG_MODIFY_LDT_SYSCALL\n"
		"! ud     died: SIGILL, at +0x2a: ud2\n"
		"! hang   hung: did not end within 2 s\n"
		"! wrong  wrong: counter is 63 after 64 iterations\n"
		"! jump   died: SIGSEGV: no memory at 0x10, at 0x7f0010: mov 0x10,%eax\n"
		"  late   not measured\n"
		"rejected: interrupted+fenced · spread: placements, fast to slow\n");
	result_run_free(run);
}

static void an_untrusted_run_says_so_before_any_figure(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	run->trusted = false;
	run->not_trusted_why = strdup("one add i386 reads 1.31");
	run->controls[1].ok = false;
	run->controls[1].value = around(1.31, 0.12);
	strcpy(run->controls[1].text, "too slow");
	run->row_count = 2; /* the rest is freed below */
	run->rows[1].verdict = RESULT_NOT_TRUSTED;
	run->rows[1].footprint = RESULT_FOOTPRINT_OFF;
	run->rows[1].footprint_why = strdup("the body uses %es");
	result_event_add(run, "warning", "the sibling of CPU %d is busy", 1);
	render_run(run, RENDER_TEXT, &wide, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1\n"
		"NOT TRUSTED: one add i386 reads 1.31\n"
		"no comparison is called · 2 workers x 20 placements x 40 rounds · 0.29 s · 86 samples rejected ·\n"
		"    precision reached\n"
		"per iteration, with abi=i386 inner=gdt use=inner\n"
		"\n"
		"  reg outer  cycles  ±99%     ns  ticks  vs base  ±99%  verdict      kept rejected  spread\n"
		"* gs  tls     61.12 ±0.10  16.52  42.88                 base         3178     4+18  ▅ █ ▅ ▃\n"
		"  fs  tls     61.12 ±0.10  16.52  42.88     0.00 ±0.09  not trusted  3178     5+17  ▅ █ ▅ ▃\n"
		"rejected: interrupted+fenced · spread: placements, fast to slow\n"
		"\n"
		"footprint off (reg=fs outer=tls): the body uses %es\n"
		"2 combinations are left out: the experiment's own rules exclude them\n"
		"control FAILED: one add i386 1.31 ±0.12, expected 1.00 within 0.05: too slow\n"
		"controls: a/a 0.00 ±0.02, imul over add 3.001 ±0.004, footprint on\n"
		"warning: the sibling of CPU 1 is busy\n"
		"run 14\n");
	run->row_count = 4;
	result_run_free(run);
}

static void numbers_as_levels_and_unlike_sides_line_up(void **state)
{
	struct result_run *run = ladder_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &wide, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1\n"
		"trusted · 2 workers x 20 placements x 40 rounds · 0.29 s · 86 samples rejected · precision reached\n"
		"per iteration, with abi=x86_64\n"
		"\n"
		"adds    cycles         ±99%       ns    ticks  kept rejected  spread\n"
		"   1     1.000 ±0.006          0.270    0.702  3178     4+18  ▅ █ ▅ ▃\n"
		"  10    10.00   9.99..10.09    2.703    7.016  3178     5+17  ▅ █ ▅ ▃\n"
		"1000  1000.0   ±0.4          270.27   701.6    3178     6+16  ▅ █ ▅ ▃\n"
		"rejected: interrupted+fenced · spread: placements, fast to slow\n");
	result_run_free(run);
}

static void a_run_of_one_variant_names_its_levels_once(void **state)
{
	static const char *const factors[] = {"abi"};
	static const bool varies[] = {false};
	static const char *const levels[] = {"i386"};
	struct result_run *run = run_new(1, factors, varies, 1);
	struct capture c;

	(void)state;
	capture_begin(&c);
	fill_row(run, 0, levels, 3.2, 0.05);
	free(run->host);
	run->host = NULL;
	render_run(run, RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"segreg: save, load, use and restore a segment register\n"
		"unknown CPU · cpu 1\n"
		"trusted · 2 workers x 20 placements x 40 rounds · 0.29 s · 86 samples rejected ·\n"
		"    precision reached\n"
		"per iteration, with abi=i386\n"
		"\n"
		"cycles  ±99%     ns  ticks  kept rejected  spread\n"
		"  3.20 ±0.05  0.865   2.25  3178     4+18  ▅ █ ▅ ▃\n"
		"rejected: interrupted+fenced · spread: placements, fast to slow\n");
	result_run_free(run);
}

static void csv_has_every_fact_and_leaves_missing_ones_empty(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	run->row_count = 2;
	fail_row(&run->rows[1], RESULT_DIED, "said \"no\", twice");
	run->rows[1].crash = (struct result_crash){
		.signal = SIGILL, .in_code = true, .offset = 3, .instruction = "ud2"};
	run->rows[1].base = -1;
	run->rows[1].verdict = RESULT_VERDICT_NONE;
	free(run->factors[2].name);
	run->factors[2].name = strdup("base");
	render_run(run, RENDER_CSV, &wide, c.out);
	expect(&c,
		"run,experiment,abi,reg,factor_base,inner,use,state,reason,unit,cycles,cycles_lo,cycles_hi,ns,ns_lo,ns_hi,ticks,ticks_lo,ticks_hi,base,diff,diff_lo,diff_hi,p,p_holm,mdd,verdict,kept,interrupted,fenced,footprint,footprint_why,blocks,workers,unroll,modes,code_bytes,pool_bytes,sha256,crash_signal,crash_at,crash_instruction,trusted,cut_short\r\n"
		"14,segreg,i386,gs,tls,gdt,inner,measured,,iteration,61.12,61.02,61.22,16.51891892,16.49189189,16.54594595,42.88311351,42.81295135,42.95327568,reg=gs base=tls,,,,,,,base,3178,4,18,on,,40,2,64,,17,0,ab12,,,,yes,no\r\n"
		"14,segreg,i386,fs,tls,gdt,inner,died,\"said \"\"no\"\", twice\",iteration,,,,,,,,,,,,,,,,,none,,,,,,,,,,17,0,ab12,SIGILL,+0x3,ud2,yes,no\r\n");
	run->row_count = 4;
	result_run_free(run);
}

static void what_a_run_reports_besides_is_a_column(void **state)
{
	struct result_run *run = ladder_run();
	struct capture c;
	char *text;

	(void)state;
	capture_begin(&c);
	run->report_count = 1024;
	render_run(run, RENDER_TEXT, &wide, c.out);
	text = capture_end(&c);
	assert_non_null(strstr(text, "cycles         ±99%       ns    ticks  cycles/1024  kept"));
	assert_non_null(strstr(text, "   1     1.000 ±0.006          0.270    0.702         1024  3178"));
	assert_non_null(strstr(text, "270.27   701.6        1024000  3178"));
	free(text);
	run->report_count = 100000000;
	run->report_seconds = true;
	capture_begin(&c);
	render_run(run, RENDER_TEXT, &wide, c.out);
	text = capture_end(&c);
	assert_non_null(strstr(text, "ticks  s/100,000,000  kept"));
	assert_non_null(strstr(text, "701.6           27.027  3178"));
	free(text);
	fail_row(&run->rows[1], RESULT_DIED, "gone");
	capture_begin(&c);
	render_run(run, RENDER_CSV, &wide, c.out);
	text = capture_end(&c);
	assert_non_null(strstr(text, ",cut_short,report,report_lo,report_hi,report_count,report_unit\r\n"));
	assert_non_null(strstr(text, ",yes,no,0.02702702703,0.02686486486,0.02718918919,100000000,seconds\r\n"));
	assert_non_null(strstr(text, ",yes,no,,,,100000000,seconds\r\n"));
	free(text);
	result_run_free(run);
}

static void jsonl_is_the_record(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;
	char *text;

	(void)state;
	capture_begin(&c);
	render_run(run, RENDER_JSONL, &wide, c.out);
	text = capture_end(&c);
	assert_int_equal(strncmp(text, "{\"kind\":\"run\",\"run\":\"14\"", 24), 0);
	assert_non_null(strstr(text, "\n{\"kind\":\"comparison\""));
	free(text);
	result_run_free(run);
}

static void the_summary_tells_each_factor_alone(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	/* fs and gs alike but for noise that has no direction */
	for (size_t i = 0; i < PLACEMENTS; i++)
		run->rows[1].placements[i] = run->rows[0].placements[i] + (i % 2 ? 0.03 : -0.028);
	for (size_t i = 0; i < PLACEMENTS; i++)
		run->rows[3].placements[i] = run->rows[2].placements[i] + (i % 2 ? 0.04 : -0.041);
	render_summary(run, &wide, c.out);
	expect(&c,
		"- 4 variants, from 61.12 cycles (reg=gs outer=tls) to 197.9 (reg=fs outer=null)\n"
		"- reg: no difference between gs and fs in both pairs (largest 0.001 cycles; 0.10 would have shown)\n"
		"- outer: null costs 136.84 cycles more than tls (136.77 to 136.90), in both pairs\n");
	result_run_free(run);
}

static void the_summary_tells_an_effect_that_depends_on_the_rest(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	/* gs null is no dearer than gs tls, fs null is */
	for (size_t i = 0; i < PLACEMENTS; i++)
		run->rows[3].placements[i] = run->rows[0].placements[i] + (i % 2 ? 0.03 : -0.028);
	render_summary(run, &wide, c.out);
	expect(&c,
		"- 4 variants, from 61.12 cycles (reg=gs outer=tls) to 197.9 (reg=fs outer=null)\n"
		"- reg: fs costs 136.83 cycles more than gs (136.79 to 136.86) with outer=null; no difference with\n"
		"  outer=tls (0.000 cycles; 0.03 would have shown)\n"
		"- outer: null costs 136.81 cycles more than tls (136.81 to 136.86) with reg=fs; no difference with\n"
		"  reg=gs (0.001 cycles; 0.03 would have shown)\n");
	result_run_free(run);
}

/* Frees the run. */
static void expect_summary(struct result_run *run, const char *wanted)
{
	struct capture c;

	capture_begin(&c);
	render_summary(run, &wide, c.out);
	expect(&c, wanted);
	result_run_free(run);
}

/* As on a CPU where null is dear, and in x86_64 tls, too. */
static double segment_cost(size_t abi, size_t reg, size_t outer)
{
	static const double costs[2][3] = {{208, 65, 65}, {208, 65, 254}};

	return reg == 0 ? 0 : costs[abi][outer];
}

static void the_summary_names_where_a_level_is_dearer_and_where_not(void **state)
{
	static const struct grid grid = {
		{"abi", "reg", "outer"},
		{{"i386", "x86_64"}, {"none", "fs", "gs"}, {"null", "data", "tls"}},
		segment_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 18 variants, 6 of them empty, the others from 65.0 cycles (abi=i386 reg=fs outer=data) to 254.0\n"
		"  (abi=x86_64 reg=fs outer=tls)\n"
		"- abi: each has placements of its own; its levels are not held against each other\n"
		"- reg: fs and gs cost 208.00 cycles more than none (207.91 to 208.08) with outer=null; 253.98 more\n"
		"  (253.90 to 254.07) with abi=x86_64 outer=tls; otherwise 65.00 more (64.92 to 65.08)\n"
		"- reg: no difference between fs and gs in 6 pairs (largest 0.05 cycles; 0.2 would have shown)\n"
		"- outer: data costs 143.02 cycles less than null (142.89 to 143.13), in all 4 pairs\n"
		"- outer: tls costs 45.99 cycles more than null (45.90 to 46.07) with abi=x86_64; 143.01 less (142.92\n"
		"  to 143.11) with abi=i386\n"
		"- outer: tls costs 188.99 cycles more than data (188.89 to 189.10) with abi=x86_64; no difference\n"
		"  with abi=i386 (largest 0.04 cycles; 0.19 would have shown)\n");
}

static double distinct_cost(size_t a, size_t b, size_t c)
{
	return 10 + (double)(b * (5 + 8 * a + 4 * c));
}

static void the_summary_gives_a_range_where_costs_are_too_many_to_name(void **state)
{
	static const struct grid grid = {
		{"abi", "kind", "where"},
		{{"i386", "x86_64"}, {"plain", "fenced"}, {"here", "there"}},
		distinct_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 8 variants, from 10.0 cycles (abi=i386 kind=plain where=here) to 27.0 (abi=x86_64 kind=fenced\n"
		"  where=there)\n"
		"- abi: each has placements of its own; its levels are not held against each other\n"
		"- kind: fenced costs 4.99 to 17.01 cycles more than plain, in all 4 pairs\n"
		"- where: there costs 4.00 cycles more than here (3.89 to 4.09) with kind=fenced; no difference with\n"
		"  kind=plain (largest 0.03 cycles; 0.17 would have shown)\n");
}

static double crossed_cost(size_t a, size_t b, size_t c)
{
	return 10 + (b == 1 && a == c ? 5 : 0);
}

static void the_summary_counts_pairs_that_no_levels_set_apart(void **state)
{
	static const struct grid grid = {
		{"abi", "kind", "where"},
		{{"i386", "x86_64"}, {"plain", "fenced"}, {"here", "there"}},
		crossed_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 8 variants, from 10.0 cycles (abi=i386 kind=plain where=here) to 15.0 (abi=i386 kind=fenced\n"
		"  where=here)\n"
		"- abi: each has placements of its own; its levels are not held against each other\n"
		"- kind: fenced costs 5.00 cycles more than plain (4.92 to 5.09), in 2 of 4 pairs; no difference in 2\n"
		"  of 4 pairs (largest 0.06 cycles; 0.2 would have shown)\n"
		"- where: there costs 4.98 cycles more than here (4.89 to 5.07) with abi=x86_64 kind=fenced; 4.99\n"
		"  less (4.91 to 5.08) with abi=i386 kind=fenced; no difference with kind=plain (largest 0.03 cycles;\n"
		"  0.17 would have shown)\n");
}

static double last_cost(size_t a, size_t b, size_t c)
{
	return 10 + (a + b == 2 && c == 1 ? 5 : 0);
}

static void the_summary_counts_pairs_whose_levels_take_longer_to_name(void **state)
{
	static const struct grid grid = {
		{"abi", "kind", "where"},
		{{"i386", "x86_64"},
		 {"plain", "fenced"},
		 {"before_the_first_access", "behind_the_last_access_but_one_more"}},
		last_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 8 variants, from 10.0 cycles (abi=i386 kind=plain where=before_the_first_access) to 15.0\n"
		"  (abi=x86_64 kind=fenced where=behind_the_last_access_but_one_more)\n"
		"- abi: each has placements of its own; its levels are not held against each other\n"
		"- kind: fenced costs 5.01 cycles more than plain (4.93 to 5.09), in 1 of 4 pairs; no difference in 3\n"
		"  of 4 pairs (largest 0.06 cycles; 0.2 would have shown)\n"
		"- where: behind_the_last_access_but_one_more costs 4.98 cycles more than before_the_first_access\n"
		"  (4.89 to 5.07) with abi=x86_64 kind=fenced; otherwise no difference (largest 0.03 cycles; 0.19\n"
		"  would have shown)\n");
}

static double cornered_cost(size_t a, size_t b, size_t c)
{
	return 10 + (b == 1 && a + c < 2 ? 5 : 0);
}

static void the_summary_says_otherwise_for_what_is_left(void **state)
{
	static const struct grid grid = {
		{"abi", "kind", "where"},
		{{"i386", "x86_64"}, {"plain", "fenced"}, {"here", "there"}},
		cornered_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 8 variants, from 10.0 cycles (abi=i386 kind=plain where=here) to 15.0 (abi=i386 kind=fenced\n"
		"  where=here)\n"
		"- abi: each has placements of its own; its levels are not held against each other\n"
		"- kind: no difference between plain and fenced with abi=x86_64 where=there (0.01 cycles; 0.18 would\n"
		"  have shown); otherwise fenced costs 5.02 cycles more than plain (4.91 to 5.14)\n"
		"- where: there costs 5.02 cycles less than here (4.93 to 5.11) with abi=x86_64 kind=fenced;\n"
		"  otherwise no difference (largest 0.03 cycles; 0.19 would have shown)\n");
}

static double middle_cost(size_t a, size_t b, size_t c)
{
	(void)a;
	(void)c;
	return b == 1 ? 15 : 10;
}

static void the_summary_tells_levels_that_do_not_differ_as_one(void **state)
{
	static const struct grid grid = {
		{"abi", "sel", "use"},
		{{"i386"}, {"data", "null", "ldt"}, {"inner"}},
		middle_cost,
	};

	(void)state;
	expect_summary(grid_run(&grid),
		"- 3 variants, from 10.0 cycles (sel=data) to 15.0 (sel=null)\n"
		"- sel: no difference between data and ldt (0.01 cycles; 0.15 would have shown)\n"
		"- sel: null costs 5.01 cycles more than data or ldt (4.94 to 5.08), in both pairs\n");
}

static void the_summary_holds_many_levels_against_the_first(void **state)
{
	static const char *const factors[] = {"abi", "adds"};
	static const bool varies[] = {false, true};

	(void)state;
	for (size_t rows = 5; rows <= 9; rows += 4) {
		struct result_run *run = run_new(rows, factors, varies, 2);

		for (size_t i = 0; i < rows; i++) {
			char name[24];
			const char *levels[] = {"i386", name};

			snprintf(name, sizeof name, "%zu", i + 1);
			fill_row(run, i, levels, 1, 0.1);
			scatter(&run->rows[i], i, i < 3 ? 10 : 10 + (double)i, 0.2);
		}
		expect_summary(run, rows == 5 ?
				"- 5 variants, from 10.0 cycles (adds=1) to 14.0 (adds=5)\n"
				"- adds: no difference between 1 and each of 2 and 3 in both pairs (largest 0.01 cycles; 0.15 would\n"
				"  have shown)\n"
				"- adds: 4 costs 2.99 cycles more than 1 (2.92 to 3.06)\n"
				"- adds: 5 costs 3.94 cycles more than 1 (3.88 to 3.99)\n" :
				"- 9 variants, from 10.0 cycles (adds=1) to 18.0 (adds=9)\n"
				"- adds: each of the 8 others costs 2.99 to 8.01 cycles more than 1, in 6 of 8 pairs; no difference\n"
				"  in 2 of 8 pairs (largest 0.01 cycles; 0.16 would have shown)\n");
	}
}

static void the_summary_is_silent_where_nothing_may_be_called(void **state)
{
	struct result_run *run = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	run->trusted = false;
	render_summary(run, &wide, c.out);
	expect(&c, "");
	result_run_free(run);
}

static void the_summary_does_not_pair_unlike_placements(void **state)
{
	struct result_run *run = ladder_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	run->rows[1].placement_count = 39;
	run->rows[0].placement_count = run->rows[2].placement_count = 4;
	render_summary(run, &wide, c.out);
	expect(&c,
		"- 3 variants, from 1.000 cycles (adds=1) to 1000.0 (adds=1000)\n"
		"- adds: too few placements to tell 1000 from 1\n");
	result_run_free(run);
}

static void stored_runs_are_compared_without_a_verdict(void **state)
{
	struct result_run *a = usual_run(), *b = usual_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	strcpy(b->id, "15");
	b->rows[1].cycles = around(63.02, 0.3);
	fail_row(&b->rows[2], RESULT_HUNG, "did not end within 2 s");
	free(b->rows[3].levels[1]);
	b->rows[3].levels[1] = strdup("es");
	a->rows[3].label = strdup("reg=gs outer=null");
	b->rows[3].label = strdup("reg=es outer=null");
	strcpy(b->rows[1].sha256, "cd34");
	render_compare(a, b, "microcode: \"0xa1\" against \"0xa2\"\nmitigation srso: \"x\" against \"y\"",
		       RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"segreg: run 14 and run 15\n"
		"Stored runs were not interleaved: drift between them is in every difference, and\n"
		"no verdict is given.\n"
		"warning: the hosts differ in what moves these figures:\n"
		"  microcode: \"0xa1\" against \"0xa2\"\n"
		"  mitigation srso: \"x\" against \"y\"\n"
		"run 14: 2026-11-30T15:14:41Z · trusted · run segreg\n"
		"run 15: 2026-11-30T15:14:41Z · trusted · run segreg\n"
		"\n"
		"cycles per iteration\n"
		"reg outer  run 14  ±99%  run 15  ±99%  15 - 14  ±99%     %\n"
		"gs  tls     61.12 ±0.10   61.12 ±0.10     0.00 ±0.14   0.0\n"
		"fs  tls     61.12 ±0.10   63.0  ±0.3     +1.9  ±0.3   +3.1\n"
		"fs  null   run 15: hung: did not end within 2 s\n"
		"\n"
		"warning: in 1 of 3 rows the code is not the same (sha256)\n"
		"Only in run 14: reg=gs outer=null\n"
		"Only in run 15: reg=es outer=null\n");
	capture_begin(&c);
	render_compare(a, b, NULL, RENDER_CSV, &narrow, c.out);
	expect(&c,
		"a,b,experiment,factor_abi,factor_reg,factor_outer,factor_inner,factor_use,a_cycles,a_cycles_lo,a_cycles_hi,b_cycles,b_cycles_lo,b_cycles_hi,diff,diff_lo,diff_hi,interleaved,same_code,host_difference,reason\r\n"
		"14,15,segreg,i386,gs,tls,gdt,inner,61.12,61.02,61.22,61.12,61.02,61.22,0,-0.1414213562,0.1414213562,no,yes,,\r\n"
		"14,15,segreg,i386,fs,tls,gdt,inner,61.12,61.02,61.22,63.02,62.72,63.32,1.9,1.583772234,2.216227766,no,no,,\r\n"
		"14,15,segreg,i386,fs,null,gdt,inner,,,,,,,,,,no,yes,,run 15: hung: did not end within 2 s\r\n");
	capture_begin(&c);
	a->row_count = 1;
	render_compare(a, b, NULL, RENDER_JSONL, &narrow, c.out);
	expect(&c,
		"{\"kind\":\"stored-comparison\",\"a\":\"14\",\"b\":\"15\",\"experiment\":\"segreg\",\"variant\":{\"abi\":\"i386\",\"reg\":\"gs\",\"outer\":\"tls\",\"inner\":\"gdt\",\"use\":\"inner\"},\"interleaved\":false,\"trusted\":true,\"same_code\":true,\"host_difference\":null,\"a_cycles\":{\"est\":61.12,\"lo\":61.02,\"hi\":61.22},\"b_cycles\":{\"est\":61.12,\"lo\":61.02,\"hi\":61.22},\"diff\":{\"est\":0.0,\"lo\":-0.1414213562,\"hi\":0.1414213562}}\n");
	a->row_count = 4;
	result_run_free(a);
	result_run_free(b);
}

static void runs_of_different_experiments_are_not_matched(void **state)
{
	struct result_run *a = usual_run(), *b = ladder_run();
	struct capture c;

	(void)state;
	capture_begin(&c);
	free(b->experiment);
	b->experiment = strdup("ladder");
	b->trusted = false;
	render_compare(a, b, NULL, RENDER_TEXT, &ascii_narrow, c.out);
	expect(&c,
		"segreg: run 14 and second\n"
		"Stored runs were not interleaved: drift between them is in every difference, and\n"
		"no verdict is given.\n"
		"run 14: 2026-11-30T15:14:41Z | trusted | run segreg\n"
		"second: 2026-11-30T15:14:41Z | NOT TRUSTED | run segreg\n"
		"Nothing to compare: the runs are of different experiments or factors (segreg and\n"
		"ladder).\n");
	result_run_free(a);
	result_run_free(b);
}

static void list_runs_is_one_line_a_run(void **state)
{
	char started[] = "2026-11-30T15:14:41Z", segreg[] = "segreg", cpu[] = "AMD EPYC 9R14";
	char trusted[] = "trusted", cut[] = "cut short";
	char command[] = "run segreg reg=fs,gs outer=null,tls inner=gdt --against outer=tls";
	char other[] = "asm 'push %fs; pop %fs' 'mov %fs,%eax'", asm_name[] = "asm";
	const struct archive_entry entries[] = {
		{14, started, segreg, command, trusted, 0.294, 4, cpu},
		{9, started, asm_name, other, cut, 11.2, 2, cpu},
	};
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_runs(entries, 2, RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"run  started (UTC)         s  rows  outcome    command\n"
		" 14  2026-11-30 15:14   0.29     4  trusted    run segreg reg=fs,gs\n"
		"                                               outer=null,tls inner=gdt\n"
		"                                               --against outer=tls\n"
		"  9  2026-11-30 15:14  11.20     2  cut short  asm 'push %fs; pop %fs' 'mov\n"
		"                                               %fs,%eax'\n");
	capture_begin(&c);
	render_runs(entries, 2, RENDER_CSV, &narrow, c.out);
	expect(&c,
		"run,started,seconds,rows,outcome,cpu_name,experiment,command\r\n"
		"14,2026-11-30T15:14:41Z,0.294,4,trusted,AMD EPYC 9R14,segreg,\"run segreg reg=fs,gs outer=null,tls inner=gdt --against outer=tls\"\r\n"
		"9,2026-11-30T15:14:41Z,11.2,2,cut short,AMD EPYC 9R14,asm,\"asm 'push %fs; pop %fs' 'mov %fs,%eax'\"\r\n");
	capture_begin(&c);
	render_runs(entries, 1, RENDER_JSONL, &narrow, c.out);
	expect(&c,
		"{\"kind\":\"stored-run\",\"run\":\"14\",\"started\":\"2026-11-30T15:14:41Z\",\"experiment\":\"segreg\",\"command\":\"run segreg reg=fs,gs outer=null,tls inner=gdt --against outer=tls\",\"outcome\":\"trusted\",\"seconds\":0.294,\"rows\":4,\"cpu_name\":\"AMD EPYC 9R14\"}\n");
	capture_begin(&c);
	render_runs(entries, 0, RENDER_TEXT, &narrow, c.out);
	expect(&c, "no runs\n");
}

static void the_host_is_told_with_reasons_and_advice(void **state)
{
	static const char json[] =
		"{\"cpu_name\":\"AMD EPYC 9R14\",\"family\":25,\"tsc_hz\":2.596e9,\"core_hz\":null,"
		"\"tsc_granule\":26,\"tsc_invariant\":true,\"governor\":\"unknown\",\"cpu\":1,"
		"\"steal\":\"\",\"new_field\":7,"
		"\"mitigations\":{\"retbleed\":\"Not affected\",\"spectre_v2\":\"Mitigation: Enhanced / "
		"Automatic IBRS; IBPB: conditional; STIBP: always-on\"},"
		"\"capabilities\":{\"i386\":{\"i386\":true,\"ldt\":\"modify_ldt: ENOSYS\",\"sysenter\":"
		"\"not on this CPU in long mode (#UD)\"},"
		"\"x86_64\":{\"i386\":\"this is the other ABI\",\"ldt\":\"modify_ldt: ENOSYS\","
		"\"sysenter\":true}}}";
	static const struct host_advice advice[] = {
		{"the governor is not \"performance\": the clock may move while a run is on",
		 "cpupower frequency-set -g performance"},
		{"no CPU is isolated", ""},
	};
	struct capture c;

	(void)state;
	capture_begin(&c);
	render_host(json, advice, 2, RENDER_TEXT, &narrow, c.out);
	expect(&c,
		"CPU              AMD EPYC 9R14\n"
		"family           25\n"
		"measures on CPU  1\n"
		"core clock       calibrated in every run\n"
		"governor         unknown\n"
		"time stamp       2.596 GHz\n"
		"its granule      26 ticks\n"
		"invariant        yes\n"
		"new_field        7\n"
		"\n"
		"mitigation\n"
		"retbleed    Not affected\n"
		"spectre_v2  Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP:\n"
		"            always-on\n"
		"\n"
		"capability  i386     x86_64   what it is; why not\n"
		"i386        yes      no       32-bit programs run\n"
		"                              x86_64: this is the other ABI\n"
		"x86_64      unknown  unknown  64-bit programs run\n"
		"ldt         no       no       32-bit segment descriptors of our own in the LDT\n"
		"                              (modify_ldt)\n"
		"                              modify_ldt: ENOSYS\n"
		"ldt16       unknown  unknown  16-bit segment descriptors of our own in the LDT\n"
		"gdt         unknown  unknown  two segment descriptors of our own in the GDT\n"
		"                              (set_thread_area)\n"
		"int80       unknown  unknown  system calls by int $0x80\n"
		"sysenter    no       yes      system calls by the sysenter instruction\n"
		"                              i386: not on this CPU in long mode (#UD)\n"
		"syscall     unknown  unknown  system calls by the syscall instruction\n"
		"syscall32   unknown  unknown  the vDSO's entry for 32-bit system calls\n"
		"                              (__kernel_vsyscall)\n"
		"fsgsbase    unknown  unknown  segment bases read and written by rdfsbase,\n"
		"                              wrfsbase and their like\n"
		"footprint   unknown  unknown  an interrupt leaves a trace in %es, so that\n"
		"                              samples it hit are found\n"
		"ring0       unknown  unknown  privileged instructions (cli, sti, wrmsr)\n"
		"\n"
		"what would make results better\n"
		"- the governor is not \"performance\": the clock may move while a run is on\n"
		"    cpupower frequency-set -g performance\n"
		"- no CPU is isolated\n");
	capture_begin(&c);
	render_host("{\"cpu_name\":\"A, B\",\"smt\":null,\"mitigations\":{\"srso\":\"none\"}}", advice, 1,
		    RENDER_CSV, &narrow, c.out);
	expect(&c,
		"key,value\r\n"
		"cpu_name,\"A, B\"\r\n"
		"smt,\r\n"
		"mitigations.srso,none\r\n"
		"advice.1,\"the governor is not \"\"performance\"\": the clock may move while a run is on\"\r\n"
		"advice.1.command,cpupower frequency-set -g performance\r\n");
	capture_begin(&c);
	render_host("{\"cpu_name\":\"A\"}", advice, 1, RENDER_JSONL, &narrow, c.out);
	expect(&c,
		"{\"kind\":\"host\",\"cpu_name\":\"A\",\"advice\":[{\"what\":\"the governor is not \\\"performance\\\": the clock may move while a run is on\",\"command\":\"cpupower frequency-set -g performance\"}]}\n");
	capture_begin(&c);
	render_host("{", NULL, 0, RENDER_TEXT, &narrow, c.out);
	expect(&c, "the host's description cannot be read\n");
}

static void figures_have_the_digits_their_interval_supports(void **state)
{
	static const struct {
		struct stats_interval i;
		bool sign;
		const char *est, *half;
	} cases[] = {
		{{61.1234, 61.0234, 61.2234}, false, "61.12", "±0.10"},
		{{61.1234, 60.8, 61.4}, false, "61.1", "±0.3"},
		{{197.93, 197.73, 198.13}, true, "+197.9", "±0.2"},
		{{-0.004, -0.09, 0.08}, true, "0.00", "±0.09"},
		{{-0.3, -0.5, -0.1}, true, "-0.3", "±0.2"},
		{{1234.5, 1200, 1270}, false, "1234", "±36"},
		{{100, 98.6, 101.4}, false, "100.0", "±1.4"},
		{{5.00001, 5.00001, 5.00002}, false, "5.000", "±0.001"},
		{{5, 5, 5}, false, "5.000", "±0.000"},
		{{10, 9.9, 11}, false, "10.0", "9.9..11.0"},
		{{0.5, 0.404, 0.596}, false, "0.50", "±0.10"},
		{{3.14159, NAN, NAN}, false, "3.1", "±n/a"},
		{{NAN, NAN, NAN}, false, "n/a", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct render_figure f;

		render_figure_interval(&f, &cases[i].i, cases[i].sign);
		assert_string_equal(f.est, cases[i].est);
		assert_string_equal(f.half, cases[i].half);
	}
}

static void wide_characters_and_escapes_keep_columns_straight(void **state)
{
	static const struct table_column columns[] = {
		{.head = "name", .most = 8},
		{.head = "value", .align = TABLE_POINT, .gap = 2},
		{.head = "empty", .gap = 2},
	};
	static const char *const names[] = {"日本", "é", "a\033[2Jb", "\xff!", "much too long"};
	struct capture c;
	struct render_page page;
	struct table *t;

	(void)state;
	capture_begin(&c);
	page = render_page_on(&wide, c.out);
	t = table_new(&page, columns, 3);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		table_row_begin(t);
		table_cell_set(t, 0, names[i]);
		table_cell_set(t, 1, i % 2 ? "10.25" : "3.5");
	}
	table_print(t);
	table_free(t);
	expect(&c,
		"name      value\n"
		"日本       3.5\n"
		"é         10.25\n"
		"a?[2Jb     3.5\n"
		"?!        10.25\n"
		"much to…   3.5\n");
}

static void colour_is_added_only_where_it_is_asked_for(void **state)
{
	static const struct render_style colored = {.utf8 = true, .width = 100, .color = true};
	struct result_run *run = usual_run();
	struct capture c, plain;
	char *text, *bare, *to;

	(void)state;
	capture_begin(&c);
	capture_begin(&plain);
	render_run(run, RENDER_TEXT, &colored, c.out);
	render_run(run, RENDER_TEXT, &wide, plain.out);
	text = capture_end(&c);
	bare = capture_end(&plain);
	assert_non_null(strstr(text, "\033[1mdifferent\033[0m"));
	assert_null(strchr(bare, '\033'));
	/* Without its attributes the coloured text is the plain one. */
	to = text;
	for (const char *s = text; *s; s++) {
		if (*s == '\033')
			s = strchr(s, 'm');
		else
			*to++ = *s;
	}
	*to = 0;
	assert_string_equal(text, bare);
	free(text);
	free(bare);
	result_run_free(run);
}

static void a_stream_that_is_no_terminal_has_no_colour_and_100_columns(void **state)
{
	FILE *file = tmpfile();
	struct render_style style;

	(void)state;
	assert_non_null(file);
	unsetenv("COLUMNS");
	setenv("TERM", "xterm", 1);
	style = render_style_for(file);
	assert_true(style.utf8);
	assert_false(style.color);
	assert_int_equal(style.width, 100);
	setenv("COLUMNS", "72", 1);
	assert_int_equal(render_style_for(file).width, 72);
	unsetenv("COLUMNS");
	setlocale(LC_ALL, "C");
	assert_false(render_style_for(file).utf8);
	setlocale(LC_ALL, "C.UTF-8");
	fclose(file);
}

static void a_thousand_rows_are_a_line_each(void **state)
{
	enum { ROWS = 1000 };
	static const char *const factors[] = {"abi", "n", "kind"};
	static const bool varies[] = {false, true, true};
	struct result_run *run = run_new(ROWS, factors, varies, 3);
	struct capture c;
	char *text;
	size_t lines = 0;

	(void)state;
	capture_begin(&c);
	for (size_t i = 0; i < ROWS; i++) {
		char n[16];
		const char *levels[] = {"i386", n, i % 2 ? "odd" : "even"};

		snprintf(n, sizeof n, "%zu", i / 2);
		fill_row(run, i, levels, (double)i, 0.1);
		run->rows[i].footprint = i % 3;
	}
	render_run(run, RENDER_TEXT, &narrow, c.out);
	text = capture_end(&c);
	for (const char *s = text; *s; s += strcspn(s, "\n") + 1)
		lines++;
	assert_true(lines > ROWS + 8 && lines < ROWS + 20);
	free(text);
	result_run_free(run);
}

/* clang-format on */
int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_usual_table_fits_100_columns),
	        cmocka_unit_test(where_variants_have_pools_their_bytes_are_shown),
	        cmocka_unit_test(at_80_columns_ns_and_ticks_go_and_it_is_said),
	        cmocka_unit_test(ascii_at_100_columns_has_no_other_byte),
	        cmocka_unit_test(ascii_at_80_columns_lines_up),
	        cmocka_unit_test(at_40_columns_the_verdict_still_stands),
	        cmocka_unit_test(rows_without_figures_have_the_reason_in_their_place),
	        cmocka_unit_test(an_untrusted_run_says_so_before_any_figure),
	        cmocka_unit_test(numbers_as_levels_and_unlike_sides_line_up),
	        cmocka_unit_test(a_run_of_one_variant_names_its_levels_once),
	        cmocka_unit_test(csv_has_every_fact_and_leaves_missing_ones_empty),
	        cmocka_unit_test(what_a_run_reports_besides_is_a_column),
	        cmocka_unit_test(jsonl_is_the_record),
	        cmocka_unit_test(the_summary_tells_each_factor_alone),
	        cmocka_unit_test(the_summary_tells_an_effect_that_depends_on_the_rest),
	        cmocka_unit_test(the_summary_names_where_a_level_is_dearer_and_where_not),
	        cmocka_unit_test(the_summary_gives_a_range_where_costs_are_too_many_to_name),
	        cmocka_unit_test(the_summary_counts_pairs_that_no_levels_set_apart),
	        cmocka_unit_test(the_summary_counts_pairs_whose_levels_take_longer_to_name),
	        cmocka_unit_test(the_summary_says_otherwise_for_what_is_left),
	        cmocka_unit_test(the_summary_tells_levels_that_do_not_differ_as_one),
	        cmocka_unit_test(the_summary_holds_many_levels_against_the_first),
	        cmocka_unit_test(the_summary_is_silent_where_nothing_may_be_called),
	        cmocka_unit_test(the_summary_does_not_pair_unlike_placements),
	        cmocka_unit_test(stored_runs_are_compared_without_a_verdict),
	        cmocka_unit_test(runs_of_different_experiments_are_not_matched),
	        cmocka_unit_test(list_runs_is_one_line_a_run),
	        cmocka_unit_test(the_host_is_told_with_reasons_and_advice),
	        cmocka_unit_test(figures_have_the_digits_their_interval_supports),
	        cmocka_unit_test(wide_characters_and_escapes_keep_columns_straight),
	        cmocka_unit_test(colour_is_added_only_where_it_is_asked_for),
	        cmocka_unit_test(a_stream_that_is_no_terminal_has_no_colour_and_100_columns),
	        cmocka_unit_test(a_thousand_rows_are_a_line_each),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
