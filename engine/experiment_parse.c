#include "experiment.h"

#include <asm/ldt.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "experiment_source.h"
#include "experiment_words.h"
#include "host.h"
#include "protocol.h"

enum {
	MAX_CURVE_BYTES = 1 << 20,
	MAX_LINES = 1000,
	MAX_WORDS = 256,
	MAX_STACK = 4096,
	MAX_ALIGN = 4096,
	MAX_COPIES = 8192,
	MAX_TURN_STACK = 256 << 10,
	MAX_WARM = 1000000
};

/* Also the order in which lines are taken in: factors before what names their levels, repeat before
 * evict. */
enum key {
	KEY_TITLE,
	KEY_SOURCE,
	KEY_GROUP,
	KEY_NOTE,
	KEY_ABI,
	KEY_FACTOR,
	KEY_DEFAULT,
	KEY_EXCLUDE,
	KEY_NEEDS,
	KEY_REPEAT,
	KEY_STACK,
	KEY_ALIGN,
	KEY_EXPECT,
	KEY_EVICT,
	KEY_CURVE,
	KEY_PATTERN,
	KEY_LDT,
	KEY_SEGMENT,
	KEY_REPORT,
	KEY_WARM,
	KEYS,
};

const struct experiment_key experiment_keys[] = {
        [KEY_TITLE] = {.name = "title",
                       .form = "TEXT",
                       .help = "What is measured, in one line.",
                       .required = true},
        [KEY_SOURCE] = {.name = "source",
                        .form = "TEXT",
                        .help = "Who asked the question, when and where."},
        [KEY_GROUP] =
                {.name = "group",
                 .form = "TEXT",
                 .help = "The heading that the experiment is listed under; without it: Other."},
        [KEY_NOTE] = {.name = "note",
                      .form = "[TEXT]",
                      .help = "A line of documentation, for the command show.",
                      .repeats = true},
        [KEY_ABI] = {.name = "abi",
                     .form = "ABI...",
                     .help = "The ABIs that the code is for, i386 or x86_64 or both; without it: "
                             "x86_64 i386."},
        [KEY_FACTOR] =
                {.name = "factor",
                 .form = "NAME LEVEL... [| TEXT] or NAME LO..HI [| TEXT]",
                 .help = "A knob and its settings: words, or any whole number from LO to HI.",
                 .repeats = true},
        [KEY_DEFAULT] = {.name = "default",
                         .form = "FACTOR=LEVEL,... ...",
                         .help = "The levels that are used where a command does not name the "
                                 "factor; without it: the factor's first."},
        [KEY_EXCLUDE] = {.name = "exclude",
                         .form = "CONDITION [| WHY]",
                         .help = "Variants for which the condition holds do not exist.",
                         .repeats = true},
        [KEY_NEEDS] = {.name = "needs",
                       .form = "[CONDITION] CAPABILITY...",
                       .help = "Variants for which the condition holds exist only on machines with "
                               "every capability named.",
                       .repeats = true},
        [KEY_REPEAT] = {.name = "repeat",
                        .form = "[CONDITION] unroll|loop [COPIES]|once",
                        .help = "How iterations follow each other; without it: unroll.",
                        .repeats = true},
        [KEY_STACK] = {.name = "stack",
                       .form = "[CONDITION] BYTES",
                       .help = "Bytes that each iteration leaves on the stack, 0 to 4096; without "
                               "it: 0.",
                       .repeats = true},
        [KEY_ALIGN] = {.name = "align",
                       .form = "BYTES",
                       .help = "Code is placed at multiples of this power of two, 1 to 4096; "
                               "without it: 1."},
        [KEY_EXPECT] =
                {.name = "expect",
                 .form = "[CONDITION] FIELD == EXPRESSION",
                 .help = "What must hold after the functional check, before anything is timed.",
                 .repeats = true},
        [KEY_EVICT] = {.name = "evict",
                       .form = "[CONDITION] code|pool|buffer|all flush|walk [SIZE]",
                       .help = "What is put out of the caches before each single shot; only with "
                               "repeat once.",
                       .repeats = true},
        [KEY_CURVE] = {.name = "curve",
                       .form = "FACTOR [BYTES [FACTOR]]",
                       .help = "The factor, a range or one whose levels are all numbers, that a "
                               "run is drawn against; how many bytes one of its number takes, "
                               "times the number of a second factor."},
        [KEY_PATTERN] = {.name = "pattern",
                         .form = "FACTOR FACTOR",
                         .help = "The factors whose levels are the share of ones in a pattern of "
                                 "zeros and ones, in percent, and its kind: random, short or "
                                 "blocks."},
        [KEY_LDT] =
                {.name = "ldt",
                 .form = "[CONDITION] data|code COUNT",
                 .help = "Flat descriptors in the LDT: data, up to 8192, from its entry 0 on; or "
                         "code, up to 256.",
                 .repeats = true},
        [KEY_SEGMENT] = {.name = "segment",
                         .form = "[CONDITION] code16|code32",
                         .help = "A code segment in the LDT whose base is the address of the pool; "
                                 "i386 only.",
                         .repeats = true},
        [KEY_REPORT] = {.name = "report",
                        .form = "COUNT cycles|seconds",
                        .help = "One more figure: what so many iterations cost, in that unit."},
        [KEY_WARM] = {.name = "warm",
                      .form = "[CONDITION] ITERATIONS",
                      .help = "Iterations of a loop that are run untimed before each timed "
                              "execution; without it: 4.",
                      .repeats = true},
};
const size_t experiment_key_count = KEYS;

struct header_line {
	unsigned line;
	enum key key;
	char *value;  /* trimmed */
	char *remark; /* behind '|', or "" */
};

