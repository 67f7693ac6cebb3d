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
	SPLIT_GROUPS = 3,    /* by cost, a sentence has up to so many groups */
	WHERE_LENGTH = 48,   /* bytes that the description of a group may take: a longer one tells
	                        no more than a count */
};

/* What is never called, however sure: cycles, and share of the level (entrylab-method(7),
 * "Verdicts"). */
static const double LEAST_CYCLES = 0.02;
static const double LEAST_SHARE = 0.0005;
/* Pairs that agree this well are told as one figure. */
static const double AGREE_SHARE = 0.01;
/* Pairs that are further apart than both may be told as groups: cycles, share of the cost. */
static const double APART_CYCLES = 1;
static const double APART_SHARE = 0.05;
/* "would have been seen": in this share of runs. */
static const double POWER = 0.9;

enum outcome { MORE, LESS, NONE, UNABLE, OUTCOMES };

/* One factor changed in one place, all else equal. */
struct effect {
	size_t factor, from, to; /* levels by number */
	size_t row;              /* of either side: its levels but for the factor's are the place */
	struct stats_interval diff; /* cycles, `to` minus `from` */
	double p, half, least;
	size_t placements;
	double seen;          /* cycles: the smallest difference that would have been seen */
	enum outcome outcome; /* UNABLE: so few placements cannot reach the level at all */
};

/* The levels of a factor that rows have, the base's (if all bases share one) first. */
struct levels {
	const char **names;
	size_t count;
	size_t *of; /* number of each row's level */
};

struct summary {
	const struct render_page *page;
	const struct result_run *run;
	struct levels *levels; /* one a factor; none for factors that do not vary */
	struct effect *effects;
	size_t count, room;
};

static bool measured(const struct result_row *row)
{
	return row->state == RESULT_MEASURED && isfinite(row->cycles.est);
}

/* Nothing is executed. A record may lack both size and sum: then it is not known. */
static bool empty(const struct result_row *row)
{
	return row->code_bytes == 0 && row->sha256[0];
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
	struct levels l = {
	        .names = memory_get((run->row_count + 1) * sizeof *l.names),
	        .of = memory_get((run->row_count + 1) * sizeof *l.of),
	};
	const char *first = base_level(run, factor);

	if (first)
		l.names[l.count++] = first;
	for (size_t i = 0; i < run->row_count; i++) {
		l.of[i] = level_find(&l, run->rows[i].levels[factor]);
		if (l.of[i] == l.count)
			l.names[l.count++] = run->rows[i].levels[factor];
	}
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
		keys[(*n)++] = (struct keyed){key, i, s->levels[factor].of[i]};
	}
	qsort(keys, *n, sizeof *keys, keyed_compare);
	return keys;
}

static void effect_add(struct summary *s, size_t factor, const struct keyed *from,
                       const struct keyed *to)
{
	const struct result_row *a = &s->run->rows[from->row], *b = &s->run->rows[to->row];
	struct effect e = {.factor = factor,
	                   .from = from->level,
	                   .to = to->level,
	                   .row = to->row,
	                   .p = NAN, /* does not count in the correction */
	                   .outcome = UNABLE};
	double *d;
	size_t n = 0;

	if (empty(a) && empty(b))
		return;
	d = memory_get(a->placement_count * sizeof *d);
	for (size_t i = 0; i < a->placement_count; i++)
		if (isfinite(a->placements[i]) && isfinite(b->placements[i]))
			d[n++] = b->placements[i] - a->placements[i];
	if (n > 0 && stats_wilcoxon_floor(n) <= s->run->alpha) {
		e.diff = stats_hodges_lehmann(d, n, s->run->confidence);
		e.placements = n;
		e.half = render_figure_half(&e.diff);
		e.least = fmax(LEAST_CYCLES, LEAST_SHARE * fabs(a->cycles.est));
		if (isfinite(e.half)) {
			e.p = stats_wilcoxon(d, n);
			e.outcome = NONE;
		}
	}
	free(d);
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->effects = memory_grow(s->effects, s->room, sizeof *s->effects);
	}
	s->effects[s->count++] = e;
}

