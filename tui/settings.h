/* settings: what the user wants in every session, as lines of `set` in
 * $XDG_CONFIG_HOME/entrylab/config (default ~/.config). Read when the program starts, written by
 * `save settings` and by nothing else. */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "tui/command.h"

/* The file's name, malloc'ed; NULL where neither XDG_CONFIG_HOME nor HOME is set. */
char *settings_path(void);

/* Runs the lines of the file if there is one; only `set` and comments may stand there. What is
 * wrong is told as "PATH:LINE: ..." and the rest holds. */
void settings_read(struct session *s) __attribute__((nonnull));

/* Writes what is set now, by way of a temporary file that replaces the one a symlink leads to.
 * ERROR_INPUT with the path and the reason. *path (malloc'ed) is where it was written. */
int settings_save(const struct session *s, char **path, struct error *err)
        __attribute__((nonnull(1, 2)));

#endif
