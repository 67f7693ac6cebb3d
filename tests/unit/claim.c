/* What a claim's file may say, what is refused and in which words, and what a run makes of a claim.
 */
#include <math.h>
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

#include "engine/claim.h"
#include "engine/published.h"

#define MANUAL "man/entrylab-claims.5"

static char directory[] = "/tmp/entrylab-claim.XXXXXX";

/* The experiment that the claims here are tested by. */
static const char pair[] = "#: title  A pair\n"
                           "#: abi    x86_64\n"
                           "#: factor reg   fs gs\n"
                           "#: factor outer null data tls\n"
                           "#: factor n     0..9\n"
                           "#: default outer=null,tls n=1\n"
                           "#: exclude reg=gs outer=data | so\n"
                           ".macro body reg, outer, n\n"
                           "nop\n"
                           ".endm\n";

static const char head[] = "title T\n"
                           "who W\n"
                           "when 2006\n";

static const char *in_directory(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_directory(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(directory) || setenv("ENTRYLAB_EXPERIMENTS", directory, 1) ||
	    mkdir(in_directory("claims"), 0700))
		return -1;
	write_file("pair.s", pair);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(in_directory("pair.s"));
	rmdir(in_directory("claims"));
	return rmdir(directory);
}

static struct claim *parse(const char *lines)
{
	char text[4096];
	struct error err;
	struct claim *c;
	snprintf(text, sizeof text, "%s%s", head, lines);
	if (claim_parse("c", "/x/c.claim", text, strlen(text), &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static void assert_refused_whole(const char *text, const char *message)
{
	struct error err = {0};
	struct claim *c;
	assert_int_equal(claim_parse("c", "/x/c.claim", text, strlen(text), &c, &err), ERROR_INPUT);
	assert_null(c);
	assert_string_equal(err.text, message);
}

/* What stands behind the three lines that every claim has. */
static void assert_refused(const char *lines, const char *message)
{
	char text[4096];
	snprintf(text, sizeof text, "%s%s", head, lines);
	assert_refused_whole(text, message);
}

static void assert_condition_refused(const char *condition, const char *message)
{
	char lines[1024], expected[1024];
	snprintf(lines, sizeof lines, "run pair reg=fs,gs\nholds %s\n", condition);
	snprintf(expected, sizeof expected, "/x/c.claim:5: %s", message);
	assert_refused(lines, expected);
}

/* A run of pair, two registers by two selectors: costs by placement. */
enum { PLACEMENTS = 40, ROWS = 4 };

struct made {
	struct result_run run;
	struct result_factor factors[4];
	struct result_row rows[ROWS];
	char *levels[ROWS][4];
	double placements[ROWS][PLACEMENTS];
};

/* Row i costs cost[i] and something that all rows of a placement share; noise is a share of that
 * which they do not. */
static void make_run(struct made *m, const double cost[ROWS], double noise)
{
	static char *const names[ROWS][2] = {
	        {"fs", "null"}, {"fs", "tls"}, {"gs", "null"}, {"gs", "tls"}};
	*m = (struct made){
	        .factors = {{"abi", false}, {"reg", true}, {"outer", true}, {"n", false}}};
	m->run = (struct result_run){
	        .factors = m->factors,
	        .factor_count = 4,
	        .rows = m->rows,
	        .row_count = ROWS,
	        .confidence = 0.99,
	        .alpha = 0.001,
	        .trusted = true,
	};
	for (size_t i = 0; i < ROWS; i++) {
		m->levels[i][0] = "x86_64";
		m->levels[i][1] = names[i][0];
		m->levels[i][2] = names[i][1];
		m->levels[i][3] = "1";
		for (size_t k = 0; k < PLACEMENTS; k++)
			m->placements[i][k] = cost[i] + 20 * sin((double)k) +
			                      noise * sin((double)(7 * k + 31 * i));
		m->rows[i] = (struct result_row){
		        .levels = m->levels[i],
		        .state = RESULT_MEASURED,
		        .placements = m->placements[i],
		        .placement_count = PLACEMENTS,
		        .cycles = {cost[i], cost[i] - 1, cost[i] + 1},
		        .ns = {cost[i] / 4, cost[i] / 4, cost[i] / 4},
		};
	}
}

static const double usual[ROWS] = {200, 60, 200, 60};

static struct claim_judgement judge(const struct claim *c, const struct result_run *run)
{
	struct claim_judgement j;
	struct error err;
	if (claim_judge(c, run, CLAIM_UNTESTABLE, "none", &j, &err))
		fail_msg("%s", err.text);
	return j;
}

static void assert_verdict(const char *condition, const struct result_run *run,
                           enum claim_verdict verdict)
{
	char lines[1024];
	snprintf(lines, sizeof lines, "run pair reg=fs,gs\nholds %s\n", condition);
	struct claim *c = parse(lines);
	struct claim_judgement j = judge(c, run);
	if (j.verdict != verdict)
		fail_msg("%s: %s (%g, %g to %g)", condition, claim_verdict_name[j.verdict],
		         j.findings[0].value.est, j.findings[0].value.lo, j.findings[0].value.hi);
	claim_judgement_free(&j);
	claim_free(c);
}

/* Parsing. */

static void a_claim_is_read(void **state)
{
	(void)state;
	struct claim *c =
	        parse("# a comment\n"
	              "number 7\n"
	              "source S\n"
	              "note One,\n"
	              "     going on.\n"
	              "\n"
	              "note Two.\n"
	              "run pair reg=fs,gs\n"
	              "    outer=null,tls --time 2\n"
	              "holds [reg=fs outer=null] - [reg=fs outer=tls] < -0.5 cycles | fs\n"
	              "holds [reg=gs outer=null] / [reg=gs outer=tls] - 1 >= 5%\n"
	              "published Pentium 4 | 43 ns | of that\n"
	              "published - | a dozen\n");
	assert_string_equal(c->title, "T");
	assert_string_equal(c->who, "W");
	assert_string_equal(c->when, "2006");
	assert_int_equal(c->number, 7);
	assert_string_equal(c->doc, "One, going on.\nTwo.");
	assert_string_equal(c->run, "pair reg=fs,gs outer=null,tls --time 2");
	assert_string_equal(c->experiment->name, "pair");
	assert_int_equal(c->word_count, 2);
	assert_string_equal(c->options[0].name, "time");
	assert_string_equal(c->options[0].value, "2");
	assert_int_equal(c->condition_count, 2);
	assert_string_equal(c->conditions[0].label, "fs");
	assert_string_equal(c->conditions[0].wanted, "< -0.5 cycles");
	assert_int_equal(c->conditions[0].formula.degree, 1);
	assert_string_equal(c->conditions[1].wanted, ">= 5%");
	assert_int_equal(c->conditions[1].formula.degree, 0);
	assert_int_equal(c->figure_count, 2);
	assert_string_equal(c->figures[0].text, "of that");
	assert_string_equal(c->figures[1].figure, "a dozen");
	claim_free(c);
}

static void lines_that_are_none_are_refused(void **state)
{
	(void)state;
	assert_refused_whole("", "/x/c.claim:1: the file is empty");
	assert_refused_whole(" title T\n",
	                     "/x/c.claim:1: this line begins with a blank, and there is "
	                     "none before it that it could go on with");
	assert_refused_whole(
	        "titel T\n",
	        "/x/c.claim:1: there is no key 'titel': did you mean title? (title number "
	        "who when source note needs run holds published)");
	assert_refused_whole("title\n", "/x/c.claim:1: title without a value: title TEXT");
	assert_refused_whole("title T\nwho W\n",
	                     "/x/c.claim:2: there is no when: add a line 'when TEXT'");
	assert_refused("title U\n", "/x/c.claim:4: title stands twice; the first is in line 1");
	assert_refused("number 0\n",
	               "/x/c.claim:4: number is a whole number from 1 to 9999, not '0'");
	assert_refused("needs ring0\n",
	               "/x/c.claim:4: needs ring0: what is it needed for? needs WHAT "
	               "TEXT");
	assert_refused("run pair\nholds [reg=fs outer=null] > 1\npublished CPU\n",
	               "/x/c.claim:6: published: CPU | FIGURE [| TEXT]");
}

static void a_claim_without_a_test_says_why_it_has_none(void **state)
{
	(void)state;
	assert_refused("number 1\n", "/x/c.claim:4: there is no run: add a line 'run EXPERIMENT "
	                             "[FACTOR=LEVEL,...]... [--time S] [--precision P]'");
	assert_refused("run pair\n",
	               "/x/c.claim:4: there is a run, and nothing that must hold of it: "
	               "add a line 'holds FORMULA <|<=|>|>= NUMBER [cycles|ns|%] [| "
	               "LABEL]'");
	assert_refused("run pair\nneeds ring0 an interrupt gate\n",
	               "/x/c.claim:5: needs stands in place of run and holds, not beside them");
	struct claim *c = parse("needs ring0 an interrupt gate\n");
	assert_null(c->experiment);
	assert_string_equal(c->needs, "ring0");
	struct claim_judgement j = judge(c, NULL);
	assert_int_equal(j.verdict, CLAIM_UNTESTABLE);
	assert_string_equal(j.why, "an interrupt gate");
	claim_judgement_free(&j);
	claim_free(c);
}

static void a_run_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	static const char holds[] = "holds [reg=fs] > 1\n";
	static const struct {
		const char *run, *message;
	} bad[] = {
	        {"pari", "there is no experiment 'pari': did you mean pair? (`list` shows all)"},
	        {"pair rge=fs", "pair has no factor 'rge': did you mean reg? (abi reg outer n)"},
	        {"pair reg=xyz", "pair has no level 'xyz' of reg (fs gs)"},
	        {"pair n=10", "pair: n=10 is out of range: 0 to 9"},
	        {"pair reg=gs outer=data", "reg=gs does not exist with outer=data (pair.s:7: so)"},
	        {"pair --cpu 1", "a claim's run takes --time and --precision, not --cpu"},
	        {"pair --time", "--time needs a value"},
	        {"pair --time 1 --time 2", "--time is given twice"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char lines[256], message[256];
		snprintf(lines, sizeof lines, "run %s\n%s", bad[i].run, holds);
		snprintf(message, sizeof message, "/x/c.claim:4: run: %s", bad[i].message);
		assert_refused(lines, message);
	}
}

static void a_condition_must_name_variants_of_the_run(void **state)
{
	(void)state;
	assert_condition_refused(
	        "[reg=fs outer=data] > 1",
	        "no variant of the run is [reg=fs outer=data]: the run has reg=fs,gs "
	        "outer=null,tls");
	assert_condition_refused("[reg=fs] > 1",
	                         "[reg=fs] is 2 variants of the run: name one level of "
	                         "outer=null,tls too");
	assert_condition_refused(
	        "[reg=fs oter=tls] > 1",
	        "there is no factor 'oter': did you mean outer? (abi reg outer n)");
	assert_condition_refused(
	        "[reg=fs outer=nul] > 1",
	        "there is no level 'nul' of outer: did you mean null? (null data tls)");
	assert_condition_refused(
	        "[reg=fs,gs outer=tls] > 1",
	        "[reg=fs,gs outer=tls] is to be one variant, with one level of reg");
	assert_condition_refused(
	        "[reg!=fs outer=tls] > 1",
	        "[reg!=fs outer=tls]: a variant is named by what it is: reg=LEVEL");
	assert_condition_refused("[reg=fs reg=gs outer=tls] > 1",
	                         "[reg=fs reg=gs outer=tls] names reg twice");
	assert_condition_refused("[] > 1", "[] names no variant: [FACTOR=LEVEL ...]");
	assert_condition_refused("[reg=fs outer=tls > 1",
	                         "holds: '[reg=fs outer=tls > 1': the bracket is never closed");
	assert_condition_refused("[reg=fs outer=tls]",
	                         "holds: nothing is compared: holds FORMULA <|<=|>|>= NUMBER "
	                         "[cycles|ns|%] [| LABEL]");
}

static void a_condition_must_be_arithmetic(void **state)
{
	(void)state;
	assert_condition_refused("1 + 1 > 1", "'1 + 1' names no variant");
	assert_condition_refused(
	        "[reg=fs outer=tls] ^ 2 > 1",
	        "'^ 2' is no arithmetic: numbers, + - * / ( ), min(...), max(...) and "
	        "[FACTOR=LEVEL ...]");
	assert_condition_refused(
	        "system([reg=fs outer=tls]) > 1",
	        "'system([reg=fs outer=tls])' is no arithmetic: numbers, + - * / ( ), "
	        "min(...), max(...) and [FACTOR=LEVEL ...]");
	assert_condition_refused("[reg=fs outer=tls] * * 2 > 1",
	                         "'[reg=fs outer=tls] * * 2' cannot be worked out: look at '* 2'");
	assert_condition_refused("([reg=fs outer=tls] > 1",
	                         "'([reg=fs outer=tls]' cannot be worked out");
	assert_condition_refused(
	        "[reg=fs outer=*] > 1",
	        "'[reg=fs outer=*]' is more than one figure: * and commas stand in "
	        "min() and max()");
	assert_condition_refused(
	        "[reg=fs outer=tls] - [reg=fs outer=tls] > 1",
	        "'[reg=fs outer=tls] - [reg=fs outer=tls]' is always zero, or not a "
	        "number");
}

static void what_cannot_be_added_is_refused(void **state)
{
	(void)state;
	static const char tail[] = "' is neither a cost nor a ratio of costs: does it add a number "
	                           "to a cost, or multiply "
	                           "two?";
	static const char *const bad[] = {
	        "[reg=fs outer=tls] - 1",
	        "[reg=fs outer=tls] * [reg=gs outer=tls]",
	        "1 / [reg=fs outer=tls]",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char condition[128], message[256];
		snprintf(condition, sizeof condition, "%s > 1", bad[i]);
		snprintf(message, sizeof message, "'%s%s", bad[i], tail);
		assert_condition_refused(condition, message);
	}
}

static void a_threshold_is_in_the_unit_of_what_is_compared(void **state)
{
	(void)state;
	assert_condition_refused("[reg=fs outer=tls] > x",
	                         "holds: 'x' is no threshold: NUMBER, and cycles, ns or %");
	assert_condition_refused("[reg=fs outer=tls] > 0x10",
	                         "holds: '0x10' is no threshold: NUMBER, and cycles, ns or %");
	assert_condition_refused("[reg=fs outer=tls] > inf",
	                         "holds: 'inf' is no threshold: NUMBER, and cycles, ns or %");
	assert_condition_refused("[reg=fs outer=tls] > 1 parsec",
	                         "holds: 'parsec' is no unit of a threshold: cycles, ns or %");
	assert_condition_refused(
	        "[reg=fs outer=tls] > 5%",
	        "holds: '[reg=fs outer=tls]' is a cost: a threshold in percent does "
	        "not fit");
	assert_condition_refused("[reg=fs outer=tls] / [reg=gs outer=tls] > 2 ns",
	                         "holds: '[reg=fs outer=tls] / [reg=gs outer=tls]' is a ratio: a "
	                         "threshold in ns does not fit");
}

static void claims_with_the_same_run_share_it(void **state)
{
	(void)state;
	static const char holds[] = "holds [reg=fs outer=tls] > 1\n";
	static const struct {
		const char *run;
		bool shared;
	} cases[] = {
	        {"pair outer=null,tls reg=fs,gs", true},
	        {"pair reg=fs,gs", false},
	        {"pair reg=fs,gs outer=null,tls --time 1", false},
	};
	char lines[256];
	snprintf(lines, sizeof lines, "run pair reg=fs,gs outer=null,tls\n%s", holds);
	struct claim *a = parse(lines);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(lines, sizeof lines, "run %s\n%s", cases[i].run, holds);
		struct claim *b = parse(lines);
		assert_int_equal(claim_shares_run(a, b), cases[i].shared);
		claim_free(b);
	}
	struct claim *none = parse("needs ring0 a gate\n");
	assert_false(claim_shares_run(a, none));
	assert_false(claim_shares_run(none, none));
	claim_free(none);
	claim_free(a);
}

static void claims_are_found_and_listed_by_number(void **state)
{
	(void)state;
	struct error err;
	struct claim *c;
	struct claim_list list;
	char text[256];
	snprintf(text, sizeof text, "%snumber 2\nneeds ring0 x\n", head);
	write_file("claims/aa.claim", text);
	snprintf(text, sizeof text, "%snumber 1\nneeds ring0 x\n", head);
	write_file("claims/zz.claim", text);
	snprintf(text, sizeof text, "%sneeds ring0 x\n", head);
	write_file("claims/mm.claim", text);
	write_file("claims/bad.claim", "x\n");
	assert_int_equal(claim_list_read(&list, &err), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0]->name, "zz");
	assert_string_equal(list.items[1]->name, "aa");
	assert_string_equal(list.items[2]->name, "mm");
	assert_int_equal(list.broken_count, 1);
	assert_non_null(strstr(list.broken[0], "/claims/bad.claim:1: there is no key 'x'"));
	claim_list_free(&list);
	assert_true(claim_exists("aa"));
	assert_false(claim_exists("pair"));
	assert_int_equal(claim_find("aaa", &c, &err), ERROR_INPUT);
	assert_string_equal(err.text,
	                    "there is no claim 'aaa': did you mean aa? (`list claims` shows "
	                    "all)");
	assert_int_equal(claim_find("aa", &c, &err), 0);
	claim_free(c);
	unlink(in_directory("claims/aa.claim"));
	unlink(in_directory("claims/zz.claim"));
	unlink(in_directory("claims/mm.claim"));
	unlink(in_directory("claims/bad.claim"));
}

/* Judging. */

static void an_interval_on_one_side_of_the_threshold_decides(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	/* The difference is 140: what all rows of a placement share, 20 cycles up and down,
	 * cancels. */
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] > 139", &m.run, CLAIM_HOLDS);
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] > 141", &m.run, CLAIM_FAILS);
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] >= 140", &m.run, CLAIM_UNDECIDED);
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] < 141", &m.run, CLAIM_HOLDS);
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] <= 139", &m.run, CLAIM_FAILS);
}

