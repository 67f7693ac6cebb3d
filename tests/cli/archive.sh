# Every run is kept; where it cannot be, its rows are printed all the same and the status is 5.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

brief=(run ladder 'adds=1,2' --time 0.1)

# Runs with an archive that cannot be written: rows are there, the reason too.
not_kept() { # PATTERN WORD...
	local pattern=$1
	shift
	lab "${brief[@]}" "$@"
	expect_measured 5
	expect_out '^ladder: '
	expect_out '^ +1 +[0-9]'
	expect_out '^ +2 +[0-9]'
	expect_err "$pattern"
	expect_no_out '^run [0-9]'
}

test_every_run_is_kept_where_the_manual_says() {
	lab "${brief[@]}"
	expect_measured
	[ -f "$ARCHIVE" ] || fail "no archive at $ARCHIVE"
	expect_equal 'permissions' "$(stat -c %a "$ARCHIVE")" 600
	expect_out '^run 1$'
	lab asm nop --time 0.1
	expect_out '^run 2$'
	unset XDG_DATA_HOME
	lab asm nop --time 0.1
	expect_out '^run 1$'
	[ -f "$HOME/.local/share/entrylab/runs.db" ] || fail "no archive below HOME without XDG_DATA_HOME"
}

test_no_archive_keeps_nothing() {
	lab "${brief[@]}" --no-archive
	expect_measured
	[ ! -e "$ARCHIVE" ] || fail "there is an archive"
	expect_no_out '^run [0-9]'
	lab list runs
	expect_exit 0
	lab show last
	expect_exit 2
}

test_archive_names_another_file() {
	lab "${brief[@]}" --archive "$PWD/sub/dir/other.db"
	expect_measured
	[ -f sub/dir/other.db ] && [ ! -e "$ARCHIVE" ] || fail "not in the file that --archive names"
	lab list runs --archive sub/dir/other.db
	expect_out 'run ladder'
	lab list runs
	expect_no_out 'run ladder'
}

test_runs_are_listed_newest_first_and_filtered() {
	lab "${brief[@]}"
	lab asm nop --time 0.1
	lab run ladder adds=3 --time 0.1
	lab list runs --format jsonl
	expect_exit 0
	expect_json '[.[].run]==["3","2","1"]'
	lab list runs asm --format jsonl
	expect_json '[.[].run]==["2"]'
	lab list runs adds=3 --format jsonl
	expect_json '[.[].run]==["3"]'
	lab list runs --limit 1 --format jsonl
	expect_json '[.[].run]==["3"]'
	lab list runs
	expect_out '^ *3 +20[0-9-]+ [0-9:]+ .* run ladder adds=3'
}

# What is kept is what was printed, in all formats.
test_a_run_is_shown_as_it_was_printed() {
	local format
	for format in text jsonl csv; do
		lab asm nop 'add %eax, %ebx' ud2 --time 0.1 --format $format --quiet
		expect_measured
		cp out printed
		lab show last --format $format --quiet
		cmp -s printed out || fail "show differs from what was printed (format $format): $(diff printed out | head -n 5)"
		lab export last --format $format --quiet
		if [ $format != text ]; then
			cmp -s printed out || fail "export differs from what was printed (format $format): $(diff printed out | head -n 5)"
		fi
	done
}

test_export_writes_a_file_and_gives_json_lines_without_a_word() {
	lab "${brief[@]}"
	lab export 1
	expect_exit 0
	expect_json '[.[]|select(.kind=="result")]|length==2'
	cp out direct
	lab export 1 file.jsonl
	expect_exit 0
	expect_silent_out
	cmp -s direct file.jsonl || fail "the file differs"
	lab export last /nonexistent/file
	expect_exit 2
	expect_err '/nonexistent/file'
	[ -w /dev/full ] || skip "no /dev/full"
	lab export last /dev/full
	[ "$STATUS" != 0 ] || fail "a full disk is not told"
	expect_err '/dev/full'
}

test_a_run_that_is_not_there_is_told_with_those_that_are() {
	lab "${brief[@]}"
	lab show 99
	expect_refused 'no run 99: .*(run 1|1 to 1|only)'
	lab export 99
	expect_refused 'no run 99'
	lab compare 1 99
	expect_refused 'no run 99'
	lab show last --archive none.db
	expect_refused 'there is no none\.db'
	[ ! -e none.db ] || fail "asking made an archive"
}

