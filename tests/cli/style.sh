# Rules of the source tree that a look at the files can tell.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

sources() { # DIRECTORY...
	(cd "$TOP" && find "$@" -name '*.[chS]' | sort)
}

# The code without comments and strings, line by line with file and number in front.
code() { # DIRECTORY...
	local file
	for file in $(sources "$@"); do
		awk -v f="$file" '
		{
			line = $0
			gsub(/\\./, "", line)          # escapes
			gsub(/"[^"]*"/, "\"\"", line)  # strings
			out = ""
			while (line != "") {
				if (within) {
					i = index(line, "*/")
					if (!i) { line = ""; break }
					line = substr(line, i + 2); within = 0
				} else {
					i = index(line, "/*"); j = index(line, "//")
					if (j && (!i || j < i)) { out = out substr(line, 1, j - 1); line = ""; break }
					if (!i) { out = out line; line = ""; break }
					out = out substr(line, 1, i - 1); line = substr(line, i + 2); within = 1
				}
			}
			print f ":" NR ": " out
		}' "$TOP/$file"
	done
}

none() { # WHAT PATTERN DIRECTORY...
	local what=$1 pattern=$2 hits
	shift 2
	hits=$(code "$@" | grep -E -- "$pattern")
	[ -z "$hits" ] || fail "$what: $hits"
}

test_only_tui_includes_curses_or_readline() {
	[ -n "$(code engine counters | head -n 1)" ] || fail "no sources"
	none 'curses or readline outside of tui' '# *include.*(curses|readline)' engine counters
	! grep -rnE '#[[:space:]]*include[[:space:]]*[<"](n?curses|ncursesw/|readline|panel\.h|form\.h)' "$TOP/engine" "$TOP/counters" || fail "curses or readline outside of tui"
}

test_only_counters_includes_perfmon_or_calls_perf_event_open() {
	! grep -rnE '#[[:space:]]*include[[:space:]]*[<"]perfmon/' "$TOP/engine" "$TOP/tui" || fail "perfmon outside of counters"
	none 'perf_event_open outside of counters' 'SYS_perf_event_open|__NR_perf_event_open|perf_event_open *\(' engine tui
}

# The worker is a program of its own: it may print its usage and exit. What the engine links may not.
test_the_engine_prints_nothing_and_never_exits() {
	local hits
	hits=$(code engine counters | grep -v '^engine/worker/' |
		grep -E '(^|[^a-zA-Z0-9_>.])(printf|puts|putchar|perror|vprintf|exit|_exit|quick_exit|_Exit|abort|err|errx|warn|warnx) *\(|\b(fprintf|fputs|fputc|fwrite|vfprintf) *\([^;]*\b(stdout|stderr)\b|\b(stdout|stderr)\b')
	[ -z "$hits" ] || fail "the engine prints or exits: $hits"
}

test_calls_run_one_way() {
	! grep -rnE '#[[:space:]]*include[[:space:]]*"(tui)/' "$TOP/engine" "$TOP/counters" || fail "the engine includes tui"
	! grep -rnE '#[[:space:]]*include[[:space:]]*"(engine/(run|archive|record|program|worker|result|experiment))' "$TOP/counters" || fail "counters include the engine's upper part"
}

test_a_module_has_a_header_and_includes_it_first() {
	local file own first
	for file in $(cd "$TOP" && ls engine/*.c counters/*.c tui/*.c); do
		[ "$file" = tui/main.c ] && continue
		own=$(basename "${file%.c}")
		first=$(sed -n 's/^#include [<"]\([^>"]*\)[>"].*/\1/p' "$TOP/$file" | head -n 1)
		[ -f "$TOP/${file%.c}.h" ] || case $first in
		*.h) continue ;; # a part of a larger module: that one's header
		esac
		[ "$(basename "$first")" = "$own.h" ] ||
			grep -qE "^#include \"([a-z]*/)?$own\.h\"" "$TOP/${file%/*}/$(basename "$first")" || fail "$file includes $first first"
	done
}

test_functions_that_are_not_static_are_named_after_their_file() {
	local o file name part hits=
	need nm
	for o in "${PROGRAM%/*}"/build/{engine,counters,tui}/*.o "${PROGRAM%/*}"/{engine,counters,tui}/*.o; do
		[ -f "$o" ] || continue
		file=$(basename "$o" .o)
		[ "$file" = main ] && continue
		part=${file%%_*}
		for name in $(nm --defined-only -g "$o" | awk '$2 == "T" {print $3}'); do
			case $name in
			"$part"_* | "$file"_* | "$file" | session_* | __*) ;; # command.h has the session, too
			*) hits+=" $file.c:$name" ;;
			esac
		done
	done
	[ -n "$o" ] || skip "no objects beside the program"
	[ -z "$hits" ] || fail "named otherwise:$hits"
}

test_no_file_has_unfinished_work() {
	local hits
	hits=$(cd "$TOP" && grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' --include='*.[chSs15]' --include=Makefile engine counters tui experiments man Makefile)
	[ -z "$hits" ] || fail "$hits"
}

# A level that no branch of a macro handles would measure something else under its name, so each file of ours refuses one that it
# does not know. Here each factor of each file gets one level more, made up.
test_every_experiment_refuses_a_level_that_it_does_not_know() {
	local file name factor factors line
	for file in "$TOP"/experiments/*.s; do
		name=$(basename "$file" .s)
		"$PROGRAM" show "$name" --format jsonl >shown 2>err || fail "show $name: $(cat err)"
		# ranges need none
		factors=$(sed -nE 's/^#:[[:space:]]*factor[[:space:]]+([A-Za-z0-9_]+)[[:space:]].*/\1/p' "$file")
		for factor in $factors; do
			line=$(grep -nE "^#:[[:space:]]*factor[[:space:]]+${factor}[[:space:]]" "$file" | cut -d: -f1)
			sed -n "${line}p" "$file" | sed 's/|.*//' | grep -q '\.\.' && continue
			sed -E "${line}s/^(#:[[:space:]]*factor[[:space:]]+$factor)[[:space:]]/\1 madeup /" "$file" >"$name.s"
			lab run "./$name.s" "$factor=madeup" --time 0.05
			[ "$STATUS" = 2 ] || fail "$name.s runs with $factor=madeup"
			# by its own .error, not by the engine's check
			expect_err "^entrylab: .*$name\.s:[0-9]+: "
			expect_no_err 'no branch of a macro handles it'
			expect_err 'madeup|: or |one of|such level|no level|[a-z]+: [a-z0-9_]+(,| or) '
		done
	done
}

test_shell_scripts_are_clean() {
	need shellcheck
	(cd "$CLI" && shellcheck -x -S warning run ./*.sh) >lint 2>&1 || fail "$(head -n 40 lint)"
}
