#include "claim_parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "experiment_words.h"
#include "keyfile.h"

enum { MOST_NUMBER = 9999, MOST_CONDITIONS = 100 };

const struct textfile_kind claim_parse_kind = {
        .name = "a claim",
        .content = "text",
        .most = 64 << 10,
};

enum { TITLE, NUMBER, WHO, WHEN, SOURCE, NOTE, NEEDS, RUN, HOLDS, PUBLISHED, KEYS };

const struct experiment_key claim_keys[] = {
        [TITLE] = {.name = "title",
                   .form = "TEXT",
                   .help = "The statement, in one sentence.",
                   .required = true},
        [NUMBER] = {.name = "number",
                    .form = "N",
                    .help = "Its place in the list of claims, 1 to 9999."},
        [WHO] = {.name = "who",
                 .form = "TEXT",
                 .help = "Who made the statement.",
                 .required = true},
        [WHEN] = {.name = "when",
                  .form = "TEXT",
                  .help = "When: a year, or a date.",
                  .required = true},
        [SOURCE] = {.name = "source", .form = "TEXT", .help = "Where it was published."},
        [NOTE] = {.name = "note",
                  .form = "TEXT",
                  .help = "What a reader should know, the reason for the threshold above all.",
                  .repeats = true},
        [NEEDS] = {.name = "needs",
                   .form = "WHAT TEXT",
                   .help = "In place of run and holds: what a test would need that a program "
                           "in user mode does not have (ring0), and what it would do.",
                   .repeats = false},
        [RUN] = {.name = "run",
                 .form = "EXPERIMENT [FACTOR=LEVEL,...]... [--time S] [--precision P]",
                 .help = "The run that tests it, as one would type it."},
        [HOLDS] = {.name = "holds",
                   .form = "FORMULA <|<=|>|>= NUMBER [cycles|ns|%] [| LABEL]",
                   .help = "What must hold between the run's variants; all such lines must.",
                   .repeats = true},
        [PUBLISHED] = {.name = "published",
                       .form = "CPU | FIGURE [| TEXT]",
                       .help = "A figure that was published, in its own unit, and what it is of.",
                       .repeats = true},
};
const size_t claim_key_count = KEYS;

const char *const claim_options[] = {"time", "precision", NULL};

/* A claim on its way. */
struct reading {
	struct claim *c;
	struct keyfile keys;
	struct experiment_selection selection;
	struct experiment_variants variants;
	struct experiment_words_place at;
	struct error *err;
};

#define FAIL(r, ...) experiment_words_fail(&(r)->at, (r)->err, __VA_ARGS__)

static int keep(struct reading *r, char **out, const char *text)
{
	*out = strdup(text);
	return *out ? 0 : experiment_words_no_memory(r->err);
}

/* The values of one key; there may be none. */
static int keep_lines(struct reading *r, size_t key, char **out)
{
	*out = keyfile_join(&r->keys, key);
	return *out ? 0 : experiment_words_no_memory(r->err);
}

static int read_number(struct reading *r)
{
	const struct keyfile_line *line = keyfile_find(&r->keys, NUMBER);
	if (!line)
		return 0;
	r->at.line = line->line;
	if (experiment_words_number(line->value, strlen(line->value), &r->c->number) &&
	    r->c->number >= 1 && r->c->number <= MOST_NUMBER)
		return 0;
	return FAIL(r, "number is a whole number from 1 to %d, not '%.60s'", MOST_NUMBER,
	            line->value);
}

/* "ring0 TEXT" */
static int read_needs(struct reading *r, const struct keyfile_line *line)
{
	size_t n = strcspn(line->value, " \t");
	const char *text = line->value + n + strspn(line->value + n, " \t");
	r->at.line = line->line;
	if (!*text)
		return FAIL(r, "needs %s: what is it needed for? needs %s", line->value,
		            claim_keys[NEEDS].form);
	r->c->needs = strndup(line->value, n);
	if (!r->c->needs)
		return experiment_words_no_memory(r->err);
	return keep(r, &r->c->needs_why, text);
}

