/* The key table, and the tables of panes and tabs beside it. */
#include "tui/wb_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/wb_snippets.h"
#include "tui/wb_tab.h"

static void no_key_stands_for_two_actions_and_every_action_has_a_key(void **state)
{
	bool seen[WB_ACTIONS] = {false};

	(void)state;
	for (size_t i = 0; i < wb_key_count; i++) {
		const struct wb_key *k = &wb_key_table[i];

		assert_non_null(k->keys[0]);
		assert_false(seen[k->action]);
		seen[k->action] = true;
		for (size_t n = 0; k->keys[n]; n++)
			assert_int_equal(wb_keys_action(k->keys[n]), k->action);
	}
	for (int a = WB_NONE + 1; a < WB_ACTIONS; a++)
		assert_true(seen[a]);
}

static void every_function_key_has_a_letter_and_a_label(void **state)
{
	int n = 0;

	(void)state;
	for (size_t i = 0; i < wb_key_count; i++) {
		const struct wb_key *k = &wb_key_table[i];
		bool function = k->keys[0][0] == 'F' && k->keys[0][1];

		assert_int_equal(function, k->label != NULL);
		if (!function)
			continue;
		n++;
		assert_non_null(k->keys[1]);
		assert_int_equal(strlen(k->keys[1]), 1);
	}
	assert_int_equal(n, 10);
}

static void help_is_one_sentence(const char *help)
{
	size_t n = strlen(help);

	assert_true(n > 10);
	assert_int_equal(help[n - 1], '.');
}

static void everything_has_help(void **state)
{
	(void)state;
	for (size_t i = 0; i < wb_key_count; i++)
		help_is_one_sentence(wb_key_table[i].help);
	for (size_t i = 0; i < wb_pane_count; i++)
		help_is_one_sentence(wb_panes[i]->help);
	for (size_t i = 0; i < wb_tab_count; i++)
		help_is_one_sentence(wb_tabs[i]->help);
}

static void panes_and_tabs_are_complete_and_have_names_of_their_own(void **state)
{
	int places[WB_PLACES + 1] = {0};

	(void)state;
	for (size_t i = 0; i < wb_pane_count; i++) {
		const struct wb_pane *p = wb_panes[i];

		assert_non_null(p->draw);
		assert_non_null(p->act);
		assert_ptr_equal(wb_panes_find(p->name), p);
		places[p->place]++;
	}
	for (int i = 0; i < WB_PLACES; i++)
		assert_int_equal(places[i], 1);
	for (size_t i = 0; i < wb_tab_count; i++) {
		assert_non_null(wb_tabs[i]->write);
		assert_non_null(wb_tabs[i]->key);
		assert_null(wb_panes_find(wb_tabs[i]->name));
	}
}

static void a_key_without_a_row_is_no_action(void **state)
{
	(void)state;
	assert_int_equal(wb_keys_action("Z"), WB_NONE);
	assert_int_equal(wb_keys_action(""), WB_NONE);
}

static void snippets_are_paragraphs(void **state)
{
	char *line = wb_snippets_command("# c\npush %rax\n  pop %rax\n\n\n# d\nmov %rax, %rcx\n");

	(void)state;
	assert_string_equal(line, "asm 'push %rax\npop %rax' 'mov %rax, %rcx'");
	free(line);
	assert_null(wb_snippets_command("# nothing\n\n  \n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_key_stands_for_two_actions_and_every_action_has_a_key),
	        cmocka_unit_test(every_function_key_has_a_letter_and_a_label),
	        cmocka_unit_test(everything_has_help),
	        cmocka_unit_test(panes_and_tabs_are_complete_and_have_names_of_their_own),
	        cmocka_unit_test(a_key_without_a_row_is_no_action),
	        cmocka_unit_test(snippets_are_paragraphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
