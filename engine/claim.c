#include "claim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "claim_parse.h"
#include "shelf.h"
#include "textfile.h"

const char *const claim_relation_sign[CLAIM_RELATIONS] = {
        [CLAIM_LESS] = "<",
        [CLAIM_AT_MOST] = "<=",
        [CLAIM_MORE] = ">",
        [CLAIM_AT_LEAST] = ">=",
};

const char *const claim_unit_name[CLAIM_UNITS] = {
        [CLAIM_CYCLES] = "cycles",
        [CLAIM_NS] = "ns",
        [CLAIM_RATIO] = "",
        [CLAIM_PERCENT] = "%",
};

const char *const claim_verdict_name[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "holds",
        [CLAIM_FAILS] = "fails",
        [CLAIM_UNDECIDED] = "not decided",
        [CLAIM_UNTESTABLE] = "not testable here",
};

static void condition_free(struct claim_condition *c)
{
	formula_free(&c->formula);
	free(c->wanted);
	free(c->label);
	free(c->text);
}

static void lists_free(struct claim *c)
{
	struct experiment_words_list words = {c->words, c->word_count};
	experiment_words_list_free(&words);
	for (size_t i = 0; i < c->option_count; i++) {
		free(c->options[i].name);
		free(c->options[i].value);
	}
	for (size_t i = 0; i < c->condition_count; i++)
		condition_free(&c->conditions[i]);
	for (size_t i = 0; i < c->figure_count; i++) {
		free(c->figures[i].cpu);
		free(c->figures[i].figure);
		free(c->figures[i].text);
	}
	free(c->options);
	free(c->conditions);
	free(c->figures);
}

void claim_free(struct claim *c)
{
	if (!c)
		return;
	lists_free(c);
	experiment_free(c->experiment);
	free(c->name);
	free(c->path);
	free(c->title);
	free(c->who);
	free(c->when);
	free(c->source);
	free(c->doc);
	free(c->needs);
	free(c->needs_why);
	free(c->run);
	free(c);
}

int claim_read(const char *path, struct claim **out, struct error *err)
{
	char *text = NULL, *name = shelf_name(&shelf_claims, path);
	size_t size = 0;
	*out = NULL;
	int rc = name ? textfile_read(path, &claim_parse_kind, &text, &size, err)
	              : experiment_words_no_memory(err);
	if (!rc)
		rc = claim_parse(name, path, text, size, out, err);
	free(text);
	free(name);
	return rc;
}

int claim_find(const char *name, struct claim **out, struct error *err)
{
	char *path;
	*out = NULL;
	int rc = shelf_locate(&shelf_claims, name, &path, err);
	if (!rc)
		rc = claim_read(path, out, err);
	free(path);
	return rc;
}

bool claim_exists(const char *name)
{
	return shelf_has(&shelf_claims, name);
}

static int by_number(const void *x, const void *y)
{
	const struct claim *a = *(struct claim *const *)x, *b = *(struct claim *const *)y;
	long first = a->number ? a->number : LONG_MAX, second = b->number ? b->number : LONG_MAX;
	if (first != second)
		return first < second ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int add_broken(struct claim_list *list, const char *message, struct error *err)
{
	struct experiment_words_list broken = {list->broken, list->broken_count};
	int rc = experiment_words_add(&broken, message, strlen(message), err);
	list->broken = broken.items;
	list->broken_count = broken.count;
	return rc;
}

static int add_file(void *ctx, const char *path, const char *broken, struct error *err)
{
	struct claim_list *list = ctx;
	struct error why;
	struct claim *c;
	if (broken)
		return add_broken(list, broken, err);
	int rc = claim_read(path, &c, &why);
	if (rc == ERROR_INPUT)
		return add_broken(list, why.text, err);
	if (rc)
		return error_set(err, why.code, "%s", why.text);
	struct claim **grown = reallocarray(list->items, list->count + 1, sizeof(*grown));
	if (!grown) {
		claim_free(c);
		return experiment_words_no_memory(err);
	}
	list->items = grown;
	list->items[list->count++] = c;
	return 0;
}

int claim_list_read(struct claim_list *list, struct error *err)
{
	*list = (struct claim_list){0};
	int rc = shelf_each(&shelf_claims, add_file, list, err);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_number);
	if (rc)
		claim_list_free(list);
	return rc;
}

void claim_list_free(struct claim_list *list)
{
	struct experiment_words_list broken = {list->broken, list->broken_count};
	for (size_t i = 0; i < list->count; i++)
		claim_free(list->items[i]);
	free(list->items);
	experiment_words_list_free(&broken);
	*list = (struct claim_list){0};
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of a selection in an order that does not depend on how it was written. */
static const char **sorted_words(const struct claim *c)
{
	const char **words = calloc(c->word_count + 1, sizeof(*words));
	for (size_t i = 0; words && i < c->word_count; i++)
		words[i] = c->words[i];
	if (words && c->word_count)
		qsort(words, c->word_count, sizeof(*words), by_text);
	return words;
}

static bool same_options(const struct claim *a, const struct claim *b)
{
	bool same = a->option_count == b->option_count;
	for (size_t i = 0; same && i < a->option_count; i++)
		same = !strcmp(a->options[i].name, b->options[i].name) &&
		       !strcmp(a->options[i].value, b->options[i].value);
	return same;
}

bool claim_shares_run(const struct claim *a, const struct claim *b)
{
	if (!a->experiment || !b->experiment || a->word_count != b->word_count ||
	    strcmp(a->experiment->path, b->experiment->path) != 0 || !same_options(a, b))
		return false;
	const char **first = sorted_words(a), **second = sorted_words(b);
	bool same = first && second;
	for (size_t i = 0; same && i < a->word_count; i++)
		same = !strcmp(first[i], second[i]);
	free(first);
	free(second);
	return same;
}
