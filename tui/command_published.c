#include "tui/command_published.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/published.h"
#include "tui/command_run.h"
#include "tui/memory.h"
#include "tui/render_published.h"
#include "tui/words.h"

static int published_list(struct command_call *call, struct error *err)
{
	struct published_list list;
	int rc = published_list_read(&list, err);

	if (rc)
		return rc;
	if (list.count || call->values.format != RENDER_TEXT)
		render_published_list(&list, call->values.format, stdout);
	else
		command_note(call, "no published tables");
	fflush(stdout);
	/* One file's error is no reason to hide the others, nor is it an error of this command. */
	for (size_t i = 0; i < list.broken_count; i++)
		command_say(call->session, "%s", list.broken[i]);
	published_list_free(&list);
	return ERROR_NONE;
}

/* The run as a user could type it again. */
static char *run_line(const struct published *p, const struct option_values *v)
{
	char **words = memory_grow(NULL, p->word_count + 2, sizeof(*words)), *line;
	size_t n = 0;

	words[n++] = memory_copy("run");
	words[n++] = memory_copy(p->experiment->name);
	for (size_t i = 0; i < p->word_count; i++)
		words[n++] = memory_copy(p->words[i]);
	option_inherited_words(v, command_find("run")->options, &words, &n);
	line = words_join((const char *const *)words, n);
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
	return line;
}

/* What a run adds to the exit status; tells it. */
static enum error_code tell_outcome(const struct command_call *call,
                                    const struct measure_outcome *o)
{
	const struct result_run *run = o->result;
	enum error_code code = ERROR_NONE;

	if (run->cut_short) {
		command_say(call->session, "stopped: what was complete is shown");
		code = error_worse(code, ERROR_STOPPED);
	}
	if (!run->trusted) {
		command_say(call->session, "this run is not trusted: %s",
		            run->not_trusted_why ? run->not_trusted_why : "a control failed");
		code = error_worse(code, ERROR_UNTRUSTED);
	}
	if (o->not_kept.code) {
		command_say(call->session, "the run is not kept: %s", o->not_kept.text);
		code = error_worse(code, ERROR_NOT_KEPT);
	}
	return code;
}

static int published_measure(struct command_call *call, const struct published *p,
                             struct error *err)
{
	struct command_call inner = *call;
	struct measure_outcome outcome;
	struct error why;
	char *line;
	int rc;

	option_values_inherit(&inner.values, &call->values);
	inner.line = line = run_line(p, &inner.values);
	rc = command_run_measure(&inner, p->experiment, (const char *const *)p->words,
	                         p->word_count, NULL, 0, &outcome, &why);
	if (rc == ERROR_NONE || rc == ERROR_ABSENT)
		render_published_table(p, outcome.result, rc ? why.text : NULL, call->values.format,
		                       stdout);
	fflush(stdout);
	if (rc)
		error_set(err, why.code, "%s", why.text);
	else
		rc = tell_outcome(call, &outcome);
	session_take(call->session, outcome.result);
	option_values_free(&inner.values);
	free(line);
	return rc;
}

int command_published(struct command_call *call, struct error *err)
{
	struct published *p = NULL;
	int rc;

	if (!call->count)
		return published_list(call, err);
	rc = published_find(call->words[0], &p, err);
	if (rc)
		return rc;
	/* What this machine cannot measure hides no published figure, and is no error: the table
	 * says why. */
	if (p->experiment)
		rc = published_measure(call, p, err);
	else
		render_published_table(p, NULL, p->why_not, call->values.format, stdout);
	published_free(p);
	return rc;
}
