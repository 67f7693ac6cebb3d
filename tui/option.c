#include "tui/option.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/experiment.h"
#include "engine/nearest.h"
#include "tui/memory.h"

static void option_clear_against(struct option_values *v)
{
	for (size_t i = 0; i < v->against_count; i++)
		free(v->against[i]);
	free(v->against);
	v->against = NULL;
	v->against_count = 0;
}

/* One number in plain decimal notation: no sign, no hexadecimal, no "inf", and in every locale with
 * a point. *end is behind it. */
static bool option_number(const char *text, double *value, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	errno = 0;
	*value = strtod(text, &stop);
	*end = stop;
	return stop != text && errno == 0 && isfinite(*value);
}

static bool option_whole(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return *end == '\0' && errno == 0 && *value <= max;
}

static int parse_format(const char *text, struct option_values *v, struct error *err)
{
	int near;

	for (int i = 0; i < RENDER_FORMATS; i++) {
		if (strcmp(text, render_format_name[i]) == 0) {
			v->format = (enum render_format)i;
			return ERROR_NONE;
		}
	}
	near = nearest_name(text, render_format_name, RENDER_FORMATS);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "--format %s: no such format; did you mean %s?",
		                 text, render_format_name[near]);
	return error_set(err, ERROR_INPUT,
	                 "--format %s: no such format; there are text, jsonl and csv", text);
}

static int parse_cpu(const char *text, struct option_values *v, struct error *err)
{
	uint64_t n;

	if (!option_whole(text, INT_MAX, &n))
		return error_set(err, ERROR_INPUT, "--cpu %s: not the number of a CPU", text);
	v->cpu = (int)n;
	return ERROR_NONE;
}

static int parse_time(const char *text, struct option_values *v, struct error *err)
{
	const char *end;
	double s;

	if (!option_number(text, &s, &end) || *end != '\0')
		return error_set(err, ERROR_INPUT, "--time %s: not a number of seconds", text);
	if (s < 0.01 || s > 86400)
		return error_set(err, ERROR_INPUT, "--time %s: out of range; 0.01 to 86400 seconds",
		                 text);
	v->time = s;
	return ERROR_NONE;
}

/* "0.1" cycles, "0.5%" of the level, or both with a comma between them, in any order: the larger
 * then counts. */
static int parse_precision(const char *text, struct option_values *v, struct error *err)
{
	double cycles = 0, share = 0;
	const char *p = text;

	for (;;) {
		double x;

		if (!option_number(p, &x, &p))
			return error_set(err, ERROR_INPUT,
			                 "--precision %s: give a half-width in cycles (0.1), in "
			                 "percent (0.5%%), or both "
			                 "(0.1,0.5%%)",
			                 text);
		if (*p == '%') {
			p++;
			if (share != 0 || x < 0.0001 || x > 50)
				return error_set(
				        err, ERROR_INPUT,
				        "--precision %s: one percentage from 0.0001%% to 50%%",
				        text);
			share = x / 100;
		} else {
			if (cycles != 0 || x < 0.0001 || x > 1e6)
				return error_set(err, ERROR_INPUT,
				                 "--precision %s: one number of cycles from 0.0001 "
				                 "to 1000000",
				                 text);
			cycles = x;
		}
		if (*p == '\0')
			break;
		if (*p++ != ',')
			return error_set(err, ERROR_INPUT,
			                 "--precision %s: \"%s\" is not understood", text, p - 1);
	}
	v->precision_cycles = cycles;
	v->precision_share = share;
	return ERROR_NONE;
}

/* Up to what a JSON integer holds, so that a kept run shows the seed it was made with. */
static int parse_seed(const char *text, struct option_values *v, struct error *err)
{
	if (!option_whole(text, INT64_MAX, &v->seed))
		return error_set(err, ERROR_INPUT, "--seed %s: not a whole number from 0 to %lld",
		                 text, (long long)INT64_MAX);
	return ERROR_NONE;
}

static int parse_limit(const char *text, struct option_values *v, struct error *err)
{
	if (!option_whole(text, INT32_MAX, &v->limit))
		return error_set(err, ERROR_INPUT, "--limit %s: not a whole number (0: no limit)",
		                 text);
	return ERROR_NONE;
}

static int parse_mouse(const char *text, struct option_values *v, struct error *err)
{
	if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return error_set(err, ERROR_INPUT, "--mouse %s: give on or off", text);
	v->no_mouse = strcmp(text, "off") == 0;
	return ERROR_NONE;
}