test_stored_runs_are_compared_with_a_warning_and_without_a_verdict() {
	lab "${brief[@]}"
	lab "${brief[@]}"
	lab compare 1 last
	expect_exit 0
	cat err >>out
	expect_out 'not interleaved'
	lab compare 1 last --format jsonl
	expect_json '[.[]|select(.kind=="stored-comparison")]|length==2 and all(.interleaved==false and (has("verdict")|not))'
}

test_hosts_that_differ_in_what_moves_an_entry_path_are_told_when_runs_are_compared() {
	need sqlite3
	lab "${brief[@]}"
	lab "${brief[@]}"
	lab compare 1 2
	expect_exit 0
	cat err >>out
	expect_no_out 'microcode'
	sqlite3 "$ARCHIVE" "UPDATE record SET text = replace(text, '\"microcode\":\"' || substr(text, instr(text, '\"microcode\":\"') + 13, 1), '\"microcode\":\"another ') WHERE run = 1"
	lab compare 1 2
	expect_exit 0
	cat err >>out
	expect_out 'microcode'
}

test_the_command_that_is_kept_can_be_typed_again() {
	lab asm 'nop; nop' "mov \$1, %eax # a \"comment\"" --time 0.1 --seed 5
	expect_measured
	lab list runs --format jsonl
	json '.[0].command' >again.elab
	lab -f again.elab
	expect_measured
	expect_equal 'code' "$("$PROGRAM" export 1 | jq -c 'select(.kind=="result")|.code.sha256' | tr '\n' ' ')" \
		"$("$PROGRAM" export 2 | jq -c 'select(.kind=="result")|.code.sha256' | tr '\n' ' ')"
}

# A run that ended is on disk before its rows are printed: a reader that never reads cannot lose it.
test_a_run_is_on_disk_before_its_rows_are_printed() {
	need sqlite3 strace
	strace -f -e trace=write,pwrite64,fsync,fdatasync -o trace "$PROGRAM" "${brief[@]}" >out 2>err
	STATUS=$?
	[ -s trace ] || skip "strace may not trace here"
	local sync rows
	sync=$(grep -nE 'f(data)?sync\(' trace | tail -n 1 | cut -d: -f1)
	rows=$(grep -nE 'write\(1, ".*ladder: ' trace | head -n 1 | cut -d: -f1)
	[ -n "$sync" ] && [ -n "$rows" ] || fail "no sync or no rows in the trace"
	# the log is written through before; what comes at the end is the checkpoint when the archive is closed
	sync=$(grep -nE 'f(data)?sync\(' trace | head -n "$(grep -cE 'f(data)?sync\(' trace)" | cut -d: -f1 | awk -v r="$rows" '$1 < r' | tail -n 1)
	[ -n "$sync" ] || fail "rows were printed before the archive was flushed"
	"$PROGRAM" show last >/dev/null || fail "the run is not there"
}

test_two_processes_write_at_once() {
	local i pids=()
	for i in 1 2 3 4; do
		"$PROGRAM" "${brief[@]}" --quiet >"out.$i" 2>"err.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
		STATUS=$?
		[ "$STATUS" = 0 ] || [ "$STATUS" = 4 ] || fail "status $STATUS: $(cat err.*)"
	done
	lab list runs --format jsonl
	expect_json '[.[].run]|sort==["1","2","3","4"]'
}

test_a_locked_archive_does_not_cost_the_rows() {
	need sqlite3
	lab "${brief[@]}"
	mkfifo commands
	sqlite3 "$ARCHIVE" <commands >/dev/null 2>&1 &
	exec 3>commands
	echo 'BEGIN EXCLUSIVE;' >&3
	await locked
	not_kept 'runs\.db: another program holds it locked'
	exec 3>&-
	wait $!
	lab list runs --format jsonl
	expect_json 'length==1'
}
locked() { ! sqlite3 "$ARCHIVE" 'BEGIN IMMEDIATE; COMMIT;' 2>/dev/null; }

test_a_corrupt_archive_does_not_cost_the_rows() {
	mkdir -p "${ARCHIVE%/*}"
	head -c 20000 /dev/urandom >"$ARCHIVE"
	not_kept 'runs\.db: not an SQLite file'
	lab list runs
	[ "$STATUS" != 0 ] || fail "listing a corrupt archive succeeds"
	expect_err 'runs\.db: not an SQLite file'
}