static void a_difference_between_alike_is_not_decided_at_zero(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	struct claim *c =
	        parse("run pair reg=fs,gs\nholds [reg=fs outer=tls] - [reg=gs outer=tls] > "
	              "0 | x\n");
	struct claim_judgement j = judge(c, &m.run);
	const struct claim_finding *f = &j.findings[0];
	assert_int_equal(j.verdict, CLAIM_UNDECIDED);
	assert_true(f->value.lo < 0 && f->value.hi > 0);
	/* 99% interval, nine times in ten: (2.576 + 1.282) / 2.576 half-widths. */
	assert_float_equal(f->decidable, 1.4975 * (f->value.hi - f->value.lo) / 2, 1e-3);
	assert_non_null(strstr(j.why, "has the threshold 0 in it"));
	assert_non_null(strstr(j.why, "would have been decided nine times in ten"));
	claim_judgement_free(&j);
	claim_free(c);
}

static void ratios_percentages_and_nanoseconds_are_told_apart(void **state)
{
	(void)state;
	static const double cost[ROWS] = {300, 100, 200, 110};
	struct made m;
	make_run(&m, cost, 0);
	/* no shared noise here: ratios of it would not cancel */
	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < PLACEMENTS; k++)
			m.placements[i][k] = cost[i] * (1 + 1e-4 * sin((double)(k + 3 * i)));
	assert_verdict("[reg=fs outer=null] / [reg=fs outer=tls] >= 2.99", &m.run, CLAIM_HOLDS);
	assert_verdict("[reg=fs outer=null] / [reg=fs outer=tls] >= 3.01", &m.run, CLAIM_FAILS);
	assert_verdict("[reg=gs outer=tls] / [reg=fs outer=tls] - 1 < 10.5%", &m.run, CLAIM_HOLDS);
	assert_verdict("[reg=gs outer=tls] / [reg=fs outer=tls] - 1 > 9.5%", &m.run, CLAIM_HOLDS);
	/* four cycles are a nanosecond in this run */
	assert_verdict("[reg=fs outer=null] - [reg=gs outer=null] > 24.9 ns", &m.run, CLAIM_HOLDS);
	assert_verdict("[reg=fs outer=null] - [reg=gs outer=null] < 25.1 ns", &m.run, CLAIM_HOLDS);
	assert_verdict("max([reg=fs outer=*]) / min([reg=fs outer=*]) > 2.9", &m.run, CLAIM_HOLDS);
	assert_verdict("max([reg=fs outer=*]) - min([reg=gs outer=*]) < 189", &m.run, CLAIM_FAILS);
}

