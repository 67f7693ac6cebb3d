/* The command line's quoting: what a shell would make of the same text. */
#include "tui/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ASSERT_WORDS(text, ...)                                                                    \
	do {                                                                                       \
		const char *const expected[] = {__VA_ARGS__};                                      \
		assert_words(text, expected, sizeof(expected) / sizeof(expected[0]));              \
	} while (0)

static void assert_words(const char *text, const char *const *expected, size_t n)
{
	struct words w;
	struct error err;

	assert_int_equal(words_split(text, &w, &err), ERROR_NONE);
	assert_int_equal(w.count, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(w.items[i], expected[i]);
	words_free(&w);
}

static void assert_no_words(const char *text)
{
	struct words w;

	assert_int_equal(words_split(text, &w, NULL), ERROR_NONE);
	assert_int_equal(w.count, 0);
	words_free(&w);
}

static void assert_error(const char *text, const char *message)
{
	struct words w;
	struct error err;

	assert_int_equal(words_split(text, &w, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, message));
}

static void words_are_cut_at_blanks(void **state)
{
	(void)state;
	ASSERT_WORDS("  run\tsegreg  reg=fs,gs \r\n", "run", "segreg", "reg=fs,gs");
	assert_no_words("");
	assert_no_words(" \t\n");
}

static void quotes_are_those_of_a_shell(void **state)
{
	(void)state;
	ASSERT_WORDS("asm 'push %fs; pop %fs' \"mov %fs,%eax\"", "asm", "push %fs; pop %fs",
	             "mov %fs,%eax");
	ASSERT_WORDS("a'b c'\"d e\"f", "ab cd ef");
	ASSERT_WORDS("'' \"\"", "", "");
	ASSERT_WORDS("'a\\n\"'", "a\\n\"");
	ASSERT_WORDS("\"a\\\"b\\\\c\\$d\\`e\\nf'\"", "a\"b\\c$d`e\\nf'");
	ASSERT_WORDS("a\\ b \\'c \\\\", "a b", "'c", "\\");
	ASSERT_WORDS("'a\nb' c", "a\nb", "c");
}

static void a_backslash_before_a_line_end_joins_lines(void **state)
{
	(void)state;
	ASSERT_WORDS("run \\\nladder", "run", "ladder");
	ASSERT_WORDS("lad\\\nder", "ladder");
	ASSERT_WORDS("\"lad\\\nder\"", "ladder");
	ASSERT_WORDS("'lad\\\nder'", "lad\\\nder");
}

static void a_comment_begins_at_a_words_start_only(void **state)
{
	(void)state;
	ASSERT_WORDS("run # 'not a quote", "run");
	assert_no_words("# all of it \\");
	ASSERT_WORDS("a#b '#c' \\#d", "a#b", "#c", "#d");
	ASSERT_WORDS("# one\nlist", "list");
}

static void an_open_quote_is_an_error_with_its_column(void **state)
{
	(void)state;
	assert_error("asm 'nop", "column 5: the quote '");
	assert_error("\"", "column 1: the quote \"");
	assert_error("asm 'a' \"b\\\"", "column 9: the quote \"");
	assert_error("list \\", "column 6: nothing follows the backslash");
}

static void a_scan_tells_how_the_text_ends(void **state)
{
	struct words w;

	(void)state;
	words_scan("run seg", 7, &w);
	assert_int_equal(w.end, WORDS_WHOLE);
	assert_true(w.in_word);
	assert_int_equal(w.starts[1], 4);
	words_free(&w);
	words_scan("run ", 4, &w);
	assert_false(w.in_word);
	words_free(&w);
	words_scan("asm 'a b", 8, &w);
	assert_int_equal(w.end, WORDS_IN_QUOTE);
	assert_true(w.in_word);
	assert_int_equal(w.quote, '\'');
	assert_string_equal(w.items[1], "a b");
	assert_int_equal(w.starts[1], 4);
	words_free(&w);
	words_scan("run \\", 5, &w);
	assert_int_equal(w.end, WORDS_IN_ESCAPE);
	words_free(&w);
	words_scan("run # x", 7, &w);
	assert_true(w.in_comment);
	words_free(&w);
	words_scan("run segreg", 5, &w);
	assert_string_equal(w.items[1], "s");
	words_free(&w);
}

static void a_command_ends_at_a_newline_that_nothing_holds(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} commands[] = {
	        {"list\nhost\n", 5},
	        {"list", 0},
	        {"\nlist", 1},
	        {"asm 'a\nb'\nlist\n", 10},
	        {"asm \"a\n\\\"\n\"\nx", 12},
	        {"run \\\nladder\nx", 13},
	        {"# it's\nlist\n", 7},
	        {"a#'\n'\nx", 6},
	        {"a \\' b\nx", 7},
	        {"asm 'open\n", 0},
	        {"run \\\n#c\nx", 9},
	        {"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_int_equal(words_command_size(commands[i].text, strlen(commands[i].text)),
		                 commands[i].size);
}

static void what_is_joined_is_split_into_the_same_words(void **state)
{
	static const char *const all[] = {
	        "asm",       "push %fs; pop %fs",
	        "it's",      "'",
	        "",          "a\\b",
	        "\"q\"",     "#no",
	        "x#y",       "~",
	        "\n",        "reg=fs,gs",
	        "$a `b` !c", "\xc3\xa9t\xc3\xa9",
	};
	const size_t n = sizeof(all) / sizeof(all[0]);
	char *line = words_join(all, n);
	struct words w;

	(void)state;
	assert_int_equal(words_split(line, &w, NULL), ERROR_NONE);
	assert_int_equal(w.count, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(w.items[i], all[i]);
	words_free(&w);
	free(line);
}

static void plain_words_are_joined_without_quotes(void **state)
{
	static const char *const plain[] = {"run",    "segreg", "abi=i386,x86_64",
	                                    "--time", "0.5",    "push %fs"};
	char *line = words_join(plain, 6);

	(void)state;
	assert_string_equal(line, "run segreg abi=i386,x86_64 --time 0.5 'push %fs'");
	free(line);
	line = words_join(NULL, 0);
	assert_string_equal(line, "");
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(words_are_cut_at_blanks),
	        cmocka_unit_test(quotes_are_those_of_a_shell),
	        cmocka_unit_test(a_backslash_before_a_line_end_joins_lines),
	        cmocka_unit_test(a_comment_begins_at_a_words_start_only),
	        cmocka_unit_test(an_open_quote_is_an_error_with_its_column),
	        cmocka_unit_test(a_scan_tells_how_the_text_ends),
	        cmocka_unit_test(a_command_ends_at_a_newline_that_nothing_holds),
	        cmocka_unit_test(what_is_joined_is_split_into_the_same_words),
	        cmocka_unit_test(plain_words_are_joined_without_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
