#include "engine/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];   /* of this test alone */
static char path[128]; /* dir/runs.db */

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/entrylab-archive-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof path, "%s/runs.db", dir);
	archive_wait_set(5000);
	return 0;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(name);
}

static int tear_down(void **state)
{
	(void)state;
	chmod(dir, 0700);
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- what the tests share ---- */

static const struct archive_entry plain = {
        .started = (char *)"2026-11-30T15:14:41Z",
        .experiment = (char *)"segreg",
        .command = (char *)"run segreg reg=fs",
        .verdict = (char *)"trusted",
        .seconds = 0.25,
        .rows = 9,
        .host = (char *)"A CPU",
};

static struct archive *open_or_fail(const char *name)
{
	struct archive *a;
	struct error err = {0};
	if (archive_open(name, true, &a, &err))
		fail_msg("%s", err.text);
	return a;
}

static int64_t add_or_fail(struct archive *a, const char *experiment, const char *command,
                           const char *record)
{
	struct archive_entry e = plain;
	struct error err = {0};
	int64_t id = 0;
	e.experiment = (char *)experiment;
	e.command = (char *)command;
	if (archive_add(a, &e, record, &id, &err))
		fail_msg("%s", err.text);
	return id;
}

/* An archive of n runs with records of about 2 KiB, closed. */
static void make_archive(const char *name, int n)
{
	char record[2048];
	struct archive *a = open_or_fail(name);
	memset(record, 'r', sizeof record);
	record[sizeof record - 1] = '\0';
	for (int i = 0; i < n; i++)
		add_or_fail(a, "segreg", "run segreg", record);
	archive_close(a);
}

static void refuse_open(const char *name, bool create, const char *message)
{
	struct archive *a = (struct archive *)&a;
	struct error err = {0};
	assert_int_equal(archive_open(name, create, &a, &err), ERROR_NOT_KEPT);
	assert_int_equal(err.code, ERROR_NOT_KEPT);
	assert_null(a);
	if (!strstr(err.text, name))
		fail_msg("\"%s\" does not name %s", err.text, name);
	if (!strstr(err.text, message))
		fail_msg("\"%s\" does not say \"%s\"", err.text, message);
}

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static char *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	char *data = malloc(1 << 20);
	*size = fread(data, 1, 1 << 20, f);
	assert_int_equal(fclose(f), 0);
	return data;
}

static sqlite3 *raw_open(const char *name)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
	return db;
}

static void raw_execute(sqlite3 *db, const char *sql)
{
	char *message = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &message))
		fail_msg("%s: %s", sql, message);
}

static int64_t raw_integer(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static void check_integrity(const char *name)
{
	sqlite3 *db = raw_open(name);
	sqlite3_stmt *s;
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
	sqlite3_close(db);
}

/* What archive_each gives, as "3 2 1 ". */
struct ids {
	char text[256];
	size_t count, stop_after;
};

static int collect(const struct archive_entry *e, void *ctx)
{
	struct ids *ids = ctx;
	size_t used = strlen(ids->text);
	snprintf(ids->text + used, sizeof ids->text - used, "%lld ", (long long)e->id);
	return ++ids->count == ids->stop_after;
}

static void expect_ids(struct archive *a, const char *filter, size_t limit, const char *expected)
{
	struct ids ids = {0};
	struct error err = {0};
	assert_int_equal(archive_each(a, filter, limit, collect, &ids, &err), 0);
	assert_string_equal(ids.text, expected);
}

/* Runs step in a child: 0 is passed, 77 skipped with the reason it printed. */
static pid_t start_child(int (*step)(void))
{
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion leaves none behind */
		_exit(step());
	}
	return pid;
}

static int child_status(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum { SKIP = 77 };

static void run_child(int (*step)(void))
{
	int status = child_status(start_child(step));
	if (status == SKIP)
		skip();
	assert_int_equal(status, 0);
}

/* For children, where cmocka's assertions do not reach. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/* ---- storing and finding ---- */

static void a_new_archive_makes_directories_and_file_for_its_owner_alone(void **state)
{
	char deep[256], at[256];
	struct stat st;
	(void)state;
	snprintf(deep, sizeof deep, "%s/a/b/runs.db", dir);
	mode_t before = umask(0);
	struct archive *a = open_or_fail(deep);
	add_or_fail(a, "segreg", "run segreg", "text");
	umask(before);
	static const struct {
		const char *name;
		mode_t mode;
	} made[] = {{"a", 0700}, {"a/b", 0700}, {"a/b/runs.db", 0600}, {"a/b/runs.db-wal", 0600}};
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
		snprintf(at, sizeof at, "%s/%s", dir, made[i].name);
		assert_int_equal(stat(at, &st), 0);
		assert_int_equal(st.st_mode & 07777, made[i].mode);
	}
	archive_close(a);
}

