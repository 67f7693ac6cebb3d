#include "tui/render_claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_figure.h"
#include "tui/render_json.h"
#include "tui/render_page.h"
#include "tui/table.h"

/* So many published figures stand below a verdict; `show` has all. */
enum { FIGURES_SHOWN = 3 };

static struct render_page page_for(FILE *out)
{
	struct render_style style = render_style_for(out);

	return render_page_on(&style, out);
}

static char *number_text(const struct claim *c)
{
	return c->number ? memory_format("%ld", c->number) : memory_copy("");
}

static json_t *json_claim_number(const struct claim *c)
{
	return c->number ? json_integer(c->number) : json_null();
}

static void put_owned(struct table *t, size_t column, char *text)
{
	table_cell_set(t, column, text);
	free(text);
}

/* list claims. */

static void list_text(const struct claim_list *list, FILE *out)
{
	enum { NUMBER, NAME, EXPERIMENT, TITLE, COLUMNS };
	static const struct table_column columns[COLUMNS] = {
	        [NUMBER] = {.head = "no", .align = TABLE_RIGHT},
	        [NAME] = {.head = "claim", .gap = 2},
	        [EXPERIMENT] = {.head = "tested by", .gap = 2, .drop = 1},
	        [TITLE] = {.head = "statement", .gap = 2},
	};
	struct render_page page = page_for(out);
	struct table *t = table_new(&page, columns, COLUMNS);

	for (size_t i = 0; i < list->count; i++) {
		const struct claim *c = list->items[i];

		table_row_begin(t);
		put_owned(t, NUMBER, number_text(c));
		table_cell_set(t, NAME, c->name);
		if (c->experiment)
			table_cell_set(t, EXPERIMENT, c->experiment->name);
		else
			put_owned(t, EXPERIMENT, memory_format("(%s)", c->needs));
		table_span_set(t, TITLE, c->title);
	}
	table_print(t);
	table_free(t);
}

static json_t *json_figures(const struct claim *c)
{
	json_t *figures = json_array();

	for (size_t i = 0; i < c->figure_count; i++) {
		json_t *f = json_object();

		json_object_set_new(f, "cpu", render_json_text(c->figures[i].cpu));
		json_object_set_new(f, "figure", render_json_text(c->figures[i].figure));
		json_object_set_new(f, "text", render_json_text(c->figures[i].text));
		json_array_append_new(figures, f);
	}
	return figures;
}

static json_t *json_conditions(const struct claim *c)
{
	json_t *conditions = json_array();

	for (size_t i = 0; i < c->condition_count; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "holds", render_json_text(c->conditions[i].text));
		json_object_set_new(o, "label", render_json_text(c->conditions[i].label));
		json_array_append_new(conditions, o);
	}
	return conditions;
}

static json_t *json_claim(const struct claim *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_string("claim"));
	json_object_set_new(o, "claim", render_json_text(c->name));
	json_object_set_new(o, "number", json_claim_number(c));
	json_object_set_new(o, "statement", render_json_text(c->title));
	json_object_set_new(o, "who", render_json_text(c->who));
	json_object_set_new(o, "when", render_json_text(c->when));
	json_object_set_new(o, "source", render_json_text(c->source));
	json_object_set_new(o, "note", render_json_text(c->doc));
	json_object_set_new(o, "run", render_json_text(c->run));
	json_object_set_new(o, "needs", render_json_text(c->needs));
	json_object_set_new(o, "needs_why", render_json_text(c->needs_why));
	json_object_set_new(o, "conditions", json_conditions(c));
	json_object_set_new(o, "published", json_figures(c));
	json_object_set_new(o, "path", render_json_text(c->path));
	return o;
}

static void list_csv(const struct claim_list *list, FILE *out)
{
	fputs("number,claim,experiment,statement,path", out);
	render_csv_end(out);
	for (size_t i = 0; i < list->count; i++) {
		const struct claim *c = list->items[i];
		char *number = number_text(c);

		render_csv_text(out, true, number);
		render_csv_text(out, false, c->name);
		render_csv_text(out, false, c->experiment ? c->experiment->name : NULL);
		render_csv_text(out, false, c->title);
		render_csv_text(out, false, c->path);
		render_csv_end(out);
		free(number);
	}
}

