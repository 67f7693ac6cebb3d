#include "formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <muParserDLL.h>

#include "keyfile.h"

const char *const formula_unit_name[FORMULA_UNITS] = {
        [FORMULA_CYCLES] = "cycles",
        [FORMULA_NS] = "ns",
        [FORMULA_SECONDS] = "seconds",
        [FORMULA_BYTES] = "bytes",
};

enum { MOST_REFERENCES = 256 }; /* more is no formula that anybody wrote */

/* A formula on its way. */
struct reading {
	const struct experiment *x;
	const struct experiment_variants *v;
	const struct experiment_words_place *at;
	struct formula *out;
	struct error *err;
	struct experiment_words_list parts; /* of the arithmetic, to be joined */
};

#define FAIL(r, ...) experiment_words_fail((r)->at, (r)->err, __VA_ARGS__)

static void reference_free(struct formula_reference *ref)
{
	for (size_t i = 0; i < ref->level_count; i++) {
		free(ref->levels[i].factor);
		free(ref->levels[i].level);
	}
	free(ref->levels);
	free(ref->text);
}

void formula_free(struct formula *f)
{
	for (size_t i = 0; i < f->reference_count; i++)
		reference_free(&f->references[i]);
	free(f->references);
	free(f->text);
	free(f->arithmetic);
	*f = (struct formula){0};
}

/* References. */

static int add_level(struct reading *r, struct formula_reference *ref, const char *factor,
                     const char *level)
{
	void *grown = reallocarray(ref->levels, ref->level_count + 1, sizeof *ref->levels);
	if (!grown)
		return experiment_words_no_memory(r->err);
	ref->levels = grown;
	struct formula_level *added = &ref->levels[ref->level_count++];
	added->factor = strdup(factor);
	added->level = strdup(level);
	return added->factor && added->level ? 0 : experiment_words_no_memory(r->err);
}

static int read_level(struct reading *r, const char *word, struct formula_reference *ref)
{
	struct experiment_words_list levels;
	size_t factor;
	bool negated;
	const char *value;
	int rc = experiment_words_term(r->x, r->at, word, &factor, &negated, &value, r->err);
	if (rc)
		return rc;
	const char *name = r->x->factors[factor].name;
	if (negated)
		return FAIL(r, "[%s]: a variant is named by what it is: %s=LEVEL", ref->text, name);
	for (size_t i = 0; i < ref->level_count; i++)
		if (!strcmp(ref->levels[i].factor, name))
			return FAIL(r, "[%s] names %s twice", ref->text, name);
	rc = experiment_words_levels(&r->x->factors[factor], r->at, value, &levels, r->err);
	if (rc)
		return rc;
	rc = levels.count == 1
	             ? add_level(r, ref, name, levels.items[0])
	             : FAIL(r, "[%s] is to be one variant, with one level of %s", ref->text, name);
	experiment_words_list_free(&levels);
	return rc;
}

static const char *named_level(const struct formula_reference *ref, const char *factor)
{
	for (size_t i = 0; i < ref->level_count; i++)
		if (!strcmp(ref->levels[i].factor, factor))
			return ref->levels[i].level;
	return NULL;
}

static bool is_variant(const struct reading *r, const struct formula_reference *ref, size_t i)
{
	for (size_t f = 0; f < r->x->factor_count; f++) {
		const char *level = named_level(ref, r->x->factors[f].name);
		if (level && strcmp(r->v->items[i].levels[f], level) != 0)
			return false;
	}
	return true;
}

/* The levels of a factor that the variants have. */
static int levels_of_run(const struct reading *r, size_t f, struct experiment_words_list *out)
{
	int rc = 0;
	*out = (struct experiment_words_list){0};
	for (size_t i = 0; i < r->v->count && !rc; i++) {
		const char *level = r->v->items[i].levels[f];
		bool seen = false;
		for (size_t j = 0; j < out->count && !seen; j++)
			seen = !strcmp(out->items[j], level);
		if (!seen)
			rc = experiment_words_add(out, level, strlen(level), r->err);
	}
	return rc;
}

