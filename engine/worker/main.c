/* entrylab-worker: runs variants for the engine; built for i386 and for x86_64 from this source.
 *
 * With --probe it says what this machine lets an ABI do, a line a capability. Otherwise it speaks
 * protocol.h on descriptor 3, and is of no use to a person. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.h"
#include "place.h"
#include "probe.h"
#include "serve.h"

enum {
	AGAIN = 42
}; /* exit status of a process that was told to end; one that a variant ends with it was not idle */

/* A variant may call anything: it finds no terminal, and cannot fill memory. */
static void fence_in(void)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0)
		link_fail("/dev/null");
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	const struct {
		int resource;
		rlim_t limit;
	} limits[] = {{RLIMIT_CORE, 0},
	              {RLIMIT_NOFILE, 64},
	              {RLIMIT_AS, sizeof(long) == 8 ? (rlim_t)4 << 30 : RLIM_INFINITY}};
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct rlimit l = {limits[i].limit, limits[i].limit};
		setrlimit(limits[i].resource, &l);
	}
}

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		link_fail("cannot run on the CPU that was asked for");
}

static struct protocol_config configure(const void *body, uint32_t size)
{
	struct protocol_config config;
	errno = 0;
	if (size != sizeof config)
		link_fail("a CONFIG message of the wrong size: worker and engine are of different "
		          "versions");
	memcpy(&config, body, sizeof config);
	if (config.version != PROTOCOL_VERSION)
		link_fail("worker and engine are of different versions");
	pin(config.cpu);
	return config;
}

static void answer(const struct protocol_head *head, const void *body)
{
	struct protocol_block block;
	switch (head->type) {
	case PROTOCOL_CHECK:
		serve_check(body, head->size / sizeof(uint32_t));
		break;
	case PROTOCOL_SIZE:
		serve_size(body, head->size / sizeof(uint32_t));
		break;
	case PROTOCOL_BLOCK:
		memcpy(&block, body, sizeof block);
		serve_block(&block, (const void *)((const char *)body + sizeof block));
		break;
	case PROTOCOL_END:
		_exit(AGAIN);
	default:
		errno = 0;
		link_fail("a message of an unknown type");
	}
}

/* The process that answers, from BEGIN to END. */
static _Noreturn void serve(void)
{
	struct protocol_begin begin;
	void *body;
	struct protocol_head head = link_read(&body);
	errno = 0;
	if (head.type != PROTOCOL_BEGIN || head.size != sizeof begin)
		link_fail("BEGIN was expected");
	memcpy(&begin, body, sizeof begin);
	free(body);
	serve_begin(&begin);
	link_write(PROTOCOL_READY, NULL, 0, NULL, 0);
	for (;;) {
		head = link_read(&body);
		answer(&head, body);
		free(body);
	}
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0); /* it was faster */
}

/* Forks one process after the other; ends as the one ended that was not told to. */
static _Noreturn void keep(void)
{
	pid_t self = getpid();
	/* processes that lose their parent become ours, and are found when this one is ended */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (;;) {
		int status;
		pid_t child = fork();
		if (child < 0)
			link_fail("fork");
		if (!child) {
			die_with(self);
			serve();
		}
		while (waitpid(child, &status, 0) < 0)
			if (errno != EINTR)
				_exit(1);
		if (WIFSIGNALED(status)) {
			signal(WTERMSIG(status), SIG_DFL);
			kill(self, WTERMSIG(status));
		}
		if (WEXITSTATUS(status) != AGAIN || link_status->doing != PROTOCOL_IDLE)
			_exit(WEXITSTATUS(status));
	}
}

int main(int argc, char **argv)
{
	void *body;
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return probe_main();
	if (argc != 1 || fcntl(PROTOCOL_FD, F_GETFD) < 0) {
		fputs("entrylab-worker runs the variants of entrylab(1) and is started by it. By "
		      "hand, only --probe is of use.\n",
		      stderr);
		return 2;
	}
	link_open();
	/* ends with the engine, however that ends */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fence_in();
	struct protocol_head head = link_read(&body);
	errno = 0;
	if (head.type != PROTOCOL_CONFIG)
		link_fail("CONFIG was expected");
	struct protocol_config config = configure(body, head.size);
	free(body);
	head = link_read(&body);
	if (head.type != PROTOCOL_PROGRAM)
		link_fail("PROGRAM was expected");
	place_load(body, head.size);
	free(body);
	serve_prepare(&config);
	keep();
}
