# Small and large screens, colours, character sets, the mouse.
# shellcheck shell=bash source=lib.sh

HAS_COLOUR=$'\033\\[([0-9]+;)*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m:]'

test_twenty_columns_by_five_lines_are_usable() {
	open_terminal 20x5
	shell_line 'clear; entrylab'
	expect_screen 'segreg'
	text c
	text ':run lock --time 0.2'
	key Enter
	expect_screen 'run 1'
	resize 80x24
	expect_screen '10 ?Quit'
	text q
	expect_screen "^$PROMPT"
}

test_one_line_is_survived() {
	open_workbench 80x24
	resize 1x1
	resize 3x2
	resize 80x24
	expect_screen ':run segreg'
	text '?'
	expect_screen 'Show the keys'
}

test_ctrl_l_draws_over_what_others_wrote() {
	open_workbench 80x24
	printf '\033[2;1Hscribbled over' >"$(tmux display -p -t it '#{pane_tty}')"
	expect_screen '^scribbled over'
	key C-l
	expect_gone '^scribbled over'
	expect_screen 'segreg: '
}

test_no_color_draws_without_colours() {
	open_workbench 100x30
	screen -e >coloured
	grep -qE "$HAS_COLOUR" coloured || fail "no colours without NO_COLOR"
	text q
	expect_screen "^$PROMPT"
	shell_line 'clear; NO_COLOR=1 entrylab'
	expect_screen ':run segreg'
	command_line ':run lock --time 0.2'
	expect_screen 'run 1: '
	screen -e >plain
	! grep -qE "$HAS_COLOUR" plain || fail "colours: $(grep -oE "$HAS_COLOUR" plain | cat -v | sort | uniq -c)"
	grep -q $'\033\\[[0-9;]*7m' plain || grep -q $'\033\\[[0-9;]*1m' plain ||
		fail "nothing is marked by other means"
}

test_c_locale_draws_in_ascii() {
	open_workbench 100x30
	screen >utf8
	LC_ALL=C grep -q '[^ -~]' utf8 || fail "nothing but ASCII under C.UTF-8"
	text q
	expect_screen "^$PROMPT"
	shell_line 'clear; LC_ALL=C entrylab'
	expect_screen ':run segreg'
	command_line ':run segreg --time 0.5'
	expect_screen 'run 1: '
	screen >ascii
	! LC_ALL=C grep -n '[^ -~]' ascii || fail "not ASCII"
	is_gone '\?\?\?' || fail "characters that could not be written"
}

test_monochrome_terminal_shows_the_workbench() {
	open_terminal 80x24
	shell_line 'TERM=vt100 entrylab'
	expect_screen ':run segreg'
	text '?'
	expect_screen 'Show the keys'
	screen -e >plain
	! grep -qE "$HAS_COLOUR" plain || fail "colours on a vt100"
	text q
	text q
	expect_screen "^$PROMPT"
}

test_click_composes_an_experiment() {
	open_workbench 100x30
	click stubseq
	expect_screen ':run stubseq'
}

test_click_toggles_a_level() {
	open_workbench 100x30
	click '[x] gs'
	expect_screen '\[ \] gs'
	expect_screen '2 variants'
}

test_click_on_the_function_bar_acts() {
	open_workbench 100x30
	click 'F1 Help'
	expect_screen 'Show the keys'
	click 'F10 Quit'
	expect_screen ':run segreg'
	click 'F5 Run'
	expect_screen 'run 1: '
	click 'F10 Quit'
	expect_screen "^$PROMPT"
}

test_mouse_off_leaves_the_mouse_to_the_terminal() {
	open_terminal 80x24
	shell_line 'entrylab --mouse off'
	expect_screen ':run segreg'
	expect_equal 'mouse' "$(tmux display -p -t it '#{mouse_any_flag}')" 0
	command_line ':set mouse on'
	within 'the mouse is taken' are_modes 'alternate=1 cursor=1 keypad=11 mouse=1'
}
