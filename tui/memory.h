/* memory: allocation for the user's side of the program. Running out of memory here ends the
 * program with exit status 70 and a line that says so; nothing in tui/ could do better. */
#ifndef TUI_MEMORY_H
#define TUI_MEMORY_H

#include <stddef.h>

/* size bytes, zeroed. Never NULL. */
void *memory_get(size_t size) __attribute__((returns_nonnull, malloc));

/* An array of count elements of the size given, kept as far as it reached. Never NULL. */
void *memory_grow(void *old, size_t count, size_t size) __attribute__((returns_nonnull));

/* Copies of a string: whole, and of its first n bytes. Never NULL. */
char *memory_copy(const char *s) __attribute__((nonnull, returns_nonnull));
char *memory_copy_part(const char *s, size_t n) __attribute__((nonnull, returns_nonnull));

/* A formatted string. Never NULL. */
char *memory_format(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#endif
