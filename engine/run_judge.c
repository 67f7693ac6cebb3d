#include "run_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SMALLEST_CYCLES = 0.02;  /* differences below are never called ... */
static const double SMALLEST_SHARE = 0.0005; /* ... nor below this share of the level */
static const double POWER = 0.9;

/* The mean of what the fences leave. A mean and no median: the clock moves in steps, and the mean
 * of stepped values with a random phase is the true one, where a median sits on a step. */
static double locate(const double *x, size_t n, double *variance)
{
	double sum = 0, square = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (x[i] - mean) * (x[i] - mean);
	*variance = n > 1 ? square / (double)(n - 1) / (double)n : 0;
	return mean;
}

/* A mean of n readings of a clock that moves in steps lies on a grid of step/n, and a median over
 * blocks would pick one of its points (0.05% off for a body of 1,000 cycles). Half a step of noise,
 * drawn from the run's seed, dissolves the grid. */
static double dither(struct run *r, size_t n)
{
	double u = (double)(run_draw(r) >> 11) / 9007199254740992.0; /* 2^53 */
	return (u - 0.5) * r->host.tsc_granule / (double)n;
}

struct sampled {
	struct run *run;
	enum experiment_abi abi;
	struct run_track *track;
	uint32_t worker;
};

static void report(const struct sampled *s, uint32_t round, uint32_t iterations, uint32_t ticks,
                   char state)
{
	const struct run_spec *spec = &s->run->spec;
	if (!spec->sample)
		return;
	struct run_sample sample = {
	        .abi = s->abi,
	        .worker = s->worker,
	        .block = s->run->blocks,
	        .round = round,
	        .row = s->track->role == RUN_ROW ? s->track->row : -1,
	        .name = s->track->role == RUN_AGAIN ? "a/a" : s->track->name,
	        .iterations = iterations,
	        .ticks = ticks,
	        .state = state,
	};
	spec->sample(spec->ctx, &sample);
}

/* One of the two series of a track in a block: its mean, or NAN if less than half of it is left. */
static double series(const struct sampled *s, const uint32_t *samples, uint32_t rounds, size_t step,
                     uint32_t iterations, double *variance)
{
	double x[RUN_ROUNDS_ONCE > RUN_ROUNDS ? RUN_ROUNDS_ONCE : RUN_ROUNDS];
	size_t n = 0, kept = 0;
	*variance = 0;
	for (uint32_t r = 0; r < rounds; r++)
		if (!(samples[r * step] & PROTOCOL_INTERRUPTED))
			x[n++] = samples[r * step];
	s->track->interrupted += rounds - n;
	double fence = n ? stats_upper_fence(x, n, s->run->host.tsc_granule) : 0;
	for (uint32_t r = 0; r < rounds; r++) {
		uint32_t t = samples[r * step];
		bool interrupted = t & PROTOCOL_INTERRUPTED;
		char state = interrupted ? 'i' : t > fence ? 'f' : 'k';
		if (state == 'k')
			x[kept++] = t;
		report(s, r, iterations, t & ~PROTOCOL_INTERRUPTED, state);
	}
	s->track->fenced += n - kept;
	s->track->kept += kept;
	return 2 * kept < rounds ? NAN : locate(x, kept, variance) + dither(s->run, kept);
}

void run_judge_block(struct run *r, enum experiment_abi abi)
{
	struct run_abi *a = &r->abi[abi];
	const struct protocol_samples *head = a->samples;
	const uint32_t *samples = (const uint32_t *)(head + 1);
	size_t step = 2 * (size_t)head->entries;
	a->worker_of[r->blocks] = a->workers_started;
	for (size_t i = 0; i < a->entry_count; i++) {
		struct run_track *t = &a->tracks[a->entry_track[i]];
		struct sampled s = {r, abi, t, a->workers_started};
		uint32_t low = t->once ? 0 : t->unroll, high = t->once ? 1 : 2 * t->unroll;
		double variance[2];
		double hi = series(&s, samples + 2 * i, head->rounds, step, high, &variance[0]);
		double lo = series(&s, samples + 2 * i + 1, head->rounds, step, low, &variance[1]);
		t->ticks[r->blocks] = (hi - lo) / (high - low);
		t->spread[r->blocks] = sqrt(variance[0] + variance[1]) / (high - low);
	}
}

