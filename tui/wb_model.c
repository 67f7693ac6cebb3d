#include "tui/wb_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/archive.h"
#include "engine/nearest.h"
#include "tui/command_archive.h"
#include "tui/memory.h"
#include "tui/option.h"

const char *wb_model_group(const struct experiment *x)
{
	return x->group && *x->group ? x->group : "other";
}

static int by_group(const void *a, const void *b)
{
	const struct experiment *x = *(struct experiment *const *)a,
	                        *y = *(struct experiment *const *)b;
	int order = strcmp(wb_model_group(x), wb_model_group(y));

	return order ? order : strcmp(x->name, y->name);
}

const struct experiment *wb_model_experiment(const struct wb_model *m, const char *name)
{
	for (size_t i = 0; i < m->experiments.count; i++) {
		if (strcmp(m->experiments.items[i]->name, name) == 0)
			return m->experiments.items[i];
	}
	return NULL;
}

void wb_model_look(struct wb_model *m)
{
	int cpu;

	host_free(&m->host);
	m->host = (struct host){0};
	free(m->host_json);
	m->host_json = NULL;
	m->advice_count = 0;

	if (host_cpu_pick(m->session->defaults.cpu, &cpu, NULL) != ERROR_NONE &&
	    host_cpu_pick(-1, &cpu, NULL) != ERROR_NONE)
		return;
	if (host_read(cpu, &m->host, NULL) != ERROR_NONE)
		return;
	m->advice_count = host_advise(&m->host, m->advice, WB_ADVICE_MOST);
	m->host_json = host_json(&m->host, &m->probes);
}

int wb_model_init(struct wb_model *m, struct session *s, struct error *err)
{
	static const char first[] = "segreg"; /* what most come for */
	const struct experiment *x;
	int rc = host_probe_run(&m->probes, err);

	m->session = s;
	m->seconds_left = NAN;
	if (rc)
		return rc;
	wb_model_look(m);
	/* Without experiments the workbench still opens, and says where it looked. */
	if (experiment_list(&m->experiments, err) == ERROR_INTERNAL)
		return ERROR_INTERNAL;
	if (m->experiments.count)
		qsort(m->experiments.items, m->experiments.count, sizeof(m->experiments.items[0]),
		      by_group);
	x = wb_model_experiment(m, first);
	if (!x && m->experiments.count)
		x = m->experiments.items[0];
	if (x && wb_compose_set(&m->compose, x, &m->probes, NULL, 0, NULL, 0, err) == ERROR_NONE)
		wb_model_expect(m);
	return ERROR_NONE;
}

void wb_model_free(struct wb_model *m)
{
	wb_samples_free(&m->samples);
	wb_results_free(&m->results);
	wb_compose_free(&m->compose);
	experiment_list_free(&m->experiments);
	free(m->host_json);
	host_free(&m->host);
}

static int take_pace(const struct archive_entry *e, void *ctx)
{
	double *each = ctx;

	if (e->rows > 0 && strcmp(e->verdict ? e->verdict : "", "cut short") != 0)
		*each = e->seconds / (double)e->rows;
	return *each > 0;
}

/* The pace of the newest run of this experiment that is kept. */
static double archive_pace(const struct wb_model *m, const char *experiment)
{
	enum { LOOKED_AT = 4 };
	struct archive *a = NULL;
	char *path = NULL;
	double each = 0;

	if (command_archive_path(&m->session->defaults, &path, NULL) == ERROR_NONE &&
	    access(path, R_OK) == 0 && archive_open(path, false, &a, NULL) == ERROR_NONE)
		archive_each(a, experiment, LOOKED_AT, take_pace, &each, NULL);
	archive_close(a);
	free(path);
	return each;
}

void wb_model_expect(struct wb_model *m)
{
	const struct wb_results *r = &m->results;
	struct wb_compose *c = &m->compose;
	double each = 0;

	if (!c->experiment)
		return;
	for (size_t i = r->count; i-- > 0 && each == 0;) {
		const struct result_run *run = r->runs[i];

		if (strcmp(run->experiment, c->experiment->name) == 0 && run->row_count &&
		    !run->cut_short)
			each = run->seconds / (double)run->row_count;
	}
	c->seconds_each = each > 0 ? each : archive_pace(m, c->experiment->name);
	c->seconds_most = m->session->defaults.time;
	wb_compose_refresh(c);
}

static int command_compose(struct wb_model *m, const struct command_call *call, struct error *err)
{
	const char *name = call->count             ? call->words[0]
	                   : m->compose.experiment ? m->compose.experiment->name
	                                           : "";
	const struct experiment *x = wb_model_experiment(m, name);
	struct experiment *unknown = NULL;
	bool other = !m->compose.experiment || x != m->compose.experiment;
	int rc;

	if (!x) {
		rc = experiment_find(name, &unknown, err);
		experiment_free(unknown);
		return rc ? rc
		          : error_set(err, ERROR_INPUT,
		                      "compose: %s is not among the experiments listed", name);
	}
	rc = wb_compose_set(
	        &m->compose, x, &m->probes, call->words + 1, call->count ? call->count - 1 : 0,
	        (const char *const *)call->values.against, call->values.against_count, err);
	if (rc == ERROR_NONE && other)
		wb_model_expect(m);
	return rc;
}

void wb_model_follow(struct wb_model *m, const char *const *words, size_t n)
{
	const struct command *run = command_find("run");
	const char **rest = memory_get(n * sizeof(*rest));
	const struct experiment *x = NULL;
	struct option_values v;
	size_t count = 0;

	option_values_inherit(&v, &m->session->defaults);
	if (strcmp(words[0], run->name) == 0 &&
	    option_parse(words + 1, n - 1, run->options, run->name, &v, rest, &count, NULL, NULL) ==
	            ERROR_NONE &&
	    count > 0)
		x = wb_model_experiment(m, rest[0]);
	if (x &&
	    wb_compose_set(&m->compose, x, &m->probes, rest + 1, count - 1,
	                   (const char *const *)v.against, v.against_count, NULL) == ERROR_NONE)
		wb_model_expect(m);
	option_values_free(&v);
	free(rest);
}

static int command_sort(struct wb_model *m, const struct command_call *call, struct error *err)
{
	bool down = call->count > 1;

	if (down && strcmp(call->words[1], "down") != 0)
		return error_set(err, ERROR_INPUT, "sort: %s: only down may stand behind a column",
		                 call->words[1]);
	return wb_results_sort(&m->results,
	                       call->count ? call->words[0] : wb_sort_name[WB_SORT_MEASURED], down,
	                       err);
}

int wb_model_command(struct wb_model *m, const struct command_call *call, struct error *err)
{
	const char *name = call->command->name;

	if (strcmp(name, "compose") == 0)
		return command_compose(m, call, err);
	if (strcmp(name, "sort") == 0)
		return command_sort(m, call, err);
	if (strcmp(name, "filter") == 0) {
		wb_results_filter(&m->results, call->words, call->count);
		return ERROR_NONE;
	}
	return error_set(err, ERROR_INPUT, "%s: the workbench does not know this command", name);
}

void wb_model_take(struct wb_model *m, struct result_run *run)
{
	wb_results_add(&m->results, run);
	wb_model_expect(m);
}
