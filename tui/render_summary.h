/* render_summary: what a table shows, in sentences. */
#ifndef TUI_RENDER_SUMMARY_H
#define TUI_RENDER_SUMMARY_H

#include "tui/render_page.h"

void render_summary_text(const struct render_page *page, const struct result_run *run);

#endif
