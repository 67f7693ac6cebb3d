/* published: tables of published figures, and what of a run of ours stands beside each.
 *
 * A table is a file NAME.tsv in the directory "published" below each one that is searched for
 * experiments: a header of "#:" lines, a line of column names, and rows, fields separated by tabs;
 * entrylab-claims(5) is its manual. The figures are text as published: nothing is computed with
 * them. A "here" line says which variants of the table's run measure what a row tells, in the row's
 * own unit; "also" lines make further columns of this machine's figures, in a table of their own
 * with a line for each row and each level of a factor. */
#ifndef ENGINE_PUBLISHED_H
#define ENGINE_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "formula.h"

/* The header's keys, in the order entrylab-claims(5) lists them. */
extern const struct experiment_key published_keys[];
extern const size_t published_key_count;

struct published_row {
	char **cells; /* one for each column */
	unsigned line;
	bool has_here;       /* there is a formula for it; else why_not says why not */
	struct formula here; /* counted in the table's unit */
	char *here_text; /* the formula as it reads for this row, also where the experiment is not
	                    there */
};

/* A column of the further figures. */
struct published_also {
	char *name;
	enum formula_unit unit;
};

/* A line of the further figures. */
struct published_line {
	size_t row;  /* the published row */
	char *level; /* of the factor that "each" names; NULL: there is no "each" */
	struct published_figure {
		char *text; /* the formula as it reads here; NULL: no "also" line of that column
		               fits the row */
		struct formula formula;
	} * figures; /* one for each column */
};

struct published {
	char *name, *path;
	char *title, *source;
	char *method, *doc; /* lines joined by newlines, or "" */
	char *context; /* why the figures cannot be measured again and stand here as context; "" if
	                  they can */
	char *needs, *needs_why; /* as of a claim; NULL: none */
	char **columns;
	size_t column_count;
	bool *machine; /* [column_count]: it tells whose figures these are */
	size_t value;  /* the column that "here" stands beside */
	long across; /* the column whose values become columns when people read the table; -1: none
	              */
	enum formula_unit unit; /* of this machine's figures; FORMULA_UNITS: there are none, rows
	                           tell their own */
	struct published_row *rows;
	size_t row_count;
	char *each; /* the factor whose levels the further figures are of; NULL: none */
	struct published_also *also;
	size_t also_count;
	bool *named; /* [column_count]: its texts tell the lines of the further figures apart */
	struct published_line *lines; /* those of a level together; none without an experiment */
	size_t line_count;
	char *run;    /* the words of the run joined by blanks; NULL: there is none */
	char **words; /* its FACTOR=LEVEL,... */
	size_t word_count;
	struct experiment *experiment; /* NULL: no run, or no such experiment here */
	char *why_not;                 /* why no row has a formula; NULL if one has */
};

/* Reads and checks one file. ERROR_INPUT: "PATH:LINE: what is wrong". A run whose experiment is not
 * there is no error: why_not tells it. */
int published_read(const char *path, struct published **out, struct error *err);

/* As published_read, from memory; for tests. */
int published_parse(const char *name, const char *path, const char *text, size_t size,
                    struct published **out, struct error *err);
void published_free(struct published *p);

/* Finds NAME, or the file of that path, and reads it. */
int published_find(const char *name, struct published **out, struct error *err);

/* Every table on the search path, by name; broken ones as messages. */
struct published_list {
	struct published **items;
	size_t count;
	char **broken;
	size_t broken_count;
};
int published_list_read(struct published_list *list, struct error *err);
void published_list_free(struct published_list *list);

#endif
