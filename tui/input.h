/* input: waiting for input, or for a signal that says stop. */
#ifndef TUI_INPUT_H
#define TUI_INPUT_H

/* Waits until fd can be read (or is at its end) or *stop is not 0. 1: it can be read; 0: stop; -1:
 * an error, in errno. stop may be NULL. A signal that arrives between the look at *stop and the
 * wait is not missed. */
int input_wait(int fd, const volatile int *stop);

#endif
