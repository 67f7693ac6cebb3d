#include "tui/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>

#include "tui/memory.h"

enum { HISTORY_KEPT = 1000 };

char *history_default_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	/* The base directory specification has relative paths ignored. */
	if (state && state[0] == '/')
		return memory_format("%s/entrylab/history", state);
	if (home && *home)
		return memory_format("%s/.local/state/entrylab/history", home);
	return NULL;
}

static void history_make_directories(const char *path)
{
	char *copy = memory_copy(path);

	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			break; /* opening the file will fail then, and a prompt works without */
		*p = '/';
	}
	free(copy);
}

/* The newest of equal lines stays. Returns whether there was one to take out. */
static bool history_forget(const char *line)
{
	bool found = false;

	for (int i = history_length - 1; i >= 0; i--) {
		HIST_ENTRY *e = history_get(history_base + i);

		if (!e || strcmp(e->line, line) != 0)
			continue;
		e = remove_history(i);
		free(free_history_entry(e));
		found = true;
	}
	return found;
}

static bool history_add_line(const char *line)
{
	bool found = history_forget(line);

	add_history(line);
	return found;
}

static void history_rewrite(const char *path)
{
	char *real = realpath(path, NULL), *temporary;
	bool good;
	FILE *f;
	int fd;

	if (!real)
		return;
	temporary = memory_format("%s.XXXXXX", real);
	fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	for (int i = 0; f && i < history_length; i++)
		fprintf(f, "%s\n", history_get(history_base + i)->line);
	good = f && !ferror(f);
	if (f)
		good = fclose(f) == 0 && good;
	else if (fd >= 0)
		close(fd);
	if (fd >= 0 && (!good || rename(temporary, real) != 0))
		unlink(temporary);
	free(temporary);
	free(real);
}

void history_load(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	bool rewrite = false;

	using_history();
	if (!f)
		return;
	while ((n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (*line)
			rewrite |= history_add_line(line);
	}
	free(line);
	fclose(f);
	if (history_length > HISTORY_KEPT) {
		stifle_history(HISTORY_KEPT);
		unstifle_history();
		rewrite = true;
	}
	if (rewrite)
		history_rewrite(path);
}

void history_add_text(const char *path, const char *text)
{
	char *copy = memory_copy(text), *save = NULL;
	int fd = -1;

	if (path) {
		history_make_directories(path);
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (fd >= 0 && fchmod(fd, 0600) != 0 && errno != EPERM && errno != EROFS) {
			close(fd);
			fd = -1; /* not ours alone, and cannot be made so */
		}
	}
	for (char *line = strtok_r(copy, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save)) {
		char *whole;

		if (*line == ' ' || *line == '\t')
			continue;
		for (size_t n = strlen(line); n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t');
		     n--)
			line[n - 1] = '\0'; /* completion leaves a blank */
		history_add_line(line);
		whole = memory_format("%s\n", line);
		/* One write, so that lines of two prompts do not mix. What a full disk loses is not
		 * worth a word. */
		if (fd >= 0 && write(fd, whole, strlen(whole)) < 0) {
			close(fd);
			fd = -1;
		}
		free(whole);
	}
	if (fd >= 0)
		close(fd);
	free(copy);
}
