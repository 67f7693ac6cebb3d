# ^C, SIGTERM, and processes that are killed: what was complete is kept, nothing is left behind, nothing hangs.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

long=(run segreg --precision 0.0001 --time 50)

# Sends SIGNAL after SECONDS. Not in the background: there a shell ignores SIGINT.
stopped_by() { # SIGNAL SECONDS WORD...
	local signal=$1 after=$2
	shift 2
	COMMAND="entrylab $*, with SIG$signal after $after s"
	timeout --preserve-status -k 20 -s "$signal" "$after" "$PROGRAM" "$@" >out 2>err
	STATUS=$?
}

# In the background; its number is in PID.
start() { # WORD...
	COMMAND="entrylab $*"
	env --default-signal=INT "$PROGRAM" "$@" >out 2>err &
	PID=$!
}

finish() {
	local i
	for ((i = 0; i < 600; i++)); do
		kill -0 "$PID" 2>/dev/null || break
		sleep 0.05
	done
	kill -0 "$PID" 2>/dev/null && kill -9 "$PID" && fail "it did not end within 30 s"
	wait "$PID"
	STATUS=$?
}

measuring() { pgrep -P "$PID" -x entrylab-worker >/dev/null; }

# To a worker of the program. They come and go many times a second, so one that was seen may be gone.
signal_a_worker() { # SIGNAL
	local p
	for p in $(pgrep -P "$PID" -x entrylab-worker); do
		kill -s "$1" "$p" 2>/dev/null && return
	done
	return 1
}

test_interrupt_keeps_what_is_complete_and_says_cut_short() {
	own_workers
	stopped_by INT 1 "${long[@]}"
	expect_exit 130
	expect_out 'cut short'
	expect_out '^fs +tls +[0-9]'
	expect_out '^gs +null +[0-9]'
	expect_no_workers
	lab list runs
	expect_out 'cut short'
	lab show last
	expect_exit 0
	expect_out '^fs +tls +[0-9]'
	expect_out 'cut short'
}

test_interrupted_rows_are_whole_in_jsonl() {
	stopped_by INT 1 "${long[@]}" --format jsonl
	expect_exit 130
	expect_json '.[]|select(.kind=="run")|.cut_short and (.stop_reason|length>0)'
	expect_json '[.[]|select(.kind=="result")]|length==4 and all(.state=="measured" and .samples.kept>0 and .cycles.est!=null)'
}

test_an_interrupt_before_anything_is_measured_is_answered_too() {
	local after
	own_workers
	for after in 0.01 0.03 0.06 0.1 0.15; do
		stopped_by INT $after "${long[@]}"
		[ "$STATUS" = 130 ] || fail "expected exit status 130 (signal after $after s)"
	done
	expect_no_workers
}

test_sigterm_and_sighup_stop_a_run_like_an_interrupt() {
	own_workers
	stopped_by TERM 0.7 "${long[@]}"
	expect_exit 130
	expect_out 'cut short'
	stopped_by HUP 0.7 "${long[@]}"
	expect_exit 130
	expect_out 'cut short'
	expect_no_workers
	expect_equal 'runs kept' "$("$PROGRAM" list runs --format jsonl --quiet | wc -l)" 2
}

test_an_interrupt_while_a_snippet_hangs_does_not_wait_for_it() {
	own_workers
	stopped_by INT 0.7 asm nop 'jmp .' --time 50
	expect_exit 130
	expect_no_workers
}

test_an_interrupt_stops_a_script() {
	printf 'run segreg --precision 0.0001 --time 50\nlist\n' >two.elab
	stopped_by INT 0.7 -f two.elab --keep-going
	expect_exit 130
	expect_out 'cut short'
	expect_no_out '^Instrument'
}

# Shells start background jobs with SIGINT ignored, and nohup does so with SIGHUP.
test_signals_that_are_ignored_from_the_start_stay_so() {
	trap '' INT
	COMMAND="entrylab with SIGINT ignored"
	"$PROGRAM" run segreg --precision 0.0001 --time 1.5 >out 2>err &
	PID=$!
	sleep 0.7
	kill -INT "$PID"
	finish
	expect_measured
	expect_no_out 'cut short'
}

test_killing_the_program_leaves_no_worker_behind() {
	own_workers
	start "${long[@]}"
	await measuring
	kill -9 "$PID"
	wait "$PID" 2>/dev/null
	STATUS=$?
	expect_no_workers
	# nor is the archive harmed
	lab run ladder adds=1 --time 0.1
	expect_measured
	lab list runs
	expect_exit 0
}

