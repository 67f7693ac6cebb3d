#include "tui/wb_tab.h"

#include <string.h>

/* The macros are what matters: the header is what compose shows. */
static void write_source(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);
	const struct experiment *x = run ? wb_model_experiment(&wb->model, run->experiment) : NULL;
	const char *from;

	(void)height;
	if (!x)
		x = wb->model.compose.experiment;
	if (!x) {
		fputs("no experiment\n", page->out);
		return;
	}
	from = strstr(x->text, "\n.macro");
	fprintf(page->out, "# %s\n%s", x->path, from ? from + 1 : x->text);
}

static unsigned long key(struct wb *wb)
{
	return (unsigned long)(uintptr_t)wb_results_run(&wb->model.results) +
	       (unsigned long)(uintptr_t)wb->model.compose.experiment;
}

const struct wb_tab tab_source = {
        .name = "source",
        .title = "Source",
        .help = "The macros of the experiment.",
        .write = write_source,
        .key = key,
};
