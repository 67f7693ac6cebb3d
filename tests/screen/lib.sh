# What a test of the screen can use, besides what tests/cli/lib.sh has. It runs in a process, a directory and a
# terminal of its own; a failed expectation ends it. Nothing waits for a time to pass: what is waited for is on the
# screen, or in a process, and has ten seconds to come.
# shellcheck shell=bash source=../cli/lib.sh disable=SC2033,SC2034,SC2120 # tests use what is set here and pass words

. "$CLI/lib.sh"

PROMPT='READY\$' # of the shell in the terminal, as a pattern
LONG=':run segreg --precision 0.0001 --time 50'
unset TMUX TMUX_PANE LS_COLORS

# The private server: no configuration, and a socket of this test's own.
SOCKET=screen-$BASHPID
tmux() { command tmux -L "$SOCKET" -f /dev/null "$@"; }

# The workbench ends with its terminal; its files are there until it has.
close_terminal() {
	local p
	p=$(tmux display -p -t it '#{pane_pid}' 2>/dev/null) && p=$(pgrep -s "$p")
	tmux kill-server 2>/dev/null
	for ((i = 0; i < 200; i++)); do
		[ -n "$p" ] && kill -0 $p 2>/dev/null || return
		sleep 0.03
	done
	kill -9 $p
}
trap close_terminal EXIT

# A terminal with a shell in it. Words behind the size are set in that shell's environment.
open_terminal() { # COLUMNSxROWS [NAME=VALUE...]
	local size=$1
	shift
	tmux -u start-server \; set -g default-terminal screen-256color \; set -g status off \; \
		set -g exit-empty off || fail "tmux does not start"
	tmux new-session -d -s it -x "${size%x*}" -y "${size#*x}" -c "$PWD" \
		env "$@" PS1='READY$ ' HISTFILE=/dev/null PATH="${PROGRAM%/*}:$PATH" bash --norc --noprofile -i || fail "no terminal"
	tmux set -t it window-size manual
	expect_screen "^$PROMPT"
	# its readline would hide a bracketed paste that was left on
	shell_line "ulimit -c 0; bind 'set enable-bracketed-paste off'; clear"
}

# A line for the shell in the terminal.
shell_line() { # TEXT
	COMMAND=$1
	text "$1"
	key Enter
}

# The workbench in a terminal, ready for keys.
open_workbench() { # [COLUMNSxROWS [NAME=VALUE...]]
	open_terminal "${1:-80x24}" "${@:2}"
	shell_line entrylab
	expect_screen ':run segreg|\? shows the keys'
}

# Keys by tmux's names, and text as it is.
key() { tmux send-keys -t it "$@"; }
text() { tmux send-keys -t it -l -- "$1"; }

# A line in the workbench: ":run segreg".
command_line() { # :TEXT
	COMMAND=$1
	text :
	expect_screen '^:$' # before the rest, so that a key that is lost is seen
	text "${1#:}"
	key Enter
}

screen() { tmux capture-pane -p -t it "$@"; }
is_shown() { screen | grep -qE -e "$1"; }
is_gone() { ! is_shown "$1"; }

fail() {
	echo "$*"
	echo "after: ${COMMAND:-no command}"
	echo "-- the screen:"
	screen 2>/dev/null
	local f
	for f in out err; do
		[ -s "$f" ] && echo "-- $f:" && head -n 8 "$f" | cut -c1-200
	done
	exit 1
}

# Until a command gives 0: ten seconds.
within() { # WHAT COMMAND...
	local what=$1 until=$((SECONDS + 11))
	shift
	while ! "$@"; do
		[ $SECONDS -lt $until ] || fail "waited in vain: $what"
		sleep 0.03
	done
}

# Patterns are those of grep -E.
expect_screen() { within "the screen shows $1" is_shown "$1"; }
expect_gone() { within "the screen shows no more $1" is_gone "$1"; }

# A run that goes on until it is stopped, with results of all four rows.
long_run() {
	command_line "$LONG"
	expect_screen 'Esc stops'
	expect_screen 'fs +tls +[0-9]'
}

