/* Machine code for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/listing.h"

static void assert_instruction(enum experiment_abi abi, const char *code, size_t size,
                               size_t offset, const char *wanted)
{
	char text[80];
	listing_instruction(abi, (const uint8_t *)code, size, offset, text, sizeof text);
	assert_string_equal(text, wanted);
}

static void an_instruction_is_told_in_att_syntax(void **state)
{
	(void)state;
	assert_instruction(EXPERIMENT_I386, "\x0f\xa0\x90", 3, 0, "pushl %fs");
	assert_instruction(EXPERIMENT_I386, "\x0f\xa0\x90", 3, 2, "nop");
	assert_instruction(EXPERIMENT_X86_64, "\x48\x89\xe5", 3, 0, "movq %rsp, %rbp");
	assert_instruction(EXPERIMENT_I386, "\x48", 1, 0, "decl %eax");
	assert_instruction(EXPERIMENT_X86_64, "\x0f\x0b", 2, 0, "ud2");
}

static void where_there_is_no_instruction_there_is_no_text(void **state)
{
	(void)state;
	assert_instruction(EXPERIMENT_X86_64, "\x90", 1, 1, "");
	assert_instruction(EXPERIMENT_X86_64, "\x90", 1, 100, "");
	assert_instruction(EXPERIMENT_X86_64, "\x0f", 1, 0, "");
	assert_instruction(EXPERIMENT_X86_64, "\x06", 1, 0, "");
	assert_instruction(EXPERIMENT_X86_64, "", 0, 0, "");
	assert_instruction(EXPERIMENT_X86_64, NULL, 0, 0, "");
	char tiny[5];
	listing_instruction(EXPERIMENT_I386, (const uint8_t *)"\x0f\xa0", 2, 0, tiny, sizeof tiny);
	assert_string_equal(tiny, "push");
}

static void entries_into_the_kernel_are_seen(void **state)
{
	(void)state;
	static const struct {
		const char *code;
		size_t size;
		bool enters;
	} cases[] = {
	        {"\xcd\x80", 2, true},
	        {"\x90\x90\xcc", 3, true},
	        {"\x0f\x05", 2, true},
	        {"\x0f\x34", 2, true},
	        {"\x90\x90", 2, false},
	        {"\xb8\x0f\x05\xcd\x80", 5, false}, /* only an immediate */
	        {"\x06\x0f\x05", 3, true},          /* behind what is no instruction */
	        {"", 0, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(listing_enters_kernel(EXPERIMENT_X86_64,
		                                       (const uint8_t *)cases[i].code,
		                                       cases[i].size),
		                 cases[i].enters);
	assert_false(listing_enters_kernel(EXPERIMENT_I386, NULL, 0));
}

/* In 64-bit code string instructions and overrides do not mind what %es holds, and some of these
 * bytes are other instructions or none. */