static int parse_file(const char *text, struct option_values *v, struct error *err)
{
	(void)v;
	if (*text == '\0')
		return error_set(err, ERROR_INPUT, "the name of a file is empty");
	return ERROR_NONE;
}

static int parse_archive(const char *text, struct option_values *v, struct error *err)
{
	int rc = parse_file(text, v, err);

	if (rc == ERROR_NONE)
		option_unset(v, OPTION_NO_ARCHIVE);
	return rc;
}

static int parse_no_archive(const char *text, struct option_values *v, struct error *err)
{
	(void)text;
	(void)err;
	option_unset(v, OPTION_ARCHIVE);
	v->no_archive = true;
	return ERROR_NONE;
}

/* The first of a command takes the place of what the session holds; more add to it. */
static int parse_against(const char *text, struct option_values *v, struct error *err)
{
	char **terms = NULL;
	size_t n = 0;
	int rc = option_terms(text, &terms, &n, err);

	if (rc == ERROR_NONE && !(v->given & OPTION_BIT(OPTION_AGAINST)))
		option_clear_against(v);
	for (size_t i = 0; i < n; i++) {
		if (rc == ERROR_NONE) {
			v->against =
			        memory_grow(v->against, v->against_count + 1, sizeof(*v->against));
			v->against[v->against_count++] = terms[i];
		} else {
			free(terms[i]);
		}
	}
	free(terms);
	return rc;
}

static int parse_abi(const char *text, struct option_values *v, struct error *err)
{
	char *copy, *save = NULL;
	const char *bad = NULL;

	(void)v;
	if (strcmp(text, "all") == 0)
		return ERROR_NONE;
	copy = memory_copy(text);
	for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		if (strcmp(part, experiment_abi_name[EXPERIMENT_I386]) != 0 &&
		    strcmp(part, experiment_abi_name[EXPERIMENT_X86_64]) != 0)
			bad = part;
	}
	if (bad || text[strspn(text, ",")] == '\0') {
		int rc = error_set(err, ERROR_INPUT,
		                   "--abi %s: give %s, %s, both with a comma between them, or all",
		                   text, experiment_abi_name[EXPERIMENT_I386],
		                   experiment_abi_name[EXPERIMENT_X86_64]);

		free(copy);
		return rc;
	}
	free(copy);
	return ERROR_NONE;
}

static int parse_setup(const char *text, struct option_values *v, struct error *err)
{
	(void)text;
	(void)v;
	(void)err;
	return ERROR_NONE; /* the assembler judges it */
}

#define OPTION_FLAG(field)                                                                         \
	static int parse_##field(const char *text, struct option_values *v, struct error *err)     \
	{                                                                                          \
		(void)text;                                                                        \
		(void)err;                                                                         \
		v->field = true;                                                                   \
		return ERROR_NONE;                                                                 \
	}
OPTION_FLAG(quiet)
OPTION_FLAG(explain)
OPTION_FLAG(all)
OPTION_FLAG(keep_going)
OPTION_FLAG(prompt)
OPTION_FLAG(help)
OPTION_FLAG(version)
OPTION_FLAG(tables)

static const char *const option_formats[] = {"text", "jsonl", "csv", NULL};
static const char *const option_abis[] = {"i386", "x86_64", "i386,x86_64", NULL};

static const char *const mouse_values[] = {"on", "off", NULL};

