#include "archive.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { APPLICATION_ID = 0x656e746c }; /* "entl", as file(1) would show it */

struct archive {
	sqlite3 *db;
	char *path;
};

static int wait_ms = 5000;

/* The record is in a table of its own: listing and filtering then touch only small rows.
 * AUTOINCREMENT: the number of a run that someone deleted is not given again. */
static const char schema[] =
        "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT NOT NULL,"
        " experiment TEXT NOT NULL, command TEXT NOT NULL, verdict TEXT NOT NULL, seconds REAL,"
        " row_count INTEGER NOT NULL, host TEXT NOT NULL);"
        "CREATE TABLE record(run INTEGER PRIMARY KEY REFERENCES run(id), text TEXT NOT NULL);";

#define ENTRY_COLUMNS "run.id, started, experiment, command, verdict, seconds, row_count, host"

void archive_wait_set(int ms)
{
	wait_ms = ms;
}

char *archive_default_path(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n = -1;
	if (data && data[0] == '/') /* the XDG specification: a relative one is to be ignored */
		n = asprintf(&path, "%s/entrylab/runs.db", data);
	else if (home && *home)
		n = asprintf(&path, "%s/.local/share/entrylab/runs.db", home);
	return n < 0 ? NULL : path;
}

/* ---- what went wrong, in words ---- */

#define ANOTHER "name another file with --archive"

static const struct {
	int rc;
	const char *what, *advice;
} failures[] = {
        {SQLITE_BUSY, "another program holds it locked", "wait until that is done, or " ANOTHER},
        {SQLITE_LOCKED, "another program holds it locked", "wait until that is done, or " ANOTHER},
        {SQLITE_FULL, "no space is left on its file system", "free some, or " ANOTHER},
        {SQLITE_READONLY, "read-only", "make the file and its directory writable, or " ANOTHER},
        {SQLITE_NOTADB, "not an SQLite file, so not an archive of runs",
         "move it away, or " ANOTHER},
        {SQLITE_CORRUPT, "damaged",
         "move it away, and the next run makes a new one (the sqlite3 shell's .recover may save "
         "runs from it)"},
        {SQLITE_CANTOPEN, "cannot be opened",
         "check the permissions of the file and its directory, or " ANOTHER},
        {SQLITE_PERM, "cannot be opened",
         "check the permissions of the file and its directory, or " ANOTHER},
        {SQLITE_IOERR, "input or output error", "check the disk, or " ANOTHER},
};

/* SQLite reports some failed writes for want of space as I/O errors. */
static int plain_code(int rc, int os)
{
	bool space = os == ENOSPC || os == EDQUOT;
	return (rc & 0xff) == SQLITE_IOERR && space ? SQLITE_FULL : rc & 0xff;
}

static int fail(const struct archive *a, int rc, struct error *err)
{
	if ((rc & 0xff) == SQLITE_NOMEM)
		return error_set(err, ERROR_INTERNAL, "%s: out of memory", a->path);

	bool os_told = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
	int os = os_told ? sqlite3_system_errno(a->db) : 0;
	rc = plain_code(rc, os);
	/* a log that cannot be made beside the file, for want of leave to write: SQLite says that
	 * it is not there */
	if (rc == SQLITE_CANTOPEN && os == ENOENT && !access(a->path, F_OK)) {
		rc = SQLITE_READONLY;
		os = 0;
	}
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		if (failures[i].rc != rc)
			continue;
		return error_set(err, ERROR_NOT_KEPT, "%s: %s%s%s: %s", a->path, failures[i].what,
		                 os ? ": " : "", os ? strerror(os) : "", failures[i].advice);
	}
	return error_set(err, ERROR_NOT_KEPT, "%s: %s: " ANOTHER, a->path, sqlite3_errmsg(a->db));
}

/* ---- opening ---- */

