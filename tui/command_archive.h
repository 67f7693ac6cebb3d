/* command_archive: the commands that read runs that are kept. */
#ifndef TUI_COMMAND_ARCHIVE_H
#define TUI_COMMAND_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/command.h"

/* Whether a word names a run: a number, or "last", whose id is 0. */
bool command_archive_names_run(const char *word, int64_t *id);

/* The file that --archive or the default names, malloc'ed. ERROR_NOT_KEPT: there is no default. */
int command_archive_path(const struct option_values *v, char **path, struct error *err);

/* `list runs`, `show RUN`. */
int command_archive_list(struct command_call *call, const char *filter, struct error *err);
int command_archive_show(struct command_call *call, int64_t id, struct error *err);

int command_archive_export(struct command_call *call, struct error *err);
int command_archive_compare(struct command_call *call, struct error *err);

#endif