static void a_run_that_is_not_trusted_decides_nothing(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	m.run.trusted = false;
	m.run.not_trusted_why = "the ruler is bent";
	struct claim *c =
	        parse("run pair reg=fs,gs\nholds [reg=fs outer=null] - [reg=fs outer=tls] > "
	              "1000\nholds [reg=fs outer=null] > 1\n");
	struct claim_judgement j = judge(c, &m.run);
	assert_int_equal(j.verdict, CLAIM_UNDECIDED);
	assert_string_equal(j.why, "the run is not trusted: the ruler is bent");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(j.findings[i].verdict, CLAIM_UNDECIDED);
		assert_true(isnan(j.findings[i].value.est));
	}
	claim_judgement_free(&j);
	claim_free(c);
}

static void a_variant_that_is_not_there_makes_a_claim_untestable(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	m.rows[2].state = RESULT_ABSENT;
	m.rows[2].reason = "no such register";
	assert_verdict("[reg=gs outer=null] - [reg=fs outer=null] > 1", &m.run, CLAIM_UNTESTABLE);
	assert_verdict("[reg=gs outer=tls] - [reg=fs outer=null] > 1", &m.run, CLAIM_FAILS);
	struct claim *c = parse("run pair reg=fs,gs\nholds [reg=gs outer=null] > 1\n");
	struct claim_judgement j = judge(c, &m.run);
	assert_string_equal(j.why, "reg=gs outer=null: no such register");
	claim_judgement_free(&j);
	/* nor does it exist if the controls fail besides */
	m.run.trusted = false;
	j = judge(c, &m.run);
	assert_int_equal(j.verdict, CLAIM_UNTESTABLE);
	claim_judgement_free(&j);
	claim_free(c);
}