static void a_record_comes_back_whole_after_reopening(void **state)
{
	(void)state;
	size_t size = 3 << 20;
	char *big = malloc(size + 1), *record;
	for (size_t i = 0; i < size; i++)
		big[i] = "{\"é\\n\"}\n'; --"[i % 14];
	big[size] = '\0';
	struct archive *a = open_or_fail(path);
	int64_t id = add_or_fail(a, "segreg", "run segreg 'x'", big);
	archive_close(a);

	struct archive_entry e;
	struct error err = {0};
	assert_int_equal(archive_open(path, false, &a, &err), 0);
	assert_int_equal(archive_get(a, id, &record, &e, &err), 0);
	assert_string_equal(record, big);
	assert_int_equal(e.id, id);
	assert_string_equal(e.started, plain.started);
	assert_string_equal(e.experiment, "segreg");
	assert_string_equal(e.command, "run segreg 'x'");
	assert_string_equal(e.verdict, "trusted");
	assert_true(e.seconds == 0.25);
	assert_int_equal(e.rows, 9);
	assert_string_equal(e.host, "A CPU");
	free(record);
	archive_entry_free(&e);
	archive_close(a);
	free(big);
}

static void what_is_not_known_of_a_run_does_not_keep_it_out(void **state)
{
	(void)state;
	struct archive *a = open_or_fail(path);
	struct archive_entry nothing = {.seconds = NAN}, e;
	struct error err = {0};
	int64_t id;
	assert_int_equal(archive_add(a, &nothing, "text", &id, &err), 0);
	assert_int_equal(archive_get(a, id, NULL, &e, &err), 0);
	assert_string_equal(e.command, "");
	assert_true(isnan(e.seconds));
	archive_entry_free(&e);
	archive_close(a);
}

static void a_run_is_on_disk_as_soon_as_it_is_added(void **state)
{
	(void)state;
	struct archive *a = open_or_fail(path), *b = open_or_fail(path);
	add_or_fail(a, "segreg", "run segreg", "text");
	expect_ids(b, NULL, 0, "1 ");
	sqlite3 *db = raw_open(path);
	sqlite3_stmt *s;
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "wal");
	sqlite3_finalize(s);
	sqlite3_close(db);
	archive_close(a);
	archive_close(b);
}

static void runs_are_listed_newest_first_filtered_and_limited(void **state)
{
	(void)state;
	struct archive *a = open_or_fail(path);
	add_or_fail(a, "segreg", "run segreg reg=fs", "1");
	add_or_fail(a, "ladder", "run ladder adds=1", "2");
	add_or_fail(a, "snippets", "asm 'push %fs' 100%_", "3");
	add_or_fail(a, "segreg", "again", "4");
	expect_ids(a, NULL, 0, "4 3 2 1 ");
	expect_ids(a, NULL, 2, "4 3 ");
	expect_ids(a, "segreg", 0, "4 1 ");
	expect_ids(a, "segreg", 1, "4 ");
	expect_ids(a, "run", 0, "2 1 ");
	expect_ids(a, "100%_", 0, "3 "); /* no pattern: these characters */
	expect_ids(a, "%", 0, "3 ");
	expect_ids(a, "'push", 0, "3 ");
	expect_ids(a, "nothing", 0, "");
	archive_close(a);
}

static void a_walk_ends_when_the_caller_says_so(void **state)
{
	(void)state;
	make_archive(path, 5);
	struct archive *a = open_or_fail(path);
	struct ids ids = {.stop_after = 2};
	struct error err = {0};
	assert_int_equal(archive_each(a, NULL, 0, collect, &ids, &err), 0);
	assert_string_equal(ids.text, "5 4 ");
	archive_close(a);
}

