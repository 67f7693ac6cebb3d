# Composing and running with keys; what happens to a run that is disturbed.
# shellcheck shell=bash source=lib.sh

test_compose_by_toggles_and_run_shows_results() {
	open_workbench 100x30
	text c
	key Down # from abi to reg: none, fs, gs, es, ds
	key Right
	key Right
	key Space
	expect_screen '\[ \] gs'
	expect_screen ':run segreg .*reg=fs'
	expect_screen '2 variants'
	key F5
	expect_screen 'run 1: (trusted|NOT TRUSTED)'
	expect_screen 'null +[0-9]'
	expect_screen 'tls +[0-9]'
	lab show last --format jsonl
	expect_exit 0
	expect_equal 'levels of reg' "$(jq -rs '[.[] | select(.kind == "result") | .variant.reg] | unique | join(",")' out)" fs
}

test_esc_stops_a_run_and_what_is_complete_is_cut_short() {
	open_workbench 100x30
	long_run
	key Escape
	expect_screen 'cut short'
	expect_gone 'Esc stops'
	expect_screen 'fs +tls +[0-9]'
	lab list runs
	expect_out 'cut short'
	lab show last
	expect_out '^fs +tls +[0-9]'
}

test_other_panes_are_usable_during_a_run() {
	open_workbench 100x30
	long_run
	text '?'
	expect_screen 'Show the keys'
	key Escape
	expect_screen 'Esc stops'
	text i
	expect_screen '(kernel|Kernel)'
	key Escape
	expect_screen 'fs +tls +[0-9]'
	is_shown 'Esc stops' || fail "the run did not go on"
	key Escape
	expect_screen 'cut short'
}

test_resize_during_a_run_goes_on() {
	open_workbench 80x24
	long_run
	resize 20x5
	expect_gone '10 ?Quit'
	expect_screen '.'
	resize 500x200
	expect_screen '^.{300,}'
	expect_screen 'Esc stops'
	resize 80x24
	expect_screen '10 ?Quit'
	expect_screen 'fs +tls +[0-9]'
	expect_screen 'Esc stops'
	key Escape
	expect_screen 'cut short'
	text q
	expect_screen "^$PROMPT"
}

test_killed_worker_costs_its_row_or_ends_the_run_and_is_told() {
	local p w
	own_workers
	open_workbench 100x30
	long_run
	p=$(pid) || fail "no process"
	within 'a worker' worker_pid "$p" >/dev/null
	for ((;;)); do # they come and go: one that was seen may be gone
		w=$(worker_pid "$p") && kill -9 "$w" 2>/dev/null && break
	done
	within 'the killed worker is gone' is_ended "$w"
	# any row but the one that was running
	expect_screen '[fg]s +(null|tls) +[0-9]'
	text '?' # keys are taken
	expect_screen 'Show the keys'
	key Escape
	expect_screen ':run segreg' # two Esc in one read would be one
	key Escape
	expect_screen 'run 1 . segreg . (cut short|NOT TRUSTED|trusted . 4096 placements)' # 4096: it has all that there may be
	lab show last --format jsonl
	expect_exit 0
	expect_json '[.[] | select(.kind == "result" and .state == "measured")] | length >= 3'
	expect_json '[.[] | select(.kind == "result" and .state != "measured")] | all(.reason | test("SIGKILL"))'
	jq -r '.. | strings' out | grep -qE 'SIGKILL|signal 9' || fail "no word of the worker that was killed"
	text q
	expect_screen "^$PROMPT"
	expect_no_workers
}

test_second_run_is_refused_while_one_is_on() {
	open_workbench 100x30
	long_run
	command_line ':run lock --time 0.2'
	expect_screen 'a run is on'
	key Escape
	expect_screen 'cut short'
	lab list runs
	expect_no_out ' lock'
}

test_composing_the_next_run_leaves_the_run_that_is_on_alone() {
	open_workbench 100x30
	long_run
	command_line ':compose lock'
	expect_screen ':run lock'
	expect_screen 'segreg . measuring'
	key Escape
	expect_screen 'cut short'
	lab list runs
	expect_out 'run segreg'
	expect_no_out ' lock'
}

test_q_during_a_run_stops_it_and_keeps_what_is_complete() {
	own_workers
	open_workbench 100x30
	long_run
	text q
	expect_screen "^$PROMPT"
	expect_no_workers
	lab list runs
	expect_out 'cut short'
}

test_written_session_gives_the_same_runs_in_batch() {
	open_workbench 100x30
	text c
	key Down
	key Right
	key Right
	key Space
	expect_screen '2 variants'
	key F5
	expect_screen 'run 1: '
	command_line ':run lock --time 0.2'
	expect_screen 'run 2: '
	command_line ':write session.entrylab'
	within 'session.entrylab' [ -s session.entrylab ]
	text q
	expect_screen "^$PROMPT"
	lab show 1 --format jsonl
	expect_exit 0
	measured >inside
	lab show 2 --format jsonl
	expect_exit 0
	measured >>inside
	lab --format jsonl --no-archive -f session.entrylab
	expect_measured
	measured >outside
	expect_equal 'experiments' "$(grep -c '^"' inside)" 2
	diff inside outside || fail "the script measures something else"
	lab list runs
	expect_equal 'runs kept' "$(grep -cE '^ *[0-9]+ ' out)" 2
}