static void a_variant_that_died_decides_nothing(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	m.rows[0].state = RESULT_DIED;
	m.rows[0].reason = "SIGSEGV";
	struct claim *c = parse("run pair reg=fs,gs\nholds [reg=fs outer=null] > 1\n");
	struct claim_judgement j = judge(c, &m.run);
	assert_int_equal(j.verdict, CLAIM_UNDECIDED);
	assert_string_equal(j.why, "reg=fs outer=null: died: SIGSEGV");
	claim_judgement_free(&j);
	claim_free(c);
}

static void bytes_are_those_of_the_pools_where_there_are_any(void **state)
{
	(void)state;
	struct made m;
	struct error err;
	struct formula_value v;
	struct claim *c = parse("run pair reg=fs,gs\nholds 2 * [reg=fs outer=null] - [reg=gs "
	                        "outer=null] > 1\n");
	make_run(&m, usual, 0.1);
	m.rows[0].code_bytes = 10;
	m.rows[2].code_bytes = 3;
	assert_int_equal(
	        formula_evaluate(&c->conditions[0].formula, &m.run, FORMULA_BYTES, &v, &err), 0);
	assert_true(fabs(v.value.est - 17) < 1e-9);
	assert_true(fabs(v.value.lo - v.value.hi) < 1e-9);
	m.rows[2].pool_bytes = 1000; /* reg=fs has none: none of its bytes are a pool's */
	assert_int_equal(
	        formula_evaluate(&c->conditions[0].formula, &m.run, FORMULA_BYTES, &v, &err), 0);
	assert_true(fabs(v.value.est + 1000) < 1e-9);
	claim_free(c);
}

