/* Options: what is accepted, what is refused and how it is said. */
#include "tui/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALL ((UINT32_C(1) << OPTIONS) - 1)

static void assert_refused(enum option_id id, const char *text, const char *message)
{
	struct option_values v;
	struct error err;

	option_values_init(&v);
	assert_int_equal(option_set(&v, id, text, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, message));
	assert_false(v.set & OPTION_BIT(id));
	option_values_free(&v);
}

static void every_option_has_a_name_a_sentence_and_a_parser(void **state)
{
	(void)state;
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_info *o = &option_table[i];
		char *dashed;

		assert_non_null(o->name);
		assert_non_null(o->help);
		assert_int_equal(o->help[strlen(o->help) - 1], '.');
		assert_non_null(o->parse);
		assert_int_equal(option_find(o->name, false), i);
		dashed = option_heading((enum option_id)i);
		assert_non_null(strstr(dashed, o->name));
		free(dashed);
	}
}

static void formats_offered_are_those_that_can_be_written(void **state)
{
	const char *const *offered = option_table[OPTION_FORMAT].values;
	size_t n = 0;

	(void)state;
	while (offered[n]) {
		struct option_values v;

		option_values_init(&v);
		assert_int_equal(option_set(&v, OPTION_FORMAT, offered[n], NULL), ERROR_NONE);
		assert_string_equal(render_format_name[v.format], offered[n]);
		option_values_free(&v);
		n++;
	}
	assert_int_equal(n, RENDER_FORMATS);
	assert_refused(OPTION_FORMAT, "jsnl", "did you mean jsonl");
}

static void numbers_out_of_range_are_refused_with_the_range(void **state)
{
	(void)state;
	assert_refused(OPTION_TIME, "0", "0.01 to 86400");
	assert_refused(OPTION_TIME, "86401", "0.01 to 86400");
	assert_refused(OPTION_TIME, "-1", "not a number");
	assert_refused(OPTION_TIME, "inf", "not a number");
	assert_refused(OPTION_TIME, "nan", "not a number");
	assert_refused(OPTION_TIME, "0x10", "not a number");
	assert_refused(OPTION_TIME, "1e999", "not a number");
	assert_refused(OPTION_TIME, "5s", "not a number");
	assert_refused(OPTION_CPU, "x", "not the number");
	assert_refused(OPTION_CPU, "-1", "not the number");
	assert_refused(OPTION_CPU, "99999999999", "not the number");
	assert_refused(OPTION_CPU, "", "not the number");
	assert_refused(OPTION_SEED, "9223372036854775808", "not a whole number");
	assert_refused(OPTION_SEED, "1.5", "not a whole number");
	assert_refused(OPTION_LIMIT, "-3", "not a whole number");
}

static void numbers_in_range_are_taken(void **state)
{
	struct option_values v;

	(void)state;
	option_values_init(&v);
	assert_int_equal(option_set(&v, OPTION_TIME, "0.25", NULL), ERROR_NONE);
	assert_float_equal(v.time, 0.25, 0);
	assert_int_equal(option_set(&v, OPTION_CPU, "3", NULL), ERROR_NONE);
	assert_int_equal(v.cpu, 3);
	assert_int_equal(option_set(&v, OPTION_SEED, "0x10", NULL), ERROR_NONE);
	assert_int_equal(v.seed, 16);
	assert_int_equal(option_set(&v, OPTION_SEED, "9223372036854775807", NULL), ERROR_NONE);
	assert_true(v.seed == INT64_MAX);
	option_values_free(&v);
}

static void precision_is_cycles_or_percent_or_both(void **state)
{
	static const struct {
		const char *text;
		double cycles, share;
	} good[] = {
	        {"0.1", 0.1, 0},
	        {"0.5%", 0, 0.005},
	        {"0.1,0.5%", 0.1, 0.005},
	        {"1%,2", 2, 0.01},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct option_values v;

		option_values_init(&v);
		assert_int_equal(option_set(&v, OPTION_PRECISION, good[i].text, NULL), ERROR_NONE);
		assert_float_equal(v.precision_cycles, good[i].cycles, 1e-15);
		assert_float_equal(v.precision_share, good[i].share, 1e-15);
		option_values_free(&v);
	}
	assert_refused(OPTION_PRECISION, "0", "0.0001");
	assert_refused(OPTION_PRECISION, "60%", "50%");
	assert_refused(OPTION_PRECISION, "1,2", "one number");
	assert_refused(OPTION_PRECISION, "1%,2%", "one percentage");
	assert_refused(OPTION_PRECISION, "1,", "half-width");
	assert_refused(OPTION_PRECISION, "1 2", "not understood");
	assert_refused(OPTION_PRECISION, "", "half-width");
}

