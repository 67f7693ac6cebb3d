#include "experiment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment_words.h"

#ifndef EXPERIMENT_SHIPPED_DIR
#define EXPERIMENT_SHIPPED_DIR ENTRYLAB_DATADIR "/experiments"
#endif

enum { MAX_FILE = 4 << 20 };

const char *const experiment_abi_name[EXPERIMENT_ABIS] = {
        [EXPERIMENT_I386] = "i386",
        [EXPERIMENT_X86_64] = "x86_64",
};

const char *const experiment_repeat_name[3] = {
        [EXPERIMENT_UNROLL] = "unroll",
        [EXPERIMENT_LOOP] = "loop",
        [EXPERIMENT_ONCE] = "once",
};

static void condition_free(struct experiment_condition *c)
{
	for (size_t i = 0; i < c->term_count; i++) {
		struct experiment_words_list levels = {c->terms[i].levels, c->terms[i].level_count};
		experiment_words_list_free(&levels);
	}
	free(c->terms);
}

static void factor_free(struct experiment_factor *f)
{
	struct experiment_words_list levels = {f->levels, f->level_count};
	struct experiment_words_list defaults = {f->defaults, f->default_count};
	experiment_words_list_free(&levels);
	experiment_words_list_free(&defaults);
	free(f->name);
	free(f->doc);
}

static void rules_free(struct experiment *x)
{
	for (size_t i = 0; i < x->exclude_count; i++) {
		condition_free(&x->excludes[i].when);
		free(x->excludes[i].why);
	}
	for (size_t i = 0; i < x->need_count; i++) {
		struct experiment_words_list words = {x->needs[i].capabilities,
		                                      x->needs[i].capability_count};
		condition_free(&x->needs[i].when);
		experiment_words_list_free(&words);
	}
	for (size_t i = 0; i < x->expect_count; i++) {
		condition_free(&x->expects[i].when);
		free(x->expects[i].field);
		free(x->expects[i].other);
		free(x->expects[i].text);
	}
	for (size_t i = 0; i < x->evict_count; i++)
		condition_free(&x->evicts[i].when);
	free(x->excludes);
	free(x->needs);
	free(x->expects);
	free(x->evicts);
}

void experiment_free(struct experiment *x)
{
	if (!x)
		return;
	rules_free(x);
	for (size_t i = 0; i < x->factor_count; i++)
		factor_free(&x->factors[i]);
	free(x->factors);
	free(x->name);
	free(x->path);
	free(x->title);
	free(x->source);
	free(x->group);
	free(x->doc);
	free(x->text);
	free(x->code);
	free(x);
}

/* A letter, digit or underscore: what a level is made of. */
static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool experiment_level_mentioned(const struct experiment *x, const char *level)
{
	size_t n = strlen(level);
	for (const char *p = x->code; n && (p = strstr(p, level)); p++)
		if ((p == x->code || !is_word(p[-1])) && !is_word(p[n]))
			return true;
	return false;
}

/* The name that a file gives its experiment: its own, without ".s". */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strlen(name);
	if (n > 2 && !strcmp(name + n - 2, ".s"))
		n -= 2;
	return strndup(name, n);
}

