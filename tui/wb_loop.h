/* wb_loop: the event loop: one wait for the terminal, signals and the run. */
#ifndef TUI_WB_LOOP_H
#define TUI_WB_LOOP_H

#include "tui/wb.h"

/* Goes on until run has ended, or, without a run, until the workbench is left. May be called inside
 * of itself, with a run. Returns what run_step returned last: 0, or ERROR_INTERNAL with err
 * filled. */
int wb_loop_run(struct wb *wb, struct run *run, struct error *err);

#endif