struct parser {
	struct experiment *x;
	const char *path;
	struct header_line *lines;
	size_t line_count;
	long repeat, stack, warm; /* of the lines without a condition; -1: none yet */
	struct error *err;
};

/* The message is about a line of the file. */
#define FAIL(p, at_line, ...)                                                                      \
	experiment_words_fail(&(struct experiment_words_place){(p)->path, at_line}, (p)->err,      \
	                      __VA_ARGS__)

static char *trim(char *s)
{
	s += strspn(s, " \t");
	size_t n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	s[n] = '\0';
	return s;
}

/* Replaces *to by a copy of text. */
static int set_text(struct parser *p, char **to, const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		return experiment_words_no_memory(p->err);
	free(*to);
	*to = copy;
	return 0;
}

static int unknown_key(struct parser *p, unsigned line, const char *key)
{
	const char *names[KEYS];
	char hint[64];
	for (size_t i = 0; i < KEYS; i++)
		names[i] = experiment_keys[i].name;
	experiment_words_hint(hint, sizeof hint, key, names, KEYS);
	char *all = experiment_words_join((char *const *)names, KEYS, " ");
	if (!all)
		return experiment_words_no_memory(p->err);
	int rc = FAIL(p, line, "there is no header key '%.40s'%s (%s)", key, hint, all);
	free(all);
	return rc;
}

static bool has_remark(enum key key)
{
	return key != KEY_TITLE && key != KEY_SOURCE && key != KEY_GROUP && key != KEY_NOTE;
}

/* Puts a line into its parts; text is what follows "#:" and is kept in the line's value. */
static int split_line(struct parser *p, unsigned line, char *text)
{
	for (const char *c = text; *c; c++)
		if ((*c > 0 && *c < ' ' && *c != '\t') || *c == 0x7f)
			return FAIL(p, line, "a control character (0x%02x) in the header", *c);
	char *word = trim(text), *rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = '\0';
	if (!*word)
		return FAIL(p, line, "no key behind '#:' (for documentation: '#: note TEXT')");
	enum key key = 0;
	while (key < KEYS && strcmp(experiment_keys[key].name, word))
		key++;
	if (key == KEYS)
		return unknown_key(p, line, word);
	for (size_t i = 0; i < p->line_count && !experiment_keys[key].repeats; i++)
		if (p->lines[i].key == key)
			return FAIL(p, line, "%s stands twice: line %u has it too", word,
			            p->lines[i].line);
	if (p->line_count == MAX_LINES)
		return FAIL(p, line, "more than %d header lines", MAX_LINES);
	char *bar = has_remark(key) ? strchr(rest, '|') : NULL;
	if (bar)
		*bar++ = '\0';
	struct header_line h = {.line = line, .key = key};
	h.value = strdup(trim(rest));
	h.remark = strdup(bar ? trim(bar) : "");
	p->lines[p->line_count++] = h;
	if (!h.value || !h.remark)
		return experiment_words_no_memory(p->err);
	if (!*h.value && key != KEY_NOTE)
		return FAIL(p, line, "%s needs a value: %s", word, experiment_keys[key].form);
	return 0;
}

/* Goes through the lines: those of the header are taken apart, and must stand above the code. */
static int collect_lines(struct parser *p)
{
	const char *code = p->x->code, *text = p->x->text;
	unsigned line = 1, code_line = 0;
	p->lines = calloc(MAX_LINES, sizeof *p->lines);
	if (!p->lines)
		return experiment_words_no_memory(p->err);
	for (const char *end; *code; code = end + 1, line++) {
		end = strchr(code, '\n');
		code += strspn(code, " \t\r");
		if (strncmp(code, "#:", 2)) {
			if (!code_line && *code != '\n')
				code_line = line;
			continue;
		}
		if (code_line)
			return FAIL(p, line, "a header line behind code: move it above line %u",
			            code_line);
		char *copy = strndup(text + (code + 2 - p->x->code), (size_t)(end - code - 2));
		if (!copy)
			return experiment_words_no_memory(p->err);
		int rc = split_line(p, line, copy);
		free(copy);
		if (rc)
			return rc;
	}
	return 0;
}

/* Cuts s into words at blanks (and at commas, if separators has them). Too many: ERROR_INPUT. */
static int split_words(struct parser *p, const struct header_line *h, char *s,
                       const char *separators, char **words, size_t *count)
{
	char *save;
	*count = 0;
	for (char *w = strtok_r(s, separators, &save); w; w = strtok_r(NULL, separators, &save)) {
		if (*count == MAX_WORDS)
			return FAIL(p, h->line, "more than %d words", MAX_WORDS);
		words[(*count)++] = w;
	}
	return 0;
}

/* Conditions. */

/* The levels of f that are not in the list. */
static int complement(struct parser *p, const struct header_line *h,
                      const struct experiment_factor *f, struct experiment_words_list *levels)
{
	struct experiment_words_list rest = {0};
	int rc = 0;
	if (f->range) {
		experiment_words_list_free(levels);
		return FAIL(p, h->line, "'!=' is for factors with listed levels; %s is a range",
		            f->name);
	}
	for (size_t i = 0; i < f->level_count && !rc; i++) {
		bool listed = false;
		for (size_t j = 0; j < levels->count; j++)
			listed |= !strcmp(levels->items[j], f->levels[i]);
		if (!listed)
			rc = experiment_words_add(&rest, f->levels[i], strlen(f->levels[i]),
			                          p->err);
	}
	experiment_words_list_free(levels);
	*levels = rest;
	if (!rc && !rest.count)
		rc = FAIL(p, h->line, "'!=' leaves no level of %s", f->name);
	return rc;
}