/* Whether each level is held against each; else against the first. */
static bool all_pairs(const struct summary *s, size_t factor)
{
	return s->levels[factor].count <= ALL_PAIRS_LEVELS && s->run->row_count <= ALL_PAIRS_ROWS;
}

static void collect(struct summary *s, size_t factor)
{
	size_t n;
	struct keyed *keys = keys_new(s, factor, &n);
	bool all = all_pairs(s, factor);

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

/* What is found, once all pairs are there: their number is in every verdict. */
static void judge(struct summary *s)
{
	double *p = memory_get((s->count + 1) * sizeof *p), alpha;
	size_t able = 0;

	for (size_t i = 0; i < s->count; i++) {
		p[i] = s->effects[i].p;
		able += s->effects[i].outcome != UNABLE;
	}
	stats_holm(p, p, s->count);
	alpha = s->run->alpha / (double)(able ? able : 1);
	for (size_t i = 0; i < s->count; i++) {
		struct effect *e = &s->effects[i];

		if (e->outcome == UNABLE)
			continue;
		e->seen = fmax(e->least, stats_detectable(e->half, e->placements,
		                                          s->run->confidence, alpha, POWER));
		if (p[i] <= s->run->alpha && fabs(e->diff.est) >= e->least &&
		    (e->diff.lo > 0 || e->diff.hi < 0))
			e->outcome = e->diff.est > 0 ? MORE : LESS;
	}
	free(p);
}

static double cost(const struct effect *e)
{
	return fabs(e->diff.est);
}

static struct effect turned(struct effect e)
{
	size_t from = e.from;

	e.from = e.to;
	e.to = from;
	e.diff = (struct stats_interval){-e.diff.est, -e.diff.hi, -e.diff.lo};
	e.outcome = e.outcome == MORE ? LESS : e.outcome == LESS ? MORE : e.outcome;
	return e;
}

/* ---- levels that are told as one ---- */

struct outcomes {
	size_t of[OUTCOMES], total;
};

/* What changing each level to each other did, as they are numbered: from * levels + to. */
static struct outcomes *outcomes_new(const struct summary *s, size_t factor)
{
	size_t levels = s->levels[factor].count;
	struct outcomes *table = memory_get((levels * levels + 1) * sizeof *table);

	for (size_t i = 0; i < s->count; i++) {
		const struct effect *e = &s->effects[i];
		struct outcomes *there, *back;

		if (e->factor != factor)
			continue;
		there = &table[e->from * levels + e->to];
		there->of[e->outcome]++;
		there->total++;
		back = &table[e->to * levels + e->from];
		back->of[turned(*e).outcome]++;
		back->total++;
	}
	return table;
}

/* Whether two levels can stand for each other: no difference between them anywhere (between either
 * and the first, where all are held against that alone), and the same outcomes against all others.
 */
static bool levels_alike(const struct summary *s, size_t factor, const struct outcomes *table,
                         size_t a, size_t b)
{
	size_t levels = s->levels[factor].count;
	const struct outcomes *o = &table[(all_pairs(s, factor) ? a : 0) * levels + b];

	if (o->total == 0 || o->of[NONE] < o->total)
		return false;
	for (size_t other = 0; other < levels; other++) {
		const struct outcomes *against = &table[other * levels];

		if (other != a && other != b && memcmp(&against[a], &against[b], sizeof *o) != 0)
			return false;
	}
	return true;
}

/* The set that each level is told in, numbered by their first levels. Many levels are two sets: the
 * first level and the others. */
static size_t *sets_new(const struct summary *s, size_t factor, size_t *count)
{
	size_t levels = s->levels[factor].count;
	size_t *set_of = memory_get((levels + 1) * sizeof *set_of);
	struct outcomes *table;

	*count = 2;
	if (levels > SAID_LEVELS) {
		for (size_t l = 1; l < levels; l++)
			set_of[l] = 1;
		return set_of;
	}
	table = outcomes_new(s, factor);
	*count = 0;
	for (size_t l = 0; l < levels; l++) {
		size_t set = 0, k = 0;

		for (; set < *count; set++) {
			for (k = 0; k < l; k++)
				if (set_of[k] == set && !levels_alike(s, factor, table, k, l))
					break;
			if (k == l)
				break;
		}
		set_of[l] = set;
		if (set == *count)
			(*count)++;
	}
	free(table);
	return set_of;
}

/* ---- groups of pairs ---- */

/* Pairs that came out alike, a part of an array sorted by outcome and cost. */
struct group {
	const struct effect *pairs;
	size_t count;
	char *where; /* the levels that set it apart: "abi=i386 outer=tls"; NULL: none do */
	bool rest;   /* the one group, and the last, that nothing sets apart */
};

struct groups {
	struct group items[OUTCOMES];
	size_t count;
	const struct effect *pairs; /* of all */
	size_t total;
};

static int pairs_compare(const void *x, const void *y)
{
	const struct effect *a = x, *b = y;

	if (a->outcome != b->outcome)
		return a->outcome < b->outcome ? -1 : 1;
	return (cost(a) > cost(b)) - (cost(a) < cost(b));
}

/* The pairs that lead from one set of levels to another, or within one, sorted. */
static struct effect *pairs_new(const struct summary *s, size_t factor, const size_t *set_of,
                                size_t from, size_t to, size_t *n)
{
	struct effect *pairs = memory_get((s->count + 1) * sizeof *pairs);

	*n = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct effect *e = &s->effects[i];

		if (e->factor != factor)
			continue;
		if (set_of[e->from] == from && set_of[e->to] == to)
			pairs[(*n)++] = *e;
		else if (set_of[e->from] == to && set_of[e->to] == from)
			pairs[(*n)++] = turned(*e);
	}
	qsort(pairs, *n, sizeof *pairs, pairs_compare);
	return pairs;
}