/* Makes the directories above path that do not exist. */
static int make_directories(const char *path, struct error *err)
{
	char *copy = strdup(path);
	if (!copy)
		return error_set(err, ERROR_INTERNAL, "%s: out of memory", path);
	int rc = 0;
	for (char *s = strchr(copy + strspn(copy, "/"), '/'); s && !rc; s = strchr(s + 1, '/')) {
		*s = '\0';
		struct stat st;
		if (stat(copy, &st) && mkdir(copy, 0700) && errno != EEXIST)
			rc = error_errno(err, ERROR_NOT_KEPT,
			                 "%s: cannot make the directory %s (" ANOTHER ")", path,
			                 copy);
		*s = '/';
	}
	free(copy);
	return rc;
}

/* Sees to it that path is a file, with no more rights than its owner's if it is made here. A file
 * that is there is not opened: closing it would take away the locks of other connections of this
 * process (POSIX, fcntl). */
static int make_file(const char *path, bool create, struct error *err)
{
	struct stat st;
	if (!stat(path, &st)) {
		if (S_ISREG(st.st_mode))
			return 0;
		return error_set(err, ERROR_NOT_KEPT, "%s: not a regular file: " ANOTHER, path);
	}
	if (errno != ENOENT)
		return error_errno(err, ERROR_NOT_KEPT, "%s: cannot be opened (" ANOTHER ")", path);
	if (!create)
		return error_set(err, ERROR_NOT_KEPT,
		                 "%s: no archive there: the first run that is kept makes it", path);
	int rc = make_directories(path, err);
	if (rc)
		return rc;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, ERROR_NOT_KEPT, "%s: cannot be made (" ANOTHER ")", path);
	close(fd);
	return 0;
}

static int execute(struct archive *a, const char *sql)
{
	return sqlite3_exec(a->db, sql, NULL, NULL, NULL);
}

/* Switching to WAL can be refused as busy at once, without the wait that other statements make. */
static int execute_patiently(struct archive *a, const char *sql)
{
	struct timespec start, now;
	long waited;
	int rc;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		rc = execute(a, sql);
		if (rc != SQLITE_BUSY)
			break;
		sqlite3_sleep(5);
		clock_gettime(CLOCK_MONOTONIC, &now);
		waited = (now.tv_sec - start.tv_sec) * 1000 +
		         (now.tv_nsec - start.tv_nsec) / 1000000;
	} while (waited < wait_ms);
	return rc;
}

static int query_integer(struct archive *a, const char *sql, int64_t *out)
{
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(a->db, sql, -1, &s, NULL);
	if (rc)
		return rc;
	rc = sqlite3_step(s);
	*out = sqlite3_column_int64(s, 0);
	int end = sqlite3_finalize(s);
	return rc == SQLITE_ROW ? SQLITE_OK : end;
}

struct identity {
	int64_t application, version, tables;
};

/* Within a transaction, so that the three belong together. */
static int identify(struct archive *a, struct identity *id)
{
	int rc = query_integer(a, "SELECT count(*) FROM sqlite_master", &id->tables);
	if (!rc)
		rc = query_integer(a, "PRAGMA application_id", &id->application);
	if (!rc)
		rc = query_integer(a, "PRAGMA user_version", &id->version);
	return rc;
}

static bool is_blank(const struct identity *id)
{
	return !id->application && !id->version && !id->tables;
}

static int judge(const struct archive *a, const struct identity *id, struct error *err)
{
	if (is_blank(id))
		return error_set(err, ERROR_NOT_KEPT,
		                 "%s: empty: no run was kept there yet, the first that is kept "
		                 "makes it an archive",
		                 a->path);
	if (id->application != APPLICATION_ID)
		return error_set(err, ERROR_NOT_KEPT,
		                 "%s: another program's SQLite database (application_id 0x%08x): "
		                 "it was left alone; " ANOTHER,
		                 a->path, (unsigned)id->application);
	if (id->version > ARCHIVE_VERSION)
		return error_set(err, ERROR_NOT_KEPT,
		                 "%s: an archive of version %lld, and this program knows versions "
		                 "up to %d: use a newer entrylab, or " ANOTHER,
		                 a->path, (long long)id->version, ARCHIVE_VERSION);
	if (id->version < 1)
		return fail(a, SQLITE_CORRUPT, err);
	return 0;
}