test_a_damaged_archive_does_not_cost_the_rows() {
	lab "${brief[@]}"
	lab "${brief[@]}"
	# the head stays
	printf 'damaged%.0s' {1..2000} | dd of="$ARCHIVE" bs=1 seek=4096 conv=notrunc 2>/dev/null
	not_kept 'runs\.db: damaged'
}

test_an_archive_of_a_newer_version_is_left_alone() {
	need sqlite3
	lab "${brief[@]}"
	sqlite3 "$ARCHIVE" 'PRAGMA user_version=99; PRAGMA wal_checkpoint(TRUNCATE);' >/dev/null
	not_kept 'runs\.db: .*(newer|version 99)'
	expect_equal 'runs' "$(sqlite3 "$ARCHIVE" 'SELECT count(*) FROM run')" 1
}

test_another_programs_database_is_left_alone() {
	need sqlite3
	sqlite3 other.db 'CREATE TABLE run(x); INSERT INTO run VALUES(1);'
	cp other.db before.db
	not_kept 'other\.db: ' --archive other.db
	cmp -s other.db before.db || fail "another program's database was changed"
	echo 'some text' >notes.txt
	not_kept 'notes\.txt: not an SQLite file' --archive notes.txt
	expect_equal 'notes.txt' "$(cat notes.txt)" 'some text'
}

test_a_directory_or_a_missing_place_does_not_cost_the_rows() {
	mkdir place
	not_kept 'place: ' --archive place
	not_kept '/proc/none' --archive /proc/none/runs.db
	unset HOME XDG_DATA_HOME
	not_kept 'HOME|XDG_DATA_HOME'
}

test_a_read_only_archive_does_not_cost_the_rows() {
	if [ "$(id -u)" != 0 ]; then
		lab "${brief[@]}"
		chmod 400 "$ARCHIVE" && chmod 500 "${ARCHIVE%/*}"
		not_kept 'runs\.db: .*(read-only|[Pp]ermission)'
		chmod 700 "${ARCHIVE%/*}"
		return
	fi
	need unshare mount
	lab "${brief[@]}"
	unshare -m true 2>/dev/null || skip "no mounts here"
	cat >inside <<-'END'
		mount -t tmpfs none "$1" && cp "$2" "$1/runs.db" && mount -o remount,ro "$1" || exit 99
		shift 2
		exec "$@"
	END
	mkdir mnt
	capture unshare -m bash inside mnt "$ARCHIVE" "$PROGRAM" "${brief[@]}" --archive mnt/runs.db
	[ $STATUS != 99 ] || skip "no tmpfs here"
	expect_measured 5
	expect_out '^ +2 +[0-9]'
	expect_err 'mnt/runs\.db: .*read-only'
	# it can still be read
	capture unshare -m bash inside mnt "$ARCHIVE" "$PROGRAM" list runs --archive mnt/runs.db
	expect_exit 0
	expect_out 'run ladder'
}

test_a_full_disk_does_not_cost_the_rows() {
	as_root
	need unshare mount
	unshare -m true 2>/dev/null || skip "no mounts here"
	cat >inside <<-'END'
		mount -t tmpfs -o size=64k none "$1" || exit 99
		head -c "$2" /dev/zero >"$1/filler" 2>/dev/null
		shift 2
		exec "$@"
	END
	mkdir mnt
	# full from the beginning; and room for an empty archive, but not for a run
	for filler in 65536 20000; do
		capture unshare -m bash inside mnt $filler "$PROGRAM" run segreg abi=all reg=all --time 0.1 --archive mnt/runs.db
		[ $STATUS != 99 ] || skip "no tmpfs here"
		expect_measured 5
		expect_out '^.*fs +null +[0-9]'
		expect_err 'mnt/runs\.db: .*(no space|[Nn]o space left)'
		expect_no_out '^run [0-9]'
	done
}

test_a_symbolic_link_to_the_archive_is_followed() {
	mkdir -p "${ARCHIVE%/*}" elsewhere
	ln -s "$PWD/elsewhere/real.db" "$ARCHIVE"
	lab "${brief[@]}"
	expect_measured
	[ -L "$ARCHIVE" ] && [ -s elsewhere/real.db ] || fail "the link was replaced"
}
