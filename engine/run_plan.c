#include "run_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

/* The instrument's own variants. Register to register: newer CPUs remove dependent adds of an
 * immediate at rename, and such a ruler would measure itself. */
static const char controls_text[] =
        "#: title Controls\n"
        "#: factor code ruler ten eleven imul\n"
        ".macro setup code\nxor %eax, %eax\nmov $1, %ecx\n.endm\n"
        ".macro teardown code\n.endm\n"
        ".macro body code\n"
        ".ifc \\code,ruler\n.rept 100\nadd %ecx, %eax\n.endr\n"
        ".else\n.ifc \\code,ten\n.rept 10\nadd %ecx, %eax\n.endr\n"
        ".else\n.ifc \\code,eleven\n.rept 11\nadd %ecx, %eax\n.endr\n"
        ".else\n.ifc \\code,imul\n.rept 100\nimul %ecx, %eax\n.endr\n"
        ".else\n.error \"controls: no such code\"\n.endif\n.endif\n.endif\n.endif\n"
        ".endm\n";

static const struct {
	enum run_role role;
	char *levels[2];
} controls[] = {
        {RUN_RULER, {(char *)"", (char *)"ruler"}},
        {RUN_TEN, {(char *)"", (char *)"ten"}},
        {RUN_ELEVEN, {(char *)"", (char *)"eleven"}},
        {RUN_IMUL, {(char *)"", (char *)"imul"}},
};
enum { CONTROLS = sizeof controls / sizeof controls[0] };

static int out_of_memory(struct error *err)
{
	return error_set(err, ERROR_INTERNAL, "out of memory");
}

/* Why a variant cannot run here, or NULL. */
static char *absent_reason(const struct run *r, const struct experiment_variant *v)
{
	const struct experiment *x = r->spec.experiment;
	const struct host_probe *have = r->spec.probes->abi[v->abi];
	enum host_capability self = v->abi == EXPERIMENT_I386 ? HOST_I386 : HOST_X86_64;
	char *why = NULL;
	if (!have[self].present)
		return asprintf(&why, "%s: %s", host_capabilities[self].name, have[self].why) < 0
		               ? NULL
		               : why;
	for (size_t i = 0; i < x->need_count; i++) {
		const struct experiment_need *need = &x->needs[i];
		if (!experiment_condition_holds(x, &need->when, v->levels))
			continue;
		for (size_t k = 0; k < need->capability_count; k++) {
			int c = host_capability_find(need->capabilities[k]);
			if (c >= 0 && !have[c].present)
				return asprintf(&why, "%s: %s", host_capabilities[c].name,
				                have[c].why) < 0
				               ? NULL
				               : why;
		}
	}
	return NULL;
}

static bool factor_varies(const struct experiment_variants *v, size_t f)
{
	for (size_t i = 1; i < v->count; i++)
		if (strcmp(v->items[i].levels[f], v->items[0].levels[f]))
			return true;
	return false;
}

static void empty_row(struct result_row *row)
{
	const struct stats_interval none = {NAN, NAN, NAN};
	row->cycles = row->ns = row->ticks = row->diff = none;
	row->p = row->p_holm = row->detectable = NAN;
	row->base = -1;
}

int run_plan_rows(struct run *r, struct error *err)
{
	const struct experiment *x = r->spec.experiment;
	const struct experiment_variants *v = r->spec.variants;
	struct result_run *result = r->result;
	result->rows = calloc(v->count, sizeof *result->rows);
	result->factors = calloc(x->factor_count, sizeof *result->factors);
	if (!result->rows || !result->factors)
		return out_of_memory(err);
	result->row_count = v->count;
	result->factor_count = x->factor_count;
	for (size_t f = 0; f < x->factor_count; f++) {
		result->factors[f].name = strdup(x->factors[f].name);
		result->factors[f].varies = factor_varies(v, f);
	}
	for (size_t i = 0; i < v->count; i++) {
		struct result_row *row = &result->rows[i];
		empty_row(row);
		row->levels = calloc(x->factor_count, sizeof *row->levels);
		row->label = experiment_variant_label(x, v, i);
		if (!row->levels || !row->label)
			return out_of_memory(err);
		for (size_t f = 0; f < x->factor_count; f++)
			row->levels[f] = strdup(v->items[i].levels[f]);
		if (r->spec.bases)
			row->base = r->spec.bases[i];
		row->reason = absent_reason(r, &v->items[i]);
		if (row->reason)
			row->state = RESULT_ABSENT;
	}
	return 0;
}

