# What is wrong with a request or a file is told clearly, with status 2, and nothing is measured.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# Each file in bad/ says in its first line what is wrong with it, in lines "# says:" what must stand behind the file's name in
# the message (a pattern of grep -E), and in a line "# run:" which levels to ask for.
test_every_broken_file_is_refused_with_its_line_and_what_is_wrong() {
	local file says run wrong=0 count=0 PATIENCE=20
	for file in "$CLI"/bad/*.s; do
		count=$((count + 1))
		run=$(sed -n 's/^# run: //p' "$file")
		# shellcheck disable=SC2086
		lab run "$file" $run --time 0.05
		while read -r says; do
			grep -qE -- "^entrylab: $file:$says|^$file:$says" err && [ "$STATUS" = 2 ] && [ ! -s out ] && continue
			wrong=$((wrong + 1))
			echo "${file##*/} ($(head -n 1 "$file")): status $STATUS, wanted '$says', got: $(head -c 400 err)"
		done < <(sed -n 's/^# says: //p' "$file")
		grep -q '^# says: ' "$file" || fail "$file does not tell what is expected"
	done
	[ $count -gt 50 ] || fail "only $count broken files"
	[ $wrong -eq 0 ] || exit 1
	[ ! -e "$ARCHIVE" ] || fail "a refused run was archived"
}

# The assembler reads what the engine wrote; the user must see the file that he wrote.
test_assembler_messages_name_no_generated_file() {
	lab run "$CLI/bad/assembler_error.s"
	expect_refused "^entrylab: $CLI/bad/assembler_error\.s:6: no such instruction"
	expect_no_err 'memfd|/proc|<stdin>|\{standard input\}'
}

test_an_assembler_error_tells_which_variant_has_it() {
	lab run "$CLI/bad/assembler_error_in_one_variant.s" width=8
	expect_refused ':8: width: only 4 .*width=8'
	lab run "$CLI/bad/assembler_error_in_one_variant.s" width=4 --time 0.05
	expect_measured
}

test_a_broken_file_is_told_by_show_and_listing_too() {
	lab show "$CLI/bad/key_twice.s"
	expect_refused 'key_twice\.s:5: repeat stands twice'
	lab listing "$CLI/bad/assembler_error.s"
	expect_refused 'assembler_error\.s:6: no such instruction'
}

test_list_tells_broken_files_and_shows_the_others() {
	mkdir -p "$XDG_CONFIG_HOME/entrylab/experiments"
	cp "$CLI/bad/key_twice.s" "$XDG_CONFIG_HOME/entrylab/experiments/"
	lab list
	expect_out '^.*segreg '
	expect_err 'key_twice\.s:5: repeat stands twice'
}

test_a_missing_file_is_told() {
	lab run ./missing.s
	expect_refused '\./missing\.s: cannot open: No such file'
}

test_an_empty_file_is_told() {
	: >empty.s
	lab run ./empty.s
	expect_refused 'empty\.s:1: the file is empty'
}

test_a_file_of_comments_only_is_told() {
	echo '# nothing here' >comment.s
	lab run ./comment.s
	expect_refused 'comment\.s:[0-9]+: the header has no title'
}

test_a_binary_file_is_told() {
	cp "$PROGRAM" binary.s
	lab run ./binary.s
	expect_refused 'binary\.s'
	printf '#: title x\n.macro body\n\tnop\n\0\n.endm\n' >nul.s
	lab run ./nul.s
	expect_refused 'nul\.s:4: '
}

test_a_huge_file_is_told_without_reading_it() {
	truncate -s 200G huge.s || skip "no sparse files here"
	lab run ./huge.s
	expect_refused 'huge\.s: [0-9]+ bytes; .*at most'
}

test_text_that_is_not_utf8_is_told_with_its_line() {
	printf '#: title caf\xc3\xa9\n# caf\xe9\n.macro body\n\tnop\n.endm\n' >latin.s
	lab run ./latin.s
	expect_refused 'latin\.s:2: byte 0xe9 is not UTF-8'
}

test_a_byte_order_mark_is_told() {
	printf '\xef\xbb\xbf#: title x\n.macro body\n\tnop\n.endm\n' >bom.s
	lab run ./bom.s
	expect_refused 'bom\.s:1: .*byte order mark'
}

test_lines_may_end_in_cr_lf() {
	sed 's/$/\r/' "$TOP/experiments/segreg.s" >crlf.s
	lab run ./crlf.s --time 0.05
	expect_measured
}

test_directories_and_pipes_are_no_experiments() {
	mkdir dir.s
	lab run ./dir.s
	expect_refused 'dir\.s: .*directory'
	mkfifo pipe.s
	lab run ./pipe.s
	expect_refused 'pipe\.s: .*no regular file'
}

test_a_file_that_may_not_be_read_is_told() {
	[ "$(id -u)" != 0 ] || skip "root may read everything"
	cp "$TOP/experiments/ladder.s" . && chmod 0 ladder.s
	lab run ./ladder.s
	expect_refused 'ladder\.s: cannot open: Permission denied'
}

test_unknown_names_are_answered_with_the_nearest() {
	lab rnu segreg
	expect_refused 'no command rnu; did you mean run'
	lab run segrge
	expect_refused "no experiment 'segrge': did you mean segreg"
	lab run segreg rge=fs
	expect_refused "no factor 'rge': did you mean reg\?"
	lab run segreg reg=fz
	expect_refused "no level 'fz' of reg: did you mean fs\?"
	lab run segreg abi=i368
	expect_refused "no level 'i368' of abi: did you mean i386\?"
	lab run segreg --fromat text
	expect_refused 'no option --fromat; did you mean --format\?'
	lab run segreg --format jsnl
	expect_refused 'jsnl: no such format; did you mean jsonl\?'
	lab --fromat text list
	expect_refused 'no option --fromat; did you mean --format\?'
	lab help exprot
	expect_refused 'no command or option exprot; did you mean export\?'
	lab show segrge
	expect_refused "no experiment 'segrge': did you mean segreg"
	lab run segreg --against innr=gdt
	expect_refused "no factor 'innr': did you mean inner\?"
}