const struct option_info option_table[OPTIONS] = {
        [OPTION_FORMAT] =
                {
                        .name = "format",
                        .form = "text|jsonl|csv",
                        .initial = "text",
                        .help = "How results are written: a table for people, one JSON object a "
                                "line, or comma-separated values.",
                        .values = option_formats,
                        .parse = parse_format,
                },
        [OPTION_QUIET] =
                {
                        .name = "quiet",
                        .help = "No progress line and no notes on standard error; errors are still "
                                "told.",
                        .parse = parse_quiet,
                },
        [OPTION_EXPLAIN] =
                {
                        .name = "explain",
                        .help = "After a table, say in a few plain sentences what it shows "
                                "(format text only).",
                        .parse = parse_explain,
                },
        [OPTION_CPU] =
                {
                        .name = "cpu",
                        .form = "N",
                        .measures = true,
                        .initial = "the last one allowed, an isolated one first",
                        .help = "The CPU that measures.",
                        .parse = parse_cpu,
                },
        [OPTION_TIME] =
                {
                        .name = "time",
                        .form = "S",
                        .initial = "10",
                        .measures = true,
                        .help = "Stop after S seconds of measuring, 0.01 to 86400, if the "
                                "precision was not reached before.",
                        .parse = parse_time,
                },
        [OPTION_PRECISION] =
                {
                        .name = "precision",
                        .form = "P",
                        .measures = true,
                        .initial = "0.1,0.5%; with --against 0.1,0.05%",
                        .help = "Stop when every interval's half-width is at most P: in cycles "
                                "(0.1), in "
                                "percent of the level (0.5%), or the larger of both (0.1,0.5%).",
                        .parse = parse_precision,
                },
        [OPTION_SEED] =
                {
                        .name = "seed",
                        .form = "N",
                        .initial = "random, and kept with the run",
                        .measures = true,
                        .help = "Start the random order and placement from N, to repeat a run's "
                                "sequence.",
                        .parse = parse_seed,
                },
        [OPTION_RAW] =
                {
                        .name = "raw",
                        .form = "FILE",
                        .kind = OPTION_COMMAND,
                        .file = true,
                        .help = "Also write every sample to FILE, as comma-separated values.",
                        .parse = parse_file,
                },
        [OPTION_ARCHIVE] =
                {
                        .name = "archive",
                        .form = "FILE",
                        .file = true,
                        .initial = "$XDG_DATA_HOME/entrylab/runs.db",
                        .help = "The archive that keeps runs.",
                        .parse = parse_archive,
                },
        [OPTION_NO_ARCHIVE] =
                {
                        .name = "no-archive",
                        .help = "Keep nothing: the run is printed only.",
                        .parse = parse_no_archive,
                },
        [OPTION_AGAINST] =
                {
                        .name = "against",
                        .form = "FACTOR=LEVEL...",
                        .measures = true,
                        .initial = "no comparison; asm: the first snippet",
                        .help = "Compare each variant with the one that differs from it only "
                                "in the factors named; a full variant is one base for all. May "
                                "be given several times.",
                        .parse = parse_against,
                },
        [OPTION_ABI] =
                {
                        .name = "abi",
                        .form = "ABI",
                        .initial = "x86_64",
                        .measures = true,
                        .help = "The snippets' ABI: i386, x86_64, or i386,x86_64 for both.",
                        .values = option_abis,
                        .parse = parse_abi,
                },
        [OPTION_SETUP] =
                {
                        .name = "setup",
                        .form = "SNIPPET",
                        .kind = OPTION_COMMAND,
                        .measures = true,
                        .help = "Code that runs once before each sample, outside the clock.",
                        .parse = parse_setup,
                },
        [OPTION_LIMIT] =
                {
                        .name = "limit",
                        .form = "N",
                        .initial = "20",
                        .help = "List at most N runs, the newest first; 0 lists all.",
                        .parse = parse_limit,
                },
        [OPTION_MOUSE] =
                {
                        .name = "mouse",
                        .form = "on|off",
                        .initial = "on",
                        .help = "Whether the workbench takes the mouse; off leaves it to the "
                                "terminal, for copying.",
                        .kind = OPTION_SESSION,
                        .values = mouse_values,
                        .parse = parse_mouse,
                },
        [OPTION_ALL] =
                {
                        .name = "all",
                        .kind = OPTION_COMMAND,
                        .help = "Verify every claim.",
                        .parse = parse_all,
                },
        [OPTION_KEEP_GOING] =
                {
                        .name = "keep-going",
                        .help = "A script goes on after an error; its exit status is the worst of "
                                "all.",
                        .parse = parse_keep_going,
                },
        [OPTION_FILE] =
                {
                        .name = "file",
                        .letter = 'f',
                        .form = "FILE",
                        .kind = OPTION_PROGRAM,
                        .file = true,
                        .help = "Run the commands in FILE; - is standard input.",
                        .parse = parse_file,
                },
        [OPTION_PROMPT] =
                {
                        .name = "interactive",
                        .letter = 'i',
                        .kind = OPTION_PROGRAM,
                        .help = "Read commands at a prompt; after -f, when the script is done.",
                        .parse = parse_prompt,
                },
        [OPTION_HELP] =
                {
                        .name = "help",
                        .letter = 'h',
                        .kind = OPTION_COMMAND,
                        .help = "Tell what a command, or the program, takes.",
                        .parse = parse_help,
                },
        [OPTION_VERSION] =
                {
                        .name = "version",
                        .kind = OPTION_PROGRAM,
                        .help = "Print the version.",
                        .parse = parse_version,
                },
        [OPTION_TABLES] =
                {
                        .name = "tables",
                        .kind = OPTION_COMMAND,
                        .hidden = true,
                        .help = "Print the tables the manual is checked against.",
                        .parse = parse_tables,
                },
};

