/* render_csv: RFC 4180: one header, fields quoted where they must be, lines end in CR LF. Missing
 * numbers are empty fields. */
#ifndef TUI_RENDER_CSV_H
#define TUI_RENDER_CSV_H

#include <stdio.h>

#include "engine/result.h"

/* One row a variant with every fact; a variant without figures has its reason. */
void render_csv_run(const struct result_run *run, FILE *out);

/* For other tables. A line is fields, then render_csv_end. first: no comma before it. text may be
 * NULL: an empty field. */
void render_csv_text(FILE *out, bool first, const char *text);
void render_csv_number(FILE *out, bool first, double v);
void render_csv_end(FILE *out);

#endif
