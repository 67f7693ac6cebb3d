#include "tui/journal.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

size_t journal_begin(struct journal *j, const char *line, bool repeats)
{
	j->items = memory_grow(j->items, j->count + 1, sizeof(*j->items));
	j->items[j->count] = (struct journal_entry){.line = memory_copy(line), .repeats = repeats};
	return j->count++;
}

void journal_line_set(struct journal *j, size_t entry, const char *line)
{
	char *copy = memory_copy(line);

	free(j->items[entry].line);
	j->items[entry].line = copy;
}

void journal_end(struct journal *j, size_t entry, enum error_code code)
{
	j->items[entry].code = code;
	j->items[entry].ended = true;
}

void journal_tell(struct journal *j, size_t entry, const char *text)
{
	struct journal_entry *e = &j->items[entry];
	char *longer;

	if (!*text)
		return;
	longer = memory_format("%s%s%s", e->said ? e->said : "", text,
	                       text[strlen(text) - 1] == '\n' ? "" : "\n");
	free(e->said);
	e->said = longer;
}

static void entry_free(struct journal_entry *e)
{
	free(e->line);
	free(e->said);
}

static bool same_command(const struct journal_entry *a, const struct journal_entry *b)
{
	size_t n = strcspn(a->line, " ");

	return strncmp(a->line, b->line, n) == 0 && strcspn(b->line, " ") == n;
}

void journal_fold(struct journal *j)
{
	struct journal_entry *last = j->count > 1 ? &j->items[j->count - 1] : NULL;

	if (!last || !last[-1].ended || !last->ended || last[-1].code || last->code ||
	    last->repeats || last[-1].repeats || last[-1].said || last->said ||
	    !same_command(last - 1, last))
		return;
	entry_free(last - 1);
	last[-1] = *last;
	j->count--;
}

/* A run that a fault ended is one all the same. */
static bool entry_failed(const struct journal_entry *e)
{
	return e->code == ERROR_INPUT || e->code == ERROR_ABSENT;
}

void journal_write(const struct journal *j, FILE *out)
{
	fputs("# entrylab -f runs these commands\n", out);
	for (size_t i = 0; i < j->count; i++) {
		const struct journal_entry *e = &j->items[i];

		if (!e->repeats || !e->ended || entry_failed(e))
			continue;
		if (e->code == ERROR_STOPPED || e->code == ERROR_INTERNAL)
			fputs("# this one did not come to its end:\n", out);
		fprintf(out, "%s\n", e->line);
	}
}

void journal_free(struct journal *j)
{
	for (size_t i = 0; i < j->count; i++)
		entry_free(&j->items[i]);
	free(j->items);
	*j = (struct journal){0};
}
