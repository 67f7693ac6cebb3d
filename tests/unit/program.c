/* What becomes of an experiment's macros: bytes, sections, references, and the words in which
 * errors are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/program.h"

enum { MOST = 1000, FACTORS = 4 };

/* A program of variants given as words: "a x" is level a of the first factor and x of the second.
 */
struct made {
	struct experiment *x[2];
	struct program_item items[MOST];
	char *levels[MOST][FACTORS];
	size_t n;
	struct host_probes probes;
	struct program p;
	struct error err;
};

static struct experiment *parse(const char *path, const char *text)
{
	struct error err;
	struct experiment *x;
	if (experiment_parse("t", path, text, strlen(text), &x, &err))
		fail_msg("%s", err.text);
	return x;
}

static void add(struct made *m, enum experiment_abi abi, const struct experiment *x,
                const char *words)
{
	char *copy = strdup(words), *save = NULL;
	size_t f = 0;
	m->levels[m->n][f++] = strdup(experiment_abi_name[abi]);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		m->levels[m->n][f++] = strdup(w);
	free(copy);
	assert_int_equal(f, x->factor_count);
	m->items[m->n] = (struct program_item){x, m->levels[m->n]};
	m->n++;
}

/* Returns what program_build returns. Variants: words of each, a NULL behind the last. */
static int make(struct made *m, enum experiment_abi abi, const char *text, ...)
        __attribute__((sentinel));
static int make(struct made *m, enum experiment_abi abi, const char *text, ...)
{
	va_list ap;
	memset(m, 0, sizeof *m);
	m->x[0] = parse("/x/t.s", text);
	va_start(ap, text);
	for (const char *w; (w = va_arg(ap, const char *));)
		add(m, abi, m->x[0], w);
	va_end(ap);
	return program_build(abi, m->items, m->n, &m->probes, &m->p, &m->err);
}

static void drop(struct made *m)
{
	program_free(&m->p);
	for (size_t i = 0; i < m->n; i++)
		for (size_t f = 0; f < FACTORS; f++)
			free(m->levels[i][f]);
	experiment_free(m->x[0]);
	experiment_free(m->x[1]);
}

#define MAKE(m, ...)                                                                               \
	do {                                                                                       \
		if (make(m, __VA_ARGS__, NULL))                                                    \
			fail_msg("%s", (m)->err.text);                                             \
	} while (0)

static void assert_bytes(const struct program *p, int32_t section, const char *hex)
{
	char text[256] = "";
	assert_true(section >= 0 && (size_t)section < p->section_count);
	const struct protocol_section *s = &p->sections[section];
	for (uint32_t i = 0; i < s->size && i < 80; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x", i ? " " : "",
		         p->bytes[s->offset + i]);
	assert_string_equal(text, hex);
}

static void assert_body(const struct program *p, size_t variant, const char *hex)
{
	assert_bytes(p, p->variants[variant].body, hex);
}

/* The section that a variant's pool is: its own, and none of the four. */
static int32_t pool_of(const struct program *p, size_t variant)
{
	const struct protocol_variant *v = &p->variants[variant];
	for (size_t i = 0; i < p->section_count; i++) {
		int32_t s = (int32_t)i;
		if (p->sections[i].variant == variant && s != v->setup && s != v->body &&
		    s != v->teardown && s != v->baseline)
			return s;
	}
	return -1;
}

/* The only reference of a section. */
static const struct protocol_fixup *only_fixup(const struct program *p, int32_t section)
{
	assert_true(section >= 0);
	assert_int_equal(p->sections[section].fixups, 1);
	return &p->fixups[p->sections[section].fixup];
}

static void assert_refused(enum experiment_abi abi, const char *text, const char *words,
                           const char *message)
{
	struct made m;
	assert_int_equal(make(&m, abi, text, words, NULL), ERROR_INPUT);
	assert_int_equal(m.err.code, ERROR_INPUT);
	assert_string_equal(m.err.text, message);
	assert_null(m.p.sections);
	drop(&m);
}

#define HEAD "#: title T\n#: abi i386 x86_64\n"

/* ---- bytes ---- */

static void macros_become_sections_with_their_levels_bytes(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor reg fs gs\n#: factor n one two\n#: stack 8\n#: align 16\n"
	          ".macro setup reg, n\nxor %eax, %eax\n.endm\n"
	          ".macro teardown reg, n\ncld\n.endm\n"
	          ".macro baseline reg, n\nclc\n.endm\n"
	          ".macro pool reg, n\nstc\n.endm\n"
	          ".macro body reg, n\npush %\\reg\n.ifc \\n,two\nnop\n.else\n.ifnc "
	          "\\n,one\n.error \"no\"\n.endif\n.endif\n.endm\n",
	     "fs one", "gs two");
	assert_int_equal(m.p.variant_count, 2);
	assert_int_equal(m.p.abi, EXPERIMENT_X86_64);
	assert_body(&m.p, 0, "0f a0");
	assert_body(&m.p, 1, "0f a8 90");
	for (size_t i = 0; i < 2; i++) {
		const struct protocol_variant *v = &m.p.variants[i];
		assert_bytes(&m.p, v->setup, "31 c0");
		assert_bytes(&m.p, v->teardown, "fc");
		assert_bytes(&m.p, v->baseline, "f8");
		assert_bytes(&m.p, pool_of(&m.p, i), "f9");
		assert_int_equal(v->stack, 8);
		assert_int_equal(v->align, 16);
		assert_int_equal(v->repeat, PROTOCOL_UNROLL);
		assert_int_equal(m.p.sections[v->body].variant, i);
		assert_int_equal(m.p.sections[v->body].flags, PROTOCOL_EXEC);
		assert_int_equal(m.p.sections[v->body].memory, m.p.sections[v->body].size);
	}
	size_t size;
	const uint8_t *body = program_body(&m.p, 1, &size);
	assert_int_equal(size, 3);
	assert_memory_equal(body, "\x0f\xa8\x90", 3);
	drop(&m);
}

