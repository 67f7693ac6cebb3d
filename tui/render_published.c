#include "tui/render_published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_figure.h"
#include "tui/render_host.h"
#include "tui/render_json.h"
#include "tui/render_page.h"
#include "tui/table.h"

/* Columns that a text about a machine may take where figures stand side by side. */
enum { MACHINE_WIDTH = 34 };

/* What is said of this machine beside one row. */
struct here {
	bool is; /* there is a figure */
	struct stats_interval value;
	char *why; /* unless there is */
};

static struct render_page page_for(FILE *out)
{
	struct render_style style = render_style_for(out);

	return render_page_on(&style, out);
}

static void put_owned(struct table *t, size_t column, char *text)
{
	table_cell_set(t, column, text);
	free(text);
}

/* NULL where the rows tell their own. */
static const char *unit_of(const struct published *p)
{
	return p->unit < FORMULA_UNITS ? formula_unit_name[p->unit] : NULL;
}

/* The list. */

static void list_text(const struct published_list *list, FILE *out)
{
	enum { NAME, ROWS, RUN, TITLE, COLUMNS };
	static const struct table_column columns[COLUMNS] = {
	        [NAME] = {.head = "table"},
	        [ROWS] = {.head = "figures", .gap = 2, .align = TABLE_RIGHT, .drop = 2},
	        [RUN] = {.head = "measured by", .gap = 2, .drop = 1},
	        [TITLE] = {.head = "title", .gap = 2},
	};
	struct render_page page = page_for(out);
	struct table *t = table_new(&page, columns, COLUMNS);

	for (size_t i = 0; i < list->count; i++) {
		const struct published *p = list->items[i];

		table_row_begin(t);
		table_cell_set(t, NAME, p->name);
		put_owned(t, ROWS, memory_format("%zu", p->row_count));
		if (p->experiment)
			table_cell_set(t, RUN, p->experiment->name);
		else if (p->needs)
			put_owned(t, RUN, memory_format("(%s)", p->needs));
		else
			table_cell_set(t, RUN, "(not here)");
		table_span_set(t, TITLE, p->title);
	}
	table_print(t);
	table_free(t);
}

void render_published_list(const struct published_list *list, enum render_format format, FILE *out)
{
	if (format == RENDER_TEXT) {
		list_text(list, out);
		return;
	}
	if (format == RENDER_CSV) {
		fputs("table,figures,unit,run,title,source,path", out);
		render_csv_end(out);
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct published *p = list->items[i];

		if (format == RENDER_CSV) {
			render_csv_text(out, true, p->name);
			render_csv_number(out, false, (double)p->row_count);
			render_csv_text(out, false, unit_of(p));
			render_csv_text(out, false, p->run);
			render_csv_text(out, false, p->title);
			render_csv_text(out, false, p->source);
			render_csv_text(out, false, p->path);
			render_csv_end(out);
		} else {
			json_t *o = json_object();

			json_object_set_new(o, "kind", json_string("published-table"));
			json_object_set_new(o, "table", render_json_text(p->name));
			json_object_set_new(o, "figures", json_integer((json_int_t)p->row_count));
			json_object_set_new(o, "unit", render_json_text(unit_of(p)));
			json_object_set_new(o, "run", render_json_text(p->run));
			json_object_set_new(o, "title", render_json_text(p->title));
			json_object_set_new(o, "source", render_json_text(p->source));
			json_object_set_new(o, "path", render_json_text(p->path));
			render_json_line(out, o);
		}
	}
}

/* This machine's figure beside a row. */

/* formula: NULL if there is none. */
static struct here figure_of(const struct published *p, const char *text,
                             const struct formula *formula, enum formula_unit unit,
                             const struct result_run *run, const char *why_not)
{
	struct here h = {.value = {NAN, NAN, NAN}};
	struct formula_value v;
	struct error err;

	if (!text && !p->needs) {
		h.why = memory_copy("no variant stands for it");
	} else if (!run || !formula) {
		h.why = memory_copy(why_not ? why_not : p->why_not ? p->why_not : "not measured");
	} else if (formula_evaluate(formula, run, unit, &v, &err) != ERROR_NONE) {
		h.why = memory_copy(err.text);
	} else if (v.state != FORMULA_VALUE) {
		h.why = memory_copy(v.why);
	} else {
		h.value = v.value;
		h.is = true;
	}
	return h;
}