static bool outcomes_differ(const struct effect *a, const struct effect *b)
{
	return a->outcome != b->outcome;
}

static double slack(double cycles)
{
	return fmax(APART_CYCLES, APART_SHARE * cycles);
}

static bool costs_differ(const struct effect *a, const struct effect *b)
{
	return outcomes_differ(a, b) || (a->outcome <= LESS && cost(b) - cost(a) > slack(cost(a)));
}

/* Cuts wherever neighbours are apart. False if that makes more groups than there may be. */
static bool groups_cut(struct groups *g, const struct effect *pairs, size_t n, size_t most,
                       bool (*apart)(const struct effect *, const struct effect *))
{
	*g = (struct groups){.pairs = pairs, .total = n};
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || apart(&pairs[i - 1], &pairs[i])) {
			if (g->count == most)
				return false;
			g->items[g->count++].pairs = &pairs[i];
		}
		g->items[g->count - 1].count++;
	}
	return true;
}

/* Whether every pair that costs something is near its group's median. */
static bool groups_are_narrow(const struct groups *g)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct effect *pairs = g->items[i].pairs;
		size_t n = g->items[i].count;
		double median = (cost(&pairs[(n - 1) / 2]) + cost(&pairs[n / 2])) / 2;

		if (pairs->outcome <= LESS && (median - cost(&pairs[0]) > slack(median) ||
		                               cost(&pairs[n - 1]) - median > slack(median)))
			return false;
	}
	return true;
}

/* Which levels of a factor occur in the pairs: one bool a level. */
static bool *levels_in(const struct summary *s, size_t factor, const struct effect *pairs, size_t n)
{
	bool *in = memory_get((s->levels[factor].count + 1) * sizeof *in);

	for (size_t i = 0; i < n; i++)
		in[s->levels[factor].of[pairs[i].row]] = true;
	return in;
}

/* How many pairs have, of each factor, one of the levels given (NULL: any). */
static size_t pairs_count(const struct summary *s, bool *const *in, const struct effect *pairs,
                          size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		size_t f = 0;

		while (f < s->run->factor_count && (!in[f] || in[f][s->levels[f].of[pairs[i].row]]))
			f++;
		count += f == s->run->factor_count;
	}
	return count;
}

/* Appends malloc'ed part to *text. */
static void add(char **text, char *part)
{
	char *longer = memory_format("%s%s", *text, part);

	free(part);
	free(*text);
	*text = longer;
}

