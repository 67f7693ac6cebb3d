/* show: an experiment described: what it measures, its factors, what of it this machine cannot do,
 * its source. */
#ifndef TUI_SHOW_H
#define TUI_SHOW_H

#include <stdio.h>

#include "engine/experiment.h"
#include "engine/host.h"
#include "tui/render.h"

/* Why a level does not exist here in an ABI of the experiment: a capability that a "#: needs" line
 * asks for whenever the level is used, or the ABI's worker itself. NULL: nothing is in the way.
 * Points into the probes. */
const char *show_level_missing(const struct experiment *x, size_t factor, const char *level,
                               enum experiment_abi abi, const struct host_probes *probes)
        __attribute__((nonnull));

/* "abi=x86_64 reg=es,ds"; "" where there are no terms. malloc'ed. */
char *show_condition(const struct experiment *x, const struct experiment_condition *c)
        __attribute__((nonnull));

/* Text for people; JSON lines: one object; CSV: a line for each level in each ABI. */
void show_experiment(const struct experiment *x, const struct host_probes *probes,
                     enum render_format format, FILE *out) __attribute__((nonnull));

#endif
