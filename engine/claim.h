/* claim: a published statement, the run that tests it, and the verdict that a run gives.
 *
 * The file is lines of "KEY VALUE"; entrylab-claims(5) is its manual. A claim says what must hold
 * of differences and ratios between variants of one run; claim_judge holds it against such a run.
 * Claims stand in the directory "claims" below each one that is searched for experiments. */
#ifndef ENGINE_CLAIM_H
#define ENGINE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "formula.h"
#include "result.h"

/* The keys, in the order entrylab-claims(5) lists them. */
extern const struct experiment_key claim_keys[];
extern const size_t claim_key_count;

enum claim_relation {
	CLAIM_LESS,
	CLAIM_AT_MOST,
	CLAIM_MORE,
	CLAIM_AT_LEAST,
	CLAIM_RELATIONS,
};
extern const char *const claim_relation_sign[CLAIM_RELATIONS]; /* "<", "<=", ">", ">=" */

/* What a threshold is in: a cost, or a ratio as it is or in percent. */
enum claim_unit {
	CLAIM_CYCLES,
	CLAIM_NS,
	CLAIM_RATIO,
	CLAIM_PERCENT,
	CLAIM_UNITS,
};
extern const char *const claim_unit_name[CLAIM_UNITS]; /* "cycles", "ns", "", "%" */

/* "holds FORMULA < THRESHOLD UNIT | LABEL" */
struct claim_condition {
	struct formula formula;
	enum claim_relation relation;
	double threshold; /* in the unit: 5% is 5 */
	enum claim_unit unit;
	char *wanted; /* "< 5%" */
	char *label;  /* "" if the file gives none */
	char *text;   /* without the label */
	unsigned line;
};

/* "published CPU | FIGURE | TEXT" */
struct claim_figure {
	char *cpu, *figure, *text; /* text may be "" */
};

/* "run EXPERIMENT FACTOR=LEVEL,... --OPTION VALUE": an option that a claim's run may give. */
struct claim_option {
	char *name; /* "time" */
	char *value;
};
extern const char *const claim_options[]; /* NULL-terminated */

struct claim {
	char *name; /* the file's name without ".claim" */
	char *path;
	char *title; /* the statement */
	char *who, *when, *source;
	char *doc;   /* "note" lines joined by newlines */
	long number; /* 0: none */
	char *needs; /* what a test of it needs and no run of ours has, "ring0", or NULL: then there
	                is no run */
	char *needs_why;
	unsigned run_line;
	char *run;                     /* the words of the run joined by blanks */
	struct experiment *experiment; /* NULL without a run */
	char **words;                  /* FACTOR=LEVEL,... of the run */
	size_t word_count;
	struct claim_option *options;
	size_t option_count;
	struct claim_condition *conditions; /* all must hold */
	size_t condition_count;
	struct claim_figure *figures;
	size_t figure_count;
};

/* Reads and checks one file, and the experiment that its run names. ERROR_INPUT: "PATH:LINE: what
 * is wrong". The value of an option is not looked at. *out is the caller's, to be freed with
 * claim_free. */
int claim_read(const char *path, struct claim **out, struct error *err);

/* As claim_read, from memory; for tests. */
int claim_parse(const char *name, const char *path, const char *text, size_t size,
                struct claim **out, struct error *err);
void claim_free(struct claim *c);

/* Finds NAME, or the file of that path, and reads it. An unknown name: ERROR_INPUT, with the
 * nearest one offered. */
int claim_find(const char *name, struct claim **out, struct error *err);

/* Whether a claim has that name (its file need not be sound). */
bool claim_exists(const char *name);

/* Every claim on the search path: by number, those without one last, by name. A file that is not
 * sound is in `broken` with its message, and does not stop the rest. */
struct claim_list {
	struct claim **items;
	size_t count;
	char **broken; /* messages */
	size_t broken_count;
};
int claim_list_read(struct claim_list *list, struct error *err);
void claim_list_free(struct claim_list *list);

/* Whether one run tests both: the same experiment, selection and options. */
bool claim_shares_run(const struct claim *a, const struct claim *b);

enum claim_verdict {
	CLAIM_HOLDS,
	CLAIM_FAILS,
	CLAIM_UNDECIDED,
	CLAIM_UNTESTABLE,
	CLAIM_VERDICTS,
};
extern const char *const claim_verdict_name[CLAIM_VERDICTS]; /* "holds", "fails", "not decided",
                                                                "not testable here" */

/* One condition against a run. Figures are in the condition's unit. */
struct claim_finding {
	enum claim_verdict verdict;
	char *why;                   /* NULL for holds and fails */
	struct stats_interval value; /* NAN without a figure */
	double decidable; /* how far from the threshold a value is decided nine times in ten; NAN
	                     without a figure */
};

struct claim_judgement {
	enum claim_verdict verdict;
	char *why;                      /* NULL for holds and fails */
	struct claim_finding *findings; /* one for each condition; none if the claim has no run */
	size_t finding_count;
};

/* Judges by intervals: a condition holds if the interval of its formula lies wholly on its side of
 * the threshold, fails if wholly on the other, and is else not decided. A claim fails if one
 * condition does, whatever the others; it is not testable here if a variant it needs does not
 * exist; it holds if all hold. A run that is not trusted decides nothing. run may be NULL where
 * there is none: why_not says why, and the verdict is `without`, CLAIM_UNDECIDED or
 * CLAIM_UNTESTABLE. ERROR_INTERNAL: no memory. */
int claim_judge(const struct claim *c, const struct result_run *run, enum claim_verdict without,
                const char *why_not, struct claim_judgement *out, struct error *err);
void claim_judgement_free(struct claim_judgement *j);

#endif
