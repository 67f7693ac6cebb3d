#include "published_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment_words.h"
#include "keyfile.h"
#include "published.h"

enum { MOST_COLUMNS = 64, MOST_ROWS = 10000, MOST_ALSO = 32, MOST_LINES = 10000 };

const struct textfile_kind published_parse_kind = {
        .name = "a published table",
        .content = "text",
        .most = 1 << 20,
};

enum {
	TITLE,
	SOURCE,
	METHOD,
	NOTE,
	CONTEXT,
	MACHINE,
	VALUE,
	ACROSS,
	RUN,
	HERE,
	EACH,
	ALSO,
	NEEDS,
	KEYS
};

const struct experiment_key published_keys[] = {
        [TITLE] = {.name = "title",
                   .form = "TEXT",
                   .help = "What the figures are, in one line.",
                   .required = true},
        [SOURCE] = {.name = "source",
                    .form = "TEXT",
                    .help = "Who published them, when and where.",
                    .required = true},
        [METHOD] = {.name = "method",
                    .form = "TEXT",
                    .help = "How they were measured.",
                    .repeats = true},
        [NOTE] = {.name = "note",
                  .form = "TEXT",
                  .help = "What a reader should know.",
                  .repeats = true},
        [CONTEXT] = {.name = "context",
                     .form = "TEXT",
                     .help = "Why the figures cannot be measured again by a program, and what "
                             "this machine's beside them are."},
        [MACHINE] = {.name = "machine",
                     .form = "COLUMN...",
                     .help = "The columns that tell on what machine a figure was measured."},
        [VALUE] = {.name = "value",
                   .form = "COLUMN [cycles|ns|seconds|bytes]",
                   .help = "The column of the figures, and what this machine's are counted in; "
                           "without a run the rows may tell their own units.",
                   .required = true},
        [ACROSS] = {.name = "across",
                    .form = "COLUMN",
                    .help = "The column whose values stand side by side in the table that "
                            "people read."},
        [RUN] = {.name = "run",
                 .form = "EXPERIMENT [FACTOR=LEVEL,...]...",
                 .help = "The run that measures this machine's figures."},
        [HERE] = {.name = "here",
                  .form = "[COLUMN=VALUE,...]... | FORMULA",
                  .help = "What of the run stands beside the rows for which that holds; {COLUMN} "
                          "is the row's own text.",
                  .repeats = true},
        [EACH] = {.name = "each",
                  .form = "FACTOR",
                  .help = "The factor of the run for each of whose levels there are further "
                          "figures."},
        [ALSO] = {.name = "also",
                  .form = "NAME cycles|ns|seconds|bytes [COLUMN=VALUE,...]... | FORMULA",
                  .help = "A column of further figures of this machine's, in a table of their "
                          "own; {FACTOR} is the level of each.",
                  .repeats = true},
        [NEEDS] = {.name = "needs",
                   .form = "WHAT TEXT",
                   .help = "In place of run and here: what measuring them needs that a program "
                           "in user mode does not have."},
};
const size_t published_key_count = KEYS;

/* A table on its way. */
struct reading {
	struct published *p;
	const char *text;
	struct keyfile keys;
	struct experiment_selection selection;
	struct experiment_variants variants;
	struct experiment_words_place at;
	const char *key;   /* of the line that is read, for messages */
	const char *level; /* what {FACTOR} is; NULL: it is not replaced */
	bool *named;       /* columns that were put into a formula are noted here; NULL: nowhere */
	struct error *err;
};

#define FAIL(r, ...) experiment_words_fail(&(r)->at, (r)->err, __VA_ARGS__)

static int keep(struct reading *r, char **out, const char *text)
{
	*out = strdup(text);
	return *out ? 0 : experiment_words_no_memory(r->err);
}

static int keep_lines(struct reading *r, size_t key, char **out)
{
	*out = keyfile_join(&r->keys, key);
	return *out ? 0 : experiment_words_no_memory(r->err);
}

/* The rows. */

/* Cuts a line of n bytes at tabs. */
static int cut(struct reading *r, const char *s, size_t n, struct experiment_words_list *out)
{
	int rc = 0;
	for (const char *end = s + n; !rc; s++) {
		size_t cell = 0;
		while (s + cell < end && s[cell] != '\t')
			cell++;
		rc = experiment_words_add(out, s, cell, r->err);
		s += cell;
		if (s == end)
			break;
	}
	return rc;
}

