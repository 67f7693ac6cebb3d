#include "pattern.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/protocol.h"
#include "link.h"
#include "place.h"

enum { KINDS = 4, SHARES = 101 };
static uint8_t *patterns[KINDS][SHARES];

static bool one(uint32_t share, uint64_t *random)
{
	return place_random(random) % 100 < share;
}

/* Exactly share percent of ones in n bytes, in random order: a short pattern by independent draws
 * could have a share of its own. */
static void shuffle(uint8_t *p, uint32_t n, uint32_t share, uint64_t *random)
{
	uint32_t ones = (n * share + 50) / 100;
	for (uint32_t i = 0; i < n; i++)
		p[i] = i < ones;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(place_random(random) % (i + 1));
		uint8_t t = p[i];
		p[i] = p[j];
		p[j] = t;
	}
}

void pattern_make(uint32_t kind, uint32_t share)
{
	uint64_t random = 0x9e3779b97f4a7c15u;
	if (!kind || kind >= KINDS || share >= SHARES || patterns[kind][share])
		return;
	uint8_t *p = place_map(PATTERN_SIZE, &random);
	if (!p)
		link_fail("cannot map a pattern");
	if (kind == PROTOCOL_PATTERN_RANDOM)
		for (uint32_t i = 0; i < PATTERN_SIZE; i++)
			p[i] = one(share, &random);
	else if (kind == PROTOCOL_PATTERN_SHORT)
		shuffle(p, PATTERN_PERIOD, share, &random);
	for (uint32_t i = PATTERN_PERIOD; i < PATTERN_SIZE && kind == PROTOCOL_PATTERN_SHORT; i++)
		p[i] = p[i - PATTERN_PERIOD];
	for (uint32_t i = 0; i < PATTERN_SIZE && kind == PROTOCOL_PATTERN_BLOCKS; i++)
		p[i] = i % PATTERN_RUN < PATTERN_RUN * share / 100;
	patterns[kind][share] = p;
}

uint64_t pattern_address(uint32_t kind, uint32_t share, uint64_t *size)
{
	uint8_t *p = kind < KINDS && share < SHARES ? patterns[kind][share] : NULL;
	*size = p ? PATTERN_SIZE : 0;
	return (uintptr_t)p;
}
