#include "tui/wb_loop.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tui/wb_act.h"
#include "tui/wb_frame.h"
#include "tui/wb_input.h"
#include "tui/wb_line.h"
#include "tui/wb_term.h"

enum {
	FRAME_MS = 33, /* between frames that a run causes; those of keys do not wait */
	FDS_MOST = 64,
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool over(const struct wb *wb)
{
	return wb->session->quit || wb->lost || *wb->terminate;
}

/* ^C: a line that is open is given up, else the run is stopped. */
static void take_interrupt(struct wb *wb, struct run *run)
{
	if (*wb->terminate) {
		if (run)
			run_stop(run);
		return;
	}
	*wb->session->stop = 0;
	wb->dirty = true;
	if (wb_line_is_open())
		wb_line_close();
	else
		wb_act(wb, WB_STOP);
}

static void take_signals(struct wb *wb, struct run *run)
{
	if (*wb->session->stop)
		take_interrupt(wb, run);
	if (wb_term_stopped) {
		wb_term_stopped = 0;
		wb_term_suspend();
		wb->dirty = true;
	}
	if (wb_term_continued) {
		wb_term_continued = 0;
		wb_term_again();
		wb->dirty = true;
	}
	if (wb_term_resized) {
		wb_term_resized = 0;
		wb_term_resize();
		wb->dirty = true;
	}
}

static bool signals_pending(const struct wb *wb)
{
	return *wb->session->stop || wb_term_stopped || wb_term_continued || wb_term_resized;
}

/* Waits; signals are let in during the wait alone, so that none is missed between the look at what
 * they set and the wait. */
static int wait_for(struct wb *wb, struct pollfd *fds, size_t n, int ms)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
	struct timespec limit = {ms / 1000, (long)(ms % 1000) * 1000000};
	sigset_t ours, before;
	int ready = 0;

	sigemptyset(&ours);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&ours, numbers[i]);
	sigprocmask(SIG_BLOCK, &ours, &before);
	if (!signals_pending(wb))
		ready = ppoll(fds, (nfds_t)n, ms < 0 ? NULL : &limit, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready;
}

/* The terminal is gone when it says so, or when it still can be read after all was read, and holds
 * nothing. */
static bool is_lost(const struct pollfd *tty, bool got)
{
	struct pollfd again = {.fd = STDIN_FILENO, .events = POLLIN};
	int waiting = 0;

	if (tty->revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	if (got || poll(&again, 1, 0) <= 0)
		return false; /* half a character, for one */
	return (again.revents & (POLLHUP | POLLERR | POLLNVAL)) ||
	       ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0;
}

static int least_ms(int a, int b)
{
	if (a < 0)
		return b;
	return b < 0 || a < b ? a : b;
}

/* What the run has now; true if that is another picture. */
static void look_at_run(struct wb *wb, struct run *run)
{
	wb->model.progress = run_progress(run, &wb->model.seconds_left);
	wb_results_refresh(&wb->model.results);
}

int wb_loop_run(struct wb *wb, struct run *run, struct error *err)
{
	double next = 0; /* no frame that a run causes before this */
	bool stopping = false;

	wb->dirty = true;
	for (;;) {
		struct pollfd fds[FDS_MOST] = {{.fd = STDIN_FILENO, .events = POLLIN}};
		size_t n = 1;
		int ms = -1, rc = 0;

		take_signals(wb, run);
		if (over(wb) && run && !stopping) {
			run_stop(run);
			stopping = true;
		}
		if (over(wb) && !run)
			return ERROR_NONE;
		if (run && now_ms() >= next) {
			look_at_run(wb, run);
			wb->dirty = true;
		}
		if (wb->dirty && !wb->lost) {
			wb_frame_draw(wb);
			wb->dirty = false;
			next = now_ms() + FRAME_MS;
		}
		if (run) {
			n += run_poll_fds(run, fds + 1, FDS_MOST - 1);
			ms = least_ms(run_timeout_ms(run), (int)fmax(1, ceil(next - now_ms())));
		}
		if (wb->lost)
			fds[0].fd = -1;
		if (wait_for(wb, fds, n, ms) < 0 && errno != EINTR)
			return error_errno(err, ERROR_INTERNAL, "poll");
		if (fds[0].revents)
			wb->lost |= is_lost(&fds[0], wb_input_read(wb));
		if (run)
			rc = run_step(run, err);
		if (run && rc <= 0) {
			look_at_run(wb, run);
			return rc;
		}
	}
}