/* Adds one "factor=level,level" or "factor!=level,level" to a condition that has room for it. */
static int add_term(struct parser *p, const struct header_line *h, const char *word,
                    struct experiment_condition *c)
{
	struct experiment_words_place at = {p->path, h->line};
	struct experiment_words_list levels = {0};
	size_t factor;
	bool negated;
	const char *value;
	int rc = experiment_words_term(p->x, &at, word, &factor, &negated, &value, p->err);
	if (rc)
		return rc;
	const struct experiment_factor *f = &p->x->factors[factor];
	for (size_t i = 0; i < c->term_count; i++)
		if (c->terms[i].factor == factor)
			return FAIL(p, h->line,
			            "%s stands twice in the condition: write %s=LEVEL,LEVEL",
			            f->name, f->name);
	rc = experiment_words_parts(f, &at, value, &levels, p->err);
	if (!rc && negated)
		rc = complement(p, h, f, &levels);
	c->terms[c->term_count++] = (struct experiment_term){
	        .factor = factor, .levels = levels.items, .level_count = levels.count};
	return rc;
}

/* Takes the words with '=' as a condition; the others stay in words, *count of them. */
static int take_condition(struct parser *p, const struct header_line *h, char **words,
                          size_t *count, struct experiment_condition *c)
{
	size_t left = 0;
	int rc = 0;
	c->terms = calloc(*count ? *count : 1, sizeof *c->terms);
	if (!c->terms)
		return experiment_words_no_memory(p->err);
	for (size_t i = 0; i < *count && !rc; i++) {
		if (strchr(words[i], '='))
			rc = add_term(p, h, words[i], c);
		else
			words[left++] = words[i];
	}
	*count = left;
	return rc;
}

/* The keys. Each takes one line. */

static int take_title(struct parser *p, const struct header_line *h)
{
	return set_text(p, &p->x->title, h->value);
}

static int take_source(struct parser *p, const struct header_line *h)
{
	return set_text(p, &p->x->source, h->value);
}

static int take_group(struct parser *p, const struct header_line *h)
{
	return set_text(p, &p->x->group, h->value);
}

static int take_note(struct parser *p, const struct header_line *h)
{
	char *joined;
	if (!p->x->doc)
		return set_text(p, &p->x->doc, h->value);
	if (asprintf(&joined, "%s\n%s", p->x->doc, h->value) < 0)
		return experiment_words_no_memory(p->err);
	free(p->x->doc);
	p->x->doc = joined;
	return 0;
}

static int add_abi(struct parser *p, unsigned line, const char *name)
{
	struct experiment_factor *f = &p->x->factors[0];
	struct experiment_words_list levels = {f->levels, f->level_count};
	int abi = 0;
	while (abi < EXPERIMENT_ABIS && strcmp(experiment_abi_name[abi], name))
		abi++;
	if (abi == EXPERIMENT_ABIS) {
		char hint[64];
		experiment_words_hint(hint, sizeof hint, name, experiment_abi_name,
		                      EXPERIMENT_ABIS);
		return FAIL(p, line, "there is no ABI '%.40s'%s (i386 x86_64)", name, hint);
	}
	if (p->x->abis & 1u << abi)
		return FAIL(p, line, "abi names %s twice", name);
	p->x->abis |= 1u << abi;
	int rc = experiment_words_add(&levels, name, strlen(name), p->err);
	f->levels = levels.items;
	f->level_count = levels.count;
	return rc;
}

static int take_abi(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	int rc = split_words(p, h, h->value, " \t,", words, &count);
	p->x->factors[0].line = h->line;
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_abi(p, h->line, words[i]);
	return rc || count ? rc : FAIL(p, h->line, "abi names no ABI (i386 x86_64)");
}

static int add_factor_level(struct parser *p, const struct header_line *h,
                            struct experiment_factor *f, const char *level)
{
	struct experiment_words_list levels = {f->levels, f->level_count};
	if (!experiment_words_is_name(level))
		return FAIL(p, h->line,
		            "'%.80s' cannot be a level: levels are 1 to %d letters, digits and "
		            "underscores",
		            level, EXPERIMENT_WORDS_LENGTH);
	if (!strcmp(level, "all"))
		return FAIL(p, h->line,
		            "a level cannot be named 'all': commands write %s=all for every level",
		            f->name);
	for (size_t i = 0; i < f->level_count; i++)
		if (!strcmp(f->levels[i], level))
			return FAIL(p, h->line, "factor %s has the level %s twice", f->name, level);
	if (f->level_count == EXPERIMENT_WORDS_LEVELS)
		return FAIL(p, h->line, "factor %s has more than %d levels", f->name,
		            EXPERIMENT_WORDS_LEVELS);
	int rc = experiment_words_add(&levels, level, strlen(level), p->err);
	f->levels = levels.items;
	f->level_count = levels.count;
	return rc;
}

static int set_range(struct parser *p, const struct header_line *h, struct experiment_factor *f,
                     const char *range)
{
	if (!experiment_words_range(range, &f->lo, &f->hi))
		return FAIL(p, h->line,
		            "'%.80s' is no range: LO..HI are whole numbers from 0 to %d", range,
		            EXPERIMENT_WORDS_NUMBER);
	if (f->lo > f->hi)
		return FAIL(p, h->line, "%s is an empty range: the smaller number comes first",
		            range);
	f->range = true;
	return 0;
}

