/* script: commands from a file or a stream, one after the other.
 *
 * A command is a line; a backslash at a line's end and an open quote go on with the next line.
 * Lines are executed as they arrive, so that another program may feed commands through a pipe and
 * read the answers. */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include <stdbool.h>

#include "engine/error.h"
#include "tui/command.h"

/* Runs the commands in a file ("-": standard input). Messages begin with "PATH:LINE: ". Stops at
 * the first command that is an error (ERROR_INPUT, ERROR_ABSENT, ERROR_INTERNAL), unless
 * keep_going; always at ERROR_STOPPED and when the session quits. A run that is not trusted, not
 * kept or has a negative verdict does not stop it. Returns the worst code there was. Everything in
 * the script has been told when it returns; err is filled only where the file itself cannot be
 * read, or scripts run each other too deep. */
int script_run_file(struct session *s, const char *path, bool keep_going, struct error *err)
        __attribute__((nonnull(1, 2)));

/* The same for text that is at hand, as a paste at the prompt; where it comes from is not named. */
int script_run_text(struct session *s, const char *text) __attribute__((nonnull));

#endif
