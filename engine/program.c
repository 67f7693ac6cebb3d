#include "program.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assembler.h"
#include "program_source.h"

/* What an ELF relocation does, in our terms; width in bytes of the field that holds it. */
struct relocation {
	unsigned type;
	enum protocol_fixup_kind kind;
	unsigned width;
};
static const struct relocation relocations[EXPERIMENT_ABIS][12] = {
        [EXPERIMENT_I386] = {{R_386_32, PROTOCOL_ABS32, 4},
                             {R_386_PC32, PROTOCOL_REL32, 4},
                             {R_386_PLT32, PROTOCOL_REL32, 4},
                             {R_386_16, PROTOCOL_ABS16, 2},
                             {R_386_PC16, PROTOCOL_REL16, 2},
                             {R_386_PC8, PROTOCOL_REL8, 1}},
        [EXPERIMENT_X86_64] = {{R_X86_64_64, PROTOCOL_ABS64, 8},
                               {R_X86_64_PC32, PROTOCOL_REL32, 4},
                               {R_X86_64_PLT32, PROTOCOL_REL32, 4},
                               {R_X86_64_32, PROTOCOL_ABS32, 4},
                               {R_X86_64_32S, PROTOCOL_ABS32, 4},
                               {R_X86_64_16, PROTOCOL_ABS16, 2},
                               {R_X86_64_PC16, PROTOCOL_REL16, 2},
                               {R_X86_64_PC8, PROTOCOL_REL8, 1},
                               {R_X86_64_PC64, PROTOCOL_REL64, 8}},
};

/* Bytes of one macro of a variant, and of what a file puts into sections of its own. */
#define MACRO_MOST   (1ul << 20)
#define SECTION_MOST (64ul << 20)

struct reader {
	const struct program_item *items;
	Elf *elf;
	struct program *p;
	size_t elf_sections;
	int32_t *number; /* ELF section -> ours, -1 none */
	uint8_t *macro;  /* our section -> enum program_macro, PROGRAM_MACROS: the file's own */
	size_t names;    /* section that holds section names */
	Elf_Data *symbols;
	size_t symbol_names; /* section that holds symbol names */
	struct error *err;
};

static int out_of_memory(struct error *err)
{
	return error_set(err, ERROR_INTERNAL, "out of memory");
}

void program_free(struct program *p)
{
	free(p->sections);
	free(p->fixups);
	free(p->variants);
	free(p->bytes);
	free(p->warnings);
	memset(p, 0, sizeof *p);
}

/* ".el.b.12" -> macro and variant. */
static bool section_owner(const char *name, enum program_macro *macro, size_t *variant)
{
	char letter;
	if (sscanf(name, ".el.%c.%zu", &letter, variant) != 2)
		return false;
	for (*macro = 0; *macro < PROGRAM_MACROS; (*macro)++)
		if (program_macro_letter[*macro] == letter)
			return true;
	return false;
}

