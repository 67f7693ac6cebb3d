/* What an experiment's file may say, what is refused and in which words, and what becomes of a
 * selection. */
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

#include "engine/environment.h"
#include "engine/experiment.h"
#include "engine/host.h"
#include "engine/program.h"

#define MANUAL "man/entrylab-experiment.5"

static const char segreg[] =
        "#: title     Segment register\n"
        "#: source    A thread, 2006\n"
        "#: group     Segments\n"
        "#: note      First line.\n"
        "#: note\n"
        "#: note      Second | line.\n"
        "#: abi       i386 x86_64\n"
        "#: factor    reg    none fs gs es ds       | the register\n"
        "#: factor    outer  null data tls\n"
        "#: factor    use    none inner both\n"
        "# a comment between header lines\n"
        "#: exclude   abi=x86_64 reg=es,ds          | x86_64 has no push of %es\n"
        "#: exclude   outer=null use!=none          | a null selector cannot be used\n"
        "#: default   reg=fs,gs outer=data\n"
        "#: needs     outer=data ldt gdt\n"
        "#: needs     i386\n"
        "#: stack     4                             | pushed\n"
        "#: align     16\n"
        "#: expect    counter == iterations\n"
        "#: expect    reg=fs outer=tls counter2==2*iterations | why\n"
        "#: expect    use=both result == -0x10\n"
        "#: expect    result == sel_data\n"
        "\n"
        ".macro setup reg, outer, use\n"
        ".endm\n"
        ".macro body reg, outer, use\n"
        "	.ifc \\reg,fs # gs is not handled\n"
        "	push %\\reg\n"
        "	.error \"use#both\"\n"
        ".endm\n";

static struct experiment *parse(const char *text)
{
	struct error err;
	struct experiment *x;
	if (experiment_parse("segreg", "/x/segreg.s", text, strlen(text), &x, &err))
		fail_msg("%s", err.text);
	return x;
}

/* A small file: these header lines, then a body with these parameters. */
static struct experiment *parse_header(const char *lines, const char *parameters)
{
	char text[4096];
	snprintf(text, sizeof text, "#: title T\n%s.macro body %s\nnop\n.endm\n", lines,
	         parameters);
	return parse(text);
}

static void assert_refused_bytes(const char *text, size_t size, const char *message)
{
	struct error err = {0};
	struct experiment *x;
	assert_int_equal(experiment_parse("t", "/x/t.s", text, size, &x, &err), ERROR_INPUT);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_null(x);
	assert_string_equal(err.text, message);
}

static void assert_refused(const char *text, const char *message)
{
	assert_refused_bytes(text, strlen(text), message);
}

/* lines stand on line 2 and what follows; a body of one parameter "a" is behind them. */
static void assert_header_refused(const char *lines, const char *message)
{
	char text[8192];
	snprintf(text, sizeof text, "#: title T\n%s\n.macro body a\nnop\n.endm\n", lines);
	assert_refused(text, message);
}

static void a_complete_header_is_read(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	assert_string_equal(x->name, "segreg");
	assert_string_equal(x->path, "/x/segreg.s");
	assert_string_equal(x->title, "Segment register");
	assert_string_equal(x->source, "A thread, 2006");
	assert_string_equal(x->group, "Segments");
	assert_string_equal(x->doc, "First line.\n\nSecond | line.");
	assert_string_equal(x->text, segreg);
	assert_int_equal(x->text_size, strlen(segreg));
	assert_int_equal(x->abis, 3);
	assert_int_equal(x->factor_count, 4);
	assert_string_equal(x->factors[0].name, "abi");
	assert_int_equal(x->factors[0].level_count, 2);
	assert_string_equal(x->factors[0].levels[0], "i386");
	assert_string_equal(x->factors[0].defaults[0], "i386");
	assert_string_equal(x->factors[1].name, "reg");
	assert_string_equal(x->factors[1].doc, "the register");
	assert_int_equal(x->factors[1].level_count, 5);
	assert_int_equal(x->factors[1].default_count, 2);
	assert_string_equal(x->factors[1].defaults[1], "gs");
	assert_int_equal(x->factors[1].line, 8);
	assert_string_equal(x->factors[2].doc, "");
	assert_string_equal(x->factors[3].defaults[0], "none");
	assert_int_equal(x->factors[3].default_count, 1);
	assert_int_equal(x->stack, 4);
	assert_int_equal(x->align, 16);
	assert_int_equal(x->repeat, EXPERIMENT_UNROLL);
	assert_true(x->has_macro_setup);
	assert_false(x->has_macro_teardown);
	experiment_free(x);
}

static void rules_are_read_with_their_conditions(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	assert_int_equal(x->exclude_count, 2);
	assert_int_equal(x->excludes[0].line, 12);
	assert_string_equal(x->excludes[0].why, "x86_64 has no push of %es");
	assert_int_equal(x->excludes[0].when.term_count, 2);
	assert_int_equal(x->excludes[0].when.terms[1].factor, 1);
	assert_string_equal(x->excludes[0].when.terms[1].levels[1], "ds");
	/* use!=none is the other levels of use */
	assert_int_equal(x->excludes[1].when.terms[1].level_count, 2);
	assert_string_equal(x->excludes[1].when.terms[1].levels[0], "inner");
	assert_int_equal(x->need_count, 2);
	assert_int_equal(x->needs[0].when.term_count, 1);
	assert_int_equal(x->needs[0].capability_count, 2);
	assert_string_equal(x->needs[0].capabilities[1], "gdt");
	assert_int_equal(x->needs[1].when.term_count, 0);
	experiment_free(x);
}

static void expectations_are_read(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	const struct experiment_expect *e = x->expects;
	assert_int_equal(x->expect_count, 4);
	assert_string_equal(e[0].field, "counter");
	assert_true(e[0].iterations);
	assert_int_equal(e[0].number, 1);
	assert_null(e[0].other);
	assert_string_equal(e[0].text, "counter == iterations");
	assert_int_equal(e[1].when.term_count, 2);
	assert_string_equal(e[1].field, "counter2");
	assert_true(e[1].iterations);
	assert_int_equal(e[1].number, 2);
	assert_false(e[2].iterations);
	assert_int_equal(e[2].number, -16);
	assert_string_equal(e[3].other, "sel_data");
	experiment_free(x);
}

static void evictions_are_read(void **state)
{
	(void)state;
	struct experiment *x = parse_header("#: evict code flush\n"
	                                    "#: evict a=x buffer walk 64K\n"
	                                    "#: evict a=y all walk 64M | cold\n"
	                                    "#: factor a x y\n"
	                                    "#: repeat once\n",
	                                    "a");
	assert_int_equal(x->repeat, EXPERIMENT_ONCE);
	assert_int_equal(x->evict_count, 3);
	assert_int_equal(x->evicts[0].target, EVICT_CODE);
	assert_true(x->evicts[0].flush);
	assert_int_equal(x->evicts[1].target, EVICT_BUFFER);
	assert_false(x->evicts[1].flush);
	assert_int_equal(x->evicts[1].walk, 65536);
	assert_int_equal(x->evicts[2].target, EVICT_ALL);
	assert_int_equal(x->evicts[2].walk, 64 << 20);
	experiment_free(x);
}

static void a_short_file_gets_the_defaults(void **state)
{
	(void)state;
	struct experiment *x = parse("#:title T\n\t.macro body\n");
	assert_string_equal(x->title, "T");
	assert_string_equal(x->source, "");
	assert_string_equal(x->group, "Other");
	assert_string_equal(x->doc, "");
	assert_int_equal(x->abis, 3);
	assert_int_equal(x->factor_count, 1);
	assert_string_equal(x->factors[0].defaults[0], "x86_64");
	assert_int_equal(x->factors[0].default_count, 1);
	assert_int_equal(x->stack, 0);
	assert_int_equal(x->align, 1);
	experiment_free(x);
}

static void line_ends_of_other_systems_are_accepted(void **state)
{
	(void)state;
	struct experiment *x =
	        parse("#: title T\r\n#: factor a x y\r\n\r\n.macro body a\r\nnop\r\n.endm");
	assert_string_equal(x->title, "T");
	assert_string_equal(x->factors[1].levels[1], "y");
	assert_string_equal(x->text, "#: title T\n#: factor a x y\n\n.macro body a\nnop\n.endm\n");
	assert_int_equal(x->text_size, strlen(x->text));
	experiment_free(x);
}

