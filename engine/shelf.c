#include "shelf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiment.h"

const struct shelf shelf_experiments = {
        .directory = "",
        .suffix = ".s",
        .what = "experiment",
        .list = "list",
};

const struct shelf shelf_claims = {
        .directory = "claims",
        .suffix = ".claim",
        .what = "claim",
        .list = "list claims",
};

const struct shelf shelf_published = {
        .directory = "published",
        .suffix = ".tsv",
        .what = "published table",
        .list = "published",
};

/* Where word ends before the suffix; its end if it has none. */
static size_t stem(const struct shelf *s, const char *word)
{
	size_t n = strlen(word), suffix = strlen(s->suffix);
	return n > suffix && !strcmp(word + n - suffix, s->suffix) ? n - suffix : n;
}

char *shelf_name(const struct shelf *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	return strndup(name, stem(s, name));
}

bool shelf_is_path(const struct shelf *s, const char *word)
{
	return strchr(word, '/') || word[stem(s, word)];
}

/* The shelf's directory below one of the search path, malloc'ed. */
static char *directory_of(const struct shelf *s, const char *path)
{
	char *text;
	if (asprintf(&text, "%s%s%s", path, *s->directory ? "/" : "", s->directory) < 0)
		return NULL;
	return text;
}

int shelf_find(const struct shelf *s, const char *name, char **path, struct error *err)
{
	char **paths = experiment_paths();
	int rc = paths ? 0 : experiment_words_no_memory(err);
	*path = NULL;
	for (size_t i = 0; !rc && !*path && paths[i]; i++) {
		struct stat st;
		char *directory = directory_of(s, paths[i]), *file = NULL;
		if (!directory || asprintf(&file, "%s/%s%s", directory, name, s->suffix) < 0)
			rc = experiment_words_no_memory(err);
		else if (!lstat(file, &st) || errno == EACCES)
			*path = file;
		else
			free(file);
		free(directory);
	}
	experiment_paths_free(paths);
	return rc;
}

bool shelf_has(const struct shelf *s, const char *name)
{
	char *path = NULL;
	if (shelf_is_path(s, name))
		return name[stem(s, name)];
	bool has = *name && !shelf_find(s, name, &path, NULL) && path;
	free(path);
	return has;
}

/* Appends the names of the files in a directory, sorted. One that does not exist has none. */
static int add_names(const struct shelf *s, const char *directory,
                     struct experiment_words_list *names, struct error *err)
{
	struct dirent **entries;
	int rc = 0, n = scandir(directory, &entries, NULL, alphasort);
	if (n < 0)
		return errno == ENOENT
		               ? 0
		               : error_errno(err, ERROR_INPUT, "%s: cannot list", directory);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		size_t length = stem(s, name);
		if (!rc && name[0] != '.' && name[length])
			rc = experiment_words_add(names, name, length, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int shelf_unknown(const struct shelf *s, const char *name, struct error *err)
{
	struct experiment_words_list names = {0}, places = {0};
	char hint[320];
	char **paths = experiment_paths();
	int rc = paths ? 0 : experiment_words_no_memory(err);
	for (size_t i = 0; !rc && paths[i]; i++) {
		char *directory = directory_of(s, paths[i]);
		rc = directory ? experiment_words_add(&places, directory, strlen(directory), err)
		               : experiment_words_no_memory(err);
		/* a directory that cannot be listed only makes the offer poorer */
		if (!rc && add_names(s, directory, &names, NULL) == ERROR_INTERNAL)
			rc = experiment_words_no_memory(err);
		free(directory);
	}
	experiment_words_hint(hint, sizeof hint, name, (const char *const *)names.items,
	                      names.count);
	char *searched = experiment_words_join(places.items, places.count, ", ");
	if (!rc && names.count)
		rc = error_set(err, ERROR_INPUT, "there is no %s '%s'%s (`%s` shows all)", s->what,
		               name, hint, s->list);
	else if (!rc)
		rc = error_set(err, ERROR_INPUT, "there is no %s '%s', and none at all in %s",
		               s->what, name, searched ? searched : "the directories searched");
	free(searched);
	experiment_words_list_free(&places);
	experiment_words_list_free(&names);
	experiment_paths_free(paths);
	return rc;
}

static bool listed(const struct experiment_words_list *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

static int each_in(const struct shelf *s, const char *directory, struct experiment_words_list *seen,
                   int (*each)(void *ctx, const char *path, const char *why, struct error *err),
                   void *ctx, struct error *err)
{
	struct error why;
	size_t before = seen->count;
	int rc = add_names(s, directory, seen, &why);
	if (rc == ERROR_INPUT)
		return each(ctx, directory, why.text, err);
	if (rc)
		return error_set(err, why.code, "%s", why.text);
	for (size_t i = before; i < seen->count && !rc; i++) {
		char *path;
		if (listed(seen, before, seen->items[i]))
			continue;
		if (asprintf(&path, "%s/%s%s", directory, seen->items[i], s->suffix) < 0)
			return experiment_words_no_memory(err);
		rc = each(ctx, path, NULL, err);
		free(path);
	}
	return rc;
}

int shelf_each(const struct shelf *s,
               int (*each)(void *ctx, const char *path, const char *why, struct error *err),
               void *ctx, struct error *err)
{
	struct experiment_words_list seen = {0};
	char **paths = experiment_paths();
	int rc = paths ? 0 : experiment_words_no_memory(err);
	for (size_t i = 0; !rc && paths[i]; i++) {
		char *directory = directory_of(s, paths[i]);
		rc = directory ? each_in(s, directory, &seen, each, ctx, err)
		               : experiment_words_no_memory(err);
		free(directory);
	}
	experiment_words_list_free(&seen);
	experiment_paths_free(paths);
	return rc;
}

int shelf_locate(const struct shelf *s, const char *word, char **path, struct error *err)
{
	*path = NULL;
	if (!*word)
		return error_set(err, ERROR_INPUT, "an empty word is no %s's name", s->what);
	if (shelf_is_path(s, word)) {
		*path = strdup(word);
		return *path ? 0 : experiment_words_no_memory(err);
	}
	int rc = shelf_find(s, word, path, err);
	return rc || *path ? rc : shelf_unknown(s, word, err);
}