static int check_columns(struct reading *r)
{
	struct published *p = r->p;
	if (p->column_count > MOST_COLUMNS)
		return FAIL(r, "%zu columns; a table has at most %d", p->column_count,
		            MOST_COLUMNS);
	for (size_t i = 0; i < p->column_count; i++) {
		if (!experiment_words_is_name(p->columns[i]))
			return FAIL(
			        r,
			        "'%.60s' is no name of a column: letters, digits and underscores",
			        p->columns[i]);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(p->columns[i], p->columns[j]))
				return FAIL(r, "the column %s stands twice", p->columns[i]);
	}
	return 0;
}

static int add_row(struct reading *r, struct experiment_words_list *cells)
{
	struct published *p = r->p;
	if (cells->count != p->column_count)
		return FAIL(r, "%zu fields, and %zu columns: fields are separated by tabs",
		            cells->count, p->column_count);
	if (p->row_count == MOST_ROWS)
		return FAIL(r, "more than %d rows", MOST_ROWS);
	/* room doubles whenever the count is a power of two */
	if (!(p->row_count & (p->row_count - 1))) {
		size_t room = p->row_count ? p->row_count * 2 : 1;
		void *grown = reallocarray(p->rows, room, sizeof *p->rows);
		if (!grown)
			return experiment_words_no_memory(r->err);
		p->rows = grown;
	}
	p->rows[p->row_count++] = (struct published_row){.cells = cells->items, .line = r->at.line};
	*cells = (struct experiment_words_list){0};
	return 0;
}

static int read_line(struct reading *r, const char *s, size_t n)
{
	struct experiment_words_list cells = {0};
	int rc = cut(r, s, n, &cells);
	if (!rc && !r->p->columns) {
		r->p->columns = cells.items;
		r->p->column_count = cells.count;
		return check_columns(r);
	}
	if (!rc)
		rc = add_row(r, &cells);
	experiment_words_list_free(&cells);
	return rc;
}

static int read_rows(struct reading *r)
{
	int rc = 0;
	r->at.line = 0;
	for (const char *s = r->text; *s && !rc;) {
		size_t n = strcspn(s, "\n");
		r->at.line++;
		if (n && *s != '#')
			rc = read_line(r, s, n);
		s += n + (s[n] == '\n');
	}
	if (!rc && !r->p->row_count)
		rc = FAIL(r, "there are no rows: a line of columns, then rows, separated by tabs");
	return rc;
}

/* The header. */

static int find_column(struct reading *r, const char *name, size_t *column)
{
	struct published *p = r->p;
	char hint[128];
	for (*column = 0; *column < p->column_count; ++*column)
		if (!strcmp(p->columns[*column], name))
			return 0;
	experiment_words_hint(hint, sizeof hint, name, (const char *const *)p->columns,
	                      p->column_count);
	char *all = experiment_words_join(p->columns, p->column_count, " ");
	if (!all)
		return experiment_words_no_memory(r->err);
	int rc = FAIL(r, "the table has no column '%.60s'%s (%s)", name, hint, all);
	free(all);
	return rc;
}

static int read_value(struct reading *r)
{
	const struct keyfile_line *line = keyfile_find(&r->keys, VALUE);
	struct experiment_words_list words = {0};
	r->at.line = line->line;
	int rc = keyfile_words(line->value, &words, r->err), unit = 0;
	bool own = words.count == 1 && keyfile_find(&r->keys, NEEDS);
	if (!rc && words.count != 2 && !own)
		rc = FAIL(r, "value: %s", published_keys[VALUE].form);
	if (!rc)
		rc = find_column(r, words.items[0], &r->p->value);
	while (!rc && !own && unit < FORMULA_UNITS &&
	       strcmp(formula_unit_name[unit], words.items[1]) != 0)
		unit++;
	if (!rc && !own && unit == FORMULA_UNITS)
		rc = FAIL(r, "value: '%.60s' is no unit: cycles, ns, seconds or bytes",
		          words.items[1]);
	r->p->unit = own ? FORMULA_UNITS : (enum formula_unit)unit;
	experiment_words_list_free(&words);
	return rc;
}