static void a_very_long_line_is_accepted(void **state)
{
	(void)state;
	enum { LENGTH = 1000000 };
	char *text = malloc(LENGTH + 100);
	assert_non_null(text);
	char *end = stpcpy(text, "#: title T\n#: note ");
	memset(end, 'n', LENGTH);
	strcpy(end + LENGTH, "\n.macro body\n.endm\n");
	struct experiment *x = parse(text);
	assert_int_equal(strlen(x->doc), LENGTH);
	experiment_free(x);
	free(text);
}

static void what_is_no_text_is_refused(void **state)
{
	(void)state;
	assert_refused("", "/x/t.s:1: the file is empty");
	assert_refused_bytes("#: title T\n\0\n", 13,
	                     "/x/t.s:2: a NUL byte: this is a binary file, not assembler source");
	static const char *const bad[] = {
	        "\x80",
	        "\xc0\xaf",
	        "\xc3",
	        "\xe0\x9f\xbf",
	        "\xed\xa0\x80",
	        "\xf0\x8f\xbf\xbf",
	        "\xf4\x90\x80\x80",
	        "\xf5\x80\x80\x80",
	        "\xe2\x82",
	        "\xe2\x28\xa1",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char text[64], message[128];
		snprintf(text, sizeof text, "#: title T\n\n# %s", bad[i]);
		snprintf(message, sizeof message,
		         "/x/t.s:3: byte 0x%02x is not UTF-8: save the file as UTF-8",
		         (unsigned char)bad[i][0]);
		assert_refused(text, message);
	}
	assert_refused("\xef\xbb\xbf#: title T\n", "/x/t.s:1: the file begins with a byte order "
	                                           "mark: save it without");
	experiment_free(parse("#: title \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n.macro body\n"));
	size_t size = (4u << 20) + 1;
	char *huge = malloc(size);
	assert_non_null(huge);
	memset(huge, '#', size);
	assert_refused_bytes(huge, size,
	                     "/x/t.s:1: 4194305 bytes; an experiment file has at most 4 MiB");
	free(huge);
}

static void header_lines_stand_above_the_code_and_outside_comments(void **state)
{
	(void)state;
	assert_refused("#: title T\n\n.macro body\n.endm\n#: stack 4\n",
	               "/x/t.s:5: a header line behind code: move it above line 3");
	struct experiment *x =
	        parse("/* #: title no\n#: title no\n*/ # and\n/ a third kind\n  #: title T\n"
	              ".macro body\n.ascii \"/*\"\n.byte '#', '\\''\n# #: stack 3\n.endm\n");
	assert_string_equal(x->title, "T");
	experiment_free(x);
}

static void unknown_and_doubled_keys_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: fctor a x",
	                      "/x/t.s:2: there is no header key 'fctor': did you mean factor? "
	                      "(title source group note abi "
	                      "factor default exclude needs repeat stack align expect evict curve "
	                      "pattern ldt segment report warm)");
	assert_header_refused("#:",
	                      "/x/t.s:2: no key behind '#:' (for documentation: '#: note TEXT')");
	assert_header_refused("#: title U", "/x/t.s:2: title stands twice: line 1 has it too");
	assert_header_refused("#: default abi=i386\n#: default abi=i386",
	                      "/x/t.s:3: default stands twice: line 2 has it too");
	assert_header_refused("#: stack", "/x/t.s:2: stack needs a value: [CONDITION] BYTES");
	assert_header_refused("#: source \x1b[31m",
	                      "/x/t.s:2: a control character (0x1b) in the header");
	assert_refused("#: group G\n.macro body\n",
	               "/x/t.s:1: the header has no title: begin with '#: title WHAT IS MEASURED'");
}

static void bad_factors_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: factor abi x",
	                      "/x/t.s:2: abi is a factor of every file: write '#: abi ABI...'");
	assert_header_refused("#: factor a x\n#: factor a y",
	                      "/x/t.s:3: factor a stands twice: line 2 has it too");
	assert_header_refused("#: factor a x y x", "/x/t.s:2: factor a has the level x twice");
	assert_header_refused(
	        "#: factor a x-y",
	        "/x/t.s:2: 'x-y' cannot be a level: levels are 1 to 63 letters, digits and "
	        "underscores");
	assert_header_refused(
	        "#: factor 1a x",
	        "/x/t.s:2: '1a' cannot be a factor: a letter or underscore, then letters, "
	        "digits and underscores, 63 at most");
	assert_header_refused(
	        "#: factor a all",
	        "/x/t.s:2: a level cannot be named 'all': commands write a=all for every level");
	assert_header_refused(
	        "#: factor a",
	        "/x/t.s:2: factor a has no levels: NAME LEVEL... [| TEXT] or NAME LO..HI [| TEXT]");
	assert_header_refused(
	        "#: factor a | x",
	        "/x/t.s:2: factor a has no levels: NAME LEVEL... [| TEXT] or NAME LO..HI [| "
	        "TEXT]");
	char lines[4096], *end = stpcpy(lines, "#: factor a");
	for (int i = 0; i < 65; i++)
		end += sprintf(end, " l%d", i);
	assert_header_refused(lines, "/x/t.s:2: factor a has more than 64 levels");
	end = lines;
	for (int i = 0; i < 17; i++)
		end += sprintf(end, "#: factor f%d x\n", i);
	assert_header_refused(lines, "/x/t.s:18: more than 16 factors");
}

static void bad_ranges_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: factor a 5..4",
	                      "/x/t.s:2: 5..4 is an empty range: the smaller number comes first");
	assert_header_refused("#: factor a 0..1000000001",
	                      "/x/t.s:2: '0..1000000001' is no range: LO..HI are whole numbers "
	                      "from 0 to 1000000000");
	assert_header_refused("#: factor a 0..99999999999999999999",
	                      "/x/t.s:2: '0..99999999999999999999' is no range: LO..HI are whole "
	                      "numbers from 0 to 1000000000");
	assert_header_refused(
	        "#: factor a -1..3",
	        "/x/t.s:2: '-1..3' is no range: LO..HI are whole numbers from 0 to 1000000000");
	assert_header_refused("#: factor a 1..3 5",
	                      "/x/t.s:2: 1..3: a range stands alone, without other levels");
	assert_header_refused("#: factor a 1..3",
	                      "/x/t.s:2: a is a range and needs a default: '#: default a=1'");
	assert_header_refused("#: factor a 1..3\n#: default a=4",
	                      "/x/t.s:3: a=4 is out of range: 1 to 3");
	assert_header_refused("#: factor a 1..3\n#: default a=x",
	                      "/x/t.s:3: a is a whole number from 1 to 3, not 'x'");
	assert_header_refused("#: factor a 1..3\n#: default a=1\n#: exclude a!=2",
	                      "/x/t.s:4: '!=' is for factors with listed levels; a is a range");
}

static void bad_abis_and_defaults_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: abi i368",
	                      "/x/t.s:2: there is no ABI 'i368': did you mean i386? (i386 x86_64)");
	assert_header_refused("#: abi i386 i386", "/x/t.s:2: abi names i386 twice");
	assert_header_refused("#: abi ,", "/x/t.s:2: abi names no ABI (i386 x86_64)");
	assert_header_refused(
	        "#: factor a one two\n#: default a=onw",
	        "/x/t.s:3: there is no level 'onw' of a: did you mean one? (one two)");
	assert_header_refused("#: factor reg one\n#: default rge=one",
	                      "/x/t.s:3: there is no factor 'rge': did you mean reg? (abi reg)");
	assert_header_refused("#: factor a one\n#: default a",
	                      "/x/t.s:3: 'a' names a factor and no level: write a=LEVEL");
	assert_header_refused("#: factor a one\n#: default one",
	                      "/x/t.s:3: 'one' is not FACTOR=LEVEL: did you mean a=one?");
	assert_header_refused("#: factor a one two\n#: default a=one a=two",
	                      "/x/t.s:3: a stands twice in default");
	assert_header_refused("#: factor a one two\n#: default a=one,one",
	                      "/x/t.s:3: a=one is named twice");
	assert_header_refused("#: factor a one two\n#: default a=one,",
	                      "/x/t.s:3: 'a=one,' leaves a level out: write a=LEVEL,LEVEL");
	assert_header_refused("#: factor a one two\n#: default a!=one",
	                      "/x/t.s:3: '!=' is for conditions: write a=LEVEL,LEVEL");
}

