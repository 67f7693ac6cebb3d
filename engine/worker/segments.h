/* segments: descriptors of our own, and the environment that tells bodies about them. */
#ifndef WORKER_SEGMENTS_H
#define WORKER_SEGMENTS_H

#include "engine/environment.h"

/* Writes LDT entries 1 and 2 and takes two thread areas, as far as the capabilities (1 << enum host_capability) allow, and fills the selectors, addresses and
 * bases of env (zero where there is none: variants that need them are not run, host.h's probes say why). */
void segments_prepare(struct environment *env, uint32_t capabilities);

#endif