static struct here here_of(const struct published *p, const struct published_row *row,
                           const struct result_run *run, const char *why_not)
{
	return figure_of(p, row->here_text, row->has_here ? &row->here : NULL, p->unit, run,
	                 why_not);
}

static struct here *here_all(const struct published *p, const struct result_run *run,
                             const char *why_not)
{
	struct here *all = memory_get(p->row_count * sizeof(*all));

	for (size_t i = 0; i < p->row_count; i++)
		all[i] = here_of(p, &p->rows[i], run, why_not);
	return all;
}

static void here_free(struct here *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(all[i].why);
	free(all);
}

/* "50.83 ±0.02" in one cell; what has no uncertainty stands alone. */
static char *here_text(const struct here *h)
{
	double half = render_figure_half(&h->value);
	/* One form for all cells: the larger side stands for both. */
	struct stats_interval even = {h->value.est, h->value.est - half, h->value.est + half};
	struct render_figure figure;

	if (!h->is)
		return memory_copy("-");
	if (h->value.lo == h->value.hi)
		return memory_format("%.10g", h->value.est);
	render_figure_interval(&figure, &even, false);
	return memory_format("%s %s", figure.est, figure.half);
}

/* Text with the rows as they are, this machine's figure behind the published one. */

static void rows_text(const struct render_page *page, const struct published *p,
                      const struct here *all, bool any)
{
	size_t n = p->column_count + 1;
	struct table_column *columns = memory_get(n * sizeof(*columns));
	struct table *t;

	for (size_t i = 0, at = 0; i < p->column_count; i++) {
		columns[at++] = (struct table_column){
		        .head = p->columns[i],
		        .gap = i ? 2 : 0,
		        .align = i == p->value ? TABLE_POINT : TABLE_LEFT,
		};
		if (i == p->value)
			columns[at++] = (struct table_column){.head = "here", .gap = 2};
	}
	t = table_new(page, columns, n);
	for (size_t r = 0; r < p->row_count; r++) {
		table_row_begin(t);
		for (size_t i = 0, at = 0; i < p->column_count; i++, at++) {
			const char *cell = p->rows[r].cells[i];

			/* The last column may be long. */
			if (i + 1 == p->column_count && i != p->value && *cell)
				table_span_set(t, at, cell);
			else
				table_cell_set(t, at, cell);
			if (i == p->value && any)
				put_owned(t, at + 1, here_text(&all[r]));
			at += i == p->value;
		}
	}
	table_print(t);
	table_free(t);
	free(columns);
}

/* Text with the values of one column side by side. */

/* The rows of a pivot: each is a set of published rows that differ in `across` and the value alone.
 */
struct pivot {
	const struct published *p;
	const char **across; /* its values, in the order of the file */
	size_t across_count;
	size_t *first; /* [lines]: a published row of each */
	size_t line_count;
};

/* Whether two rows agree in all columns but across and value; machine: in those that tell the
 * machine, too. */
static bool same_line(const struct published *p, const struct published_row *a,
                      const struct published_row *b, bool machine)
{
	for (size_t i = 0; i < p->column_count; i++) {
		if (i == p->value || (long)i == p->across || (!machine && p->machine[i]))
			continue;
		if (strcmp(a->cells[i], b->cells[i]) != 0)
			return false;
	}
	return true;
}

static void pivot_make(struct pivot *v, const struct published *p)
{
	*v = (struct pivot){.p = p};
	v->across = memory_get(p->row_count * sizeof(*v->across));
	v->first = memory_get(p->row_count * sizeof(*v->first));
	for (size_t r = 0; r < p->row_count; r++) {
		const char *value = p->rows[r].cells[p->across];
		size_t i = 0;

		while (i < v->across_count && strcmp(v->across[i], value) != 0)
			i++;
		if (i == v->across_count)
			v->across[v->across_count++] = value;
		i = 0;
		while (i < v->line_count && !same_line(p, &p->rows[v->first[i]], &p->rows[r], true))
			i++;
		if (i == v->line_count)
			v->first[v->line_count++] = r;
	}
}