static void bad_conditions_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: factor a x y\n#: exclude | why",
	                      "/x/t.s:3: exclude needs a value: CONDITION [| WHY]");
	assert_header_refused("#: factor a x y\n#: exclude a=x why",
	                      "/x/t.s:3: 'why' is not FACTOR=LEVEL (a reason stands behind '|')");
	assert_header_refused("#: factor a x y\n#: exclude a=x a=y",
	                      "/x/t.s:3: a stands twice in the condition: write a=LEVEL,LEVEL");
	assert_header_refused("#: factor a x y\n#: exclude a=z",
	                      "/x/t.s:3: there is no level 'z' of a (x y)");
	assert_header_refused("#: factor a x y\n#: exclude a!=x,y",
	                      "/x/t.s:3: '!=' leaves no level of a");
}

static void bad_needs_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: factor a x\n#: needs a=x",
	                      "/x/t.s:3: needs names no capability: [CONDITION] CAPABILITY...");
	assert_header_refused("#: factor a x\n#: needs sysentr",
	                      "/x/t.s:3: there is no capability 'sysentr': did you mean sysenter? "
	                      "(i386 x86_64 ldt ldt16 gdt "
	                      "int80 sysenter syscall syscall32 fsgsbase footprint ring0)");
}

static void bad_numbers_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: stack 4097",
	                      "/x/t.s:2: stack is a number of bytes from 0 to 4096, not '4097'");
	assert_header_refused("#: stack -4",
	                      "/x/t.s:2: stack is a number of bytes from 0 to 4096, not '-4'");
	assert_header_refused("#: align 3",
	                      "/x/t.s:2: align is a power of two from 1 to 4096, not '3'");
	assert_header_refused("#: align 0",
	                      "/x/t.s:2: align is a power of two from 1 to 4096, not '0'");
	assert_header_refused("#: align 8192",
	                      "/x/t.s:2: align is a power of two from 1 to 4096, not '8192'");
	assert_header_refused(
	        "#: repeat onec",
	        "/x/t.s:2: repeat is unroll, loop or once, not 'onec': did you mean once?");
	assert_header_refused(
	        "#: repeat loop 0",
	        "/x/t.s:2: a turn of a loop has from 1 to 8192 copies of the body, not '0'");
	assert_header_refused(
	        "#: repeat loop 8193",
	        "/x/t.s:2: a turn of a loop has from 1 to 8192 copies of the body, not '8193'");
	assert_header_refused(
	        "#: repeat loop many",
	        "/x/t.s:2: a turn of a loop has from 1 to 8192 copies of the body, not 'many'");
	assert_header_refused("#: repeat unroll 4",
	                      "/x/t.s:2: repeat unroll: '4' is one word too many");
	assert_header_refused("#: repeat loop 4 4",
	                      "/x/t.s:2: repeat loop: '4' is one word too many");
	assert_header_refused(
	        "#: repeat loop 1024\n#: stack 257",
	        "/x/t.s:3: 257 bytes from each of 1024 copies are more than the 262144 "
	        "that a turn of a loop may leave on the stack");
}

static void bad_expectations_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: expect counter = 3",
	                      "/x/t.s:2: '==' is missing: [CONDITION] FIELD == EXPRESSION");
	assert_header_refused(
	        "#: expect == 3",
	        "/x/t.s:2: one field stands before '==': [CONDITION] FIELD == EXPRESSION");
	assert_header_refused(
	        "#: expect counter result == 3",
	        "/x/t.s:2: one field stands before '==': [CONDITION] FIELD == EXPRESSION");
	assert_header_refused(
	        "#: expect countr == 3",
	        "/x/t.s:2: the environment has no field 'countr': did you mean counter?");
	assert_header_refused(
	        "#: expect counter == reslt",
	        "/x/t.s:2: the environment has no field 'reslt': did you mean result?");
	static const char *const bad[] = {
	        "", "3x", "x*iterations", "3*", "99999999999999999999", "*iterations"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char line[64], message[256];
		snprintf(line, sizeof line, "#: expect counter ==%s", bad[i]);
		snprintf(message, sizeof message,
		         "/x/t.s:2: 'counter ==%s' is no expression: a whole number, iterations, "
		         "NUMBER*iterations "
		         "or a field",
		         bad[i]);
		assert_header_refused(line, message);
	}
}

static void what_is_about_a_pool_needs_one(void **state)
{
	(void)state;
	static const char body[] = ".macro body\nnop\n.endm\n";
	char text[512];
	snprintf(text, sizeof text, "#: title T\n#: repeat once\n#: evict pool flush\n%s", body);
	assert_refused(text, "/x/t.s:3: evict pool: the file has no macro pool");
	snprintf(text, sizeof text, "#: title T\n#: segment code16\n%s", body);
	assert_refused(text, "/x/t.s:2: segment: the file has no macro pool");
	snprintf(text, sizeof text,
	         "#: title T\n#: repeat once\n#: evict pool flush\n#: segment code32\n%s.macro "
	         "pool\nnop\n.endm\n",
	         body);
	struct experiment *x = parse(text);
	assert_int_equal(x->evicts[0].target, EVICT_POOL);
	assert_true(x->evicts[0].flush);
	experiment_free(x);
}

static void iterations_before_a_loop_may_depend_on_levels(void **state)
{
	(void)state;
	struct experiment *x = parse_header("#: factor a x y z\n#: repeat loop\n#: warm a=x 1\n"
	                                    "#: warm 2048\n#: warm a=y,x 1000000\n",
	                                    "a");
	assert_int_equal(x->warm, 2048);
	assert_int_equal(x->warm_count, 2);
	assert_int_equal(x->warms[0].value, 1);
	assert_int_equal(x->warms[1].value, 1000000);
	experiment_free(x);
	assert_header_refused(
	        "#: repeat loop\n#: warm 0",
	        "/x/t.s:3: warm is a number of iterations from 1 to 1000000, not '0'");
	assert_header_refused(
	        "#: repeat loop\n#: warm 1000001",
	        "/x/t.s:3: warm is a number of iterations from 1 to 1000000, not '1000001'");
	assert_header_refused(
	        "#: repeat loop\n#: warm long",
	        "/x/t.s:3: warm is a number of iterations from 1 to 1000000, not 'long'");
	assert_header_refused("#: repeat loop\n#: warm 4\n#: warm 5",
	                      "/x/t.s:4: warm stands twice without a condition");
	assert_header_refused("#: warm 4", "/x/t.s:2: warm goes with '#: repeat loop' alone: other "
	                                   "forms run all code once");
}

/* Of several lines the first counts whose condition holds, and then the one without. */
static void repeating_and_the_stack_may_depend_on_levels(void **state)
{
	(void)state;
	struct experiment *x = parse_header("#: factor a x y z\n#: factor n 1..9\n#: default n=1\n"
	                                    "#: repeat loop\n#: repeat a=x unroll\n"
	                                    "#: repeat a=x,y n=3..5 once\n#: repeat abi=i386 a=y "
	                                    "unroll | why\n"
	                                    "#: stack a=y 8\n#: stack 16\n#: stack a!=x n=9 4096\n",
	                                    "a, n");
	static const struct {
		const char *levels[3];
		enum experiment_repeat repeat;
		uint32_t stack;
	} cases[] = {
	        {{"i386", "x", "1"}, EXPERIMENT_UNROLL, 16},
	        {{"i386", "x", "4"}, EXPERIMENT_UNROLL, 16},
	        {{"i386", "y", "2"}, EXPERIMENT_UNROLL, 8},
	        {{"i386", "y", "5"}, EXPERIMENT_ONCE, 8},
	        {{"x86_64", "y", "2"}, EXPERIMENT_LOOP, 8},
	        {{"x86_64", "y", "9"}, EXPERIMENT_LOOP, 8},
	        {{"x86_64", "z", "3"}, EXPERIMENT_LOOP, 16},
	        {{"x86_64", "z", "9"}, EXPERIMENT_LOOP, 4096},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *const *levels = (char *const *)cases[i].levels;
		assert_int_equal(experiment_repeat_for(x, levels), cases[i].repeat);
		assert_int_equal(experiment_stack_for(x, levels), cases[i].stack);
	}
	experiment_free(x);
	/* where no line holds it is as without any */
	x = parse_header("#: factor a x y\n#: repeat a=x once\n#: stack a=x 4\n", "a");
	char *const y[] = {(char *)"i386", (char *)"y"};
	assert_int_equal(experiment_repeat_for(x, y), EXPERIMENT_UNROLL);
	assert_int_equal(experiment_stack_for(x, y), 0);
	experiment_free(x);
}

