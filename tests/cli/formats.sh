# What a run prints: text for people, JSON lines and CSV for programs, samples for the curious.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# Numbers of fields of the records of a CSV file (RFC 4180: fields in quotes may hold commas, newlines and doubled quotes).
csv_widths() { # FILE
	awk '
	{
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (c == "\"") quoted = !quoted
			else if (c == "," && !quoted) n++
		}
		if (!quoted) { print n + 1; n = 0 }
	}
	END { if (quoted) print "an open quote" }' "$1"
}

expect_csv() { # FILE RECORDS (with the line of names; + for one or more besides)
	local widths
	widths=$(csv_widths "$1" | sort -u)
	[ "$(wc -l <<<"$widths")" = 1 ] || fail "records of different width in $1: $widths"
	if [ "$2" = + ]; then
		[ "$(csv_widths "$1" | wc -l)" -ge 2 ] || fail "no records in $1"
	else
		expect_equal "records in $1" "$(csv_widths "$1" | wc -l)" "$2"
	fi
}

fields() { # KIND [FILTER]: the names of all fields that lines of a kind have, in one line
	json -r --arg k "$1" "[.[]|select(.kind==\$k)|${2:-.}|objects|keys[]]|unique|join(\" \")"
}

# All that is documented is there, and all that is there is documented.
test_json_lines_have_the_documented_fields() {
	local manual kind field
	need mandoc
	lab asm nop 'add %eax, %ebx' 'nop; ud2' --time 0.1 --format jsonl
	expect_measured
	expect_json 'all(.[];type=="object" and has("kind"))'
	manual=$(mandoc -T ascii "$TOP/man/entrylab.1" | col -b | tr -s ' \n' ' ' | sed 's/.*One JSON object a line//; s/ENVIRONMENT.*//')
	for kind in run control result comparison event; do
		for field in $(fields $kind) $(fields $kind '.crash,.samples,.layouts,.code,.value,.diff,.cycles,(.factors//[])[]?'); do
			[ "$field" = kind ] || grep -qE "\b$field\b" <<<"$manual" || fail "entrylab(1) does not tell the field $field of $kind"
		done
	done
	for field in command experiment title legend started seconds factors rows excluded unit seed cpu workers blocks rounds confidence alpha \
		precision_cycles precision_share trusted not_trusted_why cut_short stop_reason samples_rejected; do
		expect_json '[.[]|select(.kind=="run")]|length==1 and all(has($f))' --arg f "$field"
	done
	for field in name what value expected tolerance ok fatal text; do
		expect_json '[.[]|select(.kind=="control")]|length>=3 and all(has($f))' --arg f "$field"
	done
	for field in row experiment variant label unit state reason cycles ns ticks samples layouts code base verdict; do
		expect_json '[.[]|select(.kind=="result")]|length==3 and all(has($f))' --arg f "$field"
	done
	for field in experiment row base a b diff p p_holm mdd verdict; do
		expect_json '[.[]|select(.kind=="comparison")]|length==2 and all(has($f))' --arg f "$field"
	done
	for field in signal in_code offset address instruction; do
		expect_json '.[]|select(.kind=="result" and .state=="died")|.crash|has($f)' --arg f "$field"
	done
	for field in bytes sha256 unroll; do
		expect_json '[.[]|select(.kind=="result")|.code]|all(has($f))' --arg f "$field"
	done
	for field in kept interrupted fenced footprint; do
		expect_json '[.[]|select(.kind=="result")|.samples]|all(has($f))' --arg f "$field"
	done
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|all(.cycles.source|type=="string")'
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.layouts]|all((.cycles|length)==.blocks and (.modes|length)>=1)'
}

test_the_lines_of_a_run_come_in_the_documented_order() {
	lab asm nop 'add %eax, %ebx' --time 0.1 --format jsonl --quiet
	expect_measured
	expect_json '[.[].kind]|reduce .[] as $k ([];if .[-1]==$k then . else .+[$k] end)|.-["event"]==["run","host","control","result","comparison"]'
	expect_json '[.[]|select(.kind=="result")|.row]==[0,1]'
	expect_json '[.[].run]|unique==["1"]'
}

