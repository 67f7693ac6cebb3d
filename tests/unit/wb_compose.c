/* What is composed: toggles, the command they amount to, what does not exist. */
#include "tui/wb_compose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "#: title T\n"
                           "#: abi i386 x86_64\n"
                           "#: factor reg fs gs es | the register\n"
                           "#: factor outer null ldt tls | what it holds\n"
                           "#: factor n 1..64 | how many\n"
                           "#: exclude reg=es outer=tls | es has no base\n"
                           "#: needs outer=ldt ldt\n"
                           "#: default abi=i386 reg=fs,gs outer=null,tls n=1\n"
                           ".macro body reg, outer, n\n"
                           " nop # fs gs es null ldt tls\n"
                           ".endm\n";

struct fixture {
	struct experiment *x;
	struct host_probes probes;
	struct wb_compose c;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err;

	if (!f)
		return -1;
	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		for (int i = 0; i < HOST_CAPABILITIES; i++)
			f->probes.abi[abi][i].present = true;
	}
	if (experiment_parse("t", "t.s", text, strlen(text), &f->x, &err) != ERROR_NONE)
		fail_msg("%s", err.text);
	assert_int_equal(wb_compose_set(&f->c, f->x, &f->probes, NULL, 0, NULL, 0, &err),
	                 ERROR_NONE);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	wb_compose_free(&f->c);
	experiment_free(f->x);
	free(f);
	return 0;
}

enum { ABI, REG, OUTER, N };

static void compose(struct fixture *f, const char *const *words, size_t n, const char *base)
{
	struct error err = {0};

	if (wb_compose_set(&f->c, f->x, &f->probes, words, n, &base, base ? 1 : 0, &err))
		fail_msg("%s", err.text);
}

static void the_defaults_are_a_bare_command(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(f->c.line, "run t");
	assert_int_equal(f->c.variants, 4);
	assert_null(f->c.problem);
}

static void a_toggle_is_a_command_and_changes_nothing_by_itself(void **state)
{
	struct fixture *f = *state;
	struct error err;
	char *line = wb_compose_toggled(&f->c, REG, 1, &err);

	assert_string_equal(line, "compose t reg=fs");
	assert_string_equal(f->c.line, "run t");
	free(line);
}

static void the_number_of_variants_and_the_time_follow_every_change(void **state)
{
	struct fixture *f = *state;
	double before = f->c.seconds;

	compose(f, (const char *const[]){"reg=fs", "n=1..8"}, 2, NULL);
	assert_string_equal(f->c.line, "run t reg=fs n=1..8");
	assert_int_equal(f->c.variants, 16);
	assert_true(f->c.seconds > before);
	f->c.seconds_most = 0.5;
	wb_compose_refresh(&f->c);
	assert_true(f->c.seconds == 0.5);
}

static void the_last_level_of_a_factor_stays(void **state)
{
	struct fixture *f = *state;
	struct error err;

	compose(f, (const char *const[]){"reg=fs"}, 1, NULL);
	assert_null(wb_compose_toggled(&f->c, REG, 0, &err));
	assert_non_null(strstr(err.text, "reg needs a level"));
}

static void a_level_the_machine_lacks_is_there_and_says_why(void **state)
{
	struct fixture *f = *state;
	struct host_probe *ldt = &f->probes.abi[EXPERIMENT_I386][HOST_LDT];
	struct error err;

	assert_int_equal(f->c.factors[OUTER].levels[1].exists, WB_EXISTS);
	ldt->present = false;
	strcpy(ldt->why, "modify_ldt: ENOSYS");
	wb_compose_refresh(&f->c);
	assert_int_equal(f->c.factors[OUTER].levels[1].exists, WB_MISSING);
	assert_string_equal(f->c.factors[OUTER].levels[1].why, "modify_ldt: ENOSYS");
	assert_null(wb_compose_toggled(&f->c, OUTER, 1, &err));
	assert_non_null(strstr(err.text, "modify_ldt: ENOSYS"));
	/* in the other ABI it exists, so with both chosen it does */
	compose(f, (const char *const[]){"abi=all"}, 1, NULL);
	assert_int_equal(f->c.factors[OUTER].levels[1].exists, WB_EXISTS);
}

static void a_level_that_a_rule_leaves_out_depends_on_the_other_levels(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->c.factors[REG].levels[2].exists, WB_EXISTS);
	compose(f, (const char *const[]){"outer=tls"}, 1, NULL);
	assert_int_equal(f->c.factors[REG].levels[2].exists, WB_EXCLUDED);
	assert_non_null(strstr(f->c.factors[REG].levels[2].why, "es has no base"));
}

static void all_levels_are_all_and_again_the_defaults(void **state)
{
	struct fixture *f = *state;
	char *line = wb_compose_all_toggled(&f->c, REG);

	assert_string_equal(line, "compose t reg=all");
	free(line);
	compose(f, (const char *const[]){"reg=all"}, 1, NULL);
	assert_string_equal(f->c.line, "run t reg=all");
	line = wb_compose_all_toggled(&f->c, REG);
	assert_string_equal(line, "compose t");
	free(line);
}

static void a_base_stays_with_the_toggles_and_a_wrong_one_is_a_problem(void **state)
{
	struct fixture *f = *state;
	struct error err;
	char *line;

	compose(f, NULL, 0, "outer=tls");
	assert_string_equal(f->c.line, "run t --against outer=tls");
	assert_null(f->c.problem);
	line = wb_compose_toggled(&f->c, REG, 1, &err);
	assert_string_equal(line, "compose t reg=fs --against outer=tls");
	free(line);
	line = wb_compose_based(&f->c, NULL);
	assert_string_equal(line, "compose t");
	free(line);
	compose(f, (const char *const[]){"outer=null"}, 1, "outer=tls");
	assert_non_null(f->c.problem);
	assert_int_equal(f->c.variants, 0);
}

static void a_word_that_is_wrong_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct error err;

	assert_int_equal(wb_compose_set(&f->c, f->x, &f->probes, (const char *const[]){"reg=xs"}, 1,
	                                NULL, 0, &err),
	                 ERROR_INPUT);
	assert_string_equal(f->c.line, "run t");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(the_defaults_are_a_bare_command),
	        T(a_toggle_is_a_command_and_changes_nothing_by_itself),
	        T(the_number_of_variants_and_the_time_follow_every_change),
	        T(the_last_level_of_a_factor_stays),
	        T(a_level_the_machine_lacks_is_there_and_says_why),
	        T(a_level_that_a_rule_leaves_out_depends_on_the_other_levels),
	        T(all_levels_are_all_and_again_the_defaults),
	        T(a_base_stays_with_the_toggles_and_a_wrong_one_is_a_problem),
	        T(a_word_that_is_wrong_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