static void a_form_of_repeating_stands_once_without_a_condition(void **state)
{
	(void)state;
	assert_header_refused("#: repeat loop\n#: repeat once",
	                      "/x/t.s:3: repeat stands twice without a condition");
	assert_header_refused("#: stack 4\n#: factor a x\n#: stack a=x 4\n#: stack 8",
	                      "/x/t.s:5: stack stands twice without a condition");
	assert_header_refused("#: factor a x\n#: repeat a=x",
	                      "/x/t.s:3: repeat is unroll, loop or once, not ''");
	assert_header_refused("#: factor a x\n#: repeat a=y loop",
	                      "/x/t.s:3: there is no level 'y' of a (x)");
	assert_header_refused("#: factor a x\n#: stack a=x",
	                      "/x/t.s:3: stack is a number of bytes from 0 to 4096, not 'a=x'");
}

/* One line that repeats once is enough. */
static void evictions_go_with_single_shots_of_any_level(void **state)
{
	(void)state;
	struct experiment *x =
	        parse_header("#: factor a x y\n#: repeat a=y once\n#: evict a=y code flush\n", "a");
	assert_int_equal(x->evict_count, 1);
	experiment_free(x);
}

static void a_pattern_names_two_factors(void **state)
{
	(void)state;
	struct experiment *x =
	        parse_header("#: factor order random blocks\n#: factor share 0 25 100\n"
	                     "#: pattern share order | for people\n",
	                     "order, share");
	assert_int_equal(x->pattern_share, 2);
	assert_int_equal(x->pattern_kind, 1);
	experiment_free(x);
	x = parse_header("#: factor share 0..100\n#: default share=50\n#: factor order short\n"
	                 "#: pattern share order\n",
	                 "share, order");
	assert_int_equal(x->pattern_share, 1);
	assert_int_equal(x->pattern_kind, 2);
	experiment_free(x);
	x = parse_header("", "");
	assert_int_equal(x->pattern_share, -1);
	assert_int_equal(x->pattern_kind, -1);
	experiment_free(x);
}

static void descriptors_and_segments_are_asked_for_by_level(void **state)
{
	(void)state;
	struct experiment *x =
	        parse("#: title T\n#: factor n 1 2\n#: ldt n=1 data 8192\n#: ldt code 256\n"
	              "#: segment n=1 code16\n#: segment n=2 abi=i386 code32 | why\n"
	              ".macro pool n\n.endm\n.macro body n\n.endm\n");
	assert_int_equal(x->ldt_count, 2);
	assert_int_equal(x->ldts[0].value, 0);
	assert_int_equal(x->ldts[0].count, 8192);
	assert_int_equal(x->ldts[0].when.term_count, 1);
	assert_int_equal(x->ldts[1].value, 1);
	assert_int_equal(x->ldts[1].count, 256);
	assert_int_equal(x->ldts[1].when.term_count, 0);
	assert_int_equal(x->segment_count, 2);
	assert_int_equal(x->segments[0].value, 16);
	assert_int_equal(x->segments[1].value, 32);
	char *const levels[][2] = {{(char *)"x86_64", (char *)"1"},
	                           {(char *)"x86_64", (char *)"2"},
	                           {(char *)"i386", (char *)"2"}};
	assert_ptr_equal(experiment_setting_for(x, x->segments, 2, levels[0]), &x->segments[0]);
	assert_null(experiment_setting_for(x, x->segments, 2, levels[1]));
	assert_ptr_equal(experiment_setting_for(x, x->segments, 2, levels[2]), &x->segments[1]);
	experiment_free(x);
}

static void a_report_is_a_number_and_a_unit(void **state)
{
	(void)state;
	struct experiment *x = parse_header("#: report 100000000 seconds\n", "");
	assert_int_equal(x->report_count, 100000000);
	assert_true(x->report_seconds);
	experiment_free(x);
	x = parse_header("#: report 256 cycles | a whole pool\n", "");
	assert_int_equal(x->report_count, 256);
	assert_false(x->report_seconds);
	experiment_free(x);
	x = parse_header("", "");
	assert_int_equal(x->report_count, 0);
	experiment_free(x);
}

static void bad_requests_for_services_are_refused(void **state)
{
	static const char ldt[] = "ldt is data and a number of descriptors from 1 to 8192, or code "
	                          "and one from 1 to 256";
	static const char segment[] = "segment is code16 or code32";
	static const char report[] =
	        "report is a number from 1 to 1000000000, and cycles or seconds";
	static const struct {
		const char *lines, *message;
	} bad[] = {
	        {"#: pattern a", "pattern names two factors: that of the share, that of the kind"},
	        {"#: pattern a k a",
	         "pattern names two factors: that of the share, that of the kind"},
	        {"#: pattern a b", "there is no factor 'b' (abi a k w r)"},
	        {"#: pattern a=0 k", "pattern is the name of one factor, not 'a=0'"},
	        {"#: pattern w k", "a share is 0 to 100 percent, and w has the level 101"},
	        {"#: pattern k k", "a share is 0 to 100 percent, and k has the level random"},
	        {"#: pattern r k", "a share is 0 to 100 percent, and r goes to 101"},
	        {"#: pattern a w", "a pattern is random, short or blocks, and w has the level 101"},
	        {"#: pattern a r", "a pattern is random, short or blocks: r is a range"},
	        {"#: ldt data 8193", ldt},
	        {"#: ldt data 0", ldt},
	        {"#: ldt data -1", ldt},
	        {"#: ldt data many", ldt},
	        {"#: ldt data", ldt},
	        {"#: ldt 16", ldt},
	        {"#: ldt code 257", ldt},
	        {"#: ldt stack 16", ldt},
	        {"#: ldt data 16 16", ldt},
	        {"#: ldt a=7 data 16", "there is no level '7' of a (0)"},
	        {"#: segment code64", segment},
	        {"#: segment code16 code32", segment},
	        {"#: segment a=0", segment},
	        {"#: report seconds", report},
	        {"#: report 0 cycles", report},
	        {"#: report 1000000001 cycles", report},
	        {"#: report 100 ticks", report},
	        {"#: report 100 cycles seconds", report},
	        {"#: report a=0 100 cycles", report},
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char lines[512], message[256];
		snprintf(lines, sizeof lines,
		         "#: factor a 0\n#: factor k random\n#: factor w 101\n#: factor r 0..101\n"
		         "#: default r=0\n%s",
		         bad[i].lines);
		snprintf(message, sizeof message, "/x/t.s:7: %s", bad[i].message);
		assert_header_refused(lines, message);
	}
	assert_header_refused("#: report 1 cycles\n#: report 1 cycles",
	                      "/x/t.s:3: report stands twice: line 2 has it too");
	assert_header_refused("#: factor a 0\n#: factor k short\n#: pattern a k\n#: pattern a k",
	                      "/x/t.s:5: pattern stands twice: line 4 has it too");
}