static void a_run_is_found_by_number_and_the_newest_by_zero(void **state)
{
	(void)state;
	struct archive *a = open_or_fail(path);
	struct archive_entry e;
	struct error err = {0};
	char *record;
	add_or_fail(a, "segreg", "run segreg", "first");
	add_or_fail(a, "segreg", "run segreg", "second");
	assert_int_equal(archive_get(a, 1, &record, NULL, &err), 0);
	assert_string_equal(record, "first");
	free(record);
	assert_int_equal(archive_get(a, 0, &record, &e, &err), 0);
	assert_string_equal(record, "second");
	assert_int_equal(e.id, 2);
	free(record);
	archive_entry_free(&e);
	archive_close(a);
}

static void a_number_that_no_run_has_is_answered_with_the_range(void **state)
{
	(void)state;
	struct archive *a = open_or_fail(path);
	struct error err = {0};
	char *record;
	assert_int_equal(archive_get(a, 0, &record, NULL, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "holds no runs yet"));
	for (int i = 0; i < 3; i++)
		add_or_fail(a, "segreg", "run segreg", "text");
	assert_int_equal(archive_get(a, 17, &record, NULL, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "no run 17: "));
	assert_non_null(strstr(err.text, "holds runs 1 to 3"));
	assert_int_equal(archive_get(a, -1, &record, NULL, &err), ERROR_INPUT);
	archive_close(a);
}

static void a_symlink_is_followed_even_if_its_target_is_not_there_yet(void **state)
{
	char link[160], there[160];
	struct stat st;
	(void)state;
	snprintf(link, sizeof link, "%s/link.db", dir);
	snprintf(there, sizeof there, "%s/there", dir);
	assert_int_equal(mkdir(there, 0700), 0);
	snprintf(there, sizeof there, "%s/there/real.db", dir);
	assert_int_equal(symlink("there/real.db", link), 0);
	make_archive(link, 2);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	struct archive *a = open_or_fail(there);
	expect_ids(a, NULL, 0, "2 1 ");
	archive_close(a);
}

static void names_that_mean_something_to_sqlite_are_plain_files(void **state)
{
	static const char *const names[] = {":memory:", "file:x.db?mode=memory", "a b%41#.db"};
	char before[4096];
	(void)state;
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(dir), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct stat st;
		make_archive(names[i], 1);
		assert_int_equal(stat(names[i], &st), 0);
		assert_true(st.st_size > 0);
	}
	refuse_open("", true, "");
	assert_int_equal(chdir(before), 0);
}

static void expect_default(const char *data, const char *home, const char *expected)
{
	if (data)
		setenv("XDG_DATA_HOME", data, 1);
	else
		unsetenv("XDG_DATA_HOME");
	if (home)
		setenv("HOME", home, 1);
	else
		unsetenv("HOME");
	char *got = archive_default_path();
	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
	free(got);
}

static void the_default_place_follows_xdg(void **state)
{
	(void)state;
	char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
	char *data = getenv("XDG_DATA_HOME") ? strdup(getenv("XDG_DATA_HOME")) : NULL;
	expect_default("/data", "/home/x", "/data/entrylab/runs.db");
	expect_default("", "/home/x", "/home/x/.local/share/entrylab/runs.db");
	expect_default("relative", "/home/x", "/home/x/.local/share/entrylab/runs.db");
	expect_default(NULL, "/home/x", "/home/x/.local/share/entrylab/runs.db");
	expect_default(NULL, "", NULL);
	expect_default(NULL, NULL, NULL);
	if (home)
		setenv("HOME", home, 1);
	if (data)
		setenv("XDG_DATA_HOME", data, 1);
	free(home);
	free(data);
}

/* ---- files that are no archive ---- */

static void nothing_is_made_where_nothing_is_to_be_created(void **state)
{
	char deep[160];
	struct stat st;
	(void)state;
	refuse_open(path, false, "no archive there");
	snprintf(deep, sizeof deep, "%s/a/runs.db", dir);
	refuse_open(deep, false, "no archive there");
	assert_int_not_equal(stat(path, &st), 0);
	snprintf(deep, sizeof deep, "%s/a", dir);
	assert_int_not_equal(stat(deep, &st), 0);
	write_file(path, "", 0);
	refuse_open(path, false, "no run was kept there yet");
	make_archive(path, 1); /* an empty file is as good as none */
}

