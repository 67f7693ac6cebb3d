# Commands from a file and from standard input; where they stop and how they exit.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

piped() { # TEXT WORD...
	local text=$1
	shift
	COMMAND="printf %s '$text' | entrylab $*"
	printf '%s' "$text" | timeout "$PATIENCE" "$PROGRAM" "$@" >out 2>err
	STATUS=$?
}

test_a_script_runs_its_commands_in_order() {
	cat >good.elab <<-'END'
		# a comment, then an empty line

		set time 0.1
		run ladder adds=1   # the rest of a line
		asm 'nop; nop' "nop"
		list runs
	END
	lab -f good.elab
	expect_measured
	expect_out '^ladder: '
	expect_out '^asm: '
	expect_out 'run ladder adds=1 --time 0.1'
	expect_equal 'runs kept' "$("$PROGRAM" list runs --format jsonl --quiet | wc -l)" 2
	[ "$(grep -n '^ladder: ' out | cut -d: -f1)" -lt "$(grep -n '^asm: ' out | cut -d: -f1)" ] || fail "not in order"
}

test_standard_input_is_a_script() {
	piped $'list\nhelp run\n'
	expect_exit 0
	expect_out 'segreg'
	expect_out 'EXPERIMENT'
	piped 'list' -f -
	expect_exit 0
	expect_out 'segreg'
	piped $'list' source -
	expect_exit 0
	expect_out 'segreg'
}

# No newline at the end, CR LF, a line that goes on, an open quote that does too.
test_lines_are_cut_as_a_shell_does() {
	piped $'list \\\n runs'
	expect_exit 0
	piped $'asm \'nop\nnop\' --time 0.1 --format jsonl --quiet\n'
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|length==1 and .[0].code.bytes==2'
	piped $'list "experiments"'
	expect_exit 0
	expect_out 'segreg'
	piped $'li\\st\n'
	expect_exit 0
	piped $'list\r\nlist\r\n'
	expect_exit 0
	piped $'\n\n   \n# nothing\n'
	expect_exit 0
	expect_silent_out
	piped ''
	expect_exit 0
	piped $'list \'experiments\n'
	expect_exit 2
	expect_err 'quote'
}

test_a_script_stops_at_its_first_error_with_file_and_line() {
	printf 'list\n\nrun segrge\nhost\n' >bad.elab
	lab -f bad.elab
	expect_exit 2
	expect_err "^bad\.elab:3: there is no experiment 'segrge': did you mean segreg"
	expect_out 'segreg'
	expect_no_out 'boot id'
	piped $'list\nfrobnicate\nhost\n'
	expect_exit 2
	expect_err '^[^ ]*(stdin|standard input|-):2: no command frobnicate'
	expect_no_out 'boot id'
}

# A command of several lines is told by its first.
test_an_error_in_a_line_that_goes_on_is_told_with_its_first_line() {
	printf 'list\nrun \\\n  segreg \\\n  rge=fs\n' >long.elab
	lab -f long.elab
	expect_exit 2
	expect_err '^long\.elab:2: .*rge'
}

test_keep_going_goes_on_and_tells_the_worst() {
	printf 'run segrge\nhost\nfrobnicate\nlist\n' >bad.elab
	lab -f bad.elab --keep-going
	expect_exit 2
	expect_err '^bad\.elab:1: '
	expect_err '^bad\.elab:3: '
	expect_out 'boot id'
	expect_out 'segreg'
}

test_scripts_within_scripts_tell_their_own_file_and_line() {
	printf 'list\nrun segrge\n' >inner.elab
	printf 'host\nsource inner.elab\nlist runs\n' >outer.elab
	lab -f outer.elab
	expect_exit 2
	expect_err '^inner\.elab:2: '
	printf 'source self.elab\n' >self.elab
	lab -f self.elab
	expect_exit 2
	expect_err 'self\.elab:1: '
}

