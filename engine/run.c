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
	row->cycles = row->ns = row->ticks = row->diff = none;
	va_start(ap, fmt);
	if (vasprintf(&row->reason, fmt, ap) < 0)
		row->reason = NULL;
	va_end(ap);
}

static const char *part_name(uint32_t part)
{
	static const char *const name[] = {"outside its code", "setup", "body", "teardown"};
	return name[part <= PROTOCOL_PART_TEARDOWN ? part : 0];
}

/* A worker's last words as a row that says what happened. */
static void bury_dead(struct run *r, struct run_abi *a, struct run_track *t, const struct worker_end *end, bool late)
{
	const struct protocol_status *s = &end->last;
	struct result_row *row = row_of(r, t);
	bool hung = late || s->signal == SIGALRM;
	int sig = s->signal ? (int)s->signal : end->status < 0 ? -end->status : 0;
	char where[160] = "";
	if (row && s->signal) {
		size_t size;
		const uint8_t *code = program_body(&a->program, t->variant, &size);
		row->crash.signal = sig;
		row->crash.address = s->pc;
		row->crash.in_code = s->part == PROTOCOL_PART_BODY;
		row->crash.offset = s->offset;
		if (row->crash.in_code)
			listing_instruction(a->program.abi, code, size, s->offset, row->crash.instruction,
					    sizeof row->crash.instruction);
		if (s->part == PROTOCOL_PART_NONE)
			snprintf(where, sizeof where, " at 0x%llx, outside its code", (unsigned long long)s->pc);
		else
			snprintf(where, sizeof where, " at %s+0x%x%s%s", part_name(s->part), s->offset,
				 row->crash.instruction[0] ? ": " : "", row->crash.instruction);
	}
	if (hung)
		bury(r, t, RESULT_HUNG, "did not end within %d s%s", RUN_DEADLINE_MS / 1000, where);
	else if (s->signal)
		bury(r, t, RESULT_DIED, "SIG%s%s", sigabbrev_np(sig), where);
	else if (sig)
		bury(r, t, RESULT_DIED, "ended by SIG%s", sigabbrev_np(sig) ? sigabbrev_np(sig) : "?");
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

static bool expectation_holds(const struct experiment_expect *e, const struct protocol_checked *c, uint64_t *left,
			      uint64_t *right)
{
	*left = field(&c->env, e->field);
	*right = e->other ? field(&c->env, e->other) : (uint64_t)e->number * (e->iterations ? c->iterations : 1);
	return *left == *right;
}

static void judge_check(struct run *r, struct run_track *t, const struct protocol_checked *c)
{
	const struct experiment *x = r->spec.experiment;
	struct result_row *row = row_of(r, t);
	if (c->faults & PROTOCOL_CHECK_POINTER) {
		bury(r, t, RESULT_DIED, "changed the pointer to its environment (env: %%rbp or %%ebp)");
		return;
	}
	if (c->faults & PROTOCOL_CHECK_STACK) {
		bury(r, t, RESULT_DIED, "left the stack pointer moved by %d bytes after %u iteration%s", c->stack_moved,
		     c->iterations, c->iterations == 1 ? "" : "s");
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
		bury(r, t, RESULT_WRONG, "does not do what it says: expected %s (%s:%u), found %llu against %llu after %u iterations",
		     x->expects[i].text, x->path, x->expects[i].line, (unsigned long long)left,
		     (unsigned long long)right, c->iterations);
		return;
	}
	t->checked = true;
	t->footprint = c->footprint >= 6;
	if (!t->footprint) {
		row->footprint = RESULT_FOOTPRINT_OFF;
		free(row->footprint_why);
		row->footprint_why = strdup("the body uses %es, or this machine keeps it across interrupts");
	}
}

/* ---- conversation ---- */

static void fail(struct run *r, const struct error *err)
{
	if (!r->failure.code)
		r->failure = *err;
	r->phase = RUN_DONE;
}

static void set_deadline(struct run *r, double seconds)
{
	/* the worker's own alarm comes first and can say where; this one is for variants that have switched it off */
	r->deadline = now() + seconds;
}

static int start_worker(struct run *r, struct run_abi *a, struct error *err)
{
	struct protocol_config config = {
		.version = PROTOCOL_VERSION,
		.cpu = r->host.cpu,
		.seed = run_draw(r),
		.granule = r->host.tsc_granule ? r->host.tsc_granule : 1,
		.deadline_ms = RUN_DEADLINE_MS,
	};
	for (int c = 0; c < HOST_CAPABILITIES; c++)
		config.capabilities |= (uint32_t)r->spec.probes->abi[a->program.abi][c].present << c;
	worker_free(a->worker);
	a->worker = NULL;
	int rc = worker_start(a->program.abi, &config, &a->program, &a->worker, err);
	a->workers_started++;
	a->blocks_of_worker = 0;
	a->waiting = RUN_STARTING;
	set_deadline(r, 5);
	return rc;
}

/* Sends CHECK or SIZE for tracks that still need it, a handful at a time; false when none does. */
static bool request_preparation(struct run *r, struct run_abi *a, struct error *err)
{
	uint32_t list[64], n = 0;
	for (int pass = 0; pass < 2 && !n; pass++) {
		for (size_t k = 0; k < a->track_count && n < 64; k++) {
			const struct run_track *t = &a->tracks[k];
			bool wants = pass == 0 ? !t->checked : !t->unroll;
			if (!t->dead && wants && t->role != RUN_AGAIN)
				list[n++] = t->variant;
		}
		a->waiting = pass == 0 ? RUN_WAIT_CHECK : RUN_WAIT_SIZE;
	}
	if (!n)
		return false;
	if (worker_send(a->worker, a->waiting == RUN_WAIT_CHECK ? PROTOCOL_CHECK : PROTOCOL_SIZE, list, n * sizeof *list,
			NULL, 0, err)) {
		fail(r, err);
		return true;
	}
	set_deadline(r, n * (RUN_DEADLINE_MS / 1000.0) + 2);
	return true;
}

static bool all_answered(const struct run_abi *a)
{
	unsigned unchecked = 0, unsized = 0;
	for (size_t k = 0; k < a->track_count; k++) {
		unchecked += !a->tracks[k].dead && !a->tracks[k].checked;
		unsized += !a->tracks[k].dead && !a->tracks[k].unroll;
	}
	return a->waiting == RUN_WAIT_CHECK ? !unchecked : !unsized;
}

/* The ruler and the A/A pair are in every block; the controls whose figure is known need fewer. */
static bool takes_part(const struct run *r, const struct run_track *t)
{
	bool control = t->role == RUN_TEN || t->role == RUN_ELEVEN || t->role == RUN_IMUL;
	return !control || r->blocks < RUN_CONTROLS_FIRST || r->blocks % RUN_CONTROLS_EVERY == 0;
}

static int request_block(struct run *r, struct run_abi *a, struct error *err)
{
	struct protocol_block block = {.seed = run_draw(r),
				       .rounds = r->spec.experiment->repeat == EXPERIMENT_ONCE ? RUN_ROUNDS_ONCE
											       : RUN_ROUNDS};
	struct protocol_entry *entries = calloc(a->track_count, sizeof *entries);
	uint32_t *tracks = realloc(r->entry_track, a->track_count * sizeof *tracks);
	if (tracks)
		r->entry_track = tracks;
	if (!entries || !tracks) {
		free(entries);
		return out_of_memory(err);
	}
	for (size_t k = 0; k < a->track_count; k++) {
		const struct run_track *t = &a->tracks[k];
		if (t->dead || !takes_part(r, t))
			continue;
		r->entry_track[block.entries] = (uint32_t)k;
		entries[block.entries++] = (struct protocol_entry){
			.variant = t->variant, .unroll = t->unroll, .footprint = t->footprint};
	}
	r->entry_count = block.entries;
	int rc = worker_send(a->worker, PROTOCOL_BLOCK, &block, sizeof block, entries, block.entries * sizeof *entries, err);
	free(entries);
	a->waiting = RUN_WAIT_BLOCK;
	/* every eighth round has the worker's own deadline */
	set_deadline(r, RUN_DEADLINE_MS / 1000.0 * (block.rounds / 8 + 1) + 2);
	return rc;
}

/* Every track has a place for the block on now; what a track has not measured is NAN. */
static int make_room(struct run *r, struct error *err)
{
	for (int i = 0; i < EXPERIMENT_ABIS; i++)
		for (size_t k = 0; k < r->abi[i].track_count; k++) {
			struct run_track *t = &r->abi[i].tracks[k];
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
	return 0;
}

/* How well a row serves as the first half of the A/A pair: a base before others, code before none. */
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
		result->trusted = !result->cut_short;
	for (int i = 0; i < EXPERIMENT_ABIS; i++)
		if (r->abi[i].used && r->blocks && !r->host.core_hz)
			for (uint32_t b = 0; b < r->blocks && !(r->host.core_hz > 0); b++)
				r->host.core_hz = r->host.tsc_hz * 100 / r->abi[i].tracks[r->abi[i].ruler].ticks[b];
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
	enum experiment_abi i = r->todo == 3 ? (enum experiment_abi)(run_draw(r) & 1) : r->todo == 2 ? 1 : 0;
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
	/* as many as a signed-rank test needs to be able to call anything at the corrected level, and some */
	uint32_t n = (uint32_t)ceil(log2(2 * (double)compared / r->result->alpha)) + 4;
	return n > RUN_BLOCKS_LEAST ? n : RUN_BLOCKS_LEAST;
}

static void end_block(struct run *r, struct error *err)
{
	r->blocks++;
	double spent = now() - r->measure_from;
	bool late = spent >= r->spec.time_limit;
	if (r->blocks >= least_blocks(r) && (r->blocks >= r->next_look || late)) {
		run_judge_rows(r);
		r->result->blocks = r->blocks;
		r->next_look = r->blocks * 1.1 + 1;
		if (run_judge_precise(r)) {
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

static struct run_track *find_track(struct run_abi *a, uint32_t variant, bool for_size)
{
	for (size_t k = 0; k < a->track_count; k++) {
		struct run_track *t = &a->tracks[k];
		if (t->variant == variant && t->role != RUN_AGAIN && (for_size ? !t->unroll : !t->checked))
			return t;
	}
	return NULL;
}

static void on_samples(struct run *r, struct run_abi *a, const uint8_t *body, size_t size, struct error *err)
{
	struct protocol_samples head;
	if (size < sizeof head)
		goto bad;
	memcpy(&head, body, sizeof head);
	if (head.entries != r->entry_count || head.rounds > RUN_ROUNDS_ONCE ||
	    size != sizeof head + 8ul * head.entries * head.rounds)
		goto bad;
	run_judge_block(r, a->program.abi, &head, (const uint32_t *)(const void *)(body + sizeof head));
	r->result->rounds = head.rounds;
	a->blocks_of_worker++;
	a->waiting = RUN_READY;
	r->todo &= ~(1u << a->program.abi);
	if (r->todo)
		begin_turn(r, err);
	else
		end_block(r, err);
	return;
bad:
	error_set(err, ERROR_INTERNAL, "a worker's answer has the wrong size");
	fail(r, err);
}

static void on_message(struct run *r, struct run_abi *a, const struct protocol_head *head, const uint8_t *body,
		       struct error *err)
{
	struct protocol_checked checked;
	struct protocol_sized sized;
	struct run_track *t;
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
		if ((t = find_track(a, checked.variant, false)))
			judge_check(r, t, &checked);
		if (all_answered(a))
			next_preparation(r, err);
		return;
	case PROTOCOL_SIZED:
		if (head->size != sizeof sized)
			break;
		memcpy(&sized, body, sizeof sized);
		if ((t = find_track(a, sized.variant, true)))
			t->unroll = sized.unroll ? sized.unroll : 1;
		if (all_answered(a))
			next_preparation(r, err);
		return;
	case PROTOCOL_SAMPLES:
		on_samples(r, a, body, head->size, err);
		return;
	case PROTOCOL_FAILED:
		error_set(err, ERROR_INTERNAL, "worker: %.*s", (int)head->size, (const char *)body);
		fail(r, err);
		return;
	default:
		break;
	}
	error_set(err, ERROR_INTERNAL, "a worker gave an answer that this engine does not know (type %u)", head->type);
	fail(r, err);
}

/* A worker is gone: the variant that it was running is to blame; the rest goes on with a new one. */
static void on_death(struct run *r, struct run_abi *a, bool late, struct error *err)
{
	struct worker_end end = worker_end(a->worker);
	uint32_t doing = end.last.doing;
	worker_free(a->worker);
	a->worker = NULL;
	bool blamed = false;
	if (doing == PROTOCOL_CHECKING || doing == PROTOCOL_SIZING || doing == PROTOCOL_SAMPLING) {
		for (size_t k = 0; k < a->track_count; k++) {
			struct run_track *t = &a->tracks[k];
			if (t->variant != end.last.variant || t->dead)
				continue;
			if (t->role == RUN_ROW || t->role == RUN_AGAIN || t->role == RUN_BASELINE) {
				bury_dead(r, a, t, &end, late);
				blamed = true;
			}
			/* a baseline that dies takes the rows that need it with it */
			for (size_t i = 0; t->role == RUN_BASELINE && i < a->track_count; i++)
				if (a->tracks[i].baseline == (long)k && !a->tracks[i].dead)
					bury_dead(r, a, &a->tracks[i], &end, late);
		}
	}
	if (!blamed) {
		if (end.last.signal)
			error_set(err, ERROR_INTERNAL, "a worker died by signal %u at 0x%llx outside any variant",
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
	result->host = host_json(&r->host, spec->probes);
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
		return error_set(err, ERROR_ABSENT, "nothing that was asked for is possible on this machine");
	}
	next_preparation(r, err);
	return r->failure.code;
}

size_t run_poll_fds(const struct run *r, struct pollfd *fds, size_t max)
{
	if (r->phase == RUN_DONE || r->now < 0 || !r->abi[r->now].worker || !max)
		return 0;
	fds[0] = (struct pollfd){.fd = worker_fd(r->abi[r->now].worker), .events = worker_events(r->abi[r->now].worker)};
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
			on_message(r, a, &head, body, &local);
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
		if (!r->result->stop_reason) {
			finish(r, "%s", r->failure.text);
			r->result->trusted = false;
		}
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
		*seconds_left = share > 0.01 ? fmin(spent / share - spent, r->spec.time_limit - spent)
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
	}
	result_run_free(r->result);
	free(r->entry_track);
	free(r);
}

int run_to_end(struct run *r, const volatile int *stop, void (*tick)(struct run *, void *), void *ctx, struct error *err)
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