/* The run. */

static int add_option(struct reading *r, const char *name, const char *value)
{
	struct claim *c = r->c;
	for (size_t i = 0; i < c->option_count; i++)
		if (!strcmp(c->options[i].name, name))
			return FAIL(r, "run: --%s is given twice", name);
	void *grown = reallocarray(c->options, c->option_count + 1, sizeof *c->options);
	if (!grown)
		return experiment_words_no_memory(r->err);
	c->options = grown;
	struct claim_option *o = &c->options[c->option_count++];
	*o = (struct claim_option){0};
	int rc = keep(r, &o->name, name);
	return rc ? rc : keep(r, &o->value, value);
}

static int read_option(struct reading *r, const char *word, const char *next)
{
	for (size_t i = 0; claim_options[i]; i++) {
		if (strcmp(word + 2, claim_options[i]) != 0)
			continue;
		return next ? add_option(r, word + 2, next)
		            : FAIL(r, "run: %s needs a value", word);
	}
	return FAIL(r, "run: a claim's run takes --time and --precision, not %s", word);
}

static int read_words(struct reading *r, const struct experiment_words_list *words)
{
	struct experiment_words_list chosen = {0};
	int rc = 0;
	for (size_t i = 1; i < words->count && !rc; i++) {
		const char *word = words->items[i];
		if (!strncmp(word, "--", 2)) {
			rc = read_option(r, word,
			                 i + 1 < words->count ? words->items[i + 1] : NULL);
			i++;
		} else {
			rc = experiment_words_add(&chosen, word, strlen(word), r->err);
		}
	}
	r->c->words = chosen.items;
	r->c->word_count = chosen.count;
	return rc;
}

/* A message of the experiment's own, with the claim's line in front of it. */
static int run_failed(struct reading *r, const struct error *why)
{
	if (why->code != ERROR_INPUT)
		return error_set(r->err, why->code, "%s", why->text);
	return FAIL(r, "run: %s", why->text);
}

static int select_variants(struct reading *r)
{
	struct claim *c = r->c;
	struct error why;
	int rc = experiment_select(c->experiment, (const char *const *)c->words, c->word_count,
	                           &r->selection, &why);
	if (!rc)
		rc = experiment_expand(c->experiment, &r->selection, &r->variants, &why);
	return rc ? run_failed(r, &why) : 0;
}

static int read_run(struct reading *r, const struct keyfile_line *line)
{
	struct experiment_words_list words = {0};
	struct error why;
	r->at.line = r->c->run_line = line->line;
	int rc = keyfile_words(line->value, &words, r->err);
	if (!rc && experiment_find(words.items[0], &r->c->experiment, &why))
		rc = run_failed(r, &why);
	if (!rc)
		rc = read_words(r, &words);
	if (!rc)
		rc = select_variants(r);
	if (!rc) {
		r->c->run = experiment_words_join(words.items, words.count, " ");
		rc = r->c->run ? 0 : experiment_words_no_memory(r->err);
	}
	experiment_words_list_free(&words);
	return rc;
}

/* Conditions. */

/* Finds the relation outside of brackets; gives what stands before (n bytes) and behind it. */
static bool find_relation(const char *text, size_t *n, enum claim_relation *relation,
                          const char **behind)
{
	bool inside = false;
	for (const char *s = text; *s; s++) {
		inside = *s == '[' || (inside && *s != ']');
		if (inside || (*s != '<' && *s != '>'))
			continue;
		bool equal = s[1] == '=';
		*relation = *s == '<' ? (equal ? CLAIM_AT_MOST : CLAIM_LESS)
		                      : (equal ? CLAIM_AT_LEAST : CLAIM_MORE);
		*n = (size_t)(s - text);
		*behind = s + 1 + equal;
		return true;
	}
	return false;
}

