#include "tui/render_text.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/experiment.h"
#include "tui/memory.h"
#include "tui/render_curve.h"
#include "tui/render_figure.h"
#include "tui/render_host.h"
#include "tui/table.h"

enum {
	BINS = 7,         /* cells of a spread */
	SPREAD_LEAST = 5, /* placements below which a spread says nothing */
	FACTOR_MOST = 32, /* columns of a level; words are shorter, snippets need not be */
	FOOTPRINT_NAMED = 3,
};

/* The columns behind the factors, in order. */
enum {
	BYTES,
	CYCLES,
	CYCLES_HALF,
	NS,
	TICKS,
	REPORT,
	DIFF,
	DIFF_HALF,
	VERDICT,
	SEES,
	KEPT,
	REJECTED,
	PLACED,
	SPREAD,
	FIGURES,
};

/* What is left out first when the page is narrow has the highest drop. */
static const struct table_column figure_columns[FIGURES] = {
        [BYTES] = {.head = "bytes", .align = TABLE_RIGHT, .gap = 2},
        [CYCLES] = {.head = "cycles", .align = TABLE_POINT, .gap = 2},
        [CYCLES_HALF] = {.head = "±", .align = TABLE_POINT, .gap = 1},
        [NS] = {.head = "ns", .align = TABLE_POINT, .gap = 2, .drop = 7},
        [TICKS] = {.head = "ticks", .align = TABLE_POINT, .gap = 2, .drop = 6},
        [REPORT] = {.head = "report", .align = TABLE_POINT, .gap = 2},
        [DIFF] = {.head = "vs base", .align = TABLE_POINT, .gap = 2, .drop = 1},
        [DIFF_HALF] = {.head = "±", .align = TABLE_POINT, .gap = 1, .drop = 1},
        [VERDICT] = {.head = "verdict", .align = TABLE_LEFT, .gap = 2},
        [SEES] = {.head = "sees", .align = TABLE_POINT, .gap = 1, .drop = 2},
        [KEPT] = {.head = "kept", .align = TABLE_RIGHT, .gap = 2, .drop = 3},
        [REJECTED] = {.head = "rejected", .align = TABLE_RIGHT, .gap = 1, .drop = 5},
        [PLACED] = {.head = "placed", .align = TABLE_RIGHT, .gap = 2, .drop = 4},
        [SPREAD] = {.head = "spread", .align = TABLE_LEFT, .gap = 2, .drop = 4},
};

/* What a column's name does not tell. */
static const char *const figure_legend[FIGURES] = {
        [BYTES] = "bytes: of the pool",
        [SEES] = "sees: would be found 9 times in 10",
        [REJECTED] = "rejected: interrupted+fenced",
        [SPREAD] = "spread: placements, fast to slow",
};

static const char *const verdict_words[RESULT_VERDICTS] = {
        [RESULT_VERDICT_NONE] = "",           [RESULT_BASE] = "base",
        [RESULT_DIFFERENT] = "different",     [RESULT_NO_DIFFERENCE] = "no difference",
        [RESULT_NOT_TRUSTED] = "not trusted",
};
/* What stands in a row that has no figures. */
static const char *const state_words[RESULT_STATES] = {
        [RESULT_PENDING] = "not measured", [RESULT_MEASURED] = "", [RESULT_ABSENT] = "n/a",
        [RESULT_WRONG] = "wrong",          [RESULT_DIED] = "died", [RESULT_HUNG] = "hung",
};

static bool any_varies(const struct result_run *run)
{
	for (size_t f = 0; f < run->factor_count; f++)
		if (run->factors[f].varies)
			return true;
	return false;
}

/* "reg=fs outer=null" for the factors that do, or do not, vary. */
static char *levels_text(const struct result_run *run, const struct result_row *row, bool varies)
{
	char *text = memory_copy("");

	for (size_t f = 0; f < run->factor_count; f++) {
		char *longer;

		if (run->factors[f].varies != varies)
			continue;
		longer = memory_format("%s%s%s=%s", text, *text ? " " : "", run->factors[f].name,
		                       row->levels[f]);
		free(text);
		text = longer;
	}
	return text;
}

char *render_text_label(const struct result_run *run, const struct result_row *row)
{
	return levels_text(run, row, any_varies(run));
}

size_t render_text_placements(const struct result_run *run)
{
	size_t most = 0;

	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].placement_count > most)
			most = run->rows[i].placement_count;
	return most;
}

