#include "experiment_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

int experiment_words_fail(const struct experiment_words_place *at, struct error *err,
                          const char *fmt, ...)
{
	char text[sizeof err->text];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (at->line)
		return error_set(err, ERROR_INPUT, "%s:%u: %s", at->name, at->line, text);
	return error_set(err, ERROR_INPUT, "%s: %s", at->name, text);
}

int experiment_words_no_memory(struct error *err)
{
	return error_set(err, ERROR_INTERNAL, "out of memory");
}

int experiment_words_add(struct experiment_words_list *list, const char *s, size_t n,
                         struct error *err)
{
	/* room doubles whenever the count is a power of two */
	if (!(list->count & (list->count - 1))) {
		size_t room = list->count ? list->count * 2 : 1;
		char **items = reallocarray(list->items, room, sizeof *items);
		if (!items)
			return experiment_words_no_memory(err);
		list->items = items;
	}
	char *copy = strndup(s, n);
	if (!copy)
		return experiment_words_no_memory(err);
	list->items[list->count++] = copy;
	return 0;
}

void experiment_words_list_free(struct experiment_words_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct experiment_words_list){0};
}

char *experiment_words_join(char *const *items, size_t count, const char *separator)
{
	size_t gap = strlen(separator), size = 1;
	for (size_t i = 0; i < count; i++)
		size += strlen(items[i]) + gap;
	char *text = malloc(size), *end = text;
	if (!text)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i)
			end = stpcpy(end, separator);
		end = stpcpy(end, items[i]);
	}
	*end = '\0';
	return text;
}

bool experiment_words_is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return n && n <= EXPERIMENT_WORDS_LENGTH && !s[n];
}

void experiment_words_hint(char *text, size_t size, const char *word, const char *const *names,
                           size_t n)
{
	int near = n ? nearest_name(word, names, n) : -1;
	if (near >= 0)
		snprintf(text, size, ": did you mean %s?", names[near]);
	else
		text[0] = '\0';
}

bool experiment_words_number(const char *s, size_t n, long *out)
{
	long value = 0;
	if (!n || n > 10)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		value = value * 10 + (s[i] - '0');
	}
	*out = value;
	return value <= EXPERIMENT_WORDS_NUMBER;
}

bool experiment_words_range(const char *s, long *lo, long *hi)
{
	const char *dots = strstr(s, "..");
	return dots && experiment_words_number(s, (size_t)(dots - s), lo) &&
	       experiment_words_number(dots + 2, strlen(dots + 2), hi);
}

static int unknown_factor(const struct experiment *x, const struct experiment_words_place *at,
                          const char *word, int n, struct error *err)
{
	char name[EXPERIMENT_WORDS_LENGTH + 1], hint[128];
	const char *names[EXPERIMENT_WORDS_FACTORS + 1];
	char *copies[EXPERIMENT_WORDS_FACTORS + 1];
	for (size_t f = 0; f < x->factor_count; f++)
		names[f] = copies[f] = x->factors[f].name;
	snprintf(name, sizeof name, "%.*s", n, word);
	experiment_words_hint(hint, sizeof hint, name, names, x->factor_count);
	char *all = experiment_words_join(copies, x->factor_count, " ");
	if (!all)
		return experiment_words_no_memory(err);
	int rc = at->line ? experiment_words_fail(at, err, "there is no factor '%s'%s (%s)", name,
	                                          hint, all)
	                  : error_set(err, ERROR_INPUT, "%s has no factor '%s'%s (%s)", at->name,
	                              name, hint, all);
	free(all);
	return rc;
}

/* A word without '=': most likely a level without its factor, or a factor without a level. */
static int no_sign(const struct experiment *x, const struct experiment_words_place *at,
                   const char *word, struct error *err)
{
	for (size_t f = 0; f < x->factor_count; f++) {
		const struct experiment_factor *factor = &x->factors[f];
		if (!strcmp(factor->name, word))
			return experiment_words_fail(
			        at, err, "'%s' names a factor and no level: write %s=LEVEL", word,
			        word);
		for (size_t i = 0; i < factor->level_count; i++)
			if (!strcmp(factor->levels[i], word))
				return experiment_words_fail(
				        at, err, "'%s' is not FACTOR=LEVEL: did you mean %s=%s?",
				        word, factor->name, word);
	}
	return experiment_words_fail(at, err, "'%.60s' is not FACTOR=LEVEL", word);
}

