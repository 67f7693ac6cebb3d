#include "engine/nearest.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const commands[] = {"run",  "asm",  "list",   "show", "listing",
                                       "host", "help", "export", "quit", "counters"};

static const char *offered(const char *word)
{
	int i = nearest_name(word, commands, COUNT(commands));

	return i < 0 ? "" : commands[i];
}

static void one_letter_wrong_missing_or_too_many_is_forgiven(void **state)
{
	(void)state;
	assert_string_equal(offered("shaw"), "show");
	assert_string_equal(offered("hst"), "host");
	assert_string_equal(offered("qquit"), "quit");
	assert_string_equal(offered("rn"), "run");
}

static void neighbours_exchanged_count_once(void **state)
{
	static const char *const names[] = {"form", "outer"};

	(void)state;
	assert_string_equal(offered("hsot"), "host");
	assert_string_equal(offered("rnu"), "run");
	assert_int_equal(nearest_name("from", names, COUNT(names)), 0);
}

static void letters_may_come_between_an_exchanged_pair(void **state)
{
	static const char *const names[] = {"xabcdef"};

	(void)state;
	/* Exchange c and a, then insert b: 2. Where an exchanged pair must stay together it is 3,
	 * too far for six letters. */
	assert_int_equal(nearest_name("xcadef", names, COUNT(names)), 0);
	assert_int_equal(nearest_name("xcdafe", names, COUNT(names)), -1);
}

static void case_does_not_matter(void **state)
{
	static const char *const names[] = {"L1D-miss", "cycles"};

	(void)state;
	assert_string_equal(offered("HOST"), "host");
	assert_int_equal(nearest_name("l1d-mis", names, COUNT(names)), 0);
	assert_int_equal(nearest_name("CYCLES", names, COUNT(names)), 1);
}

static void an_abbreviation_is_near_however_short(void **state)
{
	(void)state;
	assert_string_equal(offered("exp"), "export");
	assert_string_equal(offered("c"), "counters");
	assert_string_equal(offered("li"), "list");
	assert_string_equal(offered("listi"), "listing");
}

static void an_exact_name_wins_over_longer_ones(void **state)
{
	static const char *const names[] = {"listing", "list", "lost"};

	(void)state;
	assert_int_equal(nearest_name("list", names, COUNT(names)), 1);
	assert_int_equal(nearest_name("LIST", names, COUNT(names)), 1);
}

static void the_first_of_equally_near_names_is_offered(void **state)
{
	static const char *const names[] = {"fs", "gs", "es"};

	(void)state;
	assert_int_equal(nearest_name("as", names, COUNT(names)), 0);
	assert_int_equal(nearest_name("gd", names, COUNT(names)), 1);
}

static void the_nearer_of_two_is_offered(void **state)
{
	static const char *const names[] = {"nanoseconds", "microseconds"};

	(void)state;
	assert_int_equal(nearest_name("micoseconds", names, COUNT(names)), 1);
}

static void a_third_of_the_letters_may_be_wrong_and_no_more(void **state)
{
	(void)state;
	assert_string_equal(offered("cuonter"), "counters");
	assert_string_equal(offered("kountars"), "counters");
	assert_string_equal(offered("kuontars"), "");
	assert_string_equal(offered("hxxt"), "");
}

static void nothing_is_offered_for_what_is_like_no_name(void **state)
{
	static const char *const numbers[] = {"1", "2", "10"};

	(void)state;
	assert_string_equal(offered("frobnicate"), "");
	assert_string_equal(offered(""), "");
	assert_int_equal(nearest_name("run", NULL, 0), -1);
	assert_int_equal(nearest_name("3", numbers, COUNT(numbers)), -1);
}

static void very_long_words_and_names_are_no_match(void **state)
{
	char word[5001], name[66];
	const char *const names[] = {name, "aaab"};

	(void)state;
	memset(word, 'a', sizeof word - 1);
	word[sizeof word - 1] = '\0';
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(nearest_name(word, names, COUNT(names)), -1);
	assert_int_equal(nearest_name("aaa", names, COUNT(names)), 1);
	name[64] = '\0';
	word[63] = '\0';
	assert_int_equal(nearest_name(word, names, COUNT(names)), 0);
	word[62] = 'b';
	assert_int_equal(nearest_name(word, names, COUNT(names)), 0);
}

static void bytes_beyond_ascii_are_letters_like_others(void **state)
{
	static const char *const names[] = {"caf\xc3\xa9"};

	(void)state;
	assert_int_equal(nearest_name("caf\xc3\xa8", names, 1), 0);
	assert_int_equal(nearest_name("\xff\xfe\xfd", names, 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_letter_wrong_missing_or_too_many_is_forgiven),
	        cmocka_unit_test(neighbours_exchanged_count_once),
	        cmocka_unit_test(letters_may_come_between_an_exchanged_pair),
	        cmocka_unit_test(case_does_not_matter),
	        cmocka_unit_test(an_abbreviation_is_near_however_short),
	        cmocka_unit_test(an_exact_name_wins_over_longer_ones),
	        cmocka_unit_test(the_first_of_equally_near_names_is_offered),
	        cmocka_unit_test(the_nearer_of_two_is_offered),
	        cmocka_unit_test(a_third_of_the_letters_may_be_wrong_and_no_more),
	        cmocka_unit_test(nothing_is_offered_for_what_is_like_no_name),
	        cmocka_unit_test(very_long_words_and_names_are_no_match),
	        cmocka_unit_test(bytes_beyond_ascii_are_letters_like_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
