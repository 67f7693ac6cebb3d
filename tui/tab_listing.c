#include "tui/wb_tab.h"

#include <stdlib.h>

#include "engine/listing.h"
#include "tui/code.h"
#include "tui/memory.h"

/* The variant that a row is: every factor with its level. */
static int variant_of(const struct experiment *x, const struct result_run *run,
                      const struct result_row *row, struct experiment_variants *v,
                      struct error *err)
{
	char **words = memory_get((run->factor_count + 1) * sizeof(*words));
	struct experiment_selection s = {0};
	int rc;

	for (size_t f = 0; f < run->factor_count; f++)
		words[f] = memory_format("%s=%s", run->factors[f].name, row->levels[f]);
	rc = experiment_select(x, (const char *const *)words, run->factor_count, &s, err);
	if (rc == ERROR_NONE)
		rc = experiment_expand(x, &s, v, err);
	experiment_selection_free(x, &s);
	for (size_t f = 0; f < run->factor_count; f++)
		free(words[f]);
	free(words);
	return rc;
}

static void write_listing(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);
	const struct result_row *row = wb_results_row(&wb->model.results, NULL);
	const struct experiment *x = run ? wb_model_experiment(&wb->model, run->experiment) : NULL;
	struct experiment_variants v = {0};
	struct listing l = {0};
	struct error err = {0};
	int rc;

	(void)height;
	if (!row || !x) {
		fputs(row ? run->legend && *run->legend ? run->legend : "the experiment is gone"
		          : "no row is selected",
		      page->out);
		return;
	}
	rc = variant_of(x, run, row, &v, &err);
	if (rc == ERROR_NONE)
		rc = listing_make(x, &v, &wb->model.probes, &l, &err);
	if (rc == ERROR_NONE)
		code_print(x, &v, &l, RENDER_TEXT, page->out);
	else
		render_page_say(page, 2, NULL, memory_copy(err.text));
	listing_free(&l);
	experiment_variants_free(&v);
}

const struct wb_tab tab_listing = {
        .name = "listing",
        .title = "Listing",
        .help = "The machine code of the selected row, with its bytes.",
        .write = write_listing,
        .key = wb_tabs_row_key,
};
