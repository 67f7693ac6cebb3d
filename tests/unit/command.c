/* The table of commands, how a command line becomes a command, and what a session remembers. */
#include "tui/command.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/command_archive.h"
#include "tui/script.h"

/* Standard error while a test runs, to be looked at. */
static FILE *told;
static int told_fd = -1, stderr_fd = -1, stdout_fd = -1;

static int catch_output(void **state)
{
	(void)state;
	told = tmpfile();
	if (!told)
		return -1;
	told_fd = fileno(told);
	fflush(stdout);
	stderr_fd = dup(STDERR_FILENO);
	stdout_fd = dup(STDOUT_FILENO);
	dup2(told_fd, STDERR_FILENO);
	dup2(told_fd, STDOUT_FILENO);
	return 0;
}

static int release_output(void **state)
{
	(void)state;
	fflush(stdout);
	dup2(stderr_fd, STDERR_FILENO);
	dup2(stdout_fd, STDOUT_FILENO);
	close(stderr_fd);
	close(stdout_fd);
	fclose(told);
	return 0;
}

static void assert_told(const char *text)
{
	char all[65536];
	ssize_t n;

	fflush(stdout);
	n = pread(told_fd, all, sizeof(all) - 1, 0);
	assert_true(n >= 0);
	all[n] = '\0';
	if (!strstr(all, text))
		fail_msg("\"%s\" is not in: %s", text, all);
}

static void every_command_has_help_an_example_and_a_function(void **state)
{
	(void)state;
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = &command_table[i];

		assert_non_null(c->call);
		assert_non_null(c->synopsis);
		assert_true(islower((unsigned char)c->name[0]));
		assert_true(isupper((unsigned char)c->help[0]));
		assert_int_equal(c->help[strlen(c->help) - 1], '.');
		assert_int_equal(c->details[strlen(c->details) - 1], '.');
		assert_int_equal(strncmp(c->example, c->name, strlen(c->name)), 0);
		assert_true(c->least <= c->most);
		assert_ptr_equal(command_find(c->name), c);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(command_table[j].name, c->name);
	}
	assert_null(command_find("frobnicate"));
}

static void commands_take_only_options_that_exist_and_are_theirs(void **state)
{
	uint32_t used = 0;

	(void)state;
	for (size_t i = 0; i < command_count; i++) {
		assert_int_equal(command_table[i].options >> OPTIONS, 0);
		used |= command_table[i].options;
	}
	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].kind == OPTION_PROGRAM)
			assert_false(used & OPTION_BIT(i));
		else if (i != OPTION_HELP && i != OPTION_MOUSE) /* the workbench's own */
			assert_true(used & OPTION_BIT(i));
	}
}

static void an_unknown_command_gets_the_nearest(void **state)
{
	struct session s;
	const char *words[] = {"lsit"};

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(command_execute(&s, words, 1), ERROR_INPUT);
	assert_told("entrylab: no command lsit; did you mean list?");
	session_free(&s);
}

static void missing_and_surplus_words_are_told_with_the_synopsis(void **state)
{
	struct session s;
	const char *few[] = {"show"}, *many[] = {"compare", "1", "2", "3"};

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(command_execute(&s, few, 1), ERROR_INPUT);
	assert_told("show: something is missing: show EXPERIMENT | CLAIM | RUN");
	assert_int_equal(command_execute(&s, many, 4), ERROR_INPUT);
	assert_told("compare: too many words: compare RUN RUN");
	session_free(&s);
}

static void words_that_are_not_utf8_are_refused(void **state)
{
	struct session s;
	const char *words[] = {"asm", "\xff"};

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(command_execute(&s, words, 2), ERROR_INPUT);
	assert_told("word 2 of the command is not UTF-8");
	session_free(&s);
}

static void every_command_tells_its_help(void **state)
{
	struct session s;

	(void)state;
	session_init(&s, NULL);
	for (size_t i = 0; i < command_count; i++) {
		const char *words[] = {command_table[i].name, "--help"};

		assert_int_equal(command_execute(&s, words, 2), ERROR_NONE);
	}
	assert_told("Leave the prompt");
	session_free(&s);
}

static void set_changes_the_session_and_a_bad_value_changes_nothing(void **state)
{
	struct session s;

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(script_run_text(&s, "set time 2\nset quiet\nset format csv"), ERROR_NONE);
	assert_float_equal(s.defaults.time, 2, 0);
	assert_true(s.defaults.quiet);
	assert_int_equal(s.defaults.format, RENDER_CSV);
	assert_int_equal(script_run_text(&s, "set time never"), ERROR_INPUT);
	assert_float_equal(s.defaults.time, 2, 0);
	assert_int_equal(script_run_text(&s, "set against reg=gs\nset against tls"), ERROR_INPUT);
	assert_int_equal(s.defaults.against_count, 1);
	assert_int_equal(
	        script_run_text(&s, "set quiet off\nset time default\nset against outer=tls"),
	        ERROR_NONE);
	assert_false(s.defaults.quiet);
	assert_float_equal(s.defaults.time, 10, 0);
	assert_int_equal(s.defaults.against_count, 1);
	assert_string_equal(s.defaults.against[0], "outer=tls");
	assert_int_equal(script_run_text(&s, "set raw x"), ERROR_INPUT);
	assert_told("raw cannot be set");
	assert_int_equal(script_run_text(&s, "set frmat csv"), ERROR_INPUT);
	assert_told("did you mean format?");
	assert_int_equal(script_run_text(&s, "set quiet maybe"), ERROR_INPUT);
	session_free(&s);
}

