#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	enum error_code code;
	int status;
} order[] = {
        /* worst first */
        {ERROR_STOPPED, 130}, {ERROR_INTERNAL, 70}, {ERROR_INPUT, 2},    {ERROR_ABSENT, 3},
        {ERROR_UNTRUSTED, 4}, {ERROR_NOT_KEPT, 5},  {ERROR_NEGATIVE, 1}, {ERROR_NONE, 0},
};

int error_vset(struct error *err, enum error_code code, const char *fmt, va_list ap)
{
	if (!err)
		return code;
	err->code = code;
	int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
	if (n >= (int)sizeof err->text)
		memcpy(err->text + sizeof err->text - 4, "...", 4);
	return code;
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	error_vset(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int error_errno(struct error *err, enum error_code code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	va_start(ap, fmt);
	error_vset(err, code, fmt, ap);
	va_end(ap);
	if (err) {
		size_t used = strlen(err->text);
		snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
	}
	errno = saved;
	return code;
}

static unsigned rank(enum error_code code)
{
	unsigned i = 0;
	while (i + 1 < sizeof order / sizeof order[0] && order[i].code != code)
		i++;
	return i;
}

int error_exit_status(enum error_code code)
{
	return order[rank(code)].status;
}

enum error_code error_worse(enum error_code a, enum error_code b)
{
	return rank(a) <= rank(b) ? a : b;
}
