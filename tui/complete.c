#include "tui/complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tui/command.h"
#include "tui/memory.h"
#include "tui/option.h"
#include "tui/wb_pane.h"
#include "tui/wb_results.h"
#include "tui/words.h"

/* A completion on its way: the words in front of the cursor's word, and that word. */
struct completion {
	const struct complete_source *source;
	struct complete_list *list;
	const struct command *command;
	const char **words; /* those of the command that are no options: [0] is the first behind its
	                       name */
	size_t count;
	const char *word;   /* up to the cursor */
	const char *prefix; /* the part of it that is completed */
};

static void complete_add(struct completion *c, const char *item)
{
	struct complete_list *list = c->list;

	if (strncmp(item, c->prefix, strlen(c->prefix)) != 0)
		return;
	list->items = memory_grow(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = memory_copy(item);
}

static void complete_add_from_source(void *ctx, const char *item)
{
	complete_add(ctx, item);
}

/* Completes only what follows the first skip bytes of the word. */
static void complete_behind(struct completion *c, size_t skip)
{
	c->prefix = c->word + skip;
	c->list->start += skip;
}

static void complete_experiments(struct completion *c)
{
	if (c->source->experiments)
		c->source->experiments(c->source->ctx, complete_add_from_source, c);
}

static void complete_claims(struct completion *c)
{
	if (c->source->claims)
		c->source->claims(c->source->ctx, complete_add_from_source, c);
}

static void complete_tables(struct completion *c)
{
	if (c->source->tables)
		c->source->tables(c->source->ctx, complete_add_from_source, c);
}

static void complete_runs(struct completion *c)
{
	complete_add(c, "last");
	if (c->source->runs)
		c->source->runs(c->source->ctx, complete_add_from_source, c);
}

static void complete_commands(struct completion *c)
{
	for (size_t i = 0; i < command_count; i++) {
		if (!command_table[i].workbench || c->source->workbench)
			complete_add(c, command_table[i].name);
	}
}

/* "--name" for the options of a command, or of the program. */
static void complete_options(struct completion *c, uint32_t allowed)
{
	for (int i = 0; i < OPTIONS; i++) {
		char *dashed;

		if (!(allowed & OPTION_BIT(i)) || option_table[i].hidden)
			continue;
		dashed = memory_format("--%s", option_table[i].name);
		complete_add(c, dashed);
		free(dashed);
	}
}

static bool factor_named(const struct completion *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < c->count; i++) {
		if (strncmp(c->words[i], name, n) == 0 && c->words[i][n] == '=')
			return true;
	}
	return false;
}

/* "name=" for each factor that the words in front do not name yet. */
static void complete_factors(struct completion *c, const struct experiment *x)
{
	size_t before = c->list->count;

	for (size_t i = 0; i < x->factor_count; i++) {
		char *item;

		if (factor_named(c, x->factors[i].name))
			continue;
		item = memory_format("%s=", x->factors[i].name);
		complete_add(c, item);
		free(item);
	}
	c->list->open = c->list->count > before;
}

static bool level_named(const char *levels, const char *last, const char *level)
{
	size_t n = strlen(level);

	for (const char *p = levels; p < last; p += strcspn(p, ",") + 1) {
		if (strncmp(p, level, n) == 0 && p[n] == ',')
			return true;
	}
	return false;
}

/* Levels behind '=' and behind each comma, but for those named already. */
static void complete_levels(struct completion *c, const struct experiment *x, const char *equals)
{
	const char *comma = strrchr(equals, ',');
	const char *last = (comma ? comma : equals) + 1;
	size_t name_size = (size_t)(equals - c->word);

	complete_behind(c, (size_t)(last - c->word));
	for (size_t i = 0; i < x->factor_count; i++) {
		const struct experiment_factor *f = &x->factors[i];

		if (strlen(f->name) != name_size || strncmp(f->name, c->word, name_size) != 0)
			continue;
		for (size_t j = 0; !f->range && j < f->level_count; j++) {
			if (!level_named(equals + 1, last, f->levels[j]))
				complete_add(c, f->levels[j]);
		}
		for (size_t j = 0; f->range && j < f->default_count; j++) {
			if (!level_named(equals + 1, last, f->defaults[j]))
				complete_add(c, f->defaults[j]);
		}
		if (last == equals + 1)
			complete_add(c, "all");
	}
	/* More levels may follow behind a comma. */
	c->list->open = true;
}

static void complete_selection(struct completion *c, const struct experiment *x)
{
	const char *equals = strchr(c->word, '=');

	if (!x)
		return;
	if (equals)
		complete_levels(c, x, equals);
	else
		complete_factors(c, x);
}

static const struct experiment *completion_experiment(const struct completion *c)
{
	if (!c->command || c->command->words != COMMAND_WORDS_SELECTION || c->count == 0 ||
	    !c->source->experiment)
		return NULL;
	return c->source->experiment(c->source->ctx, c->words[0]);
}

static void complete_settable(struct completion *c)
{
	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].kind == OPTION_SESSION)
			complete_add(c, option_table[i].name);
	}
}

static void complete_value(struct completion *c, const struct option_info *o, bool session)
{
	for (size_t i = 0; o->values && o->values[i]; i++)
		complete_add(c, o->values[i]);
	c->list->files = o->file;
	if (!session)
		return;
	complete_add(c, "default");
	if (!o->form) {
		complete_add(c, "on");
		complete_add(c, "off");
	}
}

/* The value of an option: terms of --against are those of a selection. */
static void complete_option_value(struct completion *c, enum option_id id)
{
	if (id == OPTION_AGAINST) {
		const struct completion words = *c;

		/* A factor that was selected may be named again. */
		c->count = 0;
		complete_selection(c, completion_experiment(&words));
		c->count = words.count;
	} else {
		complete_value(c, &option_table[id], false);
	}
}

