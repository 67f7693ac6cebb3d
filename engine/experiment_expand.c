#include "experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment_words.h"

/* Combinations looked at, excluded ones included: far more than could be run, far less than takes
 * time. */
enum { MAX_COMBINATIONS = 2000000 };

/* Selection. */

void experiment_selection_free(const struct experiment *x, struct experiment_selection *s)
{
	(void)x;
	for (size_t f = 0; s->levels && f < s->factor_count; f++) {
		struct experiment_words_list levels = {s->levels[f], s->counts[f]};
		experiment_words_list_free(&levels);
	}
	free(s->levels);
	free(s->counts);
	free(s->named);
	free(s->every);
	*s = (struct experiment_selection){0};
}

static int selection_make(const struct experiment *x, struct experiment_selection *s,
                          struct error *err)
{
	*s = (struct experiment_selection){0};
	s->levels = calloc(x->factor_count, sizeof *s->levels);
	s->counts = calloc(x->factor_count, sizeof *s->counts);
	s->named = calloc(x->factor_count, sizeof *s->named);
	s->every = calloc(x->factor_count, sizeof *s->every);
	if (!s->levels || !s->counts || !s->named || !s->every)
		return experiment_words_no_memory(err);
	s->factor_count = x->factor_count;
	return 0;
}

static int select_word(const struct experiment *x, const char *word, struct experiment_selection *s,
                       struct error *err)
{
	struct experiment_words_place at = {x->name, 0};
	struct experiment_words_list levels;
	size_t f;
	bool negated;
	const char *value;
	int rc = experiment_words_term(x, &at, word, &f, &negated, &value, err);
	if (rc)
		return rc;
	if (negated)
		return error_set(
		        err, ERROR_INPUT,
		        "%s: '!=' is for conditions in files: name the levels, %s=LEVEL,LEVEL",
		        x->name, x->factors[f].name);
	if (s->named[f])
		return error_set(err, ERROR_INPUT, "%s: %s is named twice: write %s=LEVEL,LEVEL",
		                 x->name, x->factors[f].name, x->factors[f].name);
	rc = experiment_words_levels(&x->factors[f], &at, value, &levels, err);
	if (rc)
		return rc;
	s->named[f] = true;
	s->every[f] = !strcmp(value, "all");
	s->levels[f] = levels.items;
	s->counts[f] = levels.count;
	return 0;
}

static int select_defaults(const struct experiment_factor *f, char ***items, size_t *count,
                           struct error *err)
{
	struct experiment_words_list levels = {0};
	int rc = 0;
	for (size_t i = 0; i < f->default_count && !rc; i++)
		rc = experiment_words_add(&levels, f->defaults[i], strlen(f->defaults[i]), err);
	*items = levels.items;
	*count = levels.count;
	return rc;
}

