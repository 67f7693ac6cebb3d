#include "tui/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

/* The word that is being read. */
struct word {
	char *text; /* room for all that can still come */
	size_t size, start;
	bool open; /* '' is a word too: emptiness does not tell */
};

static bool words_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void word_open(struct word *w, size_t at)
{
	if (w->open)
		return;
	w->size = 0;
	w->start = at;
	w->open = true;
}

static void word_close(struct word *w, struct words *out)
{
	if (!w->open)
		return;
	out->items = memory_grow(out->items, out->count + 1, sizeof(*out->items));
	out->starts = memory_grow(out->starts, out->count + 1, sizeof(*out->starts));
	out->items[out->count] = memory_copy_part(w->text, w->size);
	out->starts[out->count++] = w->start;
	w->open = false;
}

/* Reads a quoted part; i is behind the opening quote. Returns the byte behind the closing one, or
 * size where it is missing. */
static size_t words_quoted(const char *text, size_t size, size_t i, char quote, struct word *w,
                           struct words *out)
{
	out->open = i - 1;
	for (; i < size; i++) {
		if (text[i] == quote)
			return i + 1;
		if (quote == '"' && text[i] == '\\' && i + 1 < size &&
		    strchr("\"\\$`\n", text[i + 1])) {
			if (text[++i] == '\n')
				continue;
		}
		w->text[w->size++] = text[i];
	}
	out->end = WORDS_IN_QUOTE;
	out->quote = quote;
	return size;
}

void words_scan(const char *text, size_t size, struct words *out)
{
	struct word w = {.text = memory_get(size + 1)};
	size_t i = 0;

	*out = (struct words){0};
	while (i < size) {
		char c = text[i];

		if (words_is_space(c)) {
			word_close(&w, out);
			i++;
		} else if (c == '#' && !w.open) {
			while (i < size && text[i] != '\n')
				i++;
			out->in_comment = i == size;
		} else if (c == '\\' && i + 1 == size) {
			out->end = WORDS_IN_ESCAPE;
			out->open = i++;
		} else if (c == '\\' && text[i + 1] == '\n') {
			i += 2;
		} else if (c == '\\') {
			word_open(&w, i);
			w.text[w.size++] = text[i + 1];
			i += 2;
		} else if (c == '\'' || c == '"') {
			word_open(&w, i);
			i = words_quoted(text, size, i + 1, c, &w, out);
		} else {
			word_open(&w, i);
			w.text[w.size++] = c;
			i++;
		}
	}
	out->in_word = w.open;
	word_close(&w, out);
	free(w.text);
}

int words_split(const char *text, struct words *out, struct error *err)
{
	int rc = ERROR_NONE;

	words_scan(text, strlen(text), out);
	if (out->end == WORDS_IN_QUOTE)
		rc = error_set(err, ERROR_INPUT,
		               "column %zu: the quote %c that begins here is never closed",
		               out->open + 1, out->quote);
	else if (out->end == WORDS_IN_ESCAPE)
		rc = error_set(
		        err, ERROR_INPUT,
		        "column %zu: nothing follows the backslash (write \\\\ for one that stays)",
		        out->open + 1);
	if (rc)
		words_free(out);
	return rc;
}

size_t words_command_size(const char *text, size_t size)
{
	char quote = 0;
	bool in_word = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (quote) {
			if (c == quote)
				quote = 0;
			else if (c == '\\' && quote == '"')
				i++;
			continue;
		}
		if (c == '#' && !in_word) {
			const char *end = memchr(text + i, '\n', size - i);

			return end ? (size_t)(end - text) + 1 : 0;
		}
		if (c == '\n')
			return i + 1;
		if (c == '\\' && ++i < size && text[i] == '\n')
			continue;
		in_word = !words_is_space(c);
		if (c == '\'' || c == '"')
			quote = c;
	}
	return 0;
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	free(w->starts);
	*w = (struct words){0};
}

static bool words_is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "_-+=,./:@%^#~";

	/* What a shell or this language reads as something else at the start of a word. */
	return word[0] != '\0' && word[0] != '#' && word[0] != '~' &&
	       strspn(word, plain) == strlen(word);
}

char *words_quote(const char *word)
{
	char *quoted, *p;

	if (words_is_plain(word))
		return memory_copy(word);
	/* The worst character is ' itself, which becomes '\'' . */
	p = quoted = memory_get(4 * strlen(word) + 3);
	*p++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *word;
	}
	*p = '\'';
	return quoted;
}

char *words_join(const char *const *words, size_t n)
{
	char *line = memory_copy("");
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		char *q = words_quote(words[i]);
		size_t more = strlen(q);

		line = memory_grow(line, size + more + 2, 1);
		if (i > 0)
			line[size++] = ' ';
		memcpy(line + size, q, more + 1);
		size += more;
		free(q);
	}
	return line;
}
