#include "assembler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SECONDS = 20, OUT_FD = 9 };

static int memory_file(const char *name)
{
	/* Close-on-exec, for the assembler gets its copies by dup2; and above the numbers of those
	 * copies, even if this process was started without a standard input or output. */
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, OUT_FD + 1);
	close(fd);
	return high;
}

/* The environment with messages in English, for program_source_explain reads them: LC_ALL in front,
 * and no other. malloc'ed array of borrowed strings. */
static char **plain_environment(void)
{
	size_t n = 0, used = 0;
	while (environ && environ[n])
		n++;
	char **env = calloc(n + 2, sizeof *env);
	if (!env)
		return NULL;
	env[used++] = (char *)"LC_ALL=C";
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) && strncmp(environ[i], "LANGUAGE=", 9))
			env[used++] = environ[i];
	return env;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(fd, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return -1;
		p += w;
		n -= (size_t)w;
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0;
}

static char *read_messages(int fd)
{
	struct stat st;
	if (fstat(fd, &st) || lseek(fd, 0, SEEK_SET) < 0)
		return strdup("");
	size_t size = st.st_size > 65536 ? 65536 : (size_t)st.st_size;
	char *text = malloc(size + 1);
	if (!text)
		return NULL;
	ssize_t n = read(fd, text, size);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Waits for the child; -1 and killed when it takes too long. */
static int wait_for(pid_t pid, int *status)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int late = 0;
	if (fd >= 0) {
		while (poll(&p, 1, SECONDS * 1000) < 0 && errno == EINTR)
			;
		late = !(p.revents & POLLIN);
		close(fd);
	}
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return late ? -1 : 0;
}

static int spawn(enum experiment_abi abi, const char *directory, int in, int out, int messages,
                 pid_t *pid)
{
	char self[64];
	char *argv[8];
	size_t n = 0;
	snprintf(self, sizeof self, "/proc/self/fd/%d", OUT_FD);
	argv[n++] = (char *)"as";
	argv[n++] = (char *)(abi == EXPERIMENT_I386 ? "--32" : "--64");
	argv[n++] = (char *)"-o";
	argv[n++] = self;
	if (directory) {
		argv[n++] = (char *)"-I";
		argv[n++] = (char *)directory;
	}
	argv[n++] = (char *)"--";
	argv[n] = NULL;

	posix_spawn_file_actions_t actions;
	char **env = plain_environment();
	if (!env || posix_spawn_file_actions_init(&actions)) {
		free(env);
		return ENOMEM;
	}
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, messages, 2);
	posix_spawn_file_actions_adddup2(&actions, out, OUT_FD);
	posix_spawnattr_t attr;
	sigset_t set;
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	/* its own group: ^C at the terminal is the tool's to handle, and a half-written object is
	 * of no use */
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	int e = posix_spawnp(pid, "as", &actions, &attr, argv, env);
	free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

int assembler_run(enum experiment_abi abi, const char *text, size_t size, const char *directory,
                  int *object, char **messages, struct error *err)
{
	int rc = 0, status = 0;
	pid_t pid;
	*object = -1;
	*messages = NULL;
	int in = memory_file("source"), out = memory_file("object"), log = memory_file("messages");
	if (in < 0 || out < 0 || log < 0 || write_all(in, text, size)) {
		rc = error_errno(err, ERROR_INTERNAL, "cannot hand the source to the assembler");
		goto done;
	}
	int e = spawn(abi, directory, in, out, log, &pid);
	if (e) {
		errno = e;
		rc = e == ENOENT || e == EACCES
		             ? error_set(err, ERROR_ABSENT,
		                         "no assembler: `as` is not on the PATH (Debian: apt-get "
		                         "install binutils)")
		             : error_errno(err, ERROR_INTERNAL, "cannot start the assembler");
		goto done;
	}
	/* a .rept without end would otherwise take the machine's memory */
	struct rlimit limit = {2ul << 30, 2ul << 30};
	prlimit(pid, RLIMIT_AS, &limit, NULL);
	if (wait_for(pid, &status)) {
		rc = error_set(err, ERROR_INPUT, "the assembler did not finish within %d s",
		               SECONDS);
		goto done;
	}
	*messages = read_messages(log);
	if (!*messages) {
		rc = error_set(err, ERROR_INTERNAL, "out of memory");
	} else if (WIFSIGNALED(status)) {
		rc = error_set(err, ERROR_INPUT,
		               "the assembler was ended by signal %d: out of memory?",
		               WTERMSIG(status));
	} else if (WEXITSTATUS(status)) {
		rc = error_set(err, ERROR_INPUT, "the assembler refuses the source");
	} else if (lseek(out, 0, SEEK_END) <= 0) {
		rc = error_set(
		        err, ERROR_ABSENT,
		        "the assembler that is on the PATH wrote no object file: is that GNU as?");
	} else {
		*object = out;
		out = -1;
	}
done:
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	if (log >= 0)
		close(log);
	return rc;
}