test_progress_comes_as_events_before_the_run_unless_quiet() {
	lab run ladder --precision 0.0001 --time 1.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.level=="progress")]|length>=2 and all(.fraction>=0 and .fraction<=1 and .seconds_left>=0)'
	expect_json '(map(.level=="progress")|rindex(true)) < (map(.kind=="run")|index(true))'
	lab run ladder --precision 0.0001 --time 1.2 --format jsonl --quiet
	expect_measured
	expect_json 'all(.level!="progress")'
}

# Missing is null with a reason, never 0.
test_numbers_that_do_not_exist_are_null_with_a_reason() {
	lab asm nop ud2 --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result" and .state=="died")|.cycles,.ns,.ticks]|length==3 and all(.est==null and .lo==null and .hi==null and (.reason|length>3))'
	expect_json '[.[]|select(.kind!="host")|..|objects|select(any(.[];.==null) and has("est"))]|all(has("reason"))'
}

test_the_host_stands_in_every_run_with_what_moves_an_entry_path() {
	local field
	lab run ladder adds=1 --time 0.1 --format jsonl
	expect_measured
	for field in cpu_name family model stepping microcode hypervisor kernel mitigations kstack_offset tsc_hz tsc_granule core_hz governor smt \
		cmdline_isolation fred clocksource pmu cpu boot_id tool_version; do
		expect_json '[.[]|select(.kind=="host")]|length==1 and all(has($f))' --arg f "$field"
	done
	expect_json '(.[]|select(.kind=="host")|.cpu)==(.[]|select(.kind=="run")|.cpu)'
}

test_csv_has_a_constant_number_of_fields() {
	lab run segreg abi=all --time 0.2 --format csv
	expect_measured
	expect_csv out +
	expect_equal 'first name' "$(head -c 15 out)" 'run,experiment,'
	lab asm nop ud2 'nop; nop' --time 0.1 --format csv
	expect_measured
	expect_csv out 4
	lab list --format csv
	expect_csv out +
	lab list runs --format csv
	expect_csv out 3
	lab show last --format csv
	expect_csv out 4
	lab compare 1 last --format csv
	[ $STATUS = 0 ] && expect_csv out +
	lab listing segreg --format csv
	expect_csv out +
	lab host --format csv
	expect_csv out +
}

test_csv_leaves_numbers_that_do_not_exist_empty() {
	lab asm nop ud2 --time 0.1 --format csv
	expect_measured
	expect_out ',died,SIGILL at body\+0x0: ud2,iteration,,,,,,,,,,'
}

test_the_text_table_has_a_row_for_each_variant_and_the_three_units() {
	lab run segreg reg=fs,gs outer=null,tls inner=gdt --against outer=tls --time 0.2
	expect_measured
	expect_out 'cycles +±99% +ns +ticks'
	expect_out 'kept'
	expect_out '^.*fs +null +[0-9.]+ '
	expect_out '^\*? *gs +tls +[0-9.]+ .* base'
	expect_out '^controls: '
	if [ "$STATUS" = 0 ]; then
		expect_out '^trusted'
		expect_out 'fs +null .*(different|no difference|no-difference)'
	fi
}

test_explain_adds_plain_sentences() {
	lab run segreg --time 0.2 --explain
	expect_measured
	cp out with
	lab run segreg --time 0.2
	expect_measured
	[ "$(wc -w <with)" -gt $(($(wc -w <out) + 10)) ] || fail "--explain adds nothing"
}

