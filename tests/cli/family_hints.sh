# hints: single pieces of advice. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2016 # $ in code and in patterns

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_hint_of_i386_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run hints abi=i386 hint=all before=all --time 0.1 --format jsonl
	expect_rows 24
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|length==18'
}

test_every_hint_of_x86_64_does_what_it_says() {
	lab run hints abi=x86_64 hint=all before=all --time 0.1 --format jsonl
	expect_rows 12
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|length==6'
}

test_hints_that_need_ring_0_say_so() {
	lab run hints abi=x86_64 hint=sti,cli_sti,wrmsr --time 0.1 --format jsonl
	expect_exit 3
	expect_json '[.[]|select(.kind=="result")]|length==3 and all(.state=="absent" and (.reason|test("^ring0: .*ring-0 worker")))'
	lab host --format jsonl
	expect_json '.[0].capabilities|all(.[];.ring0|type=="string")'
	lab run hints abi=x86_64 hint=entry_skip
	expect_refused 'entry into a 64-bit kernel'
	lab run hints abi=x86_64 hint=mov_ds
	expect_refused 'no push of %ds'
}

test_hints_that_are_made_up_are_refused() {
	local factor
	lab run hints hint=entry_skp
	expect_refused 'did you mean entry_skip'
	for factor in hint before; do
		sed -E "s/^(#: factor +$factor +)/\1made_up /" "$TOP/experiments/hints.s" >made_up.s
		lab run ./made_up.s abi=x86_64 hint=stack_none $factor=made_up --time 0.05
		[ $factor = before ] || lab run ./made_up.s abi=x86_64 hint=made_up --time 0.05
		expect_refused "$factor: no such level: made_up"
	done
}

# Breaks the experiment by a line of sed: none of the variants named may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/hints.s" >broken.s
	! cmp -s "$TOP/experiments/hints.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_a_hint_that_does_not_load_or_restore_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught '/macro load_both/,/endm/s/%ds/%es/' abi=i386 hint=entry_reload,entry_skip before=all
	expect_caught '/macro load_both/,/endm/s/%es/%ds/' abi=i386 hint=entry_reload,entry_skip before=all
	expect_caught 's/^\tpop\t%ds$/\tadd\t$4, %esp/' abi=i386 hint=exit_restore before=all
	expect_caught 's/^\tpop\t%es$/\tadd\t$4, %esp/' abi=i386 hint=exit_restore before=all
	expect_caught 's/^(1:)?\tmov\t\(%esp\), %ds$/\1\tnop/' abi=i386 hint=exit_skip before=all
	expect_caught 's/^\tmov\t4\(%esp\), %es$/\tnop/' abi=i386 hint=exit_skip before=all
}

test_a_hint_that_always_or_never_skips_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught '/macro compare_and_load/,/endm/s/\tje\t2f/\tjmp\t2f/' abi=i386 hint=entry_skip before=all
	expect_caught '/macro compare_and_load/,/endm/s/\tje\t2f/\tnop/' abi=i386 hint=entry_skip before=all
	expect_caught '/macro compare_and_load/,/endm/s/\tjne\t1f/\tnop/' abi=i386 hint=entry_skip before=all
	expect_caught '/macro compare_and_restore/,/endm/s/\tje\t2f/\tjmp\t2f/' abi=i386 hint=exit_skip before=all
	expect_caught '/macro compare_and_restore/,/endm/s/\tje\t2f/\tnop/' abi=i386 hint=exit_skip before=all
	expect_caught '/macro compare_and_restore/,/endm/s/\tjne\t1f/\tnop/' abi=i386 hint=exit_skip before=all
}

test_a_hint_that_reads_another_register_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tpush\t%ds$/\tpush\t%ss/' abi=i386 hint=push_ds before=all
	expect_caught 's/^\tpop\t%ebx$/\tpop\t%eax/' abi=i386 hint=push_ds before=all
	expect_caught 's/^\tmov\t%ds, %ebx$/\tmov\t%ss, %ebx/' abi=i386 hint=mov_ds before=all
}

test_a_hint_on_another_stack_is_caught() {
	expect_caught 's/^\tmov\t16\(xsp\), xsp$/\tnop/' abi=all hint=stack_load,stack_jump before=all
	expect_caught '/macro body/,/endm/s/^\tmov\txdi, xsp$/\tnop/' abi=all hint=stack_none before=all
	expect_caught '/macro body/,/endm/s/^\tmov\txcx, xsp$/\tnop/' abi=all hint=stack_none,stack_load,stack_jump before=all
	expect_caught 's/^\tmov\txdx, 16\(xdi\)$/\tmov\txdi, 16(xdi)/' abi=all hint=stack_load,stack_jump before=all
}

test_a_wrong_return_that_is_left_out_is_caught() {
	expect_caught 's/^\treturn_wrongly$/\tnop/' abi=all hint=stack_none,stack_load,stack_jump before=wrong_return
	expect_caught 's/^\t\.ifc \\before,wrong_return$/\t.ifc \\before,nothing/' abi=all hint=stack_none before=all
}

test_the_jump_of_a_hint_leads_to_another_line() {
	lab listing hints abi=x86_64 hint=stack_jump
	expect_out 'eb 40 +jmp'
	lab listing hints abi=x86_64 hint=stack_load
	expect_no_out ' jmp'
}
