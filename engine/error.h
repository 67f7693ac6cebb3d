/* error: how the engine says that something went wrong.
 *
 * Nothing in engine/ prints or exits. A function that can fail takes a struct error, returns a
 * negative code from the list below and leaves a message for a person: what is wrong, where (file
 * and line if there is one), what to do. */
#ifndef ENGINE_ERROR_H
#define ENGINE_ERROR_H

#include <stdarg.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_INPUT = -1,     /* what the user gave is wrong: exit 2 */
	ERROR_ABSENT = -2,    /* this machine cannot do it: exit 3 */
	ERROR_UNTRUSTED = -3, /* measured, but the controls failed: exit 4 */
	ERROR_NOT_KEPT = -4,  /* measured and printed, not archived: exit 5 */
	ERROR_NEGATIVE = -5,  /* done, and a verdict that was asked for is negative: exit 1 */
	ERROR_STOPPED = -6,   /* stopped by the user: exit 130 */
	ERROR_INTERNAL = -7,  /* a fault of ours, or of the system under us: exit 70 */
};

struct error {
	enum error_code code;
	char text[1024]; /* one line or several, no newline at the end */
};

/* Stores code and the formatted message in err (which may be NULL) and returns code. A message that
 * does not fit is cut and ends in "...". */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
int error_vset(struct error *err, enum error_code code, const char *fmt, va_list ap)
        __attribute__((format(printf, 3, 0)));

/* As error_set, with ": " and the text of errno behind the message. errno is kept. */
int error_errno(struct error *err, enum error_code code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* The process exit status that stands for one code (0, 1, 2, 3, 4, 5, 70, 130). */
int error_exit_status(enum error_code code);

/* Of two codes that both hold, the one that the exit status must tell: stopped, internal, input,
 * absent, untrusted, not kept, negative, none, in this order. */
enum error_code error_worse(enum error_code a, enum error_code b);

#endif
