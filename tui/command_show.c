#include "tui/command_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "engine/claim.h"
#include "engine/experiment.h"
#include "engine/host.h"
#include "engine/listing.h"
#include "engine/nearest.h"
#include "tui/code.h"
#include "tui/command_archive.h"
#include "tui/command_claim.h"
#include "tui/memory.h"
#include "tui/render.h"
#include "tui/render_csv.h"
#include "tui/render_json.h"
#include "tui/render_page.h"
#include "tui/show.h"
#include "tui/table.h"
#include "tui/words.h"

static char *abi_words(const struct experiment *x)
{
	char *text = memory_copy("");

	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		char *more;

		if (!(x->abis & (1u << abi)))
			continue;
		more = memory_format("%s%s%s", text, *text ? " " : "", experiment_abi_name[abi]);
		free(text);
		text = more;
	}
	return text;
}

static const char *group_of(const struct experiment *x)
{
	return x->group && *x->group ? x->group : "other";
}

static int by_group(const void *a, const void *b)
{
	const struct experiment *x = *(struct experiment *const *)a,
	                        *y = *(struct experiment *const *)b;
	int order = strcmp(group_of(x), group_of(y));

	return order ? order : strcmp(x->name, y->name);
}

static void list_text(const struct experiment_list *list)
{
	enum { GROUP, NAME, ABI, TITLE, COLUMNS };
	static const struct table_column columns[COLUMNS] = {
	        [GROUP] = {.head = "group", .drop = 2},
	        [NAME] = {.head = "experiment", .gap = 2},
	        [ABI] = {.head = "abi", .gap = 2, .drop = 1},
	        [TITLE] = {.head = "title", .gap = 2},
	};
	struct render_style style = render_style_for(stdout);
	struct render_page page = render_page_on(&style, stdout);
	struct table *t = table_new(&page, columns, COLUMNS);
	const char *before = "";

	for (size_t i = 0; i < list->count; i++) {
		const struct experiment *x = list->items[i];
		char *abis = abi_words(x);

		table_row_begin(t);
		if (strcmp(group_of(x), before) != 0)
			table_cell_set(t, GROUP, group_of(x));
		table_cell_set(t, NAME, x->name);
		table_cell_set(t, ABI, abis);
		table_span_set(t, TITLE, x->title);
		before = group_of(x);
		free(abis);
	}
	table_print(t);
	table_free(t);
}

static void list_jsonl(const struct experiment_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct experiment *x = list->items[i];
		json_t *o = json_object(), *abis = json_array();

		for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
			if (x->abis & (1u << abi))
				json_array_append_new(abis, json_string(experiment_abi_name[abi]));
		}
		json_object_set_new(o, "kind", json_string("experiment"));
		json_object_set_new(o, "experiment", render_json_text(x->name));
		json_object_set_new(o, "group", render_json_text(group_of(x)));
		json_object_set_new(o, "title", render_json_text(x->title));
		json_object_set_new(o, "abi", abis);
		json_object_set_new(o, "path", render_json_text(x->path));
		render_json_line(stdout, o);
	}
}

static void list_csv(const struct experiment_list *list)
{
	fputs("experiment,group,title,abi,path", stdout);
	render_csv_end(stdout);
	for (size_t i = 0; i < list->count; i++) {
		const struct experiment *x = list->items[i];
		char *abis = abi_words(x);

		render_csv_text(stdout, true, x->name);
		render_csv_text(stdout, false, group_of(x));
		render_csv_text(stdout, false, x->title);
		render_csv_text(stdout, false, abis);
		render_csv_text(stdout, false, x->path);
		render_csv_end(stdout);
		free(abis);
	}
}

static void (*const list_writers[RENDER_FORMATS])(const struct experiment_list *) = {
        [RENDER_TEXT] = list_text,
        [RENDER_JSONL] = list_jsonl,
        [RENDER_CSV] = list_csv,
};

static int list_experiments(struct command_call *call, struct error *err)
{
	struct experiment_list list = {0};
	int rc = experiment_list(&list, err);

	if (rc)
		return rc;
	if (list.count)
		qsort(list.items, list.count, sizeof(list.items[0]), by_group);
	if (list.count || call->values.format != RENDER_TEXT)
		list_writers[call->values.format](&list);
	fflush(stdout);
	if (list.count == 0 && list.broken_count == 0) {
		char **paths = experiment_paths(), *places;
		size_t n = 0;

		while (paths && paths[n])
			n++;
		places = words_join((const char *const *)paths, n);
		command_note(call, "no experiments in: %s", places);
		free(places);
		experiment_paths_free(paths);
	}
	/* One file's error is no reason to hide the others, nor is it an error of this command. */
	for (size_t i = 0; i < list.broken_count; i++)
		command_say(call->session, "%s", list.broken[i].message);
	experiment_list_free(&list);
	return ERROR_NONE;
}

