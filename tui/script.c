#include "tui/script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/input.h"
#include "tui/memory.h"
#include "tui/words.h"

enum {
	SCRIPT_DEPTH = 16, /* more is a script that runs itself */
	SCRIPT_COMMAND_MAX =
	        4 << 20, /* bytes of one command: as much as an experiment's file may have */
};

struct script {
	struct session *session;
	const char *name; /* NULL: messages do not say where */
	int fd;           /* -1: the text is all in buffer */
	bool ended;       /* nothing more can be read */
	bool keep_going;
	char *buffer;
	size_t size; /* bytes in buffer */
	size_t room;
	unsigned line; /* of the first byte in buffer */
	enum error_code worst;
};

static void script_tell(struct script *s, enum error_code code, unsigned line, const char *text)
{
	if (s->name)
		fprintf(stderr, "%s:%u: %s\n", s->name, line, text);
	else
		command_say(s->session, "%s", text);
	s->worst = error_worse(s->worst, code);
}

static bool script_stopped(const struct script *s)
{
	return s->session->stop && *s->session->stop;
}

/* Adds what can be read to the buffer. True also where a signal says stop. */
static bool script_read(struct script *s)
{
	ssize_t n;
	int ready;

	if (s->room - s->size < 65536) {
		s->room = s->size + 65536 + s->size / 2;
		s->buffer = memory_grow(s->buffer, s->room, 1);
	}
	do {
		ready = input_wait(s->fd, s->session->stop);
		if (ready == 0)
			return true;
		n = ready > 0 ? read(s->fd, s->buffer + s->size, s->room - s->size) : -1;
	} while (ready > 0 && n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0) {
		char *text = memory_format("cannot be read: %s", strerror(errno));

		script_tell(s, ERROR_INPUT, s->line, text);
		free(text);
		return false;
	}
	s->ended = n == 0;
	s->size += (size_t)n;
	return true;
}

/* The length of the first command in the buffer, with its newline; 0 if more must be read to know.
 */
static size_t script_command_size(const struct script *s)
{
	size_t n = s->size ? words_command_size(s->buffer, s->size) : 0;

	return n == 0 && s->ended ? s->size : n;
}

static unsigned script_count_lines(const char *text, size_t size)
{
	unsigned n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

static void script_execute(struct script *s, const char *text)
{
	struct words w;
	struct error err;
	char *where = s->name ? memory_format("%s:%u", s->name, s->line) : NULL;
	const char *outer = s->session->where;
	enum error_code code;

	if (words_split(text, &w, &err) != ERROR_NONE) {
		script_tell(s, ERROR_INPUT, s->line, err.text);
		free(where);
		return;
	}
	if (where)
		s->session->where = where;
	code = command_execute(s->session, (const char *const *)w.items, w.count);
	s->session->where = outer;
	s->worst = error_worse(s->worst, code);
	free(where);
	words_free(&w);
}

/* Takes the first command out of the buffer and runs it. False: the script cannot go on. */
static bool script_step(struct script *s, size_t size)
{
	char *text = memory_copy_part(s->buffer, size);
	bool binary = memchr(text, '\0', size) != NULL;

	if (size && text[size - 1] == '\n')
		text[size - 1] = '\0';
	if (binary)
		script_tell(s, ERROR_INPUT, s->line, "a byte of value 0: this is not a script");
	else
		script_execute(s, text);
	s->line += script_count_lines(s->buffer, size);
	s->size -= size;
	memmove(s->buffer, s->buffer + size, s->size);
	free(text);
	return !binary;
}

static bool script_must_stop(const struct script *s, enum error_code before)
{
	/* Only the codes that are errors: a run that is not trusted is a result. */
	bool failed = s->worst != before || s->worst == ERROR_STOPPED;

	if (s->worst == ERROR_STOPPED || s->session->quit)
		return true;
	if (s->keep_going || !failed)
		return false;
	return s->worst == ERROR_INPUT || s->worst == ERROR_ABSENT || s->worst == ERROR_INTERNAL;
}

static int script_run(struct script *s)
{
	s->line = 1;
	s->session->depth++;
	for (;;) {
		enum error_code before = s->worst;
		size_t size;

		if (script_stopped(s))
			break;
		size = script_command_size(s);
		if (size == 0 && !s->ended && s->size > SCRIPT_COMMAND_MAX) {
			script_tell(s, ERROR_INPUT, s->line,
			            "a command of more than 4 MiB: is this a script?");
			break;
		}
		if (size == 0 && s->ended)
			break;
		if (size == 0 && !script_read(s))
			break;
		if (size > 0 && !script_step(s, size))
			break;
		if (script_must_stop(s, before))
			break;
	}
	if (script_stopped(s))
		s->worst = error_worse(s->worst, ERROR_STOPPED);
	s->session->depth--;
	free(s->buffer);
	return s->worst;
}

int script_run_file(struct session *session, const char *path, bool keep_going, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	struct script s = {
	        .session = session,
	        .name = standard ? "standard input" : path,
	        .keep_going = keep_going,
	};
	int rc;

	if (session->depth >= SCRIPT_DEPTH)
		return error_set(err, ERROR_INPUT, "%s: scripts run each other more than %d deep",
		                 path, SCRIPT_DEPTH);
	s.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (s.fd < 0)
		return error_errno(err, ERROR_INPUT, "script %s", path);
	rc = script_run(&s);
	if (!standard)
		close(s.fd);
	return rc;
}

int script_run_text(struct session *session, const char *text)
{
	struct script s = {
	        .session = session,
	        .fd = -1,
	        .ended = true,
	        .buffer = memory_copy(text),
	        .size = strlen(text),
	};

	return script_run(&s);
}
