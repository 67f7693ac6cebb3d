#include "tui/command_claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/claim.h"
#include "tui/command_run.h"
#include "tui/memory.h"
#include "tui/render_claims.h"
#include "tui/words.h"

/* What a claim's run is measured with unless the claim or the user says otherwise: all the time
 * there is goes into the intervals, and twenty claims are done while one waits. */
static const char verify_time[] = "0.5", verify_precision[] = "0.02,0.05%";

/* The option of a claim's run; OPTIONS if it gives none of that name. */
static const struct claim_option *run_option(const struct claim *c, enum option_id id)
{
	for (size_t i = 0; i < c->option_count; i++) {
		if (strcmp(c->options[i].name, option_table[id].name) == 0)
			return &c->options[i];
	}
	return NULL;
}

/* Gives an option of the run its value: the user's, else the claim's, else ours. */
static int option_choose(const struct claim *c, enum option_id id, const char *usual,
                         struct option_values *v, struct error *err)
{
	const struct claim_option *own = run_option(c, id);
	struct error why;

	if (v->set & OPTION_BIT(id))
		return ERROR_NONE;
	if (option_set(v, id, own ? own->value : usual, &why) != ERROR_NONE)
		return error_set(err, ERROR_INPUT, "%s:%u: run: %s", c->path, c->run_line,
		                 why.text);
	return ERROR_NONE;
}

static int options_choose(const struct claim *c, struct option_values *v, struct error *err)
{
	int rc = option_choose(c, OPTION_TIME, verify_time, v, err);

	return rc ? rc : option_choose(c, OPTION_PRECISION, verify_precision, v, err);
}

/* The engine leaves the values of options to us. */
static int claim_check(const struct claim *c, struct error *err)
{
	struct option_values v;
	int rc;

	if (!c->experiment)
		return ERROR_NONE;
	option_values_init(&v);
	rc = options_choose(c, &v, err);
	option_values_free(&v);
	return rc;
}

/* Every claim that is sound; tells of those that are not. *code is worsened by them. */
static int claims_load(struct command_call *call, struct claim_list *list, enum error_code *code,
                       struct error *err)
{
	size_t kept = 0;
	int rc = claim_list_read(list, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < list->broken_count; i++) {
		command_say(call->session, "%s", list->broken[i]);
		*code = error_worse(*code, ERROR_INPUT);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct error why;

		if (claim_check(list->items[i], &why) == ERROR_NONE) {
			list->items[kept++] = list->items[i];
			continue;
		}
		command_say(call->session, "%s", why.text);
		*code = error_worse(*code, ERROR_INPUT);
		claim_free(list->items[i]);
	}
	list->count = kept;
	return ERROR_NONE;
}

int command_claim_list(struct command_call *call, struct error *err)
{
	struct claim_list list;
	/* One file's error is no reason to hide the others, nor is it an error of this command. */
	enum error_code ignored = ERROR_NONE;
	int rc = claims_load(call, &list, &ignored, err);

	if (rc)
		return rc;
	if (list.count || call->values.format != RENDER_TEXT)
		render_claims_list(&list, call->values.format, stdout);
	else
		command_note(call, "no claims");
	claim_list_free(&list);
	return ERROR_NONE;
}

int command_claim_show(struct command_call *call, struct error *err)
{
	struct claim *c = NULL;
	int rc = claim_find(call->words[0], &c, err);

	if (rc == ERROR_NONE)
		rc = claim_check(c, err);
	if (rc == ERROR_NONE)
		render_claims_show(c, call->values.format, stdout);
	claim_free(c);
	return rc;
}

/* All of one verify. */
struct verification {
	struct command_call *call;
	struct claim_list list;
	struct render_claims_item *items; /* one for each of the list */
	bool *judged;
	size_t runs, not_trusted;
	double seconds;
	bool told_not_kept;
	enum error_code code; /* the worst there was */
};

