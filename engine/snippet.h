/* snippet: instructions from the command line as an experiment without a file. */
#ifndef ENGINE_SNIPPET_H
#define ENGINE_SNIPPET_H

#include <stddef.h>

#include "experiment.h"

/* An experiment named "asm" with one factor, code, whose levels s1, s2, ... are the snippets in
 * order (1 to 64); setup (or NULL) is assembled before each. Both ABIs. One that enters the kernel
 * is looped, the others are unrolled. A snippet is assembler text: instructions separated by ';' or
 * newlines. ERROR_INPUT: none, too many, or one with a
 * ".macro", ".endm" or section directive, which would end up outside its frame. */
int snippet_experiment(const char *const *snippets, size_t n, const char *setup,
                       struct experiment **out, struct error *err);

/* Rewrites a message that names lines of the made-up file "asm" so that it names snippets: "snippet
 * 2: no such instruction: ...". For errors of experiments that snippet_experiment made; others are
 * left alone. */
void snippet_explain(struct error *err);

#endif
