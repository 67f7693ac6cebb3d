#include "tui/render_capacity.h"

#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"

/* What one curve says: so many fit, from or more, but fewer than to. */
struct reach {
	uint64_t scale; /* level of the factor that the bytes are multiplied by */
	uint64_t bytes; /* that one takes */
	uint64_t from, to;
};

/* The reaches of curves that differ in their scale alone, smallest first. */
struct group {
	struct reach *reaches;
	size_t n;
	const char *scale, *factor;
};

/* The part of them that agrees: first and number, and the interval that they have in common. */
struct agreement {
	size_t first, n;
	uint64_t lo, hi;
};

char *render_capacity_bytes(uint64_t lo, uint64_t hi)
{
	if (hi < 4096)
		return memory_format("%llu to %llu bytes", (unsigned long long)lo,
		                     (unsigned long long)hi);
	if (hi < 4096u << 10)
		return memory_format("%.4g to %.4g KiB", (double)lo / 1024, (double)hi / 1024);
	return memory_format("%.4g to %.4g MiB", (double)lo / 1048576, (double)hi / 1048576);
}

static bool same_group(const struct result_run *run, const struct curve *c, size_t a, size_t b)
{
	for (size_t f = 0; f < run->factor_count; f++)
		if (f != c->factor && f != (size_t)run->curve_scale &&
		    strcmp(run->rows[c->series[a].row].levels[f],
		           run->rows[c->series[b].row].levels[f]))
			return false;
	return true;
}

static bool steps_up(const struct curve_series *s)
{
	return s->knee_count && s->knees[0].kind == CURVE_STEP && s->knees[0].size.lo > 0;
}

static int compare_reaches(const void *a, const void *b)
{
	const struct reach *x = a, *y = b;

	return x->scale < y->scale ? -1 : x->scale > y->scale;
}

/* Those of the group that series i is the first of; none if it is not. */
static struct group group_new(const struct result_run *run, const struct curve *c, size_t i)
{
	struct group g = {.reaches = memory_get(c->series_count * sizeof *g.reaches),
	                  .scale = run->factors[run->curve_scale].name,
	                  .factor = run->factors[c->factor].name};

	for (size_t k = 0; k < i; k++)
		if (same_group(run, c, k, i))
			return g;
	for (size_t k = i; k < c->series_count; k++) {
		const struct curve_series *s = &c->series[k];

		if (!same_group(run, c, k, i) || !steps_up(s))
			continue;
		g.reaches[g.n++] = (struct reach){
		        .scale = strtoull(run->rows[s->row].levels[run->curve_scale], NULL, 10),
		        .bytes = curve_bytes(run, s),
		        .from = (uint64_t)s->knees[0].from,
		        .to = (uint64_t)s->knees[0].to,
		};
	}
	qsort(g.reaches, g.n, sizeof *g.reaches, compare_reaches);
	return g;
}

/* Takes reach i into the agreement, if it can be. */
static bool agree(struct agreement *a, const struct reach *r, bool bytes)
{
	uint64_t lo = r->from * (bytes ? r->bytes : 1), hi = r->to * (bytes ? r->bytes : 1);

	lo = lo > a->lo ? lo : a->lo;
	hi = hi < a->hi ? hi : a->hi;
	if (lo >= hi)
		return false;
	a->lo = lo;
	a->hi = hi;
	a->n++;
	return true;
}

/* The longest row of them that agrees in bytes. */
static struct agreement agree_in_bytes(const struct group *g)
{
	struct agreement best = {0};

	for (size_t first = 0; first < g->n; first++) {
		struct agreement a = {.first = first, .hi = UINT64_MAX};

		while (first + a.n < g->n && agree(&a, &g->reaches[first + a.n], true))
			;
		if (a.n > best.n)
			best = a;
	}
	return best;
}

/* From the largest scale down, as far as they agree in number. */
static struct agreement agree_in_number(const struct group *g)
{
	struct agreement a = {.hi = UINT64_MAX};

	while (a.n < g->n && agree(&a, &g->reaches[g->n - 1 - a.n], false))
		;
	a.first = g->n - a.n;
	return a;
}

