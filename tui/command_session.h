/* command_session: the commands about the session itself: source, set, help, quit. */
#ifndef TUI_COMMAND_SESSION_H
#define TUI_COMMAND_SESSION_H

#include <stdio.h>

#include "tui/command.h"

int command_session_source(struct command_call *call, struct error *err);
int command_session_set(struct command_call *call, struct error *err);
int command_session_help(struct command_call *call, struct error *err);
int command_session_write(struct command_call *call, struct error *err);
int command_session_save(struct command_call *call, struct error *err);

/* The commands that are the workbench's alone; without one, ERROR_INPUT says so. */
int command_session_face(struct command_call *call, struct error *err);
int command_session_quit(struct command_call *call, struct error *err);

/* What `help COMMAND` and `COMMAND --help` print. */
void command_session_help_command(const struct command *c, FILE *out);

/* What `entrylab --help` prints. */
void command_session_help_program(FILE *out);

#endif