/* "abi=i386 outer=null,data" */
static char *where_text(const struct summary *s, bool *const *in)
{
	char *text = memory_copy("");

	for (size_t f = 0; f < s->run->factor_count; f++) {
		char mark = '=';

		if (!in[f])
			continue;
		add(&text, memory_format("%s%s", *text ? " " : "", s->run->factors[f].name));
		for (size_t l = 0; l < s->levels[f].count; l++) {
			if (!in[f][l])
				continue;
			add(&text, memory_format("%c%s", mark, s->levels[f].names[l]));
			mark = ',';
		}
	}
	return text;
}

/* What sets a group apart: of each other factor that varies the levels that occur in it, if they
 * are not all; less those factors that tell nothing more. NULL if other pairs have the same. */
static char *group_where(const struct summary *s, const struct groups *g, const struct group *group)
{
	size_t factors = s->run->factor_count;
	bool **in = memory_get((factors + 1) * sizeof *in);
	char *text = NULL;

	for (size_t f = 0; f < factors; f++)
		if (s->run->factors[f].varies && f != g->pairs->factor)
			in[f] = levels_in(s, f, group->pairs, group->count);
	if (pairs_count(s, in, g->pairs, g->total) == group->count) {
		for (size_t f = factors; f-- > 0;) {
			bool *levels = in[f];

			in[f] = NULL;
			if (pairs_count(s, in, g->pairs, g->total) != group->count)
				in[f] = levels;
			else
				free(levels);
		}
		text = where_text(s, in);
		if (strlen(text) > WHERE_LENGTH) {
			free(text);
			text = NULL;
		}
	}
	for (size_t f = 0; f < factors; f++)
		free(in[f]);
	free(in);
	return text;
}

/* Describes the groups, if there are several. If a single one cannot be, it goes last, as what is
 * left. Returns how many could not. */
static size_t groups_describe(const struct summary *s, struct groups *g)
{
	size_t missing = 0, at = 0;

	if (g->count < 2)
		return 0;
	for (size_t i = 0; i < g->count; i++) {
		g->items[i].where = group_where(s, g, &g->items[i]);
		if (!g->items[i].where) {
			missing++;
			at = i;
		}
	}
	if (missing == 1) {
		struct group rest = g->items[at];

		memmove(&g->items[at], &g->items[at + 1], (g->count - at - 1) * sizeof *g->items);
		rest.rest = true;
		g->items[g->count - 1] = rest;
	}
	return missing;
}

static void groups_free(struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->items[i].where);
}

/* By what they cost, if that is told in few words; else by whether they cost more, less or the
 * same. */
static struct groups groups_new(const struct summary *s, const struct effect *pairs, size_t n)
{
	struct groups g;

	if (groups_cut(&g, pairs, n, SPLIT_GROUPS, costs_differ) && groups_are_narrow(&g)) {
		if (groups_describe(s, &g) <= 1)
			return g;
		groups_free(&g);
	}
	groups_cut(&g, pairs, n, OUTCOMES, outcomes_differ);
	groups_describe(s, &g);
	return g;
}

/* ---- sentences ---- */

/* What a sentence is about, and how far it has come. */
struct sentence {
	char *text;
	char *from, *to;
	bool many;  /* `to` is several levels */
	bool named; /* from and to are in the text */
	bool verb;  /* so is what `to` costs */
};

struct tally {
	double least, most; /* of the costs */
	double lo, hi;      /* of the intervals, without sign */
	double half, seen;  /* widest; largest that may have been missed */
};

static struct tally tally_up(const struct group *group)
{
	struct tally t = {.least = INFINITY, .lo = INFINITY, .hi = -INFINITY};

	for (size_t i = 0; i < group->count; i++) {
		const struct effect *e = &group->pairs[i];
		bool below = e->diff.est < 0;

		t.least = fmin(t.least, cost(e));
		t.most = fmax(t.most, cost(e));
		t.lo = fmin(t.lo, below ? -e->diff.hi : e->diff.lo);
		t.hi = fmax(t.hi, below ? -e->diff.lo : e->diff.hi);
		t.half = fmax(t.half, e->half);
		t.seen = fmax(t.seen, e->seen);
	}
	return t;
}