/* Cycles of a track in a block, its baseline taken off; NAN where anything is missing. */
static double block_ticks(const struct run_abi *a, const struct run_track *t, uint32_t block)
{
	double ticks = t->ticks[block];
	return t->baseline < 0 ? ticks : ticks - a->tracks[t->baseline].ticks[block];
}

static double block_ruler(const struct run_abi *a, uint32_t block)
{
	double ticks = a->tracks[a->ruler].ticks[block] / RUN_RULER_ADDS;
	return ticks > 0 ? ticks : NAN;
}

static double block_cycles(const struct run_abi *a, const struct run_track *t, uint32_t block)
{
	return block_ticks(a, t, block) / block_ruler(a, block);
}

/* Differences of two tracks block by block, where both have a value. */
static size_t pair(const struct run *r, const struct run_abi *a, const struct run_track *t,
                   const struct run_abi *b, const struct run_track *u, double *out)
{
	size_t n = 0;
	for (uint32_t k = 0; k < r->blocks; k++) {
		double d = block_cycles(a, t, k) - block_cycles(b, u, k);
		if (isfinite(d))
			out[n++] = d;
	}
	return n;
}

static struct run_track *track_of_row(const struct run *r, long row, const struct run_abi **abi)
{
	for (int i = 0; i < EXPERIMENT_ABIS; i++)
		for (size_t k = 0; k < r->abi[i].track_count; k++)
			if (r->abi[i].tracks[k].role == RUN_ROW && r->abi[i].tracks[k].row == row) {
				*abi = &r->abi[i];
				return &r->abi[i].tracks[k];
			}
	return NULL;
}

static double half_width(struct stats_interval x)
{
	return (x.hi - x.lo) / 2;
}

static struct stats_interval scaled(struct stats_interval x, double by)
{
	return (struct stats_interval){x.est * by, x.lo * by, x.hi * by};
}

static struct stats_interval widened(struct stats_interval x, double by)
{
	return (struct stats_interval){x.est, x.est - (x.est - x.lo) * by,
	                               x.est + (x.hi - x.est) * by};
}

/* ticks: room for two values a block. */
static void judge_level(struct run *r, const struct run_abi *a, const struct run_track *t,
                        double *ticks)
{
	struct result_row *row = &r->result->rows[t->row];
	double spread = 0, *cycles = ticks + r->blocks;
	size_t n = 0;
	unsigned *worker = malloc((r->blocks + 1) * sizeof *worker);
	double *placements = realloc(row->placements, (r->blocks + 1) * sizeof *placements);
	if (placements)
		row->placements = placements;
	if (!worker || !placements) {
		free(worker);
		return;
	}
	row->placement_count = r->blocks;
	for (uint32_t b = 0; b < r->blocks; b++) {
		double c = block_cycles(a, t, b);
		/* in its place even if there is none: rows are paired by block */
		placements[b] = isfinite(c) ? c : NAN;
		if (!isfinite(c))
			continue;
		cycles[n] = c;
		worker[n] = a->worker_of[b];
		ticks[n++] = block_ticks(a, t, b);
		spread += t->spread[b] / block_ruler(a, b);
	}
	row->blocks = (uint32_t)n;
	row->workers = a->workers_started;
	row->unroll = t->unroll;
	row->kept = t->kept;
	row->interrupted = t->interrupted;
	row->fenced = t->fenced;
	/* placements of one process share physical pages and what else it was dealt: where that
	 * shows, they are not as many as they seem */
	double wider = stats_cluster_widening(cycles, worker, n);
	free(worker);
	if (!n)
		return;
	row->state = RESULT_MEASURED;
	row->cycles = widened(stats_median(cycles, n, r->result->confidence), wider);
	row->ticks = widened(stats_median(ticks, n, r->result->confidence), wider);
	row->ns = scaled(row->ticks, 1e9 / r->host.tsc_hz);
	/* apart by more than the noise within placements, and by more than anybody would call a
	 * mode */
	double gap = fmax(6 * spread / (double)n, fmax(0.005 * fabs(row->cycles.est), 0.05));
	row->mode_count = stats_modes(cycles, n, gap, 0.05, row->modes, 4);
}

static double smallest(double level)
{
	return fmax(SMALLEST_CYCLES, SMALLEST_SHARE * fabs(level));
}

