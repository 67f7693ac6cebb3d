/* record: a run as JSON, one object a line, and back. This is the format of --format jsonl, of the
 * archive and of `export`; the fields are listed in entrylab(1), section OUTPUT. Uses jansson. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "error.h"
#include "result.h"

/* Kinds, in this order: one "run", one "host" (none if run->host is NULL), "event"s, "control"s,
 * "result"s (each row), "comparison"s (each row that has a base and is not itself that base), and
 * of a curve for each series a "curve" and its "knee"s, which are found again and not read. Every
 * object has "kind" and "run" (run->id). Returns one malloc'ed text, a newline after every object.
 * Missing numbers are null with a "reason" beside them, never 0; figures against a base are written
 * for rows that have one. Bytes that are not UTF-8 become U+FFFD. NULL: out of memory. */
char *record_write(const struct result_run *run);

/* One line of progress while a run is on, newline included:
 * {"kind":"event","level":"progress",...}. fraction is 0 to 1; seconds_left NAN: not known. Caller
 * frees. NULL: out of memory. */
char *record_progress(const struct result_run *run, double fraction, double seconds_left);

/* The opposite of record_write: *out has the same facts and is the caller's. Progress lines,
 * unknown kinds and unknown fields are ignored, so that a newer file's facts can still be shown.
 * Text that is not such a record, or that lacks results: ERROR_INPUT with the line. */
int record_read(const char *text, struct result_run **out, struct error *err);

#endif
