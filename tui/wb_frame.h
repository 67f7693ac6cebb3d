/* wb_frame: a frame of the workbench: title, panes, status line, function bar. */
#ifndef TUI_WB_FRAME_H
#define TUI_WB_FRAME_H

#include "tui/wb.h"

/* Draws all of it and sends what has changed. */
void wb_frame_draw(struct wb *wb);

/* The pane at a place of the screen, or NULL; y and x become those inside of it. */
const struct wb_pane *wb_frame_pane_at(struct wb *wb, int *y, int *x);

/* The action of the function bar at a column, or WB_NONE. */
enum wb_action wb_frame_bar_at(int x);

/* The pane of a place of the workbench. */
const struct wb_pane *wb_frame_part(enum wb_place place);

#endif
