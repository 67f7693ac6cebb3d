# Settings that are kept, sessions that are written, and what only the workbench does.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

test_what_is_set_can_be_saved_and_holds_the_next_time() {
	printf '%s\n' 'set time 0.25' 'set quiet' 'save settings' >save.elab
	lab -f save.elab
	expect_exit 0
	lab set
	expect_exit 0
	expect_out '^time +0.25$'
	expect_out '^quiet +on$'
}

test_a_bad_line_of_the_settings_is_told_with_its_place_and_the_rest_holds() {
	printf '%s\n' 'set time 0.25' 'save settings' >save.elab
	lab -f save.elab
	config=$(find . -path '*entrylab/config')
	printf '%s\n' 'set time soon' 'run segreg' 'set limit 7' 'set quiet on' >"$config"
	lab set
	expect_exit 0
	expect_err 'entrylab/config:1: .*soon'
	expect_err 'entrylab/config:2: .*only set'
	expect_out '^quiet +on$'
}

test_a_session_is_written_as_a_script_that_makes_the_same_runs() {
	printf '%s\n' 'set time 0.1' 'run ladder adds=1' 'list' 'write again.elab' >first.elab
	lab -f first.elab
	expect_measured
	[ "$(grep -v '^#' again.elab)" = "$(printf '%s\n' 'set time 0.1' 'run ladder adds=1 --time 0.1')" ] || fail "written: $(cat again.elab)"
	lab -f again.elab
	expect_measured
}

test_commands_of_the_workbench_say_so_elsewhere() {
	local c
	for c in 'compose ladder' 'sort cycles' 'filter a' 'view host'; do
		# shellcheck disable=SC2086
		lab $c
		expect_exit 2
		expect_err 'is for the workbench'
	done
}

test_a_terminal_without_a_cursor_is_sent_to_batch_mode() {
	need script
	COMMAND='entrylab on TERM=dumb'
	TERM=dumb script -qec "$PROGRAM" /dev/null </dev/null >out 2>err
	STATUS=$?
	expect_exit 2
	expect_out 'no workbench.*-f FILE'
}
