#include "tui/wb_pane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/memory.h"
#include "tui/wb.h"

enum { GAP = 2, BOX = 4 /* "[x] " */, MOST_FACTORS = 64 };

/* Factors are rows, levels are toggles; below them stands what it amounts to. */
static struct {
	size_t factor, level;
	int top;                 /* lines scrolled away */
	int lines[MOST_FACTORS]; /* where each factor begins, in lines of the whole */
	int rows;
} at;

static int name_width(const struct wb_compose *c)
{
	int most = 0;

	for (size_t f = 0; f < c->factor_count; f++) {
		int w = wb_draw_width(c->factors[f].factor->name);

		most = w > most ? w : most;
	}
	return most + 3 + GAP;
}

static size_t levels_of(const struct wb_factor *f)
{
	return f->range ? 1 : f->count;
}

static void keep_cursor(const struct wb_compose *c)
{
	if (at.factor >= c->factor_count)
		at.factor = c->factor_count ? c->factor_count - 1 : 0;
	if (c->factor_count && at.level >= levels_of(&c->factors[at.factor]))
		at.level = levels_of(&c->factors[at.factor]) - 1;
}

/* Where level l of f is placed; calls each for every level, and returns the lines f takes. */
static int factor_place(const struct wb_factor *f, int indent, int width,
                        void (*each)(void *ctx, size_t l, int line, int x), void *ctx)
{
	int x = indent, line = 0;

	for (size_t l = 0; l < f->count; l++) {
		int w = BOX + wb_draw_width(f->levels[l].name);

		if (x > indent && x + w > width) {
			x = indent;
			line++;
		}
		if (each)
			each(ctx, l, line, x);
		x += w + GAP;
	}
	return line + 1;
}

struct drawing {
	const struct wb_area *area;
	const struct wb_factor *factor;
	int y;
	bool here; /* the cursor is in this factor */
};

static void draw_level(void *ctx, size_t l, int line, int x)
{
	const struct drawing *d = ctx;
	const struct wb_level *level = &d->factor->levels[l];
	bool gone = level->exists != WB_EXISTS;
	enum wb_glyph g = level->chosen ? WB_ON : gone ? WB_GONE : WB_OFF;
	enum wb_style s = level->chosen ? WB_STRONG : gone ? WB_FAINT : WB_PLAIN;
	bool cursor = d->here && l == at.level;

	if (cursor && d->area->focused)
		s = WB_SELECTED;
	wb_draw_text(d->area, d->y + line, x, s, wb_draw_glyph(g));
	wb_draw_text(d->area, d->y + line, x + 3, s, " ");
	wb_draw_text(d->area, d->y + line, x + BOX, s, level->name);
	if (cursor)
		wb_draw_cursor(d->area, d->y + line, x);
}

static int draw_factor(const struct wb_area *a, const struct wb_compose *c, size_t i, int y,
                       int indent)
{
	const struct wb_factor *f = &c->factors[i];
	struct drawing d = {a, f, y, i == at.factor};

	if (y >= 0 && y < a->h) {
		if (d.here && a->focused)
			wb_draw_text(a, y, 1, WB_TITLE, wb_draw_glyph(WB_MARK));
		wb_draw_text(a, y, 3, d.here ? WB_STRONG : WB_PLAIN, f->factor->name);
	}
	if (!f->range)
		return factor_place(f, indent, a->w, draw_level, &d);
	wb_draw_text(a, y, indent, d.here && a->focused ? WB_SELECTED : WB_STRONG, f->range);
	wb_draw_format(a, y, indent + wb_draw_width(f->range) + GAP, WB_FAINT, "of %ld..%ld",
	               f->factor->lo, f->factor->hi);
	if (d.here)
		wb_draw_cursor(a, y, indent);
	return 1;
}

static char *amounts(const struct wb_compose *c)
{
	const char *dot = wb_draw_glyph(WB_DOT);
	char *left_out = c->excluded
	                         ? memory_format(" (%zu combinations do not exist)", c->excluded)
	                         : memory_copy("");
	char *text = memory_format("%zu variant%s%s %s about %.*f s", c->variants,
	                           c->variants == 1 ? "" : "s", left_out, dot,
	                           c->seconds < 1 ? 1 : 0, fmax(c->seconds, 0.1));

	free(left_out);
	return text;
}

