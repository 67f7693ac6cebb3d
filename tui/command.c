#include "tui/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "engine/nearest.h"
#include "engine/result.h"
#include "tui/command_archive.h"
#include "tui/command_claim.h"
#include "tui/command_published.h"
#include "tui/command_run.h"
#include "tui/command_session.h"
#include "tui/command_show.h"
#include "tui/journal.h"
#include "tui/memory.h"
#include "tui/words.h"

#define B(id) OPTION_BIT(OPTION_##id)

enum {
	COMMAND_MEASURES = B(FORMAT) | B(QUIET) | B(EXPLAIN) | B(CPU) | B(TIME) | B(PRECISION) |
	                   B(SEED) | B(RAW) | B(ARCHIVE) | B(NO_ARCHIVE) | B(AGAINST),
};

#define COMMAND_ANY SIZE_MAX

const struct command command_table[] = {
        {
                .name = "run",
                .synopsis = "EXPERIMENT [FACTOR=LEVEL,...]...",
                .help = "Measure the variants of an experiment.",
                .details = "Every combination of the levels named is a variant and a row; a factor "
                           "that is not named has "
                           "the experiment's default levels, FACTOR=all has every one, and for a "
                           "range of numbers LO..HI "
                           "and LO..HI/STEP stand for many.\n"
                           "Costs are per iteration, in cycles, nanoseconds and time-stamp ticks, "
                           "each with its 99% "
                           "interval. With --against, each variant is compared with its base, "
                           "interleaved with it.",
                .example = "run segreg abi=i386 reg=fs,gs outer=null,tls inner=gdt --against "
                           "outer=tls",
                .options = COMMAND_MEASURES,
                .least = 1,
                .most = COMMAND_ANY,
                .words = COMMAND_WORDS_SELECTION,
                .repeats = true,
                .call = command_run_experiment,
        },
        {
                .name = "asm",
                .synopsis = "SNIPPET...",
                .help = "Measure and compare pieces of assembly code, without a file.",
                .details = "Each snippet is GNU as source in AT&T syntax and is one iteration; "
                           "they are the levels s1, s2, "
                           "... of the factor code. All are compared with the first, or with what "
                           "--against names "
                           "(code=s2). A snippet must leave the stack pointer where it was.",
                .example = "asm 'push %rax; pop %rax' 'mov %rax,%rcx' --abi x86_64",
                .options = COMMAND_MEASURES | B(ABI) | B(SETUP),
                .least = 1,
                .most = COMMAND_ANY,
                .repeats = true,
                .call = command_run_snippets,
        },
        {
                .name = "list",
                .synopsis = "[experiments | claims | runs [FILTER]]",
                .help = "List the experiments, the claims, or the runs that are kept.",
                .details = "Experiments are listed by group, claims by number; a file that has an "
                           "error is told on standard error.\n"
                           "Runs are listed newest first: all, or those whose experiment is FILTER "
                           "or whose command contains it.",
                .example = "list runs segreg --limit 5",
                .options = B(FORMAT) | B(QUIET) | B(ARCHIVE) | B(LIMIT),
                .most = 2,
                .words = COMMAND_WORDS_LIST,
                .call = command_show_list,
        },
        {
                .name = "show",
                .synopsis = "EXPERIMENT | CLAIM | RUN",
                .help = "Show an experiment's documentation and source, a claim, or a run that "
                        "is kept.",
                .details = "For an experiment: what it measures, its factors and levels, why a "
                           "level does not exist on this "
                           "machine, and its source. For a claim: the statement, who made it, what "
                           "tests it, the published figures. For the number of a run, or last: "
                           "its table, as it was printed.",
                .example = "show segreg",
                .options = B(FORMAT) | B(QUIET) | B(EXPLAIN) | B(ARCHIVE),
                .least = 1,
                .most = 1,
                .words = COMMAND_WORDS_SHOW,
                .call = command_show_name,
        },
        {
                .name = "verify",
                .synopsis = "[CLAIM]...",
                .help = "Test published claims on this machine.",
                .details =
                        "Measures each claim's run (claims with the same run share one) and says "
                        "whether the claim holds, fails, is not decided, or is not testable here, "
                        "with the figures and what was wanted of them. The time and precision of "
                        "a run are those the claim gives, else 0.5 and 0.02,0.05%, unless they "
                        "are given here.\n"
                        "The exit status is 1 if a claim fails. A run that is not trusted "
                        "decides nothing.",
                .example = "verify --all",
                .options = B(FORMAT) | B(QUIET) | B(CPU) | B(TIME) | B(PRECISION) | B(SEED) |
                           B(ARCHIVE) | B(NO_ARCHIVE) | B(ALL),
                .most = COMMAND_ANY,
                .words = COMMAND_WORDS_CLAIMS,
                .repeats = true,
                .call = command_claim_verify,
        },
        {
                .name = "published",
                .synopsis = "[TABLE]",
                .help = "Print published figures beside this machine's.",
                .details =
                        "Measures the run that the table names, and prints what was published with "
                        "what this machine needs for the same, each in the unit of the table; no "
                        "unit is turned into another by a clock rate that was only printed. "
                        "Tables of figures that a program cannot measure again are context and "
                        "say so.\n"
                        "Without TABLE: list them; nothing is measured.",
                .example = "published segreg",
                .options = B(FORMAT) | B(QUIET) | B(CPU) | B(TIME) | B(PRECISION) | B(SEED) |
                           B(ARCHIVE) | B(NO_ARCHIVE),
                .most = 1,
                .words = COMMAND_WORDS_TABLE,
                .repeats = true,
                .call = command_published,
        },
        {
                .name = "listing",
                .synopsis = "EXPERIMENT [FACTOR=LEVEL,...]...",
                .help = "Show the machine code of variants: addresses, bytes, instructions, size.",
                .details = "Factors and levels are selected as by run. Nothing is executed.",
                .example = "listing segreg abi=x86_64 reg=gs outer=tls inner=gdt",
                .options = B(FORMAT) | B(QUIET),
                .least = 1,
                .most = COMMAND_ANY,
                .words = COMMAND_WORDS_SELECTION,
                .call = command_show_listing,
        },
        {
                .name = "export",
                .synopsis = "RUN [FILE]",
                .help = "Write a run that is kept, to standard output or to a file.",
                .details = "RUN is a number that list runs shows, or last. The form is that of "
                           "--format jsonl unless "
                           "--format says otherwise.",
                .example = "export last segreg.jsonl",
                .options = B(FORMAT) | B(QUIET) | B(ARCHIVE),
                .least = 1,
                .most = 2,
                .words = COMMAND_WORDS_RUN_FILE,
                .call = command_archive_export,
        },
        {
                .name = "compare",
                .synopsis = "RUN RUN",
                .help = "Put two runs that are kept side by side, row by row.",
                .details = "Rows are matched by factors and levels. The two were not interleaved, "
                           "so what changed on the "
                           "machine between them is part of every difference; what is known to "
                           "differ between the two "
                           "hosts is named.",
                .example = "compare 3 last",
                .options = B(FORMAT) | B(QUIET) | B(ARCHIVE),
                .least = 2,
                .most = 2,
                .words = COMMAND_WORDS_RUNS,
                .call = command_archive_compare,
        },
        {
                .name = "host",
                .synopsis = "",
                .help = "Describe this machine, what it can do, and what would make results "
                        "better.",
                .details = "This is the description that every run carries.",
                .example = "host --format jsonl",
                .options = B(FORMAT) | B(QUIET) | B(CPU),
                .call = command_show_host,
        },
        {
                .name = "source",
                .synopsis = "FILE",
                .help = "Run the commands in a file.",
                .details = "One command a line; a backslash at the end of a line and an open quote "
                           "go on with the next. A "
                           "script stops at its first error unless --keep-going is given; a run "
                           "that is not trusted "
                           "or not kept is no reason to stop, but the exit status tells it.",
                .example = "source tonight.elab --keep-going",
                .options = B(KEEP_GOING),
                .least = 1,
                .most = 1,
                .words = COMMAND_WORDS_FILE,
                .repeats = true,
                .call = command_session_source,
        },
        {
                .name = "set",
                .synopsis = "[OPTION [VALUE]]",
                .help = "Set an option for the commands that follow.",
                .details =
                        "VALUE is what the option takes, on or off for one that takes nothing, or "
                        "default. Without VALUE: "
                        "on, for an option that takes nothing. Without OPTION: show what is set.",
                .example = "set time 2",
                .most = 2,
                .words = COMMAND_WORDS_SET,
                .repeats = true,
                .call = command_session_set,
        },
        {
                .name = "compose",
                .synopsis = "[EXPERIMENT [FACTOR=LEVEL,...]...]",
                .help = "Put together what the workbench runs next.",
                .details = "Takes what run takes, and measures nothing: the workbench shows the "
                           "factors, how many variants there are and how long they will take. "
                           "Without words: the experiment's defaults again.",
                .example = "compose segreg reg=fs,gs --against reg=gs",
                .options = B(AGAINST),
                .most = COMMAND_ANY,
                .words = COMMAND_WORDS_SELECTION,
                .workbench = true,
                .call = command_session_face,
        },
        {
                .name = "sort",
                .synopsis = "[COLUMN [down]]",
                .help = "Order the rows of the workbench's results.",
                .details = "COLUMN is measured (the order of the run), name, cycles, difference, "
                           "interval or spread; down begins with the largest.",
                .example = "sort cycles down",
                .most = 2,
                .words = COMMAND_WORDS_SORT,
                .workbench = true,
                .call = command_session_face,
        },
        {
                .name = "filter",
                .synopsis = "[WORD]...",
                .help = "Show only those rows of the workbench's results that have every WORD.",
                .details = "A WORD is part of a row's levels, as in reg=fs. Without words: all "
                           "rows.",
                .example = "filter reg=fs tls",
                .most = COMMAND_ANY,
                .workbench = true,
                .call = command_session_face,
        },
        {
                .name = "view",
                .synopsis = "PANE",
                .help = "Go to a pane or a screen of the workbench.",
                .details = "help lists the panes there are.",
                .example = "view host",
                .least = 1,
                .most = 1,
                .words = COMMAND_WORDS_VIEW,
                .workbench = true,
                .call = command_session_face,
        },
        {
                .name = "write",
                .synopsis = "FILE",
                .help = "Write the commands of this session as a script.",
                .details = "What measured or set something stands there, complete with the options "
                           "that were set, so that entrylab -f FILE makes the same runs. Commands "
                           "that were errors are left out.",
                .example = "write today.elab",
                .least = 1,
                .most = 1,
                .words = COMMAND_WORDS_FILE,
                .call = command_session_write,
        },
        {
                .name = "save",
                .synopsis = "settings",
                .help = "Keep what is set for the sessions to come.",
                .details = "Writes lines of set to $XDG_CONFIG_HOME/entrylab/config (or "
                           "~/.config/entrylab/config), which is read when the program starts. "
                           "Nothing else writes there.",
                .example = "save settings",
                .least = 1,
                .most = 1,
                .words = COMMAND_WORDS_SAVE,
                .call = command_session_save,
        },
        {
                .name = "help",
                .synopsis = "[COMMAND | OPTION]",
                .help = "Tell what the commands and options are.",
                .details = "Without a name: all of them.",
                .example = "help run",
                .options = B(TABLES),
                .most = 1,
                .words = COMMAND_WORDS_HELP,
                .call = command_session_help,
        },
        {
                .name = "quit",
                .synopsis = "",
                .help = "Leave the prompt, or end a script here.",
                .details = "The exit status is the worst of what came before.",
                .example = "quit",
                .call = command_session_quit,
        },
};
const size_t command_count = sizeof(command_table) / sizeof(command_table[0]);