static int check_factor_name(struct parser *p, const struct header_line *h, const char *name)
{
	if (!experiment_words_is_name(name) || (name[0] >= '0' && name[0] <= '9'))
		return FAIL(p, h->line,
		            "'%.80s' cannot be a factor: a letter or underscore, then letters, "
		            "digits and underscores, %d at most",
		            name, EXPERIMENT_WORDS_LENGTH);
	if (!strcmp(name, "abi"))
		return FAIL(p, h->line, "abi is a factor of every file: write '#: abi ABI...'");
	for (size_t i = 1; i < p->x->factor_count; i++)
		if (!strcmp(p->x->factors[i].name, name))
			return FAIL(p, h->line, "factor %s stands twice: line %u has it too", name,
			            p->x->factors[i].line);
	if (p->x->factor_count > EXPERIMENT_WORDS_FACTORS)
		return FAIL(p, h->line, "more than %d factors", EXPERIMENT_WORDS_FACTORS);
	return 0;
}

static int take_factor(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc)
		rc = check_factor_name(p, h, words[0]);
	if (rc)
		return rc;
	struct experiment_factor *f = &p->x->factors[p->x->factor_count++];
	f->line = h->line;
	rc = set_text(p, &f->name, words[0]);
	if (!rc)
		rc = set_text(p, &f->doc, h->remark);
	if (!rc && count == 1)
		return FAIL(p, h->line, "factor %s has no levels: %s", f->name,
		            experiment_keys[KEY_FACTOR].form);
	if (!rc && count == 2 && strstr(words[1], ".."))
		return set_range(p, h, f, words[1]);
	for (size_t i = 1; i < count && !rc; i++)
		rc = strstr(words[i], "..")
		             ? FAIL(p, h->line, "%.80s: a range stands alone, without other levels",
		                    words[i])
		             : add_factor_level(p, h, f, words[i]);
	return rc;
}

static int add_default(struct parser *p, const struct header_line *h, const char *word)
{
	struct experiment_words_place at = {p->path, h->line};
	struct experiment_words_list levels;
	size_t factor;
	bool negated;
	const char *value;
	int rc = experiment_words_term(p->x, &at, word, &factor, &negated, &value, p->err);
	if (rc)
		return rc;
	struct experiment_factor *f = &p->x->factors[factor];
	if (negated)
		return FAIL(p, h->line, "'!=' is for conditions: write %s=LEVEL,LEVEL", f->name);
	if (f->default_count)
		return FAIL(p, h->line, "%s stands twice in default", f->name);
	rc = experiment_words_levels(f, &at, value, &levels, p->err);
	if (!rc) {
		f->defaults = levels.items;
		f->default_count = levels.count;
	}
	return rc;
}

static int take_default(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_default(p, h, words[i]);
	return rc;
}

static int take_exclude(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_exclude *e = &p->x->excludes[p->x->exclude_count++];
	e->line = h->line;
	int rc = set_text(p, &e->why, h->remark);
	if (!rc)
		rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc)
		rc = take_condition(p, h, words, &count, &e->when);
	if (!rc && count)
		rc = FAIL(p, h->line, "'%.60s' is not FACTOR=LEVEL (a reason stands behind '|')",
		          words[0]);
	if (!rc && !e->when.term_count)
		rc = FAIL(p, h->line, "a condition is missing: it would exclude everything");
	return rc;
}

static int add_capability(struct parser *p, const struct header_line *h,
                          struct experiment_need *need, const char *name)
{
	const char *names[HOST_CAPABILITIES];
	char hint[128];
	struct experiment_words_list list = {need->capabilities, need->capability_count};
	if (host_capability_find(name) >= 0) {
		int rc = experiment_words_add(&list, name, strlen(name), p->err);
		need->capabilities = list.items;
		need->capability_count = list.count;
		return rc;
	}
	for (size_t i = 0; i < HOST_CAPABILITIES; i++)
		names[i] = host_capabilities[i].name;
	experiment_words_hint(hint, sizeof hint, name, names, HOST_CAPABILITIES);
	char *all = experiment_words_join((char *const *)names, HOST_CAPABILITIES, " ");
	if (!all)
		return experiment_words_no_memory(p->err);
	int rc = FAIL(p, h->line, "there is no capability '%.60s'%s (%s)", name, hint, all);
	free(all);
	return rc;
}

static int take_needs(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_need *need = &p->x->needs[p->x->need_count++];
	need->line = h->line;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc)
		rc = take_condition(p, h, words, &count, &need->when);
	if (!rc && !count)
		rc = FAIL(p, h->line, "needs names no capability: %s",
		          experiment_keys[KEY_NEEDS].form);
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_capability(p, h, need, words[i]);
	return rc;
}

/* Takes the condition of a line with a value, which is what is left in words. */
static int take_setting(struct parser *p, const struct header_line *h, struct experiment_setting *s,
                        char **words, size_t *count)
{
	s->line = h->line;
	int rc = split_words(p, h, h->value, " \t", words, count);
	return rc ? rc : take_condition(p, h, words, count, &s->when);
}

/* A line without a condition is the fallback of its key, and there is one. */
static int keep_setting(struct parser *p, const struct header_line *h,
                        struct experiment_setting *list, size_t *n, long *fallback)
{
	struct experiment_setting *s = &list[*n];
	if (s->when.term_count) {
		++*n;
		return 0;
	}
	free(s->when.terms);
	s->when.terms = NULL;
	if (*fallback >= 0)
		return FAIL(p, h->line, "%s stands twice without a condition",
		            experiment_keys[h->key].name);
	*fallback = s->value;
	return 0;
}

