/* Completion: what is offered for a line and a cursor. */
#include "tui/complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char experiment_text[] = "#: title Two factors and a range\n"
                                      "#: abi i386 x86_64\n"
                                      "#: factor reg fs gs es\n"
                                      "#: factor outer null data tls\n"
                                      "#: factor n 1..100\n"
                                      "#: default reg=fs outer=tls n=1,10\n"
                                      ".macro body reg, outer, n\n"
                                      "	nop\n"
                                      ".endm\n";
static struct experiment *segreg;

static void made_up_experiments(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	(void)ctx;
	add(list, "segreg");
	add(list, "segload");
	add(list, "ladder");
}

static const struct experiment *made_up_experiment(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "segreg") == 0 ? segreg : NULL;
}

static void made_up_runs(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	(void)ctx;
	add(list, "9");
	add(list, "10");
}

static void made_up_claims(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	(void)ctx;
	add(list, "ldt-dearer");
	add(list, "null-cheaper");
}

static void made_up_tables(void *ctx, void (*add)(void *list, const char *name), void *list)
{
	(void)ctx;
	add(list, "stubseq");
	add(list, "stubpool");
}

static const struct complete_source source = {
        .experiments = made_up_experiments,
        .experiment = made_up_experiment,
        .claims = made_up_claims,
        .tables = made_up_tables,
        .runs = made_up_runs,
};

/* The candidates joined by blanks; the cursor stands at the end, or at '^'. */
static void assert_offered(const char *text, const char *expected)
{
	char line[200], all[2000] = "";
	const char *cursor = strchr(text, '^');
	size_t point = cursor ? (size_t)(cursor - text) : strlen(text);
	struct complete_list list;

	memcpy(line, text, point);
	strcpy(line + point, cursor ? cursor + 1 : "");
	complete_line(line, point, &source, &list);
	for (size_t i = 0; i < list.count; i++)
		strcat(strcat(all, i ? " " : ""), list.items[i]);
	complete_free(&list);
	assert_string_equal(all, expected);
}

static void assert_start(const char *line, size_t start, bool open)
{
	struct complete_list list;

	complete_line(line, strlen(line), &source, &list);
	assert_int_equal(list.start, start);
	assert_int_equal(list.open, open);
	complete_free(&list);
}

static void assert_files(const char *line, bool files)
{
	struct complete_list list;

	complete_line(line, strlen(line), &source, &list);
	assert_int_equal(list.files, files);
	complete_free(&list);
}

static void the_first_word_is_a_command(void **state)
{
	(void)state;
	assert_offered("sh", "show");
	assert_offered("  s", "save set show source");
	assert_offered(
	        "",
	        "asm compare export help host list listing published quit run save set show source "
	        "verify write");
	assert_offered("xyz", "");
	assert_offered("xyz ", "");
}

static void a_run_names_an_experiment_then_factors(void **state)
{
	(void)state;
	assert_offered("run seg", "segload segreg");
	assert_offered("run segreg ", "abi= n= outer= reg=");
	assert_offered("run segreg o", "outer=");
	assert_offered("run segreg reg=fs ", "abi= n= outer=");
	assert_offered("run unknown r", "");
	assert_offered("listing segreg r", "reg=");
	assert_offered("run --time 2 segreg r", "reg=");
	assert_offered("run segreg --quiet --time=2 r", "reg=");
	assert_start("run segreg o", 11, true);
}

static void levels_follow_the_equals_sign_and_commas(void **state)
{
	(void)state;
	assert_offered("run segreg reg=", "all es fs gs");
	assert_offered("run segreg reg=f", "fs");
	assert_offered("run segreg reg=fs,", "es gs");
	assert_offered("run segreg reg=fs,gs,e", "es");
	assert_offered("run segreg abi=i", "i386");
	assert_offered("run segreg n=", "1 10 all");
	assert_offered("run segreg nosuch=", "");
	assert_start("run segreg reg=fs,g", 18, true);
	assert_start("run segreg 'reg=fs,g", 19, true);
}

