#include "tui/input.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

int input_wait(int fd, const volatile int *stop)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	sigset_t ours, before;
	int n = -1;

	/* Blocked but inside ppoll. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ours, &before) != 0)
		return -1;
	do {
		if (stop && *stop) {
			n = 0;
			break;
		}
		n = ppoll(&p, 1, NULL, &before);
	} while (n < 0 && errno == EINTR);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return n;
}