static int connect_file(struct archive *a, const char *name, int flags)
{
	sqlite3_close(a->db);
	a->db = NULL;
	int rc = sqlite3_open_v2(name, &a->db, flags | SQLITE_OPEN_EXRESCODE, NULL);
	if (!rc)
		rc = sqlite3_busy_timeout(a->db, wait_ms);
	if (!rc)
		rc = execute(a, "PRAGMA synchronous=FULL");
	return rc;
}

static int connect_and_identify(struct archive *a, const char *name, int flags, struct identity *id)
{
	int rc = connect_file(a, name, flags);
	if (!rc)
		rc = execute(a, "BEGIN");
	if (rc)
		return rc;
	rc = identify(a, id);
	if (!sqlite3_get_autocommit(a->db)) {
		int end = execute(a, "ROLLBACK");
		rc = rc ? rc : end;
	}
	return rc;
}

/* A WAL database is read by help of two files beside it, which cannot be made where nothing can be
 * written. If no log is there the file alone holds everything, and SQLite can be told that it does
 * not change. */
static int connect_immutable(struct archive *a, struct identity *id)
{
	char *real = realpath(a->path, NULL), *log = NULL, *uri = NULL, *to;
	struct stat st;
	int rc = SQLITE_CANTOPEN;
	if (!real || asprintf(&log, "%s-wal", real) < 0)
		goto out;
	if (!stat(log, &st) && st.st_size > 0)
		goto out;
	uri = malloc(3 * strlen(real) + sizeof "file:?immutable=1");
	if (!uri)
		goto out;
	to = stpcpy(uri, "file:");
	for (const char *s = real; *s; s++)
		if (isalnum((unsigned char)*s) || *s == '/')
			*to++ = *s;
		else
			to += sprintf(to, "%%%02x", (unsigned)(unsigned char)*s);
	strcpy(to, "?immutable=1");
	rc = connect_and_identify(a, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, id);
out:
	free(real);
	free(log);
	free(uri);
	return rc;
}

/* Makes an empty database an archive. Another process may be doing the same. */
static int make_archive(struct archive *a, struct identity *id)
{
	int rc = execute_patiently(a, "PRAGMA journal_mode=WAL");
	if (!rc)
		rc = execute(a, "BEGIN IMMEDIATE");
	if (rc)
		return rc;
	rc = identify(a, id);
	if (!rc && is_blank(id)) {
		char marks[80];
		*id = (struct identity){APPLICATION_ID, ARCHIVE_VERSION, 2};
		snprintf(marks, sizeof marks, "PRAGMA application_id=%d; PRAGMA user_version=%d",
		         APPLICATION_ID, ARCHIVE_VERSION);
		rc = execute(a, schema);
		if (!rc)
			rc = execute(a, marks);
	}
	if (!rc)
		rc = execute(a, "COMMIT");
	return rc;
}

static int open_file(struct archive *a, bool create, struct error *err)
{
	/* SQLite takes ":memory:", "file:..." and "" for something else than files. */
	char *name = NULL;
	if (asprintf(&name, "%s%s", a->path[0] == '/' ? "" : "./", a->path) < 0)
		return fail(a, SQLITE_NOMEM, err);
	struct identity id = {0};
	int rc = connect_and_identify(a, name, SQLITE_OPEN_READWRITE, &id);
	free(name);
	bool no_log = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY ||
	              rc == SQLITE_IOERR_SHMSIZE;
	if (!create && no_log) {
		struct archive before = *a;
		a->db = NULL;
		if (connect_immutable(a, &id) == SQLITE_OK) {
			sqlite3_close(before.db);
			rc = SQLITE_OK;
		} else {
			sqlite3_close(a->db);
			*a = before; /* the first error says more */
		}
	}
	if (!rc && create && is_blank(&id) && !sqlite3_db_readonly(a->db, "main"))
		rc = make_archive(a, &id);
	if (rc)
		return fail(a, rc, err);
	int code = 0;
	if (!is_blank(&id) || !create)
		code = judge(a, &id, err);
	if (!code && create && sqlite3_db_readonly(a->db, "main"))
		code = fail(a, SQLITE_READONLY, err);
	return code;
}

