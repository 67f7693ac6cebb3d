# intr-entry: simulated interrupts. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2016 # $ in code and in patterns

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_intr_entry_variant_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run intr-entry sequence=all usersel=all user=all pattern=all --time 0.1 --format jsonl
	expect_rows 270
	expect_json '[.[]|select(.kind=="result")]|all(.state=="measured")'
}

test_intr_entry_levels_that_are_made_up_or_cannot_be_are_refused() {
	local factor
	lab run intr-entry abi=x86_64
	expect_refused "no level 'x86_64' of abi"
	lab run intr-entry sequence=skip23
	expect_refused 'did you mean skip32'
	lab run intr-entry user=33
	expect_refused "no level '33' of user"
	can i386 i386 || return 0
	# a level that the header has and no branch handles
	for factor in sequence usersel; do
		sed -E "s/^(#: factor +$factor +)/\1made_up /" "$TOP/experiments/intr-entry.s" >made_up.s
		lab run ./made_up.s $factor=made_up --time 0.05
		expect_refused "$factor: no such level: made_up|undefined symbol .*made_up|symbol 'env_sel_made_up' is not defined"
	done
	sed -E 's/^(#: factor +user +)/\133 /' "$TOP/experiments/intr-entry.s" >made_up.s
	lab run ./made_up.s user=33 --time 0.05
	expect_refused 'user: no such level: 33'
	sed -E 's/^(#: factor +pattern +)/\1waves /' "$TOP/experiments/intr-entry.s" >made_up.s
	lab run ./made_up.s pattern=waves --time 0.05
	expect_refused 'a pattern is random, short or blocks'
}

# Breaks the experiment by a line of sed: none of the variants named may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/intr-entry.s" >broken.s
	! cmp -s "$TOP/experiments/intr-entry.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_an_intr_entry_that_does_not_load_a_segment_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	local register other
	for register in ds es fs; do
		other=ds
		[ $register != ds ] || other=es
		expect_caught "/macro load_by_32_bits/,/endm/s/%$register/%$other/" sequence=always,skip32,skip_exit user=100 usersel=all
		expect_caught "/macro load_by_16_bits/,/endm/s/%$register/%$other/" sequence=skip16,skip16p user=100 usersel=all
	done
}

test_an_intr_entry_that_always_or_never_skips_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tje\t1f$/\tjmp\t1f/' sequence=skip16,skip32,skip16p,skip_exit user=0,100 usersel=all
	expect_caught 's/^\tje\t1f$/\tnop/' sequence=skip16,skip32,skip16p,skip_exit user=0,100
	expect_caught 's/^\tje\t2f$/\tjmp\t2f/' sequence=skip_exit user=0,100
	expect_caught 's/^\tje\t2f$/\tnop/' sequence=skip_exit user=0,100
}

test_an_intr_entry_that_does_not_put_back_what_it_found_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tpop\t%ds$/\tadd\t$4, %esp/' sequence=always,skip16,skip32,skip16p,none user=0,100
	expect_caught 's/^\tpop\t%es$/\tadd\t$4, %esp/' sequence=always,skip16,skip32,skip16p,none user=0,100
	expect_caught 's/^\tpop\t%fs$/\tadd\t$4, %esp/' sequence=always,skip16,skip32,skip16p user=100 usersel=all
	expect_caught 's/^\tmov\t8\(%esp\), %ds$/\tnop/' sequence=skip_exit user=0,100
	local register
	for register in eax ebx ecx edx edi; do
		expect_caught "/^\tpopa/s/$/\n\tinc %$register/" sequence=all user=0,100
	done
	expect_caught '/^\tpopa/s/$/\n\tinc %esi/' sequence=all user=0,100
}

test_an_intr_entry_from_elsewhere_than_it_says_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tmov\tenv_sel_\\usersel\(env\), %eax$/\tmov\tenv_sel_data(env), %eax/' sequence=all usersel=all user=0,100
	expect_caught 's/^\tmovl\t\$user_ds, env_save1\(env\)$/\tmovl\t$0, env_save1(env)/' sequence=all user=0,100
	expect_caught '/macro arrive/,/endm/s/env_save1\(env,%eax,8\), %eax$/env_save1(env), %eax/' sequence=all user=100 usersel=all
	# the place in the pattern does not go on
	expect_caught 's/^\tinc\t%esi$/\tnop/' sequence=all user=0,100
}

# The code of one iteration alone.
body() { # LEVELS...
	lab listing intr-entry user=0 "$@"
	expect_exit 0
	sed -n '/^  body/,$p' out >body && mv body out
}

test_intr_entry_sequences_have_the_immediates_and_prefixes_that_they_name() {
	body sequence=skip16
	expect_out '66 b8 2b 00 +movw \$0x2b, %ax'
	expect_out ' 8e d8 +mov. %eax, %ds'
	expect_no_out '66 8e'
	body sequence=skip32
	expect_out 'b8 2b 00 00 00 +movl \$0x2b, %eax'
	expect_no_out '66 (b8|8e)'
	body sequence=skip16p
	expect_out '66 b8 2b 00 +movw \$0x2b, %ax'
	expect_out '66 8e d8 +movw %ax, %ds'
	expect_out '66 8e e0 +movw %ax, %fs'
	expect_no_out ' 8e d8 +movl'
	# all that always has, and nothing in their place
	body sequence=always
	expect_equal "loads of always" "$(grep -c ' 8e [cde]' out)" 4
	expect_no_out 'cmp|j[a-z]+ '
	body sequence=none
	expect_equal "loads of none" "$(grep -c ' 8e [cde]' out)" 1
	expect_no_out 'cmp|j[a-z]+ '
}

# What a pattern with a period teaches: executions hold whole periods of it.
test_intr_entry_takes_whole_periods_of_a_pattern() {
	can i386 i386 || skip "no i386 programs here"
	lab run intr-entry sequence=skip32 user=25 pattern=all --time 0.2 --format jsonl
	expect_rows 3
	expect_json '[.[]|select(.kind=="result" and .variant.pattern=="short")|.code.unroll]|.[0]%64==0'
	expect_json '[.[]|select(.kind=="result" and .variant.pattern=="blocks")|.code.unroll]|.[0]%1000==0'
}
