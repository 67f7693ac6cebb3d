#include "tui/command_run.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/archive.h"
#include "engine/experiment.h"
#include "engine/host.h"
#include "engine/record.h"
#include "engine/run.h"
#include "engine/snippet.h"
#include "tui/command_archive.h"
#include "tui/file.h"
#include "tui/memory.h"
#include "tui/progress.h"
#include "tui/render.h"

/* The half-widths a run stops at, where nothing else was asked for. */
static const double run_precision_cycles = 0.1, run_precision_share = 0.005,
                    run_precision_share_against = 0.0005;

/* All that one measurement holds. */
struct measurement {
	struct command_call *call;
	const struct experiment *experiment;
	struct experiment_selection selection;
	struct experiment_variants variants;
	long *bases; /* NULL: no comparison */
	struct host host;
	struct host_probes probes;
	struct archive *archive;
	FILE *raw;
	struct command_run_outcome *out;
};

/* Between commas, quoted where it must be. */
static void raw_text(FILE *f, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void raw_sample(void *ctx, const struct run_sample *s)
{
	const struct measurement *m = ctx;
	const char *state = s->state == 'k' ? "kept" : s->state == 'i' ? "interrupted" : "fenced";

	fprintf(m->raw, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%ld,", experiment_abi_name[s->abi],
	        s->worker, s->block, s->round, s->row);
	raw_text(m->raw, s->name ? s->name : "");
	fprintf(m->raw, ",%" PRIu32 ",%" PRIu64 ",%s\n", s->iterations, s->ticks, state);
}

static int raw_open(struct measurement *m, struct error *err)
{
	const char *path = m->call->values.text[OPTION_RAW];
	int rc = path ? file_create("--raw", path, &m->raw, err) : ERROR_NONE;

	if (m->raw)
		fputs("abi,worker,block,round,row,name,iterations,ticks,state\n", m->raw);
	return rc;
}

static void raw_close(struct measurement *m)
{
	if (m->raw)
		file_close("--raw", m->call->values.text[OPTION_RAW], m->raw, ERROR_NOT_KEPT,
		           &m->out->raw_lost);
	m->raw = NULL;
}

/* An archive that cannot be used stops no run: the rows are printed, and the exit status tells that
 * they were not kept. */
static void archive_prepare(struct measurement *m)
{
	const struct option_values *v = &m->call->values;
	char *path = NULL;

	if (v->no_archive)
		return;
	if (command_archive_path(v, &path, &m->out->not_kept) == ERROR_NONE)
		archive_open(path, true, &m->archive, &m->out->not_kept);
	free(path);
}

static void archive_keep(struct measurement *m, struct result_run *result)
{
	struct archive_entry entry = {
	        .started = result->started,
	        .experiment = result->experiment,
	        .command = result->command,
	        .verdict = result->cut_short ? "cut short"
	                   : result->trusted ? "trusted"
	                                     : "not trusted",
	        .seconds = result->seconds,
	        .rows = (int64_t)result->row_count,
	        .host = m->host.cpu_name,
	};
	int64_t id = 0;
	char *record;

	if (!m->archive)
		return;
	record = record_write(result);
	if (!record)
		error_set(&m->out->not_kept, ERROR_NOT_KEPT, "no memory for the run's record");
	else if (archive_add(m->archive, &entry, record, &id, &m->out->not_kept) == ERROR_NONE)
		snprintf(result->id, sizeof(result->id), "%" PRId64, id);
	free(record);
}

/* This process leaves the CPU that measures, if it may use another: progress, archive and rendering
 * must not disturb the run. Workers are children and set their own. Where the mask cannot be read
 * (more CPUs than cpu_set_t holds) it stays. True: *before is to be restored. */
static bool affinity_leave(int cpu, cpu_set_t *before)
{
	cpu_set_t others;

	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(*before), before) != 0)
		return false;
	others = *before;
	CPU_CLR((size_t)cpu, &others);
	return CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0;
}

/* Random, and short enough to be typed again. */
static int seed_draw(uint64_t *seed, struct error *err)
{
	*seed = 0;
	if (getrandom(seed, 6, 0) != 6)
		return error_errno(err, ERROR_INTERNAL, "getrandom");
	return ERROR_NONE;
}