void render_claims_list(const struct claim_list *list, enum render_format format, FILE *out)
{
	switch (format) {
	case RENDER_TEXT:
		list_text(list, out);
		break;
	case RENDER_JSONL:
		for (size_t i = 0; i < list->count; i++)
			render_json_line(out, json_claim(list->items[i]));
		break;
	case RENDER_CSV:
		list_csv(list, out);
		break;
	case RENDER_FORMATS:
		break;
	}
}

/* show CLAIM. */

static void show_key(const struct render_page *page, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(page->out, "%-9s ", key);
	render_page_wrap(page, 10, 10, value);
}

/* "CPU: FIGURE (TEXT)"; a CPU of "-" was not told. */
static char *figure_text(const struct claim_figure *f)
{
	bool told = strcmp(f->cpu, "-") != 0;

	return memory_format("%s%s%s%s%s%s", told ? f->cpu : "", told ? ": " : "", f->figure,
	                     *f->text ? " (" : "", f->text, *f->text ? ")" : "");
}

static void show_text(const struct claim *c, FILE *out)
{
	struct render_page page = page_for(out);
	char *number = number_text(c);

	fprintf(out, "%s: ", c->name);
	render_page_wrap(&page, (int)strlen(c->name) + 2, 2, c->title);
	show_key(&page, "number", number);
	show_key(&page, "who", c->who);
	show_key(&page, "when", c->when);
	show_key(&page, "source", c->source);
	show_key(&page, "file", c->path);
	show_key(&page, "run", c->run);
	for (size_t i = 0; i < c->condition_count; i++) {
		const struct claim_condition *condition = &c->conditions[i];
		char *text = memory_format("%s%s%s", condition->text,
		                           *condition->label ? " | " : "", condition->label);

		show_key(&page, i ? "" : "holds if", text[0] ? text : NULL);
		free(text);
	}
	show_key(&page, "needs", c->needs);
	show_key(&page, "", c->needs_why);
	for (size_t i = 0; i < c->figure_count; i++) {
		char *text = figure_text(&c->figures[i]);

		show_key(&page, i ? "" : "published", text);
		free(text);
	}
	if (*c->doc) {
		char *note = memory_copy(c->doc);

		for (char *p = note; (p = strchr(p, '\n'));)
			*p = ' ';
		fputc('\n', out);
		render_page_say(&page, 0, NULL, note);
	}
	free(number);
}

static void show_csv(const struct claim *c, FILE *out)
{
	char *number = number_text(c);

	fputs("number,claim,statement,who,when,source,run,label,holds", out);
	render_csv_end(out);
	for (size_t i = 0; i < c->condition_count || i == 0; i++) {
		const struct claim_condition *condition =
		        i < c->condition_count ? &c->conditions[i] : NULL;

		render_csv_text(out, true, number);
		render_csv_text(out, false, c->name);
		render_csv_text(out, false, c->title);
		render_csv_text(out, false, c->who);
		render_csv_text(out, false, c->when);
		render_csv_text(out, false, c->source);
		render_csv_text(out, false, c->run);
		render_csv_text(out, false, condition ? condition->label : NULL);
		render_csv_text(out, false, condition ? condition->text : NULL);
		render_csv_end(out);
	}
	free(number);
}

void render_claims_show(const struct claim *c, enum render_format format, FILE *out)
{
	switch (format) {
	case RENDER_TEXT:
		show_text(c, out);
		break;
	case RENDER_JSONL:
		render_json_line(out, json_claim(c));
		break;
	case RENDER_CSV:
		show_csv(c, out);
		break;
	case RENDER_FORMATS:
		break;
	}
}

/* verify. */

enum { V_NUMBER, V_CLAIM, V_VERDICT, V_LABEL, V_VALUE, V_HALF, V_WANTED, V_EACH, V_RUN, V_COLUMNS };

static const struct table_column verdict_columns[V_COLUMNS] = {
        [V_NUMBER] = {.head = "no", .align = TABLE_RIGHT},
        [V_CLAIM] = {.head = "claim", .gap = 2},
        [V_VERDICT] = {.head = "verdict", .gap = 2},
        [V_LABEL] = {.head = "of", .gap = 2, .drop = 1, .most = 24},
        [V_VALUE] = {.head = "measured", .gap = 2, .align = TABLE_POINT},
        [V_HALF] = {.head = "±99%", .gap = 1},
        [V_WANTED] = {.head = "wanted", .gap = 2},
        [V_EACH] = {.head = "each", .gap = 2, .drop = 3},
        [V_RUN] = {.head = "run", .gap = 2, .align = TABLE_RIGHT, .drop = 2},
};