static void what_is_not_a_file_is_refused(void **state)
{
	char below[160];
	(void)state;
	refuse_open(dir, true, "not a regular file");
	refuse_open("/dev/null", true, "not a regular file");
	write_file(path, "x", 1);
	snprintf(below, sizeof below, "%s/below.db", path);
	refuse_open(below, true, "Not a directory");
}

/* Refused, and not one byte of it changed. */
static void refuse_untouched(const char *message)
{
	size_t before_size, after_size;
	char *before = read_file(path, &before_size);
	refuse_open(path, true, message);
	refuse_open(path, false, message);
	char *after = read_file(path, &after_size);
	assert_int_equal(before_size, after_size);
	assert_memory_equal(before, after, before_size);
	free(before);
	free(after);
}

static void a_file_that_is_no_database_is_refused_and_left_alone(void **state)
{
	char junk[8192];
	(void)state;
	for (size_t i = 0; i < sizeof junk; i++)
		junk[i] = (char)(i * 2654435761u >> 13);
	write_file(path, junk, sizeof junk);
	refuse_untouched("not an SQLite file");
	write_file(path, "hello\n", 6);
	refuse_untouched("not an SQLite file");
	memcpy(junk, "SQLite format 3", 16);
	write_file(path, junk, sizeof junk);
	refuse_untouched("not an SQLite file");
}

static void a_truncated_archive_is_refused_and_left_alone(void **state)
{
	size_t size;
	(void)state;
	make_archive(path, 30);
	char *whole = read_file(path, &size);
	assert_true(size > 16 * 4096);
	for (size_t cut = 100; cut < size; cut += cut < 8192 ? 700 : 9000) {
		write_file(path, whole, cut);
		refuse_untouched("damaged");
	}
	free(whole);
}

static void a_page_overwritten_with_garbage_is_an_error_not_a_wrong_run(void **state)
{
	size_t size;
	(void)state;
	make_archive(path, 30);
	char *whole = read_file(path, &size);
	size_t noticed = 0;
	for (size_t page = 4096; page < size; page += 4096) {
		char *broken = malloc(size);
		memcpy(broken, whole, size);
		memset(broken + page, 0xa5, 4096);
		write_file(path, broken, size);
		free(broken);
		struct archive *a;
		struct error err = {0};
		int code = archive_open(path, true, &a, &err);
		struct ids ids = {0};
		if (!code)
			code = archive_each(a, NULL, 0, collect, &ids, &err);
		for (int64_t id = 1; !code && id <= 30; id++) {
			char *record;
			code = archive_get(a, id, &record, NULL, &err);
			if (!code)
				free(record);
		}
		if (code) {
			assert_int_equal(code, ERROR_NOT_KEPT);
			assert_non_null(strstr(err.text, "damaged"));
			noticed++;
		}
		archive_close(a);
	}
	assert_true(noticed >= 2); /* b-tree pages; a page of a record's text is only text */
	free(whole);
}

static void an_entry_without_its_record_is_damage_not_a_missing_run(void **state)
{
	(void)state;
	make_archive(path, 2);
	sqlite3 *db = raw_open(path);
	raw_execute(db, "DELETE FROM record WHERE run = 1");
	sqlite3_close(db);
	struct archive *a = open_or_fail(path);
	struct error err = {0};
	char *record;
	assert_int_equal(archive_get(a, 1, &record, NULL, &err), ERROR_NOT_KEPT);
	assert_non_null(strstr(err.text, "damaged"));
	archive_close(a);
}

static void a_run_that_fails_halfway_leaves_nothing_behind(void **state)
{
	(void)state;
	make_archive(path, 1);
	sqlite3 *db = raw_open(path);
	raw_execute(db, "CREATE TRIGGER halfway BEFORE INSERT ON record WHEN new.text = 'bad' "
	                "BEGIN SELECT RAISE(FAIL, 'halfway'); END");
	struct archive *a = open_or_fail(path);
	struct error err = {0};
	int64_t id = 0;
	assert_int_equal(archive_add(a, &plain, "bad", &id, &err), ERROR_NOT_KEPT);
	assert_non_null(strstr(err.text, "halfway"));
	assert_int_equal(id, 0);
	assert_int_equal(raw_integer(db, "SELECT count(*) FROM run"), 1);
	add_or_fail(a, "segreg", "run segreg", "good");
	assert_int_equal(raw_integer(db, "SELECT count(*) FROM run"), 2);
	assert_int_equal(raw_integer(db, "SELECT count(*) FROM record"), 2);
	sqlite3_close(db);
	archive_close(a);
}

