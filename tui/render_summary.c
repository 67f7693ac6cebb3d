#include "tui/render_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/render_figure.h"
#include "tui/render_text.h"

enum {
	ALL_PAIRS_LEVELS =
	        4, /* up to so many levels, each is held against each; else against the first */
	ALL_PAIRS_ROWS = 64, /* the same for rows: Holm's correction grows with every pair */
	SAID_LEVELS = 8,     /* up to so many levels, each has its sentence */
};

/* What is never called, however sure: cycles, and share of the level (entrylab-method(7),
 * "Verdicts"). */
static const double LEAST_CYCLES = 0.02;
static const double LEAST_SHARE = 0.0005;
/* Pairs that agree this well are told as one figure. */
static const double AGREE_SHARE = 0.01;
/* "would have been seen": in this share of runs. */
static const double POWER = 0.9;

/* One factor changed in one place, all else equal. */
struct effect {
	size_t factor, from, to;    /* levels by number */
	struct stats_interval diff; /* cycles, `to` minus `from` */
	double p, p_holm, half, least;
	bool able; /* so few placements cannot reach the level at all */
};

/* The levels of a factor that rows have, the base's (if all bases share one) first. */
struct levels {
	const char **names;
	size_t count;
};

struct summary {
	const struct render_page *page;
	const struct result_run *run;
	struct levels *levels; /* one a factor; none for factors that do not vary */
	struct effect *effects;
	size_t count, room;
	bool several_factors;
};

static bool measured(const struct result_row *row)
{
	return row->state == RESULT_MEASURED && isfinite(row->cycles.est);
}

static size_t level_find(const struct levels *l, const char *name)
{
	size_t i = 0;

	while (i < l->count && strcmp(l->names[i], name) != 0)
		i++;
	return i;
}

/* The level that every base has, or NULL. */
static const char *base_level(const struct result_run *run, size_t factor)
{
	const char *level = NULL;

	for (size_t i = 0; i < run->row_count; i++) {
		if (run->rows[i].base != (long)i)
			continue;
		if (level && strcmp(level, run->rows[i].levels[factor]) != 0)
			return NULL;
		level = run->rows[i].levels[factor];
	}
	return level;
}

static struct levels levels_new(const struct result_run *run, size_t factor)
{
	struct levels l = {.names = memory_get((run->row_count + 1) * sizeof *l.names)};
	const char *first = base_level(run, factor);

	if (first)
		l.names[l.count++] = first;
	for (size_t i = 0; i < run->row_count; i++)
		if (level_find(&l, run->rows[i].levels[factor]) == l.count)
			l.names[l.count++] = run->rows[i].levels[factor];
	return l;
}

/* A row under the levels of all factors but one. */
struct keyed {
	char *key;
	size_t row, level;
};

static int keyed_compare(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	return (a->level > b->level) - (a->level < b->level);
}

/* Rows that can be paired, sorted so that those equal in all but the factor stand together. The
 * number of placements is in the key: only rows measured in the same blocks have the same. */
static struct keyed *keys_new(const struct summary *s, size_t factor, size_t *n)
{
	const struct result_run *run = s->run;
	struct keyed *keys = memory_get((run->row_count + 1) * sizeof *keys);

	*n = 0;
	for (size_t i = 0; i < run->row_count; i++) {
		const struct result_row *row = &run->rows[i];
		char *key, *longer;

		if (!measured(row) || row->placement_count == 0)
			continue;
		key = memory_format("%zu %u", row->placement_count, row->workers);
		for (size_t f = 0; f < run->factor_count; f++) {
			if (f == factor)
				continue;
			longer = memory_format("%s %s", key, row->levels[f]);
			free(key);
			key = longer;
		}
		keys[(*n)++] =
		        (struct keyed){key, i, level_find(&s->levels[factor], row->levels[factor])};
	}
	qsort(keys, *n, sizeof *keys, keyed_compare);
	return keys;
}

static void effect_add(struct summary *s, size_t factor, const struct keyed *from,
                       const struct keyed *to)
{
	const struct result_row *a = &s->run->rows[from->row], *b = &s->run->rows[to->row];
	double *d = memory_get(a->placement_count * sizeof *d);
	struct effect e = {.factor = factor, .from = from->level, .to = to->level};
	size_t n = 0;

	for (size_t i = 0; i < a->placement_count; i++)
		if (isfinite(a->placements[i]) && isfinite(b->placements[i]))
			d[n++] = b->placements[i] - a->placements[i];
	if (n > 0) {
		e.diff = stats_hodges_lehmann(d, n, s->run->confidence);
		e.p = stats_wilcoxon(d, n);
		e.half = render_figure_half(&e.diff);
		e.least = fmax(LEAST_CYCLES, LEAST_SHARE * fabs(a->cycles.est));
		e.able = isfinite(e.half) && stats_wilcoxon_floor(n) <= s->run->alpha;
	}
	free(d);
	if (!e.able)
		e.p = NAN; /* does not count in the correction */
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->effects = memory_grow(s->effects, s->room, sizeof *s->effects);
	}
	s->effects[s->count++] = e;
}