static void set_footprint(struct result_row *row, enum result_footprint state, const char *why)
{
	row->footprint = state;
	free(row->footprint_why);
	row->footprint_why = strdup(why);
}

static bool touches_es(const struct program *p, size_t section)
{
	return listing_touches_es(p->abi, p->bytes + p->sections[section].offset,
	                          p->sections[section].size);
}

/* The footprint is a null selector in %es: code that uses %es would be other code with it, and an
 * interrupt taken in the kernel leaves none. Returns whether it may be put down. */
static bool describe_code(struct result_row *row, const struct program *p, size_t variant,
                          bool loop)
{
	const struct protocol_variant *v = &p->variants[variant];
	const int32_t parts[] = {v->setup, v->body, v->pool, v->baseline, v->teardown};
	size_t size;
	bool bare = false;
	const uint8_t *code = program_body(p, variant, &size);
	row->code_bytes = (uint32_t)size;
	row->pool_bytes = program_pool_bytes(p, variant);
	program_body_hash(p, variant, row->sha256);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (parts[i] >= 0)
			bare |= touches_es(p, (size_t)parts[i]);
	/* and what the file puts into .text, which every variant may call */
	for (size_t i = 0; i < p->section_count; i++)
		if (p->sections[i].variant == PROTOCOL_SHARED &&
		    p->sections[i].flags & PROTOCOL_EXEC)
			bare |= touches_es(p, i);
	if (bare)
		set_footprint(row, RESULT_FOOTPRINT_OFF, "the code uses %es");
	else if (listing_enters_kernel(p->abi, code, size))
		set_footprint(
		        row, RESULT_FOOTPRINT_PARTIAL,
		        "the body enters the kernel: an interrupt taken there leaves no footprint");
	else if (loop && v->copies < 2)
		/* by a call through a pointer, or a fault: that is not seen in the code */
		set_footprint(row, RESULT_FOOTPRINT_PARTIAL,
		              "code that loops may enter the kernel: an interrupt taken there "
		              "leaves no footprint");
	return !bare;
}

static struct run_track *add_track(struct run_abi *a, enum run_role role, const char *name,
                                   long row, size_t variant)
{
	struct run_track *t = &a->tracks[a->track_count++];
	*t = (struct run_track){.role = role,
	                        .name = name,
	                        .row = row,
	                        .variant = (uint32_t)variant,
	                        .baseline = -1};
	return t;
}

/* A further variant of the program, made of sections that it has. */
static size_t add_variant(struct program *p, struct protocol_variant v)
{
	p->variants[p->variant_count] = v;
	return p->variant_count++;
}

/* What the variants want in the LDT: the most that any wants. */
static void plan_ldt(const struct run *r, struct run_abi *a, const long *rows, size_t n)
{
	const struct experiment *x = r->spec.experiment;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < x->ldt_count; k++) {
			const struct experiment_setting *s = &x->ldts[k];
			uint32_t *most = s->value ? &a->ldt_code : &a->ldt_data;
			if (experiment_condition_holds(x, &s->when,
			                               r->result->rows[rows[i]].levels) &&
			    s->count > (long)*most)
				*most = (uint32_t)s->count;
		}
	}
}

/* The track of a loop like that variant's, with nothing in it: one for all that have so many copies
 * in a turn, and something or nothing on the stack. */
static long empty_loop(struct run_abi *a, const struct protocol_variant *like)
{
	const struct protocol_variant none = {.setup = -1,
	                                      .teardown = -1,
	                                      .body = -1,
	                                      .baseline = -1,
	                                      .pool = -1,
	                                      .align = 1,
	                                      .repeat = PROTOCOL_LOOP,
	                                      .copies = like->copies,
	                                      .stack = like->stack};
	for (size_t i = 0; i < a->track_count; i++) {
		const struct protocol_variant *v = &a->program.variants[a->tracks[i].variant];
		if (a->tracks[i].role == RUN_BASELINE && v->body < 0 && v->copies == none.copies &&
		    v->stack == none.stack)
			return (long)i;
	}
	add_track(a, RUN_BASELINE, "empty loop", -1, add_variant(&a->program, none))->checked =
	        true;
	return (long)a->track_count - 1;
}

