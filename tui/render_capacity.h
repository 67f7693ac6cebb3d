/* render_capacity: what the knees of several curves say together. Where the run tells how many
 * bytes one of the curve's number takes, and the curves differ in that, what is full at their knees
 * keeps either so many bytes or so many things, and what it keeps of things far apart tells of its
 * ways. */
#ifndef TUI_RENDER_CAPACITY_H
#define TUI_RENDER_CAPACITY_H

#include <stdint.h>

#include "engine/curve.h"
#include "tui/render_page.h"

/* "48 to 56 KiB" */
char *render_capacity_bytes(uint64_t lo, uint64_t hi);

/* A paragraph for each group of two curves or more that differ in nothing but how many bytes one
 * takes, and whose first knee is a step up. Nothing, where there is none. */
void render_capacity_print(const struct render_page *page, const struct result_run *run,
                           const struct curve *c);

#endif
