#include "tui/wb.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nearest.h"
#include "tui/journal.h"
#include "tui/memory.h"
#include "tui/pane_output.h"
#include "tui/render.h"
#include "tui/render_figure.h"
#include "tui/wb_draw.h"
#include "tui/wb_frame.h"
#include "tui/wb_line.h"
#include "tui/wb_loop.h"
#include "tui/wb_tab.h"
#include "tui/wb_term.h"
#include "tui/words.h"

enum { MARGIN = 2 };

static const char messages_begin[] = "entrylab: ";

void wb_say(struct wb *wb, enum wb_style tone, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	free(wb->message);
	wb->message = text;
	wb->tone = tone;
	wb->dirty = true;
}

void wb_show(struct wb *wb, const struct wb_pane *pane)
{
	if (pane->place != WB_WHOLE)
		wb->part = pane;
	if (pane->open && wb->focus != pane)
		pane->open(wb);
	wb->focus = pane;
	wb->dirty = true;
}

void wb_output(struct wb *wb, const char *title, const char *text)
{
	pane_output_set(title, text);
	wb_show(wb, &pane_output);
}

/* ---- the session's face ---- */

static int face_ready(void *ctx, struct error *err)
{
	struct wb *wb = ctx;

	if (wb->run)
		return error_set(err, ERROR_INPUT,
		                 "a run is on, and one is measured at a time; "
		                 "Esc stops it");
	return ERROR_NONE;
}

static int face_drive(void *ctx, struct run *run, struct error *err)
{
	struct wb *wb = ctx;
	int rc;

	wb->run = run;
	wb->stopped = false;
	wb->model.progress = 0;
	wb->model.seconds_left = NAN;
	wb_results_live_set(&wb->model.results, run_result(run));
	wb_samples_begin(&wb->model.samples, run_result(run));
	rc = wb_loop_run(wb, run, err);
	wb_results_live_set(&wb->model.results, NULL);
	wb->run = NULL;
	/* A command that measures more than once, and a script, stop at this. */
	if (wb->stopped && wb->session->stop)
		*wb->session->stop = 1;
	return rc;
}

static void face_sample(void *ctx, const struct run_sample *sample)
{
	struct wb *wb = ctx;

	wb_samples_take(&wb->model.samples, sample);
}

static void say_run(struct wb *wb, const struct result_run *run)
{
	char *what = run->id[0] ? memory_format("run %s", run->id) : memory_copy("run, not kept");
	char seconds[32];

	render_figure_number(seconds, run->seconds, 2, false);
	if (!run->trusted)
		wb_say(wb, WB_BAD, "%s: NOT TRUSTED: %s", what,
		       run->not_trusted_why ? run->not_trusted_why : "a control failed");
	else
		wb_say(wb, run->cut_short ? WB_WARN : WB_GOOD, "%s: %s, %s s, %s", what,
		       run->cut_short ? "cut short" : "trusted", seconds,
		       run->stop_reason ? run->stop_reason : "");
	free(what);
}

static void face_take(void *ctx, struct result_run *run)
{
	struct wb *wb = ctx;

	wb->taken++;
	say_run(wb, run);
	wb_model_take(&wb->model, run);
}

static int view(struct wb *wb, const char *name, struct error *err)
{
	const struct wb_pane *pane = wb_panes_find(name);
	const char *names[32];
	size_t n = 0;
	int near;

	if (pane) {
		wb_show(wb, pane);
		return ERROR_NONE;
	}
	if (pane_detail_show(wb, name))
		return ERROR_NONE;
	for (size_t i = 0; i < wb_pane_count; i++)
		names[n++] = wb_panes[i]->name;
	for (size_t i = 0; i < wb_tab_count; i++)
		names[n++] = wb_tabs[i]->name;
	near = nearest_name(name, names, n);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "view: no pane %s; did you mean %s?", name,
		                 names[near]);
	return error_set(err, ERROR_INPUT, "view: no pane %s; F1 lists them", name);
}

static int face_command(void *ctx, struct command_call *call, struct error *err)
{
	struct wb *wb = ctx;

	if (strcmp(call->command->name, "view") == 0)
		return view(wb, call->words[0], err);
	return wb_model_command(&wb->model, call, err);
}

static const struct session_face face = {
        .ready = face_ready,
        .drive = face_drive,
        .sample = face_sample,
        .take = face_take,
        .command = face_command,
};

/* ---- commands ---- */

/* What a command printed, parted: messages begin as command_say begins them, all else is output.
 * The last message is for the status line. */