/* "reg=fs,gs": the same for messages. malloc'ed. */
static char *levels_text(const struct reading *r, size_t f)
{
	struct experiment_words_list levels;
	char *text = NULL;
	int rc = levels_of_run(r, f, &levels);
	char *joined = rc ? NULL : experiment_words_join(levels.items, levels.count, ",");
	if (!joined || asprintf(&text, "%s=%s", r->x->factors[f].name, joined) < 0)
		text = NULL;
	free(joined);
	experiment_words_list_free(&levels);
	return text;
}

/* What the run has of the factors that are named (or of those that vary and are not), for messages.
 * malloc'ed. */
static char *factors_of_run(const struct reading *r, const struct formula_reference *ref,
                            bool named)
{
	struct experiment_words_list words = {0};
	int rc = 0;
	for (size_t f = 0; f < r->x->factor_count && !rc; f++) {
		bool is_named = named_level(ref, r->x->factors[f].name) != NULL;
		if (is_named != named || (!named && !r->v->varies[f]))
			continue;
		char *text = levels_text(r, f);
		rc = text ? experiment_words_add(&words, text, strlen(text), NULL) : ERROR_INTERNAL;
		free(text);
	}
	char *all = rc ? NULL : experiment_words_join(words.items, words.count, " ");
	experiment_words_list_free(&words);
	return all;
}

static int check_reference(struct reading *r, const struct formula_reference *ref)
{
	size_t matches = 0;
	for (size_t i = 0; i < r->v->count; i++)
		matches += is_variant(r, ref, i);
	if (matches == 1)
		return 0;
	char *has = factors_of_run(r, ref, !matches);
	int rc;
	if (!has)
		rc = experiment_words_no_memory(r->err);
	else if (matches)
		rc = FAIL(r, "[%s] is %zu variants of the run: name one level of %s too", ref->text,
		          matches, has);
	else
		rc = FAIL(r, "no variant of the run is [%s]: the run has %s", ref->text, has);
	free(has);
	return rc;
}

/* Takes text, which is freed or kept. */
static int add_reference(struct reading *r, char *text, const struct experiment_words_list *words)
{
	struct formula *out = r->out;
	void *grown =
	        reallocarray(out->references, out->reference_count + 1, sizeof *out->references);
	if (!grown) {
		free(text);
		return experiment_words_no_memory(r->err);
	}
	out->references = grown;
	struct formula_reference *ref = &out->references[out->reference_count++];
	*ref = (struct formula_reference){.text = text};
	int rc = 0;
	for (size_t i = 0; i < words->count && !rc; i++)
		rc = read_level(r, words->items[i], ref);
	return rc ? rc : check_reference(r, ref);
}

/* The number among the references of the one that the words name; a new one if there is none. */
static int find_reference(struct reading *r, const struct experiment_words_list *words,
                          size_t *number)
{
	struct formula *out = r->out;
	char *text = experiment_words_join(words->items, words->count, " ");
	if (!text)
		return experiment_words_no_memory(r->err);
	for (*number = 0; *number < out->reference_count; ++*number) {
		if (!strcmp(out->references[*number].text, text)) {
			free(text);
			return 0;
		}
	}
	if (*number == MOST_REFERENCES) {
		free(text);
		return FAIL(r, "more than %d variants in one formula", MOST_REFERENCES);
	}
	return add_reference(r, text, words);
}

/* "v7" in the arithmetic, or ",v7" for one that is not the first of several. */
static int put_variable(struct reading *r, size_t number, bool first)
{
	char name[24];
	int n = snprintf(name, sizeof name, "%sv%zu", first ? "" : ",", number);
	return experiment_words_add(&r->parts, name, (size_t)n, r->err);
}

/* The word of the list that is "FACTOR=*"; its count if there is none. */
static size_t find_star(const struct experiment_words_list *words)
{
	size_t i = 0, n;
	while (i < words->count &&
	       ((n = strlen(words->items[i])) < 3 || strcmp(words->items[i] + n - 2, "=*") != 0))
		i++;
	return i;
}

/* "[factor=* ...]": every variant of the run that is the rest, side by side as arguments of min()
 * and max(). */
