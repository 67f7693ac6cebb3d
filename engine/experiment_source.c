#include "experiment_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiment_words.h"

enum { MAX_SIZE = 4 << 20 };

struct source {
	struct experiment *x;
	const char *path;
	struct error *err;
};

/* The message is about a line of the file. */
#define FAIL(p, at_line, ...)                                                                      \
	experiment_words_fail(&(struct experiment_words_place){(p)->path, at_line}, (p)->err,      \
	                      __VA_ARGS__)

/* How many bytes the UTF-8 character at s has (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	static const struct {
		unsigned char first_lo, first_hi, second_lo, second_hi, length;
	} forms[] = {
	        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
	        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	if (s[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		if (s[0] < forms[i].first_lo || s[0] > forms[i].first_hi || left < forms[i].length)
			continue;
		if (s[1] < forms[i].second_lo || s[1] > forms[i].second_hi)
			return 0;
		for (size_t j = 2; j < forms[i].length; j++)
			if ((s[j] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static int check_text(struct source *p, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned line = 1;
	if (!size)
		return FAIL(p, 1, "the file is empty");
	if (size > MAX_SIZE)
		return FAIL(p, 1, "%zu bytes; an experiment file has at most 4 MiB", size);
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		return FAIL(p, 1,
		            "the file begins with a byte order mark, which the assembler refuses: "
		            "save it without");
	for (size_t i = 0; i < size;) {
		if (!s[i])
			return FAIL(p, line,
			            "a NUL byte: this is a binary file, not assembler source");
		size_t n = utf8_length(s + i, size - i);
		if (!n)
			return FAIL(p, line, "byte 0x%02x is not UTF-8: save the file as UTF-8",
			            s[i]);
		line += s[i] == '\n';
		i += n;
	}
	return 0;
}

/* Keeps a copy with LF alone at the end of every line, so that what hands it on need not care. */
static int keep_text(struct source *p, const char *text, size_t size)
{
	char *copy = malloc(size + 2);
	size_t n = 0;
	if (!copy)
		return experiment_words_no_memory(p->err);
	for (size_t i = 0; i < size; i++)
		if (text[i] != '\r' || i + 1 == size || text[i + 1] != '\n')
			copy[n++] = text[i];
	if (copy[n - 1] != '\n')
		copy[n++] = '\n';
	copy[n] = '\0';
	p->x->text = copy;
	p->x->text_size = n;
	return 0;
}

static char *line_end(const char *s)
{
	return strchr(s, '\n');
}

static void blank(char *from, const char *to)
{
	for (; from < to; from++)
		if (*from != '\n')
			*from = ' ';
}

/* Blanks the block comment at s, which may go over lines; gives what follows it. */
static char *blank_block(char *s)
{
	char *end = strstr(s + 2, "*/");
	end = end ? end + 2 : s + strlen(s);
	blank(s, end);
	return end;
}

/* Behind the string or character constant at s, but not behind the end of its line. */
static char *skip_quoted(char *s)
{
	char quote = *s++;
	if (quote == '\'') {
		s += *s == '\\' && s[1] != '\n';
		s += *s && *s != '\n';
		return s + (*s == '\'');
	}
	while (*s && *s != quote && *s != '\n')
		s += *s == '\\' && s[1] && s[1] != '\n' ? 2 : 1;
	return s + (*s == quote);
}

/* Blanks the comments of GNU as for x86 on Linux: from '#' to the end of the line, from '/' at the
 * beginning of a line, and block comments. Of a header line the "#:" is left, so that what is in a
 * block comment is not taken for one. */
static void blank_comments(char *s)
{
	bool beginning = true;
	while (*s) {
		if (*s == '\n') {
			beginning = true;
			s++;
		} else if (*s == ' ' || *s == '\t' || *s == '\r') {
			s++;
		} else if (s[0] == '/' && s[1] == '*') {
			s = blank_block(s);
		} else if (*s == '#' || (*s == '/' && beginning)) {
			char *end = line_end(s);
			blank(s + (beginning && s[0] == '#' && s[1] == ':' ? 2 : 0), end);
			s = end;
		} else {
			beginning = false;
			s = *s == '"' || *s == '\'' ? skip_quoted(s) : s + 1;
		}
	}
}

