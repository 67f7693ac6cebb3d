#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct buffer {
	uint8_t *at;
	size_t size, capacity, done;
};

struct worker {
	pid_t pid;
	int fd, status_fd;
	bool reaped;
	int wait_status;
	struct protocol_status *status;
	struct buffer out, in;
	size_t taken; /* bytes of `in` that the last message handed over */
};

static char *try_path(const char *directory, const char *below, enum experiment_abi abi)
{
	char *path;
	if (asprintf(&path, "%s%s/entrylab-worker-%s", directory, below, experiment_abi_name[abi]) <
	    0)
		return NULL;
	if (!access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

char *worker_path(enum experiment_abi abi)
{
	const char *given = getenv("ENTRYLAB_WORKERS");
	if (given && *given)
		return try_path(given, "", abi);
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *path = NULL;
	if (n > 0) {
		self[n] = '\0';
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
		path = try_path(self, "/build", abi);
		if (!path)
			path = try_path(self, "", abi);
	}
	return path ? path : try_path(ENTRYLAB_LIBEXECDIR, "", abi);
}

static int put(struct buffer *b, const void *data, size_t size)
{
	if (b->size + size > b->capacity) {
		size_t capacity = (b->size + size) * 2;
		uint8_t *at = realloc(b->at, capacity);
		if (!at)
			return -1;
		b->at = at;
		b->capacity = capacity;
	}
	if (size)
		memcpy(b->at + b->size, data, size);
	b->size += size;
	return 0;
}

int worker_send(struct worker *w, uint32_t type, const void *first, size_t first_size,
                const void *second, size_t second_size, struct error *err)
{
	struct protocol_head head = {.type = type, .size = (uint32_t)(first_size + second_size)};
	if (put(&w->out, &head, sizeof head) || put(&w->out, first, first_size) ||
	    put(&w->out, second, second_size))
		return error_set(err, ERROR_INTERNAL, "out of memory");
	return 0;
}

static int send_program(struct worker *w, const struct program *p, struct error *err)
{
	struct protocol_program n = {(uint32_t)p->section_count, (uint32_t)p->fixup_count,
	                             (uint32_t)p->variant_count, (uint32_t)p->byte_count};
	struct protocol_head head = {.type = PROTOCOL_PROGRAM};
	size_t sections = p->section_count * sizeof *p->sections,
	       fixups = p->fixup_count * sizeof *p->fixups,
	       variants = p->variant_count * sizeof *p->variants;
	size_t size = sizeof n + sections + fixups + variants + p->byte_count;
	if (size > PROTOCOL_MAX_MESSAGE)
		return error_set(err, ERROR_INPUT, "the code of this run is too large (%zu MiB)",
		                 size >> 20);
	head.size = (uint32_t)size;
	if (put(&w->out, &head, sizeof head) || put(&w->out, &n, sizeof n) ||
	    put(&w->out, p->sections, sections) || put(&w->out, p->fixups, fixups) ||
	    put(&w->out, p->variants, variants) || put(&w->out, p->bytes, p->byte_count))
		return error_set(err, ERROR_INTERNAL, "out of memory");
	return 0;
}

/* The child gets its end of the socket and the status page at fixed numbers, default signals, and a
 * group of its own, so that ^C at the terminal reaches the tool alone and one kill ends whatever
 * variants started. */
static int spawn(const char *path, int socket_fd, int status_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	char *env[] = {NULL}; /* nothing of the user's environment moves the stack */
	char *argv[] = {(char *)"entrylab-worker", NULL};

	if (posix_spawn_file_actions_init(&actions))
		return ENOMEM;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	posix_spawn_file_actions_adddup2(&actions, socket_fd, PROTOCOL_FD);
	posix_spawn_file_actions_adddup2(&actions, status_fd, PROTOCOL_STATUS_FD);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
	                                        POSIX_SPAWN_SETPGROUP);
	int e = posix_spawn(pid, path, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

/* A descriptor above those that the child uses, so that dup2 cannot land on it. */
static int raise_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 16);
	close(fd);
	return high;
}

int worker_start(enum experiment_abi abi, const struct protocol_config *config,
                 const struct program *program, struct worker **out, struct error *err)
{
	int pair[2] = {-1, -1}, rc;
	char *path = worker_path(abi);
	if (!path)
		return error_set(err, ERROR_ABSENT, "no %s worker: it is not built%s",
		                 experiment_abi_name[abi],
		                 abi == EXPERIMENT_I386
		                         ? " (Debian: apt-get install gcc-multilib, then make)"
		                         : "");
	struct worker *w = calloc(1, sizeof *w);
	if (!w) {
		free(path);
		return error_set(err, ERROR_INTERNAL, "out of memory");
	}
	w->fd = w->status_fd = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		rc = error_errno(err, ERROR_INTERNAL, "socketpair");
		goto fail;
	}
	pair[1] = raise_fd(pair[1]);
	w->fd = pair[0];
	w->status_fd = memfd_create("status", MFD_CLOEXEC);
	w->status_fd = w->status_fd < 0 ? -1 : raise_fd(w->status_fd);
	if (pair[1] < 0 || w->status_fd < 0 || ftruncate(w->status_fd, sizeof *w->status)) {
		rc = error_errno(err, ERROR_INTERNAL, "cannot make a status page");
		goto fail;
	}
	w->status =
	        mmap(NULL, sizeof *w->status, PROT_READ | PROT_WRITE, MAP_SHARED, w->status_fd, 0);
	if (w->status == MAP_FAILED) {
		w->status = NULL;
		rc = error_errno(err, ERROR_INTERNAL, "cannot map a status page");
		goto fail;
	}
	int e = spawn(path, pair[1], w->status_fd, &w->pid);
	if (e) {
		errno = e;
		w->pid = 0;
		rc = error_errno(err, ERROR_ABSENT, "cannot start %s", path);
		goto fail;
	}
	int flags = fcntl(w->fd, F_GETFL);
	if (flags < 0 || fcntl(w->fd, F_SETFL, flags | O_NONBLOCK)) {
		rc = error_errno(err, ERROR_INTERNAL, "fcntl");
		goto fail;
	}
	if ((rc = worker_send(w, PROTOCOL_CONFIG, config, sizeof *config, NULL, 0, err)) ||
	    (rc = send_program(w, program, err)))
		goto fail;
	close(pair[1]);
	free(path);
	*out = w;
	return 0;
fail:
	if (pair[1] >= 0)
		close(pair[1]);
	free(path);
	worker_free(w);
	return rc;
}

