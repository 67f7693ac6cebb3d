#include "tui/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/error.h"

static void memory_end(void)
{
	fputs("entrylab: out of memory\n", stderr);
	exit(error_exit_status(ERROR_INTERNAL));
}

void *memory_get(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		memory_end();
	return p;
}

void *memory_grow(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size);

	if (!p)
		memory_end();
	return p;
}

char *memory_copy(const char *s)
{
	return memory_copy_part(s, strlen(s));
}

char *memory_copy_part(const char *s, size_t n)
{
	char *p = memory_get(n + 1);

	memcpy(p, s, n);
	return p;
}

char *memory_format(const char *fmt, ...)
{
	va_list ap;
	char *p = NULL;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		memory_end();
	va_end(ap);
	return p;
}
