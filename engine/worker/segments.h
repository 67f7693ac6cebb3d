/* segments: descriptors of our own, and the environment that tells bodies about them. */
#ifndef WORKER_SEGMENTS_H
#define WORKER_SEGMENTS_H

#include "engine/environment.h"
#include "engine/protocol.h"

/* Writes LDT entries 1 and 2, the flat data and code descriptors that config wants, and takes two
 * thread areas, as far as the capabilities allow, and fills the selectors, addresses and bases of
 * env (zero where there is none: variants that need them are not run, host.h's probes say why). */
void segments_prepare(struct environment *env, const struct protocol_config *config);

/* Entry 3: a data segment of size bytes at base, below 4 GB. The selector, or 0. */
uint16_t segments_area(uintptr_t base, uint32_t size);

/* A code segment at base in the slot with that number (0 to PROTOCOL_LDT_SEGMENT_MOST - 1), of 16
 * or 32 bits. The selector, or 0. */
uint16_t segments_code(uint32_t slot, uintptr_t base, uint32_t bits);

/* The base of the code segment that a selector names; 0 for flat ones. */
uintptr_t segments_base(uint16_t selector);

#endif