/* The published row with the line's texts and that value across; row_count if there is none. */
static size_t pivot_row(const struct pivot *v, size_t line, const char *across, bool machine)
{
	const struct published *p = v->p;

	for (size_t r = 0; r < p->row_count; r++) {
		if (strcmp(p->rows[r].cells[p->across], across) == 0 &&
		    same_line(p, &p->rows[v->first[line]], &p->rows[r], machine))
			return r;
	}
	return p->row_count;
}

/* One line of this machine's for those of the same kind, whatever the machine. */
static void pivot_here(struct table *t, const struct pivot *v, const struct here *all, size_t kept)
{
	const struct published *p = v->p;

	for (size_t line = 0; line < v->line_count; line++) {
		const struct published_row *row = &p->rows[v->first[line]];
		bool seen = false, named = false;

		for (size_t i = 0; i < line && !seen; i++)
			seen = same_line(p, &p->rows[v->first[i]], row, false);
		if (seen)
			continue;
		table_row_begin(t);
		for (size_t i = 0, at = 0; i < p->column_count; i++) {
			if (i == p->value || (long)i == p->across)
				continue;
			if (!p->machine[i])
				table_cell_set(t, at, row->cells[i]);
			else if (!named)
				table_cell_set(t, at, "this machine");
			named |= p->machine[i];
			at++;
		}
		for (size_t i = 0; i < v->across_count; i++) {
			size_t r = pivot_row(v, line, v->across[i], false);

			if (r < p->row_count)
				put_owned(t, kept + i, here_text(&all[r]));
		}
	}
}

static void pivot_published(struct table *t, const struct pivot *v, size_t kept)
{
	const struct published *p = v->p;

	for (size_t line = 0; line < v->line_count; line++) {
		const struct published_row *row = &p->rows[v->first[line]];
		const struct published_row *before = line ? &p->rows[v->first[line - 1]] : NULL;
		bool same = before != NULL;

		table_row_begin(t);
		for (size_t i = 0, at = 0; i < p->column_count; i++) {
			if (i == p->value || (long)i == p->across)
				continue;
			/* What the line above says of the machine need not be said again. */
			same = same && p->machine[i] &&
			       strcmp(before->cells[i], row->cells[i]) == 0;
			if (!same)
				table_cell_set(t, at, row->cells[i]);
			at++;
		}
		for (size_t i = 0; i < v->across_count; i++) {
			size_t r = pivot_row(v, line, v->across[i], true);

			if (r < p->row_count)
				table_cell_set(t, kept + i, p->rows[r].cells[p->value]);
		}
	}
}

static void pivot_text(const struct render_page *page, const struct published *p,
                       const struct here *all, bool any)
{
	struct pivot v;
	struct table_column *columns;
	struct table *t;
	size_t kept = 0, machines = 0;
	char **heads;

	pivot_make(&v, p);
	columns = memory_get((p->column_count + v.across_count) * sizeof(*columns));
	heads = memory_get(v.across_count * sizeof(*heads));
	for (size_t i = 0; i < p->column_count; i++) {
		if (i == p->value || (long)i == p->across)
			continue;
		machines += p->machine[i];
		/* Of what tells the machine, the columns behind the second are dispensable. */
		columns[kept] = (struct table_column){
		        .head = p->columns[i],
		        .gap = kept ? 2 : 0,
		        .drop = p->machine[i] && machines > 2 ? (int)machines : 0,
		        .most = p->machine[i] ? MACHINE_WIDTH : 0,
		};
		kept++;
	}
	for (size_t i = 0; i < v.across_count; i++) {
		heads[i] = memory_copy(v.across[i]);
		columns[kept + i] =
		        (struct table_column){.head = heads[i], .gap = 1, .align = TABLE_POINT};
	}
	t = table_new(page, columns, kept + v.across_count);
	if (any)
		pivot_here(t, &v, all, kept);
	pivot_published(t, &v, kept);
	table_print(t);
	table_free(t);
	for (size_t i = 0; i < v.across_count; i++)
		free(heads[i]);
	free(heads);
	free(columns);
	free(v.across);
	free(v.first);
}

