#include "tui/show.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_json.h"
#include "tui/render_page.h"

static bool words_hold(char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return true;
	}
	return false;
}

/* Whether a term names the level; a range's terms may be numbers or LO..HI. */
static bool term_names(const struct experiment_term *t, const char *level)
{
	for (size_t i = 0; i < t->level_count; i++) {
		long lo, hi, n;
		char *end;

		if (strcmp(t->levels[i], level) == 0)
			return true;
		if (sscanf(t->levels[i], "%ld..%ld", &lo, &hi) != 2)
			continue;
		n = strtol(level, &end, 10);
		if (end != level && *end == '\0' && n >= lo && n <= hi)
			return true;
	}
	return false;
}

/* Whether the condition holds for every variant that has this level in this ABI: its terms speak of
 * nothing else. */
static bool condition_covers(const struct experiment_condition *c, size_t factor, const char *level,
                             enum experiment_abi abi)
{
	for (size_t i = 0; i < c->term_count; i++) {
		const struct experiment_term *t = &c->terms[i];

		if (t->factor == 0 && term_names(t, experiment_abi_name[abi]))
			continue;
		if (t->factor == factor && factor != 0 && term_names(t, level))
			continue;
		return false;
	}
	return true;
}

/* The capabilities without which an ABI's programs do not run at all. */
static const enum host_capability abi_capability[EXPERIMENT_ABIS] = {
        [EXPERIMENT_I386] = HOST_I386,
        [EXPERIMENT_X86_64] = HOST_X86_64,
};

const char *show_level_missing(const struct experiment *x, size_t factor, const char *level,
                               enum experiment_abi abi, const struct host_probes *probes)
{
	const struct host_probe *here = probes->abi[abi];

	if (!here[abi_capability[abi]].present)
		return here[abi_capability[abi]].why;
	for (size_t i = 0; i < x->need_count; i++) {
		const struct experiment_need *need = &x->needs[i];

		if (!condition_covers(&need->when, factor, level, abi))
			continue;
		for (size_t j = 0; j < need->capability_count; j++) {
			int capability = host_capability_find(need->capabilities[j]);

			if (capability >= 0 && !here[capability].present)
				return here[capability].why;
		}
	}
	return NULL;
}

/* Whether a rule of the file leaves the level out of an ABI altogether. */
static bool level_excluded(const struct experiment *x, size_t factor, const char *level,
                           enum experiment_abi abi)
{
	for (size_t i = 0; i < x->exclude_count; i++) {
		if (condition_covers(&x->excludes[i].when, factor, level, abi))
			return true;
	}
	return false;
}

char *show_condition(const struct experiment *x, const struct experiment_condition *c)
{
	char *text = memory_copy("");

	for (size_t i = 0; i < c->term_count; i++) {
		for (size_t j = 0; j < c->terms[i].level_count; j++) {
			char *more = memory_format("%s%s%s%s%s", text, j || i == 0 ? "" : " ",
			                           j ? "," : x->factors[c->terms[i].factor].name,
			                           j ? "" : "=", c->terms[i].levels[j]);

			free(text);
			text = more;
		}
	}
	return text;
}

static void text_key(const struct render_page *page, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(page->out, "%-9s ", key);
	render_page_wrap(page, 10, 10, value);
}

static void text_abis(const struct render_page *page, const struct experiment *x)
{
	const char *both = x->abis == 3 ? " " : "";

	fprintf(page->out, "%-9s %s%s%s\n", "abi", x->abis & 1 ? experiment_abi_name[0] : "", both,
	        x->abis & 2 ? experiment_abi_name[1] : "");
}

/* The levels in one paragraph; a default is marked with a star. */
static char *levels_text(const struct experiment_factor *f)
{
	char *text;

	if (f->range) {
		char *defaults = memory_copy("");

		for (size_t i = 0; i < f->default_count; i++) {
			char *more =
			        memory_format("%s%s%s", defaults, i ? "," : "", f->defaults[i]);

			free(defaults);
			defaults = more;
		}
		text = memory_format("%ld..%ld (default %s)", f->lo, f->hi, defaults);
		free(defaults);
		return text;
	}
	text = memory_copy("");
	for (size_t i = 0; i < f->level_count; i++) {
		bool usual = words_hold(f->defaults, f->default_count, f->levels[i]);
		char *more = memory_format("%s%s%s%s", text, i ? " " : "", f->levels[i],
		                           usual ? "*" : "");

		free(text);
		text = more;
	}
	return text;
}

static bool factor_has_abi(const struct experiment *x, size_t factor, const char *level, int abi)
{
	if (!(x->abis & (1u << abi)))
		return false;
	if (factor == 0)
		return strcmp(level, experiment_abi_name[abi]) == 0;
	return !level_excluded(x, factor, level, (enum experiment_abi)abi);
}

