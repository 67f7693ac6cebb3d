/* file: files that commands write beside their results. */
#ifndef TUI_FILE_H
#define TUI_FILE_H

#include <stdio.h>

#include "engine/error.h"

/* Opens path to be written from its start, in place and not by a rename: it may be a device, or a
 * link that is to stay one. what is the option or command, for messages. ERROR_INPUT. */
int file_create(const char *what, const char *path, FILE **out, struct error *err)
        __attribute__((nonnull(1, 2, 3)));

/* Closes it. If not all that was written to it got there: code, and why. */
int file_close(const char *what, const char *path, FILE *f, enum error_code code, struct error *err)
        __attribute__((nonnull(1, 2, 3)));

#endif
