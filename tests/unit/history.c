/* The prompt's history file. */
#include "tui/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <readline/history.h>

static char directory[] = "/tmp/entrylab-test-XXXXXX", path[64], link_path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/entrylab/history", directory);
	snprintf(link_path, sizeof(link_path), "%s/link", directory);
	return 0;
}

static int remove_directory(void **state)
{
	char sub[64];

	(void)state;
	unlink(path);
	unlink(link_path);
	snprintf(sub, sizeof(sub), "%s/entrylab", directory);
	rmdir(sub);
	return rmdir(directory);
}

static int forget(void **state)
{
	(void)state;
	clear_history();
	unlink(path);
	return 0;
}

static void assert_file(const char *expected)
{
	char text[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

static void the_file_follows_xdg_and_falls_back_to_home(void **state)
{
	char *p;

	(void)state;
	setenv("HOME", "/home/u", 1);
	setenv("XDG_STATE_HOME", "/state", 1);
	p = history_default_path();
	assert_string_equal(p, "/state/entrylab/history");
	free(p);
	setenv("XDG_STATE_HOME", "relative", 1);
	p = history_default_path();
	assert_string_equal(p, "/home/u/.local/state/entrylab/history");
	free(p);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	assert_null(history_default_path());
}

static void lines_are_kept_in_a_private_file(void **state)
{
	struct stat st;

	(void)state;
	history_add_text(path, "list\nhost  \n\n  secret");
	assert_file("list\nhost\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chmod(path, 0644), 0);
	history_add_text(path, "list runs");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_file("list\nhost\nlist runs\n");
}

static void a_line_typed_again_is_there_once_as_the_newest(void **state)
{
	(void)state;
	history_add_text(NULL, "list");
	history_add_text(NULL, "host");
	history_add_text(NULL, "list");
	assert_int_equal(history_length, 2);
	assert_string_equal(history_get(history_base)->line, "host");
	assert_string_equal(history_get(history_base + 1)->line, "list");
}

static void duplicates_are_dropped_from_the_file_when_it_is_read(void **state)
{
	(void)state;
	history_add_text(path, "list\nhost\nlist");
	assert_file("list\nhost\nlist\n");
	clear_history();
	history_load(path);
	assert_int_equal(history_length, 2);
	assert_file("host\nlist\n");
}

static void a_link_to_the_file_stays_a_link(void **state)
{
	struct stat st;

	(void)state;
	history_add_text(path, "list\nlist");
	assert_int_equal(symlink(path, link_path), 0);
	history_load(link_path);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file("list\n");
}

static void only_the_newest_thousand_lines_stay(void **state)
{
	FILE *f;

	(void)state;
	history_add_text(path, "first");
	f = fopen(path, "a");
	assert_non_null(f);
	for (int i = 0; i < 1000; i++)
		fprintf(f, "set time %d\n", i + 1);
	fclose(f);
	clear_history();
	history_load(path);
	assert_int_equal(history_length, 1000);
	assert_string_equal(history_get(history_base)->line, "set time 1");
}

static void no_file_is_no_error(void **state)
{
	(void)state;
	history_load("/nonexistent/history");
	history_add_text("/proc/nonexistent/history", "list");
	assert_int_equal(history_length, 1);
}

#define HISTORY_TEST(f) cmocka_unit_test_setup_teardown(f, forget, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        HISTORY_TEST(lines_are_kept_in_a_private_file),
	        HISTORY_TEST(a_line_typed_again_is_there_once_as_the_newest),
	        HISTORY_TEST(duplicates_are_dropped_from_the_file_when_it_is_read),
	        HISTORY_TEST(a_link_to_the_file_stays_a_link),
	        HISTORY_TEST(only_the_newest_thousand_lines_stay),
	        HISTORY_TEST(no_file_is_no_error),
	        cmocka_unit_test(the_file_follows_xdg_and_falls_back_to_home),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
