/* render_runs: the archive's list of runs. */
#ifndef TUI_RENDER_RUNS_H
#define TUI_RENDER_RUNS_H

#include "tui/render_page.h"

void render_runs_list(const struct render_page *page, const struct archive_entry *entries, size_t n,
                      enum render_format format);

#endif
