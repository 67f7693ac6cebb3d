/* spend [-m] OUT COMMAND [ARGUMENT...]: runs a command and tells what it took.
 *
 * The command's standard output goes to the file OUT. One line is printed: seconds of wall time,
 * from before the start until it has been waited for; exit status (128 and the number for a
 * signal); and with -m the most memory that it and all its descendants held at one time, in kB,
 * otherwise 0.
 *
 * Memory is the sum of proportional set sizes (proc(5), smaps_rollup): a page that two processes
 * share counts once, and so does a page that one process maps twice, as a worker does with code.
 * The sum is taken every few milliseconds. Where it cannot be read: the largest process's resident
 * set. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE_MS = 10 };

extern char **environ;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static FILE *open_proc(long pid, const char *name)
{
	char path[96];
	snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
	return fopen(path, "re");
}

/* A process that is gone, or on its way out, holds nothing. */
static long proportional_kb(long pid)
{
	char line[256];
	long kb = 0;
	FILE *f = open_proc(pid, "smaps_rollup");
	if (!f)
		return 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "Pss: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

static long tree_kb(long pid)
{
	char name[40];
	long sum = proportional_kb(pid), child;
	snprintf(name, sizeof name, "task/%ld/children", pid);
	FILE *f = open_proc(pid, name);
	if (!f)
		return sum;
	while (fscanf(f, "%ld", &child) == 1)
		sum += tree_kb(child);
	fclose(f);
	return sum;
}

/* Waits until pid ends; returns the most memory seen meanwhile. */
static long watch(pid_t pid)
{
	long most = 0;
	/* before Linux 5.3 there is none: then only the largest process is told */
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return 0;
	struct pollfd end = {.fd = fd, .events = POLLIN};
	while (poll(&end, 1, SAMPLE_MS) <= 0) {
		long kb = tree_kb(pid);
		if (kb > most)
			most = kb;
	}
	close(fd);
	return most;
}

int main(int argc, char **argv)
{
	bool memory = argc > 1 && !strcmp(argv[1], "-m");
	char **word = argv + 1 + memory;
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;
	struct rusage usage;

	if (argc < 3 + memory) {
		fputs("spend: [-m] OUT COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, word[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	double begin = now();
	int e = posix_spawnp(&pid, word[1], &actions, NULL, word + 1, environ);
	if (e) {
		fprintf(stderr, "spend: %s: %s\n", word[1], strerror(e));
		return 1;
	}
	long most = memory ? watch(pid) : 0;
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR) {
			perror("spend: wait4");
			return 1;
		}
	double end = now();
	posix_spawn_file_actions_destroy(&actions);
	if (memory && !most)
		most = usage.ru_maxrss;
	printf("%.6f %d %ld\n", end - begin,
	       WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), most);
	return 0;
}