/* "-0.5 cycles", "5%", "2". The unit that the number does not name is that of the formula. */
static int read_threshold(struct reading *r, const char *s, struct claim_condition *out)
{
	char *end;
	s += strspn(s, " \t");
	const char *digits = s + (*s == '-' || *s == '+');
	errno = 0;
	out->threshold = strtod(s, &end);
	if (!isdigit((unsigned char)*digits) || end == s || errno || !isfinite(out->threshold) ||
	    strcspn(digits, "xX") < (size_t)(end - digits))
		return FAIL(r, "holds: '%.60s' is no threshold: NUMBER, and cycles, ns or %%", s);
	const char *unit = end + strspn(end, " \t");
	if (!*unit) {
		out->unit = out->formula.degree ? CLAIM_CYCLES : CLAIM_RATIO;
		return 0;
	}
	for (int i = 0; i < CLAIM_UNITS; i++) {
		if (strcmp(claim_unit_name[i], unit) != 0)
			continue;
		out->unit = (enum claim_unit)i;
		if ((out->unit == CLAIM_PERCENT) != (out->formula.degree == 0))
			return FAIL(r, "holds: '%s' is a %s: a threshold in %s does not fit",
			            out->formula.text, out->formula.degree ? "cost" : "ratio",
			            *unit == '%' ? "percent" : unit);
		return 0;
	}
	return FAIL(r, "holds: '%.60s' is no unit of a threshold: cycles, ns or %%", unit);
}

static int write_wanted(struct reading *r, struct claim_condition *c)
{
	const char *unit = claim_unit_name[c->unit];
	if (asprintf(&c->wanted, "%s %g%s%s", claim_relation_sign[c->relation], c->threshold,
	             *unit && *unit != '%' ? " " : "", unit) < 0) {
		c->wanted = NULL;
		return experiment_words_no_memory(r->err);
	}
	return 0;
}

static int fill_condition(struct reading *r, const char *text, const char *label,
                          struct claim_condition *out)
{
	const char *behind;
	size_t n;
	int rc = keep(r, &out->text, text);
	if (!rc)
		rc = keep(r, &out->label, label);
	if (rc)
		return rc;
	const char *bracket = strrchr(text, '[');
	if (bracket && !strchr(bracket, ']'))
		return FAIL(r, "holds: '%.40s': the bracket is never closed", bracket);
	if (!find_relation(text, &n, &out->relation, &behind))
		return FAIL(r, "holds: nothing is compared: holds %s", claim_keys[HOLDS].form);
	while (n && isblank((unsigned char)text[n - 1]))
		n--;
	char *left = strndup(text, n);
	rc = left ? formula_parse(left, r->c->experiment, &r->variants, &r->at, &out->formula,
	                          r->err)
	          : experiment_words_no_memory(r->err);
	free(left);
	if (!rc)
		rc = read_threshold(r, behind, out);
	return rc ? rc : write_wanted(r, out);
}

static int add_condition(struct reading *r, const struct keyfile_line *line)
{
	struct claim *c = r->c;
	struct experiment_words_list parts = {0};
	r->at.line = line->line;
	if (c->condition_count == MOST_CONDITIONS)
		return FAIL(r, "a claim has at most %d lines of holds", MOST_CONDITIONS);
	void *grown = reallocarray(c->conditions, c->condition_count + 1, sizeof *c->conditions);
	if (!grown)
		return experiment_words_no_memory(r->err);
	c->conditions = grown;
	struct claim_condition *added = &c->conditions[c->condition_count++];
	*added = (struct claim_condition){.line = line->line};
	int rc = keyfile_parts(line->value, 2, &parts, r->err);
	if (!rc)
		rc = fill_condition(r, parts.items[0], parts.count > 1 ? parts.items[1] : "",
		                    added);
	experiment_words_list_free(&parts);
	return rc;
}

