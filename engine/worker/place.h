/* place: code at random addresses, anew for every block.
 *
 * A program's variants are copied into a memfd that is mapped twice, writable here and executable
 * there, at addresses and offsets drawn at random; then their relocations are applied. Where code
 * lies moves results by more than most differences that are looked for (two copies of one system
 * call differed by 137 cycles): so no placement is used for more than one block. */
#ifndef WORKER_PLACE_H
#define WORKER_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/protocol.h"

/* Where one variant lies. Addresses are below 2 GB. */
struct place {
	uint32_t code;   /* first copy of the body */
	uint32_t stride; /* bytes from one copy to the next */
	uint32_t copies; /* how many stand behind one another: of a turn in a loop */
	uint32_t setup, setup_size, teardown, teardown_size, pool, pool_size; /* 0: none */
	uint32_t segment; /* selector of a code segment at the pool, 0: none; serve.c's */
	uint32_t nothing; /* once: where an execution of no iterations enters, on a line that
	                     evicting the body does not touch */
};

/* Takes over the message PROGRAM (kept until the next). Fails (link_fail) when it is inconsistent.
 */
void place_load(const void *message, uint32_t size);
uint32_t place_variant_count(void);
const struct protocol_variant *place_variant(uint32_t variant);

/* The most copies of the body that may be unrolled: 16 KiB of code, so that it stays in a
 * first-level instruction cache, 8,192 copies and 256 KiB of stack; at least 2. */
uint32_t place_copies_limit(uint32_t variant);

/* Places the n variants named, in random order, copies[i] bodies each (loop: of one turn), and
 * fills out[i]. Replaces what was placed before. random is xorshift state. */
void place_block(const uint32_t *variants, const uint32_t *copies, uint32_t n, uint64_t *random,
                 struct place *out);

/* The address at which `iterations` bodies are still to come. */
uint32_t place_entry(uint32_t variant, const struct place *p, uint32_t iterations);

/* Memory at a random page below 2 GB, readable and writable, populated; NULL: none. */
void *place_map(size_t size, uint64_t *random);

uint64_t place_random(uint64_t *state);

#endif
