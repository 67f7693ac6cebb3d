/* experiment: a family of variants, as one file describes it.
 *
 * The file is GNU as source with a header of "#:" lines; entrylab-experiment(5) is its manual. This
 * module reads the header, finds files on the search path, and expands a selection of levels into
 * variants. It does not look at the code: that is program.h. */
#ifndef ENGINE_EXPERIMENT_H
#define ENGINE_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum experiment_abi {
	EXPERIMENT_I386 = 0,
	EXPERIMENT_X86_64 = 1,
	EXPERIMENT_ABIS = 2,
};
extern const char *const experiment_abi_name[EXPERIMENT_ABIS]; /* "i386", "x86_64" */

enum experiment_repeat {
	EXPERIMENT_UNROLL, /* U and 2U copies of the body, one behind the other */
	EXPERIMENT_LOOP,   /* the same bytes again: for bodies that enter the kernel */
	EXPERIMENT_ONCE,   /* single shots: one iteration against none, for cold figures */
};
extern const char *const experiment_repeat_name[3];

/* The header keys, in the order entrylab-experiment(5) lists them: the parser, the manual's test
 * and completion use this table. */
struct experiment_key {
	const char *name;
	const char *form; /* what follows the key, for messages and the manual: "NAME LEVEL... [|
	                     TEXT]" */
	const char *help; /* one sentence */
	bool required;    /* title is; the rest has defaults */
	bool repeats; /* may stand more than once: factor, exclude, needs, expect, evict, note */
};
extern const struct experiment_key experiment_keys[];
extern const size_t experiment_key_count;

struct experiment_factor {
	char *name;
	char *doc;     /* text behind '|', or "" */
	char **levels; /* words of letters, digits and underscores; NULL for a range */
	size_t level_count;
	bool range; /* LO..HI: any whole number from lo to hi is a level */
	long lo, hi;
	char **defaults; /* levels used where a command does not name the factor; never empty */
	size_t default_count;
	unsigned line;
};

/* "reg=es,ds": one factor, one or more of its levels (for a range: numbers or LO..HI parts). */
struct experiment_term {
	size_t factor;
	char **levels;
	size_t level_count;
};

/* A condition: every term must match. "abi=x86_64 reg=es,ds". No terms: always. */
struct experiment_condition {
	struct experiment_term *terms;
	size_t term_count;
};

/* "#: exclude CONDITION | WHY": no such variant exists. */
struct experiment_exclude {
	struct experiment_condition when;
	char *why; /* "" if the file gives none */
	unsigned line;
};

/* "#: needs CONDITION CAPABILITY...": such variants exist only where the machine has every
 * capability named (host.h lists them). */
struct experiment_need {
	struct experiment_condition when;
	char **capabilities;
	size_t capability_count;
	unsigned line;
};

/* "#: expect CONDITION FIELD == EXPRESSION": what must hold after a sample of the functional check.
 * FIELD is a field of the environment; EXPRESSION is a whole number, "iterations", another field,
 * or NUMBER*iterations. */
struct experiment_expect {
	struct experiment_condition when;
	char *field;
	char *other;     /* field on the right, or NULL */
	bool iterations; /* multiply by the number of iterations */
	int64_t number;  /* the number, or the factor of iterations (1) */
	char *text;      /* as written, for messages */
	unsigned line;
};

/* "#: evict CONDITION TARGET HOW": before each single shot, outside the clock. Only with "#: repeat
 * once". */
struct experiment_evict {
	struct experiment_condition when;
	enum {
		EVICT_CODE,
		EVICT_POOL,
		EVICT_BUFFER,
		EVICT_ALL
	} target;      /* the body's lines and the pool's, the pool's alone (flush only), the
	                  environment's buffer, everything (walk only) */
	bool flush;    /* clflush every line of the target (goes to memory) */
	uint64_t walk; /* else: bytes of an eviction set to walk, e.g. 64K: out of L1; 64M: out of
	                  everything */
	unsigned line;
};