/* "none, fs or gs" */
static char *set_text(const struct summary *s, size_t factor, const size_t *set_of, size_t set,
                      const char *link)
{
	const struct levels *l = &s->levels[factor];
	char *text = memory_copy("");
	size_t left = 0;

	for (size_t i = 0; i < l->count; i++)
		left += set_of[i] == set;
	for (size_t i = 0; i < l->count; i++) {
		if (set_of[i] != set)
			continue;
		left--;
		add(&text, memory_copy(l->names[i]));
		if (left > 0)
			add(&text, memory_copy(left > 1 ? ", " : link));
	}
	return text;
}

/* " with abi=i386", " in 6 of 18 pairs": where a group is. A comma sets a count off from figures.
 */
static void add_where(char **text, const struct groups *g, const struct group *group)
{
	bool figures = group->pairs->outcome <= LESS;
	const char *comma = figures ? "," : "";

	if (group->where)
		add(text, memory_format(" with %s", group->where));
	else if (group->rest || g->total == 1)
		return;
	else if (group->count < g->total)
		add(text, memory_format("%s in %zu of %zu pairs", comma, group->count, g->total));
	else if (g->total == 2)
		add(text, memory_format("%s in both pairs", comma));
	else
		add(text,
		    memory_format("%s in %s%zu pairs", comma, figures ? "all " : "", g->total));
}

/* "null costs 136.8 cycles more than tls (136.5 to 137.0)", or if that is in the sentence "136.8
 * more (136.5 to 137.0)"; a range where the pairs do not agree. */
static void add_cost(struct sentence *x, const struct group *group)
{
	const char *way = group->pairs->outcome == MORE ? "more" : "less";
	struct tally t = tally_up(group);
	int decimals = render_figure_decimals(t.half);
	bool agree = t.most - t.least <= fmax(2 * t.half, AGREE_SHARE * t.most);
	char a[32], b[32];

	render_figure_number(a, agree ? (t.least + t.most) / 2 : t.least, decimals, false);
	render_figure_number(b, t.most, decimals, false);
	if (!x->verb)
		add(&x->text, memory_format("%s %s ", x->to, x->many ? "cost" : "costs"));
	add(&x->text, agree ? memory_copy(a) : memory_format("%s to %s", a, b));
	if (!x->verb)
		add(&x->text, memory_format(" cycles %s than %s", way, x->from));
	else
		add(&x->text, memory_format(" %s", way));
	x->verb = true;
	if (!agree)
		return;
	render_figure_number(a, t.lo, decimals, false);
	render_figure_number(b, t.hi, decimals, false);
	add(&x->text, memory_format(" (%s to %s)", a, b));
}

/* "(largest 0.02 cycles; 0.15 would have shown)" */
static void add_missed(struct sentence *x, const struct group *group)
{
	struct tally t = tally_up(group);
	char most[32], seen[32];

	render_figure_number(most, t.most, render_figure_decimals(t.half), false);
	render_figure_number(seen, t.seen, render_figure_decimals(t.seen), false);
	add(&x->text, memory_format(" (%s%s cycles; %s would have shown)",
	                            group->count > 1 ? "largest " : "", most, seen));
}

static void add_between(struct sentence *x)
{
	if (!x->from)
		add(&x->text, memory_format(" between %s", x->to));
	else
		add(&x->text, memory_format(" between %s and %s%s", x->from,
		                            x->many ? "each of " : "", x->to));
}

static void add_group(struct sentence *x, const struct groups *g, const struct group *group)
{
	enum outcome outcome = group->pairs->outcome;

	if (group != g->items)
		add(&x->text, memory_copy(group->rest ? "; otherwise " : "; "));
	if (outcome == MORE || outcome == LESS) {
		add_cost(x, group);
	} else if (outcome == NONE) {
		add(&x->text, memory_copy("no difference"));
		if (!x->named)
			add_between(x);
	} else {
		add(&x->text, memory_copy("too few placements to tell"));
		if (!x->named)
			add(&x->text, memory_format(" %s from %s", x->to, x->from));
	}
	x->named = true;
	add_where(&x->text, g, group);
	if (outcome == NONE)
		add_missed(x, group);
}