static bool any_measured(const struct result_run *run)
{
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].state == RESULT_MEASURED)
			return true;
	return false;
}

static bool any_base(const struct result_run *run)
{
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].base >= 0)
			return true;
	return false;
}

/* Appends " · part" to *text. part is malloc'ed and freed here. */
static void join(char **text, char *part)
{
	char *longer = **text ? memory_format("%s · %s", *text, part) : memory_copy(part);

	free(part);
	free(*text);
	*text = longer;
}

/* What the row with most of it had: "10 workers x 20 placements x 40 rounds", or "10 workers, 197
 * placements x 40 rounds". */
static char *amount(const struct result_run *run)
{
	size_t placements = render_text_placements(run);
	uint32_t workers = 0;
	const char *s;

	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].workers > workers)
			workers = run->rows[i].workers;
	s = workers == 1 ? "" : "s";
	if (workers > 0 && placements % workers == 0)
		return memory_format("%u worker%s x %zu placements x %u rounds", workers, s,
		                     placements / workers, run->rounds);
	return memory_format("%u worker%s, %zu placements x %u rounds", workers, s, placements,
	                     run->rounds);
}

static void say_outcome(const struct render_page *page, const struct result_run *run)
{
	const char *sgr = RENDER_PAGE_GOOD;
	char *text = memory_copy("");

	if (run->cut_short)
		join(&text, memory_copy("cut short"));
	if (!any_measured(run)) {
		join(&text, memory_copy("nothing was measured"));
	} else if (!run->trusted) {
		render_page_say(page, 4, RENDER_PAGE_BAD,
		                memory_format("NOT TRUSTED: %s",
		                              run->not_trusted_why ? run->not_trusted_why
		                                                   : "no reason was recorded"));
		sgr = NULL;
		if (any_base(run))
			join(&text, memory_copy("no comparison is called"));
	} else {
		join(&text, memory_copy("trusted"));
	}
	if (any_measured(run)) {
		char number[32];

		join(&text, amount(run));
		render_figure_number(number, run->seconds, 2, false);
		join(&text, memory_format("%s s", number));
		join(&text, memory_format("%llu samples rejected",
		                          (unsigned long long)run->samples_rejected));
	}
	if (run->stop_reason && *run->stop_reason)
		join(&text, memory_copy(run->stop_reason));
	render_page_say(page, 4, run->cut_short ? RENDER_PAGE_BOLD : sgr, text);
}

/* What the levels stand for, a line each. */
static void say_legend(const struct render_page *page, const char *legend)
{
	char *copy = memory_copy(legend), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		render_page_say(page, 6, NULL, memory_format("  %s", line));
	free(copy);
}

static void say_heading(const struct render_page *page, const struct result_run *run)
{
	char *text, *fixed;

	render_page_say(page, 4, RENDER_PAGE_BOLD,
	                memory_format("%s: %s", run->experiment ? run->experiment : "?",
	                              run->title && *run->title ? run->title : "(no title)"));
	text = render_host_line(run->host, run->cpu);
	render_page_say(page, 4, NULL, text);
	say_outcome(page, run);
	if (run->row_count == 0)
		return;
	fixed = levels_text(run, &run->rows[0], false);
	render_page_say(page, 4, NULL,
	                memory_format("per %s%s%s",
	                              run->unit && *run->unit ? run->unit : "iteration",
	                              *fixed ? ", with " : "", fixed));
	free(fixed);
	if (run->legend)
		say_legend(page, run->legend);
}

/* How the cycles of the placements are spread, from the least to the largest, in BINS cells. "" if
 * there are too few. */
static void draw_spread(char out[static 4 * BINS + 1], const double *x, size_t n)
{
	static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double lo = INFINITY, hi = -INFINITY;
	size_t bins[BINS] = {0}, peak = 0, finite = 0;

	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			continue;
		finite++;
		lo = fmin(lo, x[i]);
		hi = fmax(hi, x[i]);
	}
	if (finite < SPREAD_LEAST)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t bin = BINS / 2; /* all alike: one bar in the middle */

		if (!isfinite(x[i]))
			continue;
		if (hi > lo)
			bin = (size_t)((x[i] - lo) / (hi - lo) * BINS);
		if (bin >= BINS)
			bin = BINS - 1;
		if (++bins[bin] > peak)
			peak = bins[bin];
	}
	for (size_t b = 0; b < BINS; b++) /* what is not empty is seen */
		out = stpcpy(out, bar[bins[b] ? 1 + (bins[b] * 7) / peak : 0]);
}

