#include "tui/wb_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nearest.h"
#include "engine/stats.h"
#include "tui/memory.h"
#include "tui/render_figure.h"

const char *const wb_sort_name[WB_SORTS] = {
        [WB_SORT_MEASURED] = "measured", [WB_SORT_NAME] = "name",
        [WB_SORT_CYCLES] = "cycles",     [WB_SORT_DIFFERENCE] = "difference",
        [WB_SORT_INTERVAL] = "interval", [WB_SORT_SPREAD] = "spread",
};

const struct result_run *wb_results_run(const struct wb_results *r)
{
	if (r->live)
		return r->live;
	return r->count ? r->runs[r->shown] : NULL;
}

const struct result_row *wb_results_row(const struct wb_results *r, size_t *index)
{
	const struct result_run *run = wb_results_run(r);

	if (!run || r->selected >= r->order_count)
		return NULL;
	if (index)
		*index = r->order[r->selected];
	return &run->rows[r->order[r->selected]];
}

static bool row_passes(const struct wb_results *r, const struct result_run *run,
                       const struct result_row *row)
{
	for (size_t i = 0; i < r->filter_count; i++) {
		bool found = false;

		for (size_t f = 0; f < run->factor_count && !found; f++) {
			char *level = memory_format("%s=%s", run->factors[f].name, row->levels[f]);

			found = strstr(level, r->filter[i]) != NULL;
			free(level);
		}
		if (!found)
			return false;
	}
	return true;
}

/* What qsort compares. */
struct sort_key {
	size_t row;
	double number; /* NAN: last, whatever the direction */
	const char *text;
	bool down;
};

static int by_key(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = 0;

	if (x->text)
		order = strcmp(x->text, y->text);
	else if (isnan(x->number) || isnan(y->number))
		return isnan(x->number) - isnan(y->number) ? isnan(x->number) - isnan(y->number)
		                                           : (x->row > y->row) - (x->row < y->row);
	else
		order = (x->number > y->number) - (x->number < y->number);
	if (order)
		return x->down ? -order : order;
	return (x->row > y->row) - (x->row < y->row);
}

static double row_spread(const struct result_row *row)
{
	if (row->placement_count < 4)
		return NAN;
	return stats_quantile(row->placements, row->placement_count, 0.75) -
	       stats_quantile(row->placements, row->placement_count, 0.25);
}

static struct sort_key key_of(const struct wb_results *r, const struct result_row *row, size_t i)
{
	struct sort_key k = {.row = i, .number = (double)i, .down = r->down};
	bool measured = row->state == RESULT_MEASURED;

	switch (r->sort) {
	case WB_SORT_NAME:
		k.text = row->label;
		break;
	case WB_SORT_CYCLES:
		k.number = measured ? row->cycles.est : NAN;
		break;
	case WB_SORT_DIFFERENCE:
		k.number = measured && row->verdict != RESULT_BASE ? row->diff.est : NAN;
		break;
	case WB_SORT_INTERVAL:
		k.number = measured ? render_figure_half(&row->cycles) : NAN;
		break;
	case WB_SORT_SPREAD:
		k.number = measured ? row_spread(row) : NAN;
		break;
	case WB_SORT_MEASURED:
	case WB_SORTS:
		break;
	}
	return k;
}

void wb_results_refresh(struct wb_results *r)
{
	const struct result_run *run = wb_results_run(r);
	size_t rows = run ? run->row_count : 0, n = 0, kept = SIZE_MAX;
	struct sort_key *keys = memory_get((rows + 1) * sizeof(*keys));

	if (r->selected < r->order_count)
		kept = r->order[r->selected];
	for (size_t i = 0; i < rows; i++) {
		if (row_passes(r, run, &run->rows[i]))
			keys[n++] = key_of(r, &run->rows[i], i);
	}
	qsort(keys, n, sizeof(*keys), by_key);
	r->order = memory_grow(r->order, n, sizeof(*r->order));
	r->order_count = n;
	if (r->selected >= n)
		r->selected = n ? n - 1 : 0;
	for (size_t i = 0; i < n; i++) {
		r->order[i] = keys[i].row;
		if (keys[i].row == kept)
			r->selected = i;
	}
	r->version++;
	free(keys);
}

/* Another run's rows are others, even if they have the same numbers. */
static void results_other(struct wb_results *r)
{
	r->order_count = 0;
	r->selected = 0;
	wb_results_refresh(r);
}

void wb_results_live_set(struct wb_results *r, const struct result_run *live)
{
	r->live = live;
	results_other(r);
}

static void results_drop(struct wb_results *r, size_t i)
{
	result_run_free(r->runs[i]);
	memmove(r->runs + i, r->runs + i + 1, (r->count - i - 1) * sizeof(*r->runs));
	r->count--;
}

void wb_results_add(struct wb_results *r, struct result_run *run)
{
	for (size_t i = 0; i < r->count; i++) {
		if (run->id[0] && strcmp(r->runs[i]->id, run->id) == 0) {
			results_drop(r, i);
			break;
		}
	}
	if (r->count == WB_RUNS_HELD)
		results_drop(r, 0);
	r->runs = memory_grow(r->runs, r->count + 1, sizeof(*r->runs));
	r->runs[r->count++] = run;
	r->shown = r->count - 1;
	results_other(r);
}

bool wb_results_step(struct wb_results *r, int step)
{
	if (r->live || r->count == 0 || (step < 0 && r->shown == 0) ||
	    (step > 0 && r->shown + 1 >= r->count))
		return false;
	r->shown = step < 0 ? r->shown - 1 : r->shown + 1;
	results_other(r);
	return true;
}

int wb_results_sort(struct wb_results *r, const char *column, bool down, struct error *err)
{
	int near;

	for (int i = 0; i < WB_SORTS; i++) {
		if (strcmp(column, wb_sort_name[i]) == 0) {
			r->sort = (enum wb_sort)i;
			r->down = down;
			wb_results_refresh(r);
			return ERROR_NONE;
		}
	}
	near = nearest_name(column, wb_sort_name, WB_SORTS);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "sort: no column %s; did you mean %s?", column,
		                 wb_sort_name[near]);
	return error_set(err, ERROR_INPUT, "sort: no column %s (see: help sort)", column);
}

static void filter_free(struct wb_results *r)
{
	for (size_t i = 0; i < r->filter_count; i++)
		free(r->filter[i]);
	free(r->filter);
	r->filter = NULL;
	r->filter_count = 0;
}

void wb_results_filter(struct wb_results *r, const char *const *words, size_t n)
{
	filter_free(r);
	r->filter = memory_get((n + 1) * sizeof(*r->filter));
	for (size_t i = 0; i < n; i++)
		r->filter[r->filter_count++] = memory_copy(words[i]);
	wb_results_refresh(r);
}

void wb_results_free(struct wb_results *r)
{
	for (size_t i = 0; i < r->count; i++)
		result_run_free(r->runs[i]);
	free(r->runs);
	free(r->order);
	filter_free(r);
	*r = (struct wb_results){0};
}

char *wb_results_terms(const struct result_run *run, const struct result_row *row)
{
	char *text = memory_copy("");
	bool any = false;

	for (size_t f = 0; f < run->factor_count; f++)
		any |= run->factors[f].varies;
	for (size_t f = 0; f < run->factor_count; f++) {
		char *longer;

		if (any && !run->factors[f].varies)
			continue;
		longer = memory_format("%s%s%s=%s", text, *text ? "," : "", run->factors[f].name,
		                       row->levels[f]);
		free(text);
		text = longer;
	}
	return text;
}
