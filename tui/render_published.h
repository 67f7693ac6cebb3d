/* render_published: published figures beside this machine's. */
#ifndef TUI_RENDER_PUBLISHED_H
#define TUI_RENDER_PUBLISHED_H

#include "engine/published.h"
#include "tui/render.h"

/* `published`. */
void render_published_list(const struct published_list *list, enum render_format format, FILE *out)
        __attribute__((nonnull));

/* `published TABLE`. run: this machine's, or NULL, and then why there is none. Figures of a run
 * that is not trusted are shown, and the table says that it is not. */
void render_published_table(const struct published *p, const struct result_run *run,
                            const char *why_not, enum render_format format, FILE *out)
        __attribute__((nonnull(1, 5)));

#endif