/* A value that holds where a condition does: "#: repeat [CONDITION] FORM", "#: stack [CONDITION]
 * BYTES", "#: ldt [CONDITION] data|code COUNT", "#: segment [CONDITION] code16|code32", "#: warm
 * [CONDITION] ITERATIONS". Of several lines the first whose condition holds counts. */
struct experiment_setting {
	struct experiment_condition when;
	long value; /* enum experiment_repeat; bytes; 0 data, 1 code; 16, 32 */
	long count; /* ldt: descriptors; repeat loop: copies of the body in one turn */
	unsigned line;
};

struct experiment {
	char *name; /* the file's name without ".s" */
	char *path; /* absolute */
	char *title, *source, *group;
	char *doc;  /* "#: note" lines joined by newlines: what show prints */
	char *text; /* the whole file, lines ended by LF alone, the last one too; a NUL follows */
	size_t text_size;
	char *code;    /* text with comments and header lines blanked, of the same size */
	unsigned abis; /* bit mask, 1 << enum experiment_abi */
	struct experiment_factor *factors; /* factors[0] is abi */
	size_t factor_count;
	struct experiment_exclude *excludes;
	size_t exclude_count;
	struct experiment_need *needs;
	size_t need_count;
	struct experiment_expect *expects;
	size_t expect_count;
	struct experiment_evict *evicts;
	size_t evict_count;
	enum experiment_repeat repeat; /* where no line of repeats holds */
	uint32_t copies; /* of the body in one turn of a loop, where no line of repeats holds */
	struct experiment_setting *repeats;
	size_t repeat_count;
	uint32_t stack; /* bytes a body leaves on the stack each iteration, 0 to 4096, where no line
	                   of stacks holds */
	struct experiment_setting *stacks;
	size_t stack_count;
	struct experiment_setting *ldts; /* descriptors that a variant wants in the LDT */
	size_t ldt_count;
	struct experiment_setting *segments; /* code segments whose base is the pool */
	size_t segment_count;
	uint32_t warm; /* iterations of a loop before each timed execution, where no line of warms
	                  holds; 0: the worker's own number */
	struct experiment_setting *warms;
	size_t warm_count;
	long pattern_share, pattern_kind; /* factors whose levels make the pattern, or -1 */
	uint32_t report_count; /* one more column: the cost of so many iterations; 0: none */
	bool report_seconds;   /* in seconds, else in cycles */
	uint32_t align;        /* 1 to 4096, a power of two */
	long curve;           /* factor that a run's chart and knees are against (curve.h), or -1 */
	uint32_t curve_bytes; /* that one of its number takes; 0: not told */
	long curve_scale;     /* factor whose number that is multiplied by, or -1 */
	bool has_macro_baseline, has_macro_pool, has_macro_setup, has_macro_teardown;
};

/* Reads and checks one file. Every message is "PATH:LINE: what is wrong". A file over 4 MiB, with a
 * NUL byte, not UTF-8, empty, with an unknown or doubled key, a default or condition that names no
 * level, a body macro missing or whose number of arguments is not the number of factors (abi not
 * counted), is ERROR_INPUT. *out is the caller's, to be freed with experiment_free. */
int experiment_read(const char *path, struct experiment **out, struct error *err);

/* As experiment_read, from memory; name and path are copied. For `asm` and for tests. */
int experiment_parse(const char *name, const char *path, const char *text, size_t size,
                     struct experiment **out, struct error *err);
void experiment_free(struct experiment *x);

/* The directories searched, first hit wins: $ENTRYLAB_EXPERIMENTS (colon-separated) if set; the
 * user's own $XDG_CONFIG_HOME/entrylab/experiments (default ~/.config); the shipped directory given
 * at build time (EXPERIMENT_SHIPPED_DIR), or "experiments" beside the running program when that
 * exists. NULL-terminated, the caller's, freed with experiment_paths_free. */
char **experiment_paths(void);
void experiment_paths_free(char **paths);

/* Finds NAME (or, if it contains a '/' or ends in ".s", that very file) and reads it. An unknown
 * name: ERROR_INPUT, with the nearest name offered. */
int experiment_find(const char *name, struct experiment **out, struct error *err);