int command_show_list(struct command_call *call, struct error *err)
{
	static const char *const what[] = {"experiments", "claims", "runs"};
	enum { EXPERIMENTS, CLAIMS, RUNS, LISTS };
	const char *word = call->count ? call->words[0] : what[EXPERIMENTS];
	size_t list = 0;
	int near;

	while (list < LISTS && strcmp(word, what[list]) != 0)
		list++;
	if (list < RUNS && call->count > 1)
		return error_set(err, ERROR_INPUT, "list %s takes no filter", word);
	if (list == EXPERIMENTS)
		return list_experiments(call, err);
	if (list == CLAIMS)
		return command_claim_list(call, err);
	if (list == RUNS)
		return command_archive_list(call, call->count > 1 ? call->words[1] : NULL, err);
	near = nearest_name(word, what, LISTS);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "list: no list of %s; did you mean %s?", word,
		                 what[near]);
	return error_set(err, ERROR_INPUT,
	                 "list: no list of %s; there are experiments, claims and runs", word);
}

/* Neither an experiment nor a claim: the message offers whichever has a name like it. */
static int show_unknown(const char *name, struct error *err)
{
	struct experiment *x;
	struct claim *c;
	struct error claim;
	int rc = experiment_find(name, &x, err);

	if (claim_find(name, &c, &claim) == ERROR_INPUT && strstr(claim.text, "did you mean") &&
	    !strstr(err->text, "did you mean"))
		return error_set(err, claim.code, "%s", claim.text);
	return rc;
}

int command_show_name(struct command_call *call, struct error *err)
{
	const char *name = call->words[0];
	struct experiment *x = NULL;
	struct host_probes probes;
	int64_t id;
	int rc;

	if (command_archive_names_run(name, &id))
		return command_archive_show(call, id, err);
	if (!experiment_exists(name))
		return claim_exists(name) ? command_claim_show(call, err) : show_unknown(name, err);
	rc = experiment_find(name, &x, err);
	if (rc)
		return rc;
	rc = host_probe_run(&probes, err);
	if (rc == ERROR_NONE)
		show_experiment(x, &probes, call->values.format, stdout);
	experiment_free(x);
	return rc;
}

int command_show_listing(struct command_call *call, struct error *err)
{
	struct experiment *x = NULL;
	struct experiment_selection selection = {0};
	struct experiment_variants variants = {0};
	struct listing listing = {0};
	struct host_probes probes;
	int rc = experiment_find(call->words[0], &x, err);

	if (rc)
		return rc;
	rc = experiment_select(x, call->words + 1, call->count - 1, &selection, err);
	if (rc == ERROR_NONE)
		rc = experiment_expand(x, &selection, &variants, err);
	if (rc == ERROR_NONE)
		rc = host_probe_run(&probes, err);
	if (rc == ERROR_NONE)
		rc = listing_make(x, &variants, &probes, &listing, err);
	if (rc == ERROR_NONE)
		code_print(x, &variants, &listing, call->values.format, stdout);
	listing_free(&listing);
	experiment_variants_free(&variants);
	experiment_selection_free(x, &selection);
	experiment_free(x);
	return rc;
}

int command_show_host(struct command_call *call, struct error *err)
{
	enum { ADVICE_MAX = 16 };
	struct host_advice advice[ADVICE_MAX];
	struct render_style style = render_style_for(stdout);
	struct host_probes probes;
	struct host host = {0};
	char *json = NULL;
	int cpu, rc = host_cpu_pick(call->values.cpu, &cpu, err);

	if (rc == ERROR_NONE)
		rc = host_read(cpu, &host, err);
	if (rc == ERROR_NONE)
		rc = host_probe_run(&probes, err);
	if (rc == ERROR_NONE) {
		json = host_json(&host, &probes);
		if (!json)
			rc = error_set(err, ERROR_INTERNAL, "no memory for the host's description");
	}
	if (rc == ERROR_NONE)
		render_host(json, advice, host_advise(&host, advice, ADVICE_MAX),
		            call->values.format, &style, stdout);
	free(json);
	host_free(&host);
	return rc;
}