static int spec_fill(struct measurement *m, struct run_spec *spec, struct error *err)
{
	const struct option_values *v = &m->call->values;
	bool precision = v->set & OPTION_BIT(OPTION_PRECISION);

	*spec = (struct run_spec){
	        .experiment = m->experiment,
	        .variants = &m->variants,
	        .bases = m->bases,
	        .command = m->call->line,
	        /* code without a file must be told with the figures */
	        .legend = strchr(m->experiment->path, '/') ? NULL : m->experiment->doc,
	        .host = &m->host,
	        .probes = &m->probes,
	        .seed = v->seed,
	        .time_limit = v->time,
	        .precision_cycles = precision ? v->precision_cycles : run_precision_cycles,
	        .precision_share = precision  ? v->precision_share
	                           : m->bases ? run_precision_share_against
	                                      : run_precision_share,
	        .sample = m->raw ? raw_sample : NULL,
	        .ctx = m,
	};
	return v->set & OPTION_BIT(OPTION_SEED) ? ERROR_NONE : seed_draw(&spec->seed, err);
}

static size_t result_count(const struct result_run *result, enum result_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < result->row_count; i++)
		n += result->rows[i].state == state;
	return n;
}

/* Archive first, so that a run that ended is on disk before anything of it is printed. */
static void measurement_finish(struct measurement *m)
{
	raw_close(m);
	/* not before there is something to keep: a run that is refused leaves no archive behind */
	if (result_count(m->out->result, RESULT_MEASURED) == 0)
		return;
	archive_prepare(m);
	archive_keep(m, m->out->result);
}

static int measurement_drive(struct measurement *m, struct error *err)
{
	struct progress progress;
	struct run_spec spec;
	struct run *run = NULL;
	int rc = spec_fill(m, &spec, err);

	if (rc == ERROR_NONE)
		rc = run_start(&spec, &run, err);
	if (rc == ERROR_NONE) {
		progress_begin(&progress, m->experiment->name, m->call->values.quiet);
		rc = run_to_end(run, m->call->session->stop,
		                m->call->values.format == RENDER_JSONL ? progress_tick_json
		                                                       : progress_tick,
		                &progress, err);
		progress_end(&progress);
		m->out->result = run_take(run);
		if (m->out->result)
			measurement_finish(m);
	} else if (rc == ERROR_ABSENT && run) {
		/* Where no variant is possible the rows stand and say why. */
		m->out->result = run_take(run);
	}
	run_free(run);
	return rc;
}

static int measurement_prepare(struct measurement *m, const char *const *words, size_t n,
                               const char *const *against, size_t against_count, struct error *err)
{
	int cpu, rc = experiment_select(m->experiment, words, n, &m->selection, err);

	if (rc)
		return rc;
	rc = experiment_expand(m->experiment, &m->selection, &m->variants, err);
	if (rc)
		return rc;
	if (against_count) {
		m->bases = memory_get(m->variants.count * sizeof(*m->bases));
		rc = experiment_bases(m->experiment, &m->variants, against, against_count, m->bases,
		                      err);
		if (rc)
			return rc;
	}
	rc = host_cpu_pick(m->call->values.cpu, &cpu, err);
	if (rc)
		return rc;
	rc = raw_open(m, err);
	if (rc)
		return rc;
	rc = host_read(cpu, &m->host, err);
	if (rc)
		return rc;
	return host_probe_run(&m->probes, err);
}

int command_run_measure(struct command_call *call, const struct experiment *x,
                        const char *const *words, size_t n, const char *const *against,
                        size_t against_count, struct command_run_outcome *out, struct error *err)
{
	struct measurement m = {.call = call, .experiment = x, .out = out};
	cpu_set_t before;
	bool moved;
	int rc;

	*out = (struct command_run_outcome){0};
	rc = measurement_prepare(&m, words, n, against, against_count, err);
	if (rc == ERROR_NONE) {
		moved = affinity_leave(m.host.cpu, &before);
		rc = measurement_drive(&m, err);
		if (moved)
			sched_setaffinity(0, sizeof(before), &before);
	}
	raw_close(&m);
	archive_close(m.archive);
	host_free(&m.host);
	free(m.bases);
	experiment_variants_free(&m.variants);
	experiment_selection_free(x, &m.selection);
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
	size_t measured = result_count(result, RESULT_MEASURED);

	if (result->cut_short) {
		*text = memory_copy("stopped: what was complete is shown");
		return ERROR_STOPPED;
	}
	if (measured == 0 && result->row_count > 0) {
		bool absent = result_count(result, RESULT_ABSENT) == result->row_count;

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
                                        const struct command_run_outcome *out)
{
	const struct result_run *result = out->result;
	char *text;
	enum error_code judged = result_judge(result, &text), code;

	code = run_tell(call, ERROR_NONE, judged, text);
	free(text);
	if (!result->trusted && result_count(result, RESULT_MEASURED) > 0) {
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
	struct command_run_outcome out;
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
		result_run_free(out.result);
		return rc;
	}
	code = error_worse(code, run_tell_outcome(call, &out));
	result_run_free(out.result);
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