/* The further figures. */

static struct here further_of(const struct published *p, const struct published_line *line,
                              size_t column, const struct result_run *run, const char *why_not)
{
	const struct published_figure *f = &line->figures[column];

	return figure_of(p, f->text, f->text ? &f->formula : NULL, p->also[column].unit, run,
	                 why_not);
}

/* Whether a line differs from all before in what tells them apart. */
static bool line_is_new(const struct published *p, size_t i)
{
	const struct published_line *line = &p->lines[i];

	for (size_t k = 0; k < i; k++) {
		const struct published_line *before = &p->lines[k];
		bool same = !p->each || strcmp(line->level, before->level) == 0;

		for (size_t c = 0; c < p->column_count && same; c++)
			same = !p->named[c] || strcmp(p->rows[line->row].cells[c],
			                              p->rows[before->row].cells[c]) == 0;
		if (same)
			return false;
	}
	return true;
}

static void further_line(struct table *t, const struct published *p, size_t i,
                         const struct result_run *run)
{
	const struct published_line *line = &p->lines[i];
	bool said = i && p->each && strcmp(p->lines[i - 1].level, line->level) == 0;
	size_t at = 0;

	table_row_begin(t);
	if (p->each) {
		if (!said) /* once for all lines of a level */
			table_cell_set(t, at, line->level);
		at++;
	}
	for (size_t c = 0; c < p->column_count; c++)
		if (p->named[c])
			table_cell_set(t, at++, p->rows[line->row].cells[c]);
	for (size_t c = 0; c < p->also_count; c++) {
		struct here h = further_of(p, line, c, run, NULL);

		put_owned(t, at++, here_text(&h));
		free(h.why);
	}
}

static void further_text(const struct render_page *page, const struct published *p,
                         const struct result_run *run)
{
	size_t n = 0, most = 1 + p->column_count + p->also_count;
	struct table_column *columns = memory_get(most * sizeof(*columns));
	char **heads = memory_get(most * sizeof(*heads));
	struct table *t;

	if (p->each) {
		columns[n] = (struct table_column){.head = p->each, .align = TABLE_RIGHT};
		n++;
	}
	for (size_t c = 0; c < p->column_count; c++) {
		if (!p->named[c])
			continue;
		columns[n] = (struct table_column){.head = p->columns[c], .gap = n ? 2 : 0};
		n++;
	}
	for (size_t c = 0; c < p->also_count; c++) {
		const char *unit = formula_unit_name[p->also[c].unit];

		heads[c] = strcmp(unit, p->also[c].name) == 0
		                   ? memory_copy(unit)
		                   : memory_format("%s, %s", p->also[c].name, unit);
		columns[n] = (struct table_column){
		        .head = heads[c], .gap = n ? 2 : 0, .align = TABLE_POINT};
		n++;
	}
	t = table_new(page, columns, n);
	for (size_t i = 0; i < p->line_count; i++)
		if (line_is_new(p, i))
			further_line(t, p, i, run);
	table_print(t);
	table_free(t);
	for (size_t c = 0; c < p->also_count; c++)
		free(heads[c]);
	free(heads);
	free(columns);
}

/* Text. */

static void say_lines(const struct render_page *page, const char *key, const char *text)
{
	char *flat;

	if (!text || !*text)
		return;
	flat = memory_copy(text);
	for (char *p = flat; (p = strchr(p, '\n'));)
		*p = ' ';
	fprintf(page->out, "%-9s ", key);
	render_page_wrap(page, 10, 10, flat);
	free(flat);
}