void option_values_init(struct option_values *v)
{
	*v = (struct option_values){.format = RENDER_TEXT, .cpu = -1, .time = 10, .limit = 20};
}

void option_values_free(struct option_values *v)
{
	for (size_t i = 0; i < OPTIONS; i++)
		free(v->text[i]);
	option_clear_against(v);
	option_values_init(v);
}

void option_values_inherit(struct option_values *out, const struct option_values *session)
{
	*out = *session;
	out->given = 0;
	out->against = memory_get(session->against_count * sizeof(*out->against));
	for (size_t i = 0; i < session->against_count; i++)
		out->against[i] = memory_copy(session->against[i]);
	for (size_t i = 0; i < OPTIONS; i++)
		out->text[i] = session->text[i] ? memory_copy(session->text[i]) : NULL;
}

void option_unset(struct option_values *v, enum option_id id)
{
	struct option_values fresh;

	option_values_init(&fresh);
	switch (id) {
	case OPTION_FORMAT:
		v->format = fresh.format;
		break;
	case OPTION_QUIET:
		v->quiet = false;
		break;
	case OPTION_EXPLAIN:
		v->explain = false;
		break;
	case OPTION_CPU:
		v->cpu = fresh.cpu;
		break;
	case OPTION_TIME:
		v->time = fresh.time;
		break;
	case OPTION_PRECISION:
		v->precision_cycles = v->precision_share = 0;
		break;
	case OPTION_SEED:
		v->seed = 0;
		break;
	case OPTION_NO_ARCHIVE:
		v->no_archive = false;
		break;
	case OPTION_AGAINST:
		option_clear_against(v);
		break;
	case OPTION_LIMIT:
		v->limit = fresh.limit;
		break;
	case OPTION_MOUSE:
		v->no_mouse = false;
		break;
	case OPTION_ALL:
		v->all = false;
		break;
	case OPTION_KEEP_GOING:
		v->keep_going = false;
		break;
	case OPTION_PROMPT:
		v->prompt = false;
		break;
	case OPTION_HELP:
		v->help = false;
		break;
	case OPTION_VERSION:
		v->version = false;
		break;
	case OPTION_TABLES:
		v->tables = false;
		break;
	case OPTION_RAW:
	case OPTION_ARCHIVE:
	case OPTION_ABI:
	case OPTION_SETUP:
	case OPTION_FILE:
		break; /* text alone */
	case OPTIONS:
		return;
	}
	free(v->text[id]);
	v->text[id] = NULL;
	v->set &= ~OPTION_BIT(id);
	v->given &= ~OPTION_BIT(id);
}

int option_find(const char *word, bool dashes)
{
	size_t size;

	if (dashes && word[0] == '-' && word[1] != '\0' && word[1] != '-' && word[2] == '\0') {
		for (int i = 0; i < OPTIONS; i++) {
			if (option_table[i].letter == word[1])
				return i;
		}
		return -1;
	}
	if (dashes) {
		if (strncmp(word, "--", 2) != 0)
			return -1;
		word += 2;
	}
	size = dashes ? strcspn(word, "=") : strlen(word);
	for (int i = 0; i < OPTIONS; i++) {
		if (strlen(option_table[i].name) == size &&
		    strncmp(word, option_table[i].name, size) == 0)
			return i;
	}
	return -1;
}

int option_set(struct option_values *v, enum option_id id, const char *text, struct error *err)
{
	const struct option_info *o = &option_table[id];
	bool again = v->given & OPTION_BIT(id);
	int rc;

	if (o->form && !text)
		return error_set(err, ERROR_INPUT, "--%s needs a value: --%s %s", o->name, o->name,
		                 o->form);
	if (!o->form && text)
		return error_set(err, ERROR_INPUT, "--%s takes no value", o->name);
	rc = o->parse(text, v, err);
	if (rc)
		return rc;
	if (id == OPTION_AGAINST && again) {
		char *both = memory_format("%s %s", v->text[id], text);

		free(v->text[id]);
		v->text[id] = both;
	} else {
		free(v->text[id]);
		v->text[id] = text ? memory_copy(text) : NULL;
	}
	v->set |= OPTION_BIT(id);
	v->given |= OPTION_BIT(id);
	return ERROR_NONE;
}