static void plan_tracks(struct run *r, struct run_abi *a, const long *rows, size_t n)
{
	struct program *p = &a->program;
	for (size_t i = 0; i < CONTROLS; i++) {
		struct run_track *t = add_track(a, controls[i].role, controls[i].levels[1], -1, i);
		/* the instrument's own variants are known to be good. They carry the footprint as
		 * rows do: without it the ladder's rungs read 0.03% less than they are. */
		t->checked = true;
		t->footprint = r->spec.probes->abi[p->abi][HOST_FOOTPRINT].present;
	}
	a->ruler = 0;
	a->ten = 1;
	a->eleven = 2;
	a->imul = 3;
	a->again = -1;
	for (size_t i = 0; i < n; i++) {
		size_t variant = CONTROLS + i;
		struct protocol_variant body = p->variants[variant];
		struct result_row *row = &r->result->rows[rows[i]];
		bool loop = body.repeat == PROTOCOL_LOOP;
		bool with_footprint = describe_code(row, p, variant, loop);
		struct run_track *t = add_track(a, RUN_ROW, row->label, rows[i], variant);
		t->bare = !with_footprint;
		t->once = body.repeat == PROTOCOL_ONCE;
		if (body.baseline >= 0) {
			t->baseline = (long)a->track_count;
			body.body = body.baseline;
			body.baseline = -1;
			struct run_track *base =
			        add_track(a, RUN_BASELINE, "baseline", -1, add_variant(p, body));
			base->checked = true;
			base->once = t->once;
		} else if (loop) {
			t->baseline = empty_loop(a, &body);
		}
	}
}

/* The assembler says a thing once for every variant, so the first few lines tell what there is to
 * be told. */
static void add_warnings(struct run *r, const char *text)
{
	enum { LINES = 5 };
	const char *end = text;
	for (unsigned i = 0; i < LINES && *end; i++) {
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	size_t n = (size_t)(end - text);
	while (n && text[n - 1] == '\n')
		n--;
	result_event_add(r->result, "warning", "assembler: %.*s%s", (int)n, text,
	                 *end ? "\n..." : "");
}

int run_plan_abi(struct run *r, enum experiment_abi abi, struct error *err)
{
	const struct experiment_variants *v = r->spec.variants;
	struct run_abi *a = &r->abi[abi];
	size_t n = 0;
	int rc = 0;
	struct experiment *own = NULL;
	struct program_item *items = calloc(v->count + CONTROLS, sizeof *items);
	long *rows = calloc(v->count + 1, sizeof *rows);
	if (!items || !rows) {
		rc = out_of_memory(err);
		goto done;
	}
	for (size_t i = 0; i < v->count; i++) {
		if (v->items[i].abi != abi || r->result->rows[i].state == RESULT_ABSENT)
			continue;
		items[CONTROLS + n] = (struct program_item){r->spec.experiment, v->items[i].levels};
		rows[n++] = (long)i;
	}
	if (!n)
		goto done;
	rc = experiment_parse("controls", "controls", controls_text, sizeof controls_text - 1, &own,
	                      err);
	if (rc)
		goto done;
	for (size_t i = 0; i < CONTROLS; i++)
		items[i] = (struct program_item){own, controls[i].levels};
	rc = program_build(abi, items, CONTROLS + n, r->spec.probes, &a->program, err);
	if (rc)
		goto done;
	/* room for a baseline of each row, and for the A/A pair's second half */
	struct protocol_variant *more =
	        realloc(a->program.variants, (CONTROLS + 2 * n + 2) * sizeof *more);
	a->tracks = calloc(CONTROLS + 2 * n + 2, sizeof *a->tracks);
	if (more)
		a->program.variants = more;
	if (!more || !a->tracks) {
		rc = out_of_memory(err);
		goto done;
	}
	a->used = true;
	plan_tracks(r, a, rows, n);
	plan_ldt(r, a, rows, n);
	if (a->program.warnings && *a->program.warnings && strstr(a->program.warnings, "Warning:"))
		add_warnings(r, a->program.warnings);
done:
	experiment_free(own);
	free(items);
	free(rows);
	return rc;
}

void run_plan_bases(struct run *r)
{
	struct result_run *result = r->result;
	for (size_t i = 0; i < result->row_count; i++) {
		long b = result->rows[i].base;
		if (b >= 0 && result->rows[b].state > RESULT_MEASURED && b != (long)i)
			result->rows[i].base = -1;
	}
}
