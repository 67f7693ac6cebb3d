#include "listing.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "program_source.h"

enum { EXAMPLE_ADDRESS = 0x10000000 };

static int open_capstone(enum experiment_abi abi, bool detail, csh *handle)
{
	if (cs_open(CS_ARCH_X86, abi == EXPERIMENT_I386 ? CS_MODE_32 : CS_MODE_64, handle) !=
	    CS_ERR_OK)
		return -1;
	cs_option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs_option(*handle, CS_OPT_DETAIL, detail ? CS_OPT_ON : CS_OPT_OFF);
	return 0;
}

void listing_instruction(enum experiment_abi abi, const uint8_t *code, size_t size, size_t offset,
                         char *out, size_t out_size)
{
	csh handle;
	cs_insn *insn = NULL;
	*out = '\0';
	if (!code || offset >= size || open_capstone(abi, false, &handle))
		return;
	size_t n = cs_disasm(handle, code + offset, size - offset, 0, 1, &insn);
	if (n) {
		snprintf(out, out_size, "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "",
		         insn->op_str);
		cs_free(insn, n);
	}
	cs_close(&handle);
}

bool listing_enters_kernel(enum experiment_abi abi, const uint8_t *code, size_t size)
{
	csh handle;
	bool found = false;
	if (!code || !size || open_capstone(abi, false, &handle))
		return false;
	/* data and what capstone does not know are passed over byte by byte */
	for (size_t done = 0; done < size && !found;) {
		cs_insn *insn = NULL;
		size_t n = cs_disasm(handle, code + done, size - done, done, 0, &insn);
		for (size_t i = 0; i < n; i++) {
			found |= insn[i].id == X86_INS_INT || insn[i].id == X86_INS_INT3 ||
			         insn[i].id == X86_INS_SYSCALL || insn[i].id == X86_INS_SYSENTER;
			done += insn[i].size;
		}
		if (n)
			cs_free(insn, n);
		else
			done++;
	}
	cs_close(&handle);
	return found;
}

static bool uses_es(csh handle, enum experiment_abi abi, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	if (insn->id == X86_INS_LES)
		return true;
	/* in 64-bit code %es has no base and no limit: only a load or a store of the register
	 * itself counts */
	if (abi == EXPERIMENT_I386 && x->prefix[1] == X86_PREFIX_ES)
		return true;
	for (uint8_t i = 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_REG && x->operands[i].reg == X86_REG_ES)
			return true;
		if (abi == EXPERIMENT_I386 && x->operands[i].type == X86_OP_MEM &&
		    x->operands[i].mem.segment == X86_REG_ES)
			return true;
	}
	return cs_reg_read(handle, insn, X86_REG_ES) || cs_reg_write(handle, insn, X86_REG_ES);
}

bool listing_touches_es(enum experiment_abi abi, const uint8_t *code, size_t size)
{
	csh handle;
	bool found = false;
	if (!code || !size || open_capstone(abi, true, &handle))
		return false;
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_insn *insn = cs_malloc(handle);
	const uint8_t *at = code;
	uint64_t address = 0;
	while (insn && !found && cs_disasm_iter(handle, &at, &size, &address, insn))
		found = insn->id &&
		        uses_es(handle, abi, insn); /* id 0: skipped data, without detail */
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return found;
}

/* ---- listings ---- */

struct maker {
	csh handle;
	enum experiment_abi abi;
	const struct program *p;
	const size_t *variant; /* of the program -> of the listing */
	uint64_t *address;     /* of each section */
	struct listing *out;
};