static void judge_differences(struct run *r, double *d)
{
	struct result_run *result = r->result;
	size_t compared = 0;
	double *p = malloc((result->row_count + 1) * sizeof *p);
	if (!p)
		return;
	for (size_t i = 0; i < result->row_count; i++) {
		struct result_row *row = &result->rows[i];
		const struct run_abi *a = NULL, *b = NULL;
		/* what an earlier look called may have lost its row or its base since */
		row->diff = (struct stats_interval){NAN, NAN, NAN};
		row->p = row->detectable = p[i] = NAN;
		row->verdict = row->base == (long)i && row->state == RESULT_MEASURED
		                       ? RESULT_BASE
		                       : RESULT_VERDICT_NONE;
		if (row->base < 0 || row->base == (long)i || row->state != RESULT_MEASURED ||
		    result->rows[row->base].state != RESULT_MEASURED)
			continue;
		const struct run_track *t = track_of_row(r, (long)i, &a),
		                       *u = track_of_row(r, row->base, &b);
		size_t n = pair(r, a, t, b, u, d);
		row->diff = stats_hodges_lehmann(d, n, result->confidence);
		row->p = p[i] = stats_wilcoxon(d, n);
		compared += !isnan(p[i]);
	}
	stats_holm(p, p, result->row_count);
	for (size_t i = 0; i < result->row_count; i++) {
		struct result_row *row = &result->rows[i];
		row->p_holm = p[i];
		if (isnan(p[i]))
			continue;
		const struct run_abi *a = NULL, *b = NULL;
		const struct run_track *t = track_of_row(r, (long)i, &a),
		                       *u = track_of_row(r, row->base, &b);
		/* so few placements cannot reach the level, whatever they read: nothing is called,
		 * and not "no difference" either */
		size_t n = pair(r, a, t, b, u, d);
		if (stats_wilcoxon_floor(n) * (double)compared > result->alpha)
			continue;
		double least = smallest(result->rows[row->base].cycles.est);
		row->detectable =
		        fmax(least, stats_detectable(half_width(row->diff), n, result->confidence,
		                                     result->alpha / (double)compared, POWER));
		row->verdict = p[i] < result->alpha && fabs(row->diff.est) >= least
		                       ? RESULT_DIFFERENT
		                       : RESULT_NO_DIFFERENCE;
	}
	free(p);
}

static void count_rejected(struct run *r)
{
	r->result->samples_rejected = 0;
	for (size_t i = 0; i < r->result->row_count; i++)
		r->result->samples_rejected +=
		        r->result->rows[i].interrupted + r->result->rows[i].fenced;
}

void run_judge_rows(struct run *r)
{
	double *scratch = malloc((2 * (size_t)r->blocks + 1) * sizeof *scratch);
	if (!scratch)
		return;
	for (int i = 0; i < EXPERIMENT_ABIS; i++)
		for (size_t k = 0; k < r->abi[i].track_count; k++) {
			const struct run_track *t = &r->abi[i].tracks[k];
			if (t->role == RUN_ROW && !t->dead)
				judge_level(r, &r->abi[i], t, scratch);
		}
	judge_differences(r, scratch);
	count_rejected(r);
	free(scratch);
}

bool run_judge_precise(struct run *r)
{
	const struct result_run *result = r->result;
	bool based = false;
	double worst = 0;
	for (size_t i = 0; i < result->row_count; i++)
		based |= result->rows[i].base >= 0 && result->rows[i].base != (long)i;
	for (size_t i = 0; i < result->row_count; i++) {
		const struct result_row *row = &result->rows[i];
		bool compared = row->base >= 0 && row->base != (long)i;
		if (row->state > RESULT_MEASURED || (based && !compared))
			continue;
		const struct result_row *level = compared ? &result->rows[row->base] : row;
		/* (a base that died is none any more: run_plan_bases) */
		double want = fmax(r->spec.precision_cycles,
		                   r->spec.precision_share * fabs(level->cycles.est));
		double have = half_width(compared ? row->diff : row->cycles);
		worst = fmax(worst, isnan(have) || isnan(want) ? INFINITY : have / want);
	}
	/* widths shrink with the root of the number of blocks */
	r->fraction = worst <= 1 ? 1 : 1 / (worst * worst);
	return worst <= 1;
}

/* Blocks come in the order of time. A difference whose two halves do not agree was moved by
 * something that is neither code nor chance, and the figure of the whole stands for neither: it is
 * told. */