static int read_machine(struct reading *r)
{
	const struct keyfile_line *line = keyfile_find(&r->keys, MACHINE);
	struct experiment_words_list words = {0};
	r->p->machine = calloc(r->p->column_count, sizeof *r->p->machine);
	if (!r->p->machine)
		return experiment_words_no_memory(r->err);
	if (!line)
		return 0;
	r->at.line = line->line;
	int rc = keyfile_words(line->value, &words, r->err);
	for (size_t i = 0, column; i < words.count && !rc; i++) {
		rc = find_column(r, words.items[i], &column);
		if (!rc)
			r->p->machine[column] = true;
	}
	experiment_words_list_free(&words);
	return rc;
}

static int read_across(struct reading *r)
{
	const struct keyfile_line *line = keyfile_find(&r->keys, ACROSS);
	size_t column = 0;
	r->p->across = -1;
	if (!line)
		return 0;
	r->at.line = line->line;
	int rc = find_column(r, line->value, &column);
	if (!rc && column == r->p->value)
		rc = FAIL(r, "across: %s is the column of the figures", line->value);
	r->p->across = (long)column;
	return rc;
}

static int read_needs(struct reading *r, const struct keyfile_line *line)
{
	size_t n = strcspn(line->value, " \t");
	const char *text = line->value + n + strspn(line->value + n, " \t");
	r->at.line = line->line;
	if (!*text)
		return FAIL(r, "needs %s: what is it needed for? needs %s", line->value,
		            published_keys[NEEDS].form);
	r->p->needs = strndup(line->value, n);
	if (!r->p->needs)
		return experiment_words_no_memory(r->err);
	int rc = keep(r, &r->p->needs_why, text);
	return rc ? rc : keep(r, &r->p->why_not, text);
}

/* The run. */

static int run_failed(struct reading *r, const struct error *why)
{
	if (why->code != ERROR_INPUT)
		return error_set(r->err, why->code, "%s", why->text);
	return FAIL(r, "run: %s", why->text);
}

static int select_variants(struct reading *r)
{
	struct published *p = r->p;
	struct error why;
	int rc = experiment_select(p->experiment, (const char *const *)p->words, p->word_count,
	                           &r->selection, &why);
	if (!rc)
		rc = experiment_expand(p->experiment, &r->selection, &r->variants, &why);
	return rc ? run_failed(r, &why) : 0;
}

/* A table may come with another set of experiments than ours: that there is none of that name hides
 * no figure. */
static int find_experiment(struct reading *r, const char *name)
{
	struct error why;
	if (experiment_exists(name)) {
		int rc = experiment_find(name, &r->p->experiment, &why);
		return rc ? run_failed(r, &why) : select_variants(r);
	}
	if (asprintf(&r->p->why_not, "there is no experiment %s here", name) < 0) {
		r->p->why_not = NULL;
		return experiment_words_no_memory(r->err);
	}
	return 0;
}

static int read_run(struct reading *r, const struct keyfile_line *line)
{
	struct published *p = r->p;
	struct experiment_words_list words = {0}, chosen = {0};
	r->at.line = line->line;
	int rc = keyfile_words(line->value, &words, r->err);
	for (size_t i = 1; i < words.count && !rc; i++)
		rc = experiment_words_add(&chosen, words.items[i], strlen(words.items[i]), r->err);
	p->words = chosen.items;
	p->word_count = chosen.count;
	p->run = rc ? NULL : experiment_words_join(words.items, words.count, " ");
	if (!rc && !p->run)
		rc = experiment_words_no_memory(r->err);
	if (!rc)
		rc = find_experiment(r, words.items[0]);
	experiment_words_list_free(&words);
	return rc;
}

/* What stands beside a row. */

/* "COLUMN=VALUE,VALUE" holds for a row. */
static int term_holds(struct reading *r, const struct published_row *row, const char *term,
                      bool *holds)
{
	const char *equals = strchr(term, '=');
	size_t column;
	if (!equals || equals == term || !equals[1])
		return FAIL(r, "%s: '%.60s' is not COLUMN=VALUE", r->key, term);
	char *name = strndup(term, (size_t)(equals - term));
	int rc = name ? find_column(r, name, &column) : experiment_words_no_memory(r->err);
	free(name);
	if (rc)
		return rc;
	*holds = false;
	for (const char *s = equals + 1;; s++) {
		size_t n = strcspn(s, ",");
		*holds |= strlen(row->cells[column]) == n && !memcmp(row->cells[column], s, n);
		s += n;
		if (!*s)
			return 0;
	}
}

