/* command_run: the commands that measure, and what other commands need to measure. */
#ifndef TUI_COMMAND_RUN_H
#define TUI_COMMAND_RUN_H

#include "engine/experiment.h"
#include "tui/command.h"
#include "tui/measure.h"

/* Measures the variants that the words select from x, with the options of the call, and keeps the
 * run under the call's line; shows progress, prints nothing. A run that is not trusted or not kept
 * is no error here. An error may come with a result: ERROR_ABSENT with rows that say why none is
 * possible, ERROR_INTERNAL with what was complete. against: terms of --against, or none. */
int command_run_measure(struct command_call *call, const struct experiment *x,
                        const char *const *words, size_t n, const char *const *against,
                        size_t against_count, struct measure_outcome *out, struct error *err);

int command_run_experiment(struct command_call *call, struct error *err);
int command_run_snippets(struct command_call *call, struct error *err);

#endif
