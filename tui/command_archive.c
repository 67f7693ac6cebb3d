#include "tui/command_archive.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/archive.h"
#include "engine/host.h"
#include "engine/record.h"
#include "tui/file.h"
#include "tui/memory.h"
#include "tui/render.h"

bool command_archive_names_run(const char *word, int64_t *id)
{
	char *end;

	*id = 0;
	if (strcmp(word, "last") == 0)
		return true;
	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*id = strtoll(word, &end, 10);
	return *end == '\0' && errno == 0 && *id > 0;
}

int command_archive_path(const struct option_values *v, char **path, struct error *err)
{
	*path = v->text[OPTION_ARCHIVE] ? memory_copy(v->text[OPTION_ARCHIVE])
	                                : archive_default_path();
	if (*path)
		return ERROR_NONE;
	return error_set(err, ERROR_NOT_KEPT,
	                 "there is no place for the archive: HOME and XDG_DATA_HOME are not set; "
	                 "give --archive FILE");
}

/* Opens the archive to read. *out is NULL, without an error, where none has been made yet. */
static int archive_for_reading(struct command_call *call, struct archive **out, char **path,
                               struct error *err)
{
	int rc = command_archive_path(&call->values, path, err);

	*out = NULL;
	if (rc == ERROR_NONE && access(*path, F_OK) != 0 && errno == ENOENT)
		return ERROR_NONE;
	if (rc == ERROR_NONE)
		rc = archive_open(*path, false, out, err);
	/* Here nothing was to be kept: a file that cannot be read is bad input. */
	return rc == ERROR_NOT_KEPT ? ERROR_INPUT : rc;
}

static int run_names(const char *word, int64_t *id, struct error *err)
{
	if (command_archive_names_run(word, id))
		return ERROR_NONE;
	return error_set(err, ERROR_INPUT,
	                 "%s: not a run; give its number (see: list runs), or last", word);
}

/* The record of a run as it is stored, and its number. */
static int record_get(struct command_call *call, int64_t id, char **record, int64_t *number,
                      struct error *err)
{
	struct archive_entry entry = {0};
	struct archive *a = NULL;
	char *path = NULL;
	int rc = archive_for_reading(call, &a, &path, err);

	if (rc == ERROR_NONE && !a)
		rc = error_set(err, ERROR_INPUT, "no run has been kept yet: there is no %s", path);
	if (rc == ERROR_NONE)
		rc = archive_get(a, id, record, &entry, err);
	if (rc == ERROR_NONE)
		*number = entry.id;
	archive_entry_free(&entry);
	archive_close(a);
	free(path);
	return rc == ERROR_NOT_KEPT ? ERROR_INPUT : rc;
}

static int result_get(struct command_call *call, int64_t id, struct result_run **out,
                      struct error *err)
{
	char *record = NULL;
	int64_t number = 0;
	int rc = record_get(call, id, &record, &number, err);

	if (rc == ERROR_NONE)
		rc = record_read(record, out, err);
	/* The number is the archive's to give, and so not in the record that it got. */
	if (rc == ERROR_NONE)
		snprintf((*out)->id, sizeof((*out)->id), "%" PRId64, number);
	free(record);
	return rc;
}

struct entries {
	struct archive_entry *items;
	size_t count;
};

static char *copy_or_null(const char *s)
{
	return s ? memory_copy(s) : NULL;
}

static int entries_add(const struct archive_entry *e, void *ctx)
{
	struct entries *all = ctx;
	struct archive_entry *copy;

	all->items = memory_grow(all->items, all->count + 1, sizeof(*all->items));
	copy = &all->items[all->count++];
	*copy = *e;
	copy->started = copy_or_null(e->started);
	copy->experiment = copy_or_null(e->experiment);
	copy->command = copy_or_null(e->command);
	copy->verdict = copy_or_null(e->verdict);
	copy->host = copy_or_null(e->host);
	return 0;
}