static void bad_evictions_are_refused(void **state)
{
	(void)state;
	assert_header_refused("#: evict code flush", "/x/t.s:2: evict goes with '#: repeat once' "
	                                             "alone: between iterations it would be timed");
	static const struct {
		const char *line, *message;
	} bad[] = {
	        {"all flush", "evict all goes by walk alone: there is no address to flush"},
	        {"code", "evict is [CONDITION] code|pool|buffer|all flush|walk [SIZE]"},
	        {"cod flush", "evict is [CONDITION] code|pool|buffer|all flush|walk [SIZE]"},
	        {"code burn", "evict code is done by flush or walk, not by 'burn'"},
	        {"code flush 64K", "evict code flush takes no size"},
	        {"code walk",
	         "evict code walk needs a size: a multiple of 64 bytes up to 1024M, such as 64K"},
	        {"code walk 65",
	         "evict code walk needs a size: a multiple of 64 bytes up to 1024M, such as 64K"},
	        {"all walk 1025M",
	         "evict all walk needs a size: a multiple of 64 bytes up to 1024M, such as 64K"},
	        {"all walk 0",
	         "evict all walk needs a size: a multiple of 64 bytes up to 1024M, such as 64K"},
	        {"all walk K",
	         "evict all walk needs a size: a multiple of 64 bytes up to 1024M, such as 64K"},
	        {"pool walk 64K", "evict pool goes by flush alone: a walk pushes out all code"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char line[128], message[256];
		snprintf(line, sizeof line, "#: repeat once\n#: evict %s", bad[i].line);
		snprintf(message, sizeof message, "/x/t.s:3: %s", bad[i].message);
		assert_header_refused(line, message);
	}
}

static void a_curve_is_against_a_factor_of_numbers(void **state)
{
	(void)state;
	struct experiment *x = parse_header("#: curve n | for people\n#: factor reg fs gs\n"
	                                    "#: factor n 1..8192\n#: default n=1\n",
	                                    "reg, n");
	assert_int_equal(x->curve, 2);
	assert_int_equal(x->curve_bytes, 0);
	assert_int_equal(x->curve_scale, -1);
	experiment_free(x);
	x = parse_header("#: curve n 8 stride | for people\n#: factor stride 1 64\n"
	                 "#: factor n 1..8192\n#: default n=1\n",
	                 "stride, n");
	assert_int_equal(x->curve, 2);
	assert_int_equal(x->curve_bytes, 8);
	assert_int_equal(x->curve_scale, 1);
	experiment_free(x);
	x = parse_header("#: factor n 1 2\n#: curve n 1048576\n", "n");
	assert_int_equal(x->curve_bytes, 1048576);
	assert_int_equal(x->curve_scale, -1);
	experiment_free(x);
	x = parse_header("#: factor n 0 1 32 8192\n#: curve n\n", "n");
	assert_int_equal(x->curve, 1);
	experiment_free(x);
	x = parse_header("#: factor n 0 1 32 8192\n", "n");
	assert_int_equal(x->curve, -1);
	experiment_free(x);
}

static void curves_against_anything_else_are_refused(void **state)
{
	static const struct {
		const char *lines, *message;
	} bad[] = {
	        {"#: factor a 1 2\n#: curve", "3: curve needs a value: FACTOR [BYTES [FACTOR]]"},
	        {"#: factor a 1 2\n#: curve a a", "3: curve is the name of one factor, not 'a a'"},
	        {"#: factor a 1 2\n#: curve a=1", "3: curve is the name of one factor, not 'a=1'"},
	        {"#: factor a 1 2\n#: curve b", "3: there is no factor 'b' (abi a)"},
	        {"#: factor a 1 2\n#: curve abi",
	         "3: curve needs numbers to draw against, and abi has the level x86_64"},
	        {"#: factor a 1 2 two\n#: curve a",
	         "3: curve needs numbers to draw against, and a has the level two"},
	        {"#: factor a 1 2\n#: curve a\n#: curve a",
	         "4: curve stands twice: line 3 has it too"},
	        {"#: factor a 1 2\n#: curve a 0", "3: curve is a factor, how many bytes one of its "
	                                          "number takes (1 to 1048576), and a "
	                                          "factor that they are multiplied by, not 'a 0'"},
	        {"#: factor a 1 2\n#: curve a 1048577",
	         "3: curve is a factor, how many bytes one of its number takes (1 to 1048576), and "
	         "a "
	         "factor that they are multiplied by, not 'a 1048577'"},
	        {"#: factor a 1 2\n#: curve a 8 a a",
	         "3: curve is a factor, how many bytes one of its number takes (1 to 1048576), and "
	         "a "
	         "factor that they are multiplied by, not 'a 8 a a'"},
	        {"#: factor a 1 2\n#: curve a 8 a", "3: curve: a cannot be multiplied by itself"},
	        {"#: factor a 1 2\n#: curve a 8 b", "3: there is no factor 'b' (abi a)"},
	        {"#: factor a 1 2\n#: curve a 8 abi",
	         "3: curve needs numbers to multiply by, and abi has the level x86_64"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char message[256];
		snprintf(message, sizeof message, "/x/t.s:%s", bad[i].message);
		assert_header_refused(bad[i].lines, message);
	}
}

static void macros_must_fit_the_factors(void **state)
{
	(void)state;
	assert_refused("#: title T\n# .macro body\n/*\n.macro body\n*/\n",
	               "/x/t.s:5: there is no macro named body: '.macro body' ... '.endm' is one "
	               "iteration");
	assert_refused("#: title T\n#: factor reg fs\n#: factor use x\n.macro body reg\n.endm\n",
	               "/x/t.s:4: macro body takes 1 arguments (reg), but there are 2 factors "
	               "(reg, use): each is one "
	               "argument, abi is none");
	assert_refused("#: title T\n.macro body\n.endm\n.macro setup a, b\n.endm\n",
	               "/x/t.s:4: macro setup takes 2 arguments (a, b), but there are 0 factors "
	               "(): each is one argument, "
	               "abi is none");
	assert_refused(
	        "#: title T\n#: factor reg fs\n#: factor use x\n.macro body use, reg\n.endm\n",
	        "/x/t.s:4: macro body takes (use, reg), but levels are passed in the order of the "
	        "factors, (reg, "
	        "use): parameter 1 gets a level of reg");
	struct experiment *x =
	        parse("#: title T\n#: factor reg fs\n#: factor use x\n"
	              ".MACRO Body reg:req, other=\"a b, c\" # comment\n.endm\n"
	              ".macro baseline reg use\n.endm\n.macro pool (reg,use)\n.endm\n"
	              "\t.macro\tteardown reg = 3 , use:vararg\n.endm\n.macro bodyguard\n.endm\n");
	assert_true(x->has_macro_baseline);
	assert_true(x->has_macro_pool);
	assert_true(x->has_macro_teardown);
	assert_false(x->has_macro_setup);
	experiment_free(x);
}

static void a_level_is_mentioned_only_by_code(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	assert_true(experiment_level_mentioned(x, "fs"));
	assert_false(experiment_level_mentioned(x, "gs"));   /* in a comment */
	assert_false(experiment_level_mentioned(x, "tls"));  /* in the header */
	assert_true(experiment_level_mentioned(x, "both"));  /* in a string */
	assert_false(experiment_level_mentioned(x, "oute")); /* a part of a word */
	experiment_free(x);
}

/* Selects and expands; the caller frees both. */
static void expand(const struct experiment *x, const char *const *words, size_t n,
                   struct experiment_selection *s, struct experiment_variants *v)
{
	struct error err;
	if (experiment_select(x, words, n, s, &err) || experiment_expand(x, s, v, &err))
		fail_msg("%s", err.text);
}

static void assert_select_refused(const struct experiment *x, const char *const *words, size_t n,
                                  const char *message)
{
	struct error err = {0};
	struct experiment_selection s;
	struct experiment_variants v;
	int rc = experiment_select(x, words, n, &s, &err);
	if (!rc) {
		rc = experiment_expand(x, &s, &v, &err);
		if (!rc)
			experiment_variants_free(&v);
		experiment_selection_free(x, &s);
	}
	assert_int_equal(rc, ERROR_INPUT);
	assert_string_equal(err.text, message);
}
#define WORDS(...)                                                                                 \
	((const char *const[]){__VA_ARGS__}),                                                      \
	        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void variants_come_in_order_and_without_excluded_ones(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	struct experiment_selection s;
	struct experiment_variants v;
	expand(x, WORDS("abi=x86_64,i386", "reg=es,fs", "outer=tls,null", "use=all"), &s, &v);
	experiment_selection_free(x, &s); /* variants own their strings */
	static const char *const expected[] = {
	        "abi=x86_64 reg=fs outer=tls use=none", "abi=x86_64 reg=fs outer=tls use=inner",
	        "abi=x86_64 reg=fs outer=tls use=both", "abi=x86_64 reg=fs outer=null use=none",
	        "abi=i386 reg=es outer=tls use=none",   "abi=i386 reg=es outer=tls use=inner",
	        "abi=i386 reg=es outer=tls use=both",   "abi=i386 reg=es outer=null use=none",
	        "abi=i386 reg=fs outer=tls use=none",   "abi=i386 reg=fs outer=tls use=inner",
	        "abi=i386 reg=fs outer=tls use=both",   "abi=i386 reg=fs outer=null use=none",
	};
	assert_int_equal(v.count, 12);
	assert_int_equal(v.excluded, 12);
	for (size_t i = 0; i < v.count; i++) {
		char *label = experiment_variant_label(x, &v, i);
		assert_string_equal(label, expected[i]);
		free(label);
	}
	assert_int_equal(v.items[0].abi, EXPERIMENT_X86_64);
	assert_int_equal(v.items[4].abi, EXPERIMENT_I386);
	experiment_variants_free(&v);
	experiment_free(x);
}

static void labels_name_what_varies_or_everything(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	struct experiment_selection s;
	struct experiment_variants v;
	expand(x, NULL, 0, &s, &v);
	assert_int_equal(v.count, 2);
	assert_false(s.named[1]);
	char *label = experiment_variant_label(x, &v, 1);
	assert_string_equal(label, "reg=gs");
	free(label);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	expand(x, WORDS("reg=gs"), &s, &v);
	assert_true(s.named[1]);
	label = experiment_variant_label(x, &v, 0);
	assert_string_equal(label, "abi=i386 reg=gs outer=data use=none");
	free(label);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	experiment_free(x);
}

static void mistyped_words_offer_the_nearest(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	assert_select_refused(
	        x, WORDS("reg=fss"),
	        "segreg has no level 'fss' of reg: did you mean fs? (none fs gs es ds)");
	assert_select_refused(x, WORDS("reg=zzzzzzz"),
	                      "segreg has no level 'zzzzzzz' of reg (none fs gs es ds)");
	assert_select_refused(x, WORDS("rge=fs"),
	                      "segreg has no factor 'rge': did you mean reg? (abi reg outer use)");
	assert_select_refused(
	        x, WORDS("abi=i368"),
	        "segreg has no level 'i368' of abi: did you mean i386? (i386 x86_64)");
	assert_select_refused(x, WORDS("fs"),
	                      "segreg: 'fs' is not FACTOR=LEVEL: did you mean reg=fs?");
	assert_select_refused(x, WORDS("reg"),
	                      "segreg: 'reg' names a factor and no level: write reg=LEVEL");
	assert_select_refused(x, WORDS("foo"), "segreg: 'foo' is not FACTOR=LEVEL");
	assert_select_refused(x, WORDS("reg=fs", "reg=gs"),
	                      "segreg: reg is named twice: write reg=LEVEL,LEVEL");
	assert_select_refused(x, WORDS("reg=fs,fs"), "segreg: reg=fs is named twice");
	assert_select_refused(x, WORDS("reg="),
	                      "segreg: 'reg=' leaves a level out: write reg=LEVEL,LEVEL");
	assert_select_refused(x, WORDS("reg=fs,,gs"),
	                      "segreg: 'reg=fs,,gs' leaves a level out: write reg=LEVEL,LEVEL");
	assert_select_refused(
	        x, WORDS("reg!=fs"),
	        "segreg: '!=' is for conditions in files: name the levels, reg=LEVEL,LEVEL");
	experiment_free(x);
}

static void a_named_level_that_no_variant_has_is_refused_with_the_rule(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	assert_select_refused(
	        x, WORDS("abi=x86_64", "reg=fs,es"),
	        "reg=es does not exist with abi=x86_64 (segreg.s:12: x86_64 has no push of %es)");
	assert_select_refused(x, WORDS("outer=null,data", "use=both,inner"),
	                      "outer=null does not exist with use=both,inner (segreg.s:13: a null "
	                      "selector cannot be used)");
	assert_select_refused(
	        x, WORDS("abi=x86_64", "reg=es"),
	        "reg=es does not exist with abi=x86_64 (segreg.s:12: x86_64 has no push of %es)");
	assert_select_refused(
	        x, WORDS("abi=x86_64,i386", "reg=es"),
	        "abi=x86_64 does not exist with reg=es (segreg.s:12: x86_64 has no push of %es)");
	/* a level that some variants have is enough */
	struct experiment_selection s;
	struct experiment_variants v;
	expand(x, WORDS("abi=x86_64,i386", "reg=es,fs"), &s, &v);
	assert_int_equal(v.count, 3);
	assert_int_equal(v.excluded, 1);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	/* "all" means all that exist */
	expand(x, WORDS("abi=x86_64", "reg=all"), &s, &v);
	assert_int_equal(v.count, 3);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	experiment_free(x);
	x = parse_header("#: factor a x y\n#: factor b p q\n#: exclude a=x\n", "a, b");
	assert_select_refused(
	        x, NULL, 0,
	        "no variant is left of this selection: a=x does not exist (segreg.s:4)");
	assert_select_refused(
	        x, WORDS("b=q"),
	        "no variant is left of this selection: a=x does not exist (segreg.s:4)");
	assert_select_refused(x, WORDS("a=y,x"), "a=x does not exist (segreg.s:4)");
	experiment_free(x);
}

static void ranges_take_numbers_and_steps(void **state)
{
	(void)state;
	struct experiment *x = parse_header(
	        "#: factor n 1..1000\n#: default n=5,10..30/10\n#: exclude n=3..4,20 | odd\n", "n");
	struct experiment_selection s;
	struct experiment_variants v;
	expand(x, NULL, 0, &s, &v);
	assert_int_equal(v.count, 3);
	assert_string_equal(v.items[0].levels[1], "5");
	assert_string_equal(v.items[2].levels[1], "30");
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	/* 010 is ten, and not what the assembler would make of it */
	expand(x, WORDS("n=1..2,010,100..120/9"), &s, &v);
	assert_int_equal(v.count, 6);
	assert_string_equal(v.items[2].levels[1], "10");
	assert_string_equal(v.items[5].levels[1], "118");
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	expand(x, WORDS("n=all"), &s, &v);
	assert_int_equal(v.count, 997);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	assert_select_refused(x, WORDS("n=3"), "n=3 does not exist (segreg.s:4: odd)");
	assert_select_refused(x, WORDS("n=0"), "segreg: n=0 is out of range: 1 to 1000");
	assert_select_refused(x, WORDS("n=900..1001"),
	                      "segreg: n=900..1001 is out of range: 1 to 1000");
	assert_select_refused(
	        x, WORDS("n=99999999999999999999"),
	        "segreg: n is a whole number from 1 to 1000, not '99999999999999999999'");
	assert_select_refused(x, WORDS("n=x"),
	                      "segreg: n is a whole number from 1 to 1000, not 'x'");
	assert_select_refused(x, WORDS("n=9..5"),
	                      "segreg: n=9..5 is an empty range: the smaller number comes first");
	assert_select_refused(x, WORDS("n=1..9/0"),
	                      "segreg: '1..9/0' has no step: LO..HI/STEP, STEP from 1");
	assert_select_refused(x, WORDS("n=5/2"), "segreg: '5/2' is no range: LO..HI/STEP");
	assert_select_refused(x, WORDS("n=1..9,5"), "segreg: n=5 is named twice");
	experiment_free(x);
}

static void too_many_variants_are_refused(void **state)
{
	(void)state;
	struct experiment *x = parse_header(
	        "#: factor n 1..1000000\n#: factor m 1..1000000\n#: default n=1 m=1\n", "n, m");
	assert_select_refused(
	        x, WORDS("n=all"),
	        "segreg: more than 20000 levels of n: write LO..HI/STEP with a larger step");
	assert_select_refused(
	        x, WORDS("n=1..200", "m=1..101"),
	        "segreg: the selection has more than 20000 variants: name fewer levels");
	assert_select_refused(x, WORDS("n=1..20000", "m=1..20000"),
	                      "segreg: the selection has more than 2000000 combinations; a run has "
	                      "at most 20000 variants");
	struct experiment_selection s;
	struct experiment_variants v;
	expand(x, WORDS("n=1..200", "m=1..100"), &s, &v);
	assert_int_equal(v.count, 20000);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	experiment_free(x);
}

static void each_variant_has_the_base_that_differs_in_what_is_named(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	struct experiment_selection s;
	struct experiment_variants v;
	struct error err;
	long base[16];
	/* none: tls; both: only data and tls; so outer=null has no use=both */
	expand(x, WORDS("reg=fs", "outer=null,data,tls", "use=none,both"), &s, &v);
	assert_int_equal(v.count, 5);
	assert_int_equal(experiment_bases(x, &v, NULL, 0, base, &err), 0);
	for (size_t i = 0; i < v.count; i++)
		assert_int_equal(base[i], -1);
	assert_int_equal(experiment_bases(x, &v, WORDS("outer=null"), base, &err), 0);
	static const long against_null[] = {0, 0, -1, 0, -1};
	for (size_t i = 0; i < v.count; i++)
		assert_int_equal(base[i], against_null[i]);
	/* everything that varies is named: one base for all */
	assert_int_equal(experiment_bases(x, &v, WORDS("use=both", "outer=tls"), base, &err), 0);
	for (size_t i = 0; i < v.count; i++)
		assert_int_equal(base[i], 4);
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	experiment_free(x);
}

static void a_base_that_is_not_there_is_refused(void **state)
{
	(void)state;
	struct experiment *x = parse(segreg);
	struct experiment_selection s;
	struct experiment_variants v;
	static const struct {
		const char *word, *message;
	} bad[] = {
	        {"outer=tls", "segreg: no variant of this selection has outer=tls, so it cannot be "
	                      "the base: select it too"},
	        {"outer=data", "segreg: every variant of this selection has outer=data, so none "
	                       "differs from the base in it"},
	        {"outer=dta",
	         "segreg has no level 'dta' of outer: did you mean data? (null data tls)"},
	        {"reg=fs,gs", "segreg: a base has one level of reg, not 'reg=fs,gs'"},
	        {"regg=fs", "segreg has no factor 'regg': did you mean reg? (abi reg outer use)"},
	};
	expand(x, NULL, 0, &s, &v);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct error err = {0};
		long base[2];
		assert_int_equal(experiment_bases(x, &v, &bad[i].word, 1, base, &err), ERROR_INPUT);
		assert_string_equal(err.text, bad[i].message);
	}
	experiment_variants_free(&v);
	experiment_selection_free(x, &s);
	experiment_free(x);
}

/* Files. */

static char directory[] = "/tmp/experiment-test-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	setenv("ENTRYLAB_EXPERIMENTS", directory, 1);
	setenv("XDG_CONFIG_HOME", directory, 1);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", directory);
	return system(command);
}

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