static char *part_messages(char *text, char **message)
{
	char *output = memory_get(strlen(text) + 1), *to = output;

	*message = NULL;
	for (char *line = text, *next; *line; line = next) {
		size_t n = strcspn(line, "\n");

		next = line + n + (line[n] == '\n');
		if (strncmp(line, messages_begin, strlen(messages_begin)) == 0) {
			free(*message);
			*message = memory_copy_part(line + strlen(messages_begin),
			                            n - strlen(messages_begin));
			continue;
		}
		memcpy(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
	return output;
}

static enum wb_style tone_of(enum error_code code)
{
	switch (code) {
	case ERROR_NONE:
		return WB_PLAIN;
	case ERROR_UNTRUSTED:
	case ERROR_NOT_KEPT:
	case ERROR_NEGATIVE:
	case ERROR_STOPPED:
		return WB_WARN;
	default:
		return WB_BAD;
	}
}

/* Whether the panes show already what the command printed. */
static bool is_shown(const char *command, bool took)
{
	static const char *const by_results[] = {"run", "asm", "show"};

	for (size_t i = 0; took && i < sizeof(by_results) / sizeof(by_results[0]); i++) {
		if (strcmp(command, by_results[i]) == 0)
			return true;
	}
	return false;
}

static void tell_outcome(struct wb *wb, const char *command, const char *line, enum error_code code,
                         char *text, bool took)
{
	char *message, *output = part_messages(text, &message);

	if (message)
		wb_say(wb, tone_of(code), "%s", message);
	else if (!took && code == ERROR_NONE)
		wb_say(wb, WB_FAINT, ":%s", line);
	if (output[strspn(output, " \n")] && !is_shown(command, took))
		wb_output(wb, line, output);
	free(output);
	free(message);
}

/* What may have been set has its effect. */
static void settings_hold(struct wb *wb)
{
	const struct option_values *v = &wb->session->defaults;
	struct wb_compose *c = &wb->model.compose;

	wb_term_mouse(!v->no_mouse);
	if (v->cpu >= 0 && v->cpu != wb->model.host.cpu)
		wb_model_look(&wb->model);
	if (c->seconds_most != v->time) {
		c->seconds_most = v->time;
		wb_compose_refresh(c);
	}
}

static void execute(struct wb *wb, const struct words *w)
{
	struct session *s = wb->session;
	unsigned within = s->within, taken = wb->taken;
	const char *where = s->where;
	struct render_style style = wb_draw_style(wb->layout.whole.w - MARGIN);
	char *line = words_join((const char *const *)w->items, w->count), *text;
	size_t entry = s->journal->count;
	long mark = wb_term_mark();
	bool inner = wb->run != NULL;
	enum error_code code;

	wb_say(wb, WB_FAINT, ":%s", line);
	s->within = 0;
	s->where = NULL;
	render_style_set(&style);
	if (!inner)
		wb_model_follow(&wb->model, (const char *const *)w->items, w->count);
	code = command_execute(s, (const char *const *)w->items, w->count);
	render_style_set(NULL);
	s->where = where;
	s->within = within;
	text = wb_term_printed(mark);
	if (entry < s->journal->count)
		journal_tell(s->journal, entry, text);
	journal_fold(s->journal);
	tell_outcome(wb, w->items[0], line, code, text, wb->taken != taken && !inner);
	settings_hold(wb);
	/* What stopped this command stops no other. */
	if (!inner && s->stop && !*wb->terminate)
		*s->stop = 0;
	free(text);
	free(line);
}

void wb_command(struct wb *wb, const char *lines)
{
	size_t size = strlen(lines);

	while (size > 0 && !wb->session->quit) {
		size_t n = words_command_size(lines, size);
		char *line;
		struct words w;
		struct error err;

		if (n == 0)
			n = size;
		line = memory_copy_part(lines, n);
		if (words_split(line, &w, &err) != ERROR_NONE) {
			wb_say(wb, WB_BAD, "%s", err.text);
		} else {
			if (w.count)
				execute(wb, &w);
			words_free(&w);
		}
		free(line);
		lines += n;
		size -= n;
	}
}

void wb_command_format(struct wb *wb, const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) >= 0)
		wb_command(wb, line);
	va_end(ap);
	free(line);
}

static void command_entered(void *ctx, char *text)
{
	struct wb *wb = ctx;

	if (text)
		wb_command(wb, text);
	free(text);
}

void wb_ask(struct wb *wb, const char *text)
{
	wb_line_open(":", text, true, command_entered, wb);
	wb->dirty = true;
}

enum error_code wb_run(struct session *s, const volatile int *terminate, struct error *err)
{
	struct wb wb = {
	        .session = s,
	        .terminate = terminate,
	        .focus = &pane_compose,
	        .part = &pane_compose,
	};
	int rc = wb_term_begin(!s->defaults.no_mouse, err);

	if (rc)
		return (enum error_code)rc;
	wb_draw_begin(wb_term_utf8());
	s->face = &face;
	s->face_ctx = &wb;
	rc = wb_model_init(&wb.model, s, err);
	if (rc == ERROR_NONE) {
		wb_line_init(s);
		wb_say(&wb, WB_FAINT, "? shows the keys, : takes a command");
		rc = wb_loop_run(&wb, NULL, err);
		wb_line_free();
	}
	s->face = NULL;
	wb_term_end();
	for (size_t i = 0; i < wb_pane_count; i++) {
		if (wb_panes[i]->close)
			wb_panes[i]->close();
	}
	wb_model_free(&wb.model);
	free(wb.message);
	free(wb.search);
	if (wb.lost)
		rc = error_worse((enum error_code)rc, ERROR_STOPPED);
	return (enum error_code)rc;
}
