/* experiment_source: the assembler source of an experiment's file, below its header.
 *
 * Private to experiment*.c. Looks at the text as GNU as for x86 on Linux would: what is a comment,
 * which macros it defines. */
#ifndef ENGINE_EXPERIMENT_SOURCE_H
#define ENGINE_EXPERIMENT_SOURCE_H

#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "textfile.h"

/* What an experiment's file is to be. */
extern const struct textfile_kind experiment_source_kind;

/* Checks that the text is UTF-8 of a sensible size and keeps it in x->text, with its comments
 * blanked in x->code. Header lines keep their "#:" there, so that one inside a block comment is not
 * taken for one. path is for messages. */
int experiment_source_keep(struct experiment *x, const char *path, const char *text, size_t size,
                           struct error *err);

/* Finds the macros that the engine calls and checks that each has one parameter for every factor;
 * sets x->has_macro_*. */
int experiment_source_macros(struct experiment *x, const char *path, struct error *err);

#endif
