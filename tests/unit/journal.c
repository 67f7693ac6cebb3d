/* The commands of a session, what is written as a script, and what is kept as settings. */
#include "tui/journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/command.h"
#include "tui/settings.h"

static void add(struct journal *j, const char *line, bool repeats, enum error_code code)
{
	journal_end(j, journal_begin(j, line, repeats), code);
}

static char *written(const struct journal *j)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	journal_write(j, f);
	fclose(f);
	return text;
}

static void a_script_has_what_measured_or_set_and_no_errors(void **state)
{
	struct journal j = {0};
	char *text;

	(void)state;
	add(&j, "compose t", false, ERROR_NONE);
	add(&j, "set time 2", true, ERROR_NONE);
	add(&j, "run t --time 2", true, ERROR_NONE);
	add(&j, "run nothing", true, ERROR_INPUT);
	add(&j, "run u", true, ERROR_UNTRUSTED);
	add(&j, "run v", true, ERROR_STOPPED);
	journal_begin(&j, "run w", true);
	text = written(&j);
	assert_string_equal(text, "# entrylab -f runs these commands\n"
	                          "set time 2\n"
	                          "run t --time 2\n"
	                          "run u\n"
	                          "# this one did not come to its end:\n"
	                          "run v\n");
	free(text);
	journal_free(&j);
}

static void of_many_toggles_the_last_composition_stays(void **state)
{
	struct journal j = {0};

	(void)state;
	add(&j, "compose t reg=fs", false, ERROR_NONE);
	journal_fold(&j);
	add(&j, "compose t reg=gs", false, ERROR_NONE);
	journal_fold(&j);
	assert_int_equal(j.count, 1);
	assert_string_equal(j.items[0].line, "compose t reg=gs");
	add(&j, "run t", true, ERROR_NONE);
	add(&j, "run t", true, ERROR_NONE);
	journal_fold(&j);
	assert_int_equal(j.count, 3);
	journal_free(&j);
}

static void what_scripts_run_is_one_command_of_the_session(void **state)
{
	char path[] = "/tmp/entrylab-journal-XXXXXX";
	int fd = mkstemp(path);
	const char *const source[] = {"source", path};
	const char *const set[] = {"set", "time", "3"};
	struct session s;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "set cpu 0\n", 10), 10);
	close(fd);
	session_init(&s, NULL);
	assert_int_equal(command_execute(&s, source, 2), ERROR_NONE);
	assert_int_equal(command_execute(&s, set, 3), ERROR_NONE);
	assert_int_equal(s.journal->count, 2);
	assert_string_equal(s.journal->items[1].line, "set time 3");
	assert_int_equal(s.defaults.cpu, 0);
	session_free(&s);
	unlink(path);
}

static void settings_come_back_and_a_link_stays_a_link(void **state)
{
	char directory[] = "/tmp/entrylab-settings-XXXXXX", real[64], link[80];
	struct session s, again;
	struct error err;
	struct stat st;
	char *path = NULL;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(real, sizeof(real), "%s/real", directory);
	snprintf(link, sizeof(link), "%s/entrylab", directory);
	assert_int_equal(setenv("XDG_CONFIG_HOME", directory, 1), 0);
	assert_int_equal(mkdir(link, 0700), 0);
	snprintf(link, sizeof(link), "%s/entrylab/config", directory);
	close(open(real, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(symlink(real, link), 0);

	session_init(&s, NULL);
	assert_int_equal(option_set(&s.defaults, OPTION_TIME, "2.5", &err), ERROR_NONE);
	assert_int_equal(option_set(&s.defaults, OPTION_QUIET, NULL, &err), ERROR_NONE);
	assert_int_equal(settings_save(&s, &path, &err), ERROR_NONE);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));

	session_init(&again, NULL);
	settings_read(&again);
	assert_true(again.defaults.time == 2.5);
	assert_true(again.defaults.quiet);
	assert_int_equal(again.journal->count, 0);
	session_free(&again);
	session_free(&s);
	free(path);
	unlink(link);
	unlink(real);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_script_has_what_measured_or_set_and_no_errors),
	        cmocka_unit_test(of_many_toggles_the_last_composition_stays),
	        cmocka_unit_test(what_scripts_run_is_one_command_of_the_session),
	        cmocka_unit_test(settings_come_back_and_a_link_stays_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