static void uses_of_es_are_seen(void **state)
{
	(void)state;
	static const struct {
		const char *name, *code;
		size_t size;
		bool in32, in64;
	} cases[] = {
	        {"push %es", "\x06", 1, true, false},
	        {"pop %es", "\x07", 1, true, false},
	        {"mov %es, %eax", "\x8c\xc0", 2, true, true},
	        {"mov %eax, %es", "\x8e\xc0", 2, true, true},
	        {"mov %es, (%eax)", "\x8c\x00", 2, true, true},
	        {"mov (%eax), %es", "\x8e\x00", 2, true, true},
	        {"les (%eax), %eax", "\xc4\x00", 2, true, false},
	        {"movsb", "\xa4", 1, true, false},
	        {"movsl", "\xa5", 1, true, false},
	        {"rep movsl", "\xf3\xa5", 2, true, false},
	        {"rep movsq", "\xf3\x48\xa5", 3, true, false},
	        {"stosb", "\xaa", 1, true, false},
	        {"stosl", "\xab", 1, true, false},
	        {"rep stosl", "\xf3\xab", 2, true, false},
	        {"scasb", "\xae", 1, true, false},
	        {"repne scasb", "\xf2\xae", 2, true, false},
	        {"cmpsb", "\xa6", 1, true, false},
	        {"insb", "\x6c", 1, true, false},
	        {"mov %es:(%eax), %eax", "\x26\x8b\x00", 3, true, false},
	        {"addl $1, %es:(%eax)", "\x26\x83\x00\x01", 4, true, false},
	        {"mov %es:0, %eax", "\x26\xa1\0\0\0\0", 6, true, false},
	        {"lodsb %es:(%esi)", "\x26\xac", 2, true, false},
	        {"xlat %es:(%ebx)", "\x26\xd7", 2, true, false},
	        {"jmp *%es:(%eax)", "\x26\xff\x20", 3, true, false},
	        {"behind others", "\x90\x90\x8e\xc0\x90", 5, true, true},
	        {"behind what is no instruction", "\xff\xff\x8e\xc0", 4, true, true},
	        {"lds (%eax), %eax", "\xc5\x00", 2, false, false},
	        {"lfs (%eax), %eax", "\x0f\xb4\x00", 3, false, false},
	        {"lodsb", "\xac", 1, false, false},
	        {"push %ds", "\x1e", 1, false, false},
	        {"mov %ds, %eax", "\x8c\xd8", 2, false, false},
	        {"mov %eax, %fs", "\x8e\xe0", 2, false, false},
	        {"mov %ds:(%eax), %eax", "\x3e\x8b\x00", 3, false, false},
	        {"mov %fs:(%eax), %eax", "\x64\x8b\x00", 3, false, false},
	        {"mov (%edi), %eax", "\x8b\x07", 2, false, false},
	        {"mov $0xc08e, %eax", "\xb8\x8e\xc0\0\0", 5, false, false},
	        {"nop", "\x90", 1, false, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const uint8_t *code = (const uint8_t *)cases[i].code;
		if (listing_touches_es(EXPERIMENT_I386, code, cases[i].size) != cases[i].in32 ||
		    listing_touches_es(EXPERIMENT_X86_64, code, cases[i].size) != cases[i].in64)
			fail_msg("%s", cases[i].name);
	}
	assert_false(listing_touches_es(EXPERIMENT_I386, NULL, 0));
}

/* ---- listings ---- */

struct made {
	struct experiment *x;
	struct experiment_selection selection;
	struct experiment_variants v;
	struct host_probes probes;
	struct listing l;
	struct error err;
	int rc;
};

static void make(struct made *m, const char *text, const char *const *words, size_t n)
{
	memset(m, 0, sizeof *m);
	if (experiment_parse("t", "/x/t.s", text, strlen(text), &m->x, &m->err) ||
	    experiment_select(m->x, words, n, &m->selection, &m->err) ||
	    experiment_expand(m->x, &m->selection, &m->v, &m->err))
		fail_msg("%s", m->err.text);
	m->rc = listing_make(m->x, &m->v, &m->probes, &m->l, &m->err);
}

static void drop(struct made *m)
{
	listing_free(&m->l);
	experiment_variants_free(&m->v);
	experiment_selection_free(m->x, &m->selection);
	experiment_free(m->x);
}

#define MAKE(m, text, ...)                                                                         \
	make(m, text, (const char *const[]){__VA_ARGS__},                                          \
	     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Every line of a part of a variant: "offset text" with '|' between. */
static void assert_part(const struct made *m, size_t variant, const char *part, const char *wanted)
{
	char text[1024] = "";
	for (size_t i = 0; i < m->l.line_count; i++) {
		const struct listing_line *line = &m->l.lines[i];
		if (line->variant == variant && !strcmp(line->part, part))
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u %s",
			         *text ? "|" : "", line->offset, line->text);
	}
	assert_string_equal(text, wanted);
}

static const struct listing_part *part_of(const struct made *m, size_t variant, const char *part)
{
	for (size_t i = 0; i < m->l.part_count; i++)
		if (m->l.parts[i].variant == variant && !strcmp(m->l.parts[i].part, part))
			return &m->l.parts[i];
	return NULL;
}

static void a_listing_has_every_part_of_every_variant(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi i386 x86_64\n#: factor reg fs gs\n.macro setup "
	     "reg\ncld\n.endm\n.macro teardown reg\nstc\n.endm\n"
	     ".macro pool reg\nclc\n.endm\n.macro baseline reg\ncmc\n.endm\n.macro body reg\npush "
	     "%\\reg\npop %\\reg\n.endm\n",
	     "abi=i386,x86_64", "reg=fs,gs");
	assert_int_equal(m.rc, 0);
	assert_int_equal(m.v.count, 4);
	assert_int_equal(m.l.part_count, 20);
	assert_int_equal(m.l.line_count, 4 * 6);
	for (size_t i = 0; i < 4; i++) {
		assert_part(&m, i, "setup", "0 cld");
		assert_part(&m, i, "teardown", "0 stc");
		assert_part(&m, i, "pool", "0 clc");
		assert_part(&m, i, "baseline", "0 cmc");
		assert_part(&m, i, "body",
		            i == 0   ? "0 pushl %fs|2 popl %fs"
		            : i == 1 ? "0 pushl %gs|2 popl %gs"
		            : i == 2 ? "0 pushq %fs|2 popq %fs"
		                     : "0 pushq %gs|2 popq %gs");
		assert_int_equal(part_of(&m, i, "body")->size, 4);
		assert_int_equal(strlen(part_of(&m, i, "body")->sha256), 64);
		assert_string_equal(part_of(&m, i, "pool")->sha256, "");
	}
	/* variant for variant the same bytes in both ABIs */
	assert_string_equal(part_of(&m, 0, "body")->sha256, part_of(&m, 2, "body")->sha256);
	assert_string_not_equal(part_of(&m, 0, "body")->sha256, part_of(&m, 1, "body")->sha256);
	drop(&m);
}

