/* render_compare: two stored runs side by side. */
#ifndef TUI_RENDER_COMPARE_H
#define TUI_RENDER_COMPARE_H

#include "tui/render_page.h"

void render_compare_runs(const struct render_page *page, const struct result_run *a,
                         const struct result_run *b, const char *host_difference,
                         enum render_format format);

#endif