test_what_is_set_holds_for_the_commands_behind_it() {
	printf 'set format jsonl\nset time 0.1\nset quiet on\nrun ladder adds=1\nset format default\nlist\n' >set.elab
	lab -f set.elab
	expect_measured
	expect_out '^\{"kind":"run"'
	expect_out '^Instrument'
	lab set tiem 3
	expect_refused 'no option tiem; did you mean time'
	lab set time abc
	expect_refused 'not a number of seconds'
}

test_quit_ends_a_script() {
	piped $'quit\nfrobnicate\n'
	expect_exit 0
	expect_silent_err
}

test_a_script_that_cannot_be_read_is_told() {
	lab -f missing.elab
	expect_refused 'missing\.elab: No such file'
	lab -f .
	expect_refused '\.:?.*directory'
	head -c 2000 "$PROGRAM" >binary.elab
	lab -f binary.elab
	expect_exit 2
	expect_err '^binary\.elab:1: '
}

# Not trusted (4) and not kept (5) do not stop a script; the status is the worst by 130, 70, 2, 3, 4, 5, 1.
test_a_run_that_is_not_kept_does_not_stop_a_script() {
	printf 'run ladder adds=1 --time 0.1 --archive /proc/none/runs.db\nlist\n' >kept.elab
	lab -f kept.elab
	expect_measured 5
	expect_out 'segreg'
}

test_the_exit_status_is_the_worst_by_precedence() {
	own_workers x86_64
	printf 'run ladder adds=1 abi=x86_64 --time 0.1 --archive /proc/none/runs.db\nasm nop --abi i386\nlist\n' >worst.elab
	lab -f worst.elab --keep-going
	expect_exit 3 # not possible here before not kept
	expect_out 'segreg'
	printf 'frobnicate\nasm nop --abi i386\nrun ladder adds=1 abi=x86_64 --time 0.1 --archive /proc/none/runs.db\n' >worst.elab
	lab -f worst.elab --keep-going
	expect_exit 2 # bad input before both
	lab -f worst.elab
	expect_exit 2
	expect_no_err 'worst\.elab:2'
	[ -w /dev/full ] || skip "no /dev/full"
	COMMAND="-f worst.elab --keep-going >/dev/full"
	"$PROGRAM" -f worst.elab --keep-going >/dev/full 2>err
	STATUS=$?
	expect_exit 70 # a fault before bad input
}

# Another program feeds commands and reads the answers: each must come before the next is read.
test_answers_come_before_the_next_command_is_read() {
	local line
	mkfifo to from
	timeout 20 "$PROGRAM" <to >from 2>err &
	exec 3>to 4<from
	echo 'list --format jsonl' >&3
	read -r -t 10 line <&4 || fail "no answer while standard input is open"
	[[ $line == '{"kind":"experiment"'* ]] || fail "got: $line"
	exec 3>&- 4<&-
	wait $!
}

test_help_is_told_for_the_program_and_every_command() {
	local command
	lab --help
	expect_exit 0
	expect_out '^  run '
	lab --version
	expect_exit 0
	expect_out '^entrylab [0-9]'
	for command in $("$PROGRAM" help --tables | awk -F'\t' '$1 == "command" {print $2}'); do
		lab help "$command"
		expect_exit 0
		expect_out "$command"
		cp out first
		lab "$command" --help
		expect_exit 0
		cmp -s first out || fail "help $command and $command --help differ"
	done
	lab help precision
	expect_exit 0
	expect_out 'half-width'
}

# `set` once took away the memory that the script's name stands in.
test_a_script_knows_its_name_after_it_has_set_something() {
	printf 'set time 0.1\nset format csv\nfrobnicate\n' >named.elab
	lab -f named.elab
	expect_exit 2
	expect_err '^named\.elab:3: no command frobnicate'
}

# The prompt without a terminal: the same commands, the same status.
test_the_prompt_takes_the_same_commands_from_a_pipe() {
	piped $'list\n' -i
	expect_exit 0
	expect_out 'segreg'
	piped $'frobnicate\nlist\n' -i
	expect_exit 2
	expect_err 'no command frobnicate'
	expect_out 'segreg'
}
