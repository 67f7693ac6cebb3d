# Stopped, continued, terminated, killed, crashed: the terminal is given back and finished runs are kept.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

DONE=':run lock --time 0.2'

test_ctrl_z_and_fg_come_back_to_the_same_screen() {
	local p
	open_terminal 80x24
	stty_before
	shell_line entrylab
	expect_screen ':run segreg'
	p=$(pid) || fail "no process"
	key C-z
	within 'it is stopped' is_stopped "$p"
	expect_restored
	shell_line fg
	expect_screen ':run segreg'
	text '?'
	expect_screen 'Show the keys'
	text q
	text q
	expect_screen "^$PROMPT *$"
}

test_resize_while_suspended_is_seen_after_fg() {
	local p
	open_workbench 80x24
	p=$(pid) || fail "no process"
	key C-z
	within 'it is stopped' is_stopped "$p"
	expect_screen "^$PROMPT *$" # else the size is told to the workbench, and not to the shell
	resize 120x40
	shell_line fg
	expect_screen ':run segreg'
	expect_screen '^.{110,}'
	screen | tail -n 1 | grep -q Quit || fail "the function bar is not at the foot of the screen"
}

test_ctrl_z_during_a_run_and_fg_go_on() {
	local p
	open_workbench 100x30
	long_run
	p=$(pid) || fail "no process"
	key C-z
	within 'it is stopped' is_stopped "$p"
	expect_screen "^$PROMPT *$"
	resize 80x24
	shell_line fg
	expect_screen 'Esc stops'
	key Escape
	expect_screen 'cut short'
	text q
	expect_screen "^$PROMPT *$"
}

test_ctrl_c_stops_the_run_not_the_workbench() {
	open_workbench 100x30
	long_run
	key C-c
	expect_screen 'cut short'
	text '?'
	expect_screen 'Show the keys'
}

test_resize_and_ctrl_z_keep_the_line_that_is_being_typed() {
	local p
	open_workbench 80x24
	p=$(pid) || fail "no process"
	text ':compose lo'
	expect_screen '^:compose lo'
	resize 40x12
	expect_screen '^:compose lo'
	key C-z
	within 'it is stopped' is_stopped "$p"
	shell_line fg
	expect_screen '^:compose lo'
	text ck
	key Enter
	expect_screen ':run lock'
}

test_sigstop_and_fg_draw_the_screen_again() {
	local p
	open_workbench 80x24
	p=$(pid) || fail "no process"
	kill -STOP "$p"
	within 'it is stopped' is_stopped "$p"
	expect_screen 'Stopped' # the shell tells it on the workbench's screen
	shell_line fg
	expect_gone 'Stopped'
	expect_screen ':run segreg'
	text '?'
	expect_screen 'Show the keys'
}

test_sigterm_without_a_run_restores_the_terminal() {
	local p
	open_workbench_alone
	p=$(pid) || fail "no process"
	kill -TERM "$p"
	expect_screen '^left with [1-9]'
	expect_restored
}

test_terminal_that_is_lost_without_a_run_ends_it() {
	local p
	open_workbench 80x24
	p=$(pid) || fail "no process"
	COMMAND='tmux kill-server'
	tmux kill-server
	within 'it ends' is_ended "$p"
}

crash_restores() { # SIGNAL
	local p
	own_workers
	open_workbench_alone
	command_line "$DONE"
	expect_screen 'run 1: '
	long_run_or_results
	p=$(pid) || fail "no process"
	COMMAND="kill -$1"
	kill -s "$1" "$p"
	within 'it ends' is_ended "$p"
	expect_restored
	expect_no_workers
	lab list runs
	expect_out ' lock'
}

# At 80 columns the table may show another part of the results.
long_run_or_results() {
	command_line "$LONG"
	expect_screen 'Esc stops'
}

test_segmentation_fault_restores_the_terminal_and_runs_are_kept() {
	crash_restores SEGV
}

test_abort_restores_the_terminal_and_runs_are_kept() {
	crash_restores ABRT
}

test_sigterm_restores_the_terminal_and_runs_are_kept() {
	crash_restores TERM
	expect_out 'cut short'
}
test_sighup_restores_the_terminal_and_runs_are_kept() {
	crash_restores HUP
	expect_out 'cut short'
}

test_runs_are_in_the_archive_after_a_kill() {
	local p
	own_workers
	open_workbench 100x30
	command_line "$DONE"
	expect_screen 'run 1: '
	long_run_or_results
	p=$(pid) || fail "no process"
	kill -9 "$p"
	within 'it ends' is_ended "$p"
	expect_no_workers
	lab list runs
	expect_out ' lock'
}

test_terminal_that_is_lost_during_a_run_ends_it_and_keeps_it() {
	local p
	own_workers
	open_workbench 100x30
	long_run
	p=$(pid) || fail "no process"
	COMMAND='tmux kill-server'
	tmux kill-server
	within 'it ends' is_ended "$p"
	expect_no_workers
	lab list runs
	expect_out 'cut short'
}