static void options_are_those_the_command_takes(void **state)
{
	(void)state;
	assert_offered("run segreg --p", "--precision");
	assert_offered("run segreg --ab", "");
	assert_offered("asm nop --ab", "--abi");
	assert_offered("host --", "--cpu --format --help --quiet");
	assert_offered("help --t", "");
}

static void options_values_are_offered(void **state)
{
	(void)state;
	assert_offered("list --format ", "csv jsonl text");
	assert_offered("list --format=j", "jsonl");
	assert_offered("asm nop --abi ", "i386 i386,x86_64 x86_64");
	assert_offered("run segreg reg=fs --against ", "abi= n= outer= reg=");
	assert_offered("run segreg --against=outer=", "all data null tls");
	assert_offered("run segreg --time ", "");
	assert_start("list --format=j", 14, false);
}

static void runs_are_numbers_in_order_and_last(void **state)
{
	(void)state;
	assert_offered("compare ", "9 10 last");
	assert_offered("verify ", "ldt-dearer null-cheaper");
	assert_offered("verify ldt-dearer n", "null-cheaper");
	assert_offered("verify --a", "--all --archive");
	assert_offered("published stub", "stubpool stubseq");
	assert_offered("published stubseq ", "");
	assert_offered("list c", "claims");
	assert_offered("compare 9 1", "10");
	assert_offered("compare 9 10 ", "");
	assert_offered("export l", "last");
	assert_offered("show l", "ladder last ldt-dearer");
	assert_offered("list r", "runs");
	assert_offered("list runs lad", "ladder");
}

static void help_offers_commands_and_options(void **state)
{
	(void)state;
	assert_offered("help ex", "explain export");
	assert_offered("help export ", "");
	assert_offered("help tab", "");
}

static void set_offers_options_and_their_values(void **state)
{
	(void)state;
	assert_offered("set qu", "quiet");
	assert_offered("set quiet o", "off on");
	assert_offered("set format ", "csv default jsonl text");
	assert_offered("set raw", "");
}

static void files_are_left_to_readline(void **state)
{
	(void)state;
	assert_files("source ", true);
	assert_files("source a ", false);
	assert_files("export 3 ", true);
	assert_files("export ", false);
	assert_files("run segreg --raw ", true);
	assert_files("run segreg --raw=x", true);
	assert_files("run segreg ", false);
	assert_files("set archive ", true);
}

static void the_cursor_decides_what_is_completed(void **state)
{
	(void)state;
	assert_offered("run seg^ reg=fs", "segload segreg");
	assert_offered("ru^n segreg", "run");
	assert_offered("list\nrun segreg reg=f", "fs");
	assert_offered("run segreg \\\nreg=f", "fs");
	assert_start("list\nrun segreg reg=f", 20, true);
}

static void nothing_is_offered_where_quoting_or_a_comment_hides_the_word(void **state)
{
	(void)state;
	assert_offered("run se\\g", "");
	assert_offered("run segreg # r", "");
	assert_offered("run segreg \\", "");
	assert_offered("asm 'run ", "");
}

static int read_experiment(void **state)
{
	(void)state;
	return experiment_parse("segreg", "segreg.s", experiment_text, sizeof(experiment_text) - 1,
	                        &segreg, NULL);
}

static int free_experiment(void **state)
{
	(void)state;
	experiment_free(segreg);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_first_word_is_a_command),
	        cmocka_unit_test(a_run_names_an_experiment_then_factors),
	        cmocka_unit_test(levels_follow_the_equals_sign_and_commas),
	        cmocka_unit_test(options_are_those_the_command_takes),
	        cmocka_unit_test(options_values_are_offered),
	        cmocka_unit_test(runs_are_numbers_in_order_and_last),
	        cmocka_unit_test(help_offers_commands_and_options),
	        cmocka_unit_test(set_offers_options_and_their_values),
	        cmocka_unit_test(files_are_left_to_readline),
	        cmocka_unit_test(the_cursor_decides_what_is_completed),
	        cmocka_unit_test(nothing_is_offered_where_quoting_or_a_comment_hides_the_word),
	};

	return cmocka_run_group_tests(tests, read_experiment, free_experiment);
}
