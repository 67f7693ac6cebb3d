/* What a published table's file may say, what is refused, and which variants stand beside its rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/published.h"

static char directory[] = "/tmp/entrylab-published.XXXXXX";

static const char pair[] = "#: title  A pair\n"
                           "#: abi    x86_64\n"
                           "#: factor reg   fs gs\n"
                           "#: factor inner data ldt\n"
                           ".macro body reg, inner\n"
                           "nop\n"
                           ".endm\n";

static const char rows[] = "cpu\treg\tselector\tns\n"
                           "P4\tfs\tdata\t33\n"
                           "P4\tgs\tdata\t34\n"
                           "P4\tfs\tldt\t43\n";

static const char *pair_path(void)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/pair.s", directory);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(directory) || setenv("ENTRYLAB_EXPERIMENTS", directory, 1))
		return -1;
	FILE *f = fopen(pair_path(), "w");
	if (!f || fputs(pair, f) < 0)
		return -1;
	return fclose(f);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(pair_path());
	return rmdir(directory);
}

static int read_table(const char *header, const char *body, struct published **out,
                      struct error *err)
{
	char text[4096];
	snprintf(text, sizeof text, "#: title T\n#: source S\n%s%s", header, body);
	return published_parse("t", "/x/t.tsv", text, strlen(text), out, err);
}

static struct published *parse(const char *header, const char *body)
{
	struct error err;
	struct published *p;
	if (read_table(header, body, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void assert_refused(const char *header, const char *body, const char *message)
{
	struct error err = {0};
	struct published *p;
	assert_int_equal(read_table(header, body, &p, &err), ERROR_INPUT);
	assert_null(p);
	assert_string_equal(err.text, message);
}

static void a_table_is_read_as_it_stands(void **state)
{
	(void)state;
	struct published *p = parse("#: machine cpu\n"
	                            "#: value ns ns\n"
	                            "# a comment\n"
	                            "#: across selector\n"
	                            "#: run pair reg=fs,gs inner=data,ldt\n"
	                            "#: here reg=fs | [reg=fs inner={selector}]\n"
	                            "#: here selector=data | 2 * [reg={reg} inner=data]\n",
	                            rows);
	assert_int_equal(p->column_count, 4);
	assert_int_equal(p->row_count, 3);
	assert_int_equal(p->value, 3);
	assert_int_equal(p->across, 2);
	assert_int_equal(p->unit, FORMULA_NS);
	assert_true(p->machine[0]);
	assert_false(p->machine[1]);
	assert_string_equal(p->rows[2].cells[3], "43");
	assert_null(p->why_not);
	/* the first line that fits counts */
	assert_string_equal(p->rows[0].here_text, "[reg=fs inner=data]");
	assert_string_equal(p->rows[1].here_text, "2 * [reg=gs inner=data]");
	assert_string_equal(p->rows[2].here_text, "[reg=fs inner=ldt]");
	assert_true(p->rows[2].has_here);
	published_free(p);
}

static void a_row_that_no_line_fits_has_no_variant(void **state)
{
	(void)state;
	struct published *p = parse("#: value ns ns\n"
	                            "#: run pair reg=fs,gs\n"
	                            "#: here reg=gs | [reg=gs]\n",
	                            rows);
	assert_false(p->rows[0].has_here);
	assert_null(p->rows[0].here_text);
	assert_true(p->rows[1].has_here);
	published_free(p);
}

static void an_experiment_that_is_not_there_hides_no_figure(void **state)
{
	(void)state;
	struct published *p = parse("#: value ns ns\n"
	                            "#: run elsewhere reg=fs\n"
	                            "#: here | [reg={reg}]\n",
	                            rows);
	assert_null(p->experiment);
	assert_string_equal(p->why_not, "there is no experiment elsewhere here");
	assert_string_equal(p->rows[1].here_text, "[reg=gs]");
	assert_false(p->rows[1].has_here);
	published_free(p);
}

static void a_table_that_needs_more_says_what(void **state)
{
	(void)state;
	struct published *p = parse("#: value ns\n#: needs ring0 a gate\n", rows);
	assert_string_equal(p->needs, "ring0");
	assert_string_equal(p->why_not, "a gate");
	assert_int_equal(p->unit, FORMULA_UNITS);
	published_free(p);
	assert_refused("#: value ns ns\n#: needs ring0 a gate\n#: run pair\n", rows,
	               "/x/t.tsv:4: needs stands in place of run, here, each and also, not "
	               "beside them");
}

