/* probe: what the machine lets a program of this worker's ABI do.
 *
 * Each capability is tried in a child of its own, so that an illegal instruction, a fault or a hang
 * is an answer like any other. */
#ifndef ENGINE_WORKER_PROBE_H
#define ENGINE_WORKER_PROBE_H

/* Prints one line a capability of host_capability.h, in its order: "NAME yes" or "NAME no WHY".
 * Returns the exit status: 0, or 1 where the lines could not be written. */
int probe_main(void);

#endif