/* One set of levels against another, or the levels of a set (from == to), which do not differ. */
static void say_sets(const struct summary *s, size_t factor, const size_t *set_of, size_t from,
                     size_t to)
{
	const struct levels *l = &s->levels[factor];
	struct sentence x = {0};
	struct groups g;
	size_t n, members = 0;
	struct effect *pairs = pairs_new(s, factor, set_of, from, to, &n);

	if (n == 0) {
		free(pairs);
		return;
	}
	for (size_t i = 0; i < l->count; i++)
		members += set_of[i] == to;
	if (l->count > SAID_LEVELS)
		x.to = memory_format("each of the %zu others", members);
	else
		x.to = set_text(s, factor, set_of, to, " and ");
	x.from = from == to ? NULL : set_text(s, factor, set_of, from, " or ");
	x.many = members > 1 && l->count <= SAID_LEVELS;
	x.text = memory_format("- %s: ", s->run->factors[factor].name);
	g = groups_new(s, pairs, n);
	for (size_t i = 0; i < g.count; i++)
		add_group(&x, &g, &g.items[i]);
	render_page_say(s->page, 2, NULL, x.text);
	groups_free(&g);
	free(x.from);
	free(x.to);
	free(pairs);
}

static void say_factor(const struct summary *s, size_t factor)
{
	size_t *set_of, sets;

	if (factor == 0) {
		render_page_say(s->page, 2, NULL,
		                memory_format("- %s: each has placements of its own; its levels "
		                              "are not held against each other",
		                              s->run->factors[factor].name));
		return;
	}
	set_of = sets_new(s, factor, &sets);
	for (size_t from = 0; from < sets; from++)
		for (size_t to = from; to < sets; to++)
			say_sets(s, factor, set_of, from, to);
	free(set_of);
}

/* The ends of the table, less what runs nothing, and what is missing in it. */
static void say_range(const struct summary *s)
{
	const struct result_row *least = NULL, *most = NULL;
	size_t count = 0, nothing = 0, missing = s->run->row_count;
	struct render_figure low, high;
	char *low_label, *high_label, *text;

	for (size_t i = 0; i < s->run->row_count; i++) {
		const struct result_row *row = &s->run->rows[i];

		if (!measured(row))
			continue;
		count++;
		if (empty(row)) {
			nothing++;
			continue;
		}
		least = !least || row->cycles.est < least->cycles.est ? row : least;
		most = !most || row->cycles.est > most->cycles.est ? row : most;
	}
	missing -= count;
	if (count - nothing > 1) {
		low_label = render_text_label(s->run, least);
		high_label = render_text_label(s->run, most);
		render_figure_interval(&low, &least->cycles, false);
		render_figure_interval(&high, &most->cycles, false);
		text = memory_format("- %zu variants, ", count);
		if (nothing)
			add(&text, memory_format("%zu of them empty, the others ", nothing));
		add(&text, memory_format("from %s cycles (%s) to %s (%s)", low.est, low_label,
		                         high.est, high_label));
		render_page_say(s->page, 2, NULL, text);
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
	struct summary s = {.page = page, .run = run};

	if (!run->trusted)
		return;
	s.levels = memory_get((run->factor_count + 1) * sizeof *s.levels);
	for (size_t f = 0; f < run->factor_count; f++)
		if (run->factors[f].varies)
			s.levels[f] = levels_new(run, f);
	for (size_t f = 1; f < run->factor_count; f++) /* ABIs (0) never share a placement */
		if (run->factors[f].varies)
			collect(&s, f);
	judge(&s);
	say_range(&s);
	for (size_t f = 0; f < run->factor_count; f++)
		if (run->factors[f].varies)
			say_factor(&s, f);
	for (size_t f = 0; f < run->factor_count; f++) {
		free(s.levels[f].names);
		free(s.levels[f].of);
	}
	free(s.levels);
	free(s.effects);
}