static void assert_read_refused(const char *path, const char *message)
{
	struct error err = {0};
	struct experiment *x;
	char expected[512];
	snprintf(expected, sizeof expected, "%s: %s", path, message);
	assert_int_equal(experiment_read(path, &x, &err), ERROR_INPUT);
	assert_null(x);
	assert_string_equal(err.text, expected);
}

static void files_that_are_none_are_refused(void **state)
{
	(void)state;
	assert_read_refused(in_directory("missing.s"), "cannot open: No such file or directory");
	assert_read_refused(directory, "this is a directory; an experiment is a file in it");
	assert_int_equal(mkfifo(in_directory("pipe"), 0600), 0);
	assert_read_refused(in_directory("pipe"), "this is no regular file");
	write_file("huge", "");
	assert_int_equal(truncate(in_directory("huge"), (4 << 20) + 1), 0);
	assert_read_refused(in_directory("huge"),
	                    "4194305 bytes; an experiment file has at most 4 MiB");
	write_file("empty", "");
	struct error err;
	struct experiment *x;
	char expected[512];
	snprintf(expected, sizeof expected, "%s:1: the file is empty", in_directory("empty"));
	assert_int_equal(experiment_read(in_directory("empty"), &x, &err), ERROR_INPUT);
	assert_string_equal(err.text, expected);
	unlink(in_directory("pipe"));
	unlink(in_directory("huge"));
	unlink(in_directory("empty"));
}

