#include "tui/wb_tab.h"

#include <string.h>

#include "engine/claim.h"
#include "tui/memory.h"

static void write_claim(const struct render_page *page, const struct claim *c,
                        const struct result_run *run)
{
	struct claim_judgement j = {0};
	const char *sgr = NULL;

	if (claim_judge(c, run, CLAIM_UNDECIDED, "", &j, NULL) != ERROR_NONE)
		return;
	if (j.verdict == CLAIM_HOLDS)
		sgr = RENDER_PAGE_GOOD;
	if (j.verdict == CLAIM_FAILS)
		sgr = RENDER_PAGE_BAD;
	render_page_say(page, 16, sgr,
	                memory_format("  %-13s %s%s%s%s", claim_verdict_name[j.verdict], c->title,
	                              j.why && *j.why ? " (" : "", j.why ? j.why : "",
	                              j.why && *j.why ? ")" : ""));
	claim_judgement_free(&j);
}

/* Claims about the run's experiment; a run with other levels leaves them undecided, with the
 * reason. */
static void write_claims(struct wb *wb, const struct render_page *page, int height)
{
	const struct result_run *run = wb_results_run(&wb->model.results);
	struct claim_list list;
	size_t n = 0;

	(void)height;
	if (!run || wb->model.results.live) {
		fputs(run ? "claims are judged when the run has ended\n" : "no run yet\n",
		      page->out);
		return;
	}
	if (claim_list_read(&list, NULL) != ERROR_NONE)
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct claim *c = list.items[i];

		if (!c->experiment || strcmp(c->experiment->name, run->experiment) != 0)
			continue;
		write_claim(page, c, run);
		n++;
	}
	if (!n)
		fputs("no claim is about this experiment; F8 shows all\n", page->out);
	claim_list_free(&list);
}

static unsigned long key(struct wb *wb)
{
	return (unsigned long)(uintptr_t)wb_results_run(&wb->model.results) +
	       (wb->model.results.live != NULL);
}

const struct wb_tab tab_claims = {
        .name = "bears",
        .title = "Claims",
        .help = "The published claims that this run bears on, and what it says of them.",
        .write = write_claims,
        .key = key,
};