static void macros_that_a_file_lacks_are_no_sections(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_I386, HEAD ".macro body\nnop\n.endm\n", "");
	assert_int_equal(m.p.variants[0].setup, -1);
	assert_int_equal(m.p.variants[0].teardown, -1);
	assert_int_equal(m.p.variants[0].baseline, -1);
	assert_int_equal(pool_of(&m.p, 0), -1);
	assert_int_equal(m.p.section_count, 1);
	drop(&m);
}

static void a_body_without_code_has_no_bytes(void **state)
{
	(void)state;
	struct made m;
	size_t size = 7;
	char hash[65];
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro body\n.endm\n", "");
	program_body(&m.p, 0, &size);
	assert_int_equal(size, 0);
	program_body_hash(&m.p, 0, hash);
	/* of nothing */
	assert_string_equal(hash,
	                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	drop(&m);
}

static void one_file_serves_both_abis(void **state)
{
	(void)state;
	static const char text[] = HEAD
	        ".macro body\nmov env_counter(env), xcx\npush xax\n.if abi64\nnop\n.endif\n.endm\n";
	struct made m;
	MAKE(&m, EXPERIMENT_I386, text, "");
	assert_body(&m.p, 0, "8b 4d 00 50");
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64, text, "");
	assert_body(&m.p, 0, "48 8b 4d 00 50 90");
	drop(&m);
}

static void environment_and_capabilities_are_symbols(void **state)
{
	(void)state;
	struct made m;
	memset(&m, 0, sizeof m);
	m.probes.abi[EXPERIMENT_X86_64][HOST_LDT].present = true;
	m.probes.abi[EXPERIMENT_I386][HOST_GDT].present = true;
	m.x[0] = parse("/x/t.s",
	               HEAD ".macro body\n.byte env_counter2, have_ldt, have_gdt, abi64\n.endm\n");
	add(&m, EXPERIMENT_X86_64, m.x[0], "");
	assert_int_equal(program_build(EXPERIMENT_X86_64, m.items, 1, &m.probes, &m.p, &m.err), 0);
	assert_body(&m.p, 0, "08 01 00 01");
	drop(&m);
}

static void copies_in_a_turn_are_handed_on(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     "#: title T\n#: factor k a b c\n#: repeat k=a loop 7\n#: repeat k=b loop\n#: repeat "
	     "loop "
	     "1024\n#: stack 256\n.macro body k\nnop # \\k\n.ifc \\k,a\n.endif\n.ifc "
	     "\\k,b\n.endif\n.ifc \\k,c\n.endif\n.endm\n",
	     "a", "b", "c");
	const uint32_t copies[] = {7, 1, 1024};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(m.p.variants[i].repeat, PROTOCOL_LOOP);
		assert_int_equal(m.p.variants[i].copies, copies[i]);
	}
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro body\nnop\n.endm\n", "");
	assert_int_equal(m.p.variants[0].copies, 1);
	drop(&m);
}

static void the_data_selector_can_be_an_immediate(void **state)
{
	(void)state;
	char wanted[32];
	unsigned ss;
	struct made m;
	__asm__("mov %%ss, %0" : "=r"(ss));
	snprintf(wanted, sizeof wanted, "66 b8 %02x %02x", ss & 0xff, ss >> 8 & 0xff);
	for (enum experiment_abi abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		MAKE(&m, abi, HEAD ".macro body\nmov $user_ds, %ax\n.endm\n", "");
		assert_body(&m.p, 0, wanted);
		drop(&m);
	}
}

/* Room between the parts of a pool is not counted; zeros among code are. */
static void room_in_a_pool_is_not_counted(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD ".macro pool\n.zero 4\n.byte 1\n.zero 63\n.byte 2\n.zero 64\n.byte 3\n.zero "
	          "100\n.endm\n.macro body\nnop\n.endm\n",
	     "");
	assert_int_equal(m.p.sections[pool_of(&m.p, 0)].memory, 4 + 1 + 63 + 1 + 64 + 1 + 100);
	assert_int_equal(program_pool_bytes(&m.p, 0), 1 + 63 + 1 + 1);
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro body\nnop\n.endm\n", "");
	assert_int_equal(program_pool_bytes(&m.p, 0), 0);
	drop(&m);
	/* what a relocation will fill is code; trailing zeros of an instruction are */
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD ".macro pool\njmp elsewhere\n.endm\n.text\nelsewhere: nop\n.macro "
	          "body\nnop\n.endm\n",
	     "");
	assert_int_equal(program_pool_bytes(&m.p, 0), 5);
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro pool\n.endm\n.macro body\nnop\n.endm\n", "");
	assert_int_equal(program_pool_bytes(&m.p, 0), 0);
	drop(&m);
}

