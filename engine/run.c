#include "run_state.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "listing.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int out_of_memory(struct error *err)
{
	return error_set(err, ERROR_INTERNAL, "out of memory");
}

/* splitmix64: seeds for workers and blocks from the run's one seed */
uint64_t run_draw(struct run *r)
{
	uint64_t z = (r->random += 0x9e3779b97f4a7c15ull);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* ---- rows that go wrong ---- */

static struct result_row *row_of(struct run *r, const struct run_track *t)
{
	return t->row >= 0 ? &r->result->rows[t->row] : NULL;
}

static void bury(struct run *r, struct run_track *t, enum result_state state, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
static void bury(struct run *r, struct run_track *t, enum result_state state, const char *fmt, ...)
{
	struct result_row *row = row_of(r, t);
	va_list ap;
	t->dead = true;
	if (!row || row->reason)
		return;
	const struct stats_interval none = {NAN, NAN, NAN};
	row->state = state;
	row->cycles = row->ns = row->ticks = none;
	row->mode_count = row->placement_count = 0;
	va_start(ap, fmt);
	if (vasprintf(&row->reason, fmt, ap) < 0)
		row->reason = NULL;
	va_end(ap);
}

static const char *part_name(uint32_t part)
{
	static const char *const name[] = {"outside its code", "setup", "body", "teardown", "pool"};
	return name[part <= PROTOCOL_PART_POOL ? part : 0];
}

/* What the guard does not let a variant do while it is checked. */
static const char *const refused[] = {
        [PROTOCOL_REFUSED_STARTS] = "wanted to start another process",
        [PROTOCOL_REFUSED_REACHES] = "wanted to signal or change another process",
        [PROTOCOL_REFUSED_BREAKS] = "wanted to use a descriptor of the worker's own (3 or 4)",
};

/* A worker's last words as a row that says what happened. culprit: the track that ran, t itself or
 * its baseline. */
static void bury_dead(struct run *r, struct run_abi *a, struct run_track *t,
                      const struct run_track *culprit, const struct worker_end *end, bool late)
{
	const struct protocol_status *s = &end->last;
	struct result_row *row = row_of(r, t);
	bool hung = late || s->signal == SIGALRM;
	int sig = s->signal ? (int)s->signal : end->status < 0 ? -end->status : 0;
	char where[200] = "";
	if (row && s->signal) {
		size_t size;
		const uint8_t *code = program_body(&a->program, culprit->variant, &size);
		bool in_body = s->part == PROTOCOL_PART_BODY;
		char instruction[sizeof row->crash.instruction] = "";
		row->crash.signal = sig;
		row->crash.address = s->pc;
		row->crash.in_code = in_body && culprit == t;
		row->crash.offset = s->offset;
		if (in_body)
			listing_instruction(a->program.abi, code, size, s->offset, instruction,
			                    sizeof instruction);
		if (row->crash.in_code)
			memcpy(row->crash.instruction, instruction, sizeof instruction);
		if (s->part == PROTOCOL_PART_NONE || s->part > PROTOCOL_PART_POOL)
			snprintf(where, sizeof where, " at 0x%llx, outside its code",
			         (unsigned long long)s->pc);
		else
			snprintf(where, sizeof where, " at %s+0x%x%s%s",
			         in_body && culprit->role == RUN_BASELINE ? "baseline"
			                                                  : part_name(s->part),
			         s->offset, *instruction ? ": " : "", instruction);
	}
	if (hung)
		bury(r, t, RESULT_HUNG, "did not end within %d s%s", RUN_DEADLINE_MS / 1000, where);
	else if (s->signal == SIGSYS && s->refused && s->refused <= PROTOCOL_REFUSED_BREAKS)
		bury(r, t, RESULT_DIED, "%s%s", refused[s->refused], where);
	else if (s->signal)
		bury(r, t, RESULT_DIED, "SIG%s%s", sigabbrev_np(sig) ? sigabbrev_np(sig) : "?",
		     where);
	else if (end->closed)
		bury(r, t, RESULT_DIED, "closed or broke the worker's connection (descriptor %d)",
		     PROTOCOL_FD);
	else if (sig)
		bury(r, t, RESULT_DIED, "ended by SIG%s",
		     sigabbrev_np(sig) ? sigabbrev_np(sig) : "?");
	else
		bury(r, t, RESULT_DIED, "exited with status %d", end->status);
}

/* ---- what a check says ---- */

static uint64_t field(const struct environment *env, const char *name)
{
	int i = environment_field_find(name);
	uint64_t v = 0;
	if (i >= 0)
		memcpy(&v, (const char *)env + environment_fields[i].offset, sizeof v);
	return v;
}

static bool expectation_holds(const struct experiment_expect *e, const struct protocol_checked *c,
                              uint64_t *left, uint64_t *right)
{
	*left = field(&c->env, e->field);
	*right = e->other ? field(&c->env, e->other)
	                  : (uint64_t)e->number * (e->iterations ? c->iterations : 1);
	return *left == *right;
}

static void judge_check(struct run *r, struct run_abi *a, struct run_track *t,
                        const struct protocol_checked *c)
{
	const struct experiment *x = r->spec.experiment;
	struct result_row *row = row_of(r, t);
	if (c->faults & PROTOCOL_CHECK_POINTER) {
		bury(r, t, RESULT_DIED,
		     "changed the pointer to its environment (env: %%rbp or %%ebp)");
		return;
	}
	if (c->faults & PROTOCOL_CHECK_STACK) {
		bury(r, t, RESULT_DIED,
		     "left the stack pointer moved by %d bytes after %u iteration%s",
		     c->stack_moved, c->iterations, c->iterations == 1 ? "" : "s");
		return;
	}
	if (c->faults & PROTOCOL_CHECK_FORKED) {
		bury(r, t, RESULT_DIED, "started another process");
		return;
	}
	for (size_t i = 0; i < x->expect_count; i++) {
		uint64_t left, right;
		if (!experiment_condition_holds(x, &x->expects[i].when, row->levels) ||
		    expectation_holds(&x->expects[i], c, &left, &right))
			continue;
		bury(r, t, RESULT_WRONG,
		     "does not do what it says: expected %s (%s:%u), found %llu against %llu after "
		     "%u iterations",
		     x->expects[i].text, x->path, x->expects[i].line, (unsigned long long)left,
		     (unsigned long long)right, c->iterations);
		return;
	}
	t->checked = true;
	t->footprint = c->footprint >= 6;
	if (t->baseline >= 0)
		a->tracks[t->baseline].footprint = t->footprint;
	if (!t->footprint) {
		row->footprint = RESULT_FOOTPRINT_OFF;
		free(row->footprint_why);
		row->footprint_why = strdup(t->bare ? "the code uses %es"
		                                    : "this machine keeps %es across interrupts, "
		                                      "or the body changes it");
	}
}

/* ---- conversation ---- */

static void fail(struct run *r, const struct error *err)
{
	if (!r->failure.code)
		r->failure = *err;
	r->phase = RUN_DONE;
}

/* One answer to CHECK or SIZE: what the worker allows a variant, and time to place its code. */
static const double ANSWER_SECONDS = RUN_DEADLINE_MS / 1000.0 + 1;

static void set_deadline(struct run *r, double seconds)
{
	/* the worker's own alarm comes first and can say where; this one is for variants that have
	 * switched it off */
	r->deadline = now() + seconds;
}

static uint32_t block_rounds(const struct run *r)
{
	uint32_t rounds = RUN_ROUNDS;
	for (int i = 0; i < EXPERIMENT_ABIS; i++)
		for (size_t k = 0; k < r->abi[i].track_count; k++) {
			const struct run_track *t = &r->abi[i].tracks[k];
			if (t->dead || !t->once)
				continue;
			if (r->abi[i].program.variants[t->variant].walk >= RUN_SWEEP)
				return RUN_ROUNDS_SWEPT;
			rounds = RUN_ROUNDS_ONCE;
		}
	return rounds;
}

static int spawn_worker(struct run *r, struct run_abi *a, struct error *err)
{
	struct protocol_config config = {
	        .version = PROTOCOL_VERSION,
	        .cpu = r->host.cpu,
	        .granule = r->host.tsc_granule ? r->host.tsc_granule : 1,
	        .deadline_ms = RUN_DEADLINE_MS,
	        .ldt_data = a->ldt_data,
	        .ldt_code = a->ldt_code,
	};
	for (int c = 0; c < HOST_CAPABILITIES; c++)
		config.capabilities |= (uint32_t)r->spec.probes->abi[a->program.abi][c].present
		                       << c;
	return worker_start(a->program.abi, &config, &a->program, &a->worker, err);
}

static bool is_unchecked(const struct run_track *t)
{
	return !t->dead && !t->checked && t->role != RUN_AGAIN;
}

/* A new process to answer: in a worker that is there, or in a new one. As long as there is
 * something to be checked it is a guarded one. */
static int start_worker(struct run *r, struct run_abi *a, struct error *err)
{
	struct protocol_begin begin = {.seed = run_draw(r)};
	for (size_t k = 0; k < a->track_count; k++)
		begin.guard |= is_unchecked(&a->tracks[k]);
	int rc = a->worker ? worker_send(a->worker, PROTOCOL_END, NULL, 0, NULL, 0, err)
	                   : spawn_worker(r, a, err);
	if (!rc)
		rc = worker_send(a->worker, PROTOCOL_BEGIN, &begin, sizeof begin, NULL, 0, err);
	a->guarded = begin.guard;
	a->workers_started += !begin.guard;
	a->blocks_of_worker = 0;
	a->waiting = RUN_STARTING;
	set_deadline(r, 5);
	return rc;
}

/* Sends CHECK or SIZE for tracks that still need it, a handful at a time; false when none does. */
static bool request_preparation(struct run *r, struct run_abi *a, struct error *err)
{
	uint32_t list[RUN_ASKED], n = 0;
	for (int pass = 0; pass < 2 && !n; pass++) {
		for (size_t k = 0; k < a->track_count && n < RUN_ASKED; k++) {
			const struct run_track *t = &a->tracks[k];
			bool wants = pass == 0 ? is_unchecked(t)
			                       : !t->dead && !t->unroll && t->role != RUN_AGAIN;
			if (!wants)
				continue;
			a->asked[n] = (uint32_t)k;
			list[n++] = t->variant | (pass == 0 && t->bare ? PROTOCOL_CHECK_BARE : 0);
		}
		a->waiting = pass == 0 ? RUN_WAIT_CHECK : RUN_WAIT_SIZE;
	}
	a->asked_count = n;
	a->answered = 0;
	if (!n)
		return false;
	if (a->waiting == RUN_WAIT_SIZE && a->guarded) {
		if (start_worker(r, a, err))
			fail(r, err);
		return true;
	}
	if (worker_send(a->worker, a->waiting == RUN_WAIT_CHECK ? PROTOCOL_CHECK : PROTOCOL_SIZE,
	                list, n * sizeof *list, NULL, 0, err)) {
		fail(r, err);
		return true;
	}
	set_deadline(r, ANSWER_SECONDS);
	return true;
}

/* The track that the next answer must be about: a worker answers in the order it was asked. NULL:
 * the answer is about another. */
static struct run_track *answered_track(struct run *r, struct run_abi *a, uint32_t variant)
{
	struct run_track *t =
	        a->answered < a->asked_count ? &a->tracks[a->asked[a->answered]] : NULL;
	if (!t || t->variant != variant)
		return NULL;
	a->answered++;
	set_deadline(r, ANSWER_SECONDS);
	return t;
}

/* The ruler and the A/A pair are in every block; the controls whose figure is known need fewer. */
static bool takes_part(const struct run *r, const struct run_track *t)
{
	bool control = t->role == RUN_TEN || t->role == RUN_ELEVEN || t->role == RUN_IMUL;
	return !control || r->blocks < RUN_CONTROLS_FIRST || r->blocks % RUN_CONTROLS_EVERY == 0;
}

/* Seconds within which a block must be there, generously. The worker has a deadline for every
 * execution; this one is for variants that have switched that off. */
static double block_deadline(const struct run *r, const struct run_abi *a)
{
	double round = 0, eviction = r->spec.experiment->evict_count ? 0.05 : 0;
	for (size_t i = 0; i < a->entry_count; i++)
		round += 12 * a->tracks[a->entry_track[i]].seconds +
		         2 * eviction; /* 6: each of 2U and U, twice */
	return 4 * RUN_DEADLINE_MS / 1000.0 + block_rounds(r) * round;
}

static int request_block(struct run *r, struct run_abi *a, struct error *err)
{
	struct protocol_block block = {.seed = run_draw(r), .rounds = block_rounds(r)};
	struct protocol_entry *entries = calloc(a->track_count, sizeof *entries);
	uint32_t *tracks = realloc(a->entry_track, a->track_count * sizeof *tracks);
	if (tracks)
		a->entry_track = tracks;
	if (!entries || !tracks) {
		free(entries);
		return out_of_memory(err);
	}
	for (size_t k = 0; k < a->track_count; k++) {
		const struct run_track *t = &a->tracks[k];
		if (t->dead || !takes_part(r, t))
			continue;
		a->entry_track[block.entries] = (uint32_t)k;
		entries[block.entries++] = (struct protocol_entry){
		        .variant = t->variant, .unroll = t->unroll, .footprint = t->footprint};
	}
	a->entry_count = block.entries;
	int rc = worker_send(a->worker, PROTOCOL_BLOCK, &block, sizeof block, entries,
	                     block.entries * sizeof *entries, err);
	free(entries);
	a->waiting = RUN_WAIT_BLOCK;
	set_deadline(r, block_deadline(r, a));
	return rc;
}

/* Every track has a place for the block on now; what a track has not measured is NAN. */
static int make_room(struct run *r, struct error *err)
{
	for (int i = 0; i < EXPERIMENT_ABIS; i++) {
		struct run_abi *a = &r->abi[i];
		if (a->used && r->blocks >= a->worker_room) {
			size_t room = r->blocks < 64 ? 64 : 2 * (size_t)r->blocks;
			unsigned *worker_of = realloc(a->worker_of, room * sizeof *worker_of);
			if (!worker_of)
				return out_of_memory(err);
			a->worker_of = worker_of;
			a->worker_room = room;
		}
		for (size_t k = 0; k < a->track_count; k++) {
			struct run_track *t = &a->tracks[k];
			if (r->blocks < t->room)
				continue;
			size_t room = r->blocks < 64 ? 64 : 2 * (size_t)r->blocks;
			double *ticks = realloc(t->ticks, room * sizeof *ticks);
			if (ticks)
				t->ticks = ticks;
			double *spread = realloc(t->spread, room * sizeof *spread);
			if (spread)
				t->spread = spread;
			if (!ticks || !spread)
				return out_of_memory(err);
			for (size_t n = t->room; n < room; n++)
				ticks[n] = spread[n] = NAN;
			t->room = room;
		}
	}
	return 0;
}

/* How well a row serves as the first half of the A/A pair: a base before others, code before none.
 */
static int fitness(const struct run *r, const struct run_track *t)
{
	const struct result_row *row = &r->result->rows[t->row];
	return 2 * (row->code_bytes > 0) + (row->base == t->row);
}

static void choose_again(struct run *r, struct run_abi *a)
{
	const struct run_track *best = NULL;
	for (size_t k = 0; k < a->track_count; k++) {
		const struct run_track *t = &a->tracks[k];
		if (!t->dead && t->role == RUN_ROW && (!best || fitness(r, t) > fitness(r, best)))
			best = t;
	}
	if (!best)
		return;
	struct run_track again = *best;
	if (a->again < 0) {
		a->again = (long)a->track_count++;
	} else {
		free(a->tracks[a->again].ticks);
		free(a->tracks[a->again].spread);
	}
	again.role = RUN_AGAIN;
	again.ticks = again.spread = NULL;
	again.room = 0;
	again.kept = again.interrupted = again.fenced = 0;
	a->tracks[a->again] = again;
}

/* An ABI none of whose rows is sound needs no further measuring. */
static bool has_rows(const struct run_abi *a)
{
	for (size_t k = 0; k < a->track_count; k++)
		if (a->tracks[k].role == RUN_ROW && !a->tracks[k].dead)
			return true;
	return false;
}

static void begin_block(struct run *r, struct error *err);

/* Adds calibrates the core's clock. */
static double core_hz(const struct run *r)
{
	double *x = malloc((r->blocks + 1) * sizeof *x), hz = 0;
	for (int i = 0; x && i < EXPERIMENT_ABIS && !(hz > 0); i++) {
		const struct run_abi *a = &r->abi[i];
		size_t n = 0;
		for (uint32_t b = 0; a->track_count && b < r->blocks; b++)
			if (a->tracks[a->ruler].ticks[b] > 0)
				x[n++] = a->tracks[a->ruler].ticks[b];
		if (n)
			hz = r->host.tsc_hz * RUN_RULER_ADDS / stats_quantile(x, n, 0.5);
	}
	free(x);
	return hz;
}

/* The run cannot go on, or was stopped before anything was complete: nothing is called. */
static void distrust(struct run *r, const char *why)
{
	struct result_run *result = r->result;
	result->trusted = false;
	if (!result->not_trusted_why)
		result->not_trusted_why = strdup(why);
	for (size_t i = 0; i < result->row_count; i++)
		if (result->rows[i].verdict == RESULT_DIFFERENT ||
		    result->rows[i].verdict == RESULT_NO_DIFFERENCE)
			result->rows[i].verdict = RESULT_NOT_TRUSTED;
}

/* Rows without a figure must not go without a word. */
static void note_pending(struct run *r)
{
	for (size_t i = 0; r->blocks && i < r->result->row_count; i++)
		if (r->result->rows[i].state == RESULT_PENDING)
			result_event_add(r->result, "warning",
			                 "%s: more than half of the samples were rejected at every "
			                 "placement, so there is no figure",
			                 r->result->rows[i].label);
}

static void look_around(struct run *r)
{
	r->sibling = r->host.sibling;
	r->cpu_known = cpustat_read(r->host.cpu, &r->cpu_before);
	r->sibling_known = r->sibling >= 0 && cpustat_read(r->sibling, &r->sibling_before);
}

/* What others took while the run was on, where the kernel knows: it counts in ticks of 10 ms, so
 * short runs have nothing to say. */
static void note_others(struct run *r)
{
	struct cpustat after, share;
	if (r->cpu_known && cpustat_read(r->host.cpu, &after) &&
	    cpustat_between(&r->cpu_before, &after, &share) && share.steal >= 0.01)
		result_event_add(r->result, "note",
		                 "the hypervisor gave %.0f%% of CPU %d's time to others",
		                 100 * share.steal, r->host.cpu);
	if (!r->sibling_known || !cpustat_read(r->sibling, &after) ||
	    !cpustat_between(&r->sibling_before, &after, &share))
		return;
	snprintf(r->host.sibling_load, sizeof r->host.sibling_load, "%.0f%%", 100 * share.busy);
	if (share.busy >= 0.05)
		result_event_add(r->result, "warning",
		                 "CPU %d, which shares a core with the one that measures, was busy "
		                 "for %.0f%% of the time",
		                 r->sibling, 100 * share.busy);
}

static void finish(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void finish(struct run *r, const char *fmt, ...)
{
	struct result_run *result = r->result;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&result->stop_reason, fmt, ap) < 0)
		result->stop_reason = NULL;
	va_end(ap);
	result->seconds = now() - r->started;
	r->phase = RUN_DONE;
	r->fraction = 1;
	for (int i = 0; i < EXPERIMENT_ABIS; i++) {
		worker_free(r->abi[i].worker);
		r->abi[i].worker = NULL;
		result->workers += r->abi[i].workers_started;
	}
	result->blocks = r->blocks;
	run_judge_rows(r);
	if (r->blocks)
		run_judge_controls(r);
	else
		result->trusted = true;
	if (r->failure.code)
		distrust(r, r->failure.text);
	else if (result->cut_short && !r->blocks)
		distrust(r, "stopped before anything was measured");
	if (r->blocks)
		run_judge_drift(r);
	note_pending(r);
	note_others(r);
	if (!(r->host.core_hz > 0))
		r->host.core_hz = core_hz(r);
	free(result->host);
	result->host = host_json(&r->host, r->spec.probes);
}

/* Preparation of one ABI after the other, then blocks. */
static void next_preparation(struct run *r, struct error *err)
{
	for (enum experiment_abi i = 0; i < EXPERIMENT_ABIS; i++) {
		struct run_abi *a = &r->abi[i];
		if (!a->used)
			continue;
		if (a->worker && a->waiting != RUN_READY) {
			if (request_preparation(r, a, err)) {
				r->now = (int)i;
				return;
			}
			a->waiting = RUN_READY;
			choose_again(r, a);
			a->used = has_rows(a);
		} else if (!a->worker && a->waiting == RUN_NOTHING) {
			r->now = (int)i;
			if (start_worker(r, a, err))
				fail(r, err);
			return;
		}
	}
	run_plan_bases(r);
	r->phase = RUN_MEASURING;
	r->measure_from = now();
	begin_block(r, err);
}

static void begin_turn(struct run *r, struct error *err)
{
	/* which ABI goes first is drawn anew for every block, so that drift hits both alike */
	enum experiment_abi i = r->todo == 3   ? (enum experiment_abi)(run_draw(r) & 1)
	                        : r->todo == 2 ? 1
	                                       : 0;
	struct run_abi *a = &r->abi[i];
	r->now = (int)i;
	if (!a->worker || a->blocks_of_worker >= RUN_BLOCKS_A_WORKER) {
		if (start_worker(r, a, err))
			fail(r, err);
	} else if (request_block(r, a, err)) {
		fail(r, err);
	}
}

static void begin_block(struct run *r, struct error *err)
{
	r->todo = 0;
	for (unsigned i = 0; i < EXPERIMENT_ABIS; i++)
		r->todo |= (unsigned)r->abi[i].used << i;
	if (!r->todo)
		finish(r, "nothing left to measure");
	else if (make_room(r, err))
		fail(r, err);
	else
		begin_turn(r, err);
}

static uint32_t least_blocks(const struct run *r)
{
	size_t compared = 1;
	for (size_t i = 0; i < r->result->row_count; i++)
		compared += r->result->rows[i].base >= 0;
	/* as many as a signed-rank test needs to be able to call anything at the corrected level,
	 * and some */
	uint32_t n = (uint32_t)ceil(log2(2 * (double)compared / r->result->alpha)) + 4;
	return n > RUN_BLOCKS_LEAST ? n : RUN_BLOCKS_LEAST;
}

/* A control may fail because somebody else was busy for some milliseconds, and a short run is soon
 * over. So one whose controls fail goes on for twice as long again, and half a second at least:
 * what passes is outvoted by what is measured then, and what does not pass still fails. */
static bool be_patient(struct run *r, double t)
{
	run_judge_controls(r);
	if (r->result->trusted)
		return false;
	if (r->patience <= 0)
		r->patience = t + fmax(0.5, 2 * (t - r->measure_from));
	/* verdicts that this look took away are for the next one to give */
	return t < r->patience;
}

static void end_block(struct run *r, struct error *err)
{
	for (enum experiment_abi i = 0; i < EXPERIMENT_ABIS; i++)
		if (r->abi[i].used)
			run_judge_block(r, i);
	r->blocks++;
	double t = now();
	bool late = t - r->measure_from >= r->spec.time_limit;
	bool look = r->blocks >= least_blocks(r) && (r->blocks >= r->next_look || late);
	if (look || t >= r->next_refresh) {
		run_judge_rows(r);
		r->result->blocks = r->blocks;
		/* a large run may take long to judge: a tenth of the time at most goes into that */
		double took = now() - t;
		r->next_refresh = t + fmax(0.05, 10 * took);
	}
	if (look) {
		r->next_look = r->blocks * 1.1 + 1;
		if (run_judge_precise(r) && !be_patient(r, t)) {
			finish(r, "precision reached");
			return;
		}
	}
	if (late)
		finish(r, "time limit of %g s reached", r->spec.time_limit);
	else if (r->blocks >= RUN_BLOCKS_MOST)
		finish(r, "%d placements measured", RUN_BLOCKS_MOST);
	else
		begin_block(r, err);
}

/* Variants are a user's code and may write into the socket: an answer that is not exactly what was
 * asked for ends the run. */
static void refuse_answer(struct run *r, const struct protocol_head *head, struct error *err)
{
	error_set(err, ERROR_INTERNAL,
	          "a worker gave an answer that was not asked for (type %u, %u bytes): does a "
	          "variant write to descriptor %d?",
	          head->type, head->size, PROTOCOL_FD);
	fail(r, err);
}

static void on_samples(struct run *r, struct run_abi *a, const struct protocol_head *head,
                       const uint8_t *body, struct error *err)
{
	struct protocol_samples samples;
	if (head->size < sizeof samples) {
		refuse_answer(r, head, err);
		return;
	}
	memcpy(&samples, body, sizeof samples);
	if (samples.entries != a->entry_count || samples.rounds != block_rounds(r) ||
	    head->size !=
	            sizeof samples + 2 * sizeof(uint32_t) * samples.entries * samples.rounds) {
		refuse_answer(r, head, err);
		return;
	}
	struct protocol_samples *copy = realloc(a->samples, head->size);
	if (!copy) {
		out_of_memory(err);
		fail(r, err);
		return;
	}
	memcpy(copy, body, head->size);
	a->samples = copy;
	r->result->rounds = samples.rounds;
	a->blocks_of_worker++;
	a->waiting = RUN_READY;
	r->todo &= ~(1u << a->program.abi);
	if (r->todo)
		begin_turn(r, err);
	else
		end_block(r, err);
}

static void on_message(struct run *r, struct run_abi *a, const struct protocol_head *head,
                       const uint8_t *body, struct error *err)
{
	static const uint32_t expected[] = {[RUN_NOTHING] = 0,
	                                    [RUN_STARTING] = PROTOCOL_READY,
	                                    [RUN_WAIT_CHECK] = PROTOCOL_CHECKED,
	                                    [RUN_WAIT_SIZE] = PROTOCOL_SIZED,
	                                    [RUN_WAIT_BLOCK] = PROTOCOL_SAMPLES,
	                                    [RUN_READY] = 0};
	struct protocol_checked checked;
	struct protocol_sized sized;
	struct run_track *t;
	if (head->type == PROTOCOL_FAILED) {
		error_set(err, ERROR_INTERNAL, "worker: %.*s",
		          (int)(head->size < 256 ? head->size : 256), (const char *)body);
		fail(r, err);
		return;
	}
	if (head->type != expected[a->waiting]) {
		refuse_answer(r, head, err);
		return;
	}
	switch (head->type) {
	case PROTOCOL_READY:
		if (r->phase == RUN_MEASURING) {
			if (request_block(r, a, err))
				fail(r, err);
		} else {
			next_preparation(r, err);
		}
		return;
	case PROTOCOL_CHECKED:
		if (head->size != sizeof checked)
			break;
		memcpy(&checked, body, sizeof checked);
		t = answered_track(r, a, checked.variant);
		if (!t || !checked.iterations)
			break;
		judge_check(r, a, t, &checked);
		if (a->answered == a->asked_count)
			next_preparation(r, err);
		return;
	case PROTOCOL_SIZED:
		if (head->size != sizeof sized)
			break;
		memcpy(&sized, body, sizeof sized);
		t = answered_track(r, a, sized.variant);
		if (!t || !sized.unroll || sized.unroll > RUN_UNROLL_MOST)
			break;
		t->unroll = sized.unroll;
		t->seconds = fmin((double)sized.ticks / r->host.tsc_hz, RUN_DEADLINE_MS / 1000.0);
		if (a->answered == a->asked_count)
			next_preparation(r, err);
		return;
	case PROTOCOL_SAMPLES:
		on_samples(r, a, head, body, err);
		return;
	default:
		break;
	}
	refuse_answer(r, head, err);
}

/* A worker is gone: the variant that it was running is to blame; the rest goes on with a new one.
 */
static void on_death(struct run *r, struct run_abi *a, bool late, struct error *err)
{
	struct worker_end end = worker_end(a->worker);
	uint32_t doing = end.last.doing;
	worker_free(a->worker);
	a->worker = NULL;
	bool blamed = false;
	for (size_t k = 0; k < a->track_count && doing == PROTOCOL_QUIET; k++)
		if (a->tracks[k].variant == end.last.variant && is_unchecked(&a->tracks[k]))
			blamed = a->tracks[k].bare = true;
	if (doing == PROTOCOL_CHECKING || doing == PROTOCOL_SIZING || doing == PROTOCOL_SAMPLING) {
		for (size_t k = 0; k < a->track_count; k++) {
			struct run_track *t = &a->tracks[k];
			if (t->variant != end.last.variant || t->dead)
				continue;
			if (t->role == RUN_ROW || t->role == RUN_AGAIN || t->role == RUN_BASELINE) {
				bury_dead(r, a, t, t, &end, late);
				blamed = true;
			}
			/* a baseline that dies takes the rows that need it with it */
			for (size_t i = 0; t->role == RUN_BASELINE && i < a->track_count; i++)
				if (a->tracks[i].baseline == (long)k && !a->tracks[i].dead)
					bury_dead(r, a, &a->tracks[i], t, &end, late);
		}
	}
	if (!blamed) {
		if (late)
			error_set(err, ERROR_INTERNAL, "a worker does not answer");
		else if (end.closed)
			error_set(err, ERROR_INTERNAL,
			          "a worker closed its connection, or something else wrote to it");
		else if (end.last.signal)
			error_set(err, ERROR_INTERNAL,
			          "a worker died by signal %u at 0x%llx outside any variant",
			          end.last.signal, (unsigned long long)end.last.pc);
		else
			error_set(err, ERROR_INTERNAL, "a worker ended unasked (%s %d)",
			          end.status < 0 ? "signal" : "status", abs(end.status));
		fail(r, err);
		return;
	}
	a->waiting = RUN_NOTHING;
	if (r->phase == RUN_MEASURING) {
		a->used = has_rows(a);
		run_plan_bases(r);
		if (a->used && (a->again < 0 || a->tracks[a->again].dead))
			choose_again(r, a);
		/* the block on now is measured anew, for all */
		begin_block(r, err);
	} else {
		a->used = has_rows(a);
		next_preparation(r, err);
	}
}

/* ---- what callers see ---- */

static int begin(struct run *r, struct error *err)
{
	const struct run_spec *spec = &r->spec;
	struct result_run *result = r->result;
	time_t t = time(NULL);
	struct tm tm;
	gmtime_r(&t, &tm);
	strftime(result->started, sizeof result->started, "%Y-%m-%dT%H:%M:%SZ", &tm);
	result->command = strdup(spec->command ? spec->command : "");
	result->experiment = strdup(spec->experiment->name);
	result->title = strdup(spec->experiment->title);
	result->legend = spec->legend ? strdup(spec->legend) : NULL;
	result->unit = strdup("iteration");
	result->seed = spec->seed;
	result->cpu = spec->host->cpu;
	result->confidence = 0.99;
	result->alpha = 0.001;
	result->precision_cycles = spec->precision_cycles;
	result->precision_share = spec->precision_share;
	result->excluded = spec->variants->excluded;
	result->curve = spec->experiment->curve;
	result->curve_bytes = spec->experiment->curve_bytes;
	result->curve_scale = spec->experiment->curve_scale;
	result->report_count = spec->experiment->report_count;
	result->report_seconds = spec->experiment->report_seconds;
	result->host = host_json(&r->host, spec->probes);
	look_around(r);
	int rc = run_plan_rows(r, err);
	for (enum experiment_abi i = 0; !rc && i < EXPERIMENT_ABIS; i++)
		rc = run_plan_abi(r, i, err);
	return rc;
}

int run_start(const struct run_spec *spec, struct run **out, struct error *err)
{
	*out = NULL;
	struct run *r = calloc(1, sizeof *r);
	if (!r || !(r->result = calloc(1, sizeof *r->result))) {
		free(r);
		return out_of_memory(err);
	}
	r->spec = *spec;
	r->host = *spec->host;
	r->random = spec->seed;
	r->now = -1;
	r->started = now();
	int rc = begin(r, err);
	if (rc) {
		run_free(r);
		return rc;
	}
	*out = r;
	if (!r->abi[0].used && !r->abi[1].used) {
		finish(r, "nothing that was asked for is possible on this machine");
		r->result->trusted = true;
		return error_set(err, ERROR_ABSENT,
		                 "nothing that was asked for is possible on this machine");
	}
	next_preparation(r, err);
	if (r->failure.code)
		finish(r, "%s", r->failure.text);
	return r->failure.code;
}

size_t run_poll_fds(const struct run *r, struct pollfd *fds, size_t max)
{
	if (r->phase == RUN_DONE || r->now < 0 || !r->abi[r->now].worker || !max)
		return 0;
	fds[0] = (struct pollfd){.fd = worker_fd(r->abi[r->now].worker),
	                         .events = worker_events(r->abi[r->now].worker)};
	return 1;
}

int run_timeout_ms(const struct run *r)
{
	if (r->phase == RUN_DONE || r->stop)
		return 0;
	double left = r->deadline - now();
	return left <= 0 ? 0 : left > 3600 ? 3600000 : (int)(left * 1000) + 1;
}

int run_step(struct run *r, struct error *err)
{
	struct error local = {0};
	if (r->stop && r->phase != RUN_DONE) {
		r->result->cut_short = true;
		finish(r, "stopped");
	}
	while (r->phase != RUN_DONE) {
		struct run_abi *a = &r->abi[r->now];
		struct protocol_head head;
		const void *body;
		int got = worker_receive(a->worker, &head, &body);
		if (got > 0) {
			bool block = head.type == PROTOCOL_SAMPLES;
			on_message(r, a, &head, body, &local);
			/* However fast answers come, the caller has a turn after every block. */
			if (block && r->phase != RUN_DONE)
				return 1;
		} else if (got < 0) {
			on_death(r, a, false, &local);
		} else if (now() > r->deadline) {
			worker_kill(a->worker);
			on_death(r, a, true, &local);
		} else {
			return 1;
		}
	}
	if (r->failure.code) {
		if (!r->result->stop_reason)
			finish(r, "%s", r->failure.text);
		return error_set(err, r->failure.code, "%s", r->failure.text);
	}
	return 0;
}

const struct result_run *run_result(const struct run *r)
{
	return r->result;
}

double run_progress(const struct run *r, double *seconds_left)
{
	double spent = r->phase == RUN_MEASURING ? now() - r->measure_from : 0;
	double by_time = spent / r->spec.time_limit;
	double share = fmax(r->fraction, by_time);
	double floor_share = (double)r->blocks / least_blocks(r);
	if (r->fraction <= 0)
		share = fmax(by_time, floor_share * 0.5);
	if (r->phase == RUN_DONE)
		share = 1;
	share = fmin(share, 1);
	if (seconds_left)
		*seconds_left =
		        r->phase == RUN_DONE ? 0
		        : share > 0.01
		                ? fmax(0, fmin(spent / share - spent, r->spec.time_limit - spent))
		                : r->spec.time_limit;
	return share;
}

void run_stop(struct run *r)
{
	r->stop = true;
}

struct result_run *run_take(struct run *r)
{
	struct result_run *result = r->result;
	r->result = NULL;
	return result;
}

void run_free(struct run *r)
{
	if (!r)
		return;
	for (int i = 0; i < EXPERIMENT_ABIS; i++) {
		struct run_abi *a = &r->abi[i];
		worker_free(a->worker);
		program_free(&a->program);
		for (size_t k = 0; k < a->track_count; k++) {
			free(a->tracks[k].ticks);
			free(a->tracks[k].spread);
		}
		free(a->tracks);
		free(a->worker_of);
		free(a->entry_track);
		free(a->samples);
	}
	result_run_free(r->result);
	free(r);
}

int run_to_end(struct run *r, const volatile int *stop, void (*tick)(struct run *, void *),
               void *ctx, struct error *err)
{
	for (;;) {
		struct pollfd fds[2];
		if (stop && *stop)
			run_stop(r);
		size_t n = run_poll_fds(r, fds, 2);
		int timeout = run_timeout_ms(r);
		/* a signal ends poll; if it came just before, its flag is seen within this time */
		if (poll(fds, n, timeout < 0 || timeout > 50 ? 50 : timeout) < 0 && errno != EINTR)
			return error_errno(err, ERROR_INTERNAL, "poll");
		int rc = run_step(r, err);
		if (tick)
			tick(r, ctx);
		if (rc <= 0)
			return rc;
	}
}
