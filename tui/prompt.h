/* prompt: commands typed by a person: a line editor with history and completion.
 *
 * History is in $XDG_STATE_HOME/entrylab/history (default ~/.local/state), mode 0600, without
 * duplicates. Pasted newlines do not run anything: what was pasted runs when Enter is pressed. ^C
 * at the prompt clears the line, during a run it stops that run only; ^D on an empty line leaves.
 * The editor draws on standard error: standard output has the results alone. */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include "tui/command.h"

/* Reads and runs commands until ^D, quit or a signal that ends the program (terminate is then not
 * 0). Returns the worst code there was, as a script that keeps going does. */
enum error_code prompt_run(struct session *s, const volatile int *terminate)
        __attribute__((nonnull));

/* Gives readline our completion, here and in the workbench. */
void prompt_completion_begin(struct session *s) __attribute__((nonnull));
void prompt_completion_end(void);

#endif