static void what_is_about_pools_and_loops_is_handed_on(void **state)
{
	(void)state;
	static const char text[] =
	        "#: title T\n#: factor k a b c\n#: repeat k=a,b loop\n#: repeat once\n"
	        "#: warm k=a 300\n#: warm 7\n#: evict k=c pool flush\n.macro pool k\nnop\n.endm\n"
	        ".macro body k\nnop # \\k\n.ifc \\k,a\n.endif\n.ifc \\k,b\n.endif\n.ifc "
	        "\\k,c\n.endif\n.endm\n";
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64, text, "a", "b", "c");
	const struct protocol_variant *v = m.p.variants;
	assert_int_equal(v[0].warm, 300);
	assert_int_equal(v[1].warm, 7);
	assert_int_equal(v[0].evict, PROTOCOL_EVICT_NONE);
	assert_int_equal(v[2].evict, PROTOCOL_EVICT_FLUSH);
	assert_int_equal(v[2].target, PROTOCOL_TARGET_POOL);
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro body\nnop\n.endm\n", "");
	assert_int_equal(m.p.variants[0].warm, 0); /* the worker's own number */
	drop(&m);
}

static void forms_of_repeating_and_eviction_are_handed_on(void **state)
{
	(void)state;
	static const char text[] =
	        "#: title T\n#: factor k a b c\n#: repeat once\n#: evict k=a code flush\n"
	        "#: evict k=b buffer walk 64K\n#: evict k=c all walk 64M\n.macro body k\nnop # "
	        "\\k\n"
	        ".ifc \\k,a\n.endif\n.ifc \\k,b\n.endif\n.ifc \\k,c\n.endif\n.endm\n";
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64, text, "a", "b", "c");
	const struct protocol_variant *v = m.p.variants;
	assert_int_equal(v[0].repeat, PROTOCOL_ONCE);
	assert_int_equal(v[0].evict, PROTOCOL_EVICT_FLUSH);
	assert_int_equal(v[0].target, PROTOCOL_TARGET_CODE);
	assert_int_equal(v[1].evict, PROTOCOL_EVICT_WALK);
	assert_int_equal(v[1].target, PROTOCOL_TARGET_BUFFER);
	assert_int_equal(v[1].walk, 65536);
	assert_int_equal(v[2].target, PROTOCOL_TARGET_ALL);
	assert_int_equal(v[2].walk, 64 << 20);
	drop(&m);
}

/* ---- references ---- */

static void a_reference_out_of_a_body_is_kept_for_every_copy(void **state)
{
	(void)state;
	static const char text[] =
	        HEAD ".macro pool\nnop\n.endm\n.macro body\nnop\ncall pool\n.endm\n";
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64, text, "");
	const struct protocol_fixup *f = only_fixup(&m.p, m.p.variants[0].body);
	assert_int_equal(f->kind, PROTOCOL_REL32);
	assert_int_equal(f->at, 2);
	assert_int_equal((int32_t)f->section, pool_of(&m.p, 0));
	assert_int_equal(f->addend, -4);
	drop(&m);
	/* in i386 the addend stands in the field */
	MAKE(&m, EXPERIMENT_I386, text, "");
	f = only_fixup(&m.p, m.p.variants[0].body);
	assert_int_equal(f->kind, PROTOCOL_REL32);
	assert_int_equal(f->at, 2);
	assert_int_equal((int32_t)f->section, pool_of(&m.p, 0));
	assert_int_equal(f->addend, -4);
	drop(&m);
}

static void every_macro_of_a_variant_means_its_own_pool(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor n 1..9\n#: default n=1\n.macro pool n\n.byte \\n\n.endm\n.macro body "
	          "n\ncall pool\n.endm\n.macro setup n\nmov $pool, %eax\n.endm\n.macro teardown "
	          "n\npush $pool\n.endm\n",
	     "1", "2", "3");
	for (size_t i = 0; i < 3; i++) {
		char hex[4];
		snprintf(hex, sizeof hex, "%02zx", i + 1);
		assert_bytes(&m.p, pool_of(&m.p, i), hex);
		const struct protocol_variant *v = &m.p.variants[i];
		const int32_t users[] = {v->setup, v->body, v->teardown};
		for (int k = 0; k < 3; k++)
			assert_int_equal((int32_t)only_fixup(&m.p, users[k])->section,
			                 pool_of(&m.p, i));
	}
	drop(&m);
}

static void a_jump_within_a_body_needs_no_reference(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64, HEAD ".macro body\njmp 1f\nnop\n1: lea 1b(%rip), %rax\n.endm\n",
	     "");
	assert_int_equal(m.p.sections[m.p.variants[0].body].fixups, 0);
	drop(&m);
}

static void an_address_of_a_label_in_a_body_is_a_reference_to_that_body(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_I386, HEAD ".macro body\nnop\npush $1f\nret\n1:\n.endm\n", "");
	const struct protocol_fixup *f = only_fixup(&m.p, m.p.variants[0].body);
	assert_int_equal(f->kind, PROTOCOL_ABS32);
	assert_int_equal((int32_t)f->section, m.p.variants[0].body);
	assert_int_equal(f->addend, 7);
	drop(&m);
}