int archive_open(const char *path, bool create, struct archive **out, struct error *err)
{
	*out = NULL;
	struct archive *a = calloc(1, sizeof *a);
	if (a)
		a->path = strdup(path);
	if (!a || !a->path) {
		free(a);
		return error_set(err, ERROR_INTERNAL, "%s: out of memory", path);
	}
	int code = make_file(path, create, err);
	if (!code)
		code = open_file(a, create, err);
	if (code)
		archive_close(a);
	else
		*out = a;
	return code;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	sqlite3_close(a->db);
	free(a->path);
	free(a);
}

/* ---- storing ---- */

static int bind_text(sqlite3_stmt *s, int column, const char *text)
{
	return sqlite3_bind_text(s, column, text ? text : "", -1, SQLITE_STATIC);
}

static int finish(sqlite3_stmt *s, int rc)
{
	if (!rc)
		sqlite3_step(s); /* finalize tells its error */
	int end = sqlite3_finalize(s);
	return rc ? rc : end;
}

static int insert_entry(struct archive *a, const struct archive_entry *e, int64_t *id)
{
	static const char sql[] = "INSERT INTO run(started, experiment, command, verdict, seconds,"
	                          " row_count, host) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(a->db, sql, -1, &s, NULL);
	if (rc)
		return rc;
	rc = bind_text(s, 1, e->started);
	rc = rc ? rc : bind_text(s, 2, e->experiment);
	rc = rc ? rc : bind_text(s, 3, e->command);
	rc = rc ? rc : bind_text(s, 4, e->verdict);
	rc = rc ? rc : sqlite3_bind_double(s, 5, e->seconds); /* NAN becomes NULL */
	rc = rc ? rc : sqlite3_bind_int64(s, 6, e->rows);
	rc = rc ? rc : bind_text(s, 7, e->host);
	rc = finish(s, rc);
	*id = sqlite3_last_insert_rowid(a->db);
	return rc;
}

static int insert_record(struct archive *a, int64_t id, const char *record)
{
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(a->db, "INSERT INTO record(run, text) VALUES(?1, ?2)", -1, &s,
	                            NULL);
	if (rc)
		return rc;
	rc = sqlite3_bind_int64(s, 1, id);
	rc = rc ? rc : bind_text(s, 2, record);
	return finish(s, rc);
}

int archive_add(struct archive *a, const struct archive_entry *entry, const char *record,
                int64_t *id, struct error *err)
{
	int64_t given = 0;
	sqlite3_busy_timeout(a->db, wait_ms);
	int rc = execute(a, "BEGIN IMMEDIATE");
	if (rc)
		return fail(a, rc, err);
	rc = insert_entry(a, entry, &given);
	if (!rc)
		rc = insert_record(a, given, record);
	if (!rc)
		rc = execute(a, "COMMIT");
	if (!rc) {
		*id = given;
		return 0;
	}
	int code = fail(a, rc, err); /* before its reason is lost */
	if (!sqlite3_get_autocommit(a->db))
		execute(a, "ROLLBACK");
	return code;
}

/* ---- reading ---- */

/* The strings belong to the statement. NULL ones: out of memory. */
static struct archive_entry entry_of(sqlite3_stmt *s)
{
	return (struct archive_entry){
	        .id = sqlite3_column_int64(s, 0),
	        .started = (char *)sqlite3_column_text(s, 1),
	        .experiment = (char *)sqlite3_column_text(s, 2),
	        .command = (char *)sqlite3_column_text(s, 3),
	        .verdict = (char *)sqlite3_column_text(s, 4),
	        .seconds = sqlite3_column_type(s, 5) == SQLITE_NULL ? NAN
	                                                            : sqlite3_column_double(s, 5),
	        .rows = sqlite3_column_int64(s, 6),
	        .host = (char *)sqlite3_column_text(s, 7),
	};
}

static bool entry_whole(const struct archive_entry *e)
{
	return e->started && e->experiment && e->command && e->verdict && e->host;
}