static int read_several(struct reading *r, struct experiment_words_list *words, size_t star)
{
	char *pattern = words->items[star];
	struct experiment_words_list levels;
	size_t factor, number;
	bool negated;
	const char *value;
	int rc = experiment_words_term(r->x, r->at, pattern, &factor, &negated, &value, r->err);
	if (rc)
		return rc;
	rc = levels_of_run(r, factor, &levels);
	for (size_t i = 0; i < levels.count && !rc; i++) {
		char *word;
		if (asprintf(&word, "%s=%s", r->x->factors[factor].name, levels.items[i]) < 0) {
			rc = experiment_words_no_memory(r->err);
			break;
		}
		words->items[star] = word;
		rc = find_reference(r, words, &number);
		if (!rc)
			rc = put_variable(r, number, i == 0);
		free(word);
	}
	words->items[star] = pattern;
	experiment_words_list_free(&levels);
	return rc;
}

/* "[factor=level ...]" of n bytes, without the brackets. What is put in its place is as long, if it
 * can be, so that places in the library's messages are those of the text. */
static int read_reference(struct reading *r, const char *s, size_t n)
{
	struct experiment_words_list words = {0};
	size_t number, before = r->parts.count, used = 0;
	char *copy = strndup(s, n);
	int rc = copy ? keyfile_words(copy, &words, r->err) : experiment_words_no_memory(r->err);
	free(copy);
	size_t star = find_star(&words);
	if (!rc && !words.count)
		rc = FAIL(r, "[] names no variant: [FACTOR=LEVEL ...]");
	else if (!rc && star < words.count)
		rc = read_several(r, &words, star);
	else if (!rc && !(rc = find_reference(r, &words, &number)))
		rc = put_variable(r, number, true);
	for (; before < r->parts.count; before++)
		used += strlen(r->parts.items[before]);
	for (; used < n + 2 && !rc; used++)
		rc = experiment_words_add(&r->parts, " ", 1, r->err);
	experiment_words_list_free(&words);
	return rc;
}

/* Arithmetic. */

static muParserHandle_t arithmetic_open(const struct formula *f, double *values)
{
	muParserHandle_t h = mupCreate(muBASETYPE_FLOAT);
	for (size_t i = 0; h && i < f->reference_count; i++) {
		char name[24];
		snprintf(name, sizeof name, "v%zu", i);
		mupDefineVar(h, name, &values[i]);
	}
	if (h)
		mupSetExpr(h, f->arithmetic);
	return h;
}

/* What may stand between references; gives how many bytes it is, 0 for what may not. */
static size_t token_length(const char *s)
{
	if (strchr("0123456789.+-*/(), \t", *s))
		return 1;
	return !strncmp(s, "min(", 4) || !strncmp(s, "max(", 4) ? 3 : 0;
}

static int read_arithmetic(struct reading *r)
{
	struct formula *out = r->out;
	int rc = 0;
	for (const char *s = out->text; *s && !rc;) {
		size_t n = *s == '[' ? strcspn(s, "]") : token_length(s);
		if (!n)
			return FAIL(r,
			            "'%.40s' is no arithmetic: numbers, + - * / ( ), min(...), "
			            "max(...) and [FACTOR=LEVEL ...]",
			            s);
		if (*s == '[' && !s[n])
			return FAIL(r, "'%.40s': the bracket is never closed", s);
		rc = *s == '[' ? read_reference(r, s + 1, n - 1)
		               : experiment_words_add(&r->parts, s, n, r->err);
		s += *s == '[' ? n + 1 : n;
	}
	if (!rc && !out->reference_count)
		return FAIL(r, "'%s' names no variant", out->text);
	if (!rc)
		out->arithmetic = experiment_words_join(r->parts.items, r->parts.count, "");
	return rc || out->arithmetic ? rc : experiment_words_no_memory(r->err);
}

static double value_at(muParserHandle_t h, double *values, size_t n, double by)
{
	/* no two alike, and no small whole numbers: nothing cancels by chance */
	for (size_t i = 0; i < n; i++)
		values[i] = by * (100 + 31.4159 * (double)i + sqrt((double)i + 2));
	return mupEval(h);
}