int worker_fd(const struct worker *w)
{
	return w->fd;
}

short worker_events(const struct worker *w)
{
	return (short)(POLLIN | (w->out.done < w->out.size ? POLLOUT : 0));
}

static bool flush(struct worker *w)
{
	while (w->out.done < w->out.size) {
		ssize_t n = send(w->fd, w->out.at + w->out.done, w->out.size - w->out.done,
		                 MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		w->out.done += (size_t)n;
	}
	w->out.done = w->out.size = 0;
	return true;
}

/* 1: something came; 0: nothing now; -1: the other side has closed. */
static int fill(struct worker *w)
{
	struct protocol_head head;
	size_t room = 65536;
	if (w->in.size >= sizeof head) {
		memcpy(&head, w->in.at, sizeof head);
		if (sizeof head + head.size > w->in.size)
			room = sizeof head + head.size - w->in.size;
	}
	if (w->in.capacity - w->in.size < room) {
		uint8_t *at = realloc(w->in.at, w->in.size + room);
		if (!at)
			return -1;
		w->in.at = at;
		w->in.capacity = w->in.size + room;
	}
	ssize_t n;
	do
		n = recv(w->fd, w->in.at + w->in.size, w->in.capacity - w->in.size, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		w->in.size += (size_t)n;
	return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}

/* *head is filled as soon as it is there. */
static bool whole(const struct worker *w, struct protocol_head *head)
{
	if (w->in.size < sizeof *head)
		return false;
	memcpy(head, w->in.at, sizeof *head);
	return w->in.size >= sizeof *head + head->size;
}

int worker_receive(struct worker *w, struct protocol_head *head, const void **body)
{
	if (w->taken) {
		memmove(w->in.at, w->in.at + w->taken, w->in.size - w->taken);
		w->in.size -= w->taken;
		w->taken = 0;
	}
	/* an error here shows as an end of file below */
	flush(w);
	while (!whole(w, head)) {
		if (w->in.size >= sizeof *head && head->size > PROTOCOL_MAX_MESSAGE)
			return -1; /* not one of ours: a variant wrote into the socket */
		int r = fill(w);
		if (r <= 0)
			return r;
	}
	*body = w->in.at + sizeof *head;
	w->taken = sizeof *head + head->size;
	return 1;
}

static void reap(struct worker *w)
{
	if (w->pid <= 0 || w->reaped)
		return;
	while (waitpid(w->pid, &w->wait_status, 0) < 0)
		if (errno != EINTR)
			break;
	w->reaped = true;
}

/* A worker's children, and theirs: a variant may have put some into a session of their own, where a
 * signal to the group does not reach them. They are known as long as those live that they come
 * from. */
static void kill_children(pid_t pid)
{
	char path[64];
	pid_t child;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return; /* a kernel without CONFIG_PROC_CHILDREN */
	while (fscanf(f, "%d", &child) == 1) {
		kill(child, SIGSTOP); /* so that no more are born */
		kill_children(child);
		kill(child, SIGKILL);
	}
	fclose(f);
}

void worker_kill(struct worker *w)
{
	if (w->pid <= 0 || w->reaped)
		return;
	kill(w->pid, SIGSTOP);
	kill_children(w->pid);
	/* the group first: it exists as long as the unreaped leader does */
	kill(-w->pid, SIGKILL);
	kill(w->pid, SIGKILL);
	reap(w);
}

/* It has ended, or ends within some milliseconds; not reaped, so that its group still exists. */
static bool ends_itself(const struct worker *w)
{
	siginfo_t info = {0};
	for (int i = 0; i < 5; i++) {
		if (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

struct worker_end worker_end(struct worker *w)
{
	/* A process closes its socket last on its way out, so there is next to nothing to wait for,
	 * unless it has only closed the socket; and one that is on its way out keeps the status it
	 * has, SIGKILL or not. Children of variants may still hold the group. */
	struct worker_end end = {.closed = w->pid > 0 && !w->reaped && !ends_itself(w)};
	worker_kill(w);
	end.closed &= WIFSIGNALED(w->wait_status) && WTERMSIG(w->wait_status) == SIGKILL;
	end.status = WIFSIGNALED(w->wait_status) ? -WTERMSIG(w->wait_status)
	                                         : WEXITSTATUS(w->wait_status);
	end.last = *w->status;
	return end;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	worker_kill(w);
	if (w->fd >= 0)
		close(w->fd);
	if (w->status_fd >= 0)
		close(w->status_fd);
	if (w->status)
		munmap(w->status, sizeof *w->status);
	free(w->out.at);
	free(w->in.at);
	free(w);
}