static void complete_set(struct completion *c)
{
	int id;

	if (c->count == 0) {
		complete_settable(c);
		return;
	}
	id = option_find(c->words[0], false);
	if (id >= 0 && c->count == 1)
		complete_value(c, &option_table[id], true);
}

static void complete_words(struct completion *c)
{
	switch (c->command->words) {
	case COMMAND_WORDS_NONE:
		break;
	case COMMAND_WORDS_SELECTION:
		if (c->count == 0)
			complete_experiments(c);
		else
			complete_selection(c, completion_experiment(c));
		break;
	case COMMAND_WORDS_LIST:
		if (c->count == 0) {
			complete_add(c, "experiments");
			complete_add(c, "claims");
			complete_add(c, "runs");
		} else if (c->count == 1 && strcmp(c->words[0], "runs") == 0) {
			complete_experiments(c);
		}
		break;
	case COMMAND_WORDS_SHOW:
		if (c->count == 0) {
			complete_experiments(c);
			complete_claims(c);
			complete_runs(c);
		}
		break;
	case COMMAND_WORDS_CLAIMS:
		complete_claims(c);
		break;
	case COMMAND_WORDS_TABLE:
		if (c->count == 0)
			complete_tables(c);
		break;
	case COMMAND_WORDS_RUN_FILE:
		if (c->count == 0)
			complete_runs(c);
		c->list->files = c->count == 1;
		break;
	case COMMAND_WORDS_RUNS:
		if (c->count < 2)
			complete_runs(c);
		break;
	case COMMAND_WORDS_FILE:
		c->list->files = c->count == 0;
		break;
	case COMMAND_WORDS_SET:
		complete_set(c);
		break;
	case COMMAND_WORDS_VIEW:
		for (size_t i = 0; c->count == 0 && i < wb_pane_count; i++)
			complete_add(c, wb_panes[i]->name);
		break;
	case COMMAND_WORDS_SORT:
		for (size_t i = 0; c->count == 0 && i < WB_SORTS; i++)
			complete_add(c, wb_sort_name[i]);
		if (c->count == 1)
			complete_add(c, "down");
		break;
	case COMMAND_WORDS_SAVE:
		if (c->count == 0)
			complete_add(c, "settings");
		break;
	case COMMAND_WORDS_HELP:
		if (c->count == 0) {
			complete_commands(c);
			for (int i = 0; i < OPTIONS; i++) {
				if (!option_table[i].hidden)
					complete_add(c, option_table[i].name);
			}
		}
		break;
	}
}

/* Leaves the words that are neither options nor their values. Returns the option whose value the
 * cursor's word is, or -1. */
static int completion_sort_words(struct completion *c, char *const *words, size_t n)
{
	int pending = -1;

	for (size_t i = 0; i < n; i++) {
		int id;

		if (pending >= 0) {
			pending = -1;
			continue;
		}
		id = option_find(words[i], true);
		if (id >= 0 && option_table[id].form && !strchr(words[i], '='))
			pending = id;
		else if (id < 0)
			c->words[c->count++] = words[i];
	}
	return pending;
}

static void complete_word(struct completion *c, char *const *words, size_t n)
{
	int id;

	if (n == 0) {
		complete_commands(c);
		return;
	}
	c->command = command_find(words[0]);
	if (!c->command)
		return;
	c->words = memory_get(n * sizeof(*c->words));
	id = completion_sort_words(c, words + 1, n - 1);
	if (id >= 0) {
		complete_option_value(c, (enum option_id)id);
	} else if (strncmp(c->word, "--", 2) == 0 && strchr(c->word, '=')) {
		const char *value = strchr(c->word, '=') + 1;

		id = option_find(c->word, true);
		complete_behind(c, (size_t)(value - c->word));
		c->word = value;
		if (id >= 0)
			complete_option_value(c, (enum option_id)id);
	} else if (c->word[0] == '-') {
		complete_options(c, c->command->options | OPTION_BIT(OPTION_HELP));
	} else {
		complete_words(c);
	}
	free(c->words);
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	/* Numbers of runs by value, the rest by letters. */
	if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y))
		return strverscmp(x, y);
	return strcmp(x, y);
}

static void complete_sort(struct complete_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_name);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && strcmp(list->items[kept - 1], list->items[i]) == 0)
			free(list->items[i]);
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

/* One command's words may stand on several lines of a paste: the cursor's command begins behind the
 * last line end that ends one. */
static size_t completion_command_start(const char *line, size_t point)
{
	size_t start = 0, n;

	while ((n = words_command_size(line + start, point - start)) > 0)
		start += n;
	return start;
}

void complete_line(const char *line, size_t point, const struct complete_source *source,
                   struct complete_list *out)
{
	struct completion c = {.source = source, .list = out, .word = "", .prefix = ""};
	size_t begin = completion_command_start(line, point);
	struct words w;
	size_t before;

	*out = (struct complete_list){.start = point};
	words_scan(line + begin, point - begin, &w);
	before = w.in_word ? w.count - 1 : w.count;
	if (w.in_word) {
		c.word = c.prefix = w.items[before];
		out->start = begin + w.starts[before] + (w.quote != 0);
		/* What is quoted in another way does not stand in the line as it reads: hands off.
		 */
		if (strncmp(line + out->start, c.word, strlen(c.word)) != 0 ||
		    out->start + strlen(c.word) != point) {
			words_free(&w);
			return;
		}
	}
	if (!w.in_comment && w.end != WORDS_IN_ESCAPE)
		complete_word(&c, w.items, before);
	complete_sort(out);
	words_free(&w);
}

void complete_free(struct complete_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct complete_list){0};
}
