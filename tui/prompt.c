#include "tui/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "engine/archive.h"
#include "engine/claim.h"
#include "engine/experiment.h"
#include "engine/published.h"
#include "tui/command_archive.h"
#include "tui/complete.h"
#include "tui/history.h"
#include "tui/input.h"
#include "tui/memory.h"
#include "tui/script.h"

static const char prompt_text[] = "entrylab> ";

enum { PROMPT_RUNS_OFFERED = 100 };

/* readline's callbacks carry no context, and there is one terminal. */
static struct {
	struct session *session;
	struct experiment *experiment; /* the last one completion asked for */
	char *line;                    /* what was typed; NULL: end of input */
	bool done;
} prompt;

static void prompt_take_line(char *line)
{
	prompt.line = line;
	prompt.done = true;
	/* Gives the terminal back for the time of the command. */
	rl_callback_handler_remove();
}

/* Completion. */

static void source_experiments(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	struct experiment_list all = {0};

	(void)ctx;
	if (experiment_list(&all, NULL) != ERROR_NONE)
		return;
	for (size_t i = 0; i < all.count; i++)
		add(list, all.items[i]->name);
	experiment_list_free(&all);
}

static void source_claims(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	struct claim_list all;

	(void)ctx;
	if (claim_list_read(&all, NULL) != ERROR_NONE)
		return;
	for (size_t i = 0; i < all.count; i++)
		add(list, all.items[i]->name);
	claim_list_free(&all);
}

static void source_tables(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	struct published_list all;

	(void)ctx;
	if (published_list_read(&all, NULL) != ERROR_NONE)
		return;
	for (size_t i = 0; i < all.count; i++)
		add(list, all.items[i]->name);
	published_list_free(&all);
}

static const struct experiment *source_experiment(void *ctx, const char *name)
{
	(void)ctx;
	experiment_free(prompt.experiment);
	prompt.experiment = NULL;
	if (experiment_find(name, &prompt.experiment, NULL) != ERROR_NONE)
		return NULL;
	return prompt.experiment;
}

struct run_adder {
	void (*add)(void *list, const char *name);
	void *list;
};

static int source_add_run(const struct archive_entry *e, void *ctx)
{
	const struct run_adder *adder = ctx;
	char *id = memory_format("%" PRId64, e->id);

	adder->add(adder->list, id);
	free(id);
	return 0;
}

static void source_runs(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	struct run_adder adder = {add, list};
	struct archive *a = NULL;
	char *path = NULL;

	(void)ctx;
	if (command_archive_path(&prompt.session->defaults, &path, NULL) == ERROR_NONE &&
	    archive_open(path, false, &a, NULL) == ERROR_NONE)
		archive_each(a, NULL, PROMPT_RUNS_OFFERED, source_add_run, &adder, NULL);
	archive_close(a);
	free(path);
}

static struct complete_source prompt_source = {
        .experiments = source_experiments,
        .experiment = source_experiment,
        .claims = source_claims,
        .tables = source_tables,
        .runs = source_runs,
};

static size_t prompt_common(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i] && a[i])
		i++;
	return i;
}

/* What readline wants: first what all have in common, then all; the array and the strings are its
 * own then. */
static char **prompt_matches(struct complete_list *list)
{
	char **matches;
	size_t common;

	if (list->count == 0)
		return NULL;
	common = strlen(list->items[0]);
	for (size_t i = 1; i < list->count; i++)
		common = prompt_common(list->items[0], list->items[i], common);
	matches = memory_get((list->count + 2) * sizeof(*matches));
	matches[0] = memory_copy_part(list->items[0], common);
	for (size_t i = 0; list->count > 1 && i < list->count; i++)
		matches[i + 1] = memory_copy(list->items[i]);
	return matches;
}

static char **prompt_complete(const char *text, int start, int end)
{
	struct complete_list list;
	char **matches = NULL;

	(void)text;
	complete_line(rl_line_buffer, (size_t)end, &prompt_source, &list);
	rl_attempted_completion_over = !list.files;
	rl_completion_append_character = list.open ? '\0' : ' ';
	rl_sort_completion_matches = 0;
	/* readline cuts words at the same places, but for rare quoting. */
	if (list.start == (size_t)start)
		matches = prompt_matches(&list);
	complete_free(&list);
	return matches;
}

/* The editor. */

void prompt_completion_begin(struct session *s)
{
	prompt.session = s;
	prompt_source.workbench = s->face != NULL;
	rl_readline_name = "entrylab";
	rl_attempted_completion_function = prompt_complete;
	rl_completer_word_break_characters = " \t\n=,'\"";
	rl_completer_quote_characters = "";
	rl_basic_quote_characters = "";
}

void prompt_completion_end(void)
{
	experiment_free(prompt.experiment);
	prompt.experiment = NULL;
}

static void prompt_set_up(struct session *s)
{
	prompt_completion_begin(s);
	rl_instream = stdin;
	rl_outstream = stderr;
	rl_catch_signals = 0; /* ^C is main's; it is looked at below */
	rl_change_environment = 0;
	rl_variable_bind("enable-bracketed-paste", "on");
}

/* ^C: the line is gone, and whatever was going on in it (a search, an argument). */
static void prompt_clear(void)
{
	rl_callback_sigcleanup();
	rl_point = rl_end;
	rl_redisplay();
	fputs("^C\n", rl_outstream);
	rl_replace_line("", 1);
	rl_point = 0;
	rl_on_new_line();
	rl_redisplay();
}

/* One line, malloc'ed; NULL at the end of input or if the program is to end. */
static char *prompt_read(volatile int *stop, const volatile int *terminate)
{
	prompt.line = NULL;
	prompt.done = false;
	rl_callback_handler_install(prompt_text, prompt_take_line);
	while (!prompt.done && !*terminate) {
		int ready = input_wait(STDIN_FILENO, stop);

		if (ready < 0)
			break;
		if (ready > 0) {
			rl_callback_read_char();
		} else if (!*terminate) {
			*stop = 0;
			prompt_clear();
		}
	}
	if (!prompt.done)
		rl_callback_handler_remove();
	/* At the end of input from a terminal readline has moved on by itself. */
	if (!prompt.line && !(prompt.done && isatty(STDIN_FILENO)))
		fputc('\n', rl_outstream);
	return prompt.line;
}

enum error_code prompt_run(struct session *s, const volatile int *terminate)
{
	char *path = history_default_path(), *line;
	enum error_code worst = ERROR_NONE;

	prompt_set_up(s);
	if (path)
		history_load(path);
	while (!s->quit && command_output_holds(s) && (line = prompt_read(s->stop, terminate))) {
		history_add_text(path, line);
		if (s->stop)
			*s->stop = 0;
		worst = error_worse(worst, (enum error_code)script_run_text(s, line));
		if (s->stop && !*terminate)
			*s->stop = 0;
		free(line);
	}
	if (*terminate)
		worst = error_worse(worst, ERROR_STOPPED);
	prompt_completion_end();
	free(path);
	return worst;
}
