#include "experiment_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiment_words.h"

const struct textfile_kind experiment_source_kind = {
        .name = "an experiment",
        .content = "assembler source",
        .most = 4 << 20,
};

struct source {
	struct experiment *x;
	const char *path;
	struct error *err;
};

/* The message is about a line of the file. */
#define FAIL(p, at_line, ...)                                                                      \
	experiment_words_fail(&(struct experiment_words_place){(p)->path, at_line}, (p)->err,      \
	                      __VA_ARGS__)

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
	int rc = textfile_keep(path, &experiment_source_kind, text, size, &x->text, &x->text_size,
	                       err);
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
