/* command_show: the commands that describe: experiments, their code, the machine. They measure
 * nothing. */
#ifndef TUI_COMMAND_SHOW_H
#define TUI_COMMAND_SHOW_H

#include "tui/command.h"

int command_show_list(struct command_call *call, struct error *err);
int command_show_name(struct command_call *call, struct error *err);
int command_show_listing(struct command_call *call, struct error *err);
int command_show_host(struct command_call *call, struct error *err);

#endif
