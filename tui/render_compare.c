#include "tui/render_compare.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_figure.h"
#include "tui/render_json.h"
#include "tui/table.h"

enum { NAMED = 5, FACTOR_MOST = 24 };

static const char not_interleaved[] = "Stored runs were not interleaved: drift between them is in "
                                      "every difference, and no verdict is given.";

/* A row under the key that both runs must share: its levels in the order of run a's factors. */
struct keyed {
	char *key;
	const struct result_row *row;
};

struct pair {
	const struct result_row *a, *b;
};

struct comparison {
	const struct result_run *a, *b;
	char *name_a, *name_b; /* "run 14" */
	const char *host_difference;
	bool alike; /* same experiment, same factors */
	struct pair *pairs;
	size_t pair_count;
	size_t code_differs; /* pairs whose bodies are not the same bytes */
	const struct result_row **only_a, **only_b;
	size_t only_a_count, only_b_count;
};

static const char *experiment_of(const struct result_run *run)
{
	return run->experiment ? run->experiment : "unknown experiment";
}

static long factor_find(const struct result_run *run, const char *name)
{
	for (size_t f = 0; f < run->factor_count; f++)
		if (strcmp(run->factors[f].name, name) == 0)
			return (long)f;
	return -1;
}

static bool runs_alike(const struct result_run *a, const struct result_run *b)
{
	if (strcmp(experiment_of(a), experiment_of(b)) != 0 || a->factor_count != b->factor_count)
		return false;
	for (size_t f = 0; f < a->factor_count; f++)
		if (factor_find(b, a->factors[f].name) < 0)
			return false;
	return true;
}

static int keyed_compare(const void *x, const void *y)
{
	return strcmp(((const struct keyed *)x)->key, ((const struct keyed *)y)->key);
}

/* The rows of run under keys in the order of like's factors. */
static struct keyed *keys_new(const struct result_run *run, const struct result_run *like)
{
	struct keyed *keys = memory_get((run->row_count + 1) * sizeof *keys);

	for (size_t i = 0; i < run->row_count; i++) {
		char *key = memory_copy("");

		for (size_t f = 0; f < like->factor_count; f++) {
			long at = factor_find(run, like->factors[f].name);
			char *longer = memory_format("%s%s\n", key, run->rows[i].levels[at]);

			free(key);
			key = longer;
		}
		keys[i] = (struct keyed){key, &run->rows[i]};
	}
	return keys;
}

static void keys_free(struct keyed *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(keys[i].key);
	free(keys);
}

static char *run_name(const struct result_run *run, const char *other)
{
	return run->id[0] ? memory_format("run %s", run->id) : memory_copy(other);
}

static void match_rows(struct comparison *c)
{
	struct keyed *a = keys_new(c->a, c->a), *b = keys_new(c->b, c->a);
	bool *taken = memory_get(c->b->row_count + 1);

	qsort(b, c->b->row_count, sizeof *b, keyed_compare);
	for (size_t i = 0; i < c->a->row_count; i++) {
		struct keyed *found = bsearch(&a[i], b, c->b->row_count, sizeof *b, keyed_compare);

		if (!found) {
			c->only_a[c->only_a_count++] = a[i].row;
			continue;
		}
		taken[found->row - c->b->rows] = true;
		c->pairs[c->pair_count++] = (struct pair){a[i].row, found->row};
		c->code_differs += a[i].row->sha256[0] && found->row->sha256[0] &&
		                   strcmp(a[i].row->sha256, found->row->sha256) != 0;
	}
	for (size_t i = 0; i < c->b->row_count; i++)
		if (!taken[i])
			c->only_b[c->only_b_count++] = &c->b->rows[i];
	free(taken);
	keys_free(a, c->a->row_count);
	keys_free(b, c->b->row_count);
}

