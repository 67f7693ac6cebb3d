/* link: the worker's end of the conversation (protocol.h). */
#ifndef WORKER_LINK_H
#define WORKER_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "engine/protocol.h"

extern struct protocol_status *link_status; /* the page shared with the engine */

/* Maps the status page. Does not return when it cannot. */
void link_open(void);

/* Reads one message; the body (malloc'ed, the caller's) is *body. Ends the process when the engine
 * has gone. */
struct protocol_head link_read(void **body);

/* Sends one message in one or two parts (second may be NULL). */
void link_write(uint32_t type, const void *first, size_t first_size, const void *second,
                size_t second_size);

/* Says why the worker cannot go on, and ends it. */
_Noreturn void link_fail(const char *what);

#endif
