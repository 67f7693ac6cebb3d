#include "published.h"

#include <stdlib.h>
#include <string.h>

#include "published_parse.h"
#include "shelf.h"

static void row_free(struct published_row *row, size_t columns)
{
	struct experiment_words_list cells = {row->cells, columns};
	experiment_words_list_free(&cells);
	free(row->here_text);
	formula_free(&row->here);
}

static void line_free(struct published_line *line, size_t columns)
{
	for (size_t i = 0; i < columns && line->figures; i++) {
		free(line->figures[i].text);
		formula_free(&line->figures[i].formula);
	}
	free(line->figures);
	free(line->level);
}

void published_free(struct published *p)
{
	if (!p)
		return;
	struct experiment_words_list columns = {p->columns, p->column_count};
	struct experiment_words_list words = {p->words, p->word_count};
	for (size_t i = 0; i < p->row_count; i++)
		row_free(&p->rows[i], p->column_count);
	for (size_t i = 0; i < p->line_count; i++)
		line_free(&p->lines[i], p->also_count);
	for (size_t i = 0; i < p->also_count; i++)
		free(p->also[i].name);
	experiment_words_list_free(&columns);
	experiment_words_list_free(&words);
	experiment_free(p->experiment);
	free(p->lines);
	free(p->also);
	free(p->named);
	free(p->each);
	free(p->rows);
	free(p->machine);
	free(p->name);
	free(p->path);
	free(p->title);
	free(p->source);
	free(p->method);
	free(p->doc);
	free(p->context);
	free(p->needs);
	free(p->needs_why);
	free(p->run);
	free(p->why_not);
	free(p);
}

int published_read(const char *path, struct published **out, struct error *err)
{
	char *text = NULL, *name = shelf_name(&shelf_published, path);
	size_t size = 0;
	*out = NULL;
	int rc = name ? textfile_read(path, &published_parse_kind, &text, &size, err)
	              : experiment_words_no_memory(err);
	if (!rc)
		rc = published_parse(name, path, text, size, out, err);
	free(text);
	free(name);
	return rc;
}

int published_find(const char *name, struct published **out, struct error *err)
{
	char *path;
	*out = NULL;
	int rc = shelf_locate(&shelf_published, name, &path, err);
	if (!rc)
		rc = published_read(path, out, err);
	free(path);
	return rc;
}

static int add_broken(struct published_list *list, const char *message, struct error *err)
{
	struct experiment_words_list broken = {list->broken, list->broken_count};
	int rc = experiment_words_add(&broken, message, strlen(message), err);
	list->broken = broken.items;
	list->broken_count = broken.count;
	return rc;
}

static int add_file(void *ctx, const char *path, const char *broken, struct error *err)
{
	struct published_list *list = ctx;
	struct error why;
	struct published *p;
	if (broken)
		return add_broken(list, broken, err);
	int rc = published_read(path, &p, &why);
	if (rc == ERROR_INPUT)
		return add_broken(list, why.text, err);
	if (rc)
		return error_set(err, why.code, "%s", why.text);
	struct published **grown = reallocarray(list->items, list->count + 1, sizeof(*grown));
	if (!grown) {
		published_free(p);
		return experiment_words_no_memory(err);
	}
	list->items = grown;
	list->items[list->count++] = p;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct published *const *)a)->name, (*(struct published *const *)b)->name);
}

int published_list_read(struct published_list *list, struct error *err)
{
	*list = (struct published_list){0};
	int rc = shelf_each(&shelf_published, add_file, list, err);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_name);
	if (rc)
		published_list_free(list);
	return rc;
}

void published_list_free(struct published_list *list)
{
	struct experiment_words_list broken = {list->broken, list->broken_count};
	for (size_t i = 0; i < list->count; i++)
		published_free(list->items[i]);
	free(list->items);
	experiment_words_list_free(&broken);
	*list = (struct published_list){0};
}