int experiment_words_term(const struct experiment *x, const struct experiment_words_place *at,
                          const char *word, size_t *factor, bool *negated, const char **value,
                          struct error *err)
{
	const char *sign = strchr(word, '=');
	if (!sign)
		return no_sign(x, at, word, err);
	*value = sign + 1;
	*negated = sign > word && sign[-1] == '!';
	size_t n = (size_t)(sign - word) - *negated;
	for (size_t f = 0; f < x->factor_count; f++) {
		if (strlen(x->factors[f].name) == n && !memcmp(x->factors[f].name, word, n)) {
			*factor = f;
			return 0;
		}
	}
	return unknown_factor(x, at, word,
	                      n > EXPERIMENT_WORDS_LENGTH ? EXPERIMENT_WORDS_LENGTH : (int)n, err);
}

static int unknown_level(const struct experiment_factor *f, const struct experiment_words_place *at,
                         const char *level, struct error *err)
{
	char hint[128], word[EXPERIMENT_WORDS_LENGTH + 1];
	long number;
	snprintf(word, sizeof word, "%s", level);
	if (f->range) {
		if (experiment_words_number(level, strlen(level), &number))
			return experiment_words_fail(at, err, "%s=%s is out of range: %ld to %ld",
			                             f->name, word, f->lo, f->hi);
		return experiment_words_fail(at, err,
		                             "%s is a whole number from %ld to %ld, not '%s'",
		                             f->name, f->lo, f->hi, word);
	}
	experiment_words_hint(hint, sizeof hint, word, (const char *const *)f->levels,
	                      f->level_count);
	char *all = experiment_words_join(f->levels, f->level_count, " ");
	if (!all)
		return experiment_words_no_memory(err);
	int rc = at->line ? experiment_words_fail(at, err, "there is no level '%s' of %s%s (%s)",
	                                          word, f->name, hint, all)
	                  : error_set(err, ERROR_INPUT, "%s has no level '%s' of %s%s (%s)",
	                              at->name, word, f->name, hint, all);
	free(all);
	return rc;
}

static int add_level(const struct experiment_factor *f, const struct experiment_words_place *at,
                     const char *level, struct experiment_words_list *out, struct error *err)
{
	for (size_t i = 0; i < f->level_count; i++)
		if (!strcmp(f->levels[i], level))
			return experiment_words_add(out, level, strlen(level), err);
	return unknown_level(f, at, level, err);
}

static int add_number(long number, struct experiment_words_list *out, struct error *err)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%ld", number);
	return experiment_words_add(out, text, (size_t)n, err);
}

/* "NUMBER" or "LO..HI", inside the range of f. Numbers are written anew: the assembler reads 010 as
 * octal. */
static int read_span(const struct experiment_factor *f, const struct experiment_words_place *at,
                     const char *part, long *lo, long *hi, struct error *err)
{
	if (experiment_words_number(part, strlen(part), lo))
		*hi = *lo;
	else if (!experiment_words_range(part, lo, hi))
		return unknown_level(f, at, part, err);
	if (*lo > *hi)
		return experiment_words_fail(
		        at, err, "%s=%s is an empty range: the smaller number comes first", f->name,
		        part);
	if (*lo < f->lo || *hi > f->hi)
		return experiment_words_fail(at, err, "%s=%s is out of range: %ld to %ld", f->name,
		                             part, f->lo, f->hi);
	return 0;
}