int command_archive_list(struct command_call *call, const char *filter, struct error *err)
{
	uint64_t limit = call->values.limit;
	struct render_style style = render_style_for(stdout);
	struct entries all = {0};
	struct archive *a = NULL;
	char *path = NULL;
	int rc = archive_for_reading(call, &a, &path, err);

	/* One more than is shown, to know whether there is more. */
	if (rc == ERROR_NONE && a)
		rc = archive_each(a, filter, limit ? limit + 1 : 0, entries_add, &all, err);
	if (rc == ERROR_NONE) {
		bool more = limit && all.count > limit;

		render_runs(all.items, more ? limit : all.count, call->values.format, &style,
		            stdout);
		fflush(stdout);
		if (more)
			command_note(call, "these are the newest %" PRIu64 "; --limit 0 lists all",
			             limit);
	}
	for (size_t i = 0; i < all.count; i++)
		archive_entry_free(&all.items[i]);
	free(all.items);
	archive_close(a);
	free(path);
	return rc == ERROR_NOT_KEPT ? ERROR_INPUT : rc;
}

int command_archive_show(struct command_call *call, int64_t id, struct error *err)
{
	const struct option_values *v = &call->values;
	struct render_style style = render_style_for(stdout);
	struct result_run *run = NULL;
	int rc = result_get(call, id, &run, err);

	if (rc)
		return rc;
	render_run(run, v->format, &style, stdout);
	if (v->explain && v->format == RENDER_TEXT)
		render_summary(run, &style, stdout);
	session_take(call->session, run);
	return ERROR_NONE;
}

int command_archive_export(struct command_call *call, struct error *err)
{
	const char *path = call->count > 1 ? call->words[1] : NULL;
	bool own = call->values.given & OPTION_BIT(OPTION_FORMAT);
	enum render_format format = own ? call->values.format : RENDER_JSONL;
	struct result_run *run = NULL;
	struct render_style style;
	FILE *out = stdout; /* looked at after every command */
	int64_t id;
	int rc = run_names(call->words[0], &id, err);

	if (rc == ERROR_NONE)
		rc = result_get(call, id, &run, err);
	if (rc == ERROR_NONE)
		rc = path ? file_create("export", path, &out, err) : ERROR_NONE;
	if (rc == ERROR_NONE) {
		style = render_style_for(out);
		render_run(run, format, &style, out);
		if (path)
			rc = file_close("export", path, out, ERROR_INTERNAL, err);
	}
	result_run_free(run);
	return rc;
}

int command_archive_compare(struct command_call *call, struct error *err)
{
	struct result_run *run[2] = {NULL, NULL};
	struct render_style style = render_style_for(stdout);
	char *difference = NULL;
	int rc = ERROR_NONE;

	for (int i = 0; i < 2 && rc == ERROR_NONE; i++) {
		int64_t id;

		rc = run_names(call->words[i], &id, err);
		if (rc == ERROR_NONE)
			rc = result_get(call, id, &run[i], err);
	}
	if (rc == ERROR_NONE && strcmp(run[0]->experiment, run[1]->experiment) != 0)
		rc = error_set(err, ERROR_INPUT,
		               "run %s is of %s and run %s of %s: there is nothing to compare",
		               run[0]->id, run[0]->experiment, run[1]->id, run[1]->experiment);
	if (rc == ERROR_NONE) {
		difference = host_compare(run[0]->host, run[1]->host);
		render_compare(run[0], run[1], difference, call->values.format, &style, stdout);
		fflush(stdout);
		/* The table says both by itself. */
		if (call->values.format != RENDER_TEXT) {
			command_note(call, "warning: stored runs were not interleaved; drift "
			                   "between them is in "
			                   "every difference");
			if (difference)
				command_note(call, "warning: the hosts differ: %s", difference);
		}
	}
	free(difference);
	result_run_free(run[0]);
	result_run_free(run[1]);
	return rc;
}