static int take_repeat(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS], hint[64];
	size_t count;
	struct experiment_setting *s = &p->x->repeats[p->x->repeat_count];
	int rc = take_setting(p, h, s, words, &count);
	if (rc)
		return rc;
	s->value = -1;
	for (int i = 0; i < 3 && count; i++)
		if (!strcmp(experiment_repeat_name[i], words[0]))
			s->value = i;
	s->count = 1;
	if (count > 1 && s->value == EXPERIMENT_LOOP &&
	    (!experiment_words_number(words[1], strlen(words[1]), &s->count) || s->count < 1 ||
	     s->count > MAX_COPIES))
		return FAIL(p, h->line,
		            "a turn of a loop has from 1 to %d copies of the body, not '%.60s'",
		            MAX_COPIES, words[1]);
	if (s->value >= 0 && count > (s->value == EXPERIMENT_LOOP ? 2 : 1))
		return FAIL(p, h->line, "repeat %s: '%.60s' is one word too many", words[0],
		            words[count - 1]);
	if (s->value >= 0) {
		p->x->copies = s->when.term_count ? p->x->copies : (uint32_t)s->count;
		return keep_setting(p, h, p->x->repeats, &p->x->repeat_count, &p->repeat);
	}
	const char *word = count ? words[0] : "";
	experiment_words_hint(hint, sizeof hint, word, experiment_repeat_name, 3);
	return FAIL(p, h->line, "repeat is unroll, loop or once, not '%.60s'%s", word, hint);
}

static int take_stack(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_setting *s = &p->x->stacks[p->x->stack_count];
	char value[61];
	snprintf(value, sizeof value, "%s", h->value);
	int rc = take_setting(p, h, s, words, &count);
	if (rc)
		return rc;
	if (count != 1 || !experiment_words_number(words[0], strlen(words[0]), &s->value) ||
	    s->value > MAX_STACK)
		return FAIL(p, h->line, "stack is a number of bytes from 0 to %d, not '%.60s'",
		            MAX_STACK, value);
	return keep_setting(p, h, p->x->stacks, &p->x->stack_count, &p->stack);
}

/* Data descriptors fill the LDT from entry 0 on (LDT_ENTRIES of asm/ldt.h), code descriptors have a
 * place in its middle. */
static int take_ldt(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_setting *s = &p->x->ldts[p->x->ldt_count++];
	int rc = take_setting(p, h, s, words, &count);
	if (rc)
		return rc;
	bool kind = count == 2 && (!strcmp(words[0], "data") || !strcmp(words[0], "code"));
	if (!kind || !experiment_words_number(words[1], strlen(words[1]), &s->count) ||
	    s->count < 1 || s->count > (words[0][0] == 'c' ? PROTOCOL_LDT_CODE_MOST : LDT_ENTRIES))
		return FAIL(p, h->line,
		            "ldt is data and a number of descriptors from 1 to %d, or code and one "
		            "from 1 to %d",
		            LDT_ENTRIES, PROTOCOL_LDT_CODE_MOST);
	s->value = words[0][0] == 'c';
	return 0;
}

static int take_warm(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_setting *s = &p->x->warms[p->x->warm_count];
	int rc = take_setting(p, h, s, words, &count);
	if (rc)
		return rc;
	if (count != 1 || !experiment_words_number(words[0], strlen(words[0]), &s->value) ||
	    s->value < 1 || s->value > MAX_WARM)
		return FAIL(p, h->line, "warm is a number of iterations from 1 to %d, not '%.60s'",
		            MAX_WARM, count ? words[0] : "");
	bool loop = p->repeat == EXPERIMENT_LOOP;
	for (size_t i = 0; i < p->x->repeat_count; i++)
		loop |= p->x->repeats[i].value == EXPERIMENT_LOOP;
	if (!loop)
		return FAIL(p, h->line,
		            "warm goes with '#: repeat loop' alone: other forms run all code once");
	return keep_setting(p, h, p->x->warms, &p->x->warm_count, &p->warm);
}

static int take_segment(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	struct experiment_setting *s = &p->x->segments[p->x->segment_count++];
	int rc = take_setting(p, h, s, words, &count);
	if (rc)
		return rc;
	s->value = count == 1 && !strcmp(words[0], "code16")   ? 16
	           : count == 1 && !strcmp(words[0], "code32") ? 32
	                                                       : 0;
	return s->value ? 0 : FAIL(p, h->line, "segment is code16 or code32");
}

/* The index of a factor by its name alone. */
static int find_factor(struct parser *p, const struct header_line *h, const char *name,
                       long *factor)
{
	struct experiment_words_place at = {p->path, h->line};
	char word[EXPERIMENT_WORDS_LENGTH + 2];
	const char *value;
	size_t index;
	bool negated;
	if (!experiment_words_is_name(name))
		return FAIL(p, h->line, "%s is the name of one factor, not '%.60s'",
		            experiment_keys[h->key].name, name);
	snprintf(word, sizeof word, "%s=", name);
	int rc = experiment_words_term(p->x, &at, word, &index, &negated, &value, p->err);
	if (!rc)
		*factor = (long)index;
	return rc;
}

static int take_pattern(struct parser *p, const struct header_line *h)
{
	static const char *const kinds[] = {"random", "short", "blocks"};
	char *words[MAX_WORDS];
	size_t count;
	long share;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc && count != 2)
		rc = FAIL(p, h->line,
		          "pattern names two factors: that of the share, that of the kind");
	if (!rc)
		rc = find_factor(p, h, words[0], &p->x->pattern_share);
	if (!rc)
		rc = find_factor(p, h, words[1], &p->x->pattern_kind);
	if (rc)
		return rc;
	const struct experiment_factor *f = &p->x->factors[p->x->pattern_share];
	for (size_t i = 0; i < f->level_count; i++)
		if (!experiment_words_number(f->levels[i], strlen(f->levels[i]), &share) ||
		    share > 100)
			return FAIL(p, h->line,
			            "a share is 0 to 100 percent, and %s has the level %s", f->name,
			            f->levels[i]);
	if (f->range && f->hi > 100)
		return FAIL(p, h->line, "a share is 0 to 100 percent, and %s goes to %ld", f->name,
		            f->hi);
	f = &p->x->factors[p->x->pattern_kind];
	for (size_t i = 0; i < f->level_count; i++)
		if (strcmp(f->levels[i], kinds[0]) && strcmp(f->levels[i], kinds[1]) &&
		    strcmp(f->levels[i], kinds[2]))
			return FAIL(p, h->line,
			            "a pattern is random, short or blocks, and %s has the level %s",
			            f->name, f->levels[i]);
	return f->range ? FAIL(p, h->line, "a pattern is random, short or blocks: %s is a range",
	                       f->name)
	                : 0;
}

