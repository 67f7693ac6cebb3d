#include "tui/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/record.h"

enum {
	PROGRESS_EVERY_NS = 100000000,
	PROGRESS_JSON_EVERY_NS = 500000000,
	PROGRESS_WIDTH_MAX = 200,
};

void progress_begin(struct progress *p, const char *name, bool quiet)
{
	*p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .quiet = quiet, .name = name};
}

int progress_text(char *out, int width, const char *name, double share, double seconds_left)
{
	char left[64] = "";
	int n;

	if (isfinite(seconds_left) && seconds_left >= 60)
		snprintf(left, sizeof(left), ", %.0f min %02.0f s left", floor(seconds_left / 60),
		         floor(fmod(seconds_left, 60)));
	else if (isfinite(seconds_left) && seconds_left >= 0)
		snprintf(left, sizeof(left), ", %.0f s left", ceil(seconds_left));
	share = isfinite(share) ? fmin(fmax(share, 0), 1) : 0;
	n = snprintf(out, (size_t)width + 1, "%s: %.0f%%%s", name, floor(100 * share), left);
	return n > width ? width : n;
}

/* One column less than there are: a full line would wrap on some terminals. */
static int progress_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 79;
	return size.ws_col - 1 < PROGRESS_WIDTH_MAX ? size.ws_col - 1 : PROGRESS_WIDTH_MAX;
}

static bool progress_due(struct progress *p, long every_ns)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return false;
	if (now.tv_sec < p->next.tv_sec ||
	    (now.tv_sec == p->next.tv_sec && now.tv_nsec < p->next.tv_nsec))
		return false;
	p->next = now;
	p->next.tv_nsec += every_ns;
	if (p->next.tv_nsec >= 1000000000) {
		p->next.tv_nsec -= 1000000000;
		p->next.tv_sec++;
	}
	return true;
}

void progress_tick(struct run *r, void *ctx)
{
	struct progress *p = ctx;
	char text[PROGRESS_WIDTH_MAX + 1];
	double left, share;
	int n, erase;

	if (!p->on || !progress_due(p, PROGRESS_EVERY_NS))
		return;
	share = run_progress(r, &left);
	n = progress_text(text, progress_width(), p->name, share, left);
	/* Blanks over what was longer, and no escape sequence: this works on every terminal. */
	erase = p->drawn > n ? p->drawn - n : 0;
	fprintf(stderr, "\r%s%*s", text, erase, "");
	fflush(stderr);
	p->drawn = n;
}

void progress_tick_json(struct run *r, void *ctx)
{
	struct progress *p = ctx;
	double left, share;
	char *line;

	/* the first is due when something has been measured, not at once */
	if (p->quiet || run_result(r)->blocks == 0 || !progress_due(p, PROGRESS_JSON_EVERY_NS))
		return;
	share = run_progress(r, &left);
	line = record_progress(run_result(r), share, left);
	if (line)
		fputs(line, stdout);
	fflush(stdout);
	free(line);
}

void progress_end(struct progress *p)
{
	if (p->on && p->drawn)
		fprintf(stderr, "\r%*s\r", p->drawn, "");
	fflush(stderr);
	p->drawn = 0;
}
