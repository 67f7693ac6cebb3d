/* option: the options that commands take, in one table.
 *
 * Parsing, help, completion, `set` and the manual's test all use the table; which commands take an
 * option stands in the commands' own table (command.h). An option's value is checked when it is
 * given, before anything is measured. */
#ifndef TUI_OPTION_H
#define TUI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "tui/render.h"

enum option_id {
	OPTION_FORMAT,
	OPTION_QUIET,
	OPTION_EXPLAIN,
	OPTION_CPU,
	OPTION_TIME,
	OPTION_PRECISION,
	OPTION_SEED,
	OPTION_RAW,
	OPTION_ARCHIVE,
	OPTION_NO_ARCHIVE,
	OPTION_AGAINST,
	OPTION_ABI,
	OPTION_SETUP,
	OPTION_LIMIT,
	OPTION_MOUSE,
	OPTION_ALL,
	OPTION_KEEP_GOING,
	OPTION_FILE,
	OPTION_PROMPT,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_TABLES,
	OPTIONS,
};

#define OPTION_BIT(id) (UINT32_C(1) << (id))

enum option_kind {
	OPTION_SESSION, /* `set` and the words before a command may set it for all that follows */
	OPTION_COMMAND, /* only a command's own */
	OPTION_PROGRAM, /* only before any command, on the program's command line */
};

/* The values of all options as they hold for one command. Zero is not the default:
 * option_values_init. */
struct option_values {
	uint32_t given;      /* OPTION_BITs: by the command itself, as against the session */
	uint32_t set;        /* OPTION_BITs: by the command or the session; the rest are defaults */
	char *text[OPTIONS]; /* as it was given, NULL where it was not */
	enum render_format format;
	bool no_mouse;
	bool quiet, explain, no_archive, all, keep_going, prompt, help, version, tables;
	int cpu;                 /* -1: the engine picks */
	double time;             /* seconds */
	double precision_cycles; /* half-widths; meaningful only if OPTION_PRECISION is in set */
	double precision_share;
	uint64_t seed;  /* meaningful only if OPTION_SEED is in set */
	uint64_t limit; /* 0: none */
	char **against; /* terms: "outer=tls", "reg=gs,fs" */
	size_t against_count;
};

struct option_info {
	const char *name;    /* without the dashes */
	char letter;         /* a one-letter form, or 0 */
	const char *form;    /* what stands for the value in help and messages; NULL: takes none */
	const char *help;    /* one sentence */
	const char *initial; /* the default in words, or NULL where "not set" says it */
	enum option_kind kind;
	bool measures; /* what is measured depends on it, so it belongs to the command a run is kept
	                  with */
	const char *const
	        *values; /* the words it takes, NULL-terminated, or NULL: for completion */
	bool file;       /* the value is a file's name: for completion */
	bool hidden;     /* of no use to users: in no help, manual or completion */
	int (*parse)(const char *text, struct option_values *v, struct error *err);
};
extern const struct option_info option_table[OPTIONS];

/* Defaults: format text, time 10, cpu -1, limit 20, all else off. */
void option_values_init(struct option_values *v) __attribute__((nonnull));
void option_values_free(struct option_values *v) __attribute__((nonnull));

/* A copy for one command: what the session set holds, nothing counts as given. */
void option_values_inherit(struct option_values *out, const struct option_values *session)
        __attribute__((nonnull));

/* The id for a word "--name", "--name=value", "-f" or a bare "name" (dashes false), or -1. */
int option_find(const char *word, bool dashes) __attribute__((nonnull));

/* Gives option id the value text (NULL for an option that takes none). ERROR_INPUT says what it
 * takes. --against adds to what this command gave before; all else replaces. */
int option_set(struct option_values *v, enum option_id id, const char *text, struct error *err)
        __attribute__((nonnull(1)));

/* Back to the default. */
void option_unset(struct option_values *v, enum option_id id) __attribute__((nonnull));

/* Sorts words into options, whose values go to v, and the rest, which is stored in rest (room for
 * n) as pointers into words. allowed: OPTION_BITs; an option outside of it is ERROR_INPUT and named
 * with who (a command's name, NULL: the program). Ends at "--"; what follows are plain words. If
 * first is not NULL, parsing also ends in front of the first plain word, and *first is its index (n
 * if there is none).*/
int option_parse(const char *const *words, size_t n, uint32_t allowed, const char *who,
                 struct option_values *v, const char **rest, size_t *rest_count, size_t *first,
                 struct error *err);

/* Cuts the value of --against into terms: at blanks, and at commas that a word and '=' follow. out
 * and *n grow. ERROR_INPUT for a part that is no FACTOR=LEVEL. */
int option_terms(const char *text, char ***out, size_t *n, struct error *err)
        __attribute__((nonnull(1, 2, 3)));

/* Words that give the session's values of those options in allowed that say what is measured and
 * that the command did not give itself: "--time", "5". They make a kept command complete. Appends
 * to words (malloc'ed array of malloc'ed strings). */
void option_inherited_words(const struct option_values *v, uint32_t allowed, char ***words,
                            size_t *n) __attribute__((nonnull));

/* "--time S": for headings and messages. malloc'ed. */
char *option_heading(enum option_id id);

#endif