static void rows_of_different_blocks_are_not_paired(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	m.rows[0].placement_count = PLACEMENTS - 1;
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] > 1", &m.run, CLAIM_UNDECIDED);
}

static void too_few_placements_decide_nothing(void **state)
{
	(void)state;
	struct made m;
	make_run(&m, usual, 0.1);
	for (size_t i = 0; i < ROWS; i++)
		m.rows[i].placement_count = 3;
	assert_verdict("[reg=fs outer=null] - [reg=fs outer=tls] > 1", &m.run, CLAIM_UNDECIDED);
}

static void the_worst_condition_is_the_claims(void **state)
{
	(void)state;
	static const char holds[] = "holds [reg=fs outer=null] - [reg=fs outer=tls] > 1\n";
	static const char fails[] = "holds [reg=fs outer=null] - [reg=fs outer=tls] > 1000\n";
	static const char open[] = "holds [reg=fs outer=tls] - [reg=gs outer=tls] > 0\n";
	static const char absent[] = "holds [reg=gs outer=null] > 1\n";
	static const struct {
		const char *lines[3];
		enum claim_verdict verdict;
	} cases[] = {
	        {{holds, holds, ""}, CLAIM_HOLDS},
	        {{holds, open, ""}, CLAIM_UNDECIDED},
	        {{open, holds, absent}, CLAIM_UNTESTABLE},
	        {{absent, open, fails}, CLAIM_FAILS},
	};
	struct made m;
	make_run(&m, usual, 0.1);
	m.rows[2].state = RESULT_ABSENT;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char lines[1024];
		snprintf(lines, sizeof lines, "run pair reg=fs,gs\n%s%s%s", cases[i].lines[0],
		         cases[i].lines[1], cases[i].lines[2]);
		struct claim *c = parse(lines);
		struct claim_judgement j = judge(c, &m.run);
		assert_int_equal(j.verdict, cases[i].verdict);
		assert_int_equal(j.why != NULL, cases[i].verdict == CLAIM_UNDECIDED ||
		                                        cases[i].verdict == CLAIM_UNTESTABLE);
		claim_judgement_free(&j);
		claim_free(c);
	}
}

