/* render_json: small things that every JSON line of ours needs. */
#ifndef TUI_RENDER_JSON_H
#define TUI_RENDER_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "engine/stats.h"

/* A string; bytes that are not UTF-8 become "?". NULL: null. */
json_t *render_json_text(const char *text);

/* A number; null where there is none: the caller owes a reason. */
json_t *render_json_number(double v);

/* {"est":...,"lo":...,"hi":...} */
json_t *render_json_interval(const struct stats_interval *i);

/* Writes object as one line and gives it back. */
void render_json_line(FILE *out, json_t *object);

#endif
