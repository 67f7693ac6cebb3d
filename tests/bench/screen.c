/* screen BIN first N: opens the workbench N times on a terminal of 100x30 and prints, a line each,
 * the milliseconds until its first screen stands.
 * screen BIN keys N COMMAND: opens it once, gives COMMAND, and types N characters into the command
 * line while that runs: the milliseconds until each is on the screen.
 * screen BIN run COMMAND: opens it, gives COMMAND, and leaves when the run is kept. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static const char first_screen[] = "shows the keys"; /* what the status line says then */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fail(const char *what)
{
	fprintf(stderr, "screen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static pid_t begin(const char *bin, int *fd)
{
	struct winsize size = {.ws_row = 30, .ws_col = 100};
	pid_t pid = forkpty(fd, NULL, NULL, &size);

	if (pid < 0)
		fail("forkpty");
	if (pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		execl(bin, bin, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Reads for at most ms, or until the text comes; false if it does not. */
static bool read_until(int fd, const char *text, double ms)
{
	static char seen[1 << 20];
	double end = now_ms() + ms;
	size_t n = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		double left = end - now_ms();
		ssize_t got;

		if (left <= 0 || poll(&p, 1, (int)left + 1) <= 0)
			return false;
		if (n > sizeof(seen) / 2)
			n = 0;
		got = read(fd, seen + n, sizeof(seen) - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		seen[n] = '\0';
		if (text && memmem(seen, n, text, strlen(text)))
			return true;
	}
}

static void type(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		fail("write");
}

static void end(int fd, pid_t pid)
{
	kill(pid, SIGHUP);
	while (read_until(fd, NULL, 100))
		;
	close(fd);
	waitpid(pid, NULL, 0);
}

static void first(const char *bin, long n)
{
	for (long i = 0; i < n; i++) {
		double begun = now_ms();
		int fd;
		pid_t pid = begin(bin, &fd);

		if (!read_until(fd, first_screen, PATIENCE_MS)) {
			errno = ETIMEDOUT;
			fail("no first screen");
		}
		printf("%.2f\n", now_ms() - begun);
		end(fd, pid);
	}
}

static void keys(const char *bin, long n, const char *command)
{
	int fd;
	pid_t pid = begin(bin, &fd);

	if (!read_until(fd, first_screen, PATIENCE_MS)) {
		errno = ETIMEDOUT;
		fail("no first screen");
	}
	type(fd, ":");
	type(fd, command);
	type(fd, "\r");
	if (!read_until(fd, "measuring", PATIENCE_MS)) {
		errno = ETIMEDOUT;
		fail("the command measures nothing");
	}
	type(fd, ":");
	read_until(fd, NULL, 300);
	srandom(1);
	for (long i = 0; i < n; i++) {
		/* Characters that nothing else on the screen has. */
		const char *c = i % 2 ? "}" : "{";
		double begun;

		read_until(fd, NULL, 10 + (double)(random() % 50));
		begun = now_ms();
		type(fd, c);
		if (!read_until(fd, c, 1000))
			break;
		printf("%.2f\n", now_ms() - begun);
		if (i % 40 == 39)
			type(fd, "\025"); /* the line is cleared */
	}
	end(fd, pid);
}

static void run(const char *bin, const char *command)
{
	int fd;
	pid_t pid = begin(bin, &fd);

	if (!read_until(fd, first_screen, PATIENCE_MS)) {
		errno = ETIMEDOUT;
		fail("no first screen");
	}
	type(fd, ":");
	type(fd, command);
	type(fd, "\r");
	if (!read_until(fd, "reached", 6 * PATIENCE_MS)) {
		errno = ETIMEDOUT;
		fail("the run does not end");
	}
	end(fd, pid);
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	if (n > 0 && strcmp(argv[2], "first") == 0) {
		first(argv[1], n);
	} else if (n > 0 && argc > 4 && strcmp(argv[2], "keys") == 0) {
		keys(argv[1], n, argv[4]);
	} else if (argc > 3 && strcmp(argv[2], "run") == 0) {
		run(argv[1], argv[3]);
	} else {
		fputs("usage: screen BIN first N | keys N COMMAND | run COMMAND\n", stderr);
		return 2;
	}
	return 0;
}