/* "2 modes: 61.1 (80%), 62.4 (20%)" */
static char *modes_text(const struct result_row *row)
{
	double gap = INFINITY;
	char *text = memory_format("%zu modes:", row->mode_count);
	int decimals;

	for (size_t i = 1; i < row->mode_count; i++)
		gap = fmin(gap, row->modes[i].at - row->modes[i - 1].at);
	decimals = render_figure_decimals(gap / 4);
	for (size_t i = 0; i < row->mode_count; i++) {
		const struct stats_mode *m = &row->modes[i];
		char at[32], *longer;

		render_figure_number(at, m->at, decimals, false);
		longer = memory_format("%s%s %s (%.0f%%)", text, i ? "," : "", at,
		                       row->placement_count ? 100.0 * (double)m->count /
		                                                      (double)row->placement_count
		                                            : NAN);
		free(text);
		text = longer;
	}
	return text;
}

/* The reason in place of figures; for a crash also where and at which instruction, unless the
 * reason tells. */
static char *state_text(const struct result_row *row)
{
	const struct result_crash *c = &row->crash;
	char *where = memory_copy(""), *text;
	const char *reason = row->reason && *row->reason ? row->reason : NULL;

	if (c->signal && !reason) {
		const char *name = sigabbrev_np(c->signal);

		free(where);
		where = name ? memory_format("SIG%s", name) : memory_format("signal %d", c->signal);
	}
	if (c->instruction[0] && !(reason && strstr(reason, c->instruction))) {
		char *longer =
		        c->in_code ? memory_format("%s, at +0x%x: %s", where, c->offset,
		                                   c->instruction)
		                   : memory_format("%s, at 0x%llx: %s", where,
		                                   (unsigned long long)c->address, c->instruction);

		free(where);
		where = longer;
	}
	text = memory_format("%s%s%s%s", state_words[row->state], reason || *where ? ": " : "",
	                     reason ? reason : "", where);
	free(where);
	return text;
}

struct columns {
	struct table_column *items;
	size_t count;
	size_t factors; /* index of the first factor's column */
	size_t figures; /* index of BYTES */
	char *half;     /* heading of an interval's half-width */
	char *report;   /* heading of what so many iterations cost */
};

static bool all_numbers(const struct result_run *run, size_t factor)
{
	for (size_t i = 0; i < run->row_count; i++) {
		const char *level = run->rows[i].levels[factor];

		if (!*level || strspn(level, "0123456789") != strlen(level))
			return false;
	}
	return true;
}

/* "cycles/1024", "s/100,000,000" */
static char *report_head(const struct result_run *run)
{
	char *digits = memory_format("%u", run->report_count), *head;
	size_t n = strlen(digits);

	head = memory_copy(run->report_seconds ? "s/" : "cycles/");
	for (size_t i = 0; i < n; i++) {
		bool comma = i > 0 && (n - i) % 3 == 0 && n > 4;
		char *longer = memory_format("%s%s%c", head, comma ? "," : "", digits[i]);

		free(head);
		head = longer;
	}
	free(digits);
	return head;
}

static struct columns columns_new(const struct result_run *run)
{
	struct columns c = {
	        .items = memory_get((1 + run->factor_count + FIGURES) * sizeof *c.items),
	        .half = memory_format("±%g%%", 100 * run->confidence),
	        .report = report_head(run),
	};

	c.items[c.count++] = (struct table_column){.head = "", .align = TABLE_LEFT};
	c.factors = c.count;
	for (size_t f = 0; f < run->factor_count; f++) {
		if (!run->factors[f].varies)
			continue;
		c.items[c.count] = (struct table_column){
		        .head = run->factors[f].name,
		        .align = all_numbers(run, f) ? TABLE_RIGHT : TABLE_LEFT,
		        .gap = 1,
		        .most = FACTOR_MOST,
		};
		c.count++;
	}
	c.figures = c.count;
	memcpy(c.items + c.count, figure_columns, sizeof figure_columns);
	c.items[c.figures + CYCLES_HALF].head = c.half;
	c.items[c.figures + DIFF_HALF].head = c.half;
	c.items[c.figures + REPORT].head = c.report;
	c.count += FIGURES;
	return c;
}