static void another_programs_database_is_refused_and_left_alone(void **state)
{
	(void)state;
	sqlite3 *db = raw_open(path);
	raw_execute(db, "CREATE TABLE bookmarks(url)");
	sqlite3_close(db);
	refuse_untouched("another program's SQLite database");
	db = raw_open(path);
	raw_execute(db, "PRAGMA application_id=252006674");
	sqlite3_close(db);
	refuse_untouched("application_id 0x0f055112");
}

static void an_archive_of_a_newer_version_is_refused_with_both_versions(void **state)
{
	(void)state;
	make_archive(path, 1);
	sqlite3 *db = raw_open(path);
	raw_execute(db, "PRAGMA user_version=7");
	sqlite3_close(db);
	refuse_untouched("version 7, and this program knows versions up to 1");
}

/* ---- where nothing can be written ---- */

/* Gives this child a file system of its own on dir. */
static int mount_private(const char *options)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", dir, "tmpfs", 0, options)) {
		printf("skipped: cannot mount here: %s\n", strerror(errno));
		fflush(stdout);
		return SKIP;
	}
	return 0;
}

/* Reading goes, storing says why not, and what is there stays. */
static int check_read_only(void)
{
	struct archive *a;
	struct error err = {0};
	struct ids ids = {0};
	int64_t id = 0;
	char *record;
	CHECK(archive_open(path, true, &a, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, path));
	CHECK(strstr(err.text, "read-only") || strstr(err.text, "cannot be opened"));
	CHECK(strstr(err.text, "--archive"));
	CHECK(!archive_open(path, false, &a, &err));
	CHECK(!archive_each(a, NULL, 0, collect, &ids, &err));
	CHECK(!strcmp(ids.text, "3 2 1 "));
	CHECK(!archive_get(a, 2, &record, NULL, &err));
	CHECK(strlen(record) == 2047);
	CHECK(archive_add(a, &plain, "text", &id, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, "read-only"));
	CHECK(id == 0);
	archive_close(a);
	free(record);
	return 0;
}

static int on_a_read_only_file_system(void)
{
	int rc = mount_private("size=1m");
	if (rc)
		return rc;
	make_archive(path, 3);
	CHECK(!mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL));
	rc = check_read_only();
	struct archive *a;
	struct error err = {0};
	char fresh[160];
	snprintf(fresh, sizeof fresh, "%s/new/runs.db", dir);
	CHECK(archive_open(fresh, true, &a, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, "Read-only file system"));
	return rc;
}

static void a_read_only_file_system_is_told_and_can_be_read(void **state)
{
	(void)state;
	run_child(on_a_read_only_file_system);
}

/* Permissions do not bind root. */
static int become_nobody(void)
{
	if (geteuid() == 0 && (setgid(65534) || setuid(65534))) {
		printf("skipped: cannot give up root's rights: %s\n", strerror(errno));
		fflush(stdout);
		return SKIP;
	}
	return 0;
}

static int as_nobody(void)
{
	int rc = become_nobody();
	return rc ? rc : check_read_only();
}

static void a_read_only_file_is_told_and_can_be_read(void **state)
{
	(void)state;
	make_archive(path, 3);
	chmod(path, 0444);
	chmod(dir, 0777);
	run_child(as_nobody);
}

static void a_read_only_directory_is_told_and_can_be_read(void **state)
{
	(void)state;
	make_archive(path, 3);
	chmod(path, 0666);
	chmod(dir, 0555);
	run_child(as_nobody);
}

static int as_nobody_without_permission(void)
{
	struct archive *a;
	struct error err = {0};
	int rc = become_nobody();
	if (rc)
		return rc;
	for (int create = 0; create < 2; create++) {
		CHECK(archive_open(path, create, &a, &err) == ERROR_NOT_KEPT);
		CHECK(strstr(err.text, "Permission denied"));
	}
	return 0;
}