static int add_line(struct maker *m, size_t variant, const char *part, uint64_t address,
                    uint64_t start, const uint8_t *bytes, size_t size, const char *text)
{
	struct listing *l = m->out;
	if (l->line_count % 256 == 0) {
		struct listing_line *more = realloc(l->lines, (l->line_count + 256) * sizeof *more);
		if (!more)
			return -1;
		l->lines = more;
	}
	struct listing_line *line = &l->lines[l->line_count++];
	*line = (struct listing_line){.variant = variant,
	                              .part = part,
	                              .address = address,
	                              .offset = (uint32_t)(address - start)};
	line->byte_count = (uint8_t)(size > sizeof line->bytes ? sizeof line->bytes : size);
	memcpy(line->bytes, bytes, line->byte_count);
	snprintf(line->text, sizeof line->text, "%.*s", (int)sizeof line->text - 1, text);
	return 0;
}

/* What place.c does in the worker, for one example address. */
static void relocate(const struct maker *m, const struct protocol_section *s, uint64_t at,
                     uint8_t *code)
{
	for (uint32_t i = 0; i < s->fixups; i++) {
		const struct protocol_fixup *f = &m->p->fixups[s->fixup + i];
		int64_t value =
		        f->addend +
		        (f->section == PROTOCOL_SHARED ? 0 : (int64_t)m->address[f->section]);
		int64_t relative = value - (int64_t)(at + f->at);
		static const unsigned width[] = {
		        [PROTOCOL_ABS16] = 2, [PROTOCOL_ABS32] = 4, [PROTOCOL_ABS64] = 8,
		        [PROTOCOL_REL8] = 1,  [PROTOCOL_REL16] = 2, [PROTOCOL_REL32] = 4,
		        [PROTOCOL_REL64] = 8};
		memcpy(code + f->at, f->kind >= PROTOCOL_REL8 ? &relative : &value, width[f->kind]);
	}
}

/* Bytes of zeros at p, if they are so many that they are room and no code. */
static size_t room_at(const uint8_t *p, size_t size)
{
	enum { ROOM = 64 };
	size_t n = 0;
	while (n < size && !p[n])
		n++;
	return n < ROOM ? 0 : n;
}

static int disassemble(struct maker *m, size_t variant, const char *part,
                       const struct protocol_section *s, uint64_t at)
{
	uint8_t *code = malloc(s->memory + 1);
	char text[224];
	int rc = 0;
	if (!code)
		return -1;
	if (s->size)
		memcpy(code, m->p->bytes + s->offset, s->size);
	memset(code + s->size, 0, s->memory - s->size);
	relocate(m, s, at, code);
	size_t done = 0;
	/* bytes mean something else in a segment of 16 bits */
	bool half = !strcmp(part, "pool") && m->p->variants[s->variant].segment == 16;
	if (half)
		cs_option(m->handle, CS_OPT_MODE, CS_MODE_16);
	while (done < s->memory && !rc) {
		cs_insn *insn = NULL;
		size_t n = cs_disasm(m->handle, code + done, s->memory - done, at + done, 0, &insn);
		for (size_t i = 0; i < n && !rc && !room_at(code + done, s->memory - done); i++) {
			snprintf(text, sizeof text, "%s%s%s", insn[i].mnemonic,
			         *insn[i].op_str ? " " : "", insn[i].op_str);
			rc = add_line(m, variant, part, insn[i].address, at, insn[i].bytes,
			              insn[i].size, text);
			done += insn[i].size;
		}
		if (n)
			cs_free(insn, n);
		size_t room = room_at(code + done, s->memory - done);
		if (room && !rc) {
			snprintf(text, sizeof text, ".zero %zu", room);
			rc = add_line(m, variant, part, at + done, at, code + done, 0, text);
			done += room;
		} else if (done < s->memory &&
		           !rc) { /* data, or an instruction capstone does not know */
			snprintf(text, sizeof text, ".byte 0x%02x", code[done]);
			rc = add_line(m, variant, part, at + done, at, code + done, 1, text);
			done++;
		}
	}
	if (half)
		cs_option(m->handle, CS_OPT_MODE, CS_MODE_32);
	free(code);
	return rc;
}