static void rip_relative_operands_reach_shared_data(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     "#: title T\n#: factor k a b\n.data\n.long 1, 2\nfoo: .long 3\n.bss\n.balign 64\nbar: "
	     ".skip 100\n.text\n"
	     ".macro body k\n.ifc \\k,a\nmov foo(%rip), %eax\n.endif\n.ifc \\k,b\nmovl $1, "
	     "bar+4(%rip)\n.endif\n.endm\n",
	     "a", "b");
	const struct protocol_fixup *a = only_fixup(&m.p, m.p.variants[0].body),
	                            *b = only_fixup(&m.p, m.p.variants[1].body);
	assert_int_equal(a->kind, PROTOCOL_REL32);
	assert_int_equal(a->addend, 8 - 4);
	const struct protocol_section *data = &m.p.sections[a->section],
	                              *bss = &m.p.sections[b->section];
	assert_int_equal(data->variant, PROTOCOL_SHARED);
	assert_int_equal(data->flags, PROTOCOL_WRITE);
	assert_int_equal(data->size, 12);
	assert_bytes(&m.p, (int32_t)a->section, "01 00 00 00 02 00 00 00 03 00 00 00");
	assert_int_equal(bss->variant, PROTOCOL_SHARED);
	assert_int_equal(bss->flags, PROTOCOL_WRITE);
	assert_int_equal(bss->size, 0);
	assert_int_equal(bss->memory, 100);
	assert_int_equal(bss->align, 64);
	/* the field ends four bytes before the instruction does: an immediate follows */
	assert_int_equal(b->addend, 4 - 8);
	drop(&m);
}

static void code_of_the_file_outside_its_macros_is_shared(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_I386, HEAD "helper:\nnop\nret\n.macro body\ncall helper+1\n.endm\n",
	     "");
	const struct protocol_fixup *f = only_fixup(&m.p, m.p.variants[0].body);
	assert_int_equal(m.p.sections[f->section].variant, PROTOCOL_SHARED);
	assert_int_equal(m.p.sections[f->section].flags, PROTOCOL_EXEC);
	assert_bytes(&m.p, (int32_t)f->section, "90 c3");
	assert_int_equal(f->addend, 1 - 4);
	drop(&m);
}