int experiment_select(const struct experiment *x, const char *const *words, size_t n,
                      struct experiment_selection *out, struct error *err)
{
	int rc = selection_make(x, out, err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = select_word(x, words[i], out, err);
	for (size_t f = 0; f < x->factor_count && !rc; f++)
		if (!out->named[f])
			rc = select_defaults(&x->factors[f], &out->levels[f], &out->counts[f], err);
	if (rc)
		experiment_selection_free(x, out);
	return rc;
}

/* Conditions. */

static bool part_holds(const struct experiment_factor *f, const char *part, const char *level)
{
	long lo, hi, number;
	if (!f->range || !experiment_words_range(part, &lo, &hi))
		return !strcmp(part, level);
	return experiment_words_number(level, strlen(level), &number) && number >= lo &&
	       number <= hi;
}

static bool term_holds(const struct experiment *x, const struct experiment_term *t,
                       const char *level)
{
	for (size_t i = 0; i < t->level_count; i++)
		if (part_holds(&x->factors[t->factor], t->levels[i], level))
			return true;
	return false;
}

bool experiment_condition_holds(const struct experiment *x, const struct experiment_condition *c,
                                char *const *levels)
{
	for (size_t i = 0; i < c->term_count; i++)
		if (!term_holds(x, &c->terms[i], levels[c->terms[i].factor]))
			return false;
	return true;
}

const struct experiment_setting *experiment_setting_for(const struct experiment *x,
                                                        const struct experiment_setting *list,
                                                        size_t n, char *const *levels)
{
	for (size_t i = 0; i < n; i++)
		if (experiment_condition_holds(x, &list[i].when, levels))
			return &list[i];
	return NULL;
}

enum experiment_repeat experiment_repeat_for(const struct experiment *x, char *const *levels)
{
	const struct experiment_setting *s =
	        experiment_setting_for(x, x->repeats, x->repeat_count, levels);
	return s ? (enum experiment_repeat)s->value : x->repeat;
}

uint32_t experiment_copies_for(const struct experiment *x, char *const *levels)
{
	const struct experiment_setting *s =
	        experiment_setting_for(x, x->repeats, x->repeat_count, levels);
	uint32_t copies = s ? (uint32_t)s->count : x->copies;
	return copies ? copies : 1;
}

uint32_t experiment_stack_for(const struct experiment *x, char *const *levels)
{
	const struct experiment_setting *s =
	        experiment_setting_for(x, x->stacks, x->stack_count, levels);
	return s ? (uint32_t)s->value : x->stack;
}

static const struct experiment_exclude *rule_against(const struct experiment *x,
                                                     char *const *levels)
{
	for (size_t i = 0; i < x->exclude_count; i++)
		if (experiment_condition_holds(x, &x->excludes[i].when, levels))
			return &x->excludes[i];
	return NULL;
}

static const struct experiment_term *term_of(const struct experiment_exclude *rule, size_t factor)
{
	for (size_t i = 0; i < rule->when.term_count; i++)
		if (rule->when.terms[i].factor == factor)
			return &rule->when.terms[i];
	return NULL;
}

/* Expansion. */

/* What became of one selected level: whether a variant has it and, if not, a rule that took one
 * away; a rule that names the level's factor explains more than one that does not. */
struct fate {
	bool survives;
	const struct experiment_exclude *rule;
};

struct expansion {
	const struct experiment *x;
	const struct experiment_selection *s;
	struct experiment_variants *out;
	struct fate *fates[EXPERIMENT_WORDS_FACTORS + 1];
	size_t at[EXPERIMENT_WORDS_FACTORS +
	          1]; /* the combination looked at: an index into each factor's levels */
	char *levels[EXPERIMENT_WORDS_FACTORS + 1];
	size_t room;
	struct error *err;
};

void experiment_variants_free(struct experiment_variants *v)
{
	struct experiment_words_list strings = {v->strings, v->string_count};
	experiment_words_list_free(&strings);
	free(v->slots);
	free(v->varies);
	free(v->items);
	*v = (struct experiment_variants){0};
}

/* Copies the selection's strings, once each, to where the variants point. */
static int copy_levels(struct expansion *e, char **copies[])
{
	struct experiment_words_list list = {0};
	int rc = 0;
	for (size_t f = 0; f < e->x->factor_count; f++)
		for (size_t i = 0; i < e->s->counts[f] && !rc; i++)
			rc = experiment_words_add(&list, e->s->levels[f][i],
			                          strlen(e->s->levels[f][i]), e->err);
	e->out->strings = list.items;
	e->out->string_count = list.count;
	for (size_t f = 0, first = 0; f < e->x->factor_count; first += e->s->counts[f++])
		copies[f] = list.items + first;
	return rc;
}

static int count_combinations(const struct expansion *e, size_t *count)
{
	*count = 1;
	for (size_t f = 0; f < e->x->factor_count; f++) {
		*count *= e->s->counts[f];
		if (*count > MAX_COMBINATIONS)
			return error_set(e->err, ERROR_INPUT,
			                 "%s: the selection has more than %d combinations; a run "
			                 "has at most %d variants",
			                 e->x->name, MAX_COMBINATIONS, EXPERIMENT_WORDS_VARIANTS);
	}
	return 0;
}

static enum experiment_abi abi_of(const char *level)
{
	return strcmp(level, experiment_abi_name[EXPERIMENT_I386]) ? EXPERIMENT_X86_64
	                                                           : EXPERIMENT_I386;
}

/* Keeps the combination; slots may move, so items get their pointers at the end. */
static int add_variant(struct expansion *e)
{
	struct experiment_variants *v = e->out;
	if (v->count == EXPERIMENT_WORDS_VARIANTS)
		return error_set(e->err, ERROR_INPUT,
		                 "%s: the selection has more than %d variants: name fewer levels",
		                 e->x->name, EXPERIMENT_WORDS_VARIANTS);
	if (v->count == e->room) {
		e->room = e->room ? e->room * 2 : 64;
		void *items = reallocarray(v->items, e->room, sizeof *v->items);
		if (items)
			v->items = items;
		void *slots = reallocarray(v->slots, e->room * v->factor_count, sizeof *v->slots);
		if (slots)
			v->slots = slots;
		if (!items || !slots)
			return experiment_words_no_memory(e->err);
	}
	for (size_t f = 0; f < v->factor_count; f++)
		e->fates[f][e->at[f]].survives = true;
	memcpy(v->slots + v->count * v->factor_count, e->levels,
	       v->factor_count * sizeof *v->slots);
	v->items[v->count++].abi = abi_of(e->levels[0]);
	return 0;
}

static void note_excluded(struct expansion *e, const struct experiment_exclude *rule)
{
	e->out->excluded++;
	for (size_t f = 0; f < e->x->factor_count; f++) {
		struct fate *fate = &e->fates[f][e->at[f]];
		if (!fate->rule || (!term_of(fate->rule, f) && term_of(rule, f)))
			fate->rule = rule;
	}
}

static int expand_all(struct expansion *e)
{
	char **copies[EXPERIMENT_WORDS_FACTORS + 1];
	size_t combinations;
	int rc = count_combinations(e, &combinations);
	if (!rc)
		rc = copy_levels(e, copies);
	for (size_t i = 0; i < combinations && !rc; i++) {
		/* the digits of i, the last factor's first */
		for (size_t f = e->x->factor_count, rest = i; f--; rest /= e->s->counts[f]) {
			e->at[f] = rest % e->s->counts[f];
			e->levels[f] = copies[f][e->at[f]];
		}
		const struct experiment_exclude *rule = rule_against(e->x, e->levels);
		if (rule)
			note_excluded(e, rule);
		else
			rc = add_variant(e);
	}
	return rc;
}

/* "abi=x86_64 use=inner,both": what a rule says about the other factors, as far as it was selected.
 */
static char *rule_text(const struct expansion *e, const struct experiment_exclude *rule, size_t but)
{
	struct experiment_words_list terms = {0};
	int rc = 0;
	for (size_t i = 0; i < rule->when.term_count && !rc; i++) {
		const struct experiment_term *t = &rule->when.terms[i];
		char *chosen[8], *joined, *text = NULL;
		size_t n = 0;
		for (size_t j = 0; j < e->s->counts[t->factor] && n < 8; j++)
			if (term_holds(e->x, t, e->s->levels[t->factor][j]))
				chosen[n++] = e->s->levels[t->factor][j];
		if (t->factor == but || !n)
			continue;
		joined = experiment_words_join(chosen, n, ",");
		if (!joined || asprintf(&text, "%s=%s", e->x->factors[t->factor].name, joined) < 0)
			rc = ERROR_INTERNAL;
		else
			rc = experiment_words_add(&terms, text, strlen(text), NULL);
		free(joined);
		free(text);
	}
	char *text = rc ? NULL : experiment_words_join(terms.items, terms.count, " ");
	experiment_words_list_free(&terms);
	return text;
}

/* "reg=es does not exist with abi=x86_64 (segreg.s:7: WHY)"; level NULL: no variant is left at all.
 */
static int refuse(const struct expansion *e, const struct experiment_exclude *rule, size_t f,
                  const char *level)
{
	const char *slash = strrchr(e->x->path, '/');
	const char *file = slash ? slash + 1 : e->x->path;
	const char *colon = *rule->why ? ": " : "";
	char *with = rule_text(e, rule, level ? f : e->x->factor_count);
	if (!with)
		return experiment_words_no_memory(e->err);
	if (level)
		error_set(e->err, ERROR_INPUT, "%s=%s does not exist%s%s (%s:%u%s%s)",
		          e->x->factors[f].name, level, *with ? " with " : "", with, file,
		          rule->line, colon, rule->why);
	else
		error_set(e->err, ERROR_INPUT,
		          "no variant is left of this selection: %s does not exist (%s:%u%s%s)",
		          with, file, rule->line, colon, rule->why);
	free(with);
	return ERROR_INPUT;
}

/* A level that the user named and no variant has: the rule that names it is the one to tell. */
static int check_named(const struct expansion *e)
{
	const struct experiment_exclude *other = NULL;
	for (size_t k = 1; k <= e->x->factor_count; k++) {
		size_t f = k % e->x->factor_count; /* abi last: it is seldom what was mistaken */
		for (size_t i = 0; i < e->s->counts[f]; i++) {
			const struct fate *fate = &e->fates[f][i];
			bool wanted = e->s->named[f] && !e->s->every[f];
			if (fate->survives || (!wanted && e->out->count))
				continue;
			if (wanted && term_of(fate->rule, f))
				return refuse(e, fate->rule, f, e->s->levels[f][i]);
			other = fate->rule;
		}
	}
	if (!other)
		return 0;
	return refuse(e, other, 0, NULL);
}

static int finish(struct experiment_variants *v, struct error *err)
{
	v->varies = calloc(v->factor_count, sizeof *v->varies);
	if (!v->varies)
		return experiment_words_no_memory(err);
	for (size_t i = 0; i < v->count; i++) {
		v->items[i].levels = v->slots + i * v->factor_count;
		/* a level is one string, so that comparing addresses is enough */
		for (size_t f = 0; f < v->factor_count; f++)
			v->varies[f] |= v->items[i].levels[f] != v->slots[f];
	}
	return 0;
}

int experiment_expand(const struct experiment *x, const struct experiment_selection *s,
                      struct experiment_variants *out, struct error *err)
{
	struct expansion e = {.x = x, .s = s, .out = out, .err = err};
	int rc = 0;
	*out = (struct experiment_variants){.factor_count = x->factor_count};
	for (size_t f = 0; f < x->factor_count && !rc; f++) {
		e.fates[f] = calloc(s->counts[f], sizeof(struct fate));
		if (!e.fates[f])
			rc = experiment_words_no_memory(err);
	}
	if (!rc)
		rc = expand_all(&e);
	if (!rc)
		rc = check_named(&e);
	if (!rc)
		rc = finish(out, err);
	for (size_t f = 0; f < x->factor_count; f++)
		free(e.fates[f]);
	if (rc)
		experiment_variants_free(out);
	return rc;
}

/* Bases. */

/* One level for each factor that --against names, NULL for the others. */
struct base {
	const struct experiment *x;
	const struct experiment_variants *v;
	char *want[EXPERIMENT_WORDS_FACTORS + 1];
};

static int base_word(struct base *b, const char *word, struct error *err)
{
	struct experiment_words_place at = {b->x->name, 0};
	struct experiment_words_list levels;
	size_t f;
	bool negated;
	const char *value;
	int rc = experiment_words_term(b->x, &at, word, &f, &negated, &value, err);
	if (!rc)
		rc = experiment_words_levels(&b->x->factors[f], &at, value, &levels, err);
	if (rc)
		return rc;
	if (levels.count != 1 || negated)
		rc = error_set(err, ERROR_INPUT, "%s: a base has one level of %s, not '%.60s'",
		               b->x->name, b->x->factors[f].name, word);
	else if (b->want[f])
		rc = error_set(err, ERROR_INPUT, "%s: the base names %s twice", b->x->name,
		               b->x->factors[f].name);
	else if (!(b->want[f] = strdup(levels.items[0])))
		rc = experiment_words_no_memory(err);
	experiment_words_list_free(&levels);
	return rc;
}

static bool is_wanted(const struct base *b, char *const *levels)
{
	for (size_t f = 0; f < b->v->factor_count; f++)
		if (b->want[f] && strcmp(b->want[f], levels[f]))
			return false;
	return true;
}

static int compare_levels(char *const *a, char *const *b, size_t count)
{
	int order = 0;
	for (size_t f = 0; f < count && !order; f++)
		order = a[f] == b[f] ? 0 : strcmp(a[f], b[f]);
	return order;
}

static int by_levels(const void *a, const void *b, void *ctx)
{
	const struct experiment_variants *v = ctx;
	return compare_levels(v->items[*(const long *)a].levels, v->items[*(const long *)b].levels,
	                      v->factor_count);
}

/* The variant with these levels, or -1. order is the variants sorted by levels. */
static long find_variant(const struct experiment_variants *v, const long *order,
                         char *const *levels)
{
	size_t lo = 0, hi = v->count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		int c = compare_levels(v->items[order[middle]].levels, levels, v->factor_count);
		if (!c)
			return order[middle];
		if (c < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return -1;
}

/* Each variant's base is the one that differs from it only in the factors named. */
static int base_each(const struct base *b, long *base, struct error *err)
{
	const struct experiment_variants *v = b->v;
	char *levels[EXPERIMENT_WORDS_FACTORS + 1];
	long *order = calloc(v->count, sizeof *order);
	if (!order)
		return experiment_words_no_memory(err);
	for (size_t i = 0; i < v->count; i++)
		order[i] = (long)i;
	qsort_r(order, v->count, sizeof *order, by_levels, (void *)v);
	for (size_t i = 0; i < v->count; i++) {
		for (size_t f = 0; f < v->factor_count; f++)
			levels[f] = b->want[f] ? b->want[f] : v->items[i].levels[f];
		base[i] = find_variant(v, order, levels);
	}
	free(order);
	return 0;
}

static int base_find(const struct base *b, const char *const *words, size_t n, long *base,
                     struct error *err)
{
	const struct experiment_variants *v = b->v;
	bool all = true, any = v->count == 1;
	size_t first = 0;
	while (first < v->count && !is_wanted(b, v->items[first].levels))
		first++;
	for (size_t f = 0; f < v->factor_count; f++) {
		all &= b->want[f] || !v->varies[f];
		any |= b->want[f] && v->varies[f];
	}
	if (first == v->count || !any) {
		char *text = experiment_words_join((char *const *)words, n, " ");
		if (!text)
			return experiment_words_no_memory(err);
		int rc = first == v->count ? error_set(err, ERROR_INPUT,
		                                       "%s: no variant of this selection has %s, "
		                                       "so it cannot be the base: select it too",
		                                       b->x->name, text)
		                           : error_set(err, ERROR_INPUT,
		                                       "%s: every variant of this selection has "
		                                       "%s, so none differs from the base in it",
		                                       b->x->name, text);
		free(text);
		return rc;
	}
	if (!all)
		return base_each(b, base, err);
	for (size_t i = 0; i < v->count; i++)
		base[i] = (long)first;
	return 0;
}

int experiment_bases(const struct experiment *x, const struct experiment_variants *v,
                     const char *const *words, size_t n, long *base, struct error *err)
{
	struct base b = {.x = x, .v = v};
	int rc = 0;
	for (size_t i = 0; i < v->count; i++)
		base[i] = -1;
	for (size_t i = 0; i < n && !rc; i++)
		rc = base_word(&b, words[i], err);
	if (!rc && n)
		rc = base_find(&b, words, n, base, err);
	for (size_t f = 0; f < x->factor_count; f++)
		free(b.want[f]);
	return rc;
}

char *experiment_variant_label(const struct experiment *x, const struct experiment_variants *v,
                               size_t i)
{
	bool any = false;
	size_t size = 1;
	for (size_t f = 0; f < v->factor_count; f++) {
		any |= v->varies[f];
		size += strlen(x->factors[f].name) + strlen(v->items[i].levels[f]) + 2;
	}
	char *text = malloc(size), *end = text;
	if (!text)
		return NULL;
	*end = '\0';
	for (size_t f = 0; f < v->factor_count; f++)
		if (v->varies[f] || !any)
			end += sprintf(end, "%s%s=%s", end == text ? "" : " ", x->factors[f].name,
			               v->items[i].levels[f]);
	return text;
}