static int add_part(struct maker *m, size_t variant, const char *part,
                    const struct protocol_section *s, const char *hash)
{
	struct listing *l = m->out;
	struct listing_part *more = realloc(l->parts, (l->part_count + 1) * sizeof *more);
	if (!more)
		return -1;
	l->parts = more;
	more[l->part_count] =
	        (struct listing_part){.variant = variant, .part = part, .size = s ? s->memory : 0};
	memcpy(more[l->part_count].sha256, hash, strlen(hash) + 1);
	l->part_count++;
	return 0;
}

static const char *part_of(const struct program *p, size_t variant, int32_t section)
{
	const struct protocol_variant *v = &p->variants[variant];
	return section == v->setup      ? "setup"
	       : section == v->body     ? "body"
	       : section == v->teardown ? "teardown"
	       : section == v->baseline ? "baseline"
	                                : "pool";
}

static int list_variant(struct maker *m, size_t variant)
{
	const struct program *p = m->p;
	char hash[65];
	program_body_hash(p, variant, hash);
	if (p->variants[variant].body < 0 && add_part(m, m->variant[variant], "body", NULL, hash))
		return -1;
	for (size_t i = 0; i < p->section_count; i++) {
		const struct protocol_section *s = &p->sections[i];
		const char *part = part_of(p, variant, (int32_t)i);
		bool body = !strcmp(part, "body");
		if (s->variant != variant || (!s->memory && !body))
			continue;
		if (add_part(m, m->variant[variant], part, s, body ? hash : "") ||
		    disassemble(m, m->variant[variant], part, s, m->address[i]))
			return -1;
	}
	return 0;
}

static int list_abi(enum experiment_abi abi, const struct experiment *x,
                    const struct experiment_variants *v, const struct host_probes *probes,
                    struct listing *out, struct error *err)
{
	struct program p = {0};
	struct maker m = {.abi = abi, .p = &p, .out = out};
	size_t n = 0;
	int rc = 0;
	struct program_item *items = calloc(v->count + 1, sizeof *items);
	size_t *variant = calloc(v->count + 1, sizeof *variant);
	if (!items || !variant) {
		rc = error_set(err, ERROR_INTERNAL, "out of memory");
		goto done;
	}
	for (size_t i = 0; i < v->count; i++) {
		if (v->items[i].abi != abi)
			continue;
		items[n] = (struct program_item){x, v->items[i].levels};
		variant[n++] = i;
	}
	if (!n || (rc = program_build(abi, items, n, probes, &p, err)))
		goto done;
	m.variant = variant;
	m.address = calloc(p.section_count + 1, sizeof *m.address);
	if (!m.address || open_capstone(abi, false, &m.handle)) {
		rc = error_set(err, ERROR_INTERNAL, "the disassembler does not start");
		goto done;
	}
	uint64_t at = EXAMPLE_ADDRESS;
	for (size_t i = 0; i < p.section_count; i++) {
		uint64_t align = p.sections[i].align;
		at = (at + align - 1) & ~(align - 1);
		m.address[i] = at;
		at = (at + p.sections[i].memory + 15) & ~(uint64_t)15;
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (list_variant(&m, i))
			rc = error_set(err, ERROR_INTERNAL, "out of memory");
	cs_close(&m.handle);
done:
	free(m.address);
	program_free(&p);
	free(items);
	free(variant);
	return rc;
}

int listing_make(const struct experiment *x, const struct experiment_variants *v,
                 const struct host_probes *probes, struct listing *out, struct error *err)
{
	int rc = 0;
	memset(out, 0, sizeof *out);
	for (enum experiment_abi abi = 0; abi < EXPERIMENT_ABIS && !rc; abi++)
		rc = list_abi(abi, x, v, probes, out, err);
	if (rc)
		listing_free(out);
	return rc;
}

void listing_free(struct listing *l)
{
	free(l->lines);
	free(l->parts);
	memset(l, 0, sizeof *l);
}