static const char *const verdict_sgr[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = RENDER_PAGE_GOOD,
        [CLAIM_FAILS] = RENDER_PAGE_BAD,
        [CLAIM_UNDECIDED] = RENDER_PAGE_BOLD,
        [CLAIM_UNTESTABLE] = RENDER_PAGE_DIM,
};

/* The figure of one condition beside what was wanted of it. */
static void put_finding(struct table *t, const struct claim_condition *c,
                        const struct claim_finding *f, bool each)
{
	struct render_figure figure;

	table_cell_set(t, V_LABEL, c->label);
	table_cell_set(t, V_WANTED, c->wanted);
	if (each)
		table_cell_set(t, V_EACH, claim_verdict_name[f->verdict]);
	if (!isfinite(f->value.est))
		return;
	render_figure_interval(&figure, &f->value, c->unit != CLAIM_RATIO);
	table_cell_set(t, V_VALUE, figure.est);
	table_cell_set(t, V_HALF, figure.half);
}

static char *published_text(const struct claim *c)
{
	char *text = memory_copy("published: ");

	for (size_t i = 0; i < c->figure_count && i < FIGURES_SHOWN; i++) {
		char *figure = figure_text(&c->figures[i]);
		char *more = memory_format("%s%s%s", text, i ? "; " : "", figure);

		free(text);
		free(figure);
		text = more;
	}
	if (c->figure_count > FIGURES_SHOWN) {
		char *more = memory_format("%s; %zu more", text, c->figure_count - FIGURES_SHOWN);

		free(text);
		text = more;
	}
	return text;
}

static void put_item(struct table *t, const struct render_claims_item *item)
{
	const struct claim *c = item->claim;
	const struct claim_judgement *j = &item->judgement;
	bool mixed = false;

	/* Where conditions went different ways, the reader must see which went where. */
	for (size_t i = 1; i < j->finding_count; i++)
		mixed |= j->findings[i].verdict != j->findings[0].verdict;
	for (size_t i = 0; i < c->condition_count || i == 0; i++) {
		table_row_begin(t);
		if (i < c->condition_count)
			put_finding(t, &c->conditions[i], &j->findings[i], mixed);
		if (i)
			continue;
		put_owned(t, V_NUMBER, number_text(c));
		table_cell_set(t, V_CLAIM, c->name);
		table_cell_set(t, V_VERDICT, claim_verdict_name[j->verdict]);
		table_cell_sgr(t, V_VERDICT, verdict_sgr[j->verdict]);
		table_cell_set(t, V_RUN, item->run);
	}
	if (j->why) {
		table_row_begin(t);
		table_span_set(t, V_CLAIM, j->why);
	}
	if (c->figure_count) {
		char *text = published_text(c);

		table_row_begin(t);
		table_span_set(t, V_CLAIM, text);
		free(text);
	}
}

static void verdicts_text(const struct render_claims_item *items, size_t n, size_t runs,
                          double seconds, FILE *out)
{
	static const char *const words[CLAIM_VERDICTS] = {
	        [CLAIM_HOLDS] = "hold",
	        [CLAIM_FAILS] = "fail",
	        [CLAIM_UNDECIDED] = "not decided",
	        [CLAIM_UNTESTABLE] = "not testable here",
	};
	struct render_page page = page_for(out);
	struct table *t = table_new(&page, verdict_columns, V_COLUMNS);
	size_t counts[CLAIM_VERDICTS] = {0};
	char *text = memory_format("%zu claim%s", n, n == 1 ? "" : "s");

	for (size_t i = 0; i < n; i++) {
		put_item(t, &items[i]);
		counts[items[i].judgement.verdict]++;
	}
	table_print(t);
	table_free(t);
	for (size_t v = 0, said = 0; v < CLAIM_VERDICTS; v++) {
		char *more;

		if (!counts[v])
			continue;
		more = memory_format("%s%s%zu %s", text, said++ ? ", " : ": ", counts[v], words[v]);
		free(text);
		text = more;
	}
	fputc('\n', out);
	render_page_say(
	        &page, 2, NULL,
	        memory_format("%s · %zu run%s, %.1f s", text, runs, runs == 1 ? "" : "s", seconds));
	free(text);
}

