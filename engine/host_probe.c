#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiment.h"
#include "worker.h"

enum { PROBE_LIMIT_MS = 2000 };

extern char **environ;

/* One worker being asked. */
struct asked {
	pid_t pid; /* 0: not started, or ended */
	int fd;    /* its standard output; -1: closed */
	int status;
	bool late;
	size_t used;
	char text[8192]; /* ten lines fit many times over; what goes beyond is dropped */
};

static void set_absent(struct host_probe out[HOST_CAPABILITIES], const char *why)
{
	for (int i = 0; i < HOST_CAPABILITIES; i++) {
		out[i].present = false;
		snprintf(out[i].why, sizeof out[i].why, "%s", why);
	}
}

static bool parse_line(char *line, struct host_probe out[HOST_CAPABILITIES],
                       bool seen[HOST_CAPABILITIES])
{
	char *answer = strchr(line, ' ');
	if (!answer)
		return false;
	*answer++ = 0;
	int i = host_capability_find(line);
	if (i < 0 || seen[i])
		return false;
	const char *text = "";
	bool yes = strncmp(answer, "yes", 3) == 0;
	if (strncmp(answer, yes ? "yes: " : "no ", yes ? 5 : 3) == 0)
		text = answer + (yes ? 5 : 3);
	if (!text[0] && strcmp(answer, "yes") != 0)
		return false;
	out[i].present = yes;
	snprintf(out[i].why, sizeof out[i].why, "%s", text);
	return true;
}

size_t host_probe_parse(const char *text, struct host_probe out[HOST_CAPABILITIES])
{
	bool seen[HOST_CAPABILITIES] = {false};
	size_t known = 0;
	set_absent(out, "the worker's probe said nothing about it");
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);
		if (line && parse_line(line, out, seen)) {
			seen[host_capability_find(line)] = true;
			known++;
		}
		free(line);
		text += length + (text[length] == '\n');
	}
	return known;
}

/* Starts path --probe with its output in a pipe and nothing else of ours. 0 or an errno value. */
static int start(const char *path, struct asked *a)
{
	int ends[2];
	char *const argv[] = {(char *)path, "--probe", NULL};
	posix_spawn_file_actions_t actions;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	int rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		if (rc == 0)
			rc = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
		if (rc == 0)
			rc = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
			                                      0);
		if (rc == 0)
			rc = posix_spawn(&a->pid, path, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (rc == 0) {
		a->fd = ends[0];
		return 0;
	}
	a->pid = 0;
	close(ends[0]);
	return rc;
}

static long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes what is there; at the end of file closes the pipe. */
static void take(struct asked *a)
{
	char drop[512];
	size_t room = sizeof a->text - 1 - a->used;
	ssize_t n = read(a->fd, room ? a->text + a->used : drop, room ? room : sizeof drop);
	if (n > 0 && room) {
		a->used += (size_t)n;
		a->text[a->used] = 0;
	}
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
		close(a->fd);
		a->fd = -1;
	}
}

/* Reads from all until each has closed its output or the time is up. */
static void read_all(struct asked *all, int n)
{
	long end = now_ms() + PROBE_LIMIT_MS;
	for (;;) {
		struct pollfd fds[EXPERIMENT_ABIS];
		int open = 0;
		for (int i = 0; i < n; i++) {
			fds[i] = (struct pollfd){.fd = all[i].fd, .events = POLLIN};
			open += all[i].fd >= 0;
		}
		long left = end - now_ms();
		if (!open || left <= 0)
			return;
		int ready = poll(fds, (nfds_t)n, (int)left);
		if (ready < 0 && errno != EINTR)
			return;
		for (int i = 0; ready > 0 && i < n; i++)
			if (fds[i].revents)
				take(&all[i]);
	}
}

static void finish(struct asked *a)
{
	if (a->fd >= 0) {
		a->late = true;
		kill(a->pid, SIGKILL);
		close(a->fd);
		a->fd = -1;
	}
	/* fails where our caller ignores SIGCHLD: then the text alone must do */
	while (waitpid(a->pid, &a->status, 0) < 0 && errno == EINTR)
		;
	a->pid = 0;
}

static void explain_not_started(enum experiment_abi abi, int error, char *why, size_t size)
{
	if (abi == EXPERIMENT_I386 && (error == ENOEXEC || error == ELIBBAD))
		snprintf(why, size,
		         "32-bit programs do not start (%s): booted with ia32_emulation=0, or a "
		         "kernel without IA32 emulation",
		         strerrorname_np(error));
	else
		snprintf(why, size, "the worker program cannot be started: %s", strerror(error));
}

static void explain_no_answer(enum experiment_abi abi, const struct asked *a, char *why,
                              size_t size)
{
	if (a->late)
		snprintf(why, size, "the worker program did not answer within %d s",
		         PROBE_LIMIT_MS / 1000);
	else if (WIFSIGNALED(a->status) && abi == EXPERIMENT_I386)
		snprintf(why, size,
		         "32-bit programs die at once (SIG%s): ia32_emulation=0, a kernel without "
		         "IA32 emulation, or a sandbox",
		         sigabbrev_np(WTERMSIG(a->status)));
	else if (WIFSIGNALED(a->status))
		snprintf(why, size, "the worker program died at once: SIG%s",
		         sigabbrev_np(WTERMSIG(a->status)));
	else
		snprintf(why, size, "the worker program gave no answer (exit status %d)",
		         WEXITSTATUS(a->status));
}

int host_probe_run(struct host_probes *out, struct error *err)
{
	struct asked *all = calloc(EXPERIMENT_ABIS, sizeof *all);
	char why[160];
	if (!all)
		return error_set(err, ERROR_INTERNAL, "out of memory");
	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		char *path = worker_path((enum experiment_abi)abi);
		all[abi].fd = -1;
		int rc = path ? start(path, &all[abi]) : 0;
		free(path);
		if (!path)
			set_absent(out->abi[abi],
			           abi == EXPERIMENT_I386
			                   ? "not built: install gcc-multilib and run make again"
			                   : "not built: run make again");
		if (rc == 0)
			continue;
		explain_not_started((enum experiment_abi)abi, rc, why, sizeof why);
		set_absent(out->abi[abi], why);
	}
	read_all(all, EXPERIMENT_ABIS);
	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		if (all[abi].pid == 0)
			continue;
		finish(&all[abi]);
		if (host_probe_parse(all[abi].text, out->abi[abi]) > 0)
			continue;
		explain_no_answer((enum experiment_abi)abi, &all[abi], why, sizeof why);
		set_absent(out->abi[abi], why);
	}
	free(all);
	return 0;
}