/* The run as a user could type it again. */
static char *run_line(const struct claim *c, const struct option_values *v)
{
	static const enum option_id own[] = {OPTION_TIME, OPTION_PRECISION};
	char **words = memory_grow(NULL, c->word_count + 2, sizeof(*words)), *line;
	size_t n = 0;

	words[n++] = memory_copy("run");
	words[n++] = memory_copy(c->experiment->name);
	for (size_t i = 0; i < c->word_count; i++)
		words[n++] = memory_copy(c->words[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (!(v->given & OPTION_BIT(own[i])))
			continue;
		words = memory_grow(words, n + 2, sizeof(*words));
		words[n++] = memory_format("--%s", option_table[own[i]].name);
		words[n++] = memory_copy(v->text[own[i]]);
	}
	option_inherited_words(v, command_find("run")->options, &words, &n);
	line = words_join((const char *const *)words, n);
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
	return line;
}

static int judge(struct verification *v, size_t i, const struct result_run *run,
                 enum claim_verdict without, const char *why, struct error *err)
{
	struct render_claims_item *item = &v->items[i];
	int rc = claim_judge(item->claim, run, without, why, &item->judgement, err);

	v->judged[i] = rc == ERROR_NONE;
	if (!run)
		return rc;
	snprintf(item->run, sizeof(item->run), "%s", run->id);
	item->confidence = run->confidence;
	return rc;
}

/* Judges every claim that this run tests. */
static int judge_sharing(struct verification *v, size_t first, const struct result_run *run,
                         const char *why, struct error *err)
{
	const struct claim *c = v->list.items[first];
	int rc = ERROR_NONE;

	for (size_t i = first; i < v->list.count && rc == ERROR_NONE; i++) {
		if (!v->judged[i] && (i == first || claim_shares_run(c, v->list.items[i])))
			rc = judge(v, i, run, CLAIM_UNTESTABLE, why, err);
	}
	return rc;
}

/* What a run adds to the exit status, and to what is told at the end. */
static void note_outcome(struct verification *v, const struct measure_outcome *o)
{
	const struct result_run *run = o->result;

	v->runs++;
	v->seconds += run->seconds;
	if (run->cut_short)
		v->code = error_worse(v->code, ERROR_STOPPED);
	for (size_t i = 0; !run->trusted && i < run->row_count; i++) {
		if (run->rows[i].state != RESULT_MEASURED)
			continue;
		v->not_trusted++;
		v->code = error_worse(v->code, ERROR_UNTRUSTED);
		break;
	}
	if (o->not_kept.code && !v->told_not_kept) {
		command_say(v->call->session, "the run is not kept: %s", o->not_kept.text);
		v->told_not_kept = true;
	}
	if (o->not_kept.code)
		v->code = error_worse(v->code, ERROR_NOT_KEPT);
}

/* Measures the run of a claim, and judges it and all that share it. */
static int verify_run(struct verification *v, size_t i, struct error *err)
{
	const struct claim *c = v->list.items[i];
	struct command_call inner = *v->call;
	struct measure_outcome outcome = {0};
	struct error why;
	char *line = NULL;
	int rc;

	option_values_inherit(&inner.values, &v->call->values);
	rc = options_choose(c, &inner.values, &why);
	if (rc == ERROR_NONE) {
		inner.line = line = run_line(c, &inner.values);
		rc = command_run_measure(&inner, c->experiment, (const char *const *)c->words,
		                         c->word_count, NULL, 0, &outcome, &why);
	}
	/* That nothing of it is possible here is what the claim is to be told. */
	if (rc == ERROR_ABSENT) {
		rc = judge_sharing(v, i, outcome.result, why.text, err);
	} else if (rc) {
		error_set(err, why.code, "%s", why.text);
	} else {
		note_outcome(v, &outcome);
		rc = judge_sharing(v, i, outcome.result, NULL, err);
	}
	session_take(v->call->session, outcome.result);
	option_values_free(&inner.values);
	free(line);
	return rc;
}

static bool stopped(const struct verification *v)
{
	return v->call->session->stop && *v->call->session->stop;
}

static int verify_all(struct verification *v, struct error *err)
{
	int rc = ERROR_NONE;

	for (size_t i = 0; i < v->list.count && rc == ERROR_NONE; i++) {
		if (v->judged[i])
			continue;
		if (!v->list.items[i]->experiment)
			rc = judge(v, i, NULL, CLAIM_UNTESTABLE, "", err);
		else if (stopped(v))
			rc = judge(v, i, NULL, CLAIM_UNDECIDED, "stopped before it was measured",
			           err);
		else
			rc = verify_run(v, i, err);
	}
	return rc;
}

/* The claims that are named, each once, in the order given. */
static int named_load(struct verification *v, struct error *err)
{
	struct claim_list *list = &v->list;
	int rc = ERROR_NONE;

	list->items = memory_get(v->call->count * sizeof(*list->items));
	for (size_t i = 0; i < v->call->count && rc == ERROR_NONE; i++) {
		struct claim *c = NULL;

		rc = claim_find(v->call->words[i], &c, err);
		if (rc == ERROR_NONE)
			rc = claim_check(c, err);
		for (size_t j = 0; rc == ERROR_NONE && j < list->count; j++) {
			if (strcmp(list->items[j]->path, c->path) == 0)
				rc = error_set(err, ERROR_INPUT, "verify: %s is named twice",
				               c->name);
		}
		if (rc)
			claim_free(c);
		else
			list->items[list->count++] = c;
	}
	return rc;
}

static int verification_load(struct verification *v, struct error *err)
{
	bool all = v->call->values.all;
	int rc;

	if (all && v->call->count)
		return error_set(err, ERROR_INPUT,
		                 "verify: --all is every claim; name none beside it");
	if (!all && !v->call->count)
		return error_set(err, ERROR_INPUT,
		                 "verify: name a claim (list claims shows them), or give --all");
	rc = all ? claims_load(v->call, &v->list, &v->code, err) : named_load(v, err);
	if (rc)
		return rc;
	v->items = memory_get(v->list.count * sizeof(*v->items));
	v->judged = memory_get(v->list.count * sizeof(*v->judged));
	for (size_t i = 0; i < v->list.count; i++)
		v->items[i].claim = v->list.items[i];
	return ERROR_NONE;
}

/* Prints all verdicts and what they add to the exit status. */
static void verification_finish(struct verification *v)
{
	size_t untestable = 0;

	if (v->list.count || v->call->values.format != RENDER_TEXT)
		render_claims_verdicts(v->items, v->list.count, v->runs, v->seconds,
		                       v->call->values.format, stdout);
	else
		command_note(v->call, "no claims");
	fflush(stdout);
	for (size_t i = 0; i < v->list.count; i++) {
		untestable += v->items[i].judgement.verdict == CLAIM_UNTESTABLE;
		if (v->items[i].judgement.verdict == CLAIM_FAILS)
			v->code = error_worse(v->code, ERROR_NEGATIVE);
	}
	if (v->list.count && untestable == v->list.count) {
		command_say(v->call->session, "nothing that was asked for is possible on this "
		                              "machine; each claim says why");
		v->code = error_worse(v->code, ERROR_ABSENT);
	}
	if (v->code == ERROR_STOPPED)
		command_say(v->call->session, "stopped: what was measured is shown");
	if (v->not_trusted)
		command_say(v->call->session,
		            "%zu of %zu runs %s not trusted: their claims are not decided",
		            v->not_trusted, v->runs, v->not_trusted == 1 ? "is" : "are");
}

int command_claim_verify(struct command_call *call, struct error *err)
{
	struct verification v = {.call = call};
	int rc = verification_load(&v, err);

	if (rc == ERROR_NONE)
		rc = verify_all(&v, err);
	if (rc == ERROR_NONE) {
		verification_finish(&v);
		rc = v.code;
		if (err)
			err->text[0] = '\0'; /* all has been told */
	}
	for (size_t i = 0; v.judged && i < v.list.count; i++) {
		if (v.judged[i])
			claim_judgement_free(&v.items[i].judgement);
	}
	free(v.items);
	free(v.judged);
	claim_list_free(&v.list);
	return rc;
}