static int condition_holds(struct reading *r, const struct published_row *row,
                           const char *condition, bool *holds)
{
	struct experiment_words_list terms = {0};
	int rc = keyfile_words(condition, &terms, r->err);
	*holds = true;
	for (size_t i = 0; i < terms.count && !rc && *holds; i++)
		rc = term_holds(r, row, terms.items[i], holds);
	experiment_words_list_free(&terms);
	return rc;
}

/* What stands for {name}. */
static int find_text(struct reading *r, const struct published_row *row, const char *name,
                     const char **text)
{
	size_t column;
	if (r->level && !strcmp(name, r->p->each)) {
		*text = r->level;
		return 0;
	}
	int rc = find_column(r, name, &column);
	if (rc)
		return rc;
	*text = row->cells[column];
	if (r->named)
		r->named[column] = true;
	return 0;
}

/* Puts the row's texts in place of {COLUMN}. *out is malloc'ed. */
static int fill_in(struct reading *r, const struct published_row *row, const char *form, char **out)
{
	struct experiment_words_list parts = {0};
	const char *text = "";
	int rc = 0;
	for (const char *s = form; *s && !rc;) {
		size_t n = strcspn(s, "{");
		rc = experiment_words_add(&parts, s, n, r->err);
		s += n;
		if (rc || !*s)
			break;
		const char *end = strchr(s, '}');
		char *name = strndup(s + 1, end ? (size_t)(end - s - 1) : 0);
		if (!end)
			rc = FAIL(r, "%s: '%.40s': the brace is never closed", r->key, s);
		else
			rc = name ? find_text(r, row, name, &text)
			          : experiment_words_no_memory(r->err);
		if (!rc)
			rc = experiment_words_add(&parts, text, strlen(text), r->err);
		free(name);
		s = end ? end + 1 : s;
	}
	*out = rc ? NULL : experiment_words_join(parts.items, parts.count, "");
	experiment_words_list_free(&parts);
	return rc || *out ? rc : experiment_words_no_memory(r->err);
}

/* A cost of the run's variants. Only with an experiment. */
static int read_cost(struct reading *r, const char *text, enum formula_unit unit,
                     struct formula *out)
{
	int rc = formula_parse(text, r->p->experiment, &r->variants, &r->at, out, r->err);
	if (!rc && out->degree != 1)
		rc = FAIL(r, "%s: '%s' is a ratio, and no figure in %s", r->key, text,
		          formula_unit_name[unit]);
	return rc;
}

static int read_formula(struct reading *r, struct published_row *row, const char *form)
{
	int rc = fill_in(r, row, form, &row->here_text);
	if (rc || !r->p->experiment)
		return rc;
	rc = read_cost(r, row->here_text, r->p->unit, &row->here);
	row->has_here = !rc;
	return rc;
}

/* One "here" line, for all rows that it fits and no line before it did. */
static int read_here(struct reading *r, const struct keyfile_line *line)
{
	struct experiment_words_list parts = {0};
	size_t fits = 0;
	r->at.line = line->line;
	r->key = "here";
	int rc = keyfile_parts(line->value, 2, &parts, r->err);
	if (!rc && (parts.count < 2 || !*parts.items[1]))
		rc = FAIL(r, "here: %s", published_keys[HERE].form);
	for (size_t i = 0; i < r->p->row_count && !rc; i++) {
		bool holds;
		rc = condition_holds(r, &r->p->rows[i], parts.items[0], &holds);
		if (rc || !holds)
			continue;
		fits++;
		if (!r->p->rows[i].here_text)
			rc = read_formula(r, &r->p->rows[i], parts.items[1]);
	}
	if (!rc && !fits)
		rc = FAIL(r, "here: no row of the table is %s", parts.items[0]);
	experiment_words_list_free(&parts);
	return rc;
}

/* Further figures. */

static int add_line(struct reading *r, size_t row, const char *level)
{
	struct published *p = r->p;
	if (p->line_count == MOST_LINES)
		return FAIL(r, "more than %d lines of further figures", MOST_LINES);
	void *grown = reallocarray(p->lines, p->line_count + 1, sizeof *p->lines);
	if (!grown)
		return experiment_words_no_memory(r->err);
	p->lines = grown;
	struct published_line *line = &p->lines[p->line_count++];
	*line = (struct published_line){.row = row};
	line->figures = calloc(MOST_ALSO, sizeof *line->figures);
	if (!line->figures)
		return experiment_words_no_memory(r->err);
	return level ? keep(r, &line->level, level) : 0;
}

