/* history: the lines typed at the prompt, kept from one session to the next. A file of lines, mode
 * 0600, without duplicates; two prompts at once add to it side by side. */
#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

/* $XDG_STATE_HOME/entrylab/history, or ~/.local/state/...; malloc'ed. NULL where neither variable
 * is set. */
char *history_default_path(void);

/* Reads the file into the editor's history and, if it holds duplicates or more than is kept, writes
 * it anew, by way of a temporary file and a rename of what a symlink points to. A file that is not
 * there is no error; neither is one that cannot be written: a prompt works without. */
void history_load(const char *path) __attribute__((nonnull));

/* Adds a line (or several) to the editor's history, taking out those that are equal, and to the end
 * of the file; path may be NULL. Blank lines are not kept, nor lines that begin with a blank. */
void history_add_text(const char *path, const char *text) __attribute__((nonnull(2)));

#endif