static int add_figure(struct reading *r, const struct keyfile_line *line)
{
	struct claim *c = r->c;
	struct experiment_words_list parts = {0};
	r->at.line = line->line;
	int rc = keyfile_parts(line->value, 3, &parts, r->err);
	if (!rc && (parts.count < 2 || !*parts.items[0] || !*parts.items[1]))
		rc = FAIL(r, "published: %s", claim_keys[PUBLISHED].form);
	void *grown = rc ? NULL : reallocarray(c->figures, c->figure_count + 1, sizeof *c->figures);
	if (!rc && !grown)
		rc = experiment_words_no_memory(r->err);
	if (!rc) {
		c->figures = grown;
		struct claim_figure *f = &c->figures[c->figure_count++];
		*f = (struct claim_figure){0};
		rc = keep(r, &f->cpu, parts.items[0]);
		if (!rc)
			rc = keep(r, &f->figure, parts.items[1]);
		if (!rc)
			rc = keep(r, &f->text, parts.count > 2 ? parts.items[2] : "");
	}
	experiment_words_list_free(&parts);
	return rc;
}

/* A claim has a run and what must hold of it, or says why it has none. */
static int read_test(struct reading *r)
{
	const struct keyfile_line *run = keyfile_find(&r->keys, RUN);
	const struct keyfile_line *needs = keyfile_find(&r->keys, NEEDS);
	const struct keyfile_line *holds = keyfile_find(&r->keys, HOLDS);
	int rc = 0;
	r->at.line = needs ? needs->line : run ? run->line : holds ? holds->line : r->keys.last;
	if (needs && (run || holds))
		return FAIL(r, "needs stands in place of run and holds, not beside them");
	if (needs)
		return read_needs(r, needs);
	if (!run)
		return FAIL(r, "there is no run: add a line 'run %s'", claim_keys[RUN].form);
	if (!holds)
		return FAIL(
		        r,
		        "there is a run, and nothing that must hold of it: add a line 'holds %s'",
		        claim_keys[HOLDS].form);
	rc = read_run(r, run);
	for (size_t i = 0; i < r->keys.count && !rc; i++)
		if (r->keys.lines[i].key == HOLDS)
			rc = add_condition(r, &r->keys.lines[i]);
	return rc;
}

static int read_all(struct reading *r)
{
	struct claim *c = r->c;
	int rc = keep_lines(r, TITLE, &c->title);
	if (!rc)
		rc = keep_lines(r, WHO, &c->who);
	if (!rc)
		rc = keep_lines(r, WHEN, &c->when);
	if (!rc)
		rc = keep_lines(r, SOURCE, &c->source);
	if (!rc)
		rc = keep_lines(r, NOTE, &c->doc);
	if (!rc)
		rc = read_number(r);
	if (!rc)
		rc = read_test(r);
	for (size_t i = 0; i < r->keys.count && !rc; i++)
		if (r->keys.lines[i].key == PUBLISHED)
			rc = add_figure(r, &r->keys.lines[i]);
	return rc;
}

int claim_parse(const char *name, const char *path, const char *text, size_t size,
                struct claim **out, struct error *err)
{
	struct reading r = {.at = {path, 1}, .err = err};
	char *kept = NULL;
	size_t kept_size;
	*out = NULL;
	int rc = textfile_keep(path, &claim_parse_kind, text, size, &kept, &kept_size, err);
	if (!rc)
		rc = keyfile_read(path, kept, "", claim_keys, claim_key_count, &r.keys, err);
	r.c = rc ? NULL : calloc(1, sizeof *r.c);
	if (!rc)
		rc = r.c ? 0 : experiment_words_no_memory(err);
	if (!rc)
		rc = keep(&r, &r.c->name, name);
	if (!rc)
		rc = keep(&r, &r.c->path, path);
	if (!rc)
		rc = read_all(&r);
	if (r.c && r.c->experiment)
		experiment_selection_free(r.c->experiment, &r.selection);
	experiment_variants_free(&r.variants);
	keyfile_free(&r.keys);
	free(kept);
	if (rc)
		claim_free(r.c);
	else
		*out = r.c;
	return rc;
}
