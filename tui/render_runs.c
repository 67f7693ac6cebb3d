#include "tui/render_runs.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_figure.h"
#include "tui/render_json.h"
#include "tui/table.h"

enum { RUN, STARTED, SECONDS, ROWS, VERDICT, HOST, COMMAND, COLUMNS };

static const struct table_column columns[COLUMNS] = {
        [RUN] = {.head = "run", .align = TABLE_RIGHT},
        [STARTED] = {.head = "started (UTC)", .align = TABLE_LEFT, .gap = 2},
        [SECONDS] = {.head = "s", .align = TABLE_POINT, .gap = 2, .drop = 2},
        [ROWS] = {.head = "rows", .align = TABLE_RIGHT, .gap = 2, .drop = 1},
        [VERDICT] = {.head = "outcome", .align = TABLE_LEFT, .gap = 2},
        [HOST] = {.head = "CPU", .align = TABLE_LEFT, .gap = 2, .drop = 3, .most = 24},
        [COMMAND] = {.head = "command", .align = TABLE_LEFT, .gap = 2},
};

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* "2026-11-30 15:14": the seconds and the letters are for programs. */
static char *moment(const char *started)
{
	char *text = memory_copy_part(started, 16);
	char *t = strchr(text, 'T');

	if (t)
		*t = ' ';
	return text;
}

static void put_owned(struct table *t, size_t column, char *text)
{
	table_cell_set(t, column, text);
	free(text);
}

static void list_text(const struct render_page *page, const struct archive_entry *entries, size_t n)
{
	struct table *t;

	if (n == 0) {
		render_page_say(page, 0, NULL, memory_copy("no runs"));
		return;
	}
	t = table_new(page, columns, COLUMNS);
	for (size_t i = 0; i < n; i++) {
		const struct archive_entry *e = &entries[i];
		const char *verdict = or_empty(e->verdict);
		char seconds[32];

		table_row_begin(t);
		put_owned(t, RUN, memory_format("%lld", (long long)e->id));
		put_owned(t, STARTED, moment(or_empty(e->started)));
		render_figure_number(seconds, e->seconds, 2, false);
		table_cell_set(t, SECONDS, seconds);
		put_owned(t, ROWS, memory_format("%lld", (long long)e->rows));
		table_cell_set(t, VERDICT, verdict);
		if (strcmp(verdict, "trusted") != 0)
			table_cell_sgr(t, VERDICT, RENDER_PAGE_BOLD);
		table_cell_set(t, HOST, or_empty(e->host));
		table_span_set(t, COMMAND, or_empty(e->command));
	}
	table_print(t);
	table_free(t);
}

static void list_jsonl(FILE *out, const struct archive_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct archive_entry *e = &entries[i];
		json_t *o = json_object();
		char *id = memory_format("%lld", (long long)e->id); /* a string, as in records */

		json_object_set_new(o, "kind", json_string("stored-run"));
		json_object_set_new(o, "run", json_string(id));
		json_object_set_new(o, "started", render_json_text(e->started));
		json_object_set_new(o, "experiment", render_json_text(e->experiment));
		json_object_set_new(o, "command", render_json_text(e->command));
		json_object_set_new(o, "outcome", render_json_text(e->verdict));
		json_object_set_new(o, "seconds", render_json_number(e->seconds));
		json_object_set_new(o, "rows", json_integer(e->rows));
		json_object_set_new(o, "cpu_name", render_json_text(e->host));
		render_json_line(out, o);
		free(id);
	}
}

static void list_csv(FILE *out, const struct archive_entry *entries, size_t n)
{
	fputs("run,started,seconds,rows,outcome,cpu_name,experiment,command", out);
	render_csv_end(out);
	for (size_t i = 0; i < n; i++) {
		const struct archive_entry *e = &entries[i];

		fprintf(out, "%lld", (long long)e->id);
		render_csv_text(out, false, e->started);
		render_csv_number(out, false, e->seconds);
		fprintf(out, ",%lld", (long long)e->rows);
		render_csv_text(out, false, e->verdict);
		render_csv_text(out, false, e->host);
		render_csv_text(out, false, e->experiment);
		render_csv_text(out, false, e->command);
		render_csv_end(out);
	}
}

void render_runs_list(const struct render_page *page, const struct archive_entry *entries, size_t n,
                      enum render_format format)
{
	switch (format) {
	case RENDER_TEXT:
		list_text(page, entries, n);
		break;
	case RENDER_JSONL:
		list_jsonl(page->out, entries, n);
		break;
	case RENDER_CSV:
		list_csv(page->out, entries, n);
		break;
	case RENDER_FORMATS:
		break;
	}
}