static int add_lines(struct reading *r, const char *level)
{
	int rc = 0;
	for (size_t i = 0; i < r->p->row_count && !rc; i++)
		rc = add_line(r, i, level);
	return rc;
}

/* Whether the run's variants before i have that level of a factor. */
static bool seen_before(const struct reading *r, size_t factor, size_t i)
{
	const char *level = r->variants.items[i].levels[factor];
	for (size_t j = 0; j < i; j++)
		if (!strcmp(r->variants.items[j].levels[factor], level))
			return true;
	return false;
}

/* A line for each row and each level that the run has of the factor, levels in the run's order. */
static int read_each(struct reading *r, const struct keyfile_line *line)
{
	const struct experiment *x = r->p->experiment;
	size_t factor = 0;
	int rc = keep(r, &r->p->each, line->value);
	for (size_t i = 0; i < r->p->column_count; i++)
		if (!rc && !strcmp(r->p->columns[i], line->value))
			return FAIL(r, "each: the table has a column %s too: {%s} could be either",
			            line->value, line->value);
	while (x && factor < x->factor_count && strcmp(x->factors[factor].name, line->value) != 0)
		factor++;
	if (x && !rc && factor == x->factor_count)
		return FAIL(r, "each: %s has no factor '%.60s'", x->name, line->value);
	for (size_t i = 0; x && i < r->variants.count && !rc; i++)
		if (!seen_before(r, factor, i))
			rc = add_lines(r, r->variants.items[i].levels[factor]);
	return rc;
}

/* The column of that name, a new one if there is none. */
static int find_also(struct reading *r, const char *name, enum formula_unit unit, size_t *column)
{
	struct published *p = r->p;
	for (*column = 0; *column < p->also_count; ++*column) {
		if (strcmp(p->also[*column].name, name) != 0)
			continue;
		if (p->also[*column].unit != unit)
			return FAIL(r, "also: %s is counted in %s in a line before", name,
			            formula_unit_name[p->also[*column].unit]);
		return 0;
	}
	if (!experiment_words_is_name(name))
		return FAIL(r,
		            "also: '%.60s' is no name of a column: letters, digits and underscores",
		            name);
	if (p->also_count == MOST_ALSO)
		return FAIL(r, "more than %d columns of further figures", MOST_ALSO);
	void *grown = reallocarray(p->also, p->also_count + 1, sizeof *p->also);
	if (!grown)
		return experiment_words_no_memory(r->err);
	p->also = grown;
	p->also[p->also_count++] = (struct published_also){.unit = unit};
	return keep(r, &p->also[p->also_count - 1].name, name);
}

static int read_figure(struct reading *r, struct published_line *line, size_t column,
                       const char *condition, const char *form, size_t *fits)
{
	struct published_figure *f = &line->figures[column];
	const struct published_row *row = &r->p->rows[line->row];
	bool holds;
	r->level = line->level;
	int rc = condition_holds(r, row, condition, &holds);
	if (rc || !holds)
		return rc;
	++*fits;
	if (f->text)
		return 0;
	rc = fill_in(r, row, form, &f->text);
	return rc ? rc : read_cost(r, f->text, r->p->also[column].unit, &f->formula);
}

/* "NAME UNIT [COLUMN=VALUE,...]... | FORMULA" */
static int read_also(struct reading *r, const struct keyfile_line *line)
{
	struct experiment_words_list parts = {0}, words = {0};
	size_t column = 0, fits = 0;
	int unit = 0;
	char *condition = NULL;
	r->key = "also";
	int rc = keyfile_parts(line->value, 2, &parts, r->err);
	if (!rc)
		rc = keyfile_words(parts.items[0], &words, r->err);
	if (!rc && (parts.count < 2 || !*parts.items[1] || words.count < 2))
		rc = FAIL(r, "also: %s", published_keys[ALSO].form);
	while (!rc && unit < FORMULA_UNITS && strcmp(formula_unit_name[unit], words.items[1]) != 0)
		unit++;
	if (!rc && unit == FORMULA_UNITS)
		rc = FAIL(r, "also: '%.60s' is no unit: cycles, ns, seconds or bytes",
		          words.items[1]);
	if (!rc)
		rc = find_also(r, words.items[0], (enum formula_unit)unit, &column);
	if (!rc) {
		condition = experiment_words_join(words.items + 2, words.count - 2, " ");
		rc = condition ? 0 : experiment_words_no_memory(r->err);
	}
	for (size_t i = 0; i < r->p->line_count && !rc; i++)
		rc = read_figure(r, &r->p->lines[i], column, condition, parts.items[1], &fits);
	if (!rc && r->p->line_count && !fits)
		rc = FAIL(r, "also: no row of the table is %s", condition);
	free(condition);
	experiment_words_list_free(&parts);
	experiment_words_list_free(&words);
	return rc;
}