static void references_of_every_width_are_read(void **state)
{
	(void)state;
	static const struct {
		enum experiment_abi abi;
		const char *code;
		enum protocol_fixup_kind kind;
		int64_t addend;
	} cases[] = {
	        {EXPERIMENT_X86_64, ".quad foo-3", PROTOCOL_ABS64, -3},
	        {EXPERIMENT_X86_64, ".long foo+3", PROTOCOL_ABS32, 3},
	        {EXPERIMENT_X86_64, "mov $foo, %rax", PROTOCOL_ABS32, 0},
	        {EXPERIMENT_X86_64, ".word foo+3", PROTOCOL_ABS16, 3},
	        {EXPERIMENT_X86_64, ".quad foo-.", PROTOCOL_REL64, 0},
	        {EXPERIMENT_X86_64, ".long foo-.", PROTOCOL_REL32, 0},
	        {EXPERIMENT_X86_64, ".word foo-.", PROTOCOL_REL16, 0},
	        {EXPERIMENT_X86_64, ".byte foo-.", PROTOCOL_REL8, 0},
	        {EXPERIMENT_I386, ".long foo-3", PROTOCOL_ABS32, -3},
	        {EXPERIMENT_I386, ".word foo+3", PROTOCOL_ABS16, 3},
	        {EXPERIMENT_I386, ".long foo-.+5", PROTOCOL_REL32, 5},
	        {EXPERIMENT_I386, ".word foo-.-5", PROTOCOL_REL16, -5},
	        {EXPERIMENT_I386, ".byte foo-.-5", PROTOCOL_REL8, -5},
	        {EXPERIMENT_I386, "data16 call foo", PROTOCOL_REL16, -2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct made m;
		char text[256];
		snprintf(text, sizeof text,
		         HEAD ".data\nfoo: .long 0\n.text\n.macro body\n%s\n.endm\n",
		         cases[i].code);
		MAKE(&m, cases[i].abi, text, "");
		const struct protocol_fixup *f = only_fixup(&m.p, m.p.variants[0].body);
		assert_int_equal(f->kind, cases[i].kind);
		assert_int_equal(f->addend, cases[i].addend);
		drop(&m);
	}
}

static void an_absolute_symbol_is_no_section(void **state)
{
	(void)state;
	struct made m;
	/* vsyscall page: an address that is no label */
	MAKE(&m, EXPERIMENT_I386, HEAD ".set there, 0x12345678\n.macro body\njmp there\n.endm\n",
	     "");
	const struct protocol_fixup *f = only_fixup(&m.p, m.p.variants[0].body);
	assert_int_equal(f->section, PROTOCOL_SHARED);
	assert_int_equal(f->kind, PROTOCOL_REL32);
	assert_int_equal(f->addend, 0x12345678 - 4);
	drop(&m);
}

static void a_symbol_that_nothing_defines_is_told(void **state)
{
	(void)state;
	assert_refused(EXPERIMENT_X86_64,
	               HEAD "#: factor k a b\n.macro body k\n.ifc \\k,a\ncall "
	                    "nowhere\n.endif\n.ifc \\k,b\n.endif\n.endm\n",
	               "a", "/x/t.s:6: symbol 'nowhere' is not defined (in body, abi=x86_64 k=a)");
	assert_refused(EXPERIMENT_I386,
	               HEAD ".macro setup\nmov nowhere, %eax\n.endm\n.macro body\n.endm\n", "",
	               "/x/t.s:4: symbol 'nowhere' is not defined (in setup, abi=i386)");
	assert_refused(EXPERIMENT_I386, HEAD ".data\n.long nowhere\n.macro body\n.endm\n", "",
	               "/x/t.s:4: symbol 'nowhere' is not defined");
	/* where it stands as a word of its own: not in a comment, not as a part of another */
	assert_refused(EXPERIMENT_I386,
	               HEAD "# nowhere\nnowhere2: nop\n.macro body\nincl nowhere\n.endm\n", "",
	               "/x/t.s:6: symbol 'nowhere' is not defined (in body, abi=i386)");
	assert_refused(EXPERIMENT_I386, HEAD ".comm shared, 8\n.macro body\nincl shared\n.endm\n",
	               "",
	               "/x/t.s:3: symbol 'shared' is in no section that is loaded (.comm: use "
	               ".lcomm) (in body, abi=i386)");
}

static void a_reference_that_cannot_be_applied_is_told(void **state)
{
	(void)state;
	assert_refused(
	        EXPERIMENT_X86_64,
	        HEAD
	        ".data\nfoo: .long 0\n.text\n.macro body\nmov foo@GOTPCREL(%rip), %rax\n.endm\n",
	        "",
	        "/x/t.s: a reference of a kind that is not supported (relocation type 42) (in "
	        "body, abi=x86_64)");
	/* the assembler's own words, when they are about no line */
	assert_refused(EXPERIMENT_X86_64,
	               HEAD
	               ".data\nfoo: .long 0\n.text\n.macro body\nmov %fs:foo@TPOFF, %eax\n.endm\n",
	               "", "/x/t.s: Accessing `foo' as thread-local object");
}

static void a_section_that_is_too_large_is_told(void **state)
{
	(void)state;
	assert_refused(EXPERIMENT_X86_64, HEAD ".bss\n.skip 0x5000000\n.text\n.macro body\n.endm\n",
	               "",
	               "/x/t.s: .bss is too large: 83886080 bytes, where 67108864 are the most");
	assert_refused(EXPERIMENT_X86_64, HEAD ".macro body\n.skip 0x100001\n.endm\n", "",
	               "/x/t.s: body is too large: 1048577 bytes, where 1048576 are the most");
	assert_refused(EXPERIMENT_X86_64, HEAD ".macro body\n.balign 8192\n.endm\n", "",
	               "/x/t.s: body is aligned to more than a page");
	assert_refused(EXPERIMENT_X86_64,
	               HEAD ".data\n.balign 8192\nfoo: .long 1\n.text\n.macro body\n.endm\n", "",
	               "/x/t.s: .data is aligned to more than a page");
}

/* ---- levels ---- */

static void a_level_that_no_branch_handles_is_told(void **state)
{
	(void)state;
	static const char text[] =
	        HEAD "#: factor k a b\n#: factor j x y\n# of b nothing is known\n.macro body k, j\n"
	             "nop # not b either\n.ifc \\k,a\ncld /* nor b */\n.endif\n.ifc "
	             "\\j,x\n.endif\n.ifc \\j,y\n.endif\n.endm\n";
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64, text, "a x", "a y");
	drop(&m);
	assert_int_equal(make(&m, EXPERIMENT_X86_64, text, "a x", "b y", NULL), ERROR_INPUT);
	assert_string_equal(m.err.text, "/x/t.s:3: level 'b' of k: no branch of a macro handles it "
	                                "(the code is the same as for a made-up word, "
	                                "and the word stands nowhere in the macros)");
	assert_null(m.p.bytes);
	drop(&m);
}

static void levels_that_need_no_branch_are_fine(void **state)
{
	(void)state;
	struct made m;
	/* registers: a made-up word does not assemble */
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor reg fs gs\n.macro body reg\npush %\\reg\n.endm\n", "fs", "gs");
	drop(&m);
	/* numbers */
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor n 1..5\n#: default n=1\n.macro body n\n.rept \\n\nnop\n.endr\n.endm\n",
	     "1", "5");
	drop(&m);
	/* a level that is only named, and does nothing */
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor k none some\n.macro body k\n.ifc \\k,none\n.endif\n.ifc "
	          "\\k,some\nnop\n.endif\n.endm\n",
	     "none", "some");
	drop(&m);
	/* a level that only moves what the pool or setup is */
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor k 8 9\n.macro setup k\n.byte \\k\n.endm\n.macro body k\nnop\n.endm\n",
	     "8", "9");
	drop(&m);
}

static void a_level_that_differs_only_in_a_reference_is_handled(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor k first second\n.data\nat_first: .long 1\nat_second: .long "
	          "2\nat_no_such_level_qzj: .long 3\n.text\n"
	          ".macro body k\nmov at_\\k(%rip), %eax\n.endm\n",
	     "first", "second");
	drop(&m);
	MAKE(&m, EXPERIMENT_X86_64,
	     HEAD "#: factor k first second\n.data\nat_first: .long 1\nat_second: .long "
	          "2\nat_no_such_level_qzj: .long 3\n.text\n"
	          ".macro setup k\nmov at_\\k(%rip), %eax\n.endm\n.macro body k\nnop\n.endm\n",
	     "first", "second");
	drop(&m);
}