int archive_each(struct archive *a, const char *filter, size_t limit,
                 int (*each)(const struct archive_entry *, void *), void *ctx, struct error *err)
{
	static const char sql[] = "SELECT " ENTRY_COLUMNS " FROM run"
	                          " WHERE ?1 IS NULL OR experiment = ?1 OR instr(command, ?1)"
	                          " ORDER BY id DESC LIMIT ?2";
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(a->db, sql, -1, &s, NULL);
	if (rc)
		return fail(a, rc, err);
	rc = sqlite3_bind_text(s, 1, filter, -1, SQLITE_STATIC); /* NULL stays NULL */
	if (!rc)
		rc = sqlite3_bind_int64(s, 2, limit && limit < INT64_MAX ? (int64_t)limit : -1);
	while (!rc && sqlite3_step(s) == SQLITE_ROW) {
		struct archive_entry e = entry_of(s);
		if (!entry_whole(&e))
			rc = SQLITE_NOMEM;
		else if (each(&e, ctx))
			break;
	}
	int end = sqlite3_finalize(s);
	rc = rc ? rc : end;
	return rc ? fail(a, rc, err) : 0;
}

static int no_such_run(struct archive *a, int64_t id, struct error *err)
{
	int64_t first = 0, last = 0;
	int rc = query_integer(a, "SELECT min(id) FROM run", &first);
	if (!rc)
		rc = query_integer(a, "SELECT max(id) FROM run", &last);
	if (rc)
		return fail(a, rc, err);
	if (!last)
		return error_set(err, ERROR_INPUT, "%s: holds no runs yet", a->path);
	return error_set(err, ERROR_INPUT, "no run %lld: %s holds runs %lld to %lld", (long long)id,
	                 a->path, (long long)first, (long long)last);
}

static char *copy_text(const char *s, int *rc)
{
	char *copy = s ? strdup(s) : NULL;
	if (!copy)
		*rc = SQLITE_NOMEM;
	return copy;
}

/* Copies what the statement's row holds; frees it all again if memory runs out. */
static int copy_row(sqlite3_stmt *s, char **record, struct archive_entry *entry)
{
	int rc = 0;
	struct archive_entry e = entry_of(s);
	e.started = copy_text(e.started, &rc);
	e.experiment = copy_text(e.experiment, &rc);
	e.command = copy_text(e.command, &rc);
	e.verdict = copy_text(e.verdict, &rc);
	e.host = copy_text(e.host, &rc);
	char *text = copy_text((const char *)sqlite3_column_text(s, 8), &rc);
	if (!rc && record)
		*record = text;
	else
		free(text);
	if (!rc && entry)
		*entry = e;
	else
		archive_entry_free(&e);
	return rc;
}

int archive_get(struct archive *a, int64_t id, char **record, struct archive_entry *entry,
                struct error *err)
{
	/* An entry without its record is damage, not a run that does not exist: hence the outer
	 * join. */
	static const char sql[] = "SELECT " ENTRY_COLUMNS ", text FROM run"
	                          " LEFT JOIN record ON record.run = run.id"
	                          " WHERE run.id = coalesce(?1, (SELECT max(id) FROM run))";
	sqlite3_stmt *s;
	int rc = sqlite3_prepare_v2(a->db, sql, -1, &s, NULL);
	if (rc)
		return fail(a, rc, err);
	if (id)
		rc = sqlite3_bind_int64(s, 1, id);
	bool found = !rc && sqlite3_step(s) == SQLITE_ROW;
	if (found && sqlite3_column_type(s, 8) == SQLITE_NULL)
		rc = SQLITE_CORRUPT;
	else if (found)
		rc = copy_row(s, record, entry);
	int end = sqlite3_finalize(s);
	rc = rc ? rc : end;
	if (rc)
		return fail(a, rc, err);
	return found ? 0 : no_such_run(a, id, err);
}

void archive_entry_free(struct archive_entry *e)
{
	free(e->started);
	free(e->experiment);
	free(e->command);
	free(e->verdict);
	free(e->host);
	*e = (struct archive_entry){0};
}
