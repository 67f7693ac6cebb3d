#include "result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const result_state_name[RESULT_STATES] = {
        [RESULT_PENDING] = "pending", [RESULT_MEASURED] = "measured", [RESULT_ABSENT] = "absent",
        [RESULT_WRONG] = "wrong",     [RESULT_DIED] = "died",         [RESULT_HUNG] = "hung",
};

const char *const result_footprint_name[3] = {
        [RESULT_FOOTPRINT_ON] = "on",
        [RESULT_FOOTPRINT_PARTIAL] = "partial",
        [RESULT_FOOTPRINT_OFF] = "off",
};

const char *const result_verdict_name[RESULT_VERDICTS] = {
        [RESULT_VERDICT_NONE] = "none",       [RESULT_BASE] = "base",
        [RESULT_DIFFERENT] = "different",     [RESULT_NO_DIFFERENCE] = "no-difference",
        [RESULT_NOT_TRUSTED] = "not-trusted",
};

static void row_free(struct result_row *row, size_t factor_count)
{
	for (size_t i = 0; row->levels && i < factor_count; i++)
		free(row->levels[i]);
	free(row->levels);
	free(row->label);
	free(row->reason);
	free(row->footprint_why);
	free(row->placements);
}

bool result_run_has_pools(const struct result_run *run)
{
	for (size_t i = 0; i < run->row_count; i++)
		if (run->rows[i].pool_bytes)
			return true;
	return false;
}

struct stats_interval result_row_report(const struct result_run *run, const struct result_row *row)
{
	const struct stats_interval *one = run->report_seconds ? &row->ns : &row->cycles;
	double times =
	        run->report_count ? run->report_count * (run->report_seconds ? 1e-9 : 1) : NAN;
	return (struct stats_interval){
	        .est = one->est * times, .lo = one->lo * times, .hi = one->hi * times};
}

void result_run_free(struct result_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->row_count; i++)
		row_free(&run->rows[i], run->factor_count);
	free(run->rows);
	for (size_t i = 0; i < run->factor_count; i++)
		free(run->factors[i].name);
	free(run->factors);
	for (size_t i = 0; i < run->control_count; i++) {
		free(run->controls[i].name);
		free(run->controls[i].what);
		free(run->controls[i].text);
	}
	free(run->controls);
	for (size_t i = 0; i < run->event_count; i++) {
		free(run->events[i].level);
		free(run->events[i].text);
	}
	free(run->events);
	free(run->command);
	free(run->experiment);
	free(run->title);
	free(run->legend);
	free(run->host);
	free(run->unit);
	free(run->not_trusted_why);
	free(run->stop_reason);
	free(run);
}

void result_event_add(struct result_run *run, const char *level, const char *fmt, ...)
{
	struct result_event event = {.level = strdup(level)};
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&event.text, fmt, ap) < 0)
		event.text = NULL;
	va_end(ap);

	struct result_event *events =
	        reallocarray(run->events, run->event_count + 1, sizeof *run->events);
	if (events)
		run->events = events;
	if (!events || !event.level || !event.text) {
		/* Out of memory: the run's figures matter more than a word about them. */
		free(event.level);
		free(event.text);
		return;
	}
	run->events[run->event_count++] = event;
}
