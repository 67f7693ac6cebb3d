/* render_text: a run as text for a person. */
#ifndef TUI_RENDER_TEXT_H
#define TUI_RENDER_TEXT_H

#include "tui/render_page.h"

/* Heading, host, outcome, table and what is to be said below it. */
void render_text_run(const struct render_page *page, const struct result_run *run);

/* "reg=fs outer=null": the levels of a row in the factors that vary, or all if none does.
 * malloc'ed. */
char *render_text_label(const struct result_run *run, const struct result_row *row);

/* The table alone: a heading and one line for each of the n rows named, in that order; reasons are
 * cut at the width. */
void render_text_rows(const struct render_page *page, const struct result_run *run,
                      const size_t *rows, size_t n);

/* How many placements the row with most of them has. */
size_t render_text_placements(const struct result_run *run);

#endif
