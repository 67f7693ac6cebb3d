/* guard: what a variant may not ask the kernel for while it is checked.
 *
 * A functional check is run in a process of its own under a seccomp filter, so that code that
 * forks, executes another program, signals others or breaks the worker's connection is caught
 * before it has done so, and before it is ever timed. What is timed runs without a filter: a filter
 * makes every system call dearer. */
#ifndef WORKER_GUARD_H
#define WORKER_GUARD_H

/* Installs the filter; a refused call raises SIGSYS. For good: end the process to be rid of it. 0,
 * or -1 where the kernel has no seccomp (errno): the checks then run without, and find a child by
 * waiting for it. */
int guard_install(void);

/* What the system call with that number (of the ABI that the CPU was in: AUDIT_ARCH_...) would have
 * done: enum protocol_refused. */
unsigned guard_reason(unsigned arch, unsigned number);

#endif