#undef B

void session_init(struct session *s, volatile int *stop)
{
	*s = (struct session){.stop = stop, .journal = memory_get(sizeof(*s->journal))};
	option_values_init(&s->defaults);
}

void session_free(struct session *s)
{
	option_values_free(&s->defaults);
	journal_free(s->journal);
	free(s->journal);
	s->journal = NULL;
}

void session_take(struct session *s, struct result_run *run)
{
	if (s->face && run)
		s->face->take(s->face_ctx, run);
	else
		result_run_free(run);
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(command_table[i].name, name) == 0)
			return &command_table[i];
	}
	return NULL;
}

__attribute__((format(printf, 2, 0))) static void command_vsay(const struct session *s,
                                                               const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", s->where ? s->where : "entrylab");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void command_say(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	command_vsay(s, fmt, ap);
	va_end(ap);
}

void command_note(const struct command_call *call, const char *fmt, ...)
{
	va_list ap;

	if (call->values.quiet)
		return;
	va_start(ap, fmt);
	command_vsay(call->session, fmt, ap);
	va_end(ap);
}

bool command_output_holds(const struct session *s)
{
	static bool told;
	bool holds;

	errno = 0;
	holds = fflush(stdout) == 0 && !ferror(stdout);
	/* It failed earlier, when a buffer was full: a byte of its own tells the reason. Nothing
	 * that is lost is followed by it: the output is not whole any more. */
	if (!holds && !errno && write(STDOUT_FILENO, "\n", 1) == 1)
		errno = EIO;
	/* A reader that has seen enough and closed the pipe needs no message. */
	if (!holds && !told && errno != EPIPE)
		command_say(s, "standard output cannot be written: %s",
		            strerror(errno ? errno : EIO));
	told = told || !holds;
	return holds;
}

