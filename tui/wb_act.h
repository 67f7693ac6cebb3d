/* wb_act: what the actions of the key table do. */
#ifndef TUI_WB_ACT_H
#define TUI_WB_ACT_H

#include "tui/wb.h"

void wb_act(struct wb *wb, enum wb_action action);

#endif