static int take_report(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	long n = 0;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (rc)
		return rc;
	bool unit = count == 2 && (!strcmp(words[1], "cycles") || !strcmp(words[1], "seconds"));
	if (!unit || !experiment_words_number(words[0], strlen(words[0]), &n) || n < 1 ||
	    n > 1000000000)
		return FAIL(p, h->line,
		            "report is a number from 1 to 1000000000, and cycles or seconds");
	p->x->report_count = (uint32_t)n;
	p->x->report_seconds = words[1][0] == 's';
	return 0;
}

static int take_align(struct parser *p, const struct header_line *h)
{
	long bytes;
	if (!experiment_words_number(h->value, strlen(h->value), &bytes) || bytes < 1 ||
	    bytes > MAX_ALIGN || bytes & (bytes - 1))
		return FAIL(p, h->line, "align is a power of two from 1 to %d, not '%.60s'",
		            MAX_ALIGN, h->value);
	p->x->align = (uint32_t)bytes;
	return 0;
}

static int check_field(struct parser *p, const struct header_line *h, const char *name)
{
	const char *names[256];
	char hint[128];
	size_t n = 0;
	if (environment_field_find(name) >= 0)
		return 0;
	for (; n < environment_field_count && n < sizeof names / sizeof names[0]; n++)
		names[n] = environment_fields[n].name;
	experiment_words_hint(hint, sizeof hint, name, names, n);
	return FAIL(p, h->line, "the environment has no field '%.60s'%s", name, hint);
}

/* Decimal, or hexadecimal behind 0x; no octal numbers. */
static bool read_integer(const char *s, int64_t *out)
{
	char *end;
	const char *digits = s + (*s == '-');
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	errno = 0;
	*out = strtoll(s, &end, hex ? 16 : 10);
	return end != s && !*end && !errno;
}

/* "iterations", NUMBER*iterations, NUMBER or a field; blanks are gone. */
static int read_expression(struct parser *p, const struct header_line *h, char *s,
                           struct experiment_expect *e)
{
	char *star = strchr(s, '*');
	e->number = 1;
	if (!strcmp(s, "iterations")) {
		e->iterations = true;
		return 0;
	}
	if (star && !strcmp(star + 1, "iterations")) {
		*star = '\0';
		e->iterations = true;
	}
	if (read_integer(s, &e->number))
		return 0;
	if (e->iterations || !*s || strspn(s, "+-0123456789"))
		return FAIL(p, h->line,
		            "'%.60s' is no expression: a whole number, iterations, "
		            "NUMBER*iterations or a field",
		            e->text);
	int rc = check_field(p, h, s);
	return rc ? rc : set_text(p, &e->other, s);
}

static void squeeze(char *s)
{
	char *to = s;
	for (; *s; s++)
		if (*s != ' ' && *s != '\t')
			*to++ = *s;
	*to = '\0';
}

static int take_expect(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS], *sign = strstr(h->value, "==");
	size_t count;
	struct experiment_expect *e = &p->x->expects[p->x->expect_count++];
	e->line = h->line;
	int rc = set_text(p, &e->text, h->value);
	if (rc)
		return rc;
	if (!sign)
		return FAIL(p, h->line, "'==' is missing: %s", experiment_keys[KEY_EXPECT].form);
	*sign = '\0';
	squeeze(sign + 2);
	rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc)
		rc = take_condition(p, h, words, &count, &e->when);
	if (!rc && count != 1)
		rc = FAIL(p, h->line, "one field stands before '==': %s",
		          experiment_keys[KEY_EXPECT].form);
	if (!rc)
		rc = check_field(p, h, words[0]);
	if (!rc)
		rc = set_text(p, &e->field, words[0]);
	return rc ? rc : read_expression(p, h, sign + 2, e);
}

/* "64K", "64M" or bytes: whole cache lines, 64 to 1 GiB. */
static bool read_size(const char *s, uint64_t *out)
{
	size_t n = strlen(s);
	long number, unit = 1;
	if (n && (s[n - 1] == 'K' || s[n - 1] == 'M'))
		unit = s[--n] == 'K' ? 1l << 10 : 1l << 20;
	if (!experiment_words_number(s, n, &number) || number > (1l << 30) / unit)
		return false;
	*out = (uint64_t)(number * unit);
	return *out && *out % 64 == 0;
}

