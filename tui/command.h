/* command: the command language. One table of commands; the command line, scripts, standard input
 * and the prompt all come here.
 *
 * A command prints its results on standard output and everything else on standard error, and
 * returns the code that its exit status tells. */
#ifndef TUI_COMMAND_H
#define TUI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "tui/option.h"

struct command;
struct command_call;
struct journal;
struct result_run;
struct run;
struct run_sample;

/* Who looks on where commands do not only print: the workbench. ctx is the session's face_ctx. */
struct session_face {
	/* ERROR_INPUT while a run is on: there is one at a time. */
	int (*ready)(void *ctx, struct error *err);
	/* Drives a run to its end in place of run_to_end, with the same outcome. */
	int (*drive)(void *ctx, struct run *run, struct error *err);
	/* Every sample of a run, as it comes. */
	void (*sample)(void *ctx, const struct run_sample *sample);
	/* A run that has ended or was opened: the face's from then on. */
	void (*take)(void *ctx, struct result_run *run);
	/* Carries out a command that is the workbench's alone. */
	int (*command)(void *ctx, struct command_call *call, struct error *err);
};

/* What lives as long as the program: what `set` set, and what the commands need to know of where
 * they come from. */
struct session {
	struct option_values defaults;
	volatile int *stop; /* set by a signal: a run ends, a script stops */
	const char *where;  /* "FILE:LINE" of the command, or NULL; goes in front of messages */
	bool quit;          /* a quit was seen */
	unsigned depth;     /* of source within source */
	unsigned within;    /* commands that a command runs: they are not in the journal */
	struct journal *journal;         /* the commands that were given */
	const struct session_face *face; /* NULL: in batch and at the prompt */
	void *face_ctx;
};

/* One command as it was given. */
struct command_call {
	struct session *session;
	const struct command *command;
	struct option_values values; /* the session's and the command's own */
	const char *const *words;    /* what is left without name and options */
	size_t count;
	const char *line; /* as a user could type it again, in any session */
};

/* What a command's words name: for completion. */
enum command_words {
	COMMAND_WORDS_NONE,
	COMMAND_WORDS_SELECTION, /* an experiment, then factor=level,... */
	COMMAND_WORDS_LIST,      /* experiments, claims or runs; then an experiment */
	COMMAND_WORDS_SHOW,      /* an experiment, a claim or a run */
	COMMAND_WORDS_CLAIMS,
	COMMAND_WORDS_TABLE,    /* a published table */
	COMMAND_WORDS_RUN_FILE, /* a run, then a file */
	COMMAND_WORDS_RUNS,
	COMMAND_WORDS_FILE,
	COMMAND_WORDS_SET,  /* an option, then its value */
	COMMAND_WORDS_HELP, /* a command or an option */
	COMMAND_WORDS_VIEW, /* a pane of the workbench */
	COMMAND_WORDS_SORT, /* a column of the workbench's results */
	COMMAND_WORDS_SAVE, /* what can be saved */
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name, without options; "" for nothing */
	const char *help;     /* one line */
	const char *details;  /* paragraphs, each one line */
	const char *example;
	uint32_t options;   /* OPTION_BITs; --help always */
	size_t least, most; /* words */
	enum command_words words;
	bool repeats;   /* belongs to the script that write makes */
	bool workbench; /* is refused elsewhere */
	int (*call)(struct command_call *call, struct error *err);
};
extern const struct command command_table[];
extern const size_t command_count;

/* stop may be NULL: nothing stops a run. */
void session_init(struct session *s, volatile int *stop) __attribute__((nonnull(1)));
void session_free(struct session *s) __attribute__((nonnull));

/* Gives a run away: to the face, or else it is freed. run may be NULL. */
void session_take(struct session *s, struct result_run *run) __attribute__((nonnull(1)));

/* The command of that name, or NULL. */
const struct command *command_find(const char *name) __attribute__((nonnull));

/* Runs one command given as words, prints its error if it has one, and flushes standard output.
 * Returns the code: ERROR_NONE, or one that is negative. No words: ERROR_NONE. A standard output
 * that cannot be written is ERROR_INTERNAL. */
enum error_code command_execute(struct session *s, const char *const *words, size_t n)
        __attribute__((nonnull(1)));

/* One message on standard error: "entrylab: ..." or "FILE:LINE: ...". */
void command_say(const struct session *s, const char *fmt, ...)
        __attribute__((format(printf, 2, 3), nonnull(1, 2)));

/* A remark, which --quiet keeps back. */
void command_note(const struct command_call *call, const char *fmt, ...)
        __attribute__((format(printf, 2, 3), nonnull));

/* Whether standard output can still be written; says why not, once. */
bool command_output_holds(const struct session *s) __attribute__((nonnull));

#endif