/* ---- errors ---- */

static void assembler_errors_name_the_users_line_and_the_variant(void **state)
{
	(void)state;
	assert_refused(EXPERIMENT_X86_64,
	               HEAD "#: factor k a b\n.macro body k\nnop\nfrob %\\k # b\n.endm\n", "a",
	               "/x/t.s:6: no such instruction: `frob %a' (in abi=x86_64 k=a)");
	/* of the file itself, whatever variant */
	assert_refused(EXPERIMENT_X86_64, HEAD "foo: frob\n.macro body\n.endm\n", "",
	               "/x/t.s:3: no such instruction: `frob'");
}

static void an_error_in_a_nested_macro_names_the_innermost_line(void **state)
{
	(void)state;
	assert_refused(EXPERIMENT_I386,
	               HEAD
	               "#: factor k a b\n.macro inner v\nnop\nfrob \\v\n.endm\n.macro outer "
	               "v\ninner \\v\n.endm\n"
	               ".macro body k\n.ifc \\k,a\nouter 3\n.endif\n.ifc \\k,b\n.endif\n.endm\n",
	               "a", "/x/t.s:6: no such instruction: `frob 3' (in abi=i386 k=a)");
}

static void an_error_directive_in_a_macro_names_its_line(void **state)
{
	(void)state;
	static const char text[] =
	        HEAD "#: factor k a b c\n.macro body k\n.ifc \\k,a\nnop\n.else\n.error \"no such "
	             "level\"\n.endif\n.endm\n";
	struct made m;
	assert_refused(EXPERIMENT_I386, text, "b", "/x/t.s:8: no such level (in abi=i386 k=b)");
	assert_int_equal(make(&m, EXPERIMENT_I386, text, "a", "b", "c", NULL), ERROR_INPUT);
	assert_string_equal(m.err.text, "/x/t.s:8: no such level (in abi=i386 k=b)\n/x/t.s:8: no "
	                                "such level (in abi=i386 k=c)");
	drop(&m);
}

static void many_errors_are_cut_to_five(void **state)
{
	(void)state;
	assert_refused(
	        EXPERIMENT_I386,
	        HEAD ".macro body\nfrob 1\nfrob 2\nfrob 3\nfrob 4\nfrob 5\nfrob 6\nfrob 7\n.endm\n",
	        "",
	        "/x/t.s:4: no such instruction: `frob 1' (in abi=i386)\n/x/t.s:5: no such "
	        "instruction: `frob 2' (in abi=i386)\n"
	        "/x/t.s:6: no such instruction: `frob 3' (in abi=i386)\n/x/t.s:7: no such "
	        "instruction: `frob 4' (in abi=i386)\n"
	        "/x/t.s:8: no such instruction: `frob 5' (in abi=i386)\n...");
}

static void a_path_may_have_quotes_colons_and_backslashes(void **state)
{
	(void)state;
	static const char *const paths[] = {"/x/\"odd\".s", "/x/a:12:b/t.s", "/x/back\\slash.s",
	                                    "/x/with blank.s", "/x/\xc3\xa9.s"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct made m;
		char message[128];
		memset(&m, 0, sizeof m);
		m.x[0] = parse(paths[i], HEAD ".macro body\nfrob\n.endm\n");
		add(&m, EXPERIMENT_X86_64, m.x[0], "");
		assert_int_equal(
		        program_build(EXPERIMENT_X86_64, m.items, 1, &m.probes, &m.p, &m.err),
		        ERROR_INPUT);
		snprintf(message, sizeof message,
		         "%s:4: no such instruction: `frob' (in abi=x86_64)", paths[i]);
		assert_string_equal(m.err.text, message);
		drop(&m);
	}
}

static void warnings_are_kept_and_are_no_errors(void **state)
{
	(void)state;
	struct made m;
	MAKE(&m, EXPERIMENT_I386, HEAD ".macro body\n.warning \"beware\"\nnop\n.endm\n", "");
	assert_non_null(m.p.warnings);
	assert_non_null(strstr(m.p.warnings, "/x/t.s:4: Warning: beware"));
	drop(&m);
	/* nor do they stand among errors */
	assert_refused(EXPERIMENT_I386, HEAD ".macro body\n.warning \"beware\"\nfrob\n.endm\n", "",
	               "/x/t.s:5: no such instruction: `frob' (in abi=i386)");
}

/* A program that takes the assembler's place: says which messages it was asked for, and fails. */
static void with_assembler(const char *text, void (*test)(void))
{
	char directory[] = "/tmp/entrylab-test-XXXXXX", path[64], *old = strdup(getenv("PATH"));
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/as", directory);
	if (text) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
		assert_int_equal(chmod(path, 0755), 0);
	}
	setenv("PATH", directory, 1);
	test();
	setenv("PATH", old, 1);
	free(old);
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
}

static void expect_plain_messages(void)
{
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	setenv("LANGUAGE", "de", 1);
	assert_refused(EXPERIMENT_I386, HEAD ".macro body\n.endm\n", "",
	               "/x/t.s:9: messages in C ");
	unsetenv("LC_ALL");
	unsetenv("LANGUAGE");
}