static void columns_that_are_not_there_are_refused(void **state)
{
	(void)state;
	static const char test[] = "#: run pair reg=fs,gs\n#: here | [reg=fs]\n";
	static const struct {
		const char *line, *message;
	} bad[] = {
	        {"#: value nss ns\n", "/x/t.tsv:3: the table has no column 'nss': did you mean ns? "
	                              "(cpu reg selector ns)"},
	        {"#: value ns miles\n",
	         "/x/t.tsv:3: value: 'miles' is no unit: cycles, ns, seconds or bytes"},
	        {"#: value ns\n", "/x/t.tsv:3: value: COLUMN [cycles|ns|seconds|bytes]"},
	        {"#: value ns ns\n#: machine cpus\n", "/x/t.tsv:4: the table has no column 'cpus': "
	                                              "did you mean cpu? (cpu reg selector ns)"},
	        {"#: value ns ns\n#: across ns\n",
	         "/x/t.tsv:4: across: ns is the column of the figures"},
	        {"#: value ns ns\n#: across zzz\n",
	         "/x/t.tsv:4: the table has no column 'zzz' (cpu reg selector ns)"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char header[512];
		snprintf(header, sizeof header, "%s%s", bad[i].line, test);
		assert_refused(header, rows, bad[i].message);
	}
}

static void what_stands_beside_a_row_must_be_a_variant(void **state)
{
	(void)state;
	static const struct {
		const char *here, *message;
	} bad[] = {
	        {"[reg=fs]", "here: [COLUMN=VALUE,...]... | FORMULA"},
	        {"reg=fs |", "here: [COLUMN=VALUE,...]... | FORMULA"},
	        {"reg | [reg=fs]", "here: 'reg' is not COLUMN=VALUE"},
	        {"rge=fs | [reg=fs]",
	         "the table has no column 'rge': did you mean reg? (cpu reg selector ns)"},
	        {"reg=es | [reg=fs]", "here: no row of the table is reg=es"},
	        {"| [reg={rge}]",
	         "the table has no column 'rge': did you mean reg? (cpu reg selector ns)"},
	        {"| [reg={reg]", "here: '{reg]': the brace is never closed"},
	        {"| [reg={cpu}]", "there is no level 'P4' of reg (fs gs)"},
	        {"| [reg=fs] / [reg=gs]",
	         "here: '[reg=fs] / [reg=gs]' is a ratio, and no figure in ns"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char header[512], message[512];
		snprintf(header, sizeof header,
		         "#: value ns ns\n#: run pair reg=fs,gs\n#: here %s\n", bad[i].here);
		snprintf(message, sizeof message, "/x/t.tsv:5: %s", bad[i].message);
		assert_refused(header, rows, message);
	}
	assert_refused("#: value ns ns\n#: run pair reg=xyz\n#: here | [reg=fs]\n", rows,
	               "/x/t.tsv:4: run: pair has no level 'xyz' of reg (fs gs)");
	assert_refused(
	        "#: value ns ns\n#: run pair\n", rows,
	        "/x/t.tsv:4: there is a run, and no line says what of it stands beside a row: add "
	        "'#: here [COLUMN=VALUE,...]... | FORMULA'");
}

static void rows_have_a_field_for_each_column(void **state)
{
	(void)state;
	static const char header[] = "#: value b\n#: needs ring0 a gate\n";
	assert_refused(header, "a\tb\n1\n",
	               "/x/t.tsv:6: 1 fields, and 2 columns: fields are separated by tabs");
	assert_refused(header, "a\tb\n1\t2\t3\n",
	               "/x/t.tsv:6: 3 fields, and 2 columns: fields are separated by tabs");
	assert_refused(header, "a\ta\n1\t2\n", "/x/t.tsv:5: the column a stands twice");
	assert_refused(header, "a b\tb\n1\t2\n",
	               "/x/t.tsv:5: 'a b' is no name of a column: letters, digits and underscores");
	assert_refused(header, "a\tb\n",
	               "/x/t.tsv:5: there are no rows: a line of columns, then rows, "
	               "separated by tabs");
	struct published *p = parse(header, "a\tb\n\t\n");
	assert_string_equal(p->rows[0].cells[1], "");
	published_free(p);
}

static void further_figures_have_a_line_for_each_row_and_level(void **state)
{
	(void)state;
	struct published *p = parse("#: value ns ns\n#: run pair reg=fs,gs inner=ldt,data\n"
	                            "#: here | [reg=fs inner=ldt]\n#: each inner\n"
	                            "#: also bytes bytes | [reg={reg} inner={inner}]\n"
	                            "#: also twice cycles reg=gs | 2 * [reg={reg} inner={inner}]\n"
	                            "#: also twice cycles selector=data | [reg=fs inner=ldt]\n",
	                            rows);
	assert_string_equal(p->each, "inner");
	assert_int_equal(p->also_count, 2);
	assert_string_equal(p->also[0].name, "bytes");
	assert_int_equal(p->also[0].unit, FORMULA_BYTES);
	assert_int_equal(p->also[1].unit, FORMULA_CYCLES);
	assert_false(p->named[0]);
	assert_true(p->named[1]);
	assert_false(p->named[2]);
	assert_int_equal(p->line_count, 6); /* levels as the run has them, rows within */
	assert_string_equal(p->lines[0].level, "ldt");
	assert_int_equal(p->lines[1].row, 1);
	assert_string_equal(p->lines[3].level, "data");
	assert_string_equal(p->lines[0].figures[0].text, "[reg=fs inner=ldt]");
	assert_string_equal(p->lines[4].figures[0].text, "[reg=gs inner=data]");
	/* the first line that fits a row counts; one that none fits has no figure */
	assert_string_equal(p->lines[1].figures[1].text, "2 * [reg=gs inner=ldt]");
	assert_string_equal(p->lines[3].figures[1].text, "[reg=fs inner=ldt]");
	assert_null(p->lines[2].figures[1].text);
	published_free(p);
}

static void further_figures_need_no_levels(void **state)
{
	(void)state;
	struct published *p = parse("#: value ns ns\n#: run pair reg=fs,gs\n#: here | [reg=fs]\n"
	                            "#: also cycles cycles | [reg={reg}]\n",
	                            rows);
	assert_null(p->each);
	assert_int_equal(p->line_count, 3);
	assert_null(p->lines[0].level);
	assert_string_equal(p->lines[1].figures[0].text, "[reg=gs]");
	published_free(p);
	/* without the experiment nobody knows its levels */
	p = parse("#: value ns ns\n#: run elsewhere a=b\n#: here | [a=b]\n#: each a\n"
	          "#: also cycles cycles | [a={a}]\n",
	          rows);
	assert_int_equal(p->line_count, 0);
	assert_int_equal(p->also_count, 1);
	published_free(p);
}

static void bad_further_figures_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *lines, *message;
	} bad[] = {
	        {"#: each inner\n", "6: each goes with also: '#: also NAME cycles|ns|seconds|bytes "
	                            "[COLUMN=VALUE,...]... | FORMULA'"},
	        {"#: each innr\n#: also a ns | [reg=fs]\n", "6: each: pair has no factor 'innr'"},
	        {"#: each reg\n#: also a ns | [reg=fs]\n",
	         "6: each: the table has a column reg too: {reg} could be either"},
	        {"#: also a | [reg=fs]\n", "6: also: NAME cycles|ns|seconds|bytes "
	                                   "[COLUMN=VALUE,...]... | FORMULA"},
	        {"#: also a ns [reg=fs]\n", "6: also: NAME cycles|ns|seconds|bytes "
	                                    "[COLUMN=VALUE,...]... | FORMULA"},
	        {"#: also a miles | [reg=fs]\n",
	         "6: also: 'miles' is no unit: cycles, ns, seconds or bytes"},
	        {"#: also a-b ns | [reg=fs]\n",
	         "6: also: 'a-b' is no name of a column: letters, digits and underscores"},
	        {"#: also a ns | [reg=fs]\n#: also a cycles | [reg=fs]\n",
	         "7: also: a is counted in ns in a line before"},
	        {"#: also a ns reg=es | [reg=fs]\n", "6: also: no row of the table is reg=es"},
	        {"#: also a ns reg | [reg=fs]\n", "6: also: 'reg' is not COLUMN=VALUE"},
	        {"#: also a ns | [reg={inner}]\n",
	         "6: the table has no column 'inner' (cpu reg selector ns)"},
	        {"#: also a ns | [reg={reg]\n", "6: also: '{reg]': the brace is never closed"},
	        {"#: also a ns | [reg=fs] / [reg=gs]\n",
	         "6: also: '[reg=fs] / [reg=gs]' is a ratio, and no figure in ns"},
	        {"#: also a ns | [reg=fs inner=ldt]\n",
	         "6: no variant of the run is [reg=fs inner=ldt]: the run has reg=fs,gs "
	         "inner=data"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char header[512], message[512];
		snprintf(header, sizeof header,
		         "#: value ns ns\n#: run pair reg=fs,gs\n#: here | [reg=fs]\n%s",
		         bad[i].lines);
		snprintf(message, sizeof message, "/x/t.tsv:%s", bad[i].message);
		assert_refused(header, rows, message);
	}
	assert_refused("#: value ns\n#: needs ring0 a gate\n#: also a ns | [reg=fs]\n", rows,
	               "/x/t.tsv:4: needs stands in place of run, here, each and also, not "
	               "beside them");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_table_is_read_as_it_stands),
	        cmocka_unit_test(a_row_that_no_line_fits_has_no_variant),
	        cmocka_unit_test(an_experiment_that_is_not_there_hides_no_figure),
	        cmocka_unit_test(a_table_that_needs_more_says_what),
	        cmocka_unit_test(columns_that_are_not_there_are_refused),
	        cmocka_unit_test(what_stands_beside_a_row_must_be_a_variant),
	        cmocka_unit_test(rows_have_a_field_for_each_column),
	        cmocka_unit_test(further_figures_have_a_line_for_each_row_and_level),
	        cmocka_unit_test(further_figures_need_no_levels),
	        cmocka_unit_test(bad_further_figures_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
