/* serve: the requests that run variants. */
#ifndef WORKER_SERVE_H
#define WORKER_SERVE_H

#include <stdint.h>

#include "engine/protocol.h"

/* Segments, buffers and stack, once. */
void serve_prepare(const struct protocol_config *config);

/* Each answers over the link. */
void serve_check(const uint32_t *variants, uint32_t n);
void serve_size(const uint32_t *variants, uint32_t n);
void serve_block(const struct protocol_block *block, const struct protocol_entry *entries);

#endif