static void references_are_resolved_to_example_addresses(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi x86_64\n#: factor k a b\n.data\nfoo: .long 1\n.text\n.macro pool "
	     "k\nret\n.endm\n"
	     ".macro body k\n.ifc \\k,a\ncall pool\n.endif\n.ifc \\k,b\nmov foo(%rip), %eax\npush "
	     "$1f\n1:\n.endif\n.endm\n",
	     "k=a,b");
	assert_int_equal(m.rc, 0);
	const struct listing_line *call = NULL, *pool = NULL, *load = NULL, *push = NULL;
	for (size_t i = 0; i < m.l.line_count; i++) {
		const struct listing_line *line = &m.l.lines[i];
		assert_true(line->address >= 0x10000000 && line->address < 0x10010000);
		if (!line->variant && !strcmp(line->part, "pool"))
			pool = line;
		if (!strncmp(line->text, "callq", 5))
			call = line;
		if (!strncmp(line->text, "movl", 4))
			load = line;
		if (!strncmp(line->text, "pushq", 5))
			push = line;
	}
	assert_true(call && pool && load && push);
	char wanted[64];
	snprintf(wanted, sizeof wanted, "callq 0x%llx", (unsigned long long)pool->address);
	assert_string_equal(call->text, wanted);
	snprintf(wanted, sizeof wanted, "pushq $0x%llx",
	         (unsigned long long)push->address + push->byte_count);
	assert_string_equal(push->text, wanted);
	assert_int_equal(call->byte_count, 5);
	assert_int_equal(call->bytes[0], 0xe8);
	drop(&m);
}

static void what_is_no_instruction_is_told_as_bytes(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi x86_64\n#: factor k a b\n.macro body k\n.ifc \\k,a\n.endif\n.ifc "
	     "\\k,b\nnop\n.byte 0x06, 0x0f\n.endif\n.endm\n",
	     "k=b");
	assert_int_equal(m.rc, 0);
	assert_part(&m, 0, "body", "0 nop|1 .byte 0x06|2 .byte 0x0f");
	drop(&m);
}