test_raw_has_every_sample() {
	local kept rounds
	lab run ladder adds=1,10 --time 0.1 --raw samples.csv --format jsonl
	expect_measured
	expect_equal 'columns' "$(head -n 1 samples.csv)" 'abi,worker,block,round,row,name,iterations,ticks,state'
	expect_csv samples.csv +
	[ -z "$(tail -n +2 samples.csv | cut -d, -f9 | sort -u | grep -vxE 'kept|interrupted|fenced')" ] || fail "an unknown state in samples.csv"
	# a round is an execution of U and one of 2U iterations; what the result calls kept is what is kept here
	for row in 0 1; do
		for state in kept interrupted fenced; do
			expect_equal "$state samples of row $row" \
				"$(awk -F, -v r=$row -v s=$state '$5 == r && $9 == s' samples.csv | wc -l)" \
				"$(json --argjson r $row --arg s $state '.[]|select(.kind=="result" and .row==$r)|.samples[$s]')"
		done
	done
	kept=$(awk -F, '$5 == 0' samples.csv | cut -d, -f7 | sort -u | wc -l)
	expect_equal 'numbers of iterations of one row' "$kept" 2
	rounds=$(json '.[]|select(.kind=="run")|.blocks*.rounds*2')
	expect_equal 'samples of row 0' "$(awk -F, '$5 == 0' samples.csv | wc -l)" "$rounds"
	# rulers and controls, too
	[ "$(awk -F, '$5 < 0' samples.csv | cut -d, -f6 | sort -u | wc -l)" -ge 3 ] || fail "no controls in samples.csv"
}

test_raw_that_cannot_be_written_is_told() {
	lab run ladder adds=1 --time 0.1 --raw /nonexistent/samples.csv
	expect_exit 2
	expect_err '/nonexistent/samples\.csv'
	[ -w /dev/full ] || skip "no /dev/full"
	lab run ladder adds=1 --time 0.1 --raw /dev/full
	expect_measured 5
	expect_err '/dev/full'
	expect_out '^ladder: '
}

test_quiet_leaves_notes_out_and_errors_in() {
	lab --quiet asm nop 'nop; nop' --time 0.1
	expect_measured
	[ "$STATUS" = 4 ] || expect_silent_err
	lab list runs --limit 1 --quiet
	expect_silent_err
	lab run nosuch --quiet
	expect_refused 'no experiment'
}

test_without_a_terminal_there_are_no_escape_sequences_and_no_progress_line() {
	lab run segreg --time 0.3 --against outer=tls
	expect_measured
	! grep -q $'\e' out || fail "an escape sequence on standard output"
	! grep -q $'[\e\r]' err || fail "an escape sequence or a carriage return on standard error"
}

# In a terminal of its own (script, from util-linux): colours and progress, and neither where they are not wanted.
in_terminal() { # ENVIRONMENT... -- WORD...
	local env=()
	while [ "$1" != -- ]; do
		env+=("$1")
		shift
	done
	shift
	COMMAND="in a terminal: ${env[*]} entrylab $*"
	timeout "$PATIENCE" script -qec "stty cols 120 rows 40; env ${env[*]} $(printf '%q ' "$PROGRAM" "$@")" /dev/null >out 2>err </dev/null
	STATUS=$?
}

test_no_color_and_dumb_terminals_get_no_escape_sequences() {
	need script
	in_terminal TERM=xterm-256color -- run segreg --time 0.3 --against outer=tls --quiet
	expect_measured_in_terminal
	grep -qE $'\e\\[[0-9;]*m' out || fail "no colour even in a terminal"
	in_terminal NO_COLOR=1 TERM=xterm-256color -- run segreg --time 0.3 --against outer=tls --quiet
	expect_measured_in_terminal
	! grep -qE $'\e\\[[0-9;]*m' out || fail "a colour in spite of NO_COLOR"
	in_terminal TERM=dumb -- run segreg --time 0.3 --against outer=tls
	expect_measured_in_terminal
	! grep -q $'\e' out || fail "an escape sequence in a dumb terminal"
}

expect_measured_in_terminal() {
	[ "$STATUS" = 0 ] || [ "$STATUS" = 4 ] || fail "expected exit status 0 or 4"
}

test_progress_with_the_time_left_is_shown_on_a_terminal() {
	need script
	in_terminal TERM=xterm -- run segreg --precision 0.0001 --time 1.5
	expect_measured_in_terminal
	expect_out 'segreg: [0-9]+%, [0-9]+ s left'
	in_terminal TERM=xterm -- run segreg --precision 0.0001 --time 1 --quiet
	expect_measured_in_terminal
	expect_no_out 's left'
}

test_the_table_follows_the_locale() {
	LC_ALL=C lab run segreg --time 0.1
	expect_measured
	! LC_ALL=C grep -q $'[\x80-\xff]' out || fail "not ASCII in the C locale"
}