# The process of the workbench.
pid() {
	local p
	p=$(pgrep -s "$(tmux display -p -t it '#{pane_pid}')" -x entrylab) || return
	echo "$p"
}
is_stopped() { [ "$(ps -o stat= -p "$1" | cut -c1)" = T ]; }
is_ended() { ! kill -0 "$1" 2>/dev/null; }

worker_pid() { # of the workbench's workers, one
	pgrep -P "$1" -x entrylab-worker | head -n 1 | grep .
}

# tmux takes its time to tell the terminal's new size to the kernel.
resize() { # COLUMNSxROWS
	tmux resize-window -t it -x "${1%x*}" -y "${1#*x}"
	within "the terminal is $1" has_size "$(tmux display -p -t it '#{pane_tty}')" "${1#*x} ${1%x*}"
}
has_size() { [ "$(stty -F "$1" size)" = "$2" ]; } # TTY "ROWS COLUMNS"

modes() {
	tmux display -p -t it 'alternate=#{alternate_on} cursor=#{cursor_flag} keypad=#{keypad_flag}#{keypad_cursor_flag} mouse=#{mouse_any_flag}'
}
are_modes() { [ "$(modes)" = "$1" ]; }

# The terminal as a shell needs it. Settings of the line are held against those of stty.before, if there is one.
expect_restored() {
	expect_screen "$PROMPT *$"
	within "the terminal's modes are as before ($(modes))" \
		are_modes 'alternate=0 cursor=1 keypad=00 mouse=0'
	shell_line '[ -e stty.after ] || stty -a >stty.after; echo "writ"ten'
	expect_screen '^written'
	[ ! -e stty.before ] || diff stty.before stty.after || fail "stty -a is not as before"
	is_shown 'echo "writ"ten' || fail "what is typed is not echoed"
	# a paste would be put in brackets if the workbench had left that on
	tmux set-buffer 'pasted'
	shell_line 'cat -v'
	tmux paste-buffer -p -t it
	expect_screen '^pasted|200~'
	is_gone '200~' || fail "bracketed paste was left on"
	key C-c
	expect_screen '^pasted\^C'
}

stty_before() {
	shell_line 'stty -a >stty.before; echo "sav"ed'
	expect_screen '^saved'
}

# The workbench, from a shell that leaves the terminal as it is: one with job control mends what a signal left behind.
open_workbench_alone() {
	open_terminal 80x24
	shell_line "sh -c 'stty -a >stty.before; entrylab; echo left with \$?; stty -a >stty.after'"
	expect_screen ':run segreg'
}

# Where the first line stands that has TEXT, from 0: "row column".
place() { # TEXT
	local lines i
	mapfile -t lines < <(screen)
	for i in "${!lines[@]}"; do
		case ${lines[i]} in *"$1"*)
			local before=${lines[i]%%"$1"*}
			echo "$i ${#before}"
			return
			;;
		esac
	done
	fail "not on the screen: $1"
}

# A click of the left button in the first letter of TEXT, told as the program asked the terminal to tell it.
click() { # TEXT
	local at row column
	at=$(place "$1") || { echo "$at"; exit 1; }
	row=$((${at% *} + 1)) column=$((${at#* } + 1))
	if [ "$(tmux display -p -t it '#{mouse_sgr_flag}')" = 1 ]; then
		text "$(printf '\033[<0;%d;%dM\033[<0;%d;%dm' $column $row $column $row)"
	else
		# shellcheck disable=SC2046
		key -H 1b 5b 4d 20 $(printf '%x %x' $((column + 32)) $((row + 32))) \
			1b 5b 4d 23 $(printf '%x %x' $((column + 32)) $((row + 32)))
	fi
}

paste() { # TEXT
	tmux set-buffer -- "$1"
	tmux paste-buffer -p -t it
}

# What the runs in file out measured, from the program's JSON lines: the experiment and each row's levels.
measured() { jq -c 'if .kind == "run" then .experiment elif .kind == "result" then .variant else empty end' out; }
