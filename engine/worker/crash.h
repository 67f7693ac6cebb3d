/* crash: last words of a variant that dies or hangs. */
#ifndef WORKER_CRASH_H
#define WORKER_CRASH_H

#include <stdint.h>

#include "engine/environment.h"

#include "place.h"

/* Installs handlers on a stack of their own for the signals that a variant can raise and for the
 * deadline, and blocks all others. The handler notes in link_status what happened and where, and
 * ends the worker: nothing that a variant touched can be relied on. But where env->on_signal is set
 * while a variant runs, SIGTRAP, SIGSEGV, SIGILL and SIGBUS go on there. */
void crash_prepare(struct environment *env);

/* What is running now, for the handler. */
void crash_note_variant(uint32_t doing, uint32_t variant, const struct place *place);

/* The variant must be done within that time; 0: no deadline. */
void crash_deadline(uint32_t milliseconds);

#endif