static void expect_no_assembler(void)
{
	struct made m;
	assert_int_equal(make(&m, EXPERIMENT_I386, HEAD ".macro body\n.endm\n", "", NULL),
	                 ERROR_ABSENT);
	assert_string_equal(
	        m.err.text,
	        "no assembler: `as` is not on the PATH (Debian: apt-get install binutils)");
	drop(&m);
}

static void expect_a_crash_to_be_told(void)
{
	assert_refused(EXPERIMENT_I386, HEAD ".macro body\n.endm\n", "",
	               "the assembler was ended by signal 9: out of memory?");
}

static void expect_a_missing_object_to_be_told(void)
{
	struct made m;
	assert_int_equal(make(&m, EXPERIMENT_I386, HEAD ".macro body\n.endm\n", "", NULL),
	                 ERROR_ABSENT);
	assert_string_equal(
	        m.err.text,
	        "the assembler that is on the PATH wrote no object file: is that GNU as?");
	drop(&m);
}

static void expect_a_broken_object_to_be_told(void)
{
	struct made m;
	assert_int_equal(make(&m, EXPERIMENT_I386, HEAD ".macro body\n.endm\n", "", NULL),
	                 ERROR_INTERNAL);
	assert_non_null(strstr(m.err.text, "libelf"));
	drop(&m);
}

static void the_assembler_is_asked_for_messages_that_can_be_read(void **state)
{
	(void)state;
	with_assembler(
	        "#!/bin/sh\necho \"/x/t.s:9: Error: messages in $LC_ALL $LANGUAGE\" >&2\nexit 1\n",
	        expect_plain_messages);
}

static void an_assembler_that_is_missing_or_broken_is_told(void **state)
{
	(void)state;
	with_assembler(NULL, expect_no_assembler);
	with_assembler("#!/bin/sh\nkill -9 $$\n", expect_a_crash_to_be_told);
	with_assembler("#!/bin/sh\nexit 0\n", expect_a_missing_object_to_be_told);
	with_assembler("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho none >\"$2\"\n",
	               expect_a_broken_object_to_be_told);
}

static void a_program_without_standard_streams_can_assemble(void **state)
{
	(void)state;
	int kept[3];
	struct made m;
	for (int fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD, 20);
		close(fd);
	}
	int rc = make(&m, EXPERIMENT_X86_64, HEAD ".macro body\nnop\n.endm\n", "", NULL);
	for (int fd = 0; fd < 3; fd++) {
		if (kept[fd] >= 0) {
			dup2(kept[fd], fd);
			close(kept[fd]);
		}
	}
	if (rc)
		fail_msg("%s", m.err.text);
	assert_body(&m.p, 0, "90");
	drop(&m);
}

/* ---- many ---- */

static void several_experiments_stand_in_one_program(void **state)
{
	(void)state;
	struct made m;
	memset(&m, 0, sizeof m);
	m.x[0] = parse("/x/one.s", HEAD "#: factor k 1..9\n#: default k=1\n#: repeat loop\n.macro "
	                                "setup k\ncld\n.endm\n.macro body k\n.byte \\k\n.endm\n");
	m.x[1] = parse("/x/two.s", HEAD "#: factor a 1..9\n#: factor b 1..9\n#: default a=1 "
	                                "b=1\n.macro body a, b\n.byte \\a+\\b\n.endm\n"
	                                ".macro baseline a, b\nnop\n.endm\n");
	add(&m, EXPERIMENT_I386, m.x[0], "1");
	add(&m, EXPERIMENT_I386, m.x[0], "2");
	add(&m, EXPERIMENT_I386, m.x[1], "3 4");
	if (program_build(EXPERIMENT_I386, m.items, m.n, &m.probes, &m.p, &m.err))
		fail_msg("%s", m.err.text);
	assert_body(&m.p, 0, "01");
	assert_body(&m.p, 1, "02");
	assert_body(&m.p, 2, "07");
	assert_true(m.p.variants[1].setup >= 0 && m.p.variants[1].baseline < 0);
	assert_true(m.p.variants[2].setup < 0 && m.p.variants[2].baseline >= 0);
	assert_int_equal(m.p.variants[1].repeat, PROTOCOL_LOOP);
	assert_int_equal(m.p.variants[2].repeat, PROTOCOL_UNROLL);
	drop(&m);
}

static void an_error_in_the_second_experiment_names_its_file(void **state)
{
	(void)state;
	struct made m;
	memset(&m, 0, sizeof m);
	m.x[0] = parse("/x/one.s",
	               HEAD "#: factor k 1..9\n#: default k=1\n.macro body k\n.byte \\k\n.endm\n");
	m.x[1] = parse("/x/two.s", HEAD "\n.macro body\nfrob\n.endm\n");
	add(&m, EXPERIMENT_I386, m.x[0], "1");
	add(&m, EXPERIMENT_I386, m.x[1], "");
	assert_int_equal(program_build(EXPERIMENT_I386, m.items, m.n, &m.probes, &m.p, &m.err),
	                 ERROR_INPUT);
	assert_string_equal(m.err.text, "/x/two.s:5: no such instruction: `frob' (in abi=i386)");
	drop(&m);
}

