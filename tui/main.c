/* The program: what stands on its command line, signals, and how it exits. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/error.h"
#include "tui/command.h"
#include "tui/command_session.h"
#include "tui/memory.h"
#include "tui/option.h"
#include "tui/prompt.h"
#include "tui/script.h"
#include "tui/settings.h"
#include "tui/wb.h"
#include "tui/wb_term.h"

/* Set by the handler and looked at between the steps of a run. int as run_to_end takes it; on Linux
 * that is sig_atomic_t. */
static volatile int main_stop, main_terminate;
_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "a signal handler may set an int");

enum { MAIN_PATIENCE = 3 }; /* this many ^C unheeded, and the program ends at once */

static void main_on_signal(int signal_number)
{
	static volatile sig_atomic_t unheeded;

	unheeded = main_stop ? unheeded + 1 : 1;
	main_stop = 1;
	if (signal_number != SIGINT)
		main_terminate = 1;
	if (unheeded >= MAIN_PATIENCE) {
		wb_term_end_now();
		_exit(error_exit_status(ERROR_STOPPED));
	}
}

static void main_catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction catch = {.sa_handler = main_on_signal, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

	sigemptyset(&catch.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* What is ignored from the start stays so: nohup, and shells' background jobs. */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &catch, NULL);
	}
	/* A write to a closed pipe is an error like any other. */
	sigaction(SIGPIPE, &ignore, NULL);
}

/* A program started with a standard stream closed must not have an archive opened in its place and
 * messages written into that. Opened the wrong way round, so that using it is still an error. */
static void main_fill_streams(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			_exit(error_exit_status(ERROR_INTERNAL));
	}
}

static uint32_t main_options(void)
{
	uint32_t mask = OPTION_BIT(OPTION_HELP);

	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].kind != OPTION_COMMAND)
			mask |= OPTION_BIT(i);
	}
	return mask;
}

static int main_fail(const struct session *s, const struct error *err)
{
	if (err->text[0])
		command_say(s, "%s", err->text);
	return err->code;
}

/* -f FILE, and -i behind it. */
static int main_scripts(struct session *s, const struct option_values *v)
{
	struct error err = {0};
	int code = ERROR_NONE, rc;

	if (v->text[OPTION_FILE]) {
		/* a `set` in the script may replace the options, and this word with them */
		char *path = memory_copy(v->text[OPTION_FILE]);

		rc = script_run_file(s, path, v->keep_going, &err);
		free(path);
		if (rc)
			main_fail(s, &err);
		code = rc;
	}
	if (v->prompt && !main_terminate && !s->quit)
		code = error_worse((enum error_code)code, prompt_run(s, &main_terminate));
	return code;
}

/* Nothing was asked for: a person at a terminal gets the workbench, a pipe or a file is read as a
 * script. */
static int main_alone(struct session *s)
{
	struct error err = {0};
	int rc;

	if (isatty(STDIN_FILENO)) {
		rc = wb_run(s, &main_terminate, &err);
		return rc ? main_fail(s, &err) : rc;
	}
	rc = script_run_file(s, "-", s->defaults.keep_going, &err);
	if (rc)
		main_fail(s, &err);
	return rc;
}

static int main_run(struct session *s, const char *const *words, size_t n)
{
	struct option_values *v = &s->defaults;
	struct error err = {0};
	size_t first, none;
	int rc = option_parse(words, n, main_options(), NULL, v, NULL, &none, &first, &err);

	if (rc)
		return main_fail(s, &err);
	if (v->help) {
		command_session_help_program(stdout);
		return ERROR_NONE;
	}
	if (v->version) {
		puts("entrylab " ENTRYLAB_VERSION);
		return ERROR_NONE;
	}
	v->given = 0;
	if (v->text[OPTION_FILE] || v->prompt) {
		if (first == n)
			return main_scripts(s, v);
		error_set(&err, ERROR_INPUT, "%s: -f and -i take no command behind them",
		          words[first]);
		return main_fail(s, &err);
	}
	return first < n ? (int)command_execute(s, words + first, n - first) : main_alone(s);
}

int main(int argc, char **argv)
{
	struct session s;
	enum error_code code;

	main_fill_streams();
	/* Characters by the user's locale, numbers by none: results are read by programs. */
	setlocale(LC_CTYPE, "");
	main_catch_signals();
	session_init(&s, &main_stop);
	settings_read(&s);
	code = (enum error_code)main_run(&s, (const char *const *)argv + 1,
	                                 argc > 0 ? (size_t)argc - 1 : 0);
	if (main_stop)
		code = error_worse(code, ERROR_STOPPED);
	if (!command_output_holds(&s))
		code = error_worse(code, ERROR_INTERNAL);
	session_free(&s);
	return error_exit_status(code);
}
