/* wb_compose: what the workbench runs next: an experiment, for each factor the levels that are
 * chosen, and the base. Model alone: it draws nothing.
 *
 * Whatever changes, the command that it amounts to, the number of variants and the expected time
 * follow. Levels that do not exist here stay visible and say why. */
#ifndef TUI_WB_COMPOSE_H
#define TUI_WB_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/experiment.h"
#include "engine/host.h"

enum wb_exists {
	WB_EXISTS,
	WB_MISSING,  /* this machine lacks what it needs */
	WB_EXCLUDED, /* a rule of the experiment leaves it out, with the other levels chosen */
};

struct wb_level {
	const char *name; /* the experiment's */
	bool chosen;
	enum wb_exists exists;
	char *why; /* NULL where it exists */
};

struct wb_factor {
	const struct experiment_factor *factor;
	struct wb_level *levels; /* none for a range */
	size_t count;
	char *range; /* "1,2,4..16" as it is written in a command; NULL if the factor is no range */
};

struct wb_compose {
	const struct experiment *experiment; /* NULL: nothing is composed. Not owned */
	const struct host_probes *probes;    /* not owned */
	struct wb_factor *factors;
	size_t factor_count;
	char **against; /* terms of the base */
	size_t against_count;
	double seconds_each; /* what a variant is expected to take; the caller's to set */
	double seconds_most; /* the time limit */
	/* what follows from the above */
	char *line; /* "run segreg reg=fs,gs --against outer=tls" */
	size_t variants;
	size_t excluded; /* combinations that do not exist */
	double seconds;  /* expected */
	char *problem;   /* why it cannot be run, or NULL */
};

/* Composes an experiment from words and terms of a base, as `run` takes them; none: its defaults.
 * ERROR_INPUT: nothing has changed. x and probes must live as long as c is used. c begins zeroed.
 */
int wb_compose_set(struct wb_compose *c, const struct experiment *x,
                   const struct host_probes *probes, const char *const *words, size_t n,
                   const char *const *against, size_t against_count, struct error *err);
void wb_compose_free(struct wb_compose *c);

/* Brings up to date what follows. wb_compose_set has done so. */
void wb_compose_refresh(struct wb_compose *c);

/* The `compose` command that would toggle a level (malloc'ed). NULL where that is not possible: err
 * says why. */
char *wb_compose_toggled(const struct wb_compose *c, size_t factor, size_t level,
                         struct error *err);

/* The `compose` command that chooses all levels of a factor that exist, or the defaults if all are
 * chosen. */
char *wb_compose_all_toggled(const struct wb_compose *c, size_t factor);

/* The `compose` command with another base: terms as --against takes them, or NULL for none. */
char *wb_compose_based(const struct wb_compose *c, const char *terms);

#endif