int experiment_source_keep(struct experiment *x, const char *path, const char *text, size_t size,
                           struct error *err)
{
	struct source source = {x, path, err};
	int rc = check_text(&source, text, size);
	if (!rc)
		rc = keep_text(&source, text, size);
	if (rc)
		return rc;
	x->code = strdup(x->text);
	if (!x->code)
		return experiment_words_no_memory(err);
	blank_comments(x->code);
	return 0;
}

/* The parameters of ".macro NAME PARAMETERS", s being what follows NAME. A default or a qualifier
 * (:req) is not part of one. */
static int read_parameters(struct source *p, const char *s, const char *end,
                           struct experiment_words_list *out)
{
	int rc = 0;
	while (s < end && !rc) {
		s += strspn(s, " \t,(\r");
		size_t n = strcspn(s, " \t,():=;\r\n");
		if (!n)
			break;
		rc = experiment_words_add(out, s, n, p->err);
		s += n;
		s += strspn(s, " \t");
		if (*s == ':')
			s += strcspn(s, " \t,=)\n");
		s += strspn(s, " \t");
		if (*s == '=') {
			s += 1 + strspn(s + 1, " \t");
			s = *s == '"' ? skip_quoted((char *)s) : s + strcspn(s, " \t,)\n");
		}
	}
	return rc;
}

/* The engine passes the levels by position: a wrong number, or a factor's name at another factor's
 * place, is a mistake. */
static int check_parameters(struct source *p, unsigned line, const char *macro,
                            const struct experiment_words_list *parameters)
{
	char *factors[EXPERIMENT_WORDS_FACTORS];
	size_t count = p->x->factor_count - 1, wrong = 0;
	for (size_t i = 0; i < count; i++)
		factors[i] = p->x->factors[i + 1].name;
	for (size_t i = 0; i < parameters->count && parameters->count == count; i++)
		for (size_t j = 0; j < count && !wrong; j++)
			if (j != i && !strcmp(parameters->items[i], factors[j]))
				wrong = i + 1;
	if (parameters->count == count && !wrong)
		return 0;
	char *has = experiment_words_join(parameters->items, parameters->count, ", ");
	char *wants = experiment_words_join(factors, count, ", ");
	int rc;
	if (!has || !wants)
		rc = experiment_words_no_memory(p->err);
	else if (wrong)
		rc = FAIL(p, line,
		          "macro %s takes (%.300s), but levels are passed in the order of the "
		          "factors, (%.300s): parameter %zu gets a level of %s",
		          macro, has, wants, wrong, factors[wrong - 1]);
	else
		rc = FAIL(p, line,
		          "macro %s takes %zu arguments (%.300s), but there are %zu factors "
		          "(%.300s): each is one argument, abi is none",
		          macro, parameters->count, has, count, wants);
	free(has);
	free(wants);
	return rc;
}

/* One line of code: if it defines a macro of ours, checks it and notes that it is there. */
static int check_macro(struct source *p, const char *s, const char *end, unsigned line,
                       bool *has_body)
{
	const struct {
		const char *name;
		bool *has;
	} macros[] = {
	        {"body", has_body},
	        {"baseline", &p->x->has_macro_baseline},
	        {"pool", &p->x->has_macro_pool},
	        {"setup", &p->x->has_macro_setup},
	        {"teardown", &p->x->has_macro_teardown},
	};
	struct experiment_words_list parameters = {0};
	s += strspn(s, " \t\r");
	if (strncasecmp(s, ".macro", 6) || (s[6] != ' ' && s[6] != '\t'))
		return 0;
	s += 6 + strspn(s + 6, " \t");
	size_t n = strcspn(s, " \t,(;\r\n");
	for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
		/* GNU as does not tell capitals in macro names apart */
		if (strlen(macros[i].name) != n || strncasecmp(s, macros[i].name, n))
			continue;
		*macros[i].has = true;
		int rc = read_parameters(p, s + n, end, &parameters);
		if (!rc)
			rc = check_parameters(p, line, macros[i].name, &parameters);
		experiment_words_list_free(&parameters);
		return rc;
	}
	return 0;
}

int experiment_source_macros(struct experiment *x, const char *path, struct error *err)
{
	struct source source = {x, path, err}, *p = &source;
	bool has_body = false;
	unsigned line = 1;
	for (const char *s = p->x->code, *end; *s; s = end + 1, line++) {
		end = line_end(s);
		int rc = check_macro(p, s, end, line, &has_body);
		if (rc)
			return rc;
	}
	if (!has_body)
		return FAIL(
		        p, line - 1,
		        "there is no macro named body: '.macro body' ... '.endm' is one iteration");
	return 0;
}
