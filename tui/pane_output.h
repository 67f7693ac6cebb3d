/* pane_output: what a command printed, as a screen. */
#ifndef TUI_PANE_OUTPUT_H
#define TUI_PANE_OUTPUT_H

void pane_output_set(const char *title, const char *text);

#endif
