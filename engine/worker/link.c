#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct protocol_status *link_status;

static void read_all(void *to, size_t n)
{
	char *p = to;
	while (n) {
		ssize_t r = recv(PROTOCOL_FD, p, n, 0);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			_exit(0); /* the engine has gone: nobody is there to be told */
		p += r;
		n -= (size_t)r;
	}
}

static void write_all(const void *from, size_t n)
{
	const char *p = from;
	while (n) {
		ssize_t w = send(PROTOCOL_FD, p, n, MSG_NOSIGNAL);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			_exit(0);
		p += w;
		n -= (size_t)w;
	}
}

void link_open(void)
{
	void *p = mmap(NULL, sizeof *link_status, PROT_READ | PROT_WRITE, MAP_SHARED,
	               PROTOCOL_STATUS_FD, 0);
	if (p == MAP_FAILED)
		_exit(1);
	link_status = p;
}

struct protocol_head link_read(void **body)
{
	struct protocol_head head;
	read_all(&head, sizeof head);
	if (head.size > PROTOCOL_MAX_MESSAGE)
		link_fail("a message is too large");
	*body = malloc(head.size + 1);
	if (!*body)
		link_fail("out of memory");
	read_all(*body, head.size);
	return head;
}

void link_write(uint32_t type, const void *first, size_t first_size, const void *second,
                size_t second_size)
{
	struct protocol_head head = {.type = type, .size = (uint32_t)(first_size + second_size)};
	write_all(&head, sizeof head);
	write_all(first, first_size);
	if (second_size)
		write_all(second, second_size);
}

void link_fail(const char *what)
{
	char text[256];
	int n = errno ? snprintf(text, sizeof text, "%s: %s", what, strerror(errno))
	              : snprintf(text, sizeof text, "%s", what);
	link_write(PROTOCOL_FAILED, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1, NULL,
	           0);
	_exit(1);
}