/* What the selected factor or level is about. */
static const char *about(const struct wb_compose *c)
{
	const struct wb_factor *f = &c->factors[at.factor];

	if (!f->range && f->levels[at.level].why)
		return f->levels[at.level].why;
	return f->factor->doc;
}

/* The last lines: the doc of what is selected, the amounts, the command. */
static int draw_foot(const struct wb_area *a, const struct wb_compose *c)
{
	int lines = a->h >= 5 ? 2 : 1, y = a->h - lines;
	char *amount = amounts(c), *command = memory_format(":%s", c->line);
	int w = wb_draw_width(amount);
	struct wb_area left = *a;

	if (c->problem) {
		wb_draw_format(a, y, 1, WB_BAD, "! %s", c->problem);
	} else if (lines == 2) {
		left.w = a->w - w - 3;
		wb_draw_text(&left, y, 3, WB_FAINT, about(c));
		wb_draw_text(a, y, a->w - w - 1, WB_STRONG, amount);
	}
	if (lines == 2)
		wb_draw_text(a, y + 1, 1, WB_TITLE, command);
	else if (!c->problem)
		wb_draw_text(a, y, 1, WB_TITLE, command);
	free(command);
	free(amount);
	return lines;
}

static int place_factors(const struct wb_compose *c, int indent, int width)
{
	int line = 0;

	for (size_t i = 0; i < c->factor_count; i++) {
		if (i < MOST_FACTORS)
			at.lines[i] = line;
		line += factor_place(&c->factors[i], indent, width, NULL, NULL);
	}
	return line;
}

static void draw(struct wb *wb, const struct wb_area *a)
{
	const struct wb_compose *c = &wb->model.compose;
	struct wb_area upper = *a;
	int indent, lines;

	if (!c->experiment) {
		wb_draw_text(a, 0, 1, WB_WARN, "nothing to compose: no experiments were found");
		return;
	}
	keep_cursor(c);
	if (a->h > 1)
		upper.h -= draw_foot(a, c);
	indent = name_width(c);
	lines = place_factors(c, indent, a->w);
	at.rows = upper.h;
	if (at.factor < MOST_FACTORS) {
		int line = at.lines[at.factor];

		if (line < at.top)
			at.top = line;
		if (line >= at.top + upper.h)
			at.top = line - upper.h + 1;
	}
	if (at.top + upper.h > lines)
		at.top = lines > upper.h ? lines - upper.h : 0;
	for (size_t i = 0; i < c->factor_count && i < MOST_FACTORS; i++)
		draw_factor(&upper, c, i, at.lines[i] - at.top, indent);
	if (at.top + upper.h < lines)
		wb_draw_text(&upper, upper.h - 1, a->w - 2, WB_FAINT, wb_draw_glyph(WB_MORE));
}

static char *title(struct wb *wb, int width)
{
	const struct experiment *x = wb->model.compose.experiment;

	(void)width;
	return x ? memory_format("%s: %s", x->name, x->title) : memory_copy("Compose");
}

static int want(struct wb *wb, int width)
{
	const struct wb_compose *c = &wb->model.compose;

	return c->experiment ? place_factors(c, name_width(c), width - 26) + 2 : 1;
}

static void toggle(struct wb *wb)
{
	const struct wb_compose *c = &wb->model.compose;
	struct error err = {0};
	char *line;

	if (!c->experiment)
		return;
	if (c->factors[at.factor].range) {
		const struct wb_factor *f = &c->factors[at.factor];
		char *old = memory_format(" %s=%s", f->factor->name, f->range), *text;
		const char *behind = c->line + strcspn(c->line, " ");

		/* A range is typed: in the line, with what it is now at the end. */
		text = strstr(behind, old) ? memory_format("compose%s", behind)
		                           : memory_format("compose%s%s", behind, old);
		wb_ask(wb, text);
		free(text);
		free(old);
		return;
	}
	line = wb_compose_toggled(c, at.factor, at.level, &err);
	if (line)
		wb_command(wb, line);
	else
		wb_say(wb, WB_WARN, "%s", err.text);
	free(line);
}