static void an_archive_without_permission_is_told(void **state)
{
	(void)state;
	make_archive(path, 1);
	chmod(path, 0);
	chmod(dir, 0555);
	run_child(as_nobody_without_permission);
}

static int fill_disk(const char *name)
{
	static const char zeros[4096];
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	while (write(fd, zeros, sizeof zeros) > 0)
		;
	CHECK(errno == ENOSPC);
	close(fd);
	return 0;
}

static int on_a_full_disk(void)
{
	static char big[200000];
	char filler[160];
	struct archive *a;
	struct error err = {0};
	int64_t id = 0;
	int rc = mount_private("size=1m");
	if (rc)
		return rc;
	memset(big, 'x', sizeof big - 1);
	snprintf(filler, sizeof filler, "%s/filler", dir);

	/* no room for the archive at all */
	CHECK(!fill_disk(filler));
	CHECK(archive_open(path, true, &a, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, "no space is left"));
	CHECK(!unlink(filler));

	/* no room for one more run */
	make_archive(path, 3);
	CHECK(!archive_open(path, true, &a, &err));
	CHECK(!fill_disk(filler));
	CHECK(archive_add(a, &plain, big, &id, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, "no space is left"));
	CHECK(strstr(err.text, path));
	CHECK(id == 0);
	struct ids ids = {0};
	CHECK(!archive_each(a, NULL, 0, collect, &ids, &err));
	CHECK(!strcmp(ids.text, "3 2 1 "));

	/* room again: the same handle goes on */
	CHECK(!unlink(filler));
	CHECK(!archive_add(a, &plain, big, &id, &err));
	CHECK(id == 4);
	archive_close(a);
	check_integrity(path);

	/* no room even to open for writing; what is there can be read */
	CHECK(!fill_disk(filler));
	CHECK(archive_open(path, true, &a, &err) == ERROR_NOT_KEPT);
	CHECK(strstr(err.text, "no space is left"));
	CHECK(!archive_open(path, false, &a, &err));
	ids = (struct ids){0};
	CHECK(!archive_each(a, NULL, 0, collect, &ids, &err));
	CHECK(!strcmp(ids.text, "4 3 2 1 "));
	archive_close(a);
	return 0;
}

static void a_full_disk_is_told_and_the_archive_is_as_it_was(void **state)
{
	(void)state;
	run_child(on_a_full_disk);
}

/* ---- several writers ---- */

static void an_archive_that_stays_locked_is_told_after_the_wait(void **state)
{
	(void)state;
	struct error err = {0};
	int64_t id = 0;
	struct archive *a = open_or_fail(path);
	sqlite3 *other = raw_open(path);
	raw_execute(other, "BEGIN EXCLUSIVE");
	archive_wait_set(50);
	assert_int_equal(archive_add(a, &plain, "text", &id, &err), ERROR_NOT_KEPT);
	assert_non_null(strstr(err.text, "another program holds it locked"));
	assert_non_null(strstr(err.text, path));
	assert_int_equal(id, 0);
	raw_execute(other, "ROLLBACK");
	assert_int_equal(archive_add(a, &plain, "text", &id, &err), 0);
	assert_int_equal(id, 1);
	sqlite3_close(other);
	archive_close(a);
}

static void a_database_locked_before_it_is_an_archive_is_told(void **state)
{
	(void)state;
	sqlite3 *other = raw_open(path);
	raw_execute(other, "BEGIN EXCLUSIVE");
	archive_wait_set(50);
	refuse_open(path, true, "another program holds it locked");
	raw_execute(other, "ROLLBACK");
	sqlite3_close(other);
	make_archive(path, 1);
}

static int ready[2]; /* a pipe from child to parent */

