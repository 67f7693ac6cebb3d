/* program_source: the text that the assembler gets for a list of variants, and its messages read
 * back. Used by program.c alone. */
#ifndef ENGINE_PROGRAM_SOURCE_H
#define ENGINE_PROGRAM_SOURCE_H

#include <stdio.h>

#include "program.h"

/* The macros that the engine calls, and the letter that stands for each in the names of its
 * sections (".el.b.12"). */
enum program_macro {
	PROGRAM_SETUP,
	PROGRAM_TEARDOWN,
	PROGRAM_POOL,
	PROGRAM_BASELINE,
	PROGRAM_BODY,
	PROGRAM_MACROS
};
extern const char program_macro_letter[PROGRAM_MACROS];

extern const char *const program_macro_name[PROGRAM_MACROS];

/* Whether the experiment defines this macro. */
bool program_source_has(const struct experiment *x, enum program_macro macro);

/* The text (malloc'ed, *size bytes); NULL: out of memory. Variant i is invoked on line
 * PROGRAM_SOURCE_LINE + i of its experiment's file, so that the assembler's "invoked from" names
 * the variant and its errors name the user's lines. */
enum { PROGRAM_SOURCE_LINE = 10000000 };
char *program_source_write(enum experiment_abi abi, const struct program_item *items, size_t n,
                           const struct host_probes *probes, size_t *size);

/* "abi=i386 reg=fs outer=null": every factor with its level. */
void program_source_write_variant(FILE *f, const struct program_item *item);

/* Turns the assembler's messages into err's text: at most five of them, PATH:LINE and what it says,
 * and the variant that was being made. */
void program_source_explain(const struct program_item *items, size_t n, const char *messages,
                            struct error *err);

#endif
