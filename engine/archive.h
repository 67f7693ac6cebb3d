/* archive: every run, kept in an SQLite file.
 *
 * A run's record (record.h) is stored whole, as text; a few columns beside it are there to list and
 * filter. The number of a run is known only once it is stored, so a record is stored with an empty
 * "run" and comes back so: who reads it with record_read sets run->id. A write is one transaction,
 * WAL, synchronous=FULL (NORMAL does not flush the log at a commit), so that a run is on disk
 * before its rows are printed; two processes may write at once. */
#ifndef ENGINE_ARCHIVE_H
#define ENGINE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "error.h"

struct archive;

enum { ARCHIVE_VERSION = 1 }; /* PRAGMA user_version */

/* $XDG_DATA_HOME/entrylab/runs.db (default ~/.local/share). malloc'ed; NULL when neither
 * XDG_DATA_HOME nor HOME is set. */
char *archive_default_path(void);

/* Opens path, creating file and directories (0600, 0700) if create. Not an SQLite file, corrupt, of
 * a newer version (the message names both versions), no permission, missing and not create:
 * ERROR_NOT_KEPT with path and what to do. Read-only, or a full disk: the same if create; without
 * create the runs in it can still be read. application_id is set and checked, so that another
 * program's database is not written to. A symlink is followed. */
int archive_open(const char *path, bool create, struct archive **out, struct error *err);
void archive_close(struct archive *a); /* or NULL */

/* How long archive_open and archive_add of this process wait for another writer from now on,
 * instead of 5000 ms. For tests. */
void archive_wait_set(int ms);

struct archive_entry {
	int64_t id;
	char *started; /* UTC, ISO 8601 */
	char *experiment;
	char *command;
	char *verdict; /* "trusted", "not trusted", "cut short" */
	double seconds;
	int64_t rows;
	char *host; /* CPU name */
};

/* Stores one record and gives its number. entry->id is ignored. Waits at most 5 s for another
 * writer; then, or on a full disk, a read-only file system or I/O error: ERROR_NOT_KEPT, and the
 * archive is as it was. */
int archive_add(struct archive *a, const struct archive_entry *entry, const char *record,
                int64_t *id, struct error *err);

/* Calls each (newest first) for at most limit runs (0: all) whose experiment equals or whose
 * command contains filter (NULL: all). each returning non-zero ends the walk. The strings live only
 * during the call. Walks the primary key, no sorting: 100,000 runs list their newest 20 in well
 * under 100 ms. */
int archive_each(struct archive *a, const char *filter, size_t limit,
                 int (*each)(const struct archive_entry *, void *), void *ctx, struct error *err);

/* The record of run id (malloc'ed), or of the newest if id is 0. record or entry may be NULL. No
 * such run: ERROR_INPUT, and the range that exists is told. */
int archive_get(struct archive *a, int64_t id, char **record, struct archive_entry *entry,
                struct error *err);
void archive_entry_free(struct archive_entry *e); /* what archive_get put into it, not e itself */

#endif