static int read_eviction(struct parser *p, const struct header_line *h, char **words, size_t count,
                         struct experiment_evict *e)
{
	static const char *const targets[] = {
	        [EVICT_CODE] = "code",
	        [EVICT_POOL] = "pool",
	        [EVICT_BUFFER] = "buffer",
	        [EVICT_ALL] = "all",
	};
	size_t target = 0;
	while (count && target < EVICT_ALL + 1 && strcmp(targets[target], words[0]))
		target++;
	if (count < 2 || target == EVICT_ALL + 1)
		return FAIL(p, h->line, "evict is %s", experiment_keys[KEY_EVICT].form);
	e->target = target;
	e->flush = !strcmp(words[1], "flush");
	if (!e->flush && strcmp(words[1], "walk"))
		return FAIL(p, h->line, "evict %s is done by flush or walk, not by '%.60s'",
		            words[0], words[1]);
	if (e->flush && e->target == EVICT_ALL)
		return FAIL(p, h->line,
		            "evict all goes by walk alone: there is no address to flush");
	if (!e->flush && e->target == EVICT_POOL)
		return FAIL(p, h->line,
		            "evict pool goes by flush alone: a walk pushes out all code");
	if (e->flush && count > 2)
		return FAIL(p, h->line, "evict %s flush takes no size", words[0]);
	if (!e->flush && (count != 3 || !read_size(words[2], &e->walk)))
		return FAIL(p, h->line,
		            "evict %s walk needs a size: a multiple of 64 bytes up to 1024M, such "
		            "as 64K",
		            words[0]);
	return 0;
}

static int take_evict(struct parser *p, const struct header_line *h)
{
	char *words[MAX_WORDS];
	size_t count;
	bool once = p->repeat == EXPERIMENT_ONCE;
	for (size_t i = 0; i < p->x->repeat_count; i++)
		once |= p->x->repeats[i].value == EXPERIMENT_ONCE;
	if (!once)
		return FAIL(p, h->line,
		            "evict goes with '#: repeat once' alone: between iterations it would "
		            "be timed");
	struct experiment_evict *e = &p->x->evicts[p->x->evict_count++];
	e->line = h->line;
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (!rc)
		rc = take_condition(p, h, words, &count, &e->when);
	return rc ? rc : read_eviction(p, h, words, count, e);
}

/* A factor whose levels are numbers. */
static int find_numbers(struct parser *p, const struct header_line *h, const char *name,
                        const char *what, long *factor)
{
	long number;
	int rc = find_factor(p, h, name, factor);
	if (rc)
		return rc;
	const struct experiment_factor *f = &p->x->factors[*factor];
	for (size_t i = 0; i < f->level_count; i++)
		if (!experiment_words_number(f->levels[i], strlen(f->levels[i]), &number))
			return FAIL(p, h->line,
			            "curve needs numbers to %s, and %s has the level %s", what,
			            f->name, f->levels[i]);
	return 0;
}

/* "n", or "n 8 stride": what one of n takes is 8 bytes times the stride. */
static int take_curve(struct parser *p, const struct header_line *h)
{
	struct experiment *x = p->x;
	char *words[MAX_WORDS];
	size_t count;
	long bytes = 0;
	char value[61];
	snprintf(value, sizeof value, "%s", h->value);
	int rc = split_words(p, h, h->value, " \t", words, &count);
	if (rc)
		return rc;
	if (count > 1 && !experiment_words_number(words[1], strlen(words[1]), &bytes))
		return FAIL(p, h->line, "curve is the name of one factor, not '%s'", value);
	if (count > 3 || (count > 1 && (bytes < 1 || bytes > MAX_CURVE_BYTES)))
		return FAIL(p, h->line,
		            "curve is a factor, how many bytes one of its number takes (1 to %d), "
		            "and a factor that they are multiplied by, not '%s'",
		            MAX_CURVE_BYTES, value);
	x->curve_bytes = (uint32_t)bytes;
	rc = find_numbers(p, h, words[0], "draw against", &x->curve);
	if (!rc && count == 3)
		rc = find_numbers(p, h, words[2], "multiply by", &x->curve_scale);
	if (!rc && x->curve_scale == x->curve)
		rc = FAIL(p, h->line, "curve: %s cannot be multiplied by itself", words[0]);
	return rc;
}

/* abi first, so that its terms work as those of every other factor. */
static int add_abi_factor(struct parser *p)
{
	struct experiment_factor *f = &p->x->factors[p->x->factor_count++];
	int rc = set_text(p, &f->name, "abi");
	return rc ? rc : set_text(p, &f->doc, "the kind of code");
}

/* Both, if no line names them. */
static int fill_abi(struct parser *p)
{
	if (p->x->abis)
		return 0;
	int rc = add_abi(p, 1, experiment_abi_name[EXPERIMENT_X86_64]);
	return rc ? rc : add_abi(p, 1, experiment_abi_name[EXPERIMENT_I386]);
}

static int fill_defaults(struct parser *p)
{
	int rc = 0;
	for (size_t i = 0; i < p->x->factor_count && !rc; i++) {
		struct experiment_factor *f = &p->x->factors[i];
		struct experiment_words_list list = {0};
		if (f->default_count)
			continue;
		if (f->range)
			return FAIL(p, f->line,
			            "%s is a range and needs a default: '#: default %s=%ld'",
			            f->name, f->name, f->lo);
		rc = experiment_words_add(&list, f->levels[0], strlen(f->levels[0]), p->err);
		f->defaults = list.items;
		f->default_count = list.count;
	}
	return rc;
}

static int fill_texts(struct parser *p)
{
	struct experiment *x = p->x;
	if (!x->title)
		return FAIL(p, 1,
		            "the header has no title: begin with '#: title WHAT IS MEASURED'");
	int rc = x->source ? 0 : set_text(p, &x->source, "");
	if (!rc && !x->group)
		rc = set_text(p, &x->group, "Other");
	if (!rc && !x->doc)
		rc = set_text(p, &x->doc, "");
	return rc;
}