/* Records are JSON, whose strings are UTF-8; and no command, name or snippet has a use for anything
 * else. */
static int command_check_text(const char *const *words, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		json_t *text = json_string(words[i]);

		if (!text)
			return error_set(err, ERROR_INPUT, "word %zu of the command is not UTF-8",
			                 i + 1);
		json_decref(text);
	}
	return ERROR_NONE;
}

static int command_unknown(const char *name, struct error *err)
{
	const char *names[32];
	size_t n = 0;
	int near;

	while (n < command_count && n < sizeof(names) / sizeof(names[0])) {
		names[n] = command_table[n].name;
		n++;
	}
	near = nearest_name(name, names, n);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "no command %s; did you mean %s?", name,
		                 names[near]);
	return error_set(err, ERROR_INPUT, "no command %s (see: help)", name);
}

static int command_check_count(const struct command *c, size_t count, struct error *err)
{
	if (count < c->least)
		return error_set(err, ERROR_INPUT, "%s: something is missing: %s %s", c->name,
		                 c->name, c->synopsis);
	if (count > c->most)
		return error_set(err, ERROR_INPUT, "%s: too many words: %s%s%s", c->name, c->name,
		                 *c->synopsis ? " " : "", c->synopsis);
	return ERROR_NONE;
}

/* The command as typed, and with it what the session adds to it: at the end, unless a "--" may have
 * made that plain words. */