test_names_that_resemble_nothing_are_answered_without_a_guess() {
	lab frobnicate
	expect_refused 'no command frobnicate'
	expect_no_err 'did you mean'
	lab run zzzzzzzz
	expect_refused "no experiment 'zzzzzzzz'"
	expect_no_err 'did you mean'
}

test_a_level_that_the_file_excludes_is_told_with_the_reason() {
	lab run segreg abi=i386 via=base
	expect_refused 'via=base does not exist with abi=i386 \(segreg\.s:[0-9]+: rdfsbase'
	lab run segreg inner=null use=inner
	expect_refused 'inner=null does not exist with use=inner .*faults'
	lab run segreg abi=x86_64 reg=es outer=tls
	expect_refused 'segreg\.s:[0-9]+: in x86_64 %es and %ds have no base'
}

test_numbers_out_of_range_are_told_with_the_range() {
	local n
	for n in 0 1001 1..1001; do
		lab run ladder "adds=$n"
		expect_refused 'out of range: 1 to 1000'
	done
	for n in -1 1.5 x 99999999999999999999; do
		lab run ladder "adds=$n"
		expect_refused 'a whole number from 1 to 1000'
	done
	lab run ladder adds=10..1
	expect_refused 'empty range'
	lab run ladder adds=1..10/0
	expect_refused 'no step'
	for n in 0 0.001 1e9 86401; do
		lab run ladder --time "$n"
		expect_refused "--time $n: out of range; 0.01 to 86400"
	done
	for n in -1 nan inf abc '' 1s 0x1 1,5; do
		lab run ladder --time "$n"
		expect_refused '--time .*not a number of seconds'
	done
	for n in 0 -1 0% 101% nan ',' '0.1,0.5' '1%,2%' %; do
		lab run ladder --precision "$n"
		expect_refused "--precision $n: "
	done
	for n in -1 1.5 abc 9223372036854775808; do
		lab run ladder --seed "$n"
		expect_refused "--seed $n: not a whole number from 0"
	done
	for n in -1 1.5 abc; do
		lab list runs --limit "$n"
		expect_refused "--limit $n: not a whole number"
	done
}

test_a_cpu_that_does_not_exist_is_told() {
	lab run ladder --cpu 99999
	expect_refused 'CPU 99999 does not exist: this machine has 0'
	lab run ladder --cpu -1
	expect_refused 'not the number of a CPU'
	lab host --cpu 99999
	expect_refused 'CPU 99999 does not exist'
}

test_a_cpu_that_is_not_allowed_is_told() {
	local first last
	read -r first last < <(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g' | awk '{print $1, $NF}')
	[ "$first" != "$last" ] || skip "only one CPU is allowed here"
	capture taskset -c "$first" "$PROGRAM" run ladder --cpu "$last"
	expect_refused "CPU $last is not allowed to this process \(allowed: $first\)"
}

test_what_is_missing_or_too_much_is_told() {
	lab run
	expect_refused 'run: something is missing: run EXPERIMENT'
	lab asm
	expect_refused 'asm: something is missing: asm SNIPPET'
	lab run segreg fs
	expect_refused "'fs' is not FACTOR=LEVEL: did you mean reg=fs"
	lab run segreg reg
	expect_refused 'reg=LEVEL'
	lab run segreg reg=
	expect_refused 'reg=LEVEL'
	lab run segreg reg=fs,fs
	expect_refused 'reg=fs is named twice'
	lab run segreg reg=fs reg=gs
	expect_refused 'reg is named twice'
	lab run ''
	expect_refused "no experiment's name"
	lab compare 1
	expect_refused 'compare: something is missing'
	lab host now
	expect_refused 'host: too many words'
	lab run ladder --time
	expect_refused '--time needs a value'
	lab -f
	expect_refused '--file needs a value'
	lab run ladder --limit 3
	expect_refused 'limit'
}

test_a_base_that_is_not_selected_is_told() {
	lab run ladder adds=1,2 --against adds=5
	expect_refused 'no variant of this selection has adds=5'
	lab run ladder --against adds
	expect_refused 'FACTOR=LEVEL'
	lab run ladder --against ''
	expect_refused 'name at least one FACTOR=LEVEL'
}

test_snippets_that_do_not_assemble_are_told_by_their_number() {
	lab asm nop 'bogus %eax'
	expect_refused "snippet 2: no such instruction: .bogus %eax'"
	lab asm nop --setup 'bogus'
	expect_refused '--setup: no such instruction'
	lab asm nop .endm
	expect_refused 'snippet 2: \.endm cannot stand in a snippet'
	lab asm nop --abi ia64
	expect_refused '--abi ia64: give i386, x86_64'
	lab asm 'call nowhere'
	expect_refused "snippet 1.*'nowhere' is not defined"
}

test_too_many_variants_are_refused_before_anything_is_done() {
	{
		echo '#: title Many'
		for f in a b c d; do echo "#: factor $f 0..1000"; done
		echo '#: default a=0 b=0 c=0 d=0'
		printf '.macro body a, b, c, d\n\tnop\n.endm\n'
	} >many.s
	lab run ./many.s a=all b=all c=all d=all
	expect_refused 'more than 20000'
}