static void columns_free(struct columns *c)
{
	free(c->items);
	free(c->half);
	free(c->report);
}

static void put_number(struct table *t, size_t column, const struct stats_interval *i)
{
	struct render_figure figure;

	render_figure_interval(&figure, i, false);
	table_cell_set(t, column, figure.est);
}

static void put_comparison(struct table *t, size_t at, const struct result_row *row)
{
	struct render_figure figure;
	char sees[32], *text;

	table_cell_set(t, at + VERDICT, verdict_words[row->verdict]);
	if (row->verdict == RESULT_DIFFERENT || row->verdict == RESULT_NOT_TRUSTED)
		table_cell_sgr(t, at + VERDICT,
		               row->verdict == RESULT_DIFFERENT ? RENDER_PAGE_BOLD
		                                                : RENDER_PAGE_BAD);
	if (row->verdict == RESULT_BASE || row->base < 0 || !isfinite(row->diff.est))
		return;
	render_figure_interval(&figure, &row->diff, true);
	table_cell_set(t, at + DIFF, figure.est);
	table_cell_set(t, at + DIFF_HALF, figure.half);
	if (row->verdict == RESULT_NO_DIFFERENCE && isfinite(row->detectable)) {
		render_figure_number(sees, row->detectable, render_figure_decimals(row->detectable),
		                     false);
		text = memory_format("≥%s", sees);
		table_cell_set(t, at + SEES, text);
		free(text);
	}
}

static void put_figures(struct table *t, size_t at, const struct result_row *row, size_t placements)
{
	struct render_figure figure;
	char spread[4 * BINS + 1], *text;

	render_figure_interval(&figure, &row->cycles, false);
	table_cell_set(t, at + CYCLES, figure.est);
	table_cell_set(t, at + CYCLES_HALF, figure.half);
	put_number(t, at + NS, &row->ns);
	put_number(t, at + TICKS, &row->ticks);
	put_comparison(t, at, row);

	text = memory_format("%llu", (unsigned long long)row->kept);
	table_cell_set(t, at + KEPT, text);
	free(text);
	text = memory_format("%llu+%llu", (unsigned long long)row->interrupted,
	                     (unsigned long long)row->fenced);
	table_cell_set(t, at + REJECTED, text);
	free(text);
	if (row->placement_count != placements) {
		text = memory_format("%zu", row->placement_count);
		table_cell_set(t, at + PLACED, text);
		free(text);
	}
	draw_spread(spread, row->placements, row->placement_count);
	table_cell_set(t, at + SPREAD, spread);
}

/* Where a text stands that takes the place of figures: not in a column that this run does not have.
 */
static size_t first_figure(const struct result_run *run, const struct columns *c)
{
	return c->figures + (result_run_has_pools(run) ? BYTES : CYCLES);
}

static void put_row(struct table *t, const struct columns *c, const struct result_run *run,
                    const struct result_row *row, size_t placements, bool modes)
{
	size_t column = c->factors;

	table_row_begin(t);
	for (size_t f = 0; f < run->factor_count; f++)
		if (run->factors[f].varies)
			table_cell_set(t, column++, row->levels[f]);
	if (row->state != RESULT_MEASURED) {
		char *text = state_text(row);

		if (row->state != RESULT_PENDING && row->state != RESULT_ABSENT)
			table_cell_set(t, 0, "!");
		table_span_set(t, first_figure(run, c), text);
		free(text);
		return;
	}
	if (row->verdict == RESULT_BASE)
		table_cell_set(t, 0, "*");
	if (result_run_has_pools(run)) {
		char *bytes = memory_format("%u", row->pool_bytes);

		table_cell_set(t, c->figures + BYTES, bytes);
		free(bytes);
	}
	put_figures(t, c->figures, row, placements);
	if (run->report_count) {
		struct stats_interval report = result_row_report(run, row);

		put_number(t, c->figures + REPORT, &report);
	}
	if (modes && row->mode_count > 1) {
		char *text = modes_text(row);

		table_row_begin(t);
		table_span_set(t, first_figure(run, c), text);
		free(text);
	}
}