static void a_bodys_hash_tells_code_and_not_company(void **state)
{
	(void)state;
	static const char text[] = HEAD
	        "#: factor n 1..9\n#: default n=1\n.data\nfoo: .long 0, 0\n.text\n.macro pool "
	        "n\n.byte 7\n.endm\n"
	        ".macro body n\n.if \\n == 9\nmov foo, %eax\n.else\n.if \\n == 8\nmov foo+4, %eax\n"
	        ".else\ncall pool\n.byte \\n / 2\n.endif\n.endif\n.endm\n";
	struct made m;
	char alone[65], among[65], same[65], other[65], shifted[65];
	MAKE(&m, EXPERIMENT_I386, text, "2");
	program_body_hash(&m.p, 0, alone);
	drop(&m);
	MAKE(&m, EXPERIMENT_I386, text, "5", "9", "3", "2", "8");
	program_body_hash(&m.p, 3, among);
	program_body_hash(&m.p, 2, same);
	program_body_hash(&m.p, 0, other);
	assert_string_equal(alone, among);
	/* 3 / 2 is 1 too: the same code */
	assert_string_equal(alone, same);
	assert_string_not_equal(alone, other);
	/* only the reference differs */
	program_body_hash(&m.p, 1, other);
	program_body_hash(&m.p, 4, shifted);
	assert_string_not_equal(other, shifted);
	assert_int_equal(strlen(alone), 64);
	drop(&m);
}

static void a_thousand_variants_are_one_program(void **state)
{
	(void)state;
	struct made m;
	memset(&m, 0, sizeof m);
	m.x[0] = parse("/x/t.s", HEAD "#: factor n 0..999\n#: default n=1\n.macro setup "
	                              "n\nnop\n.endm\n.macro pool n\nret\n.endm\n"
	                              ".macro body n\nmov $\\n, %eax\ncall pool\n.endm\n");
	for (int i = 0; i < 1000; i++) {
		char word[16];
		snprintf(word, sizeof word, "%d", i);
		add(&m, EXPERIMENT_X86_64, m.x[0], word);
	}
	if (program_build(EXPERIMENT_X86_64, m.items, m.n, &m.probes, &m.p, &m.err))
		fail_msg("%s", m.err.text);
	assert_int_equal(m.p.variant_count, 1000);
	assert_int_equal(m.p.section_count, 3000);
	for (size_t i = 0; i < 1000; i++) {
		size_t size;
		uint32_t number;
		const uint8_t *body = program_body(&m.p, i, &size);
		assert_int_equal(size, 10);
		memcpy(&number, body + 1, 4);
		assert_int_equal(number, i);
		assert_int_equal((int32_t)only_fixup(&m.p, m.p.variants[i].body)->section,
		                 pool_of(&m.p, i));
	}
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(macros_become_sections_with_their_levels_bytes),
	        cmocka_unit_test(macros_that_a_file_lacks_are_no_sections),
	        cmocka_unit_test(a_body_without_code_has_no_bytes),
	        cmocka_unit_test(one_file_serves_both_abis),
	        cmocka_unit_test(environment_and_capabilities_are_symbols),
	        cmocka_unit_test(copies_in_a_turn_are_handed_on),
	        cmocka_unit_test(the_data_selector_can_be_an_immediate),
	        cmocka_unit_test(room_in_a_pool_is_not_counted),
	        cmocka_unit_test(what_is_about_pools_and_loops_is_handed_on),
	        cmocka_unit_test(forms_of_repeating_and_eviction_are_handed_on),
	        cmocka_unit_test(a_reference_out_of_a_body_is_kept_for_every_copy),
	        cmocka_unit_test(every_macro_of_a_variant_means_its_own_pool),
	        cmocka_unit_test(a_jump_within_a_body_needs_no_reference),
	        cmocka_unit_test(an_address_of_a_label_in_a_body_is_a_reference_to_that_body),
	        cmocka_unit_test(rip_relative_operands_reach_shared_data),
	        cmocka_unit_test(code_of_the_file_outside_its_macros_is_shared),
	        cmocka_unit_test(references_of_every_width_are_read),
	        cmocka_unit_test(an_absolute_symbol_is_no_section),
	        cmocka_unit_test(a_symbol_that_nothing_defines_is_told),
	        cmocka_unit_test(a_reference_that_cannot_be_applied_is_told),
	        cmocka_unit_test(a_section_that_is_too_large_is_told),
	        cmocka_unit_test(a_level_that_no_branch_handles_is_told),
	        cmocka_unit_test(levels_that_need_no_branch_are_fine),
	        cmocka_unit_test(a_level_that_differs_only_in_a_reference_is_handled),
	        cmocka_unit_test(assembler_errors_name_the_users_line_and_the_variant),
	        cmocka_unit_test(an_error_in_a_nested_macro_names_the_innermost_line),
	        cmocka_unit_test(an_error_directive_in_a_macro_names_its_line),
	        cmocka_unit_test(many_errors_are_cut_to_five),
	        cmocka_unit_test(a_path_may_have_quotes_colons_and_backslashes),
	        cmocka_unit_test(warnings_are_kept_and_are_no_errors),
	        cmocka_unit_test(the_assembler_is_asked_for_messages_that_can_be_read),
	        cmocka_unit_test(an_assembler_that_is_missing_or_broken_is_told),
	        cmocka_unit_test(a_program_without_standard_streams_can_assemble),
	        cmocka_unit_test(several_experiments_stand_in_one_program),
	        cmocka_unit_test(an_error_in_the_second_experiment_names_its_file),
	        cmocka_unit_test(a_bodys_hash_tells_code_and_not_company),
	        cmocka_unit_test(a_thousand_variants_are_one_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
