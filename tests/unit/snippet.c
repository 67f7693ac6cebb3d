/* Instructions from the command line: what experiment they make, what is refused, and in whose
 * lines errors are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/program.h"
#include "engine/snippet.h"

enum { MOST = 70 };

static struct experiment *make(const char *setup, size_t n, const char *const *snippets)
{
	struct error err;
	struct experiment *x = NULL;
	if (snippet_experiment(snippets, n, setup, &x, &err))
		fail_msg("%s", err.text);
	return x;
}

static void assert_refused(const char *setup, size_t n, const char *const *snippets,
                           const char *message)
{
	struct error err = {0};
	struct experiment *x = NULL;
	assert_int_equal(snippet_experiment(snippets, n, setup, &x, &err), ERROR_INPUT);
	assert_string_equal(err.text, message);
	assert_null(x);
}

#define MAKE(setup, ...)                                                                           \
	make(setup, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                   \
	     (const char *const[]){__VA_ARGS__})
#define REFUSED(message, setup, ...)                                                               \
	assert_refused(setup, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),         \
	               (const char *const[]){__VA_ARGS__}, message)

/* Assembles all snippets; the first one's body in *size bytes at *code, which is the caller's. */
static int assemble(const struct experiment *x, enum experiment_abi abi, uint8_t **code,
                    size_t *size, struct error *err)
{
	struct program p;
	struct program_item items[MOST];
	char *levels[MOST][2];
	size_t n = x->factors[1].level_count;
	for (size_t i = 0; i < n; i++) {
		levels[i][0] = (char *)experiment_abi_name[abi];
		levels[i][1] = x->factors[1].levels[i];
		items[i] = (struct program_item){x, levels[i]};
	}
	int rc = program_build(abi, items, n, NULL, &p, err);
	if (rc) {
		snippet_explain(err);
		return rc;
	}
	const uint8_t *body = program_body(&p, 0, size);
	*code = malloc(*size + 1);
	memcpy(*code, body, *size);
	program_free(&p);
	return 0;
}

static void assert_assembles(const char *snippet, enum experiment_abi abi, const char *hex)
{
	struct experiment *x = MAKE(NULL, snippet, "nop");
	struct error err;
	uint8_t *code = NULL;
	size_t size = 0;
	char text[256] = "";
	if (assemble(x, abi, &code, &size, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < size && i < 60; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x", i ? " " : "",
		         code[i]);
	assert_string_equal(text, hex);
	free(code);
	experiment_free(x);
}

static void assert_told(const char *message, const char *setup, size_t n,
                        const char *const *snippets)
{
	struct experiment *x = make(setup, n, snippets);
	struct error err;
	uint8_t *code = NULL;
	size_t size;
	assert_int_equal(assemble(x, EXPERIMENT_X86_64, &code, &size, &err), ERROR_INPUT);
	assert_string_equal(err.text, message);
	experiment_free(x);
}
#define TOLD(message, setup, ...)                                                                  \
	assert_told(message, setup, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),   \
	            (const char *const[]){__VA_ARGS__})

static void snippets_are_the_levels_of_one_factor(void **state)
{
	(void)state;
	struct experiment *x = MAKE(NULL, "push %fs; pop %fs", "nop", "nop");
	assert_string_equal(x->name, "asm");
	assert_string_equal(x->path, "asm");
	assert_int_equal(x->abis, 1u << EXPERIMENT_I386 | 1u << EXPERIMENT_X86_64);
	assert_int_equal(x->factor_count, 2);
	assert_string_equal(x->factors[1].name, "code");
	assert_int_equal(x->factors[1].level_count, 3);
	assert_string_equal(x->factors[1].levels[2], "s3");
	assert_int_equal(x->factors[1].default_count, 3);
	assert_int_equal(x->repeat, EXPERIMENT_UNROLL);
	assert_false(x->has_macro_setup);
	assert_string_equal(x->doc, "s1  push %fs; pop %fs\ns2  nop\ns3  nop");
	experiment_free(x);
}

static void a_snippet_is_instructions_between_semicolons_or_newlines(void **state)
{
	(void)state;
	assert_assembles("push %fs; pop %fs", EXPERIMENT_I386, "0f a0 0f a1");
	assert_assembles("nop\nclc;stc\n", EXPERIMENT_I386, "90 f8 f9");
	assert_assembles("mov %eax, %ebx", EXPERIMENT_X86_64, "89 c3");
	assert_assembles("push xax; pop xax", EXPERIMENT_X86_64, "50 58");
	assert_assembles("1: dec %ecx; jnz 1b", EXPERIMENT_X86_64, "ff c9 75 fc");
	assert_assembles(".rept 3; nop; .endr", EXPERIMENT_I386, "90 90 90");
	assert_assembles("nop # and nothing else", EXPERIMENT_I386, "90");
	assert_assembles("nop /* or less */; clc", EXPERIMENT_I386, "90 f8");
	assert_assembles("", EXPERIMENT_I386, "");
	assert_assembles("incl env_counter(env)", EXPERIMENT_I386, "ff 45 00");
	assert_assembles(".ascii \"a b\"", EXPERIMENT_I386, "61 20 62");
}