/* "stride=1, 8 and 64" */
static char *scales(const struct group *g, const struct agreement *a)
{
	char *text =
	        memory_format("%s=%llu", g->scale, (unsigned long long)g->reaches[a->first].scale);

	for (size_t i = 1; i < a->n; i++) {
		char *longer = memory_format("%s%s%llu", text, i + 1 < a->n ? ", " : " and ",
		                             (unsigned long long)g->reaches[a->first + i].scale);

		free(text);
		text = longer;
	}
	return text;
}

/* "12" or "12 to 13": how many fit of which lo do and hi do not. */
static char *numbers(uint64_t lo, uint64_t hi)
{
	return hi - lo < 2 ? memory_format("%llu", (unsigned long long)lo)
	                   : memory_format("%llu to %llu", (unsigned long long)lo,
	                                   (unsigned long long)hi - 1);
}

static char *say_bytes(const struct group *g, const struct agreement *a)
{
	const struct reach *last = &g->reaches[a->first + a->n - 1];
	char *bytes = render_capacity_bytes(a->lo, a->hi), *where = scales(g, a);
	char *number = numbers(last->from, last->to);
	char *text = memory_format("what is full at the first knee holds %s at %s%s; of those at "
	                           "%s=%llu it holds %s, so "
	                           "it has at most that many ways",
	                           bytes, where, a->n < g->n ? ", but not at the others" : "",
	                           g->scale, (unsigned long long)last->scale, number);

	free(bytes);
	free(where);
	free(number);
	return text;
}

static char *say_number(const struct group *g, const struct agreement *a)
{
	char *number = numbers(a->lo, a->hi), *where = scales(g, a);
	char *text = memory_format(
	        "what is full at the first knee holds %s, however many bytes they take "
	        "(%s): any of its places will do for any of them",
	        number, where);

	free(number);
	free(where);
	return text;
}

static char *say_both(const struct group *g, const struct agreement *bytes,
                      const struct agreement *number)
{
	char *size = render_capacity_bytes(bytes->lo, bytes->hi), *where = scales(g, bytes);
	char *ways = numbers(number->lo, number->hi), *far = scales(g, number);
	char *text = memory_format(
	        "what is full at the first knee holds %s at %s, and %s at %s: so many "
	        "ways it has",
	        size, where, ways, far);

	free(size);
	free(where);
	free(ways);
	free(far);
	return text;
}

static char *group_say(const struct group *g)
{
	struct agreement bytes = agree_in_bytes(g), number = agree_in_number(g);

	if (number.n == g->n && bytes.n == g->n)
		return memory_format(
		        "the first knees agree in %s as well as in bytes: their places are "
		        "known too coarsely to tell which it is",
		        g->factor);
	if (number.n == g->n)
		return say_number(g, &number);
	if (bytes.n < g->n && bytes.n > 1 && number.n > 1 && bytes.first < number.first)
		return say_both(g, &bytes, &number);
	if (bytes.n > 1)
		return say_bytes(g, &bytes);
	return memory_format("the first knees agree neither in %s nor in bytes", g->factor);
}

/* "reg=es order=random: ", "" where nothing but the scale varies. */
static char *group_name(const struct result_run *run, const struct curve *c, size_t series)
{
	char *text = memory_copy("");

	for (size_t f = 0; f < run->factor_count; f++) {
		char *longer;

		if (f == c->factor || f == (size_t)run->curve_scale || !run->factors[f].varies)
			continue;
		longer = memory_format("%s%s%s=%s", text, *text ? " " : "", run->factors[f].name,
		                       run->rows[c->series[series].row].levels[f]);
		free(text);
		text = longer;
	}
	if (*text) {
		char *longer = memory_format("%s: ", text);

		free(text);
		text = longer;
	}
	return text;
}

void render_capacity_print(const struct render_page *page, const struct result_run *run,
                           const struct curve *c)
{
	bool begun = false;

	if (!run->curve_bytes || run->curve_scale <= 0 || !run->factors[run->curve_scale].varies)
		return;
	for (size_t i = 0; i < c->series_count; i++) {
		struct group g = group_new(run, c, i);

		if (g.n > 1) {
			char *name = group_name(run, c, i), *text = group_say(&g);

			if (!begun)
				fputc('\n', page->out);
			begun = true;
			render_page_say(page, 2, NULL, memory_format("%s%s", name, text));
			free(name);
			free(text);
		}
		free(g.reaches);
	}
}