static struct comparison comparison_new(const struct result_run *a, const struct result_run *b,
                                        const char *host_difference)
{
	struct comparison c = {
	        .a = a,
	        .b = b,
	        .name_a = run_name(a, "first"),
	        .name_b = run_name(b, "second"),
	        .host_difference = host_difference && *host_difference ? host_difference : NULL,
	        .alike = runs_alike(a, b),
	        .pairs = memory_get((a->row_count + 1) * sizeof *c.pairs),
	        .only_a = memory_get((a->row_count + 1) * sizeof *c.only_a),
	        .only_b = memory_get((b->row_count + 1) * sizeof *c.only_b),
	};

	if (c.alike)
		match_rows(&c);
	return c;
}

static void comparison_free(struct comparison *c)
{
	free(c->name_a);
	free(c->name_b);
	free(c->pairs);
	free(c->only_a);
	free(c->only_b);
}

/* b minus a for independent levels: each side is the root of the sum of the squares of the sides
 * that make it. */
static struct stats_interval difference(const struct stats_interval *a,
                                        const struct stats_interval *b)
{
	double est = b->est - a->est;

	return (struct stats_interval){
	        .est = est,
	        .lo = est - hypot(b->est - b->lo, a->hi - a->est),
	        .hi = est + hypot(b->hi - b->est, a->est - a->lo),
	};
}

static bool both_measured(const struct pair *pair)
{
	return pair->a->state == RESULT_MEASURED && pair->b->state == RESULT_MEASURED;
}

/* A factor is a column if its levels differ among the pairs. */
static bool pairs_vary(const struct comparison *c, size_t factor)
{
	for (size_t i = 1; i < c->pair_count; i++)
		if (strcmp(c->pairs[i].a->levels[factor], c->pairs[0].a->levels[factor]) != 0)
			return true;
	return false;
}

static void put_interval(struct table *t, size_t column, const struct stats_interval *i, bool sign)
{
	struct render_figure figure;

	render_figure_interval(&figure, i, sign);
	table_cell_set(t, column, figure.est);
	table_cell_set(t, column + 1, figure.half);
}

/* The relative difference, if both levels are well above nothing. */
static void put_percent(struct table *t, size_t column, const struct pair *pair)
{
	struct stats_interval d = difference(&pair->a->cycles, &pair->b->cycles);
	double level = pair->a->cycles.est, half = render_figure_half(&d);
	char number[32];

	if (!(level > 0) || !isfinite(half) || half > 0.5 * level)
		return;
	render_figure_number(number, 100 * d.est / level,
	                     render_figure_decimals(100 * half / level), true);
	table_cell_set(t, column, number);
}

static char *why_not(const struct comparison *c, const struct pair *pair)
{
	bool first = pair->a->state != RESULT_MEASURED;
	const struct result_row *row = first ? pair->a : pair->b;

	return memory_format("%s: %s%s%s", first ? c->name_a : c->name_b,
	                     result_state_name[row->state], row->reason ? ": " : "",
	                     row->reason ? row->reason : "");
}

static void put_pair(struct table *t, const struct comparison *c, const struct pair *pair,
                     const bool *vary, size_t figures)
{
	size_t column = 0;

	table_row_begin(t);
	for (size_t f = 0; f < c->a->factor_count; f++)
		if (vary[f])
			table_cell_set(t, column++, pair->a->levels[f]);
	if (both_measured(pair)) {
		struct stats_interval d = difference(&pair->a->cycles, &pair->b->cycles);

		put_interval(t, figures, &pair->a->cycles, false);
		put_interval(t, figures + 2, &pair->b->cycles, false);
		put_interval(t, figures + 4, &d, true);
		put_percent(t, figures + 6, pair);
	} else {
		char *why = why_not(c, pair);

		table_span_set(t, figures, why);
		free(why);
	}
}

