/* wb_snippets: pieces of assembly written in the user's editor, to become an `asm` command. */
#ifndef TUI_WB_SNIPPETS_H
#define TUI_WB_SNIPPETS_H

#include "tui/wb.h"

/* Lends the terminal to $VISUAL, $EDITOR or vi; what was written comes back in the command line.
 * Nothing runs before Enter. */
void wb_snippets_edit(struct wb *wb);

/* The command for a text of snippets: a paragraph each, lines that begin with '#' left out.
 * malloc'ed; NULL where there is none. */
char *wb_snippets_command(const char *text);

#endif