/* Whether experiment_find has a file to read for that name. */
bool experiment_exists(const char *name);

/* Every experiment on the path, sorted by name; a file that does not parse is in `broken` with its
 * message, and does not stop the rest. */
struct experiment_list {
	struct experiment **items;
	size_t count;
	struct experiment_broken {
		char *path;
		char *message;
	} * broken;
	size_t broken_count;
};
int experiment_list(struct experiment_list *list, struct error *err);
void experiment_list_free(struct experiment_list *list);

/* A selection: for every factor the levels that were chosen. */
struct experiment_selection {
	char ***levels; /* levels[f][i], one list per factor */
	size_t *counts;
	bool *named; /* the user named this factor, as against the default */
	bool *every; /* by "all": levels that do not exist are left out without a word */
	size_t factor_count;
};

/* Makes a selection from words "factor=level,level" ("factor=all": every level; for a range LO..HI
 * and LO..HI/STEP are accepted). A factor twice, an unknown factor or level (nearest offered), a
 * number out of range: ERROR_INPUT, and says the accepted ones. */
int experiment_select(const struct experiment *x, const char *const *words, size_t n,
                      struct experiment_selection *out, struct error *err);
void experiment_selection_free(const struct experiment *x, struct experiment_selection *s);

/* One variant: a level for each factor, in factor order. Strings belong to the variants: they live
 * until experiment_variants_free. */
struct experiment_variant {
	char **levels; /* factor_count of them; levels[0] is the abi */
	enum experiment_abi abi;
};
struct experiment_variants {
	struct experiment_variant *items;
	size_t count;
	size_t factor_count;
	size_t excluded; /* combinations left out because a rule excludes them */
	bool *varies;    /* [factor_count]: whether the items have more than one level of it */
	char **strings;  /* what the items' levels point to; string_count of them */
	size_t string_count;
	char **slots; /* the items' level arrays, one behind the other */
};

/* Expands in a fixed order (last factor fastest). A level the user named that survives in no
 * variant is ERROR_INPUT and names the rule (file and line, and its why). More than 20,000 variants
 * is ERROR_INPUT. */
int experiment_expand(const struct experiment *x, const struct experiment_selection *s,
                      struct experiment_variants *out, struct error *err);
void experiment_variants_free(struct experiment_variants *v);

/* Whether a condition holds for these levels (factor_count of them). */
bool experiment_condition_holds(const struct experiment *x, const struct experiment_condition *c,
                                char *const *levels);

/* How iterations of a variant with these levels follow each other, how many copies of the body a
 * turn of a loop has (else 1), and what one iteration leaves on the stack. */
enum experiment_repeat experiment_repeat_for(const struct experiment *x, char *const *levels);
uint32_t experiment_copies_for(const struct experiment *x, char *const *levels);
uint32_t experiment_stack_for(const struct experiment *x, char *const *levels);

/* The setting of a list that holds for these levels, or NULL. */
const struct experiment_setting *experiment_setting_for(const struct experiment *x,
                                                        const struct experiment_setting *list,
                                                        size_t n, char *const *levels);

/* Which variant of v is the base of each, for --against. words name factors and levels: if they
 * name every factor that varies (a full variant) it is one base for all; else each variant's base
 * is the one that differs from it only in the factors named. base[i] is an index into v, i itself
 * for a base, or -1 where there is none. No words: every base is -1. ERROR_INPUT where a named base
 * is in no variant. */
int experiment_bases(const struct experiment *x, const struct experiment_variants *v,
                     const char *const *words, size_t n, long *base, struct error *err);

/* "reg=fs outer=null": the factors that vary in v (or all, if none does), for messages and rows.
 * Caller frees. */
char *experiment_variant_label(const struct experiment *x, const struct experiment_variants *v,
                               size_t i);

/* The levels of a factor that may be unhandled: those whose word stands nowhere in the file outside
 * the header and comments and whose factor is not a range. program.h tells with a made-up word
 * whether they are. */
bool experiment_level_mentioned(const struct experiment *x, const char *level);

#endif