void run_judge_drift(struct run *r)
{
	struct result_run *result = r->result;
	double *d = malloc((r->blocks + 1) * sizeof *d);
	for (size_t i = 0; d && i < result->row_count; i++) {
		const struct result_row *row = &result->rows[i];
		const struct run_abi *a = NULL, *b = NULL;
		if (isnan(row->p))
			continue;
		const struct run_track *t = track_of_row(r, (long)i, &a),
		                       *u = track_of_row(r, row->base, &b);
		size_t n = pair(r, a, t, b, u, d), half = n / 2;
		struct stats_interval first = stats_hodges_lehmann(d, half, 0.999);
		struct stats_interval second = stats_hodges_lehmann(d + half, n - half, 0.999);
		bool apart = first.hi < second.lo || second.hi < first.lo;
		if (apart &&
		    fabs(first.est - second.est) >= smallest(result->rows[row->base].cycles.est))
			result_event_add(result, "warning",
			                 "%s: the difference to its base moved while the run was "
			                 "on, from %+.2f to %+.2f cycles: "
			                 "its figure stands for neither half",
			                 row->label, first.est, second.est);
	}
	free(d);
}

/* ---- controls ---- */

static struct result_control *add_control(struct run *r, const char *name, enum experiment_abi abi,
                                          const char *what, double expected, double tolerance)
{
	struct result_run *result = r->result;
	struct result_control *more =
	        realloc(result->controls, (result->control_count + 1) * sizeof *more);
	if (!more)
		return NULL;
	result->controls = more;
	struct result_control *c = &more[result->control_count++];
	*c = (struct result_control){.value = {NAN, NAN, NAN},
	                             .expected = expected,
	                             .tolerance = tolerance,
	                             .fatal = true};
	if (asprintf(&c->name, "%s %s", name, experiment_abi_name[abi]) < 0)
		c->name = NULL;
	c->what = strdup(what);
	return c;
}

static void say(struct result_control *c, bool ok, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
static void say(struct result_control *c, bool ok, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&c->text, fmt, ap) < 0)
		c->text = NULL;
	va_end(ap);
	c->ok = ok;
}

static void judge_again(struct run *r, enum experiment_abi abi, double *d)
{
	const struct run_abi *a = &r->abi[abi];
	if (a->again < 0)
		return;
	struct result_control *c =
	        add_control(r, "a/a", abi,
	                    "a second copy of a row's code must not differ from the first", 0, NAN);
	if (!c)
		return;
	const struct run_track *again = &a->tracks[a->again];
	const struct run_abi *same;
	const struct run_track *first = track_of_row(r, again->row, &same);
	size_t n = pair(r, a, again, a, first, d);
	c->value = stats_hodges_lehmann(d, n, r->result->confidence);
	double p = stats_wilcoxon(d, n), least = smallest(r->result->rows[again->row].cycles.est);
	c->tolerance = least;
	if (isnan(c->value.est) || stats_wilcoxon_floor(n) > r->result->alpha)
		say(c, false, "only %zu placements of %s were measured: too few to tell", n,
		    again->name);
	else if (p < r->result->alpha && fabs(c->value.est) >= least)
		say(c, false,
		    "two copies of %s differ by %.2f cycles (p %.2g): something other than the "
		    "code moves the figures",
		    again->name, c->value.est, p);
	else
		say(c, true, "two copies of %s do not differ", again->name);
}

static void judge_one_add(struct run *r, enum experiment_abi abi, double *d)
{
	const struct run_abi *a = &r->abi[abi];
	struct result_control *c =
	        add_control(r, "one add", abi,
	                    "eleven dependent adds must cost one cycle more than ten", 1, 0.02);
	if (!c)
		return;
	size_t n = pair(r, a, &a->tracks[a->eleven], a, &a->tracks[a->ten], d);
	c->value = stats_hodges_lehmann(d, n, r->result->confidence);
	if (isnan(c->value.lo) || half_width(c->value) > 0.25)
		say(c, false, "one add more could not be seen in %zu placements", n);
	else if (c->value.lo > c->expected + c->tolerance ||
	         c->value.hi < c->expected - c->tolerance)
		say(c, false, "one add more reads %.3f cycles (%.3f to %.3f), not 1", c->value.est,
		    c->value.lo, c->value.hi);
	else
		say(c, true, "one add more reads %.3f", c->value.est);
}