/* Reads all of an open file of which size bytes are expected. */
static int read_text(int fd, const char *path, size_t size, char **text, size_t *got,
                     struct error *err)
{
	*got = 0;
	*text = malloc(size + 1);
	if (!*text)
		return experiment_words_no_memory(err);
	while (*got < size) {
		ssize_t n = read(fd, *text + *got, size - *got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, ERROR_INPUT, "%s: cannot read", path);
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}

/* Opens without waiting: a named pipe without a writer would otherwise hang the tool. */
static int open_file(const char *path, int *fd, size_t *size, struct error *err)
{
	struct stat st;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return error_errno(err, ERROR_INPUT, "%s: cannot open", path);
	if (fstat(*fd, &st))
		return error_errno(err, ERROR_INPUT, "%s: cannot look at it", path);
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_INPUT,
		                 "%s: this is a directory; an experiment is a file in it", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s: this is no regular file", path);
	if (st.st_size > MAX_FILE)
		return error_set(err, ERROR_INPUT,
		                 "%s: %lld bytes; an experiment file has at most 4 MiB", path,
		                 (long long)st.st_size);
	*size = (size_t)st.st_size;
	return 0;
}

int experiment_read(const char *path, struct experiment **out, struct error *err)
{
	int fd = -1;
	size_t size = 0, got = 0;
	char *text = NULL, *name = name_of(path), *full = NULL;
	*out = NULL;
	int rc = name ? open_file(path, &fd, &size, err) : experiment_words_no_memory(err);
	if (!rc)
		rc = read_text(fd, path, size, &text, &got, err);
	if (!rc)
		rc = experiment_parse(name, path, text, got, out, err);
	if (!rc && !(full = realpath(path, NULL)))
		rc = error_errno(err, ERROR_INPUT, "%s: cannot find its full path", path);
	if (!rc) {
		free((*out)->path);
		(*out)->path = full;
	} else {
		experiment_free(*out);
		*out = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(text);
	free(name);
	return rc;
}

/* "experiments" beside the running program, or NULL: what a source tree has. */
static char *beside_program(void)
{
	char self[PATH_MAX], *dir = NULL;
	struct stat st;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash || asprintf(&dir, "%.*s/experiments", (int)(slash - self), self) < 0)
		return NULL;
	if (!stat(dir, &st) && S_ISDIR(st.st_mode))
		return dir;
	free(dir);
	return NULL;
}

/* Relative paths in XDG variables are invalid and to be ignored (XDG Base Directory Specification,
 * "Basics"). */
static char *users_own(void)
{
	char *dir = NULL;
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (xdg && xdg[0] == '/')
		return asprintf(&dir, "%s/entrylab/experiments", xdg) < 0 ? NULL : dir;
	if (home && home[0])
		return asprintf(&dir, "%s/.config/entrylab/experiments", home) < 0 ? NULL : dir;
	return NULL;
}

char **experiment_paths(void)
{
	const char *env = getenv("ENTRYLAB_EXPERIMENTS");
	size_t n = 4;
	for (const char *p = env; p && *p; p++)
		n += *p == ':';
	char **paths = calloc(n + 1, sizeof *paths);
	if (!paths)
		return NULL;
	n = 0;
	for (const char *p = env; p && *p;) {
		size_t length = strcspn(p, ":");
		if (length && (paths[n] = strndup(p, length)))
			n++;
		p += length;
		p += *p == ':';
	}
	if ((paths[n] = users_own()))
		n++;
	if ((paths[n] = beside_program()) || (paths[n] = strdup(EXPERIMENT_SHIPPED_DIR)))
		n++;
	return paths;
}

void experiment_paths_free(char **paths)
{
	for (size_t i = 0; paths && paths[i]; i++)
		free(paths[i]);
	free(paths);
}

static int is_experiment_file(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);
	return n > 2 && entry->d_name[0] != '.' && !strcmp(entry->d_name + n - 2, ".s");
}

