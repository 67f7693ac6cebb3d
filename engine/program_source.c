#include "program_source.h"

#include <stdlib.h>
#include <string.h>

const char program_macro_letter[PROGRAM_MACROS] = {
        [PROGRAM_SETUP] = 's',    [PROGRAM_TEARDOWN] = 't', [PROGRAM_POOL] = 'p',
        [PROGRAM_BASELINE] = 'z', [PROGRAM_BODY] = 'b',
};
const char *const program_macro_name[PROGRAM_MACROS] = {
        [PROGRAM_SETUP] = "setup",       [PROGRAM_TEARDOWN] = "teardown", [PROGRAM_POOL] = "pool",
        [PROGRAM_BASELINE] = "baseline", [PROGRAM_BODY] = "body",
};

bool program_source_has(const struct experiment *x, enum program_macro macro)
{
	switch (macro) {
	case PROGRAM_SETUP:
		return x->has_macro_setup;
	case PROGRAM_TEARDOWN:
		return x->has_macro_teardown;
	case PROGRAM_POOL:
		return x->has_macro_pool;
	case PROGRAM_BASELINE:
		return x->has_macro_baseline;
	default:
		return true;
	}
}

/* Registers under one name for both ABIs, so that a file need not be written twice. */
static void write_registers(FILE *f, enum experiment_abi abi)
{
	static const char *const reg[] = {"ax", "bx", "cx", "dx", "si", "di", "sp", "bp"};
	char wide = abi == EXPERIMENT_I386 ? 'e' : 'r';
	for (size_t i = 0; i < sizeof reg / sizeof reg[0]; i++)
		fprintf(f, "x%s = %%%c%s\n", reg[i], wide, reg[i]);
	fprintf(f, "env = %%%cbp\n", wide);
}

/* Code may have it as an immediate, so it must be known before there is a worker: the kernel gives
 * every program the same, 32-bit ones included. */
static unsigned data_selector(void)
{
	unsigned s;
	__asm__("mov %%ss, %0" : "=r"(s));
	return s & 0xffff;
}

static void write_prelude(FILE *f, enum experiment_abi abi, const struct host_probes *probes)
{
	fprintf(f, "# 1 \"entrylab\"\nabi64 = %d\n", abi == EXPERIMENT_X86_64);
	write_registers(f, abi);
	fprintf(f, "user_ds = %u\n", data_selector());
	for (size_t i = 0; i < environment_field_count; i++)
		fprintf(f, "env_%s = %u\n", environment_fields[i].name,
		        environment_fields[i].offset);
	for (int c = 0; c < HOST_CAPABILITIES; c++)
		fprintf(f, "have_%s = %d\n", host_capabilities[c].name,
		        probes && probes->abi[abi][c].present);
}

/* What follows is that line of the experiment's file. */
static void write_place(FILE *f, size_t line, const struct experiment *x)
{
	fprintf(f, "# %zu \"", line);
	for (const char *p = x->path; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', f);
		fputc(*p, f);
	}
	fputs("\"\n", f);
}

/* The file's own text once, under its own name and line numbers. */
static void write_experiment(FILE *f, const struct experiment *x)
{
	write_place(f, 1, x);
	fwrite(x->text, 1, x->text_size, f);
	fputc('\n', f);
}

static void write_call(FILE *f, const struct program_item *item, size_t i, enum program_macro m)
{
	const struct experiment *x = item->experiment;
	fprintf(f, ".section .el.%c.%zu,\"ax\",@progbits\n", program_macro_letter[m], i);
	if (m == PROGRAM_POOL)
		fprintf(f, ".Lel_pool_%zu:\n", i);
	write_place(f, (size_t)PROGRAM_SOURCE_LINE + i, x);
	fprintf(f, "%s ", program_macro_name[m]);
	for (size_t k = 1; k < x->factor_count; k++)
		fprintf(f, "%s%s", k > 1 ? "," : "", item->levels[k]);
	fputc('\n', f);
}

static void write_purge(FILE *f, const struct experiment *x)
{
	for (enum program_macro m = 0; m < PROGRAM_MACROS; m++)
		if (program_source_has(x, m))
			fprintf(f, ".purgem %s\n", program_macro_name[m]);
}

