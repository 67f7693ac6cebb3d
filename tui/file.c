#include "tui/file.h"

#include <errno.h>
#include <stdbool.h>

int file_create(const char *what, const char *path, FILE **out, struct error *err)
{
	*out = fopen(path, "we");
	return *out ? ERROR_NONE : error_errno(err, ERROR_INPUT, "%s %s", what, path);
}

int file_close(const char *what, const char *path, FILE *f, enum error_code code, struct error *err)
{
	bool failed;
	int why;

	errno = 0;
	failed = fflush(f) != 0;
	why = errno;
	failed = ferror(f) || failed;
	errno = 0;
	if (fclose(f) != 0)
		failed = true;
	if (!failed)
		return ERROR_NONE;
	errno = why ? why : errno;
	if (errno)
		return error_errno(err, code, "%s %s: not all could be written", what, path);
	/* The error met an earlier write, and its number is gone. */
	return error_set(err, code, "%s %s: not all could be written: is there room left?", what,
	                 path);
}