static void experiments_are_found_by_name_and_by_path(void **state)
{
	(void)state;
	struct error err;
	struct experiment *x;
	write_file("segreg.s", segreg);
	assert_int_equal(experiment_find("segreg", &x, &err), 0);
	assert_string_equal(x->name, "segreg");
	assert_string_equal(x->path, in_directory("segreg.s"));
	experiment_free(x);
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(experiment_find("./segreg.s", &x, &err), 0);
	assert_string_equal(x->path, in_directory("segreg.s"));
	experiment_free(x);
	assert_int_equal(experiment_find("segreg.s", &x, &err), 0);
	experiment_free(x);
	assert_int_equal(experiment_find("segrge", &x, &err), ERROR_INPUT);
	assert_string_equal(
	        err.text,
	        "there is no experiment 'segrge': did you mean segreg? (`list` shows all)");
	assert_int_equal(experiment_find("", &x, &err), ERROR_INPUT);
	unlink(in_directory("segreg.s"));
}

static void the_first_directory_wins_and_broken_files_are_told(void **state)
{
	(void)state;
	struct error err;
	struct experiment_list list;
	char paths[128], message[512];
	assert_int_equal(mkdir(in_directory("entrylab"), 0700), 0);
	assert_int_equal(mkdir(in_directory("entrylab/experiments"), 0700), 0);
	snprintf(paths, sizeof paths, "%s:/no/such/place", directory);
	setenv("ENTRYLAB_EXPERIMENTS", paths, 1);
	write_file("zz.s", "#: title first\n.macro body\n.endm\n");
	write_file("bad.s", "#: title bad\n");
	write_file("other.txt", "");
	write_file("entrylab/experiments/zz.s", "#: title second\n.macro body\n.endm\n");
	write_file("entrylab/experiments/aa.s", "#: title own\n.macro body\n.endm\n");
	write_file("entrylab/experiments/bad.s",
	           "#: title hidden by the broken one\n.macro body\n.endm\n");
	assert_int_equal(experiment_list(&list, &err), 0);
	size_t seen = 0;
	for (size_t i = 0; i < list.count; i++) {
		assert_string_not_equal(list.items[i]->name, "bad");
		if (i)
			assert_true(strcmp(list.items[i - 1]->name, list.items[i]->name) < 0);
		if (!strcmp(list.items[i]->name, "zz"))
			seen += !strcmp(list.items[i]->title, "first");
		if (!strcmp(list.items[i]->name, "aa"))
			seen += !strcmp(list.items[i]->title, "own");
	}
	assert_int_equal(seen, 2);
	assert_int_equal(list.broken_count, 1);
	snprintf(message, sizeof message,
	         "%s:1: there is no macro named body: '.macro body' ... '.endm' is one iteration",
	         in_directory("bad.s"));
	assert_string_equal(list.broken[0].path, in_directory("bad.s"));
	assert_string_equal(list.broken[0].message, message);
	experiment_list_free(&list);
}

/* The manual. */

/* The section of the manual's source with this title, line ends made blanks. The caller frees it.
 */
static char *manual_section(const char *title)
{
	static char text[1 << 18];
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
	return strndup(at, (size_t)(end - at));
}

/* The entry stands in *at, which goes on behind it: entries come in the table's order. */
static void assert_entry(const char **at, const char *entry)
{
	const char *found = strstr(*at, entry);
	if (!found)
		fail_msg("not in %s, or not in the table's order: %s", MANUAL, entry);
	*at = found;
}

/* How many list entries with this macro a section has. */
static size_t count_entries(const char *section, const char *macro)
{
	size_t n = 0;
	for (const char *p = section; (p = strstr(p, macro)); p++)
		n++;
	return n;
}

