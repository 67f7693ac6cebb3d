#include "tui/command_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/experiment.h"
#include "engine/snippet.h"
#include "tui/memory.h"
#include "tui/render.h"

int command_run_measure(struct command_call *call, const struct experiment *x,
                        const char *const *words, size_t n, const char *const *against,
                        size_t against_count, struct measure_outcome *out, struct error *err)
{
	struct measure m = {0};
	int rc = measure_prepare(&m, call, x, words, n, against, against_count, out, err);

	if (rc == ERROR_NONE)
		rc = measure_start(&m, err);
	if (rc == ERROR_NONE) {
		rc = measure_drive(&m, err);
		measure_finish(&m);
	}
	measure_free(&m);
	return rc;
}

static void result_print(const struct command_call *call, const struct result_run *result)
{
	const struct option_values *v = &call->values;
	struct render_style style = render_style_for(stdout);

	render_run(result, v->format, &style, stdout);
	if (v->explain && v->format == RENDER_TEXT)
		render_summary(result, &style, stdout);
}

/* What the exit status has to tell about a result, and the words for it: "" where the rows say
 * enough. */
static enum error_code result_judge(const struct result_run *result, char **text)
{
	size_t measured = measure_count(result, RESULT_MEASURED);

	if (result->cut_short) {
		*text = memory_copy("stopped: what was complete is shown");
		return ERROR_STOPPED;
	}
	if (measured == 0 && result->row_count > 0) {
		bool absent = measure_count(result, RESULT_ABSENT) == result->row_count;

		*text = memory_copy(absent ? "nothing that was asked for is possible on this "
		                             "machine; each row says why"
		                           : "no variant could be measured; each row says why");
		return absent ? ERROR_ABSENT : ERROR_INPUT;
	}
	*text = NULL;
	return ERROR_NONE;
}

/* Tells a message now and gives the worse of its code and the one before: what went wrong is no
 * reason not to show the rest. */
static enum error_code run_tell(const struct command_call *call, enum error_code before,
                                enum error_code code, const char *text)
{
	if (text && *text)
		command_say(call->session, "%s", text);
	return error_worse(before, code);
}

static enum error_code run_tell_outcome(const struct command_call *call,
                                        const struct measure_outcome *out)
{
	const struct result_run *result = out->result;
	char *text;
	enum error_code judged = result_judge(result, &text), code;

	code = run_tell(call, ERROR_NONE, judged, text);
	free(text);
	if (!result->trusted && measure_count(result, RESULT_MEASURED) > 0) {
		text = memory_format("this run is not trusted: %s",
		                     result->not_trusted_why ? result->not_trusted_why
		                                             : "a control failed");
		code = run_tell(call, code, ERROR_UNTRUSTED, text);
		free(text);
	}
	if (out->not_kept.code) {
		text = memory_format("the run is not kept: %s", out->not_kept.text);
		code = run_tell(call, code, ERROR_NOT_KEPT, text);
		free(text);
	}
	return code;
}

/* Measures, prints, tells. */
static int run_show(struct command_call *call, const struct experiment *x, const char *const *words,
                    size_t n, const char *const *against, size_t against_count, struct error *err)
{
	struct measure_outcome out;
	int rc = command_run_measure(call, x, words, n, against, against_count, &out, err);
	enum error_code code = ERROR_NONE;

	if (out.raw_lost.code)
		code = run_tell(call, code, ERROR_NOT_KEPT, out.raw_lost.text);
	if (rc == ERROR_INTERNAL && out.result)
		code = run_tell(call, code, ERROR_INTERNAL, err->text);
	if (out.result) {
		result_print(call, out.result);
		fflush(stdout);
	}
	/* A run without a result has one message, and one of nothing but absent rows the engine's:
	 * the caller tells it. */
	if (rc && !(rc == ERROR_INTERNAL && out.result)) {
		session_take(call->session, out.result);
		return rc;
	}
	code = error_worse(code, run_tell_outcome(call, &out));
	session_take(call->session, out.result);
	if (err)
		err->text[0] = '\0'; /* all has been told */
	return code;
}

int command_run_experiment(struct command_call *call, struct error *err)
{
	const struct option_values *v = &call->values;
	struct experiment *x = NULL;
	int rc = experiment_find(call->words[0], &x, err);

	if (rc)
		return rc;
	rc = run_show(call, x, call->words + 1, call->count - 1, (const char *const *)v->against,
	              v->against_count, err);
	experiment_free(x);
	return rc;
}

int command_run_snippets(struct command_call *call, struct error *err)
{
	static const char *const first[] = {"code=s1"};
	const struct option_values *v = &call->values;
	bool own = v->against_count > 0;
	size_t against_count = own ? v->against_count : call->count > 1 ? 1 : 0;
	struct experiment *x = NULL;
	char *abi;
	int rc = snippet_experiment(call->words, call->count, v->text[OPTION_SETUP], &x, err);

	if (rc)
		return rc;
	abi = memory_format("abi=%s", v->text[OPTION_ABI] ? v->text[OPTION_ABI]
	                                                  : experiment_abi_name[EXPERIMENT_X86_64]);
	/* Every snippet is a level, and all of them are asked for. */
	rc = run_show(call, x, (const char *const[]){abi, "code=all"}, 2,
	              own ? (const char *const *)v->against : first, against_count, err);
	if (rc)
		snippet_explain(err);
	free(abi);
	experiment_free(x);
	return rc;
}
