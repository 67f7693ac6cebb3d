#include "tui/wb_tab.h"

#include "tui/memory.h"

static void write_counters(struct wb *wb, const struct render_page *page, int height)
{
	(void)height;
	render_page_say(page, 2, NULL,
	                memory_format("  counters of this machine: %s",
	                              *wb->model.host.pmu ? wb->model.host.pmu : "unknown"));
	render_page_say(page, 2, NULL,
	                memory_copy("  This version measures time alone: no event is counted in a "
	                            "run yet."));
}

static unsigned long key(struct wb *wb)
{
	(void)wb;
	return 0;
}

const struct wb_tab tab_counters = {
        .name = "counters",
        .title = "Counters",
        .help = "What the counters of this machine are.",
        .write = write_counters,
        .key = key,
};
