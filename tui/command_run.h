/* command_run: the commands that measure. */
#ifndef TUI_COMMAND_RUN_H
#define TUI_COMMAND_RUN_H

#include "tui/command.h"

int command_run_experiment(struct command_call *call, struct error *err);
int command_run_snippets(struct command_call *call, struct error *err);

#endif
