# The line that `:` opens: completion, history, UTF-8, paste.
# shellcheck shell=bash source=lib.sh

test_tab_completes_and_shows_the_matches() {
	open_workbench 80x24
	text ':'
	text 'comp'
	key Tab
	expect_screen 'compare +compose'
	text 'o'
	key Tab
	expect_screen '^:compose'
	text 'seg'
	key Tab
	expect_screen '^:compose segreg'
	key Escape
	expect_gone '^:compose'
	text q
	expect_screen "^$PROMPT"
}

test_esc_gives_up_the_line_and_runs_nothing() {
	open_workbench 80x24
	text ':compose lock'
	expect_screen '^:compose lock'
	key Escape
	expect_gone '^:compose lock'
	is_shown ':run segreg' || fail "it composed what was given up"
}

test_history_search_finds_a_line_with_an_accent() {
	open_workbench 80x24
	command_line ':filter café'
	expect_gone '^:filter'
	command_line ':filter'
	text ':'
	expect_screen '^:$'
	key C-r
	text 'fé'
	expect_screen 'fé.*filter café'
	key End
	expect_screen '^:filter café'
	key BSpace # one character, not one byte
	expect_screen '^:filter caf *$'
}

test_typed_accent_is_drawn_and_erased_as_one_character() {
	open_workbench 80x24
	text ':'
	text 'éà'
	expect_screen '^:éà$'
	key Left
	key BSpace
	expect_screen '^:à$'
	key Escape
	expect_gone '^:à'
}

test_history_is_kept_for_the_next_session() {
	open_workbench 80x24
	command_line ':compose lock'
	expect_screen ':run lock'
	text q
	expect_screen "^$PROMPT"
	[ "$(stat -c %a "$XDG_STATE_HOME/entrylab/history")" = 600 ] || fail "the history is not the user's alone"
	shell_line 'clear; entrylab'
	expect_screen ':run segreg'
	text ':'
	key Up
	expect_screen '^:compose lock'
}

test_pasted_newlines_run_nothing_before_enter() {
	open_workbench 80x24
	paste $'compose lock\nfilter cold\n'
	expect_screen '^:compose lock.*filter cold'
	is_shown ':run segreg' || fail "a line of the paste ran"
	key Escape
	expect_gone '^:compose lock'
	is_shown ':run segreg' || fail "Esc ran the paste"
	paste $'compose lock\n'
	expect_screen '^:compose lock'
	is_gone ':run lock' || fail "the paste ran"
	key Enter
	expect_screen ':run lock'
}

test_paste_into_an_open_line_goes_where_the_cursor_is() {
	open_workbench 80x24
	text ':compose '
	expect_screen '^:compose'
	paste 'lock'
	expect_screen '^:compose lock'
	key Enter
	expect_screen ':run lock'
}

test_unknown_command_says_why() {
	open_workbench 80x24
	command_line ':compsoe lock'
	expect_screen 'compsoe.*compose'
}