/* Explains the columns whose names do not, and names those that did not fit. */
static void say_columns(const struct render_page *page, const struct table *t,
                        const struct columns *c)
{
	char *legend = memory_copy(""), *dropped = memory_copy("");

	for (size_t i = 0; i < FIGURES; i++) {
		size_t column = c->figures + i;
		char *longer;

		if (figure_legend[i] && table_column_shown(t, column))
			join(&legend, memory_copy(figure_legend[i]));
		if (!table_column_dropped(t, column) || i == DIFF_HALF) /* goes without saying */
			continue;
		longer = memory_format("%s%s%s", dropped, *dropped ? ", " : "",
		                       c->items[column].head);
		free(dropped);
		dropped = longer;
	}
	if (*legend)
		render_page_say(page, 2, RENDER_PAGE_DIM, memory_copy(legend));
	if (*dropped)
		render_page_say(page, 2, RENDER_PAGE_DIM,
		                memory_format("not shown at this width: %s "
		                              "(--format csv has every column)",
		                              dropped));
	free(legend);
	free(dropped);
}

/* The rows of a curve that is folded are in its own table, but for those without figures. */
static void say_table(const struct render_page *page, const struct result_run *run, bool folded)
{
	struct columns c = columns_new(run);
	struct table *t = table_new(page, c.items, c.count);
	size_t placements = render_text_placements(run);

	for (size_t i = 0; i < run->row_count; i++)
		if (!folded || run->rows[i].state != RESULT_MEASURED)
			put_row(t, &c, run, &run->rows[i], placements, true);
	table_print(t);
	say_columns(page, t, &c);
	table_free(t);
	columns_free(&c);
}

void render_text_rows(const struct render_page *page, const struct result_run *run,
                      const size_t *rows, size_t n)
{
	struct columns c = columns_new(run);
	struct table *t = table_new(page, c.items, c.count);
	size_t placements = render_text_placements(run);

	table_spans_cut(t);
	for (size_t i = 0; i < n; i++)
		put_row(t, &c, run, &run->rows[rows[i]], placements, false);
	table_print(t);
	table_free(t);
	columns_free(&c);
}

static bool same_footprint(const struct result_row *a, const struct result_row *b)
{
	return a->footprint == b->footprint &&
	       strcmp(a->footprint_why ? a->footprint_why : "",
	              b->footprint_why ? b->footprint_why : "") == 0;
}

/* One line for row i and all that share its state of the footprint, unless an earlier row has said
 * it. */
static void say_footprint_of(const struct render_page *page, const struct result_run *run, size_t i,
                             size_t measured)
{
	const struct result_row *row = &run->rows[i];
	char *names = memory_copy("");
	size_t count = 0;

	for (size_t k = 0; k < run->row_count; k++) {
		char *label, *longer;

		if (run->rows[k].state != RESULT_MEASURED || !same_footprint(row, &run->rows[k]))
			continue;
		if (k < i)
			goto out;
		if (count++ >= FOOTPRINT_NAMED)
			continue;
		label = render_text_label(run, &run->rows[k]);
		longer = memory_format("%s%s%s", names, *names ? ", " : "", label);
		free(label);
		free(names);
		names = longer;
	}
	if (count == measured)
		*names = 0;
	if (count > FOOTPRINT_NAMED) {
		free(names);
		names = memory_format("%zu of %zu rows", count, measured);
	}
	render_page_say(
	        page, 4, NULL,
	        memory_format("footprint %s%s%s%s: %s", result_footprint_name[row->footprint],
	                      *names ? " (" : "", names, *names ? ")" : "",
	                      row->footprint_why ? row->footprint_why : "no reason was recorded"));
out:
	free(names);
}

static void say_footprint(const struct render_page *page, const struct result_run *run)
{
	size_t measured = 0;

	for (size_t i = 0; i < run->row_count; i++)
		measured += run->rows[i].state == RESULT_MEASURED;
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].state == RESULT_MEASURED &&
		    run->rows[i].footprint != RESULT_FOOTPRINT_ON)
			say_footprint_of(page, run, i, measured);
}

/* The ABI that every control's name ends in, if it is the same for all: then it need not be said.
 */
static const char *controls_abi(const struct result_run *run)
{
	for (size_t abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		size_t n = strlen(experiment_abi_name[abi]), with = 0;

		for (size_t i = 0; i < run->control_count; i++) {
			const char *name = run->controls[i].name;
			size_t len = strlen(name);

			with += len > n && name[len - n - 1] == ' ' &&
			        strcmp(name + len - n, experiment_abi_name[abi]) == 0;
		}
		if (with == run->control_count)
			return experiment_abi_name[abi];
	}
	return "";
}