static void without_a_run_the_reason_is_the_callers(void **state)
{
	(void)state;
	struct claim *c = parse("run pair reg=fs,gs\nholds [reg=fs outer=tls] > 1\n");
	struct claim_judgement j;
	assert_int_equal(claim_judge(c, NULL, CLAIM_UNTESTABLE, "no assembler", &j, NULL), 0);
	assert_int_equal(j.verdict, CLAIM_UNTESTABLE);
	assert_string_equal(j.why, "no assembler");
	assert_string_equal(j.findings[0].why, "no assembler");
	claim_judgement_free(&j);
	claim_free(c);
}

/* The manual. */

/* The text of a section with its lines joined by blanks. */
static char *manual_section(const char *title)
{
	static char text[1 << 17];
	char heading[64];
	FILE *f = fopen(MANUAL, "r");
	if (!f)
		fail_msg("%s cannot be opened: run this from the top of the tree", MANUAL);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	snprintf(heading, sizeof heading, "\n.Sh %s\n", title);
	char *at = strstr(text, heading);
	assert_non_null(at);
	char *end = strstr(at + 1, "\n.Sh ");
	assert_non_null(end);
	for (char *c = at; c < end; c++)
		if (*c == '\n')
			*c = ' ';
	*end = '\0';
	return at;
}