/* The degree, found by trying: what doubles with all costs is one. */
static int find_degree(struct reading *r, muParserHandle_t h, double *values)
{
	struct formula *out = r->out;
	int results = 0;
	mupEvalMulti(h, &results);
	if (mupError(h)) {
		int at = mupGetErrorPos(h), length = (int)strlen(out->text);
		return FAIL(r, "'%s' cannot be worked out%s%s%s", out->text,
		            at >= 0 && at < length ? ": look at '" : "",
		            at >= 0 && at < length ? out->text + at : "",
		            at >= 0 && at < length ? "'" : "");
	}
	double once = value_at(h, values, out->reference_count, 1);
	double twice = value_at(h, values, out->reference_count, 2);
	if (results != 1)
		return FAIL(r,
		            "'%s' is more than one figure: * and commas stand in min() and max()",
		            out->text);
	if (!isfinite(once) || !isfinite(twice) || (once == 0 && twice == 0))
		return FAIL(r, "'%s' is always zero, or not a number", out->text);
	if (fabs(twice - once) <= 1e-9 * fabs(once))
		out->degree = 0;
	else if (fabs(twice - 2 * once) <= 1e-9 * fabs(once))
		out->degree = 1;
	else
		return FAIL(
		        r,
		        "'%s' is neither a cost nor a ratio of costs: does it add a number to a "
		        "cost, or multiply two?",
		        out->text);
	return 0;
}

int formula_parse(const char *text, const struct experiment *x, const struct experiment_variants *v,
                  const struct experiment_words_place *at, struct formula *out, struct error *err)
{
	struct reading r = {x, v, at, out, err, {0}};
	*out = (struct formula){.text = strdup(text)};
	int rc = out->text ? read_arithmetic(&r) : experiment_words_no_memory(err);
	experiment_words_list_free(&r.parts);
	double *values = rc ? NULL : calloc(out->reference_count, sizeof *values);
	muParserHandle_t h = values ? arithmetic_open(out, values) : NULL;
	if (!rc)
		rc = h ? find_degree(&r, h, values) : experiment_words_no_memory(err);
	if (h)
		mupRelease(h);
	free(values);
	if (rc)
		formula_free(out);
	return rc;
}

/* Evaluation. */

static bool row_is(const struct result_run *run, const struct result_row *row,
                   const struct formula_reference *ref)
{
	for (size_t i = 0; i < ref->level_count; i++) {
		size_t f = 0;
		while (f < run->factor_count &&
		       strcmp(run->factors[f].name, ref->levels[i].factor) != 0)
			f++;
		if (f == run->factor_count || strcmp(row->levels[f], ref->levels[i].level) != 0)
			return false;
	}
	return true;
}

/* The only row that a reference names; NULL if it is none or several. */
static const struct result_row *find_row(const struct result_run *run,
                                         const struct formula_reference *ref)
{
	const struct result_row *found = NULL;
	for (size_t i = 0; i < run->row_count; i++) {
		if (!row_is(run, &run->rows[i], ref))
			continue;
		if (found)
			return NULL;
		found = &run->rows[i];
	}
	return found;
}

__attribute__((format(printf, 3, 4))) static void
value_lacks(struct formula_value *out, enum formula_state state, const char *fmt, ...)
{
	va_list ap;
	out->state = state;
	va_start(ap, fmt);
	vsnprintf(out->why, sizeof out->why, fmt, ap);
	va_end(ap);
}

/* Whether the row has a figure; out says why not. */
static bool row_stands(const struct result_row *row, const struct formula_reference *ref,
                       struct formula_value *out)
{
	if (!row) {
		value_lacks(out, FORMULA_UNMEASURED, "the run has no row %s", ref->text);
		return false;
	}
	if (row->state == RESULT_ABSENT) {
		value_lacks(out, FORMULA_ABSENT, "%s: %s", ref->text,
		            row->reason ? row->reason : "not on this machine");
		return false;
	}
	if (row->state != RESULT_MEASURED || !row->placement_count) {
		value_lacks(out, FORMULA_UNMEASURED, "%s: %s%s%s", ref->text,
		            result_state_name[row->state], row->reason ? ": " : "",
		            row->reason ? row->reason : "");
		return false;
	}
	return true;
}

