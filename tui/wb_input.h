/* wb_input: what comes from the terminal: keys, clicks, pastes. */
#ifndef TUI_WB_INPUT_H
#define TUI_WB_INPUT_H

#include "tui/wb.h"

/* Reads and carries out all that has arrived. Whether there was anything. */
bool wb_input_read(struct wb *wb);

#endif
