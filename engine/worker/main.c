/* entrylab-worker: runs variants for the engine; built for i386 and for x86_64 from this source.
 *
 * With --probe it says what this machine lets an ABI do, a line a capability. Otherwise it speaks protocol.h on descriptor 3, and is
 * of no use to a person. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crash.h"
#include "link.h"
#include "place.h"
#include "probe.h"
#include "serve.h"

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
	} limits[] = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 64}, {RLIMIT_AS, sizeof(long) == 8 ? (rlim_t)4 << 30 : RLIM_INFINITY}};
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

static void configure(const void *body, uint32_t size)
{
	struct protocol_config config;
	errno = 0;
	if (size != sizeof config)
		link_fail("a CONFIG message of the wrong size: worker and engine are of different versions");
	memcpy(&config, body, sizeof config);
	if (config.version != PROTOCOL_VERSION)
		link_fail("worker and engine are of different versions");
	pin(config.cpu);
	serve_prepare(&config);
}

static void answer(const struct protocol_head *head, const void *body)
{
	struct protocol_block block;
	switch (head->type) {
	case PROTOCOL_CONFIG:
		configure(body, head->size);
		break;
	case PROTOCOL_PROGRAM:
		place_load(body, head->size);
		link_write(PROTOCOL_READY, NULL, 0, NULL, 0);
		break;
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
	default:
		errno = 0;
		link_fail("a message of an unknown type");
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return probe_main();
	if (argc != 1 || fcntl(PROTOCOL_FD, F_GETFD) < 0) {
		fputs("entrylab-worker runs the variants of entrylab(1) and is started by it. By hand, only --probe is of use.\n",
		      stderr);
		return 2;
	}
	link_open();
	/* ends with the engine, however that ends */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fence_in();
	crash_prepare();
	for (;;) {
		void *body;
		struct protocol_head head = link_read(&body);
		answer(&head, body);
		free(body);
	}
}
