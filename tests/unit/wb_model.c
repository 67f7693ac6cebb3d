/* What commands do to the model of the workbench. */
#include "tui/wb_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/words.h"

static const char text[] = "#: title T\n"
                           "#: factor reg fs gs es | the register\n"
                           "#: factor outer null tls | what it holds\n"
                           "#: default abi=i386 reg=fs,gs outer=null,tls\n"
                           ".macro body reg, outer\n"
                           " nop # fs gs es null tls\n"
                           ".endm\n";

struct fixture {
	struct session session;
	struct wb_model model;
	char told[1024];
};

static int face_ready(void *ctx, struct error *err)
{
	(void)ctx;
	return error_set(err, ERROR_INPUT, "nothing is measured here");
}

static void face_take(void *ctx, struct result_run *run)
{
	wb_model_take(&((struct fixture *)ctx)->model, run);
}

static int face_command(void *ctx, struct command_call *call, struct error *err)
{
	struct fixture *f = ctx;
	struct error why = {0};
	int rc = wb_model_command(&f->model, call, &why);

	snprintf(f->told, sizeof(f->told), "%s", why.text);
	if (rc)
		error_set(err, ERROR_INPUT, "%s", why.text);
	return rc;
}

static const struct session_face face = {
        .ready = face_ready, .take = face_take, .command = face_command};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct wb_model *m;
	struct error err;

	if (!f)
		return -1;
	session_init(&f->session, NULL);
	f->session.face = &face;
	f->session.face_ctx = f;
	f->session.defaults.no_archive = true;
	m = &f->model;
	m->session = &f->session;
	for (int i = 0; i < HOST_CAPABILITIES; i++)
		m->probes.abi[0][i].present = m->probes.abi[1][i].present = true;
	m->experiments.items = calloc(1, sizeof(*m->experiments.items));
	m->experiments.count = 1;
	if (experiment_parse("t", "t.s", text, strlen(text), &m->experiments.items[0], &err))
		fail_msg("%s", err.text);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	wb_model_free(&f->model);
	session_free(&f->session);
	free(f);
	return 0;
}

static enum error_code give(struct fixture *f, const char *line)
{
	enum error_code code;
	struct words w;

	assert_int_equal(words_split(line, &w, NULL), ERROR_NONE);
	f->told[0] = '\0';
	code = command_execute(&f->session, (const char *const *)w.items, w.count);
	words_free(&w);
	return code;
}

static void follow(struct fixture *f, const char *line)
{
	struct words w;

	assert_int_equal(words_split(line, &w, NULL), ERROR_NONE);
	wb_model_follow(&f->model, (const char *const *)w.items, w.count);
	words_free(&w);
}

static void compose_takes_what_run_takes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, "compose t reg=es --against outer=tls"), ERROR_NONE);
	assert_string_equal(f->model.compose.line, "run t reg=es --against outer=tls");
	assert_int_equal(f->model.compose.variants, 2);
	assert_int_equal(give(f, "compose"), ERROR_NONE);
	assert_string_equal(f->model.compose.line, "run t");
}

static void a_composition_that_is_wrong_changes_nothing_and_says_why(void **state)
{
	struct fixture *f = *state;

	give(f, "compose t reg=es");
	assert_int_equal(give(f, "compose t reg=xs"), ERROR_INPUT);
	assert_non_null(strstr(f->told, "xs"));
	assert_int_equal(give(f, "compose nothing_of_that_name"), ERROR_INPUT);
	assert_string_equal(f->model.compose.line, "run t reg=es");
}

static void a_run_that_was_typed_becomes_what_is_composed(void **state)
{
	struct fixture *f = *state;

	follow(f, "run t reg=gs --time 2 --against outer=tls");
	assert_string_equal(f->model.compose.line, "run t reg=gs --against outer=tls");
	follow(f, "run t reg=xs");
	follow(f, "run elsewhere");
	follow(f, "list runs");
	assert_string_equal(f->model.compose.line, "run t reg=gs --against outer=tls");
}

static void a_run_that_ended_tells_what_the_next_will_take(void **state)
{
	struct fixture *f = *state;
	struct result_run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	give(f, "compose t");
	run->experiment = strdup("t");
	run->seconds = 4;
	run->row_count = 4;
	run->rows = calloc(4, sizeof(*run->rows));
	assert_true(run->experiment && run->rows);
	session_take(&f->session, run);
	assert_int_equal(f->model.results.count, 1);
	assert_true(f->model.compose.seconds >= 4 && f->model.compose.seconds < 4.5);
}

static void sort_and_filter_are_commands(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, "sort cycles down"), ERROR_NONE);
	assert_true(f->model.results.sort == WB_SORT_CYCLES && f->model.results.down);
	assert_int_equal(give(f, "sort cycles up"), ERROR_INPUT);
	assert_int_equal(give(f, "sort"), ERROR_NONE);
	assert_true(f->model.results.sort == WB_SORT_MEASURED && !f->model.results.down);
	assert_int_equal(give(f, "filter reg=fs tls"), ERROR_NONE);
	assert_int_equal(f->model.results.filter_count, 2);
}

static void while_the_face_refuses_nothing_is_measured(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, "asm nop"), ERROR_INPUT);
	assert_int_equal(f->model.results.count, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(compose_takes_what_run_takes),
	        T(a_composition_that_is_wrong_changes_nothing_and_says_why),
	        T(a_run_that_was_typed_becomes_what_is_composed),
	        T(a_run_that_ended_tells_what_the_next_will_take),
	        T(sort_and_filter_are_commands),
	        T(while_the_face_refuses_nothing_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
