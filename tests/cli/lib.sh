# What a test can use. It runs in a process and a directory of its own; a failed expectation ends it.
# shellcheck shell=bash disable=SC2034 # what is set here is used there

set -u
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm
unset NO_COLOR COLUMNS LINES INPUTRC ENTRYLAB_WORKERS
export HOME=$PWD/home
export XDG_DATA_HOME=$HOME/data XDG_CONFIG_HOME=$HOME/config XDG_STATE_HOME=$HOME/state
export ENTRYLAB_EXPERIMENTS=$TOP/experiments
ARCHIVE=$XDG_DATA_HOME/entrylab/runs.db # as the manual tells it
PATIENCE=60                            # seconds; no command here takes a tenth of it, but the machine may be busy
STATUS=none

# Runs the program; its output is in the files out and err, its exit status in STATUS.
lab() {
	COMMAND="entrylab $*"
	capture "$PROGRAM" "$@"
}

# The same for another command.
capture() {
	[ "$1" = "$PROGRAM" ] || COMMAND="$*"
	# in the foreground, so that what is started here can be stopped from a terminal
	timeout --foreground -k 5 "$PATIENCE" "$@" >out 2>err
	STATUS=$?
	[ $STATUS -ne 124 ] && [ $STATUS -ne 137 ] || fail "it did not end within $PATIENCE s"
}

fail() {
	echo "$*"
	echo "after: ${COMMAND:-no command}"
	echo "exit status: $STATUS"
	local f
	for f in out err; do
		[ -s "$f" ] && echo "-- $f:" && head -n 8 "$f" | cut -c1-200
	done
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

expect_exit() { # STATUS: that one
	[ "$STATUS" = "$1" ] || fail "expected exit status $1"
}

# A run that measured. On a machine that others use too its controls may fail; then it must say so, and the status is 4.
expect_measured() { # [STATUS]: instead of 0 where the controls hold
	[ "$STATUS" = "${1:-0}" ] && return
	[ "$STATUS" = 4 ] && grep -q 'not trusted' err && return
	fail "expected exit status ${1:-0}, or 4 with the reason"
}

# Patterns are those of grep -E.
expect_out() { grep -qE -e "$1" out || fail "expected on standard output: $1"; }
expect_err() { grep -qE -e "$1" err || fail "expected on standard error: $1"; }
expect_no_out() { ! grep -qE -e "$1" out || fail "not expected on standard output: $1"; }
expect_no_err() { ! grep -qE -e "$1" err || fail "not expected on standard error: $1"; }
expect_silent_out() { [ ! -s out ] || fail "expected nothing on standard output"; }
expect_silent_err() { [ ! -s err ] || fail "expected nothing on standard error"; }

# What a bad request must look like: status 2, the message on standard error, no results.
expect_refused() { # PATTERN
	expect_exit 2
	expect_err "$1"
	expect_silent_out
}

# A jq filter over all JSON objects of standard output, as an array, must give true.
expect_json() { # FILTER [jq option...]
	local filter=$1
	shift
	jq -s -e "$@" "$filter" out >jq.out 2>&1 || fail "expected to be true: $filter ($(head -c 300 jq.out))"
}

# One value: of the first result for which the condition holds, or what another filter gives.
json() { jq -s -r "$@" out; }

expect_equal() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

as_root() { [ "$(id -u)" = 0 ] || skip "only root can do that"; }
need() { # COMMAND...
	local c
	for c; do
		command -v "$c" >/dev/null || skip "$c is not installed"
	done
}

# Whether the machine can run an ABI's variants, as the program itself tells.
can() { # ABI CAPABILITY
	"$PROGRAM" host --format jsonl | jq -e ".capabilities.$1.$2 == true" >/dev/null
}
both_abis() { can i386 i386 || skip "no i386 programs here"; }

# Waits for a condition; a test that waits for it in vain fails.
await() { # COMMAND...
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	fail "waited in vain for: $*"
}

# Where the workers of the program under test are: the places that the manual names.
workers_place() {
	local dir
	for dir in "${PROGRAM%/*}" "${PROGRAM%/*}/build"; do
		[ -x "$dir/entrylab-worker-x86_64" ] && echo "$dir" && return
	done
	fail "no worker beside $PROGRAM"
}

# Copies of the workers (of the ABIs named; all without a name), so that this test's can be told from those of others.
own_workers() { # [ABI...]
	local from abi
	from=$(workers_place) || exit 1
	mkdir -p workers
	[ $# -gt 0 ] || set -- i386 x86_64
	for abi; do
		[ ! -e "$from/entrylab-worker-$abi" ] || cp "$from/entrylab-worker-$abi" workers/
	done
	export ENTRYLAB_WORKERS=$PWD/workers
}

# The processes that run this test's own workers, or come from them.
own_worker_pids() {
	local p
	for p in $(pgrep -x entrylab-worker); do
		case $(readlink "/proc/$p/exe" 2>/dev/null) in "$PWD/workers/"*) echo "$p" ;; esac
	done
}

# After own_workers: nothing of what the program started may be left.
expect_no_workers() {
	local i found
	for ((i = 0; i < 40; i++)); do # what was killed needs a moment to go
		found=$(own_worker_pids)
		[ -z "$found" ] && return
		sleep 0.05
	done
	# shellcheck disable=SC2086
	kill -9 $found 2>/dev/null
	# shellcheck disable=SC2086
	fail "left behind:" $found
}
