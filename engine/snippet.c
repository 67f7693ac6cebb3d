#include "snippet.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Line numbers that the assembler reports: LINES * snippet + line; snippet 0 is the setup. */
enum { LINES = 100000, MOST = 64 };

static int refuse(const char *text, size_t number, struct error *err)
{
	static const char *const words[] = {".macro",      ".endm",   ".section",  ".pushsection",
	                                    ".popsection", ".text",   ".data",     ".bss",
	                                    ".purgem",     ".end",    ".altmacro", ".code16",
	                                    ".code32",     ".code64", ".previous", ".subsection"};
	const char *comment = strstr(text, "/*");
	if (comment && !strstr(comment + 2, "*/"))
		return number ? error_set(err, ERROR_INPUT, "snippet %zu: a comment does not end",
		                          number)
		              : error_set(err, ERROR_INPUT, "--setup: a comment does not end");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);
		for (const char *p = strcasestr(text, words[i]); p;
		     p = strcasestr(p + 1, words[i])) {
			bool start = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_' &&
			                           p[-1] != '.');
			if (start && !isalnum((unsigned char)p[n]) && p[n] != '_')
				return number ? error_set(err, ERROR_INPUT,
				                          "snippet %zu: %s cannot stand in a "
				                          "snippet; write an experiment file "
				                          "(entrylab-experiment(5))",
				                          number, words[i])
				              : error_set(err, ERROR_INPUT,
				                          "--setup: %s cannot stand in a snippet",
				                          words[i]);
		}
	}
	return 0;
}

/* A macro of its own, so that the assembler's line numbers name it. */
static void write_macro(FILE *f, const char *name, const char *text, size_t number)
{
	fprintf(f, "# %zu \"asm\"\n.macro %s\n%s\n.endm\n", number * LINES, name, text);
}

/* Unrolled copies of a system call read almost anything, by layout (266 to 600 cycles were seen for
 * one): looped. */
static bool enters_kernel(const char *text)
{
	static const char *const words[] = {"syscall", "sysenter", "int", "int3"};
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \t\n;:");
		for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
			if (n == strlen(words[i]) && !strncasecmp(p, words[i], n))
				return true;
		p += n + (p[n] != '\0');
	}
	return false;
}

/* What a level stands for, on one line: its text. */
static void write_note(FILE *f, size_t number, const char *text)
{
	if (number)
		fprintf(f, "#: note s%zu  ", number);
	else
		fputs("#: note setup  ", f);
	for (const char *p = text; *p; p++) {
		if (*p == '\n')
			fputs("; ", f);
		else
			fputc(iscntrl((unsigned char)*p) ? ' ' : *p, f);
	}
	fputc('\n', f);
}

int snippet_experiment(const char *const *snippets, size_t n, const char *setup,
                       struct experiment **out, struct error *err)
{
	char *text = NULL, name[32];
	size_t size = 0;
	bool loop = false; /* one has been written */
	int rc;
	if (!n || n > MOST)
		return error_set(err, ERROR_INPUT, "asm takes 1 to %d snippets", MOST);
	if (setup && (rc = refuse(setup, 0, err)))
		return rc;
	for (size_t i = 0; i < n; i++)
		if ((rc = refuse(snippets[i], i + 1, err)))
			return rc;
	FILE *f = open_memstream(&text, &size);
	if (!f)
		return error_set(err, ERROR_INTERNAL, "out of memory");
	fputs("#: title Snippets\n#: abi i386 x86_64\n#: factor code", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, " s%zu", i + 1);
	fputs("\n#: default code=", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%ss%zu", i ? "," : "", i + 1);
	for (size_t i = 0; i < n; i++) {
		if (!enters_kernel(snippets[i]))
			continue;
		fprintf(f, loop ? ",s%zu" : "\n#: repeat code=s%zu", i + 1);
		loop = true;
	}
	fputs(loop ? " loop\n" : "\n", f);
	for (size_t i = 0; i < n; i++)
		write_note(f, i + 1, snippets[i]);
	if (setup)
		write_note(f, 0, setup);
	if (setup) {
		write_macro(f, "snippet_setup", setup, 0);
		fputs(".macro setup code\nsnippet_setup\n.endm\n", f);
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "snippet_s%zu", i + 1);
		write_macro(f, name, snippets[i], i + 1);
	}
	/* the levels' words must stand in the macros: see entrylab-experiment(5), levels that no
	 * branch handles */
	fputs(".macro body code\n", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, ".ifc \\code,s%zu\nsnippet_s%zu\n.endif\n", i + 1, i + 1);
	fputs(".endm\n", f);
	if (fclose(f)) {
		free(text);
		return error_set(err, ERROR_INTERNAL, "out of memory");
	}
	rc = experiment_parse("asm", "asm", text, size, out, err);
	free(text);
	return rc;
}

void snippet_explain(struct error *err)
{
	char *copy = strdup(err->text), *save = NULL;
	size_t used = 0;
	if (!copy)
		return;
	err->text[0] = '\0';
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long number;
		int skip = 0;
		size_t left = sizeof err->text - used;
		const char *rest = line, *in;
		char head[64] = "";
		if (sscanf(line, "asm:%lu:%n", &number, &skip) == 1 && skip) {
			rest = line + skip + strspn(line + skip, " ");
			if (number < LINES)
				snprintf(head, sizeof head, "--setup: ");
			else
				snprintf(head, sizeof head, "snippet %lu: ", number / LINES);
		} else if (!strncmp(line, "asm: ", 5)) {
			/* found when all was assembled, and without a line */
			const char *code = strstr(line, " code=s");
			if (strstr(line, " (in setup, "))
				snprintf(head, sizeof head, "--setup: ");
			else if (code && sscanf(code, " code=s%lu", &number) == 1)
				snprintf(head, sizeof head, "snippet %lu: ", number);
			if (*head)
				rest = line + 5;
		}
		/* "(in abi=... code=s2)" says nothing that the head does not */
		in = strstr(rest, " (in abi=");
		if (!in)
			in = strstr(rest, " (in body, abi=");
		if (!in)
			in = strstr(rest, " (in setup, abi=");
		int length = in ? (int)(in - rest) : (int)strlen(rest);
		int n = snprintf(err->text + used, left, "%s%s%.*s", used ? "\n" : "", head, length,
		                 rest);
		used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
	}
	free(copy);
}
