/* assembler: runs GNU as on a text and gives back the object file.
 *
 * The text goes in through one memfd and the object comes out through another: nothing is written
 * to disk. */
#ifndef ENGINE_ASSEMBLER_H
#define ENGINE_ASSEMBLER_H

#include <stddef.h>

#include "error.h"
#include "experiment.h"

/* Assembles text for the ABI; directory (or NULL) is where .include looks. *object is a descriptor
 * of the ELF file, the caller's to close. When the assembler reports errors: ERROR_INPUT, *object
 * -1 and its messages, as they came, in *messages (malloc'ed; also set, and possibly empty, on
 * success: warnings). No `as` on the PATH: ERROR_ABSENT, names the package. More than 20 s or 2
 * GiB: ERROR_INPUT. */
int assembler_run(enum experiment_abi abi, const char *text, size_t size, const char *directory,
                  int *object, char **messages, struct error *err);

#endif