static void collect(struct summary *s, size_t factor)
{
	size_t n;
	struct keyed *keys = keys_new(s, factor, &n);
	bool all =
	        s->levels[factor].count <= ALL_PAIRS_LEVELS && s->run->row_count <= ALL_PAIRS_ROWS;

	for (size_t begin = 0, end; begin < n; begin = end) {
		end = begin + 1;
		while (end < n && strcmp(keys[begin].key, keys[end].key) == 0)
			end++;
		for (size_t from = begin; from < end && (all || from == begin); from++) {
			if (!all && keys[from].level != 0)
				continue;
			for (size_t to = from + 1; to < end; to++)
				effect_add(s, factor, &keys[from], &keys[to]);
		}
	}
	for (size_t i = 0; i < n; i++)
		free(keys[i].key);
	free(keys);
}

static size_t correct(struct summary *s)
{
	double *p = memory_get((s->count + 1) * sizeof *p);
	size_t able = 0;

	for (size_t i = 0; i < s->count; i++) {
		p[i] = s->effects[i].p;
		able += s->effects[i].able;
	}
	stats_holm(p, p, s->count);
	for (size_t i = 0; i < s->count; i++)
		s->effects[i].p_holm = p[i];
	free(p);
	return able;
}

static bool called(const struct summary *s, const struct effect *e)
{
	return e->able && e->p_holm <= s->run->alpha && fabs(e->diff.est) >= e->least &&
	       (e->diff.lo > 0 || e->diff.hi < 0);
}

/* Effects of one kind between two levels, or between a level and all others. */
struct tally {
	size_t count;
	double least, most; /* of the estimates, without sign */
	double lo, hi;      /* of the intervals, without sign */
	double half, seen;  /* widest; largest that may have been missed */
};

struct tallies {
	struct tally more, less, none;
	size_t total, unable;
};

static void tally_add(struct tally *t, const struct effect *e, double sign, double seen)
{
	double est = sign * e->diff.est, lo = sign * e->diff.lo, hi = sign * e->diff.hi;

	if (t->count++ == 0)
		*t = (struct tally){1, est, est, fmin(lo, hi), fmax(lo, hi), e->half, seen};
	t->least = fmin(t->least, est);
	t->most = fmax(t->most, est);
	t->lo = fmin(t->lo, fmin(lo, hi));
	t->hi = fmax(t->hi, fmax(lo, hi));
	t->half = fmax(t->half, e->half);
	t->seen = fmax(t->seen, seen);
}

/* to == 0: any level against the first. */
static struct tallies tally_up(const struct summary *s, size_t factor, size_t from, size_t to,
                               size_t able)
{
	struct tallies t = {0};
	double alpha = s->run->alpha / (double)(able ? able : 1);

	for (size_t i = 0; i < s->count; i++) {
		const struct effect *e = &s->effects[i];

		if (e->factor != factor || e->from != from || (to && e->to != to))
			continue;
		t.total++;
		if (!e->able)
			t.unable++;
		else if (!called(s, e))
			tally_add(&t.none, e, e->diff.est < 0 ? -1 : 1,
			          fmax(e->least, stats_detectable(e->half, s->run->confidence,
			                                          alpha, POWER)));
		else
			tally_add(e->diff.est > 0 ? &t.more : &t.less, e, e->diff.est > 0 ? 1 : -1,
			          0);
	}
	return t;
}

/* Appends malloc'ed part to *text. */
static void add(char **text, char *part)
{
	char *longer = memory_format("%s%s", *text, part);

	free(part);
	free(*text);
	*text = longer;
}

static void add_share(char **text, size_t count, size_t total)
{
	if (total > 1)
		add(text, memory_format(" in %zu of %zu pairs", count, total));
}

/* "136.8 cycles more than tls (136.5 to 137.0), in 2 of 2 pairs"; a range where the pairs do not
 * agree. */
static void add_called(char **text, const struct tally *t, const char *way, size_t total)
{
	int decimals = render_figure_decimals(t->half);
	double agree = fmax(2 * t->half, AGREE_SHARE * t->most);
	char a[32], b[32], c[32];

	if (t->most - t->least > agree) {
		render_figure_number(a, t->least, decimals, false);
		render_figure_number(b, t->most, decimals, false);
		add(text, memory_format("%s to %s cycles %s", a, b, way));
	} else {
		render_figure_number(a, (t->least + t->most) / 2, decimals, false);
		render_figure_number(b, t->lo, decimals, false);
		render_figure_number(c, t->hi, decimals, false);
		add(text, memory_format("%s cycles %s (%s to %s)", a, way, b, c));
	}
	if (total > 1)
		add(text, memory_copy(","));
	add_share(text, t->count, total);
}