/* Room for what the lines hold, abi included. */
static int make_room(struct parser *p)
{
	struct experiment *x = p->x;
	size_t lines[KEYS] = {0};
	for (size_t i = 0; i < p->line_count; i++)
		lines[p->lines[i].key]++;
	x->factors = calloc(lines[KEY_FACTOR] + 1, sizeof *x->factors);
	x->excludes = calloc(lines[KEY_EXCLUDE] + 1, sizeof *x->excludes);
	x->needs = calloc(lines[KEY_NEEDS] + 1, sizeof *x->needs);
	x->expects = calloc(lines[KEY_EXPECT] + 1, sizeof *x->expects);
	x->evicts = calloc(lines[KEY_EVICT] + 1, sizeof *x->evicts);
	x->repeats = calloc(lines[KEY_REPEAT] + 1, sizeof *x->repeats);
	x->stacks = calloc(lines[KEY_STACK] + 1, sizeof *x->stacks);
	x->ldts = calloc(lines[KEY_LDT] + 1, sizeof *x->ldts);
	x->segments = calloc(lines[KEY_SEGMENT] + 1, sizeof *x->segments);
	x->warms = calloc(lines[KEY_WARM] + 1, sizeof *x->warms);
	if (!x->factors || !x->excludes || !x->needs || !x->expects || !x->evicts || !x->repeats ||
	    !x->stacks || !x->ldts || !x->segments || !x->warms)
		return experiment_words_no_memory(p->err);
	return 0;
}

static int take_lines(struct parser *p)
{
	static int (*const take[KEYS])(struct parser *, const struct header_line *) = {
	        [KEY_TITLE] = take_title,     [KEY_SOURCE] = take_source,
	        [KEY_GROUP] = take_group,     [KEY_NOTE] = take_note,
	        [KEY_ABI] = take_abi,         [KEY_FACTOR] = take_factor,
	        [KEY_DEFAULT] = take_default, [KEY_EXCLUDE] = take_exclude,
	        [KEY_NEEDS] = take_needs,     [KEY_REPEAT] = take_repeat,
	        [KEY_STACK] = take_stack,     [KEY_ALIGN] = take_align,
	        [KEY_EXPECT] = take_expect,   [KEY_EVICT] = take_evict,
	        [KEY_CURVE] = take_curve,     [KEY_PATTERN] = take_pattern,
	        [KEY_LDT] = take_ldt,         [KEY_SEGMENT] = take_segment,
	        [KEY_REPORT] = take_report,   [KEY_WARM] = take_warm,
	};
	int rc = make_room(p);
	if (!rc)
		rc = add_abi_factor(p);
	for (enum key key = 0; key < KEYS && !rc; key++) {
		if (key == KEY_FACTOR)
			rc = fill_abi(p);
		for (size_t i = 0; i < p->line_count && !rc; i++)
			if (p->lines[i].key == key)
				rc = take[key](p, &p->lines[i]);
		if (key == KEY_DEFAULT && !rc)
			rc = fill_defaults(p);
	}
	p->x->repeat = p->repeat < 0 ? EXPERIMENT_UNROLL : (enum experiment_repeat)p->repeat;
	p->x->stack = p->stack < 0 ? 0 : (uint32_t)p->stack;
	p->x->warm = p->warm < 0 ? 0 : (uint32_t)p->warm;
	return rc ? rc : fill_texts(p);
}

/* The stack is taken back behind each turn of a loop: there must be room for one. */
static int check_turns(struct parser *p)
{
	const struct experiment *x = p->x;
	uint32_t copies = x->copies, stack = x->stack;
	for (size_t i = 0; i < x->repeat_count; i++)
		if (x->repeats[i].count > copies)
			copies = (uint32_t)x->repeats[i].count;
	for (size_t i = 0; i < x->stack_count; i++)
		if (x->stacks[i].value > stack)
			stack = (uint32_t)x->stacks[i].value;
	for (size_t i = 0; i < p->line_count && copies * stack > MAX_TURN_STACK; i++)
		if (p->lines[i].key == KEY_STACK)
			return FAIL(
			        p, p->lines[i].line,
			        "%u bytes from each of %u copies are more than the %d that a turn "
			        "of a loop may leave on the stack",
			        stack, copies, MAX_TURN_STACK);
	return 0;
}

/* What is about the pool needs one. */
static int check_pool(struct parser *p)
{
	const struct experiment *x = p->x;
	for (size_t i = 0; i < x->evict_count && !x->has_macro_pool; i++)
		if (x->evicts[i].target == EVICT_POOL)
			return FAIL(p, x->evicts[i].line, "evict pool: the file has no macro pool");
	if (x->segment_count && !x->has_macro_pool)
		return FAIL(p, x->segments[0].line, "segment: the file has no macro pool");
	return 0;
}

static int parse(struct parser *p, const char *name, const char *text, size_t size)
{
	struct experiment *x = p->x;
	x->align = 1;
	x->curve = x->curve_scale = x->pattern_share = x->pattern_kind = -1;
	int rc = set_text(p, &x->name, name);
	if (!rc)
		rc = set_text(p, &x->path, p->path);
	if (!rc)
		rc = experiment_source_keep(x, p->path, text, size, p->err);
	if (!rc)
		rc = collect_lines(p);
	if (!rc)
		rc = take_lines(p);
	if (!rc)
		rc = check_turns(p);
	if (!rc)
		rc = experiment_source_macros(x, p->path, p->err);
	return rc ? rc : check_pool(p);
}

int experiment_parse(const char *name, const char *path, const char *text, size_t size,
                     struct experiment **out, struct error *err)
{
	struct parser p = {.path = path, .repeat = -1, .stack = -1, .warm = -1, .err = err};
	*out = NULL;
	p.x = calloc(1, sizeof *p.x);
	if (!p.x)
		return experiment_words_no_memory(err);
	int rc = parse(&p, name, text, size);
	for (size_t i = 0; i < p.line_count; i++) {
		free(p.lines[i].value);
		free(p.lines[i].remark);
	}
	free(p.lines);
	if (rc)
		experiment_free(p.x);
	else
		*out = p.x;
	return rc;
}