static void setup_is_before_each(void **state)
{
	(void)state;
	struct experiment *x = MAKE("xor %eax, %eax", "nop", "clc");
	assert_true(x->has_macro_setup);
	assert_non_null(strstr(x->doc, "setup  xor %eax, %eax"));
	struct program p;
	struct error err;
	char *levels[] = {(char *)"x86_64", (char *)"s2"};
	struct program_item item = {x, levels};
	if (program_build(EXPERIMENT_X86_64, &item, 1, NULL, &p, &err))
		fail_msg("%s", err.text);
	const struct protocol_section *setup = &p.sections[p.variants[0].setup];
	assert_int_equal(setup->size, 2);
	assert_memory_equal(p.bytes + setup->offset, "\x31\xc0", 2);
	program_free(&p);
	experiment_free(x);
}

/* How snippet N (from 1 on) of the experiment is repeated. */
static enum experiment_repeat repeat_of(const struct experiment *x, int n)
{
	char level[8];
	char *levels[] = {(char *)"x86_64", level};
	snprintf(level, sizeof level, "s%d", n);
	return experiment_repeat_for(x, levels);
}

static void snippets_that_enter_the_kernel_are_looped_and_no_others(void **state)
{
	(void)state;
	static const char *const enter[] = {"mov $39, %eax; syscall",
	                                    "int $0x80",
	                                    "nop;int3",
	                                    "SYSCALL",
	                                    "\tsysenter\n",
	                                    "1:int $0x80",
	                                    "mov $1,%eax\nsyscall"};
	static const char *const stay[] = {"mov %eax, %ebx", "incl %eax", "cvttss2si %xmm0, %eax",
	                                   "lea syscall_no(%rip), %rax", "nop"};
	for (size_t i = 0; i < sizeof enter / sizeof enter[0]; i++) {
		struct experiment *x = MAKE(NULL, "nop", enter[i], "nop", enter[i]);
		for (int n = 1; n <= 4; n++)
			assert_int_equal(repeat_of(x, n),
			                 n % 2 ? EXPERIMENT_UNROLL : EXPERIMENT_LOOP);
		experiment_free(x);
	}
	for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) {
		struct experiment *x = MAKE(NULL, "nop", stay[i]);
		assert_int_equal(repeat_of(x, 1), EXPERIMENT_UNROLL);
		assert_int_equal(repeat_of(x, 2), EXPERIMENT_UNROLL);
		experiment_free(x);
	}
	/* what setup does is outside the clock */
	struct experiment *x = MAKE("mov $39, %eax; syscall", "nop");
	assert_int_equal(repeat_of(x, 1), EXPERIMENT_UNROLL);
	experiment_free(x);
}

static void one_to_sixty_four_snippets_are_taken(void **state)
{
	(void)state;
	const char *many[MOST];
	struct error err;
	for (size_t i = 0; i < MOST; i++)
		many[i] = "nop";
	assert_refused(NULL, 0, many, "asm takes 1 to 64 snippets");
	assert_refused(NULL, 65, many, "asm takes 1 to 64 snippets");
	struct experiment *x = make(NULL, 64, many);
	uint8_t *code = NULL;
	size_t size;
	if (assemble(x, EXPERIMENT_I386, &code, &size, &err))
		fail_msg("%s", err.text);
	free(code);
	experiment_free(x);
	x = MAKE(NULL, "nop");
	if (assemble(x, EXPERIMENT_I386, &code, &size, &err))
		fail_msg("%s", err.text);
	free(code);
	experiment_free(x);
}

