#include "keyfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r";

struct reader {
	const char *path;
	const struct experiment_key *keys;
	size_t key_count;
	struct keyfile *out;
	unsigned line;
	struct error *err;
};

#define FAIL(r, ...)                                                                               \
	experiment_words_fail(&(struct experiment_words_place){(r)->path, (r)->line}, (r)->err,    \
	                      __VA_ARGS__)

void keyfile_free(struct keyfile *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->lines[i].value);
	free(k->lines);
	*k = (struct keyfile){0};
}

const struct keyfile_line *keyfile_find(const struct keyfile *k, size_t key)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->lines[i].key == key)
			return &k->lines[i];
	return NULL;
}

/* The n bytes at s without blanks around them. */
static const char *trimmed(const char *s, size_t *n)
{
	while (*n && strchr(blanks, s[*n - 1]))
		--*n;
	while (*n && strchr(blanks, *s)) {
		s++;
		--*n;
	}
	return s;
}

static int unknown_key(struct reader *r, const char *word)
{
	struct experiment_words_list names = {0};
	char hint[128];
	int rc = 0;
	for (size_t i = 0; i < r->key_count && !rc; i++)
		rc = experiment_words_add(&names, r->keys[i].name, strlen(r->keys[i].name), r->err);
	char *all = rc ? NULL : experiment_words_join(names.items, names.count, " ");
	experiment_words_hint(hint, sizeof hint, word, (const char *const *)names.items,
	                      names.count);
	if (all)
		rc = FAIL(r, "there is no key '%.60s'%s (%s)", word, hint, all);
	else
		rc = experiment_words_no_memory(r->err);
	free(all);
	experiment_words_list_free(&names);
	return rc;
}

static int find_key(struct reader *r, const char *s, size_t n, size_t *key)
{
	char word[64];
	for (*key = 0; *key < r->key_count; ++*key)
		if (strlen(r->keys[*key].name) == n && !memcmp(r->keys[*key].name, s, n))
			return 0;
	snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), s);
	return unknown_key(r, word);
}

/* "KEY VALUE" of n bytes. */
static int add_line(struct reader *r, const char *s, size_t n)
{
	size_t key, word = 0;
	s = trimmed(s, &n);
	while (word < n && !strchr(blanks, s[word]))
		word++;
	int rc = find_key(r, s, word, &key);
	if (rc)
		return rc;
	const struct keyfile_line *before = keyfile_find(r->out, key);
	if (before && !r->keys[key].repeats)
		return FAIL(r, "%s stands twice; the first is in line %u", r->keys[key].name,
		            before->line);
	size_t rest = n - word;
	const char *value = trimmed(s + word, &rest);
	if (!rest)
		return FAIL(r, "%s without a value: %s %s", r->keys[key].name, r->keys[key].name,
		            r->keys[key].form);
	struct keyfile *out = r->out;
	struct keyfile_line *lines = reallocarray(out->lines, out->count + 1, sizeof *lines);
	if (!lines)
		return experiment_words_no_memory(r->err);
	out->lines = lines;
	char *copy = strndup(value, rest);
	if (!copy)
		return experiment_words_no_memory(r->err);
	lines[out->count++] = (struct keyfile_line){key, copy, r->line};
	return 0;
}

/* A line that begins with a blank: more of the value before. */
static int continue_line(struct reader *r, const char *s, size_t n)
{
	struct keyfile *out = r->out;
	char *longer;
	if (!out->count)
		return FAIL(r, "this line begins with a blank, and there is none before it that it "
		               "could go on with");
	struct keyfile_line *last = &out->lines[out->count - 1];
	s = trimmed(s, &n);
	if (asprintf(&longer, "%s %.*s", last->value, (int)n, s) < 0)
		return experiment_words_no_memory(r->err);
	free(last->value);
	last->value = longer;
	return 0;
}

static int read_line(struct reader *r, const char *s, size_t n, const char *prefix)
{
	size_t skip = strlen(prefix), left = n;
	if (skip)
		return n >= skip && !memcmp(s, prefix, skip) ? add_line(r, s + skip, n - skip) : 0;
	const char *text = trimmed(s, &left);
	if (!left || *text == '#')
		return 0;
	return text == s ? add_line(r, s, n) : continue_line(r, s, n);
}

int keyfile_read(const char *path, const char *text, const char *prefix,
                 const struct experiment_key *keys, size_t key_count, struct keyfile *out,
                 struct error *err)
{
	struct reader r = {path, keys, key_count, out, 0, err};
	int rc = 0;
	*out = (struct keyfile){0};
	for (const char *s = text; *s && !rc;) {
		size_t n = strcspn(s, "\n");
		r.line++;
		rc = read_line(&r, s, n, prefix);
		s += n + (s[n] == '\n');
	}
	out->last = r.line;
	for (size_t i = 0; i < key_count && !rc; i++)
		if (keys[i].required && !keyfile_find(out, i))
			rc = FAIL(&r, "there is no %s: add a line '%s%s%s %s'", keys[i].name,
			          prefix, *prefix ? " " : "", keys[i].name, keys[i].form);
	if (rc)
		keyfile_free(out);
	return rc;
}

char *keyfile_join(const struct keyfile *k, size_t key)
{
	struct experiment_words_list values = {0};
	int rc = 0;
	for (size_t i = 0; i < k->count && !rc; i++)
		if (k->lines[i].key == key)
			rc = experiment_words_add(&values, k->lines[i].value,
			                          strlen(k->lines[i].value), NULL);
	char *text = rc ? NULL : experiment_words_join(values.items, values.count, "\n");
	experiment_words_list_free(&values);
	return text;
}

int keyfile_parts(const char *value, size_t max, struct experiment_words_list *out,
                  struct error *err)
{
	int rc = 0;
	for (const char *s = value; !rc; s++) {
		size_t whole = out->count + 1 < max ? strcspn(s, "|") : strlen(s), n = whole;
		const char *part = trimmed(s, &n);
		rc = experiment_words_add(out, part, n, err);
		s += whole;
		if (!*s)
			break;
	}
	return rc;
}

int keyfile_words(const char *value, struct experiment_words_list *out, struct error *err)
{
	int rc = 0;
	for (const char *s = value + strspn(value, blanks); *s && !rc;) {
		size_t n = strcspn(s, blanks);
		rc = experiment_words_add(out, s, n, err);
		s += n;
		s += strspn(s, blanks);
	}
	return rc;
}