/* The line of a file where a symbol stands first, comments aside; 0: nowhere. */
static unsigned line_of(const struct experiment *x, const char *symbol)
{
	size_t n = symbol ? strlen(symbol) : 0;
	unsigned line = 1;
	static const char part[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$";
	for (const char *c = x->code; n && *c; c++) {
		line += *c == '\n';
		if (!strncmp(c, symbol, n) && (c == x->code || !strchr(part, c[-1])) &&
		    (!c[n] || !strchr(part, c[n])))
			return line;
	}
	return 0;
}

/* A message about a section, and a symbol or NULL. The object file has no lines: the one where the
 * symbol stands, the macro and the variant must do. */
static int refuse(const struct reader *r, const struct protocol_section *s, const char *symbol,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static int refuse(const struct reader *r, const struct protocol_section *s, const char *symbol,
                  const char *fmt, ...)
{
	bool owned = s->variant != PROTOCOL_SHARED;
	const struct program_item *item = &r->items[owned ? s->variant : r->p->variant_count - 1];
	char text[256], *variant = NULL;
	size_t size;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	FILE *f = owned ? open_memstream(&variant, &size) : NULL;
	if (f) {
		fprintf(f, " (in %s, ", program_macro_name[r->macro[s - r->p->sections]]);
		program_source_write_variant(f, item);
		fputc(')', f);
	}
	if (f && fclose(f)) {
		free(variant);
		variant = NULL;
	}
	/* what has no file (snippets) has no lines that a person could look up */
	unsigned line = strchr(item->experiment->path, '/') ? line_of(item->experiment, symbol) : 0;
	if (line)
		error_set(r->err, ERROR_INPUT, "%s:%u: %s%s", item->experiment->path, line, text,
		          variant ? variant : "");
	else
		error_set(r->err, ERROR_INPUT, "%s: %s%s", item->experiment->path, text,
		          variant ? variant : "");
	free(variant);
	return ERROR_INPUT;
}

static int add_bytes(struct program *p, const void *data, size_t size, uint32_t *offset)
{
	*offset = (uint32_t)p->byte_count;
	if (!size)
		return 0;
	uint8_t *bigger = realloc(p->bytes, p->byte_count + size);
	if (!bigger)
		return -1;
	p->bytes = bigger;
	memcpy(bigger + p->byte_count, data, size);
	p->byte_count += size;
	return 0;
}

static void own(struct program *p, enum program_macro macro, size_t variant, int32_t section)
{
	struct protocol_variant *v = &p->variants[variant];
	if (macro == PROGRAM_SETUP)
		v->setup = section;
	else if (macro == PROGRAM_TEARDOWN)
		v->teardown = section;
	else if (macro == PROGRAM_BODY)
		v->body = section;
	else if (macro == PROGRAM_BASELINE)
		v->baseline = section;
	else if (macro == PROGRAM_POOL)
		v->pool = section;
}

static int read_section(struct reader *r, Elf_Scn *scn, size_t index)
{
	GElf_Shdr sh;
	if (!gelf_getshdr(scn, &sh))
		return error_set(r->err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	if (!(sh.sh_flags & SHF_ALLOC) || (sh.sh_type != SHT_PROGBITS && sh.sh_type != SHT_NOBITS))
		return 0;
	const char *name = elf_strptr(r->elf, r->names, sh.sh_name);
	enum program_macro macro = PROGRAM_MACROS;
	size_t variant = 0;
	bool owned = name && section_owner(name, &macro, &variant) && variant < r->p->variant_count;
	if (!owned && !sh.sh_size)
		return 0; /* .text and .data of a file that puts nothing there */
	const struct experiment *x = r->items[owned ? variant : r->p->variant_count - 1].experiment;
	if (sh.sh_addralign > 4096)
		return error_set(r->err, ERROR_INPUT, "%s: %s is aligned to more than a page",
		                 x->path, owned ? program_macro_name[macro] : name);
	/* no cache of the first two levels holds more, and placing it would take longer than
	 * running it */
	if (sh.sh_size > (owned ? MACRO_MOST : SECTION_MOST))
		return error_set(r->err, ERROR_INPUT,
		                 "%s: %s is too large: %lu bytes, where %lu are the most", x->path,
		                 owned ? program_macro_name[macro] : name,
		                 (unsigned long)sh.sh_size, owned ? MACRO_MOST : SECTION_MOST);

	struct program *p = r->p;
	struct protocol_section *s = &p->sections[p->section_count];
	*s = (struct protocol_section){
	        .memory = (uint32_t)sh.sh_size,
	        .align = sh.sh_addralign > 1 ? (uint32_t)sh.sh_addralign : 1,
	        .flags = (sh.sh_flags & SHF_EXECINSTR ? PROTOCOL_EXEC : 0u) |
	                 (sh.sh_flags & SHF_WRITE ? PROTOCOL_WRITE : 0u),
	        .variant = owned ? (uint32_t)variant : PROTOCOL_SHARED,
	};
	if (sh.sh_type == SHT_PROGBITS) {
		Elf_Data *data = elf_getdata(scn, NULL);
		s->size = (uint32_t)sh.sh_size;
		if (sh.sh_size && (!data || data->d_size != sh.sh_size))
			return error_set(r->err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
		if (add_bytes(p, data ? data->d_buf : NULL, sh.sh_size, &s->offset))
			return out_of_memory(r->err);
	}
	r->macro[p->section_count] = (uint8_t)(owned ? macro : PROGRAM_MACROS);
	if (owned)
		own(p, macro, variant, (int32_t)p->section_count);
	r->number[index] = (int32_t)p->section_count++;
	return 0;
}

/* Where a relocation's symbol is: a section of ours and an offset, or absolute. */
static int resolve(struct reader *r, const struct protocol_section *from, size_t symbol,
                   uint32_t *section, int64_t *value)
{
	GElf_Sym sym;
	if (!r->symbols || !gelf_getsym(r->symbols, (int)symbol, &sym))
		return error_set(r->err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	const char *name = elf_strptr(r->elf, r->symbol_names, sym.st_name);
	*value = (int64_t)sym.st_value;
	/* no symbol: the target is a number, which stands in the addend (System V ABI, symbol
	 * table, index 0) */
	if (sym.st_shndx == SHN_ABS || !symbol) {
		*section = PROTOCOL_SHARED;
		return 0;
	}
	if (sym.st_shndx == SHN_UNDEF)
		return refuse(r, from, name, "symbol '%s' is not defined", name ? name : "?");
	if (sym.st_shndx >= r->elf_sections || r->number[sym.st_shndx] < 0)
		return refuse(r, from, name, "symbol '%s' is in no section that is loaded%s",
		              name ? name : "?",
		              sym.st_shndx == SHN_COMMON ? " (.comm: use .lcomm)" : "");
	*section = (uint32_t)r->number[sym.st_shndx];
	return 0;
}

static int64_t field_value(const uint8_t *at, unsigned width)
{
	int8_t b;
	int16_t w;
	int32_t l;
	int64_t q;
	switch (width) {
	case 1:
		memcpy(&b, at, 1);
		return b;
	case 2:
		memcpy(&w, at, 2);
		return w;
	case 4:
		memcpy(&l, at, 4);
		return l;
	default:
		memcpy(&q, at, 8);
		return q;
	}
}

static int read_relocations(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	if (sh->sh_info >= r->elf_sections || r->number[sh->sh_info] < 0)
		return 0;
	struct program *p = r->p;
	struct protocol_section *target = &p->sections[r->number[sh->sh_info]];
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	struct protocol_fixup *all = realloc(p->fixups, (p->fixup_count + n + 1) * sizeof *all);
	if (!all)
		return out_of_memory(r->err);
	p->fixups = all;
	target->fixup = (uint32_t)p->fixup_count;
	target->fixups = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		GElf_Rel rel = {0};
		GElf_Rela rela = {0};
		bool has_addend = sh->sh_type == SHT_RELA;
		if (has_addend ? !gelf_getrela(data, (int)i, &rela)
		               : !gelf_getrel(data, (int)i, &rel))
			return error_set(r->err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
		GElf_Xword info = has_addend ? rela.r_info : rel.r_info;
		GElf_Addr at = has_addend ? rela.r_offset : rel.r_offset;
		const struct relocation *kind = NULL;
		for (size_t k = 0; k < 12 && relocations[p->abi][k].width; k++)
			if (relocations[p->abi][k].type == GELF_R_TYPE(info))
				kind = &relocations[p->abi][k];
		if (!kind || at + kind->width > target->size)
			return refuse(
			        r, target, NULL,
			        "a reference of a kind that is not supported (relocation type %lu)",
			        (unsigned long)GELF_R_TYPE(info));
		int64_t value = 0;
		struct protocol_fixup *f = &all[p->fixup_count];
		*f = (struct protocol_fixup){.at = (uint32_t)at, .kind = (uint32_t)kind->kind};
		int rc = resolve(r, target, GELF_R_SYM(info), &f->section, &value);
		if (rc)
			return rc;
		f->addend = value +
		            (has_addend ? rela.r_addend
		                        : field_value(p->bytes + target->offset + at, kind->width));
		p->fixup_count++;
	}
	return 0;
}

static int read_object(struct reader *r)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	int rc;
	if (elf_getshdrnum(r->elf, &r->elf_sections) || elf_getshdrstrndx(r->elf, &r->names))
		return error_set(r->err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	r->number = malloc(r->elf_sections * sizeof *r->number);
	r->macro = calloc(r->elf_sections, sizeof *r->macro);
	r->p->sections = calloc(r->elf_sections, sizeof *r->p->sections);
	if (!r->number || !r->macro || !r->p->sections)
		return out_of_memory(r->err);
	for (size_t i = 0; i < r->elf_sections; i++)
		r->number[i] = -1;
	while ((scn = elf_nextscn(r->elf, scn))) {
		if ((rc = read_section(r, scn, elf_ndxscn(scn))))
			return rc;
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB) {
			r->symbols = elf_getdata(scn, NULL);
			r->symbol_names = sh.sh_link;
		}
	}
	while ((scn = elf_nextscn(r->elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_type == SHT_REL || sh.sh_type == SHT_RELA) &&
		    (rc = read_relocations(r, scn, &sh)))
			return rc;
	return 0;
}

static void describe_pattern(struct protocol_variant *v, const struct experiment *x,
                             char *const *levels)
{
	static const char *const kinds[] = {[PROTOCOL_PATTERN_RANDOM] = "random",
	                                    [PROTOCOL_PATTERN_SHORT] = "short",
	                                    [PROTOCOL_PATTERN_BLOCKS] = "blocks"};
	if (x->pattern_share < 0)
		return;
	v->share = (uint32_t)strtoul(levels[x->pattern_share], NULL, 10);
	for (uint32_t i = PROTOCOL_PATTERN_RANDOM; i <= PROTOCOL_PATTERN_BLOCKS; i++)
		if (!strcmp(levels[x->pattern_kind], kinds[i]))
			v->pattern = i;
}

static void describe_variants(struct program *p, const struct program_item *items)
{
	static const uint32_t repeat[] = {[EXPERIMENT_UNROLL] = PROTOCOL_UNROLL,
	                                  [EXPERIMENT_LOOP] = PROTOCOL_LOOP,
	                                  [EXPERIMENT_ONCE] = PROTOCOL_ONCE};
	static const uint32_t target[] = {[EVICT_CODE] = PROTOCOL_TARGET_CODE,
	                                  [EVICT_POOL] = PROTOCOL_TARGET_POOL,
	                                  [EVICT_BUFFER] = PROTOCOL_TARGET_BUFFER,
	                                  [EVICT_ALL] = PROTOCOL_TARGET_ALL};
	for (size_t i = 0; i < p->variant_count; i++) {
		const struct experiment *x = items[i].experiment;
		struct protocol_variant *v = &p->variants[i];
		*v = (struct protocol_variant){
		        .setup = -1,
		        .teardown = -1,
		        .body = -1,
		        .baseline = -1,
		        .pool = -1,
		        .stack = experiment_stack_for(x, items[i].levels),
		        .align = x->align ? x->align : 1,
		        .repeat = repeat[experiment_repeat_for(x, items[i].levels)],
		        .copies = experiment_copies_for(x, items[i].levels)};
		describe_pattern(v, x, items[i].levels);
		const struct experiment_setting *segment =
		        experiment_setting_for(x, x->segments, x->segment_count, items[i].levels);
		if (segment)
			v->segment = (uint32_t)segment->value;
		const struct experiment_setting *warm =
		        experiment_setting_for(x, x->warms, x->warm_count, items[i].levels);
		v->warm = warm ? (uint32_t)warm->value : x->warm;
		for (size_t k = 0; k < x->evict_count; k++) {
			const struct experiment_evict *e = &x->evicts[k];
			if (!experiment_condition_holds(x, &e->when, items[i].levels))
				continue;
			v->evict = e->flush ? PROTOCOL_EVICT_FLUSH : PROTOCOL_EVICT_WALK;
			v->target = target[e->target];
			v->walk = e->walk;
		}
	}
}

/* Assembles without looking at whether levels are handled. */
static int build(enum experiment_abi abi, const struct program_item *items, size_t n,
                 const struct host_probes *probes, struct program *out, struct error *err)
{
	size_t size = 0;
	int object = -1, rc;
	char *messages = NULL;
	memset(out, 0, sizeof *out);
	out->abi = abi;
	out->variant_count = n;
	out->variants = calloc(n, sizeof *out->variants);
	char *text = program_source_write(abi, items, n, probes, &size);
	if (!text || !out->variants) {
		free(text);
		return out_of_memory(err);
	}
	describe_variants(out, items);
	char *directory = strdup(items[n - 1].experiment->path),
	     *slash = directory ? strrchr(directory, '/') : NULL;
	if (slash)
		*slash = '\0';
	rc = assembler_run(abi, text, size, slash ? directory : NULL, &object, &messages, err);
	free(directory);
	free(text);
	if (rc == ERROR_INPUT && messages && *messages)
		program_source_explain(items, n, messages, err);
	if (rc) {
		free(messages);
		return rc;
	}
	out->warnings = messages;
	elf_version(EV_CURRENT);
	struct reader r = {.items = items, .p = out, .err = err};
	r.elf = elf_begin(object, ELF_C_READ, NULL);
	rc = r.elf ? read_object(&r) : error_set(err, ERROR_INTERNAL, "libelf: %s", elf_errmsg(-1));
	free(r.number);
	free(r.macro);
	if (r.elf)
		elf_end(r.elf);
	close(object);
	return rc;
}

static bool same_section(const struct program *a, size_t i, const struct program *b, size_t j)
{
	const struct protocol_section *s = &a->sections[i], *t = &b->sections[j];
	return s->size == t->size && s->memory == t->memory && s->fixups == t->fixups &&
	       (!s->size || !memcmp(a->bytes + s->offset, b->bytes + t->offset, s->size)) &&
	       (!s->fixups || !memcmp(a->fixups + s->fixup, b->fixups + t->fixup,
	                              s->fixups * sizeof(struct protocol_fixup)));
}

/* Of programs with one variant each, so that sections stand in the same order: body, setup, pool,
 * data and all. */
static bool same_program(const struct program *a, const struct program *b)
{
	if (a->section_count != b->section_count)
		return false;
	for (size_t i = 0; i < a->section_count; i++)
		if (!same_section(a, i, b, i))
			return false;
	return true;
}

/* Is the code of a variant the same as with a word in place of the level that no file can know?
 * Then the level is handled by no branch. */
static int check_level(enum experiment_abi abi, const struct program_item *item, size_t factor,
                       const struct host_probes *probes, struct error *err)
{
	const struct experiment *x = item->experiment;
	char *levels[64];
	struct program real = {0}, odd = {0};
	memcpy(levels, item->levels, x->factor_count * sizeof *levels);
	levels[factor] = (char *)"no_such_level_qzj";
	struct program_item made_up = {x, levels};
	int rc = build(abi, item, 1, probes, &real, err);
	struct error ignored;
	if (!rc && !build(abi, &made_up, 1, probes, &odd, &ignored) && same_program(&real, &odd))
		rc = error_set(err, ERROR_INPUT,
		               "%s:%u: level '%s' of %s: no branch of a macro handles it (the code "
		               "is the same as for a "
		               "made-up word, and the word stands nowhere in the macros)",
		               x->path, x->factors[factor].line, item->levels[factor],
		               x->factors[factor].name);
	program_free(&real);
	program_free(&odd);
	return rc;
}

static int check_levels(enum experiment_abi abi, const struct program_item *items, size_t n,
                        const struct host_probes *probes, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct experiment *x = items[i].experiment;
		for (size_t f = 1; f < x->factor_count; f++) {
			const char *level = items[i].levels[f];
			/* the engine itself handles the levels of a pattern */
			bool seen = x->factors[f].range || (long)f == x->pattern_share ||
			            (long)f == x->pattern_kind ||
			            experiment_level_mentioned(x, level);
			for (size_t j = 0; j < i && !seen; j++)
				seen = items[j].experiment == x &&
				       !strcmp(items[j].levels[f], level);
			int rc = seen ? 0 : check_level(abi, &items[i], f, probes, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int program_build(enum experiment_abi abi, const struct program_item *items, size_t n,
                  const struct host_probes *probes, struct program *out, struct error *err)
{
	int rc = build(abi, items, n, probes, out, err);
	if (!rc)
		rc = check_levels(abi, items, n, probes, err);
	if (rc)
		program_free(out);
	return rc;
}

const uint8_t *program_body(const struct program *p, size_t variant, size_t *size)
{
	int32_t s = p->variants[variant].body;
	*size = s < 0 ? 0 : p->sections[s].size;
	return s < 0 || !p->bytes ? NULL : p->bytes + p->sections[s].offset;
}

uint32_t program_pool_bytes(const struct program *p, size_t variant)
{
	enum { ROOM = 64 };
	int32_t number = p->variants[variant].pool;
	if (number < 0)
		return 0;
	const struct protocol_section *s = &p->sections[number];
	if (!s->size)
		return 0;
	const uint8_t *bytes = p->bytes + s->offset;
	uint32_t count = 0;
	for (uint32_t i = 0, zeros; i < s->size; i += zeros + 1) {
		for (zeros = 0; i + zeros < s->size && !bytes[i + zeros];)
			zeros++;
		if (i && zeros < ROOM)
			count += zeros;
		count += i + zeros < s->size;
	}
	return count;
}

void program_body_hash(const struct program *p, size_t variant, char out[65])
{
	int32_t s = p->variants[variant].body;
	SHA2_CTX ctx;
	SHA256Init(&ctx);
	if (s >= 0) {
		const struct protocol_section *b = &p->sections[s];
		SHA256Update(&ctx, p->bytes + b->offset, b->size);
		for (uint32_t i = 0; i < b->fixups; i++) {
			/* not the section number: it depends on what else is in the run */
			const struct protocol_fixup *f = &p->fixups[b->fixup + i];
			SHA256Update(&ctx, (const uint8_t *)&f->addend, sizeof f->addend);
			SHA256Update(&ctx, (const uint8_t *)&f->at, sizeof f->at);
			SHA256Update(&ctx, (const uint8_t *)&f->kind, sizeof f->kind);
		}
	}
	SHA256End(&ctx, out);
}