/* "one add 1.00 ±0.01", or the outcome in words where there is no figure. */
static char *control_text(const struct result_control *c, const char *abi)
{
	int name = (int)(strlen(c->name) - (*abi ? strlen(abi) + 1 : 0));
	struct render_figure figure;

	if (!isfinite(c->value.est))
		return memory_format("%.*s %s", name, c->name,
		                     c->text && *c->text ? c->text
		                     : c->ok             ? "holds"
		                                         : "fails");
	render_figure_interval(&figure, &c->value, false);
	return memory_format("%.*s %s %s", name, c->name, figure.est, figure.half);
}

static void say_failed_control(const struct render_page *page, const struct result_control *c)
{
	char *text = control_text(c, ""), expected[32], tolerance[32];

	render_figure_number(expected, c->expected, 2, false);
	render_figure_number(tolerance, c->tolerance, 2, false);
	render_page_say(
	        page, 4, c->fatal ? RENDER_PAGE_BAD : NULL,
	        memory_format("control %s: %s%s%s%s%s%s%s", c->fatal ? "FAILED" : "failed", text,
	                      isfinite(c->expected) ? ", expected " : "",
	                      isfinite(c->expected) ? expected : "",
	                      isfinite(c->expected) && isfinite(c->tolerance) ? " within " : "",
	                      isfinite(c->expected) && isfinite(c->tolerance) ? tolerance : "",
	                      isfinite(c->value.est) && c->text && *c->text ? ": " : "",
	                      isfinite(c->value.est) && c->text ? c->text : ""));
	free(text);
}

static void say_controls(const struct render_page *page, const struct result_run *run)
{
	const char *abi = controls_abi(run);
	char *text = memory_copy("");

	for (size_t i = 0; i < run->control_count; i++) {
		char *one, *longer;

		if (!run->controls[i].ok) {
			say_failed_control(page, &run->controls[i]);
			continue;
		}
		one = control_text(&run->controls[i], abi);
		longer = memory_format("%s%s%s", text, *text ? ", " : "", one);
		free(one);
		free(text);
		text = longer;
	}
	if (*text)
		render_page_say(page, 4, NULL, memory_format("controls: %s", text));
	free(text);
}

static void say_rest(const struct render_page *page, const struct result_run *run)
{
	if (run->excluded == 1)
		render_page_say(page, 4, NULL,
		                memory_copy("1 combination is left out: the experiment's own rules "
		                            "exclude it"));
	else if (run->excluded > 0)
		render_page_say(page, 4, NULL,
		                memory_format("%zu combinations are left out: the experiment's own "
		                              "rules exclude them",
		                              run->excluded));
	say_controls(page, run);
	for (size_t i = 0; i < run->event_count; i++)
		render_page_say(page, 4,
		                strcmp(run->events[i].level, "warning") == 0 ? RENDER_PAGE_BOLD
		                                                             : NULL,
		                memory_format("%s: %s", run->events[i].level, run->events[i].text));
	if (run->id[0])
		render_page_say(page, 4, NULL, memory_format("run %s", run->id));
}

static bool anything_below(const struct result_run *run)
{
	if (run->excluded || run->control_count || run->event_count || run->id[0])
		return true;
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].state == RESULT_MEASURED &&
		    run->rows[i].footprint != RESULT_FOOTPRINT_ON)
			return true;
	return false;
}

static void say_rows(const struct render_page *page, const struct result_run *run)
{
	struct curve *curve = render_curve_new(run);
	bool folded = render_curve_folds(run, curve), rest = !folded;

	if (folded)
		render_curve_table(page, run, curve);
	for (size_t i = 0; i < run->row_count && !rest; i++)
		rest = run->rows[i].state != RESULT_MEASURED;
	if (rest && folded)
		fputc('\n', page->out);
	if (rest)
		say_table(page, run, folded);
	if (curve)
		render_curve_chart(page, run, curve);
	curve_free(curve);
}

void render_text_run(const struct render_page *page, const struct result_run *run)
{
	say_heading(page, run);
	if (run->row_count > 0) {
		fputc('\n', page->out);
		say_rows(page, run);
	}
	if (anything_below(run))
		fputc('\n', page->out);
	say_footprint(page, run);
	say_rest(page, run);
}