static int add_numbers(const struct experiment_factor *f, const struct experiment_words_place *at,
                       long lo, long hi, long step, struct experiment_words_list *out,
                       struct error *err)
{
	if ((hi - lo) / step >= (long)(EXPERIMENT_WORDS_VARIANTS - out->count))
		return experiment_words_fail(
		        at, err, "more than %d levels of %s: write LO..HI/STEP with a larger step",
		        EXPERIMENT_WORDS_VARIANTS, f->name);
	for (long number = lo; number <= hi; number += step) {
		int rc = add_number(number, out, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* One part of a selection of a range: "NUMBER", "LO..HI" or "LO..HI/STEP". */
static int add_steps(const struct experiment_factor *f, const struct experiment_words_place *at,
                     const char *part, struct experiment_words_list *out, struct error *err)
{
	char span[64];
	long lo, hi, step = 1;
	const char *slash = strchr(part, '/');
	if (slash) {
		if (!experiment_words_number(slash + 1, strlen(slash + 1), &step) || !step)
			return experiment_words_fail(
			        at, err, "'%.60s' has no step: LO..HI/STEP, STEP from 1", part);
		if (!strstr(part, ".."))
			return experiment_words_fail(at, err, "'%.60s' is no range: LO..HI/STEP",
			                             part);
	}
	snprintf(span, sizeof span, "%.*s", slash ? (int)(slash - part) : (int)strlen(part), part);
	int rc = read_span(f, at, span, &lo, &hi, err);
	return rc ? rc : add_numbers(f, at, lo, hi, step, out, err);
}

/* One part of a condition on a range: "NUMBER" or "LO..HI", kept as it is. */
static int add_span(const struct experiment_factor *f, const struct experiment_words_place *at,
                    const char *part, struct experiment_words_list *out, struct error *err)
{
	char text[64];
	long lo, hi;
	int rc = read_span(f, at, part, &lo, &hi, err);
	if (rc)
		return rc;
	if (lo == hi)
		return add_number(lo, out, err);
	int n = snprintf(text, sizeof text, "%ld..%ld", lo, hi);
	return experiment_words_add(out, text, (size_t)n, err);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int refuse_doubles(const struct experiment_factor *f,
                          const struct experiment_words_place *at,
                          const struct experiment_words_list *list, struct error *err)
{
	int rc = 0;
	char **sorted = calloc(list->count, sizeof *sorted);
	if (!sorted)
		return experiment_words_no_memory(err);
	memcpy(sorted, list->items, list->count * sizeof *sorted);
	qsort(sorted, list->count, sizeof *sorted, compare);
	for (size_t i = 1; i < list->count && !rc; i++)
		if (!strcmp(sorted[i - 1], sorted[i]))
			rc = experiment_words_fail(at, err, "%s=%s is named twice", f->name,
			                           sorted[i]);
	free(sorted);
	return rc;
}

typedef int (*add_part)(const struct experiment_factor *f, const struct experiment_words_place *at,
                        const char *part, struct experiment_words_list *out, struct error *err);

static int each_part(const struct experiment_factor *f, const struct experiment_words_place *at,
                     const char *value, add_part add, struct experiment_words_list *out,
                     struct error *err)
{
	int rc = 0;
	for (const char *part = value; !rc; part++) {
		size_t n = strcspn(part, ",");
		if (!n)
			return experiment_words_fail(
			        at, err, "'%s=%.60s' leaves a level out: write %s=LEVEL,LEVEL",
			        f->name, value, f->name);
		char *copy = strndup(part, n);
		if (!copy)
			return experiment_words_no_memory(err);
		rc = add(f, at, copy, out, err);
		free(copy);
		part += n;
		if (!*part)
			break;
	}
	return rc ? rc : refuse_doubles(f, at, out, err);
}

static int every_level(const struct experiment_factor *f, const struct experiment_words_place *at,
                       struct experiment_words_list *out, struct error *err)
{
	int rc = 0;
	if (f->range)
		return add_numbers(f, at, f->lo, f->hi, 1, out, err);
	for (size_t i = 0; i < f->level_count && !rc; i++)
		rc = experiment_words_add(out, f->levels[i], strlen(f->levels[i]), err);
	return rc;
}

int experiment_words_levels(const struct experiment_factor *f,
                            const struct experiment_words_place *at, const char *value,
                            struct experiment_words_list *out, struct error *err)
{
	*out = (struct experiment_words_list){0};
	int rc = strcmp(value, "all")
	                 ? each_part(f, at, value, f->range ? add_steps : add_level, out, err)
	                 : every_level(f, at, out, err);
	if (rc)
		experiment_words_list_free(out);
	return rc;
}

int experiment_words_parts(const struct experiment_factor *f,
                           const struct experiment_words_place *at, const char *value,
                           struct experiment_words_list *out, struct error *err)
{
	*out = (struct experiment_words_list){0};
	int rc = each_part(f, at, value, f->range ? add_span : add_level, out, err);
	if (rc)
		experiment_words_list_free(out);
	return rc;
}