static void assert_terms(const char *text, const char *joined)
{
	char **terms = NULL, all[200] = "";
	size_t n = 0;

	assert_int_equal(option_terms(text, &terms, &n, NULL), ERROR_NONE);
	for (size_t i = 0; i < n; i++) {
		strcat(strcat(all, i ? " | " : ""), terms[i]);
		free(terms[i]);
	}
	free(terms);
	assert_string_equal(all, joined);
}

static void a_comma_begins_a_term_only_before_a_factor(void **state)
{
	(void)state;
	assert_terms("outer=tls", "outer=tls");
	assert_terms("reg=gs,outer=tls", "reg=gs | outer=tls");
	assert_terms("reg=gs,fs,outer=tls", "reg=gs,fs | outer=tls");
	assert_terms(" reg=gs  outer=tls,null ", "reg=gs | outer=tls,null");
	assert_terms("a=1,2 b=3,c_d=4", "a=1,2 | b=3 | c_d=4");
	assert_refused(OPTION_AGAINST, "tls", "\"tls\" is not FACTOR=LEVEL");
	assert_refused(OPTION_AGAINST, "reg=", "\"reg=\" is not FACTOR=LEVEL");
	assert_refused(OPTION_AGAINST, "reg=gs,", "\"reg=gs,\" is not");
	assert_refused(OPTION_AGAINST, "  ", "at least one");
}

static void against_adds_up_within_a_command_and_replaces_the_sessions(void **state)
{
	struct option_values session, v;

	(void)state;
	option_values_init(&session);
	assert_int_equal(option_set(&session, OPTION_AGAINST, "inner=ldt", NULL), ERROR_NONE);
	option_values_inherit(&v, &session);
	assert_int_equal(v.against_count, 1);
	assert_int_equal(option_set(&v, OPTION_AGAINST, "reg=gs", NULL), ERROR_NONE);
	assert_int_equal(option_set(&v, OPTION_AGAINST, "outer=tls", NULL), ERROR_NONE);
	assert_int_equal(v.against_count, 2);
	assert_string_equal(v.against[0], "reg=gs");
	assert_string_equal(v.against[1], "outer=tls");
	assert_string_equal(v.text[OPTION_AGAINST], "reg=gs outer=tls");
	assert_int_equal(session.against_count, 1);
	option_values_free(&v);
	option_values_free(&session);
}

static void options_and_words_may_be_mixed(void **state)
{
	static const char *const words[] = {"segreg",       "--time",  "2",  "reg=fs",
	                                    "--format=csv", "--quiet", "--", "--time"};
	const char *rest[8];
	size_t n;
	struct option_values v;

	(void)state;
	option_values_init(&v);
	assert_int_equal(option_parse(words, 8, ALL, "run", &v, rest, &n, NULL, NULL), ERROR_NONE);
	assert_int_equal(n, 3);
	assert_string_equal(rest[0], "segreg");
	assert_string_equal(rest[1], "reg=fs");
	assert_string_equal(rest[2], "--time");
	assert_float_equal(v.time, 2, 0);
	assert_int_equal(v.format, RENDER_CSV);
	assert_true(v.quiet);
	option_values_free(&v);
}

static void the_programs_options_end_before_the_command(void **state)
{
	static const char *const words[] = {"--quiet", "run", "--time", "2"};
	const char *rest[4];
	size_t n, first;
	struct option_values v;

	(void)state;
	option_values_init(&v);
	assert_int_equal(option_parse(words, 4, ALL, NULL, &v, rest, &n, &first, NULL), ERROR_NONE);
	assert_int_equal(first, 1);
	assert_true(v.quiet);
	assert_float_equal(v.time, 10, 0);
	option_values_free(&v);
}

static void assert_parse_error(const char *word, uint32_t allowed, const char *message)
{
	const char *rest[1];
	size_t n;
	struct option_values v;
	struct error err;

	option_values_init(&v);
	assert_int_equal(option_parse(&word, 1, allowed, "run", &v, rest, &n, NULL, &err),
	                 ERROR_INPUT);
	assert_non_null(strstr(err.text, message));
	option_values_free(&v);
}

static void unknown_and_misplaced_options_are_named(void **state)
{
	(void)state;
	assert_parse_error("--precison", ALL, "did you mean --precision?");
	assert_parse_error("--precison=1", ALL, "did you mean --precision?");
	assert_parse_error("--frobnicate", ALL, "no option --frobnicate");
	assert_parse_error("-x", ALL, "no option -x");
	assert_parse_error("--abi", OPTION_BIT(OPTION_TIME), "run takes no option --abi");
	assert_parse_error("--version", OPTION_BIT(OPTION_TIME), "stands before any command");
	assert_parse_error("--time", ALL, "--time needs a value");
	assert_parse_error("--quiet=yes", ALL, "--quiet takes no value");
}