static json_t *json_finding(const struct claim_condition *c, const struct claim_finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "holds", render_json_text(c->text));
	json_object_set_new(o, "label", render_json_text(c->label));
	json_object_set_new(o, "verdict", json_string(claim_verdict_name[f->verdict]));
	json_object_set_new(o, "value", render_json_interval(&f->value));
	json_object_set_new(o, "relation", json_string(claim_relation_sign[c->relation]));
	json_object_set_new(o, "threshold", render_json_number(c->threshold));
	json_object_set_new(o, "unit", json_string(claim_unit_name[c->unit]));
	json_object_set_new(o, "decidable", render_json_number(f->decidable));
	json_object_set_new(o, "reason", render_json_text(f->why));
	return o;
}

static void verdict_jsonl(const struct render_claims_item *item, FILE *out)
{
	const struct claim *c = item->claim;
	json_t *o = json_object(), *findings = json_array();

	for (size_t i = 0; i < c->condition_count; i++)
		json_array_append_new(
		        findings, json_finding(&c->conditions[i], &item->judgement.findings[i]));
	json_object_set_new(o, "kind", json_string("verdict"));
	json_object_set_new(o, "claim", render_json_text(c->name));
	json_object_set_new(o, "number", json_claim_number(c));
	json_object_set_new(o, "statement", render_json_text(c->title));
	json_object_set_new(o, "verdict", json_string(claim_verdict_name[item->judgement.verdict]));
	json_object_set_new(o, "reason", render_json_text(item->judgement.why));
	json_object_set_new(o, "run", render_json_text(item->run));
	json_object_set_new(o, "command", render_json_text(c->run));
	json_object_set_new(o, "confidence",
	                    render_json_number(item->confidence ? item->confidence : NAN));
	json_object_set_new(o, "findings", findings);
	json_object_set_new(o, "published", json_figures(c));
	render_json_line(out, o);
}

static void verdict_csv(const struct render_claims_item *item, FILE *out)
{
	const struct claim *c = item->claim;
	const struct claim_judgement *j = &item->judgement;

	for (size_t i = 0; i < c->condition_count || i == 0; i++) {
		const struct claim_condition *condition =
		        i < c->condition_count ? &c->conditions[i] : NULL;
		const struct claim_finding *f = condition ? &j->findings[i] : NULL;
		char *number = number_text(c);

		render_csv_text(out, true, number);
		render_csv_text(out, false, c->name);
		render_csv_text(out, false, claim_verdict_name[j->verdict]);
		render_csv_text(out, false, j->why);
		render_csv_text(out, false, condition ? condition->label : NULL);
		render_csv_text(out, false, condition ? condition->text : NULL);
		render_csv_text(out, false, f ? claim_verdict_name[f->verdict] : NULL);
		render_csv_number(out, false, f ? f->value.est : NAN);
		render_csv_number(out, false, f ? f->value.lo : NAN);
		render_csv_number(out, false, f ? f->value.hi : NAN);
		render_csv_number(out, false, condition ? condition->threshold : NAN);
		render_csv_text(out, false, condition ? claim_unit_name[condition->unit] : NULL);
		render_csv_number(out, false, f ? f->decidable : NAN);
		render_csv_text(out, false, item->run);
		render_csv_end(out);
		free(number);
	}
}

void render_claims_verdicts(const struct render_claims_item *items, size_t n, size_t runs,
                            double seconds, enum render_format format, FILE *out)
{
	switch (format) {
	case RENDER_TEXT:
		verdicts_text(items, n, runs, seconds, out);
		break;
	case RENDER_JSONL:
		for (size_t i = 0; i < n; i++)
			verdict_jsonl(&items[i], out);
		break;
	case RENDER_CSV:
		fputs("number,claim,verdict,reason,label,holds,condition_verdict,value,lo,hi,"
		      "threshold,"
		      "unit,decidable,run",
		      out);
		render_csv_end(out);
		for (size_t i = 0; i < n; i++)
			verdict_csv(&items[i], out);
		break;
	case RENDER_FORMATS:
		break;
	}
}
