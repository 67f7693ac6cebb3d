#include "tui/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/record.h"
#include "tui/command_archive.h"
#include "tui/file.h"
#include "tui/memory.h"
#include "tui/progress.h"
#include "tui/render.h"

/* The half-widths a run stops at, where nothing else was asked for. */
static const double run_precision_cycles = 0.1, run_precision_share = 0.005,
                    run_precision_share_against = 0.0005;

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

static void raw_sample(const struct measure *m, const struct run_sample *s)
{
	const char *state = s->state == 'k' ? "kept" : s->state == 'i' ? "interrupted" : "fenced";

	fprintf(m->raw, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%ld,", experiment_abi_name[s->abi],
	        s->worker, s->block, s->round, s->row);
	raw_text(m->raw, s->name ? s->name : "");
	fprintf(m->raw, ",%" PRIu32 ",%" PRIu64 ",%s\n", s->iterations, s->ticks, state);
}

/* For the file of --raw, and for the face. */
static void sample_tell(void *ctx, const struct run_sample *s)
{
	const struct measure *m = ctx;
	const struct session *session = m->call->session;

	if (m->raw)
		raw_sample(m, s);
	if (session->face)
		session->face->sample(session->face_ctx, s);
}

static int raw_open(struct measure *m, struct error *err)
{
	const char *path = m->call->values.text[OPTION_RAW];
	int rc = path ? file_create("--raw", path, &m->raw, err) : ERROR_NONE;

	if (m->raw)
		fputs("abi,worker,block,round,row,name,iterations,ticks,state\n", m->raw);
	return rc;
}

static void raw_close(struct measure *m)
{
	if (m->raw)
		file_close("--raw", m->call->values.text[OPTION_RAW], m->raw, ERROR_NOT_KEPT,
		           &m->out->raw_lost);
	m->raw = NULL;
}

/* An archive that cannot be used stops no run: the rows are printed, and the exit status tells that
 * they were not kept. */
static void archive_prepare(struct measure *m)
{
	const struct option_values *v = &m->call->values;
	char *path = NULL;

	if (v->no_archive)
		return;
	if (command_archive_path(v, &path, &m->out->not_kept) == ERROR_NONE)
		archive_open(path, true, &m->archive, &m->out->not_kept);
	free(path);
}

static void archive_keep(struct measure *m, struct result_run *result)
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
 * (more CPUs than cpu_set_t holds) it stays. True: m->before is to be restored. */
static bool affinity_leave(struct measure *m)
{
	cpu_set_t others;
	int cpu = m->host.cpu;

	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(m->before), &m->before) != 0)
		return false;
	others = m->before;
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

static int spec_fill(struct measure *m, struct run_spec *spec, struct error *err)
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
	        .sample = m->raw || m->call->session->face ? sample_tell : NULL,
	        .ctx = m,
	};
	return v->set & OPTION_BIT(OPTION_SEED) ? ERROR_NONE : seed_draw(&spec->seed, err);
}

size_t measure_count(const struct result_run *result, enum result_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < result->row_count; i++)
		n += result->rows[i].state == state;
	return n;
}

int measure_prepare(struct measure *m, struct command_call *call, const struct experiment *x,
                    const char *const *words, size_t n, const char *const *against,
                    size_t against_count, struct measure_outcome *out, struct error *err)
{
	struct session *s = call->session;
	int cpu, rc = s->face ? s->face->ready(s->face_ctx, err) : ERROR_NONE;

	*out = (struct measure_outcome){0};
	m->call = call;
	m->experiment = x;
	m->out = out;
	if (rc == ERROR_NONE)
		rc = experiment_select(x, words, n, &m->selection, err);
	if (rc == ERROR_NONE)
		rc = experiment_expand(x, &m->selection, &m->variants, err);
	if (rc == ERROR_NONE && against_count) {
		m->bases = memory_get(m->variants.count * sizeof(*m->bases));
		rc = experiment_bases(x, &m->variants, against, against_count, m->bases, err);
	}
	if (rc == ERROR_NONE)
		rc = host_cpu_pick(call->values.cpu, &cpu, err);
	if (rc == ERROR_NONE)
		rc = raw_open(m, err);
	if (rc == ERROR_NONE)
		rc = host_read(cpu, &m->host, err);
	return rc ? rc : host_probe_run(&m->probes, err);
}

int measure_start(struct measure *m, struct error *err)
{
	struct run_spec spec;
	int rc;

	m->moved = affinity_leave(m);
	rc = spec_fill(m, &spec, err);
	if (rc == ERROR_NONE)
		rc = run_start(&spec, &m->run, err);
	/* Where no variant is possible the rows stand and say why. */
	if (rc == ERROR_ABSENT && m->run)
		m->out->result = run_take(m->run);
	return rc;
}

int measure_drive(struct measure *m, struct error *err)
{
	const struct option_values *v = &m->call->values;
	struct session *s = m->call->session;
	struct progress progress;
	int rc;

	if (s->face)
		return s->face->drive(s->face_ctx, m->run, err);
	progress_begin(&progress, m->experiment->name, v->quiet);
	rc = run_to_end(m->run, s->stop,
	                v->format == RENDER_JSONL ? progress_tick_json : progress_tick, &progress,
	                err);
	progress_end(&progress);
	return rc;
}

void measure_finish(struct measure *m)
{
	m->out->result = run_take(m->run);
	raw_close(m);
	/* not before there is something to keep: a run that is refused leaves no archive behind */
	if (!m->out->result || measure_count(m->out->result, RESULT_MEASURED) == 0)
		return;
	archive_prepare(m);
	archive_keep(m, m->out->result);
}

void measure_free(struct measure *m)
{
	run_free(m->run);
	if (m->moved)
		sched_setaffinity(0, sizeof(m->before), &m->before);
	raw_close(m);
	archive_close(m->archive);
	host_free(&m->host);
	free(m->bases);
	experiment_variants_free(&m->variants);
	experiment_selection_free(m->experiment, &m->selection);
}
