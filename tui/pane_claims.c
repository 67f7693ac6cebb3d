#include "tui/wb_pane.h"

#include <stdlib.h>
#include <string.h>

#include "engine/claim.h"
#include "tui/memory.h"
#include "tui/render_page.h"
#include "tui/table.h"
#include "tui/wb.h"
#include "tui/wb_text.h"

/* The claims, and a table of them: a heading, then a line each. */
static struct {
	struct claim_list list;
	bool read;
	char *why; /* they cannot be read, or NULL */
	struct wb_text text;
	unsigned version; /* of the results that verdicts were taken from */
} claims;

static void open_claims(struct wb *wb)
{
	struct error err = {0};

	(void)wb;
	if (claims.read)
		return;
	if (claim_list_read(&claims.list, &err) == ERROR_NONE)
		claims.read = true;
	else
		claims.why = memory_copy(err.text);
}

static void close_claims(void)
{
	if (claims.read)
		claim_list_free(&claims.list);
	claims.read = false;
	free(claims.why);
	claims.why = NULL;
	wb_text_free(&claims.text);
}

/* What the runs of this session say of a claim: the newest that decides it. */
static enum claim_verdict verdict_of(const struct wb_results *r, const struct claim *c,
                                     const char **run)
{
	*run = NULL;
	for (size_t i = r->count; c->experiment && i-- > 0;) {
		struct claim_judgement j = {0};
		enum claim_verdict v = CLAIM_UNDECIDED;

		if (strcmp(r->runs[i]->experiment, c->experiment->name) != 0)
			continue;
		if (claim_judge(c, r->runs[i], CLAIM_UNDECIDED, "", &j, NULL) == ERROR_NONE) {
			v = j.verdict;
			claim_judgement_free(&j);
		}
		if (v == CLAIM_HOLDS || v == CLAIM_FAILS) {
			*run = r->runs[i]->id;
			return v;
		}
	}
	return CLAIM_UNDECIDED;
}

static void write_row(struct table *t, const struct wb_results *r, const struct claim *c)
{
	enum { NUMBER, VERDICT, NAME, TITLE };
	const char *run;
	enum claim_verdict v = verdict_of(r, c, &run);
	char *number = c->number ? memory_format("%ld", c->number) : memory_copy("");

	table_row_begin(t);
	table_cell_set(t, NUMBER, number);
	if (!c->experiment)
		table_cell_set(t, VERDICT, claim_verdict_name[CLAIM_UNTESTABLE]);
	else if (run)
		table_cell_set(t, VERDICT, claim_verdict_name[v]);
	if (run)
		table_cell_sgr(t, VERDICT, v == CLAIM_HOLDS ? RENDER_PAGE_GOOD : RENDER_PAGE_BAD);
	table_cell_set(t, NAME, c->name);
	table_cell_set(t, TITLE, c->title);
	free(number);
}

static void write_claims(const struct wb_results *r, int width)
{
	static const struct table_column columns[] = {
	        {.head = "#", .align = TABLE_RIGHT},
	        {.head = "here", .gap = 2},
	        {.head = "claim", .gap = 2},
	        {.head = "statement", .gap = 2},
	};
	struct render_style style = wb_draw_style(1000);
	struct render_page page = render_page_on(&style, wb_text_begin(&claims.text));
	struct table *t = table_new(&page, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < claims.list.count; i++)
		write_row(t, r, claims.list.items[i]);
	table_print(t);
	table_free(t);
	wb_text_end(&claims.text);
	claims.text.width = width;
	claims.version = r->version;
	if (claims.text.at == 0)
		claims.text.at = 1;
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	if (claims.why) {
		wb_draw_text(a, 0, 1, WB_BAD, claims.why);
		return;
	}
	/* While a run is on its version changes with every frame, and it decides nothing yet. */
	if (claims.text.width != a->w || (claims.version != wb->model.results.version && !wb->run))
		write_claims(&wb->model.results, a->w);
	wb_text_draw(&claims.text, a);
}

static const struct claim *selected(void)
{
	size_t i = claims.text.at;

	return i >= 1 && i - 1 < claims.list.count ? claims.list.items[i - 1] : NULL;
}

static char *title(struct wb *wb, int width)
{
	(void)wb;
	(void)width;
	return memory_copy("Claims: Enter shows one, r verifies it here");
}

static bool act(struct wb *wb, enum wb_action action)
{
	const struct claim *c = selected();

	switch (c ? action : WB_NONE) {
	case WB_ENTER:
		wb_command_format(wb, "show %s", c->name);
		return true;
	case WB_RUN:
		wb_command_format(wb, "verify %s", c->name);
		return true;
	default:
		return wb_text_act(&claims.text, action);
	}
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	(void)x;
	wb_text_click(&claims.text, y);
	if (twice)
		act(wb, WB_ENTER);
}

static bool find(struct wb *wb, const char *what, int step)
{
	(void)wb;
	return wb_text_find(&claims.text, what, step);
}

const struct wb_pane pane_claims = {
        .name = "claims",
        .help = "Published statements, and what this session's runs say of them. Enter shows one "
                "with its figures, r verifies it here.",
        .place = WB_WHOLE,
        .title = title,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
        .open = open_claims,
        .close = close_claims,
};