/* Cycles of a dependent 32-bit multiplication: 3 on most, 4 on P6 and Core, 5 on early Atoms, 10
 * and more on the Pentium 4 and older CPUs. Twice 3 is what a CPU would show that does two
 * dependent adds in a cycle. */
static bool is_latency(double cycles)
{
	return (cycles >= 3 && cycles <= 5) || cycles >= 10;
}

/* The ruler must not be its own judge: another chain of known kind, over it, must be a whole
 * number. */
static void judge_ruler(struct run *r, enum experiment_abi abi, double *d)
{
	const struct run_abi *a = &r->abi[abi];
	struct result_control *c = add_control(r, "imul over add", abi,
	                                       "a chain of multiplications over the chain of adds "
	                                       "must be a whole number within 1%",
	                                       NAN, 0.01);
	if (!c)
		return;
	size_t n = 0;
	for (uint32_t b = 0; b < r->blocks; b++) {
		double ratio = block_cycles(a, &a->tracks[a->imul], b) / RUN_RULER_ADDS;
		if (isfinite(ratio))
			d[n++] = ratio;
	}
	if (n)
		c->value = stats_median(d, n, r->result->confidence);
	c->expected = round(c->value.est);
	c->tolerance = 0.01 * c->expected;
	double low = c->expected - c->tolerance, high = c->expected + c->tolerance;
	if (!n)
		say(c, false, "no placement gave a ratio");
	else if (!is_latency(c->expected))
		say(c, false,
		    "a multiplication costs %.3f adds, as on no known CPU: an add is not one cycle "
		    "here",
		    c->value.est);
	else if (isnan(c->value.lo) || half_width(c->value) > 2 * c->tolerance)
		say(c, false,
		    "a multiplication costs %.3f adds, but %zu placements do not tell whether that "
		    "is a whole number",
		    c->value.est, n);
	else if (c->value.lo > high || c->value.hi < low)
		say(c, false,
		    "a multiplication costs %.3f adds (%.3f to %.3f): no whole number, so an add "
		    "is not one cycle here",
		    c->value.est, c->value.lo, c->value.hi);
	else
		say(c, true, "a multiplication costs %.3f adds", c->value.est);
}

static void judge_footprint(struct run *r, enum experiment_abi abi)
{
	const struct host_probe *p = &r->spec.probes->abi[abi][HOST_FOOTPRINT];
	struct result_control *c =
	        add_control(r, "footprint", abi,
	                    "a return from an exception clears a null selector in %es", NAN, NAN);
	if (!c)
		return;
	c->fatal = false; /* the fence is left, and the other controls tell whether it suffices */
	if (p->present)
		say(c, true, "on");
	else
		say(c, false, "off: %s", p->why);
}

static void forget_controls(struct result_run *result)
{
	for (size_t i = 0; i < result->control_count; i++) {
		free(result->controls[i].name);
		free(result->controls[i].what);
		free(result->controls[i].text);
	}
	result->control_count = 0;
	free(result->not_trusted_why);
	result->not_trusted_why = NULL;
}

void run_judge_controls(struct run *r)
{
	struct result_run *result = r->result;
	double *d = malloc((r->blocks + 1) * sizeof *d);
	char *why = NULL;
	if (!d)
		return;
	forget_controls(result);
	for (enum experiment_abi abi = 0; abi < EXPERIMENT_ABIS; abi++) {
		if (!r->abi[abi].used)
			continue;
		judge_again(r, abi, d);
		judge_one_add(r, abi, d);
		judge_ruler(r, abi, d);
		judge_footprint(r, abi);
	}
	free(d);
	result->trusted = true;
	for (size_t i = 0; i < result->control_count; i++) {
		struct result_control *c = &result->controls[i];
		if (c->ok || !c->fatal)
			continue;
		result->trusted = false;
		char *longer = NULL;
		if (asprintf(&longer, "%s%s%s: %s", why ? why : "", why ? "; " : "", c->name,
		             c->text) < 0)
			longer = NULL;
		free(why);
		why = longer;
	}
	result->not_trusted_why = why;
	if (result->trusted)
		return;
	for (size_t i = 0; i < result->row_count; i++)
		if (result->rows[i].verdict == RESULT_DIFFERENT ||
		    result->rows[i].verdict == RESULT_NO_DIFFERENCE)
			result->rows[i].verdict = RESULT_NOT_TRUSTED;
}