# A snippet that is busy for ever does not notice that its line is gone.
test_killing_the_program_ends_a_worker_that_hangs() {
	own_workers
	start asm 'jmp .' --time 50
	await measuring
	sleep 0.3
	kill -9 "$PID"
	wait "$PID" 2>/dev/null
	sleep 2.5 # a snippet may take 2 s
	expect_no_workers
}

# Killed once, a run may go on with another worker or say what happened; it may not hang or call a row dead for it without a word.
test_killing_a_worker_ends_neither_the_program_nor_its_rows() {
	own_workers
	start run segreg --precision 0.0001 --time 2 --format jsonl
	await measuring
	sleep 0.6
	await signal_a_worker KILL
	finish
	if [ "$STATUS" = 0 ] || [ "$STATUS" = 4 ]; then
		expect_json '[.[]|select(.kind=="result" and .state=="measured")]|length>=3'
		expect_json '[.[]|select(.kind=="result" and .state!="measured")]|all(.reason|test("SIGKILL"))'
	else
		expect_exit 70
		expect_err 'worker|SIGKILL|signal 9'
		expect_json '[.[]|select(.kind=="result")]|length==4'
	fi
	expect_no_workers
}

test_a_worker_that_is_killed_again_and_again_does_not_hang_the_program() {
	local i
	own_workers
	start run segreg --precision 0.0001 --time 2
	for ((i = 0; i < 60; i++)); do
		kill -0 "$PID" 2>/dev/null || break
		signal_a_worker KILL
		sleep 0.02
	done
	finish
	case $STATUS in
	0 | 4) expect_out '^gs +tls +[0-9]|SIGKILL' ;; # it went on
	*) grep -qE 'worker|SIGKILL|signal 9' out err || fail "nothing is told of workers that were killed" ;;
	esac
	expect_no_workers
}

test_a_stopped_worker_does_not_hang_the_program() {
	own_workers
	start run ladder adds=1,2 --precision 0.0001 --time 2 --format jsonl
	await measuring
	sleep 0.5
	await signal_a_worker STOP
	finish
	expect_json '[.[]|select(.kind=="result")]|length==2'
	expect_no_workers
}

test_a_closed_pipe_is_no_reason_to_die_by_a_signal() {
	COMMAND="entrylab run segreg | true"
	{
		"$PROGRAM" run segreg --time 0.2 2>err
		echo $? >status
	} | true
	STATUS=$(cat status)
	expect_exit 70
	# the reader has seen enough: there is nobody to be told
	expect_no_err 'standard output|Broken pipe'
}

test_a_full_standard_output_is_a_fault_that_is_told() {
	local words
	[ -w /dev/full ] || skip "no /dev/full"
	for words in 'list' 'run ladder adds=1 --time 0.1' 'host' 'help' '--version' '--help' 'show segreg' 'listing ladder' 'run ladder adds=1 --time 0.1 --format jsonl'; do
		COMMAND="entrylab $words >/dev/full"
		# shellcheck disable=SC2086
		"$PROGRAM" $words >/dev/full 2>err
		STATUS=$?
		expect_exit 70
		expect_err 'standard output.*No space left'
	done
	# the run was kept before its rows were printed
	lab list runs
	expect_out 'run ladder adds=1'
}

test_a_closed_standard_output_is_a_fault_that_is_told() {
	COMMAND="entrylab list >&-"
	"$PROGRAM" list >&- 2>err
	STATUS=$?
	expect_exit 70
	expect_err 'standard output'
	COMMAND="entrylab run ladder >&-"
	"$PROGRAM" run ladder adds=1 --time 0.1 >&- 2>err
	STATUS=$?
	expect_exit 70
	# nothing may have been written into the archive in its place
	lab show last
	expect_exit 0
}

test_closed_standard_input_and_error_do_no_harm() {
	COMMAND="entrylab run ladder <&- 2>&-"
	"$PROGRAM" run ladder adds=1 --time 0.1 >out <&- 2>&-
	STATUS=$?
	[ "$STATUS" = 0 ] || [ "$STATUS" = 4 ] || fail "expected exit status 0 or 4"
	expect_out '^ladder: '
	lab show last
	expect_exit 0
}
