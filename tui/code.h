/* code: a listing drawn: the machine code of variants, part by part. */
#ifndef TUI_CODE_H
#define TUI_CODE_H

#include <stdio.h>

#include "engine/experiment.h"
#include "engine/listing.h"
#include "tui/render.h"

/* Text: under each variant its parts with sizes, a line an instruction. JSON lines: an object a
 * part, with its instructions. CSV: a line an instruction. */
void code_print(const struct experiment *x, const struct experiment_variants *v,
                const struct listing *l, enum render_format format, FILE *out)
        __attribute__((nonnull));

#endif