static int read_further(struct reading *r)
{
	const struct keyfile_line *each = keyfile_find(&r->keys, EACH);
	const struct keyfile_line *also = keyfile_find(&r->keys, ALSO);
	int rc = 0;
	r->p->named = r->named = calloc(r->p->column_count, sizeof *r->named);
	if (!r->named)
		return experiment_words_no_memory(r->err);
	r->at.line = each ? each->line : 0;
	if (each && !also)
		return FAIL(r, "each goes with also: '#: also %s'", published_keys[ALSO].form);
	if (each)
		rc = read_each(r, each);
	else if (also && r->p->experiment)
		rc = add_lines(r, NULL);
	for (size_t i = 0; i < r->keys.count && !rc; i++) {
		r->at.line = r->keys.lines[i].line;
		if (r->keys.lines[i].key == ALSO)
			rc = read_also(r, &r->keys.lines[i]);
	}
	return rc;
}

static int read_test(struct reading *r)
{
	const struct keyfile_line *run = keyfile_find(&r->keys, RUN);
	const struct keyfile_line *needs = keyfile_find(&r->keys, NEEDS);
	const struct keyfile_line *here = keyfile_find(&r->keys, HERE);
	const struct keyfile_line *each = keyfile_find(&r->keys, EACH);
	const struct keyfile_line *also = keyfile_find(&r->keys, ALSO);
	r->at.line = needs ? needs->line : run ? run->line : here ? here->line : r->keys.last;
	if (needs && (run || here || each || also))
		return FAIL(r,
		            "needs stands in place of run, here, each and also, not beside them");
	if (needs)
		return read_needs(r, needs);
	if (!run)
		return FAIL(r, "there is no run: add a line '#: run %s', or needs",
		            published_keys[RUN].form);
	if (!here)
		return FAIL(r,
		            "there is a run, and no line says what of it stands beside a row: add "
		            "'#: here %s'",
		            published_keys[HERE].form);
	int rc = read_run(r, run);
	for (size_t i = 0; i < r->keys.count && !rc; i++)
		if (r->keys.lines[i].key == HERE)
			rc = read_here(r, &r->keys.lines[i]);
	return rc ? rc : read_further(r);
}

static int read_all(struct reading *r)
{
	static const struct {
		size_t key, at;
	} texts[] = {
	        {TITLE, offsetof(struct published, title)},
	        {SOURCE, offsetof(struct published, source)},
	        {METHOD, offsetof(struct published, method)},
	        {NOTE, offsetof(struct published, doc)},
	        {CONTEXT, offsetof(struct published, context)},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !rc; i++)
		rc = keep_lines(r, texts[i].key, (char **)((char *)r->p + texts[i].at));
	if (!rc)
		rc = read_rows(r);
	if (!rc)
		rc = read_value(r);
	if (!rc)
		rc = read_machine(r);
	if (!rc)
		rc = read_across(r);
	return rc ? rc : read_test(r);
}

int published_parse(const char *name, const char *path, const char *text, size_t size,
                    struct published **out, struct error *err)
{
	struct reading r = {.at = {path, 1}, .err = err};
	char *kept = NULL;
	size_t kept_size;
	*out = NULL;
	int rc = textfile_keep(path, &published_parse_kind, text, size, &kept, &kept_size, err);
	if (!rc)
		rc = keyfile_read(path, kept, "#:", published_keys, published_key_count, &r.keys,
		                  err);
	r.text = kept;
	r.p = rc ? NULL : calloc(1, sizeof *r.p);
	if (!rc)
		rc = r.p ? 0 : experiment_words_no_memory(err);
	if (!rc)
		rc = keep(&r, &r.p->name, name);
	if (!rc)
		rc = keep(&r, &r.p->path, path);
	if (!rc)
		rc = read_all(&r);
	if (r.p && r.p->experiment)
		experiment_selection_free(r.p->experiment, &r.selection);
	experiment_variants_free(&r.variants);
	keyfile_free(&r.keys);
	free(kept);
	if (rc)
		published_free(r.p);
	else
		*out = r.p;
	return rc;
}
