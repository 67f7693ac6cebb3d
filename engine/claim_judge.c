#include "claim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "decided nine times in ten" */
static const double POWER = 0.9;

static int say(char **out, struct error *err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static int say(char **out, struct error *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(out, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return 0;
	*out = NULL;
	return experiment_words_no_memory(err);
}

static struct stats_interval scaled(struct stats_interval v, double by)
{
	return (struct stats_interval){v.est * by, v.lo * by, v.hi * by};
}

/* Where the interval lies: wholly on the wanted side of the threshold, wholly on the other, or
 * across it. */
static enum claim_verdict place(const struct claim_condition *c, struct stats_interval v)
{
	bool below = c->relation == CLAIM_LESS || c->relation == CLAIM_AT_MOST;
	if (!isfinite(v.lo) || !isfinite(v.hi))
		return CLAIM_UNDECIDED;
	if (v.hi < c->threshold)
		return below ? CLAIM_HOLDS : CLAIM_FAILS;
	if (v.lo > c->threshold)
		return below ? CLAIM_FAILS : CLAIM_HOLDS;
	return CLAIM_UNDECIDED;
}

static int judge_value(const struct claim_condition *c, const struct result_run *run,
                       const struct formula_value *v, struct claim_finding *out, struct error *err)
{
	double half;
	out->value = scaled(v->value, c->unit == CLAIM_PERCENT ? 100 : 1);
	out->verdict = place(c, out->value);
	half = (out->value.hi - out->value.lo) / 2;
	/* the interval decides, so its confidence is the level of this test */
	out->decidable =
	        stats_detectable(half, v->placements, run->confidence, 1 - run->confidence, POWER);
	if (out->verdict != CLAIM_UNDECIDED)
		return 0;
	if (!isfinite(half))
		return say(&out->why, err, "%zu placements are too few for an interval",
		           v->placements);
	/* as many decimals as the uncertainty has a use for */
	int digits = half >= 10 ? 0 : half >= 1 ? 1 : half >= 0.1 ? 2 : 4;
	const char *unit = claim_unit_name[c->unit];
	return say(
	        &out->why, err,
	        "the interval %.*f to %.*f has the threshold %g in it; a value %.*f%s%s from the "
	        "threshold would have been decided nine times in ten",
	        digits, out->value.lo, digits, out->value.hi, c->threshold, digits, out->decidable,
	        *unit && *unit != '%' ? " " : "", unit);
}

static int judge_condition(const struct claim_condition *c, const struct result_run *run,
                           struct claim_finding *out, struct error *err)
{
	struct formula_value v;
	int rc = formula_evaluate(&c->formula, run,
	                          c->unit == CLAIM_NS ? FORMULA_NS : FORMULA_CYCLES, &v, err);
	if (rc)
		return rc;
	/* what does not exist here does not, whatever the controls say */
	if (!run->trusted && v.state != FORMULA_ABSENT) {
		out->verdict = CLAIM_UNDECIDED;
		return say(&out->why, err, "the run is not trusted: %s",
		           run->not_trusted_why ? run->not_trusted_why : "a control failed");
	}
	if (v.state == FORMULA_VALUE)
		return judge_value(c, run, &v, out, err);
	out->verdict = v.state == FORMULA_ABSENT ? CLAIM_UNTESTABLE : CLAIM_UNDECIDED;
	return say(&out->why, err, "%s", v.why);
}

/* What counts before what, of the verdicts of all conditions. */
static const int rank[CLAIM_VERDICTS] = {
        [CLAIM_FAILS] = 3,
        [CLAIM_UNTESTABLE] = 2,
        [CLAIM_UNDECIDED] = 1,
        [CLAIM_HOLDS] = 0,
};

static int judge_conditions(const struct claim *c, const struct result_run *run,
                            struct claim_judgement *out, struct error *err)
{
	const struct claim_finding *worst = NULL;
	int rc = 0;
	for (size_t i = 0; i < c->condition_count && !rc; i++) {
		struct claim_finding *f = &out->findings[i];
		rc = judge_condition(&c->conditions[i], run, f, err);
		if (!worst || rank[f->verdict] > rank[worst->verdict])
			worst = f;
	}
	if (rc || !worst)
		return rc;
	out->verdict = worst->verdict;
	return worst->why ? say(&out->why, err, "%s", worst->why) : 0;
}

/* The same for all conditions: there is no figure to judge. */
static int judge_none(enum claim_verdict verdict, const char *why, struct claim_judgement *out,
                      struct error *err)
{
	int rc = say(&out->why, err, "%s", why);
	out->verdict = verdict;
	for (size_t i = 0; i < out->finding_count && !rc; i++) {
		out->findings[i].verdict = verdict;
		rc = say(&out->findings[i].why, err, "%s", why);
	}
	return rc;
}

int claim_judge(const struct claim *c, const struct result_run *run, enum claim_verdict without,
                const char *why_not, struct claim_judgement *out, struct error *err)
{
	int rc;
	*out = (struct claim_judgement){0};
	out->findings = calloc(c->condition_count + 1, sizeof *out->findings);
	if (!out->findings)
		return experiment_words_no_memory(err);
	out->finding_count = c->condition_count;
	for (size_t i = 0; i < out->finding_count; i++)
		out->findings[i] =
		        (struct claim_finding){.value = {NAN, NAN, NAN}, .decidable = NAN};
	if (c->needs) {
		rc = judge_none(CLAIM_UNTESTABLE, c->needs_why, out, err);
	} else if (!run) {
		rc = judge_none(without, why_not, out, err);
	} else {
		rc = judge_conditions(c, run, out, err);
	}
	if (rc)
		claim_judgement_free(out);
	return rc;
}

void claim_judgement_free(struct claim_judgement *j)
{
	for (size_t i = 0; i < j->finding_count; i++)
		free(j->findings[i].why);
	free(j->findings);
	free(j->why);
	*j = (struct claim_judgement){0};
}