static char *command_line(const struct command_call *call, const char *const *words, size_t n)
{
	char **added = NULL, *head, *more, *tail, *line;
	size_t added_count = 0, at = n;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(words[i], "--") == 0)
			at = 1;
	}
	option_inherited_words(&call->values, call->command->options, &added, &added_count);
	head = words_join(words, at);
	more = words_join((const char *const *)added, added_count);
	tail = words_join(words + at, n - at);
	line = memory_format("%s%s%s%s%s", head, added_count ? " " : "", more, at < n ? " " : "",
	                     tail);
	for (size_t i = 0; i < added_count; i++)
		free(added[i]);
	free(added);
	free(head);
	free(more);
	free(tail);
	return line;
}

static int command_call(struct command_call *call, const char *const *words, size_t n,
                        const size_t *entry, struct error *err)
{
	const struct command *c = call->command;
	const char **rest = memory_get(n * sizeof(*rest));
	char *line = NULL;
	int rc = option_parse(words + 1, n - 1, c->options | OPTION_BIT(OPTION_HELP), c->name,
	                      &call->values, rest, &call->count, NULL, err);

	call->words = rest;
	if (rc == ERROR_NONE && call->values.help) {
		command_session_help_command(c, stdout);
	} else if (rc == ERROR_NONE) {
		rc = command_check_count(c, call->count, err);
		if (rc == ERROR_NONE) {
			call->line = line = command_line(call, words, n);
			if (entry)
				journal_line_set(call->session->journal, *entry, line);
			rc = c->call(call, err);
		}
	}
	free(line);
	free(rest);
	return rc;
}

/* Finds the command and calls it; entry (or NULL) is its place in the journal. */
static int command_dispatch(struct session *s, const char *const *words, size_t n,
                            const size_t *entry, struct error *err)
{
	struct command_call call = {.session = s};
	int rc = command_check_text(words, n, err);

	if (rc)
		return rc;
	call.command = command_find(words[0]);
	if (!call.command)
		return command_unknown(words[0], err);
	option_values_inherit(&call.values, &s->defaults);
	rc = command_call(&call, words, n, entry, err);
	option_values_free(&call.values);
	return rc;
}

static size_t command_begin(struct session *s, const char *const *words, size_t n)
{
	const struct command *c = command_find(words[0]);
	char *line = words_join(words, n);
	size_t entry = journal_begin(s->journal, line, c && c->repeats);

	free(line);
	return entry;
}

enum error_code command_execute(struct session *s, const char *const *words, size_t n)
{
	bool journal = s->within == 0;
	size_t entry = 0;
	struct error err = {0};
	int rc;

	if (n == 0)
		return ERROR_NONE;
	if (journal)
		entry = command_begin(s, words, n);
	rc = command_dispatch(s, words, n, journal ? &entry : NULL, &err);
	/* An empty text: the command has told already. */
	if (rc != ERROR_NONE && err.text[0])
		command_say(s, "%s", err.text);
	if (!command_output_holds(s))
		rc = error_worse((enum error_code)rc, ERROR_INTERNAL);
	if (journal)
		journal_end(s->journal, entry, (enum error_code)rc);
	return (enum error_code)rc;
}
