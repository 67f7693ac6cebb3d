/* wb_output: what a command printed, as a screen. */
#ifndef TUI_WB_OUTPUT_H
#define TUI_WB_OUTPUT_H

void wb_output_set(const char *title, const char *text);

#endif