static void say_pairs(const struct render_page *page, const struct comparison *c)
{
	bool *vary = memory_get(c->a->factor_count + 1);
	struct table_column *columns = memory_get((c->a->factor_count + 7) * sizeof *columns);
	char *half = memory_format("±%g%%", 100 * c->a->confidence);
	char *minus = memory_format("%s - %s", c->b->id[0] ? c->b->id : c->name_b,
	                            c->a->id[0] ? c->a->id : c->name_a);
	const struct table_column figures[] = {
	        {.head = c->name_a, .align = TABLE_POINT, .gap = 2},
	        {.head = half, .align = TABLE_POINT, .gap = 1},
	        {.head = c->name_b, .align = TABLE_POINT, .gap = 2},
	        {.head = half, .align = TABLE_POINT, .gap = 1},
	        {.head = minus, .align = TABLE_POINT, .gap = 2},
	        {.head = half, .align = TABLE_POINT, .gap = 1},
	        {.head = "%", .align = TABLE_POINT, .gap = 2, .drop = 1},
	};
	struct table *t;
	size_t count = 0;

	for (size_t f = 0; f < c->a->factor_count; f++) {
		vary[f] = pairs_vary(c, f);
		if (vary[f])
			columns[count++] = (struct table_column){
			        .head = c->a->factors[f].name, .gap = 1, .most = FACTOR_MOST};
	}
	memcpy(columns + count, figures, sizeof figures);
	t = table_new(page, columns, count + sizeof figures / sizeof *figures);
	for (size_t i = 0; i < c->pair_count; i++)
		put_pair(t, c, &c->pairs[i], vary, count);
	table_print(t);
	table_free(t);
	free(minus);
	free(half);
	free(columns);
	free(vary);
}

/* "Only in run 14: reg=fs outer=tls, ... and 12 more" */
static void say_only(const struct render_page *page, const char *name,
                     const struct result_row **rows, size_t n)
{
	char *text;

	if (n == 0)
		return;
	text = memory_format("Only in %s:", name);
	for (size_t i = 0; i < n && i < NAMED; i++) {
		char *longer = memory_format("%s%s %s", text, i ? "," : "",
		                             rows[i]->label ? rows[i]->label : "?");

		free(text);
		text = longer;
	}
	if (n > NAMED) {
		char *longer = memory_format("%s and %zu more", text, n - NAMED);

		free(text);
		text = longer;
	}
	render_page_say(page, 4, NULL, text);
}

static void say_run(const struct render_page *page, const char *name, const struct result_run *run)
{
	render_page_say(
	        page, 4, run->trusted ? NULL : RENDER_PAGE_BAD,
	        memory_format("%s: %s · %s%s%s · %s", name, run->started,
	                      run->trusted ? "trusted" : "NOT TRUSTED",
	                      run->trusted || !run->not_trusted_why ? "" : ": ",
	                      run->trusted || !run->not_trusted_why ? "" : run->not_trusted_why,
	                      run->command ? run->command : "command unknown"));
}

static void compare_text(const struct render_page *page, const struct comparison *c)
{
	render_page_say(page, 4, RENDER_PAGE_BOLD,
	                memory_format("%s: %s and %s", experiment_of(c->a), c->name_a, c->name_b));
	render_page_say(page, 0, NULL, memory_copy(not_interleaved));
	if (c->host_difference) {
		render_page_say(
		        page, 0, RENDER_PAGE_BOLD,
		        memory_copy("warning: the hosts differ in what moves these figures:"));
		fputs("  ", page->out);
		render_page_wrap(page, 2, 2, c->host_difference);
	}
	say_run(page, c->name_a, c->a);
	say_run(page, c->name_b, c->b);
	if (!c->alike) {
		render_page_say(
		        page, 0, NULL,
		        memory_format(
		                "Nothing to compare: the runs are of different experiments or "
		                "factors (%s and %s).",
		                experiment_of(c->a), experiment_of(c->b)));
		return;
	}
	if (c->pair_count > 0) {
		fprintf(page->out, "\ncycles per %s\n", c->a->unit ? c->a->unit : "iteration");
		say_pairs(page, c);
		fputc('\n', page->out);
	} else {
		render_page_say(page, 0, NULL, memory_copy("No row is in both runs."));
	}
	if (c->code_differs)
		render_page_say(
		        page, 4, RENDER_PAGE_BOLD,
		        memory_format(
		                "warning: in %zu of %zu rows the code is not the same (sha256)",
		                c->code_differs, c->pair_count));
	say_only(page, c->name_a, c->only_a, c->only_a_count);
	say_only(page, c->name_b, c->only_b, c->only_b_count);
}

