#include "tui/wb_act.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/wb_frame.h"
#include "tui/wb_line.h"
#include "tui/wb_snippets.h"
#include "tui/wb_tab.h"
#include "tui/wb_term.h"

/* The next part of the workbench that Tab goes to: those that the layout can show. */
static void focus_step(struct wb *wb, int step)
{
	int place = wb->focus->place == WB_WHOLE ? (int)wb->part->place : (int)wb->focus->place;

	place = (place + step + WB_PLACES) % WB_PLACES;
	/* Folded, the experiments are a picker that e opens. */
	if (place == WB_SIDE && !wb->layout.side && wb->focus->place != WB_WHOLE)
		place = (place + step + WB_PLACES) % WB_PLACES;
	wb_show(wb, wb_frame_part((enum wb_place)place));
}

static void go_back(struct wb *wb)
{
	if (wb->focus->place == WB_WHOLE)
		wb_show(wb, wb->part);
	else if (wb->run)
		wb_act(wb, WB_STOP);
	else if (wb->focus->place == WB_SIDE)
		wb_show(wb, &pane_compose);
	else
		wb_say(wb, WB_PLAIN, "nothing to go back from; q leaves");
}

static void stop(struct wb *wb)
{
	if (!wb->run) {
		wb_say(wb, WB_PLAIN, "no run is on; q leaves");
		return;
	}
	run_stop(wb->run);
	wb->stopped = true;
	wb_say(wb, WB_WARN, "stopping: what is complete is kept");
}

static void run(struct wb *wb)
{
	const struct wb_compose *c = &wb->model.compose;
	char *line;

	if (wb->run) {
		wb_say(wb, WB_WARN, "a run is on; Esc stops it");
	} else if (!c->experiment) {
		wb_say(wb, WB_BAD, "nothing is composed: there are no experiments");
	} else if (c->problem) {
		wb_say(wb, WB_BAD, "%s", c->problem);
	} else {
		/* The composition may change while the run is on. */
		line = memory_copy(c->line);
		wb_command(wb, line);
		free(line);
	}
}

/* The selected row as base of what is composed; once more: no base. */
static void base(struct wb *wb)
{
	const struct wb_compose *c = &wb->model.compose;
	const struct result_run *r = wb_results_run(&wb->model.results);
	const struct result_row *row = wb_results_row(&wb->model.results, NULL);
	char *terms, *line, *with = NULL;

	if (!row) {
		wb_say(wb, WB_WARN, "the base is a row of the results: there is none yet");
		return;
	}
	if (!c->experiment || strcmp(c->experiment->name, r->experiment) != 0) {
		wb_say(wb, WB_WARN, "this run is of %s, which is not what is composed",
		       r->experiment);
		return;
	}
	terms = wb_results_terms(r, row);
	line = wb_compose_based(c, terms);
	with = memory_format("--against %s", terms);
	if (c->line && strstr(c->line, with)) {
		free(line);
		line = wb_compose_based(c, NULL);
	}
	wb_command(wb, line);
	if (c->against_count)
		wb_say(wb, WB_GOOD, "base: %s; F5 measures all against it", terms);
	free(with);
	free(line);
	free(terms);
}

static void sort(struct wb *wb)
{
	const struct wb_results *r = &wb->model.results;

	wb_command_format(wb, "sort %s%s", wb_sort_name[(r->sort + 1) % WB_SORTS],
	                  r->down ? " down" : "");
}

static void sort_down(struct wb *wb)
{
	const struct wb_results *r = &wb->model.results;

	wb_command_format(wb, "sort %s%s", wb_sort_name[r->sort], r->down ? "" : " down");
}

static void search_on(struct wb *wb, int step)
{
	if (!wb->search)
		wb_say(wb, WB_PLAIN, "nothing was searched yet: / searches");
	else if (!wb->focus->find)
		wb_say(wb, WB_PLAIN, "there is nothing to search in this pane");
	else if (!wb->focus->find(wb, wb->search, step))
		wb_say(wb, WB_WARN, "%s is not here", wb->search);
}

static void search_entered(void *ctx, char *text)
{
	struct wb *wb = ctx;

	if (text && *text) {
		free(wb->search);
		wb->search = memory_copy(text);
	}
	if (text)
		search_on(wb, 1);
	free(text);
}

static void step_run(struct wb *wb, int step)
{
	if (!wb_results_step(&wb->model.results, step))
		wb_say(wb, WB_PLAIN,
		       wb->run    ? "while a run is on, it is what is shown"
		       : step < 0 ? "no run before this one in this session; F7 shows the archive"
		                  : "this is the last run");
}

static void defaults(struct wb *wb)
{
	if (wb->model.compose.experiment)
		wb_command_format(wb, "compose %s", wb->model.compose.experiment->name);
}

void wb_act(struct wb *wb, enum wb_action action)
{
	static const struct {
		enum wb_action action;
		const char *view;
	} views[] = {
	        {WB_EXPERIMENTS, "experiments"},
	        {WB_COMPOSE, "compose"},
	        {WB_RESULTS, "results"},
	        {WB_DETAIL, "detail"},
	        {WB_COUNTERS, "counters"},
	        {WB_ARCHIVE, "archive"},
	        {WB_CLAIMS, "claims"},
	        {WB_HOST, "host"},
	        {WB_LOG, "log"},
	        {WB_HELP, "help"},
	};

	wb->dirty = true;
	if (action == WB_NONE || wb->focus->act(wb, action))
		return;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (views[i].action == action) {
			wb_command_format(wb, "view %s", views[i].view);
			return;
		}
	}
	switch (action) {
	case WB_BACK:
		go_back(wb);
		break;
	case WB_NEXT:
		focus_step(wb, 1);
		break;
	case WB_PREVIOUS:
		focus_step(wb, -1);
		break;
	case WB_RUN:
		run(wb);
		break;
	case WB_STOP:
		stop(wb);
		break;
	case WB_BASE:
		base(wb);
		break;
	case WB_DEFAULTS:
		defaults(wb);
		break;
	case WB_SORT:
		sort(wb);
		break;
	case WB_SORT_DOWN:
		sort_down(wb);
		break;
	case WB_FILTER:
		wb_ask(wb, "filter ");
		break;
	case WB_OLDER:
		step_run(wb, -1);
		break;
	case WB_NEWER:
		step_run(wb, 1);
		break;
	case WB_TAB_BACK:
	case WB_TAB_ON:
		wb_show(wb, &pane_detail);
		pane_detail.act(wb, action);
		break;
	case WB_SNIPPETS:
		wb_snippets_edit(wb);
		break;
	case WB_SEARCH:
		wb_line_open("/", "", false, search_entered, wb);
		break;
	case WB_SEARCH_NEXT:
		search_on(wb, 1);
		break;
	case WB_SEARCH_BACK:
		search_on(wb, -1);
		break;
	case WB_COMMAND:
		wb_ask(wb, "");
		break;
	case WB_REDRAW:
		wb_term_redraw();
		break;
	case WB_SUSPEND:
		wb_term_suspend();
		break;
	case WB_QUIT:
		if (wb->focus->place == WB_WHOLE)
			wb_show(wb, wb->part);
		else
			wb_command(wb, "quit");
		break;
	default:
		break;
	}
}
