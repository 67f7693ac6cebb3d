#include "tui/wb_samples.h"

#include <math.h>
#include <stdlib.h>

#include "tui/memory.h"

void wb_samples_free(struct wb_samples *s)
{
	for (size_t i = 0; i < s->row_count; i++)
		free(s->rows[i].ticks);
	free(s->rows);
	*s = (struct wb_samples){0};
}

static void pair_begin(struct wb_samples *s, const struct run_sample *sample)
{
	s->row = sample->row;
	s->block = sample->block;
	s->iterations = sample->iterations;
	for (size_t i = 0; i < WB_SAMPLES_ROUNDS; i++)
		s->first[i] = NAN;
}

void wb_samples_begin(struct wb_samples *s, const struct result_run *run)
{
	wb_samples_free(s);
	s->run = run;
	s->seed = run->seed;
	s->rows = memory_get((run->row_count + 1) * sizeof(*s->rows));
	s->row_count = run->row_count;
	s->row = -1;
	s->draw = 88172645463325252u;
}

/* Any even draw will do for a picture. (Marsaglia 2003, xorshift) */
static uint64_t draw(struct wb_samples *s)
{
	s->draw ^= s->draw << 13;
	s->draw ^= s->draw >> 7;
	s->draw ^= s->draw << 17;
	return s->draw;
}

static void row_add(struct wb_samples *s, struct wb_samples_row *row, double ticks)
{
	uint64_t at = row->seen++;

	if (!row->ticks)
		row->ticks = memory_get(WB_SAMPLES_KEPT * sizeof(*row->ticks));
	if (row->count < WB_SAMPLES_KEPT)
		at = row->count++;
	else
		at = draw(s) % (at + 1);
	if (at < WB_SAMPLES_KEPT)
		row->ticks[at] = ticks;
}

void wb_samples_take(struct wb_samples *s, const struct run_sample *sample)
{
	double ticks = sample->state == 'k' ? (double)sample->ticks : NAN, first;

	if (sample->row < 0 || (size_t)sample->row >= s->row_count ||
	    sample->round >= WB_SAMPLES_ROUNDS)
		return;
	if (sample->row != s->row || sample->block != s->block)
		pair_begin(s, sample);
	if (sample->iterations == s->iterations) {
		s->first[sample->round] = ticks;
		return;
	}
	first = s->first[sample->round];
	if (isfinite(first) && isfinite(ticks))
		row_add(s, &s->rows[sample->row],
		        (ticks - first) / ((double)sample->iterations - (double)s->iterations));
}

const struct wb_samples_row *wb_samples_of(const struct wb_samples *s, const struct result_run *run,
                                           size_t row)
{
	if (!run || s->run != run || s->seed != run->seed || row >= s->row_count)
		return NULL;
	return s->rows[row].count ? &s->rows[row] : NULL;
}
