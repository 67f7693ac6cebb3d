/* worker: a process that runs variants, seen from the engine. See protocol.h for the conversation.
 *
 * Nothing here blocks: messages are queued and sent when the descriptor takes them, answers are
 * handed over when they are whole. What sits at the other end of the descriptor is this module's
 * business alone. */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "experiment.h"
#include "program.h"
#include "protocol.h"

struct worker;

/* Path of the worker program for an ABI: $ENTRYLAB_WORKERS/entrylab-worker-ABI if that variable is
 * set; else beside the running program (its own directory, or build/ in it: a source tree), else
 * the installed libexec directory given at build time. malloc'ed. NULL if there is no such file. */
char *worker_path(enum experiment_abi abi);

/* Starts a worker and queues its configuration and program; it answers READY. ERROR_ABSENT: no such
 * program; ERROR_INTERNAL. */
int worker_start(enum experiment_abi abi, const struct protocol_config *config,
                 const struct program *program, struct worker **out, struct error *err);

/* For poll: the descriptor and the events wanted. */
int worker_fd(const struct worker *w);
short worker_events(const struct worker *w);

/* Queues a message of two parts (either may be empty). ERROR_INTERNAL: out of memory. */
int worker_send(struct worker *w, uint32_t type, const void *first, size_t first_size,
                const void *second, size_t second_size, struct error *err);

/* Sends what is queued and receives. 1: *head and *body hold a message, valid until the next call;
 * 0: nothing whole yet; -1: the worker has ended, see worker_end. */
int worker_receive(struct worker *w, struct protocol_head *head, const void **body);

/* How it ended (after worker_receive gave -1, or worker_kill): exit status, or signal as a negative
 * number; and its last words. */
struct worker_end {
	int status;
	bool closed; /* it had not ended, but its end of the socket was closed or what came was no
	                message; it is killed now */
	struct protocol_status last;
};
struct worker_end worker_end(struct worker *w);

/* Ends it, and every process its variants may have started. Nothing needs to be killed twice. */
void worker_kill(struct worker *w);
void worker_free(struct worker *w);

#endif