static void the_manual_lists_the_header_keys_of_the_table(void **state)
{
	(void)state;
	char *section = manual_section("HEADER KEYS"), entry[512];
	const char *at = section;
	for (size_t i = 0; i < experiment_key_count; i++) {
		snprintf(entry, sizeof entry, " .It Cm %s Ar \"%s\" %s", experiment_keys[i].name,
		         experiment_keys[i].form, experiment_keys[i].help);
		assert_entry(&at, entry);
	}
	free(section);
}

static void the_manual_says_which_keys_may_stand_again(void **state)
{
	(void)state;
	char *section = manual_section("HEADER KEYS"), sentence[512] = "The keys ";
	size_t again = 0, seen = 0;
	for (size_t i = 0; i < experiment_key_count; i++)
		again += experiment_keys[i].repeats;
	for (size_t i = 0; i < experiment_key_count; i++) {
		if (!experiment_keys[i].repeats)
			continue;
		seen++;
		strcat(sentence, experiment_keys[i].name);
		strcat(sentence, seen == again ? "" : seen == again - 1 ? " and " : ", ");
	}
	strcat(sentence, " may stand any number of times, the others once.");
	const char *at = section;
	assert_entry(&at, sentence);
	free(section);
}

static void the_manual_lists_the_fields_of_the_environment(void **state)
{
	(void)state;
	char *section = manual_section("FIELDS"), entry[512];
	const char *at = section;
	for (size_t i = 0; i < environment_field_count; i++) {
		snprintf(entry, sizeof entry, " .It Va %s %s", environment_fields[i].name,
		         environment_fields[i].help);
		assert_entry(&at, entry);
	}
	assert_int_equal(count_entries(section, " .It Va "), environment_field_count);
	free(section);
}

static void the_manual_lists_the_capabilities(void **state)
{
	(void)state;
	char *section = manual_section("CAPABILITIES"), entry[512];
	const char *at = section;
	for (size_t i = 0; i < HOST_CAPABILITIES; i++) {
		snprintf(entry, sizeof entry, " .It Li %s %s", host_capabilities[i].name,
		         host_capabilities[i].what);
		assert_entry(&at, entry);
	}
	assert_int_equal(count_entries(section, " .It Li "), HOST_CAPABILITIES);
	free(section);
}

/* One line of the manual's source as it is shown. */
static void show_line(char *line)
{
	char *to = line;
	for (const char *c = line; *c; c++) {
		if (c[0] == '\\' && (c[1] == 'e' || c[1] == '&')) {
			if (c[1] == 'e')
				*to++ = '\\';
			c++;
		} else {
			*to++ = *c;
		}
	}
	*to = '\0';
}

/* Every level of every factor, in both ABIs, is assembled: nothing is measured. */
static void assert_builds(const char *text)
{
	struct error err;
	struct experiment *x;
	struct experiment_selection selection;
	struct experiment_variants v;
	char words[16][80];
	const char *all[16];
	if (experiment_parse("t", "/x/t.s", text, strlen(text), &x, &err))
		fail_msg("%s\n%s", err.text, text);
	for (size_t f = 0; f < x->factor_count; f++) {
		snprintf(words[f], sizeof words[f], "%s=all", x->factors[f].name);
		all[f] = words[f];
	}
	if (experiment_select(x, all, x->factor_count, &selection, &err) ||
	    experiment_expand(x, &selection, &v, &err))
		fail_msg("%s\n%s", err.text, text);
	assert_true(v.count > 1);
	for (size_t i = 0; i < v.count; i++) {
		struct program p;
		struct program_item item = {x, v.items[i].levels};
		if (program_build(v.items[i].abi, &item, 1, NULL, &p, &err))
			fail_msg("%s\n%s", err.text, text);
		program_free(&p);
	}
	experiment_variants_free(&v);
	experiment_selection_free(x, &selection);
	experiment_free(x);
}

static void the_manuals_examples_can_be_built(void **state)
{
	(void)state;
	FILE *f = fopen(MANUAL, "re");
	char line[512], text[4096] = "";
	bool within = false;
	size_t built = 0;
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (!strncmp(line, ".Bd -literal", 12)) {
			within = true;
			text[0] = '\0';
		} else if (within && !strncmp(line, ".Ed", 3)) {
			within = false;
			if (!strncmp(text, "#: title", 8)) {
				assert_builds(text);
				built++;
			}
		} else if (within && strlen(text) + strlen(line) < sizeof text) {
			show_line(line);
			strcat(text, line);
		}
	}
	fclose(f);
	assert_int_equal(built, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_complete_header_is_read),
	        cmocka_unit_test(rules_are_read_with_their_conditions),
	        cmocka_unit_test(expectations_are_read),
	        cmocka_unit_test(evictions_are_read),
	        cmocka_unit_test(a_short_file_gets_the_defaults),
	        cmocka_unit_test(line_ends_of_other_systems_are_accepted),
	        cmocka_unit_test(a_very_long_line_is_accepted),
	        cmocka_unit_test(what_is_no_text_is_refused),
	        cmocka_unit_test(header_lines_stand_above_the_code_and_outside_comments),
	        cmocka_unit_test(unknown_and_doubled_keys_are_refused),
	        cmocka_unit_test(bad_factors_are_refused),
	        cmocka_unit_test(bad_ranges_are_refused),
	        cmocka_unit_test(bad_abis_and_defaults_are_refused),
	        cmocka_unit_test(bad_conditions_are_refused),
	        cmocka_unit_test(bad_needs_are_refused),
	        cmocka_unit_test(bad_numbers_are_refused),
	        cmocka_unit_test(bad_expectations_are_refused),
	        cmocka_unit_test(repeating_and_the_stack_may_depend_on_levels),
	        cmocka_unit_test(a_form_of_repeating_stands_once_without_a_condition),
	        cmocka_unit_test(evictions_go_with_single_shots_of_any_level),
	        cmocka_unit_test(a_pattern_names_two_factors),
	        cmocka_unit_test(descriptors_and_segments_are_asked_for_by_level),
	        cmocka_unit_test(a_report_is_a_number_and_a_unit),
	        cmocka_unit_test(bad_requests_for_services_are_refused),
	        cmocka_unit_test(bad_evictions_are_refused),
	        cmocka_unit_test(what_is_about_a_pool_needs_one),
	        cmocka_unit_test(iterations_before_a_loop_may_depend_on_levels),
	        cmocka_unit_test(a_curve_is_against_a_factor_of_numbers),
	        cmocka_unit_test(curves_against_anything_else_are_refused),
	        cmocka_unit_test(macros_must_fit_the_factors),
	        cmocka_unit_test(a_level_is_mentioned_only_by_code),
	        cmocka_unit_test(variants_come_in_order_and_without_excluded_ones),
	        cmocka_unit_test(labels_name_what_varies_or_everything),
	        cmocka_unit_test(mistyped_words_offer_the_nearest),
	        cmocka_unit_test(a_named_level_that_no_variant_has_is_refused_with_the_rule),
	        cmocka_unit_test(ranges_take_numbers_and_steps),
	        cmocka_unit_test(too_many_variants_are_refused),
	        cmocka_unit_test(each_variant_has_the_base_that_differs_in_what_is_named),
	        cmocka_unit_test(a_base_that_is_not_there_is_refused),
	        cmocka_unit_test(files_that_are_none_are_refused),
	        cmocka_unit_test(experiments_are_found_by_name_and_by_path),
	        cmocka_unit_test(the_first_directory_wins_and_broken_files_are_told),
	};
	const struct CMUnitTest manual[] = {
	        cmocka_unit_test(the_manual_lists_the_header_keys_of_the_table),
	        cmocka_unit_test(the_manual_says_which_keys_may_stand_again),
	        cmocka_unit_test(the_manual_lists_the_fields_of_the_environment),
	        cmocka_unit_test(the_manual_lists_the_capabilities),
	        cmocka_unit_test(the_manuals_examples_can_be_built),
	};
	int failed = cmocka_run_group_tests(manual, NULL, NULL);
	return failed + cmocka_run_group_tests(tests, make_directory, remove_directory);
}
