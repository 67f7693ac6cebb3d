#include "tui/wb_snippets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tui/memory.h"
#include "tui/wb_term.h"
#include "tui/words.h"

static const char template_text[] =
        "# Snippets to be measured and compared: GNU as, AT&T syntax. An empty line begins the\n"
        "# next one; lines that begin with # are left out. The command comes back in the\n"
        "# command line; nothing runs before Enter.\n"
        "push %rax\n"
        "pop %rax\n"
        "\n"
        "mov %rax, %rcx\n";

/* Adds a line to the snippet that is being read. */
static void snippet_add(char **snippet, const char *line, size_t n)
{
	char *longer = *snippet ? memory_format("%s\n%.*s", *snippet, (int)n, line)
	                        : memory_copy_part(line, n);

	free(*snippet);
	*snippet = longer;
}

static void word_add(char ***words, size_t *n, char **snippet)
{
	if (!*snippet)
		return;
	*words = memory_grow(*words, *n + 1, sizeof(**words));
	(*words)[(*n)++] = *snippet;
	*snippet = NULL;
}

char *wb_snippets_command(const char *text)
{
	char **words = memory_get(sizeof(*words)), *snippet = NULL, *line = NULL;
	size_t n = 0;

	words[n++] = memory_copy("asm");
	for (const char *p = text; *p;) {
		size_t size = strcspn(p, "\n"), blanks = strspn(p, " \t");

		if (blanks >= size)
			word_add(&words, &n, &snippet);
		else if (*p != '#')
			snippet_add(&snippet, p + blanks, size - blanks);
		p += size + (p[size] == '\n');
	}
	word_add(&words, &n, &snippet);
	if (n > 1)
		line = words_join((const char *const *)words, n);
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
	return line;
}

/* Runs the editor as git and others do: by the shell, for the variable may hold options. */
static int editor_run(const char *path, struct error *err)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exec ${VISUAL:-${EDITOR:-vi}} \"$1\"",
	                (char *)"sh", (char *)path, NULL};
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;
	int status, e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	e = posix_spawnp(&pid, "sh", NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (e)
		return error_set(err, ERROR_ABSENT, "no editor: sh: %s", strerror(e));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, ERROR_INPUT,
		                 "the editor ($VISUAL, $EDITOR or vi) did not end well: nothing is "
		                 "taken over");
	return ERROR_NONE;
}

static char *file_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (f && getdelim(&text, &room, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

void wb_snippets_edit(struct wb *wb)
{
	const char *tmp = getenv("TMPDIR");
	char *path = memory_format("%s/entrylab-XXXXXX.s", tmp && *tmp ? tmp : "/tmp");
	int fd = mkostemps(path, 2, O_CLOEXEC), rc;
	struct error err = {0};
	char *text = NULL, *line;

	if (fd < 0 || write(fd, template_text, strlen(template_text)) < 0) {
		wb_say(wb, WB_BAD, "%s: %s", path, strerror(errno));
		free(path);
		return;
	}
	close(fd);
	wb_term_lend();
	rc = editor_run(path, &err);
	wb_term_lend_end();
	if (wb->session->stop && !*wb->terminate)
		*wb->session->stop = 0; /* ^C was the editor's */
	if (rc == ERROR_NONE)
		text = file_text(path);
	line = text ? wb_snippets_command(text) : NULL;
	if (rc)
		wb_say(wb, WB_BAD, "%s", err.text);
	else if (!line)
		wb_say(wb, WB_PLAIN, "no snippets");
	else
		wb_ask(wb, line);
	unlink(path);
	free(line);
	free(text);
	free(path);
}
