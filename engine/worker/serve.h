/* serve: the requests that run variants. */
#ifndef WORKER_SERVE_H
#define WORKER_SERVE_H

#include <stdint.h>

#include "engine/protocol.h"

/* What every process that answers inherits: segments, patterns. The program has been loaded. */
void serve_prepare(const struct protocol_config *config);

/* What a process that answers has for itself: signals, buffer, stack, a pipe; and the guard if it
 * is asked for. */
void serve_begin(const struct protocol_begin *begin);

/* Each answers over the link. */
void serve_check(const uint32_t *variants, uint32_t n);
void serve_size(const uint32_t *variants, uint32_t n);
void serve_block(const struct protocol_block *block, const struct protocol_entry *entries);

#endif
