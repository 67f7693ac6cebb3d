/* formula: arithmetic over the variants of a run: "[outer=null] - [outer=tls]", "1024 *
 * [sequence=push_cs]".
 *
 * A variant stands in brackets by its levels: those of the factors that vary in the run, or as many
 * of them as leave only one. Around it are numbers, + - * / ( ) and min(...) and max(...).
 * libmuparser does the arithmetic. The result is a cost, which doubles when every variant's cost
 * does, or a ratio of costs, which stays: anything else adds what cannot be added, and is refused.
 */
#ifndef ENGINE_FORMULA_H
#define ENGINE_FORMULA_H

#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "experiment_words.h"
#include "result.h"

/* What the cost of a variant is counted in. */
enum formula_unit {
	FORMULA_CYCLES,
	FORMULA_NS,
	FORMULA_SECONDS,
	FORMULA_BYTES, /* of code, or in a run with pools of the pool; no uncertainty */
	FORMULA_UNITS,
};
extern const char *const formula_unit_name[FORMULA_UNITS]; /* "cycles", "ns", "seconds", "bytes" */

/* One variant, by names, so that it can be found in any record of the run. */
struct formula_reference {
	char *text; /* "reg=gs outer=null" */
	struct formula_level {
		char *factor, *level;
	} * levels;
	size_t level_count;
};

struct formula {
	char *text;       /* as written */
	char *arithmetic; /* the same with v0, v1, ... for the references */
	struct formula_reference *references;
	size_t reference_count;
	int degree; /* 1: a cost; 0: a ratio */
};

/* Reads text; each reference must name exactly one of the variants of x. ERROR_INPUT, with the
 * place in front. */
int formula_parse(const char *text, const struct experiment *x, const struct experiment_variants *v,
                  const struct experiment_words_place *at, struct formula *out, struct error *err);
void formula_free(struct formula *f);

enum formula_state {
	FORMULA_VALUE,
	FORMULA_ABSENT,     /* a variant does not exist on this machine */
	FORMULA_UNMEASURED, /* one has no figure for another reason */
};

struct formula_value {
	enum formula_state state;
	char why[600]; /* unless FORMULA_VALUE: a sentence */
	struct stats_interval
	        value; /* at the run's confidence; lo and hi NAN with too few placements */
	size_t placements;
};

/* What it comes to in a run. It is worked out for each placement of the code, because the variants
 * of a run are measured in the same blocks; the estimate and interval are those of Hodges and
 * Lehmann, or, where there is only one variant, its median's. A ratio has no unit. Whether the run
 * is trusted is the caller's to ask. ERROR_INTERNAL: no memory. */
int formula_evaluate(const struct formula *f, const struct result_run *run, enum formula_unit unit,
                     struct formula_value *out, struct error *err);

#endif
