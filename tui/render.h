/* render: results as a person or a program reads them.
 *
 * Text is for people: aligned at the decimal point, units once in the heading, no more digits than
 * the interval supports, no state by colour alone. JSON lines are record.h's. CSV has every fact of
 * every row. Everything is written to the stream given and nothing else; nothing here fails but by
 * the stream (the caller looks at ferror). What is shown comes from the data alone. */
#ifndef TUI_RENDER_H
#define TUI_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/archive.h"
#include "engine/host.h"
#include "engine/result.h"

enum render_format {
	RENDER_TEXT,
	RENDER_JSONL,
	RENDER_CSV,
	RENDER_FORMATS,
};
extern const char
        *const render_format_name[RENDER_FORMATS]; /* "text", "jsonl", "csv": what --format takes */

struct render_style {
	bool utf8;  /* draw with UTF-8; else ASCII alone, also in place of what the data holds */
	int width;  /* columns a line may have; less than 40 counts as 40 */
	bool color; /* colour may be added; nothing is told by it alone */
};

/* What suits a stream: UTF-8 by the locale's codeset (setlocale must have been called), the
 * terminal's width, colour only on a terminal that has it, with NO_COLOR unset or empty. What is
 * not a terminal gets COLUMNS columns if that is set, else 100. */
struct render_style render_style_for(FILE *out);

/* What suits standard output from now on instead, for those who have led it elsewhere; NULL: what
 * is found out as above. style must live as long. */
void render_style_set(const struct render_style *style);

/* One run: heading, host, outcome, the table, what was left out, controls, warnings and notes, the
 * archive's number. */
void render_run(const struct result_run *run, enum render_format format,
                const struct render_style *style, FILE *out);

/* A few plain sentences about what the table shows: for each factor that varies, what changing it
 * alone does, all else equal. Only rows measured in the same placements are held against each
 * other, paired; the p-values are corrected for their number (Holm) and judged at the run's level.
 * Text, wrapped. Nothing where the run is not trusted or nothing can be said. */
void render_summary(const struct result_run *run, const struct render_style *style, FILE *out);

/* `list runs`: one line a run, in the order given. */
void render_runs(const struct archive_entry *entries, size_t n, enum render_format format,
                 const struct render_style *style, FILE *out);

/* Two stored runs side by side, rows matched by their factors and levels. They were not
 * interleaved, so the difference is that of two independent levels and no verdict is given.
 * host_difference is host_compare's text, or NULL if the hosts are alike. */
void render_compare(const struct result_run *a, const struct result_run *b,
                    const char *host_difference, enum render_format format,
                    const struct render_style *style, FILE *out);

/* The machine, from host_json's text, and what would make results better on it (advice may be NULL
 * if n is 0). */
void render_host(const char *host_json, const struct host_advice *advice, size_t n,
                 enum render_format format, const struct render_style *style, FILE *out);

#endif