/* Appends the names of the experiments in a directory. One that does not exist has none. */
static int add_names(const char *dir, struct experiment_words_list *names, struct error *err)
{
	struct dirent **entries;
	int rc = 0, n = scandir(dir, &entries, is_experiment_file, NULL);
	if (n < 0)
		return errno == ENOENT ? 0 : error_errno(err, ERROR_INPUT, "%s: cannot list", dir);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = experiment_words_add(names, entries[i]->d_name,
			                          strlen(entries[i]->d_name) - 2, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int unknown_name(char **paths, const char *name, struct error *err)
{
	struct experiment_words_list names = {0};
	char hint[320];
	size_t n = 0;
	/* a directory that cannot be listed only makes the offer poorer */
	for (; paths[n]; n++)
		if (add_names(paths[n], &names, NULL) == ERROR_INTERNAL)
			break;
	experiment_words_hint(hint, sizeof hint, name, (const char *const *)names.items,
	                      names.count);
	char *searched = experiment_words_join(paths, n, ", ");
	int rc = names.count
	                 ? error_set(err, ERROR_INPUT,
	                             "there is no experiment '%s'%s (`list` shows all)", name, hint)
	                 : error_set(err, ERROR_INPUT,
	                             "there is no experiment '%s', and none at all in %s", name,
	                             searched ? searched : "the directories searched");
	free(searched);
	experiment_words_list_free(&names);
	return rc;
}

int experiment_find(const char *name, struct experiment **out, struct error *err)
{
	size_t n = strlen(name);
	*out = NULL;
	if (strchr(name, '/') || (n > 2 && !strcmp(name + n - 2, ".s")))
		return experiment_read(name, out, err);
	if (!n)
		return error_set(err, ERROR_INPUT, "an experiment's name is empty");
	char **paths = experiment_paths();
	if (!paths)
		return experiment_words_no_memory(err);
	for (size_t i = 0; paths[i]; i++) {
		char *file;
		if (asprintf(&file, "%s/%s.s", paths[i], name) < 0) {
			experiment_paths_free(paths);
			return experiment_words_no_memory(err);
		}
		struct stat st;
		bool hit = !lstat(file, &st) || errno == EACCES;
		int rc = hit ? experiment_read(file, out, err) : 0;
		free(file);
		if (hit) {
			experiment_paths_free(paths);
			return rc;
		}
	}
	int rc = unknown_name(paths, name, err);
	experiment_paths_free(paths);
	return rc;
}

static int add_broken(struct experiment_list *list, const char *path, const char *message,
                      struct error *err)
{
	void *grown = reallocarray(list->broken, list->broken_count + 1, sizeof *list->broken);
	if (!grown)
		return experiment_words_no_memory(err);
	list->broken = grown;
	struct experiment_broken *b = &list->broken[list->broken_count++];
	b->path = strdup(path);
	b->message = strdup(message);
	return b->path && b->message ? 0 : experiment_words_no_memory(err);
}

static int add_file(struct experiment_list *list, const char *path, struct error *err)
{
	struct error why;
	struct experiment *x;
	int rc = experiment_read(path, &x, &why);
	if (rc == ERROR_INPUT)
		return add_broken(list, path, why.text, err);
	if (rc)
		return error_set(err, why.code, "%s", why.text);
	void *grown = reallocarray(list->items, list->count + 1, sizeof(struct experiment *));
	if (!grown) {
		experiment_free(x);
		return experiment_words_no_memory(err);
	}
	list->items = grown;
	list->items[list->count++] = x;
	return 0;
}

static int add_directory(struct experiment_list *list, const char *dir,
                         struct experiment_words_list *seen, struct error *err)
{
	struct error why;
	size_t before = seen->count;
	int rc = add_names(dir, seen, &why);
	if (rc == ERROR_INPUT)
		return add_broken(list, dir, why.text, err);
	if (rc)
		return error_set(err, why.code, "%s", why.text);
	for (size_t i = before; i < seen->count && !rc; i++) {
		bool shadowed = false;
		for (size_t j = 0; j < before && !shadowed; j++)
			shadowed = !strcmp(seen->items[j], seen->items[i]);
		char *path;
		if (shadowed)
			continue;
		if (asprintf(&path, "%s/%s.s", dir, seen->items[i]) < 0)
			return experiment_words_no_memory(err);
		rc = add_file(list, path, err);
		free(path);
	}
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct experiment *const *)a)->name,
	              (*(struct experiment *const *)b)->name);
}

int experiment_list(struct experiment_list *list, struct error *err)
{
	struct experiment_words_list seen = {0};
	int rc = 0;
	*list = (struct experiment_list){0};
	char **paths = experiment_paths();
	if (!paths)
		return experiment_words_no_memory(err);
	for (size_t i = 0; paths[i] && !rc; i++)
		rc = add_directory(list, paths[i], &seen, err);
	if (list->count)
		qsort(list->items, list->count, sizeof(struct experiment *), by_name);
	experiment_words_list_free(&seen);
	experiment_paths_free(paths);
	if (rc)
		experiment_list_free(list);
	return rc;
}

void experiment_list_free(struct experiment_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		experiment_free(list->items[i]);
	for (size_t i = 0; i < list->broken_count; i++) {
		free(list->broken[i].path);
		free(list->broken[i].message);
	}
	free(list->items);
	free(list->broken);
	*list = (struct experiment_list){0};
}
