/* wb_model: what the workbench knows: the experiments, the machine, what is composed, the runs.
 * Without curses; the panes draw it, commands change it. */
#ifndef TUI_WB_MODEL_H
#define TUI_WB_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/experiment.h"
#include "engine/host.h"
#include "tui/command.h"
#include "tui/wb_compose.h"
#include "tui/wb_results.h"
#include "tui/wb_samples.h"

enum { WB_ADVICE_MOST = 16 };

struct wb_model {
	struct session *session;
	struct experiment_list experiments; /* by group, then by name */
	struct host host;
	struct host_probes probes;
	char *host_json;
	struct host_advice advice[WB_ADVICE_MOST];
	size_t advice_count;
	struct wb_compose compose;
	struct wb_results results;
	struct wb_samples samples; /* of the run that is on, or was last */
	double progress;           /* of the run that is on, 0 to 1 */
	double seconds_left;       /* NAN: not known */
};

/* Reads the experiments and looks at the machine; composes the first experiment. What cannot be
 * read is missing; ERROR_INTERNAL: nothing works. */
int wb_model_init(struct wb_model *m, struct session *s, struct error *err);
void wb_model_free(struct wb_model *m);

/* Looks at the machine again: at the CPU that is set now. */
void wb_model_look(struct wb_model *m);

/* "Segments", or "other". */
const char *wb_model_group(const struct experiment *x);

/* The experiment of that name in the list, or NULL. */
const struct experiment *wb_model_experiment(const struct wb_model *m, const char *name);

/* Carries out `compose`, `sort` or `filter`. */
int wb_model_command(struct wb_model *m, const struct command_call *call, struct error *err);

/* Composes what a `run` command names, so that it can be changed and run again. Nothing happens
 * where the words are no such command. */
void wb_model_follow(struct wb_model *m, const char *const *words, size_t n);

/* Takes a run that ended or was opened. */
void wb_model_take(struct wb_model *m, struct result_run *run);

/* How long a variant of the experiment is expected to take, from what is known. */
void wb_model_expect(struct wb_model *m);

#endif
