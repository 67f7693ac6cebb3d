/* command_published: published tables beside this machine's figures. */
#ifndef TUI_COMMAND_PUBLISHED_H
#define TUI_COMMAND_PUBLISHED_H

#include "tui/command.h"

int command_published(struct command_call *call, struct error *err);

#endif