/* A code segment's pool has some 26 or 60 KB of room before its landings. */
static void room_in_a_pool_is_one_line(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi i386\n.macro pool\nclc\njmp *0x188(%ebp)\n.zero 60000\ncmc\n.zero "
	     "63\n.endm\n.macro body\nnop\n.endm\n");
	const struct listing_line *zero = NULL;
	size_t lines = 0;
	assert_int_equal(m.rc, 0);
	for (size_t i = 0; i < m.l.line_count; i++) {
		if (strcmp(m.l.lines[i].part, "pool") != 0)
			continue;
		lines++;
		if (!strncmp(m.l.lines[i].text, ".zero", 5))
			zero = &m.l.lines[i];
	}
	assert_non_null(zero);
	assert_string_equal(zero->text, ".zero 60000"); /* not the operand's zeros */
	assert_int_equal(zero->offset, 7);
	assert_int_equal(zero->byte_count, 0);
	assert_int_equal(lines, 2 + 1 + 1 + 32); /* fewer zeros than 64 are code */
	drop(&m);
}

static void a_pool_in_a_16_bit_segment_is_read_as_such(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, "#: title T\n#: abi i386\n#: segment code16\n.macro pool\n.byte 0xe8, 1, 2, "
	         "0x90\n.endm\n.macro body\n.byte 0xe8, 1, 2, 3, 4\n.endm\n");
	assert_int_equal(m.rc, 0);
	size_t pool = 0, body = 0;
	for (size_t i = 0; i < m.l.line_count; i++) {
		pool += !strcmp(m.l.lines[i].part, "pool");
		body += !strcmp(m.l.lines[i].part, "body");
	}
	assert_int_equal(pool, 2); /* a call of two bytes of displacement, and nop */
	assert_int_equal(body, 1);
	drop(&m);
}

static void an_empty_body_is_a_part_without_lines(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi x86_64\n#: factor k a b\n.macro body k\n.ifc \\k,a\n.endif\n.ifc "
	     "\\k,b\nnop\n.endif\n.endm\n",
	     "k=a");
	assert_int_equal(m.rc, 0);
	assert_int_equal(m.l.part_count, 1);
	assert_int_equal(m.l.line_count, 0);
	assert_int_equal(part_of(&m, 0, "body")->size, 0);
	assert_int_equal(strlen(part_of(&m, 0, "body")->sha256), 64);
	drop(&m);
}

static void a_long_body_is_listed_whole(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m,
	     "#: title T\n#: abi i386\n#: factor n 1..999\n#: default n=1\n.macro body n\n.rept "
	     "\\n\nincl %eax\n.endr\n.endm\n",
	     "abi=i386", "n=700");
	assert_int_equal(m.rc, 0);
	assert_int_equal(m.l.line_count, 700);
	assert_int_equal(m.l.lines[699].offset, 699);
	assert_string_equal(m.l.lines[699].text, "incl %eax");
	drop(&m);
}

static void errors_are_those_of_assembling(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, "#: title T\n#: abi x86_64\n#: factor k a b\n.macro body k\nfrob \\k\n.endm\n",
	     "k=a");
	assert_int_equal(m.rc, ERROR_INPUT);
	assert_string_equal(m.err.text,
	                    "/x/t.s:5: no such instruction: `frob a' (in abi=x86_64 k=a)");
	assert_null(m.l.lines);
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_instruction_is_told_in_att_syntax),
	        cmocka_unit_test(where_there_is_no_instruction_there_is_no_text),
	        cmocka_unit_test(entries_into_the_kernel_are_seen),
	        cmocka_unit_test(uses_of_es_are_seen),
	        cmocka_unit_test(a_listing_has_every_part_of_every_variant),
	        cmocka_unit_test(references_are_resolved_to_example_addresses),
	        cmocka_unit_test(what_is_no_instruction_is_told_as_bytes),
	        cmocka_unit_test(room_in_a_pool_is_one_line),
	        cmocka_unit_test(a_pool_in_a_16_bit_segment_is_read_as_such),
	        cmocka_unit_test(an_empty_body_is_a_part_without_lines),
	        cmocka_unit_test(a_long_body_is_listed_whole),
	        cmocka_unit_test(errors_are_those_of_assembling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