/* Where this machine's figures come from, or why there are none. */
static void say_run(const struct render_page *page, const struct published *p,
                    const struct result_run *run, const char *why_not, bool any)
{
	char *text;

	if (!any) {
		text = memory_format("no figure of this machine's: %s",
		                     why_not      ? why_not
		                     : p->why_not ? p->why_not
		                                  : "no variant of the run has one");
	} else {
		char *host = render_host_line(run->host, run->cpu);

		text = memory_format(
		        "%s; %s%s; %s%s%s%s%s", host, unit_of(p),
		        p->unit == FORMULA_BYTES ? "" : ", ±99%", *run->id ? "run " : "not kept",
		        run->id, run->trusted ? ", trusted" : ", not trusted: ",
		        run->trusted || !run->not_trusted_why ? "" : run->not_trusted_why,
		        run->cut_short ? ", cut short" : "");
		free(host);
	}
	say_lines(page, "here", text);
	free(text);
}

/* Rows that have no figure although others have: each reason once. */
static void say_missing(const struct render_page *page, const struct published *p,
                        const struct here *all)
{
	for (size_t i = 0; i < p->row_count; i++) {
		bool told = all[i].is;

		for (size_t j = 0; j < i && !told; j++)
			told = !all[j].is && strcmp(all[j].why, all[i].why) == 0;
		if (!told)
			render_page_say(page, 3, NULL, memory_format("-: %s", all[i].why));
	}
}

static void table_text(const struct published *p, const struct here *all,
                       const struct result_run *run, const char *why_not, FILE *out)
{
	struct render_page page = page_for(out);
	bool any = false;

	for (size_t i = 0; i < p->row_count; i++)
		any |= all[i].is;
	fprintf(out, "%s: ", p->name);
	render_page_wrap(&page, (int)strlen(p->name) + 2, 2, p->title);
	say_lines(&page, "source", p->source);
	say_lines(&page, "method", p->method);
	say_lines(&page, "note", p->doc);
	say_lines(&page, "context", p->context);
	say_lines(&page, "run", p->run);
	say_run(&page, p, run, why_not, any);
	fputc('\n', out);
	if (p->across >= 0)
		pivot_text(&page, p, all, any);
	else
		rows_text(&page, p, all, any);
	if (any)
		say_missing(&page, p, all);
	if (!any || !p->line_count)
		return;
	fputs("\nthis machine:\n", out);
	further_text(&page, p, run);
}

/* For programs. */

static void table_jsonl(const struct published *p, const struct here *all,
                        const struct result_run *run, FILE *out)
{
	for (size_t r = 0; r < p->row_count; r++) {
		json_t *o = json_object(), *columns = json_object();

		for (size_t i = 0; i < p->column_count; i++)
			json_object_set_new(columns, p->columns[i],
			                    render_json_text(p->rows[r].cells[i]));
		json_object_set_new(o, "kind", json_string("published"));
		json_object_set_new(o, "table", render_json_text(p->name));
		json_object_set_new(o, "columns", columns);
		json_object_set_new(o, "figure", render_json_text(p->rows[r].cells[p->value]));
		json_object_set_new(o, "unit", render_json_text(unit_of(p)));
		json_object_set_new(o, "context",
		                    render_json_text(*p->context ? p->context : NULL));
		json_object_set_new(o, "variant", render_json_text(p->rows[r].here_text));
		json_object_set_new(o, "here",
		                    all[r].is ? render_json_interval(&all[r].value) : json_null());
		json_object_set_new(o, "reason", render_json_text(all[r].why));
		json_object_set_new(o, "trusted", run ? json_boolean(run->trusted) : json_null());
		json_object_set_new(o, "run", render_json_text(run && *run->id ? run->id : NULL));
		render_json_line(out, o);
	}
}