char *program_source_write(enum experiment_abi abi, const struct program_item *items, size_t n,
                           const struct host_probes *probes, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);
	if (!f)
		return NULL;
	write_prelude(f, abi, probes);
	for (size_t i = 0; i < n; i++) {
		const struct experiment *x = items[i].experiment;
		if (!i || items[i - 1].experiment != x) {
			if (i)
				write_purge(f, items[i - 1].experiment);
			write_experiment(f, x);
		}
		/* before the first macro that may use it: each variant's code means its own */
		if (x->has_macro_pool)
			fprintf(f, ".set pool, .Lel_pool_%zu\n", i);
		for (enum program_macro m = 0; m < PROGRAM_MACROS; m++)
			if (program_source_has(x, m))
				write_call(f, &items[i], i, m);
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

void program_source_write_variant(FILE *f, const struct program_item *item)
{
	const struct experiment *x = item->experiment;
	for (size_t k = 0; k < x->factor_count; k++)
		fprintf(f, "%s%s=%s", k ? " " : "", x->factors[k].name, item->levels[k]);
}

/* Where the number may begin: a path can have colons and digits of its own. */
static char *behind_path(char *line, const struct program_item *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && items[i].experiment == items[i - 1].experiment)
			continue;
		size_t size = strlen(items[i].experiment->path);
		if (!strncmp(line, items[i].experiment->path, size) && line[size] == ':')
			return line + size;
	}
	return strchr(line, ':');
}

/* One line "PATH:LINE: [Error: ]text"; false when it is none of that form. */
static bool split_message(char *line, const struct program_item *items, size_t n, char **path,
                          size_t *number, char **text)
{
	for (char *c = behind_path(line, items, n); c; c = strchr(c + 1, ':')) {
		char *end;
		unsigned long v = strtoul(c + 1, &end, 10);
		if (end == c + 1 || *end != ':')
			continue;
		*c = '\0';
		*path = line;
		*number = v;
		*text = end + 1 + strspn(end + 1, " ");
		return true;
	}
	return false;
}

void program_source_explain(const struct program_item *items, size_t n, const char *messages,
                            struct error *err)
{
	char *copy = strdup(messages), *save = NULL, *out = NULL;
	size_t size = 0;
	FILE *f = copy ? open_memstream(&out, &size) : NULL;
	if (!f) {
		free(copy);
		error_set(err, ERROR_INTERNAL, "out of memory");
		return;
	}
	unsigned shown = 0;
	bool named = false;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *path, *text;
		size_t number;
		if (!split_message(line, items, n, &path, &number, &text)) {
			/* some are about all of the input and have no line */
			text = strstr(line, ": Error: ");
			if (!text || shown == 5)
				continue;
			fprintf(f, "%s%s: %s", shown++ ? "\n" : "", items[n - 1].experiment->path,
			        text + strlen(": Error: "));
			named = true;
			continue;
		}
		if (!strncmp(text, "Warning:", 8))
			continue;
		size_t item = number - PROGRAM_SOURCE_LINE;
		bool of_variant = number >= PROGRAM_SOURCE_LINE && item < n;
		if (!strncmp(text, "Info:", 5)) {
			if (of_variant && shown && !named) {
				fputs(" (in ", f);
				program_source_write_variant(f, &items[item]);
				fputc(')', f);
				named = true;
			}
			continue;
		}
		if (shown == 5) {
			fputs("\n...", f);
			break;
		}
		if (!strncmp(text, "Error: ", 7))
			text += 7;
		/* Errors that the assembler finds only at the end of its input carry no line of the
		 * user's. */
		if (number >= PROGRAM_SOURCE_LINE)
			fprintf(f, "%s%s: %s", shown ? "\n" : "", path, text);
		else
			fprintf(f, "%s%s:%zu: %s", shown ? "\n" : "", path, number, text);
		if (of_variant) {
			fputs(" (in ", f);
			program_source_write_variant(f, &items[item]);
			fputc(')', f);
		}
		named = of_variant;
		shown++;
	}
	if (fclose(f) == 0)
		error_set(err, ERROR_INPUT, "%s", shown ? out : messages);
	free(out);
	free(copy);
}
