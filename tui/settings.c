#include "tui/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/memory.h"
#include "tui/words.h"

char *settings_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	/* The base directory specification has relative paths ignored. */
	if (config && config[0] == '/')
		return memory_format("%s/entrylab/config", config);
	if (home && *home)
		return memory_format("%s/.config/entrylab/config", home);
	return NULL;
}

static void settings_line(struct session *s, const char *line)
{
	struct words w;
	struct error err;

	if (words_split(line, &w, &err) != ERROR_NONE) {
		command_say(s, "%s", err.text);
		return;
	}
	if (w.count > 0 && strcmp(w.items[0], "set") != 0)
		command_say(s, "%s: only set may stand in this file", w.items[0]);
	else
		command_execute(s, (const char *const *)w.items, w.count);
	words_free(&w);
}

void settings_read(struct session *s)
{
	char *path = settings_path(), *line = NULL;
	FILE *f = path ? fopen(path, "re") : NULL;
	const char *outer = s->where;
	unsigned number = 0;
	size_t room = 0;
	ssize_t n;

	if (!f && path && errno != ENOENT && errno != ENOTDIR)
		command_say(s, "%s: %s", path, strerror(errno));
	s->within++;
	while (f && (n = getline(&line, &room, f)) > 0) {
		char *where = memory_format("%s:%u", path, ++number);

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		s->where = where;
		settings_line(s, line);
		s->where = outer;
		free(where);
	}
	s->within--;
	if (f)
		fclose(f);
	free(line);
	free(path);
}

static void settings_make_directories(const char *path)
{
	char *copy = memory_copy(path);

	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			break; /* making the file will fail then, and tell why */
		*p = '/';
	}
	free(copy);
}

static void settings_write(const struct option_values *v, FILE *f)
{
	fputs("# written by: save settings\n", f);
	for (int i = 0; i < OPTIONS; i++) {
		char *value;

		if (option_table[i].kind != OPTION_SESSION || !(v->set & OPTION_BIT(i)))
			continue;
		value = words_quote(v->text[i] ? v->text[i] : "on");
		fprintf(f, "set %s %s\n", option_table[i].name, value);
		free(value);
	}
}

int settings_save(const struct session *s, char **path, struct error *err)
{
	char *temporary, *real;
	bool good;
	FILE *f;
	int fd, rc = ERROR_NONE;

	*path = settings_path();
	if (!*path)
		return error_set(err, ERROR_INPUT,
		                 "save: neither XDG_CONFIG_HOME nor HOME says where settings go");
	settings_make_directories(*path);
	real = realpath(*path, NULL);
	if (!real)
		real = memory_copy(*path);
	temporary = memory_format("%s.XXXXXX", real);
	fd = mkostemp(temporary, O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f)
		settings_write(&s->defaults, f);
	good = f && fflush(f) == 0 && !ferror(f) && fsync(fd) == 0;
	if (f)
		good = fclose(f) == 0 && good;
	else if (fd >= 0)
		close(fd);
	if (!good || rename(temporary, real) != 0) {
		rc = error_errno(err, ERROR_INPUT, "save: %s", real);
		if (fd >= 0)
			unlink(temporary);
	}
	free(temporary);
	free(real);
	return rc;
}