static void text_missing(const struct render_page *page, const struct experiment *x, size_t factor,
                         const struct host_probes *probes)
{
	const struct experiment_factor *f = &x->factors[factor];

	for (size_t i = 0; i < f->level_count; i++) {
		for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
			const char *why;
			char *line;

			if (!factor_has_abi(x, factor, f->levels[i], abi))
				continue;
			/* What stops the whole ABI is told once, with the factor abi. */
			if (factor != 0 && show_level_missing(x, 0, experiment_abi_name[abi],
			                                      (enum experiment_abi)abi, probes))
				continue;
			why = show_level_missing(x, factor, f->levels[i], (enum experiment_abi)abi,
			                         probes);
			if (!why)
				continue;
			line = memory_format("%s: not on this machine%s%s: %s", f->levels[i],
			                     factor ? " in " : "",
			                     factor ? experiment_abi_name[abi] : "", why);
			fputs("            ", page->out);
			render_page_wrap(page, 12, 14, line);
			free(line);
		}
	}
}

static void text_factors(const struct render_page *page, const struct experiment *x,
                         const struct host_probes *probes)
{
	fputs("\nfactors (* default level)\n", page->out);
	for (size_t i = 0; i < x->factor_count; i++) {
		const struct experiment_factor *f = &x->factors[i];
		char *levels = levels_text(f);

		fprintf(page->out, "  %-9s ", f->name);
		render_page_wrap(page, strlen(f->name) > 9 ? (int)strlen(f->name) + 3 : 12, 12,
		                 levels);
		if (f->doc && *f->doc) {
			fputs("            ", page->out);
			render_page_wrap(page, 12, 12, f->doc);
		}
		text_missing(page, x, i, probes);
		free(levels);
	}
}

static void text_excludes(const struct render_page *page, const struct experiment *x)
{
	if (x->exclude_count)
		fputs("\nno such variants\n", page->out);
	for (size_t i = 0; i < x->exclude_count; i++) {
		char *when = show_condition(x, &x->excludes[i].when);
		char *line = memory_format("%s%s%s", when, *x->excludes[i].why ? ": " : "",
		                           x->excludes[i].why);

		fputs("  ", page->out);
		render_page_wrap(page, 2, 4, line);
		free(line);
		free(when);
	}
}

/* Lines of notes flow into paragraphs; an empty one ends a paragraph. */
static void text_notes(const struct render_page *page, const char *doc)
{
	if (doc && *doc)
		fputc('\n', page->out);
	while (doc && *doc) {
		const char *end = strstr(doc, "\n\n");
		size_t n = end ? (size_t)(end - doc) : strlen(doc);
		char *paragraph = memory_copy_part(doc, n);

		for (char *p = paragraph; (p = strchr(p, '\n'));)
			*p = ' ';
		render_page_say(page, 0, NULL, paragraph);
		doc += n;
		doc += strspn(doc, "\n");
		if (*doc)
			fputc('\n', page->out);
	}
}

/* What stands behind the key in a header line of the file. */
static char *header_value(const struct experiment *x, unsigned line)
{
	const char *p = x->text;
	size_t key, n;

	while (--line && (p = strchr(p, '\n')))
		p++;
	if (!p)
		return memory_copy("");
	p += strspn(p, " \t");
	p += 2; /* "#:" */
	p += strspn(p, " \t");
	key = strcspn(p, " \t\n");
	p += key + strspn(p + key, " \t");
	n = strcspn(p, "|\n");
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return memory_copy_part(p, n);
}

static void text_repeat(const struct render_page *page, const struct experiment *x)
{
	char *copies = x->copies > 1 ? memory_format("%s, %u copies a turn",
	                                             experiment_repeat_name[x->repeat], x->copies)
	                             : memory_copy(experiment_repeat_name[x->repeat]);

	/* forms that hold on a condition, as the file has them */
	for (size_t i = x->repeat_count; i-- > 0;) {
		char *line = header_value(x, x->repeats[i].line);
		char *longer = memory_format("%s; %s%s", line,
		                             i + 1 == x->repeat_count ? "else " : "", copies);

		free(copies);
		copies = longer;
		free(line);
	}
	text_key(page, "repeat", copies);
	free(copies);
}

static void show_text(const struct experiment *x, const struct host_probes *probes, FILE *out)
{
	struct render_style style = render_style_for(out);
	struct render_page page = render_page_on(&style, out);
	char *source = render_page_clean(&page, x->text, true);

	fprintf(out, "%s: ", x->name);
	render_page_wrap(&page, (int)strlen(x->name) + 2, 2, x->title);
	text_key(&page, "source", x->source);
	text_key(&page, "group", x->group);
	text_abis(&page, x);
	text_repeat(&page, x);
	text_key(&page, "file", x->path);
	text_notes(&page, x->doc);
	text_factors(&page, x, probes);
	text_excludes(&page, x);
	fprintf(out, "\n%s%s", source, *source && source[strlen(source) - 1] == '\n' ? "" : "\n");
	free(source);
}

