# The workbench opens, says what it is for, and leaves.
# shellcheck shell=bash source=lib.sh

test_starts_and_shows_the_experiments_and_what_is_composed() {
	open_workbench 100x30
	expect_screen '^ entrylab '
	expect_screen 'Experiments'
	expect_screen 'stubpool'
	expect_screen '\[x\] fs'
	expect_screen ':run segreg'
	expect_screen 'F5 Run.*F10 Quit'
}

test_eighty_columns_show_all_parts_and_e_opens_the_experiments() {
	open_workbench 80x24
	expect_screen '\[x\] fs'
	expect_screen 'Results'
	expect_screen 'Detail'
	expect_screen '5 ?Run.*10 ?Quit *$'
	text e
	expect_screen 'Experiments'
	expect_screen 'stubpool'
	text /
	text stubpool
	key Enter
	key Enter
	expect_screen ':run stubpool'
}

test_q_leaves_with_status_0() {
	open_workbench_alone
	text q
	expect_screen '^left with 0'
	expect_restored
}

test_f10_leaves_with_status_0() {
	open_terminal 80x24
	shell_line 'entrylab; echo "left with $?"'
	expect_screen ':run segreg'
	key F10
	expect_screen '^left with 0'
}

test_question_mark_shows_help_and_esc_goes_back() {
	open_workbench 80x24
	text '?'
	expect_screen 'Show the keys and what the panes are for'
	is_gone ':run segreg' || fail "the help is not the whole screen"
	key Escape
	expect_screen ':run segreg'
}

test_q_on_the_help_goes_back_and_a_second_q_leaves() {
	open_workbench 80x24
	key F1
	expect_screen 'Show the keys'
	text q
	expect_screen ':run segreg'
	text q
	expect_screen "^$PROMPT"
}

test_dumb_terminal_exits_2_and_names_batch_mode() {
	open_terminal 80x24
	shell_line 'TERM=dumb entrylab 2>said; echo "left with $?"'
	expect_screen '^left with 2'
	grep -qiE 'batch|script|command' said || fail "it does not say what to use instead: $(cat said)"
	expect_equal modes "$(modes)" 'alternate=0 cursor=1 keypad=00 mouse=0'
}

test_terminal_that_is_not_known_exits_2() {
	open_terminal 80x24
	shell_line 'TERM=no-such-terminal entrylab 2>said; echo "left with $?"'
	expect_screen '^left with 2'
	grep -q 'TERM' said || fail "it does not name TERM: $(cat said)"
}