static void the_last_of_archive_and_no_archive_counts(void **state)
{
	struct option_values v;

	(void)state;
	option_values_init(&v);
	assert_int_equal(option_set(&v, OPTION_ARCHIVE, "a.db", NULL), ERROR_NONE);
	assert_int_equal(option_set(&v, OPTION_NO_ARCHIVE, NULL, NULL), ERROR_NONE);
	assert_true(v.no_archive);
	assert_null(v.text[OPTION_ARCHIVE]);
	assert_int_equal(option_set(&v, OPTION_ARCHIVE, "b.db", NULL), ERROR_NONE);
	assert_false(v.no_archive);
	assert_string_equal(v.text[OPTION_ARCHIVE], "b.db");
	option_values_free(&v);
	assert_refused(OPTION_ARCHIVE, "", "empty");
}

static void abis_are_checked(void **state)
{
	struct option_values v;

	(void)state;
	option_values_init(&v);
	assert_int_equal(option_set(&v, OPTION_ABI, "i386,x86_64", NULL), ERROR_NONE);
	assert_int_equal(option_set(&v, OPTION_ABI, "all", NULL), ERROR_NONE);
	option_values_free(&v);
	assert_refused(OPTION_ABI, "arm", "i386");
	assert_refused(OPTION_ABI, ",", "i386");
	assert_refused(OPTION_ABI, "", "i386");
}

static void an_unset_option_has_its_default_again(void **state)
{
	struct option_values v, fresh;

	(void)state;
	option_values_init(&v);
	option_values_init(&fresh);
	for (int i = 0; i < OPTIONS; i++) {
		static const char *const text[OPTIONS] = {
		        [OPTION_FORMAT] = "csv",  [OPTION_CPU] = "1",       [OPTION_TIME] = "1",
		        [OPTION_PRECISION] = "1", [OPTION_SEED] = "1",      [OPTION_RAW] = "f",
		        [OPTION_ARCHIVE] = "f",   [OPTION_AGAINST] = "a=b", [OPTION_ABI] = "i386",
		        [OPTION_SETUP] = "nop",   [OPTION_LIMIT] = "1",     [OPTION_FILE] = "f",
		        [OPTION_MOUSE] = "off",
		};

		assert_int_equal(option_set(&v, (enum option_id)i, text[i], NULL), ERROR_NONE);
		option_unset(&v, (enum option_id)i);
		assert_memory_equal(&v, &fresh, sizeof(v));
	}
}

static void what_the_session_set_is_told_with_a_kept_command(void **state)
{
	struct option_values session, v;
	char **words = NULL;
	size_t n = 0;

	(void)state;
	option_values_init(&session);
	assert_int_equal(option_set(&session, OPTION_TIME, "5", NULL), ERROR_NONE);
	assert_int_equal(option_set(&session, OPTION_SEED, "7", NULL), ERROR_NONE);
	assert_int_equal(option_set(&session, OPTION_FORMAT, "csv", NULL), ERROR_NONE);
	option_values_inherit(&v, &session);
	assert_int_equal(option_set(&v, OPTION_SEED, "8", NULL), ERROR_NONE);
	option_inherited_words(&v, ALL, &words, &n);
	assert_int_equal(n, 2);
	assert_string_equal(words[0], "--time");
	assert_string_equal(words[1], "5");
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
	option_values_free(&v);
	option_values_free(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_option_has_a_name_a_sentence_and_a_parser),
	        cmocka_unit_test(formats_offered_are_those_that_can_be_written),
	        cmocka_unit_test(numbers_out_of_range_are_refused_with_the_range),
	        cmocka_unit_test(numbers_in_range_are_taken),
	        cmocka_unit_test(precision_is_cycles_or_percent_or_both),
	        cmocka_unit_test(a_comma_begins_a_term_only_before_a_factor),
	        cmocka_unit_test(against_adds_up_within_a_command_and_replaces_the_sessions),
	        cmocka_unit_test(options_and_words_may_be_mixed),
	        cmocka_unit_test(the_programs_options_end_before_the_command),
	        cmocka_unit_test(unknown_and_misplaced_options_are_named),
	        cmocka_unit_test(the_last_of_archive_and_no_archive_counts),
	        cmocka_unit_test(abis_are_checked),
	        cmocka_unit_test(an_unset_option_has_its_default_again),
	        cmocka_unit_test(what_the_session_set_is_told_with_a_kept_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