static void toggle_all(struct wb *wb)
{
	const struct wb_compose *c = &wb->model.compose;
	char *line;

	if (!c->experiment || c->factors[at.factor].range)
		return;
	line = wb_compose_all_toggled(c, at.factor);
	wb_command(wb, line);
	free(line);
}

static void go(struct wb *wb, int lines)
{
	const struct wb_compose *c = &wb->model.compose;
	long to = (long)at.factor + lines, last = (long)c->factor_count - 1;

	at.factor = (size_t)(to < 0 ? 0 : to > last ? last : to);
	keep_cursor(c);
}

static bool act(struct wb *wb, enum wb_action action)
{
	const struct wb_compose *c = &wb->model.compose;
	size_t last = c->factor_count ? levels_of(&c->factors[at.factor]) - 1 : 0;

	if (!c->experiment)
		return false;
	switch (action) {
	case WB_UP:
		go(wb, -1);
		return true;
	case WB_DOWN:
		go(wb, 1);
		return true;
	case WB_PAGE_UP:
	case WB_HOME:
		go(wb, -MOST_FACTORS);
		return true;
	case WB_PAGE_DOWN:
	case WB_END:
		go(wb, MOST_FACTORS);
		return true;
	case WB_LEFT:
		at.level -= at.level > 0;
		return true;
	case WB_RIGHT:
		at.level += at.level < last;
		return true;
	case WB_TOGGLE:
	case WB_ENTER:
		toggle(wb);
		return true;
	case WB_TOGGLE_ALL:
		toggle_all(wb);
		return true;
	default:
		return false;
	}
}

struct hit {
	int y, x;
	const struct wb_factor *factor;
	bool found;
	size_t level;
};

static void hit_level(void *ctx, size_t l, int line, int x)
{
	struct hit *h = ctx;

	if (line == h->y && h->x >= x &&
	    h->x < x + BOX + wb_draw_width(h->factor->levels[l].name)) {
		h->found = true;
		h->level = l;
	}
}

static void click(struct wb *wb, int y, int x, bool twice)
{
	const struct wb_compose *c = &wb->model.compose;
	const struct wb_box *box = &wb->layout.parts[WB_TOP];

	(void)twice;
	if (y >= at.rows)
		return;
	for (size_t i = 0; i < c->factor_count && i < MOST_FACTORS; i++) {
		const struct wb_factor *f = &c->factors[i];
		struct hit h = {y + at.top - at.lines[i], x, f, false, 0};

		if (h.y < 0 || h.y >= factor_place(f, name_width(c), box->w, hit_level, &h))
			continue;
		at.factor = i;
		keep_cursor(c);
		if (h.found) {
			at.level = h.level;
			toggle(wb);
		}
		return;
	}
}

static bool find(struct wb *wb, const char *text, int step)
{
	const struct wb_compose *c = &wb->model.compose;
	size_t total = 0, here = 0, n = 0;

	for (size_t f = 0; f < c->factor_count; f++) {
		if (f == at.factor)
			here = total + at.level;
		total += levels_of(&c->factors[f]);
	}
	for (size_t k = 1; k <= total; k++) {
		size_t want_at = step > 0 ? (here + k) % total : (here + total - k) % total;

		n = 0;
		for (size_t f = 0; f < c->factor_count; f++) {
			const struct wb_factor *w = &c->factors[f];

			if (want_at < n + levels_of(w)) {
				size_t l = want_at - n;

				if ((l == 0 && strcasestr(w->factor->name, text)) ||
				    (!w->range && strcasestr(w->levels[l].name, text))) {
					at.factor = f;
					at.level = l;
					return true;
				}
				break;
			}
			n += levels_of(w);
		}
	}
	return false;
}

const struct wb_pane pane_compose = {
        .name = "compose",
        .help = "The factors and levels of the next run, how many variants that makes and how "
                "long they take. Space chooses a level; [-] does not exist here, and says why.",
        .place = WB_TOP,
        .title = title,
        .want = want,
        .draw = draw,
        .act = act,
        .click = click,
        .find = find,
};
