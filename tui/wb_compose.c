#include "tui/wb_compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/show.h"
#include "tui/words.h"

enum { WB_COMBINATIONS_MOST = 4096 }; /* more are not tried to find out whether a level exists */

/* Until there is a run to learn from. */
static const double usual_seconds_each = 0.12, usual_seconds_start = 0.06;

static void strings_free(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

static void factors_free(struct wb_compose *c)
{
	for (size_t f = 0; f < c->factor_count; f++) {
		for (size_t l = 0; l < c->factors[f].count; l++)
			free(c->factors[f].levels[l].why);
		free(c->factors[f].levels);
		free(c->factors[f].range);
	}
	free(c->factors);
	c->factors = NULL;
	c->factor_count = 0;
}

void wb_compose_free(struct wb_compose *c)
{
	factors_free(c);
	strings_free(c->against, c->against_count);
	free(c->line);
	free(c->problem);
	*c = (struct wb_compose){0};
}

static bool names_hold(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* The text of a range as the user gave it, or the defaults. */
static char *range_text(const struct experiment_factor *f, const char *const *words, size_t n)
{
	size_t len = strlen(f->name);
	char *text;

	for (size_t i = 0; i < n; i++) {
		if (strncmp(words[i], f->name, len) == 0 && words[i][len] == '=' &&
		    strcmp(words[i] + len, "=all") != 0)
			return memory_copy(words[i] + len + 1);
		if (strncmp(words[i], f->name, len) == 0 && words[i][len] == '=')
			return memory_format("%ld..%ld", f->lo, f->hi);
	}
	text = memory_copy("");
	for (size_t i = 0; i < f->default_count; i++) {
		char *longer = memory_format("%s%s%s", text, *text ? "," : "", f->defaults[i]);

		free(text);
		text = longer;
	}
	return text;
}

static void factor_fill(struct wb_factor *to, const struct experiment_factor *f,
                        char *const *chosen, size_t chosen_count, const char *const *words,
                        size_t n)
{
	*to = (struct wb_factor){.factor = f};
	if (f->range) {
		to->range = range_text(f, words, n);
		return;
	}
	to->count = f->level_count;
	to->levels = memory_get(f->level_count * sizeof(*to->levels));
	for (size_t l = 0; l < f->level_count; l++) {
		to->levels[l].name = f->levels[l];
		to->levels[l].chosen = names_hold(chosen, chosen_count, f->levels[l]);
	}
}

int wb_compose_set(struct wb_compose *c, const struct experiment *x,
                   const struct host_probes *probes, const char *const *words, size_t n,
                   const char *const *against, size_t against_count, struct error *err)
{
	struct experiment_selection s = {0};
	char **base;
	int rc = experiment_select(x, words, n, &s, err);

	if (rc)
		return rc;
	base = memory_get((against_count + 1) * sizeof(*base));
	for (size_t i = 0; i < against_count; i++)
		base[i] = memory_copy(against[i]);
	strings_free(c->against, c->against_count);
	c->against = base;
	c->against_count = against_count;
	factors_free(c);
	c->experiment = x;
	c->probes = probes;
	c->factors = memory_get(x->factor_count * sizeof(*c->factors));
	c->factor_count = x->factor_count;
	for (size_t f = 0; f < x->factor_count; f++)
		factor_fill(&c->factors[f], &x->factors[f], s.levels[f], s.counts[f], words, n);
	experiment_selection_free(x, &s);
	wb_compose_refresh(c);
	return ERROR_NONE;
}

/* ---- which levels exist ---- */

/* Why the machine lacks a level in every ABI that is chosen; NULL if one has it. */
static const char *level_missing(const struct wb_compose *c, size_t factor, const char *level)
{
	const struct wb_factor *abis = &c->factors[0];
	const char *why = NULL;

	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		const char *name = experiment_abi_name[abi], *missing;
		bool asked = factor == 0 && strcmp(level, name) == 0;

		for (size_t l = 0; factor != 0 && l < abis->count; l++)
			asked |= abis->levels[l].chosen && strcmp(abis->levels[l].name, name) == 0;
		if (!asked)
			continue;
		missing = show_level_missing(c->experiment, factor, level, (enum experiment_abi)abi,
		                             c->probes);
		if (!missing)
			return NULL;
		why = missing;
	}
	return why;
}

static const struct experiment_exclude *rule_for(const struct experiment *x, char *const *levels)
{
	for (size_t i = 0; i < x->exclude_count; i++) {
		if (experiment_condition_holds(x, &x->excludes[i].when, levels))
			return &x->excludes[i];
	}
	return NULL;
}

/* Puts the next combination of chosen levels of all factors but one into at[]; false after the
 * last. */
static bool combination_next(const struct wb_compose *c, size_t but, size_t *at)
{
	for (size_t f = c->factor_count; f-- > 0;) {
		if (f == but || c->factors[f].range)
			continue;
		while (++at[f] < c->factors[f].count) {
			if (c->factors[f].levels[at[f]].chosen)
				return true;
		}
		at[f] = 0;
		while (at[f] < c->factors[f].count && !c->factors[f].levels[at[f]].chosen)
			at[f]++;
	}
	return false;
}

static char **combination_first(const struct wb_compose *c, size_t *at)
{
	char **levels = memory_get(c->factor_count * sizeof(*levels));

	for (size_t f = 0; f < c->factor_count; f++) {
		const struct wb_factor *w = &c->factors[f];

		at[f] = 0;
		if (w->range)
			levels[f] = w->factor->defaults[0];
		while (!w->range && at[f] + 1 < w->count && !w->levels[at[f]].chosen)
			at[f]++;
	}
	return levels;
}

/* The rule that leaves a level out, whichever of the other chosen levels it is combined with; NULL
 * if there is a combination that exists. */
static const struct experiment_exclude *level_excluded(const struct wb_compose *c, size_t factor,
                                                       size_t level)
{
	size_t *at = memory_get(c->factor_count * sizeof(*at));
	char **levels = combination_first(c, at);
	const struct experiment_exclude *rule = NULL;
	size_t tried = 0;

	do {
		for (size_t f = 0; f < c->factor_count; f++) {
			if (f == factor)
				levels[f] = c->factors[f].factor->levels[level];
			else if (!c->factors[f].range)
				levels[f] = c->factors[f].factor->levels[at[f]];
		}
		rule = ++tried > WB_COMBINATIONS_MOST ? NULL : rule_for(c->experiment, levels);
	} while (rule && combination_next(c, factor, at));
	free(levels);
	free(at);
	return rule;
}

static void level_look(struct wb_compose *c, size_t factor, size_t level)
{
	struct wb_level *l = &c->factors[factor].levels[level];
	const char *missing = level_missing(c, factor, l->name);
	const struct experiment_exclude *rule;

	free(l->why);
	l->why = NULL;
	l->exists = WB_EXISTS;
	if (missing) {
		l->exists = WB_MISSING;
		l->why = memory_copy(missing);
		return;
	}
	rule = c->experiment->exclude_count ? level_excluded(c, factor, level) : NULL;
	if (rule) {
		char *when = show_condition(c->experiment, &rule->when);

		l->exists = WB_EXCLUDED;
		l->why = *rule->why ? memory_format("%s (%s)", rule->why, when)
		                    : memory_format("no such variant: %s", when);
		free(when);
	}
}

/* ---- what it amounts to ---- */

static bool factor_is_default(const struct wb_factor *f)
{
	for (size_t l = 0; l < f->count; l++) {
		if (f->levels[l].chosen !=
		    names_hold(f->factor->defaults, f->factor->default_count, f->levels[l].name))
			return false;
	}
	return true;
}

static bool factor_is_all(const struct wb_factor *f)
{
	for (size_t l = 0; l < f->count; l++) {
		if (!f->levels[l].chosen)
			return false;
	}
	return f->count > 1;
}

/* "reg=fs,gs"; NULL where the defaults are chosen. malloc'ed. */
static char *factor_word(const struct wb_factor *f)
{
	char *word, *longer;

	if (f->range) {
		char *defaults = range_text(f->factor, NULL, 0);
		bool same = strcmp(defaults, f->range) == 0;

		free(defaults);
		return same ? NULL : memory_format("%s=%s", f->factor->name, f->range);
	}
	if (factor_is_default(f))
		return NULL;
	if (factor_is_all(f))
		return memory_format("%s=all", f->factor->name);
	word = memory_format("%s=", f->factor->name);
	for (size_t l = 0, n = 0; l < f->count; l++) {
		if (!f->levels[l].chosen)
			continue;
		longer = memory_format("%s%s%s", word, n++ ? "," : "", f->levels[l].name);
		free(word);
		word = longer;
	}
	return word;
}

/* The words of the selection: the factors that are not as the experiment has them. */
static size_t selection_words(const struct wb_compose *c, char **words)
{
	size_t n = 0;

	for (size_t f = 0; f < c->factor_count; f++) {
		char *word = factor_word(&c->factors[f]);

		if (word)
			words[n++] = word;
	}
	return n;
}

static char *against_text(const struct wb_compose *c)
{
	char *text = memory_copy("");

	for (size_t i = 0; i < c->against_count; i++) {
		char *longer = memory_format("%s%s%s", text, *text ? "," : "", c->against[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* "COMMAND segreg reg=fs --against outer=tls" */
static char *command_text(const struct wb_compose *c, const char *command, const char *against)
{
	char **words = memory_get((c->factor_count + 4) * sizeof(*words)), *line;
	size_t n = 0;

	words[n++] = memory_copy(command);
	words[n++] = memory_copy(c->experiment->name);
	n += selection_words(c, words + n);
	if (against && *against) {
		words[n++] = memory_copy("--against");
		words[n++] = memory_copy(against);
	}
	line = words_join((const char *const *)words, n);
	strings_free(words, n);
	return line;
}

/* Counts the variants as a run would; a selection or a base that it would refuse is the problem. */
static void variants_count(struct wb_compose *c)
{
	char **words = memory_get((c->factor_count + 1) * sizeof(*words));
	size_t n = selection_words(c, words);
	struct experiment_selection s = {0};
	struct experiment_variants v = {0};
	struct error err = {0};
	long *bases = NULL;
	int rc = experiment_select(c->experiment, (const char *const *)words, n, &s, &err);

	if (rc == ERROR_NONE)
		rc = experiment_expand(c->experiment, &s, &v, &err);
	if (rc == ERROR_NONE && c->against_count) {
		bases = memory_get(v.count * sizeof(*bases));
		rc = experiment_bases(c->experiment, &v, (const char *const *)c->against,
		                      c->against_count, bases, &err);
	}
	c->variants = rc == ERROR_NONE ? v.count : 0;
	c->excluded = rc == ERROR_NONE ? v.excluded : 0;
	free(c->problem);
	c->problem = rc == ERROR_NONE ? NULL : memory_copy(err.text);
	free(bases);
	experiment_variants_free(&v);
	experiment_selection_free(c->experiment, &s);
	strings_free(words, n);
}

void wb_compose_refresh(struct wb_compose *c)
{
	double each = c->seconds_each > 0 ? c->seconds_each : usual_seconds_each;
	char *against;

	if (!c->experiment)
		return;
	for (size_t f = 0; f < c->factor_count; f++) {
		for (size_t l = 0; l < c->factors[f].count; l++)
			level_look(c, f, l);
	}
	against = against_text(c);
	free(c->line);
	c->line = command_text(c, "run", against);
	free(against);
	variants_count(c);
	c->seconds = usual_seconds_start + each * (double)c->variants;
	if (c->seconds_most > 0 && c->seconds > c->seconds_most)
		c->seconds = c->seconds_most;
}

/* ---- changes, as commands ---- */

char *wb_compose_toggled(const struct wb_compose *c, size_t factor, size_t level, struct error *err)
{
	struct wb_factor *f = &c->factors[factor];
	struct wb_level *l = &f->levels[level];
	size_t chosen = 0;
	char *against, *line;

	for (size_t i = 0; i < f->count; i++)
		chosen += f->levels[i].chosen;
	if (!l->chosen && l->exists != WB_EXISTS) {
		error_set(err, ERROR_INPUT, "%s=%s does not exist %s: %s", f->factor->name, l->name,
		          l->exists == WB_MISSING ? "on this machine" : "with the levels chosen",
		          l->why);
		return NULL;
	}
	if (l->chosen && chosen == 1) {
		error_set(err, ERROR_INPUT, "%s needs a level: choose another one first",
		          f->factor->name);
		return NULL;
	}
	against = against_text(c);
	l->chosen = !l->chosen;
	line = command_text(c, "compose", against);
	l->chosen = !l->chosen;
	free(against);
	return line;
}

char *wb_compose_all_toggled(const struct wb_compose *c, size_t factor)
{
	struct wb_factor *f = &c->factors[factor];
	char *against = against_text(c), *line;
	bool *before = memory_get((f->count + 1) * sizeof(*before)), all = true;

	for (size_t l = 0; l < f->count; l++) {
		before[l] = f->levels[l].chosen;
		all &= before[l] || f->levels[l].exists != WB_EXISTS;
	}
	for (size_t l = 0; l < f->count; l++) {
		f->levels[l].chosen = all ? names_hold(f->factor->defaults,
		                                       f->factor->default_count, f->levels[l].name)
		                          : f->levels[l].exists == WB_EXISTS;
	}
	line = command_text(c, "compose", against);
	for (size_t l = 0; l < f->count; l++)
		f->levels[l].chosen = before[l];
	free(before);
	free(against);
	return line;
}

char *wb_compose_based(const struct wb_compose *c, const char *terms)
{
	return command_text(c, "compose", terms);
}