/* Calls each level of a factor; a range has its defaults here, and its bounds elsewhere. */
static char *const *factor_levels(const struct experiment_factor *f, size_t *n)
{
	*n = f->range ? f->default_count : f->level_count;
	return f->range ? f->defaults : f->levels;
}

static json_t *json_level(const struct experiment *x, size_t factor, const char *level,
                          const struct host_probes *probes)
{
	const struct experiment_factor *f = &x->factors[factor];
	json_t *o = json_object(), *missing = json_object();

	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		const char *why;

		if (!factor_has_abi(x, factor, level, abi))
			continue;
		why = show_level_missing(x, factor, level, (enum experiment_abi)abi, probes);
		if (why)
			json_object_set_new(missing, experiment_abi_name[abi],
			                    render_json_text(why));
	}
	json_object_set_new(o, "level", render_json_text(level));
	json_object_set_new(o, "default",
	                    json_boolean(words_hold(f->defaults, f->default_count, level)));
	json_object_set_new(o, "missing", missing);
	return o;
}

static json_t *json_factor(const struct experiment *x, size_t factor,
                           const struct host_probes *probes)
{
	const struct experiment_factor *f = &x->factors[factor];
	json_t *o = json_object(), *levels = json_array();
	size_t n;
	char *const *names = factor_levels(f, &n);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(levels, json_level(x, factor, names[i], probes));
	json_object_set_new(o, "factor", render_json_text(f->name));
	json_object_set_new(o, "doc", render_json_text(f->doc));
	if (f->range) {
		json_object_set_new(o, "lo", json_integer(f->lo));
		json_object_set_new(o, "hi", json_integer(f->hi));
	}
	json_object_set_new(o, "levels", levels);
	return o;
}

static void show_jsonl(const struct experiment *x, const struct host_probes *probes, FILE *out)
{
	json_t *o = json_object(), *factors = json_array(), *excludes = json_array();

	for (size_t i = 0; i < x->factor_count; i++)
		json_array_append_new(factors, json_factor(x, i, probes));
	for (size_t i = 0; i < x->exclude_count; i++) {
		char *when = show_condition(x, &x->excludes[i].when);
		json_t *e = json_object();

		json_object_set_new(e, "when", render_json_text(when));
		json_object_set_new(e, "why", render_json_text(x->excludes[i].why));
		json_array_append_new(excludes, e);
		free(when);
	}
	json_object_set_new(o, "kind", json_string("experiment"));
	json_object_set_new(o, "experiment", render_json_text(x->name));
	json_object_set_new(o, "title", render_json_text(x->title));
	json_object_set_new(o, "source", render_json_text(x->source));
	json_object_set_new(o, "group", render_json_text(x->group));
	json_object_set_new(o, "note", render_json_text(x->doc));
	json_object_set_new(o, "repeat", json_string(experiment_repeat_name[x->repeat]));
	json_object_set_new(o, "copies", json_integer(x->copies > 1 ? x->copies : 1));
	json_object_set_new(o, "path", render_json_text(x->path));
	json_object_set_new(o, "factors", factors);
	json_object_set_new(o, "excludes", excludes);
	json_object_set_new(o, "text", render_json_text(x->text));
	render_json_line(out, o);
}

static void csv_level(const struct experiment *x, size_t factor, const char *level,
                      const struct host_probes *probes, FILE *out)
{
	const struct experiment_factor *f = &x->factors[factor];

	for (int abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		const char *why;

		if (!factor_has_abi(x, factor, level, abi))
			continue;
		why = show_level_missing(x, factor, level, (enum experiment_abi)abi, probes);
		render_csv_text(out, true, f->name);
		render_csv_text(out, false, level);
		render_csv_text(out, false,
		                words_hold(f->defaults, f->default_count, level) ? "yes" : "no");
		render_csv_text(out, false, experiment_abi_name[abi]);
		render_csv_text(out, false, why ? "no" : "yes");
		render_csv_text(out, false, why);
		render_csv_end(out);
	}
}

static void show_csv(const struct experiment *x, const struct host_probes *probes, FILE *out)
{
	fputs("factor,level,default,abi,possible,reason", out);
	render_csv_end(out);
	for (size_t i = 0; i < x->factor_count; i++) {
		size_t n;
		char *const *names = factor_levels(&x->factors[i], &n);

		for (size_t j = 0; j < n; j++)
			csv_level(x, i, names[j], probes, out);
	}
}

void show_experiment(const struct experiment *x, const struct host_probes *probes,
                     enum render_format format, FILE *out)
{
	switch (format) {
	case RENDER_TEXT:
		show_text(x, probes, out);
		break;
	case RENDER_JSONL:
		show_jsonl(x, probes, out);
		break;
	case RENDER_CSV:
		show_csv(x, probes, out);
		break;
	case RENDER_FORMATS:
		break;
	}
}