static void directives_that_leave_the_frame_are_refused(void **state)
{
	(void)state;
	static const char *const words[] = {
	        ".macro x",    ".endm",   ".section .foo", ".pushsection .data",
	        ".popsection", ".text",   ".data",         ".bss",
	        ".purgem x",   ".end",    ".altmacro",     ".code16",
	        ".code32",     ".code64", ".previous",     ".subsection 1"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		char snippet[64], message[160], word[32];
		sscanf(words[i], "%31s", word);
		snprintf(snippet, sizeof snippet, "nop;%s\nnop", words[i]);
		snprintf(message, sizeof message,
		         "snippet 2: %s cannot stand in a snippet; write an experiment file "
		         "(entrylab-experiment(5))",
		         word);
		REFUSED(message, NULL, "nop", snippet);
	}
	REFUSED("--setup: .data cannot stand in a snippet", " .data", "nop");
	/* the assembler does not tell large letters from small ones */
	REFUSED("snippet 1: .macro cannot stand in a snippet; write an experiment file "
	        "(entrylab-experiment(5))",
	        NULL, ".MACRO foo");
	REFUSED("snippet 1: .text cannot stand in a snippet; write an experiment file "
	        "(entrylab-experiment(5))",
	        NULL, "nop; .Text");
	REFUSED("snippet 1: a comment does not end", NULL, "nop /* and");
	REFUSED("--setup: a comment does not end", "nop /*", "nop */");
}

static void words_that_only_look_like_them_are_taken(void **state)
{
	(void)state;
	assert_assembles(".if 0; nop; .endif", EXPERIMENT_I386, "");
	assert_assembles(".rept 1; nop; .endr", EXPERIMENT_I386, "90");
	assert_assembles(".set x.text, 4; mov $x.text, %al", EXPERIMENT_I386, "b0 04");
	assert_assembles(".set data, 4; mov $data, %al", EXPERIMENT_I386, "b0 04");
	assert_assembles(".Lend: .byte 1", EXPERIMENT_I386, "01");
}

static void errors_name_the_snippet(void **state)
{
	(void)state;
	TOLD("snippet 2: no such instruction: `frob'", NULL, "nop", "frob");
	TOLD("snippet 2: no such instruction: `frob'\nsnippet 3: no such instruction: `frob'", NULL,
	     "nop", "nop; frob", "frob");
	TOLD("snippet 3: no such instruction: `frob'", NULL, "nop\nnop\nnop", "nop",
	     "nop\nnop\nfrob");
	TOLD("snippet 2: symbol 'foo' is not defined", NULL, "nop", "call foo");
	TOLD("--setup: symbol 'foo' is not defined", "call foo", "nop", "clc");
	TOLD("snippet 1: \".endif\" without \".if\"", NULL, ".endif");
	/* once for each variant that has it */
	TOLD("--setup: no such instruction: `frob'\n--setup: no such instruction: `frob'", "frob",
	     "nop", "clc");
}

static void other_messages_are_left_alone(void **state)
{
	(void)state;
	struct error err;
	error_set(&err, ERROR_INPUT, "/x/asm.s:12: no such instruction (in abi2)");
	snippet_explain(&err);
	assert_string_equal(err.text, "/x/asm.s:12: no such instruction (in abi2)");
	error_set(&err, ERROR_ABSENT, "no assembler: `as` is not on the PATH");
	snippet_explain(&err);
	assert_string_equal(err.text, "no assembler: `as` is not on the PATH");
	assert_int_equal(err.code, ERROR_ABSENT);
}

static void a_message_that_fills_the_error_is_cut_and_not_overrun(void **state)
{
	(void)state;
	struct error err = {.code = ERROR_INPUT};
	memset(err.text, 'x', sizeof err.text - 1);
	memcpy(err.text, "asm:200001: ", 12);
	snippet_explain(&err);
	assert_int_equal(strncmp(err.text, "snippet 2: xxx", 14), 0);
	assert_true(strlen(err.text) < sizeof err.text);
}

static void notes_are_one_line_each(void **state)
{
	(void)state;
	struct experiment *x = MAKE("cld\nclc", "nop\n\tnop", "clc\x01 # one");
	assert_string_equal(x->doc, "s1  nop;  nop\ns2  clc  # one\nsetup  cld; clc");
	experiment_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(snippets_are_the_levels_of_one_factor),
	        cmocka_unit_test(a_snippet_is_instructions_between_semicolons_or_newlines),
	        cmocka_unit_test(setup_is_before_each),
	        cmocka_unit_test(snippets_that_enter_the_kernel_are_looped_and_no_others),
	        cmocka_unit_test(one_to_sixty_four_snippets_are_taken),
	        cmocka_unit_test(directives_that_leave_the_frame_are_refused),
	        cmocka_unit_test(words_that_only_look_like_them_are_taken),
	        cmocka_unit_test(errors_name_the_snippet),
	        cmocka_unit_test(other_messages_are_left_alone),
	        cmocka_unit_test(a_message_that_fills_the_error_is_cut_and_not_overrun),
	        cmocka_unit_test(notes_are_one_line_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