static void a_script_stops_at_its_first_error(void **state)
{
	struct session s;

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(script_run_text(&s, "set time 3\nfrobnicate\nset time 4\n"), ERROR_INPUT);
	assert_float_equal(s.defaults.time, 3, 0);
	assert_int_equal(script_run_text(&s, "set time 5\nquit\nset time 6\n"), ERROR_NONE);
	assert_true(s.quit);
	assert_float_equal(s.defaults.time, 5, 0);
	session_free(&s);
}

static void write_script(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/entrylab-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void errors_of_a_file_carry_its_name_and_line(void **state)
{
	struct session s;
	char path[40], expected[120];

	(void)state;
	session_init(&s, NULL);
	write_script(
	        path,
	        "# a comment\n\nset time \\\n  3\nset \"cpu\n\nset time 4\nfrobnicate\nset time 5");
	assert_int_equal(script_run_file(&s, path, false, NULL), ERROR_INPUT);
	snprintf(expected, sizeof(expected), "%s:5: column 5: the quote \" that begins here", path);
	assert_told(expected);
	assert_float_equal(s.defaults.time, 3, 0);
	unlink(path);
	write_script(path, "frobnicate\nset time 5\nfoo\nset cpu 1");
	assert_int_equal(script_run_file(&s, path, true, NULL), ERROR_INPUT);
	assert_float_equal(s.defaults.time, 5, 0);
	assert_int_equal(s.defaults.cpu, 1);
	snprintf(expected, sizeof(expected), "%s:3: no command foo", path);
	assert_told(expected);
	unlink(path);
	session_free(&s);
}

static void files_that_are_no_scripts_are_refused(void **state)
{
	struct session s;
	struct error err;
	char path[40], text[80];

	(void)state;
	session_init(&s, NULL);
	assert_int_equal(script_run_file(&s, "/nonexistent/script", false, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "/nonexistent/script"));
	assert_int_equal(script_run_file(&s, "/", false, &err), ERROR_INPUT);
	assert_told("/:1: cannot be read: Is a directory");
	assert_int_equal(script_run_file(&s, "/dev/zero", true, &err), ERROR_INPUT);
	assert_told("/dev/zero:1: ");
	write_script(path, "");
	assert_int_equal(script_run_file(&s, path, false, &err), ERROR_NONE);
	unlink(path);
	/* One that runs itself. */
	write_script(path, "");
	snprintf(text, sizeof(text), "source %s\n", path);
	unlink(path);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(script_run_file(&s, path, false, &err), ERROR_INPUT);
	assert_told("16 deep");
	unlink(path);
	session_free(&s);
}

static void a_stopped_script_runs_nothing_more_and_says_so(void **state)
{
	volatile int stop = 1;
	struct session s;

	(void)state;
	session_init(&s, &stop);
	assert_int_equal(script_run_text(&s, "set time 3\nset time 4\n"), ERROR_STOPPED);
	assert_float_equal(s.defaults.time, 10, 0);
	session_free(&s);
}

static void runs_are_named_by_numbers_or_last(void **state)
{
	int64_t id;

	(void)state;
	assert_true(command_archive_names_run("12", &id));
	assert_int_equal(id, 12);
	assert_true(command_archive_names_run("last", &id));
	assert_int_equal(id, 0);
	assert_false(command_archive_names_run("0", &id));
	assert_false(command_archive_names_run("-1", &id));
	assert_false(command_archive_names_run("1x", &id));
	assert_false(command_archive_names_run("99999999999999999999", &id));
	assert_false(command_archive_names_run("segreg", &id));
}

#define OUTPUT_TEST(f) cmocka_unit_test_setup_teardown(f, catch_output, release_output)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_command_has_help_an_example_and_a_function),
	        cmocka_unit_test(commands_take_only_options_that_exist_and_are_theirs),
	        cmocka_unit_test(runs_are_named_by_numbers_or_last),
	        OUTPUT_TEST(an_unknown_command_gets_the_nearest),
	        OUTPUT_TEST(missing_and_surplus_words_are_told_with_the_synopsis),
	        OUTPUT_TEST(words_that_are_not_utf8_are_refused),
	        OUTPUT_TEST(every_command_tells_its_help),
	        OUTPUT_TEST(set_changes_the_session_and_a_bad_value_changes_nothing),
	        OUTPUT_TEST(a_script_stops_at_its_first_error),
	        OUTPUT_TEST(errors_of_a_file_carry_its_name_and_line),
	        OUTPUT_TEST(files_that_are_no_scripts_are_refused),
	        OUTPUT_TEST(a_stopped_script_runs_nothing_more_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