/* One line's further figures. */
static void further_json(const struct published *p, const struct published_line *line,
                         const struct result_run *run, const char *why_not, FILE *out)
{
	json_t *o = json_object(), *columns = json_object(), *figures = json_object();

	for (size_t c = 0; c < p->column_count; c++)
		if (p->named[c])
			json_object_set_new(columns, p->columns[c],
			                    render_json_text(p->rows[line->row].cells[c]));
	if (p->each)
		json_object_set_new(columns, p->each, render_json_text(line->level));
	for (size_t c = 0; c < p->also_count; c++) {
		struct here h = further_of(p, line, c, run, why_not);
		json_t *f = json_object();

		json_object_set_new(f, "unit", json_string(formula_unit_name[p->also[c].unit]));
		json_object_set_new(f, "variant", render_json_text(line->figures[c].text));
		json_object_set_new(f, "here", h.is ? render_json_interval(&h.value) : json_null());
		json_object_set_new(f, "reason", render_json_text(h.why));
		json_object_set_new(figures, p->also[c].name, f);
		free(h.why);
	}
	json_object_set_new(o, "kind", json_string("published-also"));
	json_object_set_new(o, "table", render_json_text(p->name));
	json_object_set_new(o, "columns", columns);
	json_object_set_new(o, "figures", figures);
	json_object_set_new(o, "trusted", run ? json_boolean(run->trusted) : json_null());
	json_object_set_new(o, "run", render_json_text(run && *run->id ? run->id : NULL));
	render_json_line(out, o);
}

/* A line for each further figure: published columns that do not tell it apart are empty. */
static void further_csv(const struct published *p, const struct published_line *line,
                        const struct result_run *run, const char *why_not, FILE *out)
{
	for (size_t c = 0; c < p->also_count; c++) {
		struct here h = further_of(p, line, c, run, why_not);

		for (size_t i = 0; i < p->column_count; i++)
			render_csv_text(out, i == 0,
			                p->named[i] ? p->rows[line->row].cells[i] : "");
		if (p->each)
			render_csv_text(out, false, line->level);
		render_csv_text(out, false, p->also[c].name);
		render_csv_text(out, false, formula_unit_name[p->also[c].unit]);
		render_csv_text(out, false, line->figures[c].text);
		render_csv_number(out, false, h.value.est);
		render_csv_number(out, false, h.value.lo);
		render_csv_number(out, false, h.value.hi);
		render_csv_text(out, false, h.why);
		render_csv_text(out, false, !run ? NULL : run->trusted ? "yes" : "no");
		render_csv_text(out, false, run ? run->id : NULL);
		render_csv_end(out);
		free(h.why);
	}
}

static void table_csv(const struct published *p, const struct here *all,
                      const struct result_run *run, FILE *out)
{
	for (size_t i = 0; i < p->column_count; i++)
		render_csv_text(out, i == 0, p->columns[i]);
	if (p->each)
		render_csv_text(out, false, p->each);
	fputs(p->also_count ? ",also" : "", out);
	fputs(",unit,variant,here,lo,hi,reason,trusted,run", out);
	render_csv_end(out);
	for (size_t r = 0; r < p->row_count; r++) {
		for (size_t i = 0; i < p->column_count; i++)
			render_csv_text(out, i == 0, p->rows[r].cells[i]);
		fputs(p->each ? "," : "", out);
		fputs(p->also_count ? "," : "", out);
		render_csv_text(out, false, unit_of(p));
		render_csv_text(out, false, p->rows[r].here_text);
		render_csv_number(out, false, all[r].value.est);
		render_csv_number(out, false, all[r].value.lo);
		render_csv_number(out, false, all[r].value.hi);
		render_csv_text(out, false, all[r].why);
		render_csv_text(out, false, !run ? NULL : run->trusted ? "yes" : "no");
		render_csv_text(out, false, run ? run->id : NULL);
		render_csv_end(out);
	}
}

void render_published_table(const struct published *p, const struct result_run *run,
                            const char *why_not, enum render_format format, FILE *out)
{
	struct here *all = here_all(p, run, why_not);

	switch (format) {
	case RENDER_TEXT:
		table_text(p, all, run, why_not, out);
		break;
	case RENDER_JSONL:
		table_jsonl(p, all, run, out);
		break;
	case RENDER_CSV:
		table_csv(p, all, run, out);
		break;
	case RENDER_FORMATS:
		break;
	}
	for (size_t i = 0; i < p->line_count && format != RENDER_TEXT; i++) {
		if (!line_is_new(p, i))
			continue;
		if (format == RENDER_JSONL)
			further_json(p, &p->lines[i], run, why_not, out);
		else
			further_csv(p, &p->lines[i], run, why_not, out);
	}
	here_free(all, p->row_count);
}