static void assert_keys_in_manual(const char *title, const struct experiment_key *keys, size_t n)
{
	const char *at = manual_section(title);
	char entry[512];
	for (size_t i = 0; i < n; i++) {
		snprintf(entry, sizeof entry, " .It Cm %s Ar \"%s\" %s", keys[i].name, keys[i].form,
		         keys[i].help);
		at = strstr(at, entry);
		if (!at)
			fail_msg("not in %s, or not in the table's order: %s", MANUAL, entry);
	}
}

static void the_manual_lists_the_keys_of_both_tables(void **state)
{
	(void)state;
	assert_keys_in_manual("CLAIM KEYS", claim_keys, claim_key_count);
	assert_keys_in_manual("TABLE KEYS", published_keys, published_key_count);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_claim_is_read),
	        cmocka_unit_test(lines_that_are_none_are_refused),
	        cmocka_unit_test(a_claim_without_a_test_says_why_it_has_none),
	        cmocka_unit_test(a_run_that_does_not_exist_is_refused),
	        cmocka_unit_test(a_condition_must_name_variants_of_the_run),
	        cmocka_unit_test(a_condition_must_be_arithmetic),
	        cmocka_unit_test(what_cannot_be_added_is_refused),
	        cmocka_unit_test(a_threshold_is_in_the_unit_of_what_is_compared),
	        cmocka_unit_test(claims_with_the_same_run_share_it),
	        cmocka_unit_test(claims_are_found_and_listed_by_number),
	        cmocka_unit_test(an_interval_on_one_side_of_the_threshold_decides),
	        cmocka_unit_test(a_difference_between_alike_is_not_decided_at_zero),
	        cmocka_unit_test(ratios_percentages_and_nanoseconds_are_told_apart),
	        cmocka_unit_test(a_run_that_is_not_trusted_decides_nothing),
	        cmocka_unit_test(a_variant_that_is_not_there_makes_a_claim_untestable),
	        cmocka_unit_test(a_variant_that_died_decides_nothing),
	        cmocka_unit_test(bytes_are_those_of_the_pools_where_there_are_any),
	        cmocka_unit_test(rows_of_different_blocks_are_not_paired),
	        cmocka_unit_test(too_few_placements_decide_nothing),
	        cmocka_unit_test(the_worst_condition_is_the_claims),
	        cmocka_unit_test(without_a_run_the_reason_is_the_callers),
	        cmocka_unit_test(the_manual_lists_the_keys_of_both_tables),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