static int hold_lock_for_a_while(void)
{
	sqlite3 *db;
	struct timespec hold = {.tv_nsec = 200000000};
	CHECK(sqlite3_open(path, &db) == SQLITE_OK);
	CHECK(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(write(ready[1], "x", 1) == 1);
	nanosleep(&hold, NULL);
	CHECK(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
	return 0;
}

static void another_writer_is_waited_for(void **state)
{
	char c;
	(void)state;
	make_archive(path, 1);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = start_child(hold_lock_for_a_while);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	struct archive *a = open_or_fail(path);
	assert_int_equal(add_or_fail(a, "segreg", "run segreg", "text"), 2);
	archive_close(a);
	close(ready[0]);
	assert_int_equal(child_status(pid), 0);
}

static int write_a_hundred(void)
{
	struct archive *a;
	struct error err = {0};
	archive_wait_set(60000); /* disks of build machines can be slow */
	if (archive_open(path, true, &a, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int i = 0; i < 100; i++) {
		char record[64];
		int64_t id;
		snprintf(record, sizeof record, "%d %d", getpid(), i);
		if (archive_add(a, &plain, record, &id, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
	}
	archive_close(a);
	return 0;
}

static void two_processes_write_a_hundred_runs_each_and_none_is_lost(void **state)
{
	(void)state;
	pid_t pids[2];
	for (int i = 0; i < 2; i++) /* on a file that is not there yet: making it is a race too */
		pids[i] = start_child(write_a_hundred);
	for (int i = 0; i < 2; i++)
		assert_int_equal(child_status(pids[i]), 0);

	bool seen[2][100] = {0};
	struct archive *a = open_or_fail(path);
	for (int64_t id = 1; id <= 200; id++) {
		char *record;
		int pid, i;
		struct error err = {0};
		assert_int_equal(archive_get(a, id, &record, NULL, &err), 0);
		assert_int_equal(sscanf(record, "%d %d", &pid, &i), 2);
		assert_true(pid == pids[0] || pid == pids[1]);
		assert_false(seen[pid == pids[1]][i]);
		seen[pid == pids[1]][i] = true;
		free(record);
	}
	struct ids ids = {0};
	struct error err = {0};
	assert_int_equal(archive_each(a, NULL, 0, collect, &ids, &err), 0);
	assert_int_equal(ids.count, 200);
	archive_close(a);
}

static int open_new(void)
{
	struct archive *a;
	struct error err = {0};
	if (archive_open(path, true, &a, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	archive_close(a);
	return 0;
}

static void many_processes_may_make_the_same_archive_at_once(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		pid_t pids[6];
		for (size_t i = 0; i < 6; i++)
			pids[i] = start_child(open_new);
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(child_status(pids[i]), 0);
		make_archive(path, 1);
		assert_int_equal(unlink(path), 0);
	}
}

/* Adds runs for ever and tells the number of each when it is stored. */
static int write_until_killed(void)
{
	static char record[20000];
	struct archive *a;
	struct error err = {0};
	memset(record, 'k', sizeof record - 1);
	CHECK(!archive_open(path, true, &a, &err));
	for (;;) {
		int64_t id;
		CHECK(!archive_add(a, &plain, record, &id, &err));
		CHECK(write(ready[1], &id, sizeof id) == sizeof id);
	}
}

static void a_killed_writer_leaves_the_archive_whole_and_no_stored_run_is_lost(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		int64_t last = 0, id;
		assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
		pid_t pid = start_child(write_until_killed);
		close(ready[1]);
		for (int i = 0; i < 10 + round; i++) {
			assert_int_equal(read(ready[0], &id, sizeof id), sizeof id);
			last = id;
		}
		kill(pid, SIGKILL);
		while (read(ready[0], &id, sizeof id) == sizeof id)
			last = id;
		close(ready[0]);
		assert_int_equal(child_status(pid), 128 + SIGKILL);

		struct archive *a = open_or_fail(path);
		for (id = 1; id <= last; id++) {
			char *record;
			struct error err = {0};
			assert_int_equal(archive_get(a, id, &record, NULL, &err), 0);
			assert_int_equal(strspn(record, "k"), 19999);
			assert_int_equal(strlen(record), 19999);
			free(record);
		}
		archive_close(a);
		check_integrity(path);
	}
}

/* ---- a large archive ---- */

static struct {
	int sorts, steps, statements;
} work; /* of statements finished since it was cleared */

static int count_work(unsigned event, void *ctx, void *statement, void *ns)
{
	(void)event;
	(void)ctx;
	(void)ns;
	work.statements++;
	work.sorts += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_SORT, 0);
	work.steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
	return 0;
}

/* SQLite calls this for every connection that is opened, the archive's too. */
static int watch_connection(sqlite3 *db, char **message, const void *api)
{
	(void)message;
	(void)api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, count_work, NULL);
}

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void a_hundred_thousand_runs_list_without_being_all_looked_at(void **state)
{
	static const char *const filters[] = {NULL, "segreg", "run ladder adds=77", "not there"};
	(void)state;
	archive_close(open_or_fail(path));
	sqlite3 *db = raw_open(path);
	raw_execute(
	        db,
	        "BEGIN;"
	        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
	        "INSERT INTO run SELECT i, '2026-11-30T15:14:41Z',"
	        " iif(i % 10, 'ladder', 'segreg'), iif(i % 10, 'run ladder adds=' || i,"
	        " 'run segreg abi=i386,x86_64 reg=none,fs,gs outer=null,data,tls'), 'trusted',"
	        " 0.5, 9, 'A CPU with a name of the usual length' FROM n;"
	        "INSERT INTO record SELECT id, hex(zeroblob(150)) FROM run;"
	        "COMMIT");
	assert_int_equal(raw_integer(db, "SELECT count(*) FROM record"), 100000);
	sqlite3_close(db);

	sqlite3_auto_extension((void (*)(void))watch_connection);
	double start = milliseconds();
	struct archive *a = open_or_fail(path);
	print_message("100,000 runs: open %.1f ms", milliseconds() - start);
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		struct ids ids = {0};
		struct error err = {0};
		memset(&work, 0, sizeof work);
		start = milliseconds();
		assert_int_equal(archive_each(a, filters[i], 20, collect, &ids, &err), 0);
		print_message(", %s %.1f ms", filters[i] ? filters[i] : "newest 20",
		              milliseconds() - start);
		assert_int_equal(work.statements, 1);
		assert_int_equal(work.sorts, 0);
		if (i < 2) /* 20 of the newest 200 */
			assert_true(work.steps < 10000);
		assert_int_equal(ids.count, i == 3 ? 0 : 20);
	}
	print_message("\n");
	sqlite3_cancel_auto_extension((void (*)(void))watch_connection);
	archive_close(a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_new_archive_makes_directories_and_file_for_its_owner_alone),
	        TEST(a_record_comes_back_whole_after_reopening),
	        TEST(what_is_not_known_of_a_run_does_not_keep_it_out),
	        TEST(a_run_is_on_disk_as_soon_as_it_is_added),
	        TEST(runs_are_listed_newest_first_filtered_and_limited),
	        TEST(a_walk_ends_when_the_caller_says_so),
	        TEST(a_run_is_found_by_number_and_the_newest_by_zero),
	        TEST(a_number_that_no_run_has_is_answered_with_the_range),
	        TEST(a_symlink_is_followed_even_if_its_target_is_not_there_yet),
	        TEST(names_that_mean_something_to_sqlite_are_plain_files),
	        TEST(the_default_place_follows_xdg),
	        TEST(nothing_is_made_where_nothing_is_to_be_created),
	        TEST(what_is_not_a_file_is_refused),
	        TEST(a_file_that_is_no_database_is_refused_and_left_alone),
	        TEST(a_truncated_archive_is_refused_and_left_alone),
	        TEST(a_page_overwritten_with_garbage_is_an_error_not_a_wrong_run),
	        TEST(an_entry_without_its_record_is_damage_not_a_missing_run),
	        TEST(a_run_that_fails_halfway_leaves_nothing_behind),
	        TEST(another_programs_database_is_refused_and_left_alone),
	        TEST(an_archive_of_a_newer_version_is_refused_with_both_versions),
	        TEST(a_read_only_file_system_is_told_and_can_be_read),
	        TEST(a_read_only_file_is_told_and_can_be_read),
	        TEST(a_read_only_directory_is_told_and_can_be_read),
	        TEST(an_archive_without_permission_is_told),
	        TEST(a_full_disk_is_told_and_the_archive_is_as_it_was),
	        TEST(an_archive_that_stays_locked_is_told_after_the_wait),
	        TEST(a_database_locked_before_it_is_an_archive_is_told),
	        TEST(another_writer_is_waited_for),
	        TEST(two_processes_write_a_hundred_runs_each_and_none_is_lost),
	        TEST(many_processes_may_make_the_same_archive_at_once),
	        TEST(a_killed_writer_leaves_the_archive_whole_and_no_stored_run_is_lost),
	        TEST(a_hundred_thousand_runs_list_without_being_all_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
