#include "tui/wb_tab.h"

#include "tui/journal.h"
#include "tui/memory.h"

static const char *outcome(const struct journal_entry *e)
{
	if (!e->ended)
		return "...";
	switch (e->code) {
	case ERROR_NONE:
		return "done";
	case ERROR_UNTRUSTED:
		return "not trusted";
	case ERROR_NOT_KEPT:
		return "not kept";
	case ERROR_NEGATIVE:
		return "negative";
	case ERROR_STOPPED:
		return "stopped";
	default:
		return "failed";
	}
}

static void write_log(struct wb *wb, const struct render_page *page, int height)
{
	const struct journal *j = wb->session->journal;

	(void)height;
	if (!j->count)
		fputs("no command yet\n", page->out);
	for (size_t i = 0; i < j->count; i++) {
		const struct journal_entry *e = &j->items[i];

		render_page_say(page, 14, NULL, memory_format("%-12s :%s", outcome(e), e->line));
		if (e->code && e->said)
			render_page_say(page, 16, RENDER_PAGE_DIM,
			                memory_format("%14s%s", "", e->said));
	}
}

static unsigned long key(struct wb *wb)
{
	const struct journal *j = wb->session->journal;

	return j->count * 2 + (j->count && j->items[j->count - 1].ended) + 7 * wb->taken;
}

const struct wb_tab tab_log = {
        .name = "log",
        .title = "Log",
        .help = "Every command of this session and how it ended; :write FILE makes a script of "
                "it.",
        .write = write_log,
        .key = key,
        .at_end = true,
};