/* The message for a word that looks like an option and is none, or none of this command. */
static int option_unknown(const char *word, uint32_t allowed, const char *who, struct error *err)
{
	const char *names[OPTIONS];
	size_t n = 0;
	int id = option_find(word, true), near;
	char *bare;

	if (id >= 0 && option_table[id].kind == OPTION_PROGRAM)
		return error_set(err, ERROR_INPUT, "%s stands before any command: entrylab %s",
		                 word, word);
	if (id >= 0 && !who)
		return error_set(err, ERROR_INPUT,
		                 "%s belongs behind a command (see: entrylab --help)", word);
	if (id >= 0)
		return error_set(err, ERROR_INPUT, "%s takes no option --%s (see: help %s)", who,
		                 option_table[id].name, who);
	for (int i = 0; i < OPTIONS; i++) {
		if (allowed & OPTION_BIT(i))
			names[n++] = option_table[i].name;
	}
	bare = memory_copy_part(word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));
	near = nearest_name(bare, names, n);
	free(bare);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "%s%sno option %s; did you mean --%s?",
		                 who ? who : "", who ? ": " : "", word, names[near]);
	if (!who)
		return error_set(err, ERROR_INPUT, "no option %s (see: entrylab --help)", word);
	return error_set(err, ERROR_INPUT,
	                 "%s: no option %s (see: help %s; words behind -- are no options)", who,
	                 word, who);
}

int option_parse(const char *const *words, size_t n, uint32_t allowed, const char *who,
                 struct option_values *v, const char **rest, size_t *rest_count, size_t *first,
                 struct error *err)
{
	bool plain = false;

	*rest_count = 0;
	if (first)
		*first = n;
	for (size_t i = 0; i < n; i++) {
		const char *word = words[i], *value = NULL;
		int id, rc;

		if (plain || word[0] != '-' || word[1] == '\0') {
			if (first) {
				*first = i;
				break;
			}
			rest[(*rest_count)++] = word;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			plain = true;
			continue;
		}
		id = option_find(word, true);
		if (id < 0 || !(allowed & OPTION_BIT(id)))
			return option_unknown(word, allowed, who, err);
		if (word[1] == '-' && strchr(word, '='))
			value = strchr(word, '=') + 1;
		else if (option_table[id].form && i + 1 < n)
			value = words[++i];
		rc = option_set(v, (enum option_id)id, value, err);
		if (rc)
			return rc;
	}
	return ERROR_NONE;
}

/* A comma begins a new term if a factor's name and '=' follow it: reg=gs,fs,outer=tls is reg=gs,fs
 * and outer=tls. */
static bool option_term_begins(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n > 0 && p[n] == '=';
}

int option_terms(const char *text, char ***out, size_t *n, struct error *err)
{
	size_t before = *n;
	const char *p = text;

	while (*p) {
		const char *end;

		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		end = p;
		while (*end && !isspace((unsigned char)*end) &&
		       !(*end == ',' && option_term_begins(end + 1)))
			end++;
		if (!option_term_begins(p) || end[-1] == '=' || end[-1] == ',')
			return error_set(err, ERROR_INPUT,
			                 "--against %s: \"%.*s\" is not FACTOR=LEVEL", text,
			                 (int)(end - p), p);
		*out = memory_grow(*out, *n + 1, sizeof(**out));
		(*out)[(*n)++] = memory_copy_part(p, (size_t)(end - p));
		p = *end == ',' ? end + 1 : end;
	}
	if (*n == before)
		return error_set(err, ERROR_INPUT, "--against: name at least one FACTOR=LEVEL");
	return ERROR_NONE;
}

void option_inherited_words(const struct option_values *v, uint32_t allowed, char ***words,
                            size_t *n)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_info *o = &option_table[i];

		if (!o->measures || !(allowed & v->set & ~v->given & OPTION_BIT(i)))
			continue;
		*words = memory_grow(*words, *n + 2, sizeof(**words));
		(*words)[(*n)++] = memory_format("--%s", o->name);
		if (v->text[i])
			(*words)[(*n)++] = memory_copy(v->text[i]);
	}
}

char *option_heading(enum option_id id)
{
	const struct option_info *o = &option_table[id];
	char *letter = o->letter ? memory_format("-%c, ", o->letter) : memory_copy("");
	char *heading = memory_format("%s--%s%s%s", letter, o->name, o->form ? " " : "",
	                              o->form ? o->form : "");

	free(letter);
	return heading;
}
