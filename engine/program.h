/* program: variants as machine code that can be placed anywhere.
 *
 * Every macro of every variant is assembled into a section of its own, in one run of the assembler.
 * So a reference that leaves the macro is a relocation, and a body can be repeated and moved by
 * copying its bytes and applying the relocations again for each copy (copying without that breaks
 * operands relative to the instruction pointer). */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "experiment.h"
#include "host.h"
#include "protocol.h"

/* What is to be assembled: a variant of an experiment. All of one ABI. */
struct program_item {
	const struct experiment *experiment;
	char *const *levels;
};

struct program {
	enum experiment_abi abi;
	struct protocol_section *sections;
	size_t section_count;
	struct protocol_fixup *fixups;
	size_t fixup_count;
	struct protocol_variant *variants; /* as many as items */
	size_t variant_count;
	uint8_t *bytes;
	size_t byte_count;
	char *warnings; /* the assembler's, or NULL */
};

/* Assembles items (n >= 1) into *out, which the caller frees with program_free. ERROR_INPUT: an
 * assembler error (PATH:LINE of the experiment's file), a symbol that is not defined, a relocation
 * that cannot be applied, a level that no branch of a macro handles. ERROR_ABSENT: no assembler. */
int program_build(enum experiment_abi abi, const struct program_item *items, size_t n,
                  const struct host_probes *probes, struct program *out, struct error *err);
void program_free(struct program *p);

/* The bytes of one variant's body, before placement. *size may be 0. */
const uint8_t *program_body(const struct program *p, size_t variant, size_t *size);

/* Bytes of one variant's pool; 0: it has none. Zeros at its beginning, and 64 or more in a row, are
 * room that other code could have, and do not count. */
uint32_t program_pool_bytes(const struct program *p, size_t variant);

/* Writes the 64 hex digits of the SHA-256 of the body's bytes and relocations, and a NUL. */
void program_body_hash(const struct program *p, size_t variant, char out[65]);

#endif
