/* pattern: zeros and ones with a given share of ones, for code whose path depends on where it came
 * from. */
#ifndef WORKER_PATTERN_H
#define WORKER_PATTERN_H

#include <stdint.h>

enum { PATTERN_SIZE = 1000000, PATTERN_PERIOD = 64, PATTERN_RUN = 1000 };

/* Makes the pattern of a kind (enum in protocol.h) and a share in percent, unless it is there
 * already; kind 0: nothing. random: a period that no predictor learns; short: the same
 * PATTERN_PERIOD bytes again and again; blocks: PATTERN_RUN times as long runs of ones and of
 * zeros. The same on every machine and in every run. */
void pattern_make(uint32_t kind, uint32_t share);

/* Its address and size; 0 for kind 0. */
uint64_t pattern_address(uint32_t kind, uint32_t share, uint64_t *size);

#endif