/* Nanoseconds of a cycle, as this run measured them: from the row where they are known best. */
static double ns_per_cycle(const struct result_run *run)
{
	const struct result_row *best = NULL;
	for (size_t i = 0; i < run->row_count; i++) {
		const struct result_row *row = &run->rows[i];
		if (row->state == RESULT_MEASURED && (!best || row->cycles.est > best->cycles.est))
			best = row;
	}
	return best ? best->ns.est / best->cycles.est : NAN;
}

static double unit_scale(const struct result_run *run, enum formula_unit unit)
{
	switch (unit) {
	case FORMULA_NS:
		return ns_per_cycle(run);
	case FORMULA_SECONDS:
		return ns_per_cycle(run) * 1e-9;
	case FORMULA_CYCLES:
	case FORMULA_BYTES:
	case FORMULA_UNITS:
		break;
	}
	return 1;
}

/* Where variants have pools, it is these that are counted: one without has none. */
static void evaluate_bytes(const struct formula *f, const struct result_run *run,
                           const struct result_row *const *rows, muParserHandle_t h, double *values,
                           struct formula_value *out)
{
	bool pools = result_run_has_pools(run);
	for (size_t i = 0; i < f->reference_count; i++)
		values[i] = pools ? rows[i]->pool_bytes : rows[i]->code_bytes;
	double v = mupEval(h);
	out->value = (struct stats_interval){v, v, v};
}

static void evaluate_cost(const struct formula *f, const struct result_run *run,
                          const struct result_row *const *rows, double scale, muParserHandle_t h,
                          double *values, double *results, struct formula_value *out)
{
	size_t n = 0;
	for (size_t k = 0; k < rows[0]->placement_count; k++) {
		for (size_t i = 0; i < f->reference_count; i++)
			values[i] = rows[i]->placements[k] * scale;
		double v = mupEval(h);
		if (isfinite(v))
			results[n++] = v;
	}
	out->placements = n;
	if (!n)
		value_lacks(out, FORMULA_UNMEASURED, "'%s' is not a number here", f->text);
	else
		out->value = f->reference_count == 1
		                     ? stats_median(results, n, run->confidence)
		                     : stats_hodges_lehmann(results, n, run->confidence);
}

/* The rows of all references, with as many placements each: those of the same blocks. */
static bool find_rows(const struct formula *f, const struct result_run *run,
                      const struct result_row **rows, struct formula_value *out)
{
	/* what does not exist here counts before what merely went wrong */
	for (size_t i = 0; i < f->reference_count; i++) {
		rows[i] = find_row(run, &f->references[i]);
		if (rows[i] && rows[i]->state == RESULT_ABSENT)
			return row_stands(rows[i], &f->references[i], out);
	}
	for (size_t i = 0; i < f->reference_count; i++)
		if (!row_stands(rows[i], &f->references[i], out))
			return false;
	for (size_t i = 1; i < f->reference_count; i++)
		if (rows[i]->placement_count != rows[0]->placement_count) {
			value_lacks(out, FORMULA_UNMEASURED,
			            "%s and %s were not measured in the same placements",
			            f->references[0].text, f->references[i].text);
			return false;
		}
	return true;
}

int formula_evaluate(const struct formula *f, const struct result_run *run, enum formula_unit unit,
                     struct formula_value *out, struct error *err)
{
	const struct result_row **rows = calloc(f->reference_count, sizeof(*rows));
	double *values = calloc(f->reference_count, sizeof *values), *results = NULL;
	muParserHandle_t h = values ? arithmetic_open(f, values) : NULL;
	int rc = 0;
	*out = (struct formula_value){.value = {NAN, NAN, NAN}};
	if (!rows || !h) {
		rc = experiment_words_no_memory(err);
	} else if (!find_rows(f, run, rows, out)) {
		/* out says why */
	} else if (unit == FORMULA_BYTES) {
		evaluate_bytes(f, run, rows, h, values, out);
	} else {
		results = calloc(rows[0]->placement_count, sizeof *results);
		if (results)
			evaluate_cost(f, run, rows, unit_scale(run, unit), h, values, results, out);
		else
			rc = experiment_words_no_memory(err);
	}
	if (h)
		mupRelease(h);
	free(results);
	free(values);
	free(rows);
	return rc;
}