/* "no difference in 3 of 3 pairs (largest 0.02 cycles; at least 0.15 would have been seen)" */
static void add_none(char **text, const struct tally *t, size_t total)
{
	char most[32], seen[32];

	render_figure_number(most, t->most, render_figure_decimals(t->half), false);
	render_figure_number(seen, t->seen, render_figure_decimals(t->seen), false);
	add(text, memory_copy("no difference"));
	add_share(text, t->count, total);
	add(text, memory_format(" (%s%s cycles; at least %s would have been seen)",
	                        t->count > 1 ? "largest " : "", most, seen));
}

static void say_tallies(const struct summary *s, const struct tallies *t, char *text,
                        const char *to, const char *from)
{
	bool any = t->more.count + t->less.count > 0;
	char *more = memory_format("more than %s", from),
	     *less = memory_format("less than %s", from);

	if (any) {
		add(&text, memory_format("%s costs ", to));
		if (t->more.count)
			add_called(&text, &t->more, more, t->total);
		if (t->more.count && t->less.count)
			add(&text, memory_copy("; "));
		if (t->less.count)
			add_called(&text, &t->less, less, t->total);
		if (t->none.count)
			add(&text, memory_copy("; "));
	} else {
		add(&text, memory_format("%s against %s%s: ", to, from,
		                         s->several_factors ? ", all else equal" : ""));
	}
	if (t->none.count)
		add_none(&text, &t->none, t->total);
	if (t->unable) {
		if (any || t->none.count)
			add(&text, memory_copy("; "));
		add(&text, memory_copy("too few placements to tell"));
		add_share(&text, t->unable, t->total);
	}
	render_page_say(s->page, 2, NULL, text);
	free(more);
	free(less);
}

static void say_factor(const struct summary *s, size_t factor, size_t able)
{
	const struct levels *l = &s->levels[factor];
	const char *name = s->run->factors[factor].name;
	struct tallies t;

	if (factor == 0) {
		render_page_say(
		        s->page, 2, NULL,
		        memory_format("- %s: each has workers and placements of its own, so its "
		                      "levels are not held against each other here",
		                      name));
		return;
	}
	if (l->count > SAID_LEVELS) {
		char *others = memory_format("each of the %zu others", l->count - 1);

		t = tally_up(s, factor, 0, 0, able);
		if (t.total)
			say_tallies(s, &t, memory_format("- %s: ", name), others, l->names[0]);
		free(others);
		return;
	}
	for (size_t from = 0; from < l->count; from++) {
		for (size_t to = from + 1; to < l->count; to++) {
			t = tally_up(s, factor, from, to, able);
			if (t.total)
				say_tallies(s, &t, memory_format("- %s: ", name), l->names[to],
				            l->names[from]);
		}
	}
}

/* The ends of the table, and what is missing in it. */
static void say_range(const struct summary *s)
{
	const struct result_row *least = NULL, *most = NULL;
	size_t count = 0, missing = s->run->row_count;
	struct render_figure low, high;
	char *low_label, *high_label;

	for (size_t i = 0; i < s->run->row_count; i++) {
		const struct result_row *row = &s->run->rows[i];

		if (!measured(row))
			continue;
		count++;
		least = !least || row->cycles.est < least->cycles.est ? row : least;
		most = !most || row->cycles.est > most->cycles.est ? row : most;
	}
	missing -= count;
	if (count > 1) {
		low_label = render_text_label(s->run, least);
		high_label = render_text_label(s->run, most);
		render_figure_interval(&low, &least->cycles, false);
		render_figure_interval(&high, &most->cycles, false);
		render_page_say(s->page, 2, NULL,
		                memory_format("- %zu variants, from %s cycles (%s) to %s (%s)",
		                              count, low.est, low_label, high.est, high_label));
		free(low_label);
		free(high_label);
	}
	if (missing)
		render_page_say(s->page, 2, NULL,
		                memory_format("- %zu variant%s no figures; the table says why",
		                              missing, missing == 1 ? " has" : "s have"));
}

void render_summary_text(const struct render_page *page, const struct result_run *run)
{
	struct summary s = {
	        .page = page,
	        .run = run,
	        .levels = memory_get((run->factor_count + 1) * sizeof *s.levels),
	};
	size_t varying = 0, able;

	if (!run->trusted) {
		free(s.levels);
		return;
	}
	for (size_t f = 0; f < run->factor_count; f++) {
		if (!run->factors[f].varies)
			continue;
		varying++;
		s.levels[f] = levels_new(run, f);
		if (f > 0) /* ABIs never share a placement */
			collect(&s, f);
	}
	s.several_factors = varying > 1;
	able = correct(&s);
	say_range(&s);
	for (size_t f = 0; f < run->factor_count; f++)
		if (run->factors[f].varies)
			say_factor(&s, f, able);
	for (size_t f = 0; f < run->factor_count; f++)
		free(s.levels[f].names);
	free(s.levels);
	free(s.effects);
}