static void compare_jsonl(FILE *out, const struct comparison *c)
{
	for (size_t i = 0; i < c->pair_count; i++) {
		const struct pair *pair = &c->pairs[i];
		struct stats_interval d = difference(&pair->a->cycles, &pair->b->cycles);
		json_t *o = json_object(), *variant = json_object();

		json_object_set_new(o, "kind", json_string("stored-comparison"));
		json_object_set_new(o, "a", render_json_text(c->a->id));
		json_object_set_new(o, "b", render_json_text(c->b->id));
		json_object_set_new(o, "experiment", render_json_text(c->a->experiment));
		for (size_t f = 0; f < c->a->factor_count; f++)
			json_object_set_new(variant, c->a->factors[f].name,
			                    render_json_text(pair->a->levels[f]));
		json_object_set_new(o, "variant", variant);
		json_object_set_new(o, "interleaved", json_false());
		json_object_set_new(o, "trusted", json_boolean(c->a->trusted && c->b->trusted));
		json_object_set_new(o, "same_code",
		                    json_boolean(strcmp(pair->a->sha256, pair->b->sha256) == 0));
		json_object_set_new(o, "host_difference", render_json_text(c->host_difference));
		if (both_measured(pair)) {
			json_object_set_new(o, "a_cycles", render_json_interval(&pair->a->cycles));
			json_object_set_new(o, "b_cycles", render_json_interval(&pair->b->cycles));
			json_object_set_new(o, "diff", render_json_interval(&d));
		} else {
			char *why = why_not(c, pair);

			json_object_set_new(o, "diff", json_null());
			json_object_set_new(o, "reason", render_json_text(why));
			free(why);
		}
		render_json_line(out, o);
	}
}

static void put_csv_interval(FILE *out, const struct stats_interval *i)
{
	render_csv_number(out, false, i ? i->est : NAN);
	render_csv_number(out, false, i ? i->lo : NAN);
	render_csv_number(out, false, i ? i->hi : NAN);
}

static void compare_csv(FILE *out, const struct comparison *c)
{
	fputs("a,b,experiment", out);
	for (size_t f = 0; f < c->a->factor_count && c->alike; f++) {
		char *name = memory_format("factor_%s", c->a->factors[f].name);

		render_csv_text(out, false, name);
		free(name);
	}
	fputs(",a_cycles,a_cycles_lo,a_cycles_hi,b_cycles,b_cycles_lo,b_cycles_hi,diff,diff_lo,"
	      "diff_hi,"
	      "interleaved,same_code,host_difference,reason",
	      out);
	render_csv_end(out);
	for (size_t i = 0; i < c->pair_count; i++) {
		const struct pair *pair = &c->pairs[i];
		struct stats_interval d = difference(&pair->a->cycles, &pair->b->cycles);
		bool both = both_measured(pair);
		char *why = both ? NULL : why_not(c, pair);

		render_csv_text(out, true, c->a->id);
		render_csv_text(out, false, c->b->id);
		render_csv_text(out, false, c->a->experiment);
		for (size_t f = 0; f < c->a->factor_count; f++)
			render_csv_text(out, false, pair->a->levels[f]);
		put_csv_interval(out, both ? &pair->a->cycles : NULL);
		put_csv_interval(out, both ? &pair->b->cycles : NULL);
		put_csv_interval(out, both ? &d : NULL);
		render_csv_text(out, false, "no");
		render_csv_text(out, false,
		                strcmp(pair->a->sha256, pair->b->sha256) == 0 ? "yes" : "no");
		render_csv_text(out, false, c->host_difference);
		render_csv_text(out, false, why);
		render_csv_end(out);
		free(why);
	}
}

void render_compare_runs(const struct render_page *page, const struct result_run *a,
                         const struct result_run *b, const char *host_difference,
                         enum render_format format)
{
	struct comparison c = comparison_new(a, b, host_difference);

	switch (format) {
	case RENDER_TEXT:
		compare_text(page, &c);
		break;
	case RENDER_JSONL:
		compare_jsonl(page->out, &c);
		break;
	case RENDER_CSV:
		compare_csv(page->out, &c);
		break;
	case RENDER_FORMATS:
		break;
	}
	comparison_free(&c);
}
