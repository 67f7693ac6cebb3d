#include "experiment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment_source.h"
#include "experiment_words.h"
#include "shelf.h"
#include "textfile.h"

#ifndef EXPERIMENT_SHIPPED_DIR
#define EXPERIMENT_SHIPPED_DIR ENTRYLAB_DATADIR "/experiments"
#endif

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

static void settings_free(struct experiment_setting *list, size_t n)
{
	/* there is room for one more, and it holds the condition of a line that was refused */
	for (size_t i = 0; list && i <= n; i++)
		condition_free(&list[i].when);
	free(list);
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
	settings_free(x->repeats, x->repeat_count);
	settings_free(x->stacks, x->stack_count);
	settings_free(x->ldts, x->ldt_count);
	settings_free(x->segments, x->segment_count);
	settings_free(x->warms, x->warm_count);
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

int experiment_read(const char *path, struct experiment **out, struct error *err)
{
	size_t size = 0;
	char *text = NULL, *name = shelf_name(&shelf_experiments, path), *full = NULL;
	*out = NULL;
	int rc = name ? textfile_read(path, &experiment_source_kind, &text, &size, err)
	              : experiment_words_no_memory(err);
	if (!rc)
		rc = experiment_parse(name, path, text, size, out, err);
	if (!rc && !(full = realpath(path, NULL)))
		rc = error_errno(err, ERROR_INPUT, "%s: cannot find its full path", path);
	if (!rc) {
		free((*out)->path);
		(*out)->path = full;
	} else {
		experiment_free(*out);
		*out = NULL;
	}
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

bool experiment_exists(const char *name)
{
	return shelf_has(&shelf_experiments, name);
}

int experiment_find(const char *name, struct experiment **out, struct error *err)
{
	char *path;
	*out = NULL;
	int rc = shelf_locate(&shelf_experiments, name, &path, err);
	if (!rc)
		rc = experiment_read(path, out, err);
	free(path);
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

static int add_file(void *ctx, const char *path, const char *broken, struct error *err)
{
	struct experiment_list *list = ctx;
	struct error why;
	struct experiment *x;
	if (broken)
		return add_broken(list, path, broken, err);
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

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct experiment *const *)a)->name,
	              (*(struct experiment *const *)b)->name);
}

int experiment_list(struct experiment_list *list, struct error *err)
{
	*list = (struct experiment_list){0};
	int rc = shelf_each(&shelf_experiments, add_file, list, err);
	if (list->count)
		qsort(list->items, list->count, sizeof(struct experiment *), by_name);
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
