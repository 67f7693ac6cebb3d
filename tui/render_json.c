#include "tui/render_json.h"

#include <math.h>
#include <stdlib.h>

#include "tui/memory.h"

json_t *render_json_text(const char *text)
{
	json_t *v;
	char *copy;

	if (!text)
		return json_null();
	v = json_string(text);
	if (v)
		return v;
	copy = memory_copy(text);
	for (char *s = copy; *s; s++)
		if ((unsigned char)*s >= 0x80)
			*s = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

json_t *render_json_number(double v)
{
	return isfinite(v) ? json_real(v + 0.0) : json_null(); /* + 0.0: -0 is 0 */
}

json_t *render_json_interval(const struct stats_interval *i)
{
	json_t *o = json_object();

	json_object_set_new(o, "est", render_json_number(i->est));
	json_object_set_new(o, "lo", render_json_number(i->lo));
	json_object_set_new(o, "hi", render_json_number(i->hi));
	return o;
}

void render_json_line(FILE *out, json_t *object)
{
	json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(10));
	fputc('\n', out);
	json_decref(object);
}
