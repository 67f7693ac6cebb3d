# lock: locked accesses and what follows them. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2016 # $ in code and in patterns

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_lock_variant_of_i386_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run lock abi=i386 op=all behind=all k=all --time 0.1 --format jsonl
	expect_rows 105
}

test_every_lock_variant_of_x86_64_does_what_it_says() {
	lab run lock abi=x86_64 op=all behind=all k=all --time 0.1 --format jsonl
	expect_rows 105
}

test_nothing_of_lock_is_absent_where_there_are_descriptors() {
	can x86_64 ldt || skip "no LDT here"
	can x86_64 gdt || skip "no thread areas here"
	lab run lock abi=x86_64 op=all k=0 --time 0.1 --format jsonl
	expect_json '[.[]|select(.kind=="result")]|length==7 and all(.state=="measured")'
}

test_lock_levels_that_are_made_up_or_cannot_be_are_refused() {
	local factor
	lab run lock behind=loads k=0
	expect_refused 'nothing follows'
	lab run lock op=lock_ad
	expect_refused 'did you mean lock_add'
	lab run lock k=65
	expect_refused "no level '65' of k"
	for factor in op behind k; do
		sed -E "s/^(#: factor +$factor +)/\13 /" "$TOP/experiments/lock.s" >made_up.s
		lab run ./made_up.s abi=x86_64 $factor=3 --time 0.05
		expect_refused "$factor: no such level: 3"
	done
}

# Breaks the experiment by a line of sed: none of the variants named may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/lock.s" >broken.s
	! cmp -s "$TOP/experiments/lock.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_an_access_that_is_another_is_caught() {
	expect_caught 's/^\taddl\t\$1, env_counter\(env\)$/\taddl\t$2, env_counter(env)/' abi=all op=add k=0,4
	expect_caught 's/^\tlock addl \$1, /\tlock subl $1, /' abi=all op=lock_add k=0,4
	expect_caught 's/^\txchg\t%ebx, env_counter2\(env\)$/\tmov\t%ebx, env_counter2(env)/' abi=all op=xchg k=0,4
	expect_caught 's/^\txchg\t%ebx, env_counter2\(env\)$/\tmov\tenv_counter2(env), %ebx/' abi=all op=xchg k=0,4
	expect_caught 's/^\tlock cmpxchg /\tcmp /' abi=all op=lock_cmpxchg k=0,4
	can x86_64 ldt || return 0
	expect_caught '/macro access/,/endm/s/^\tmov\t%ecx, %es$/\tnop/' abi=all op=load_gdt,load_ldt k=0,4
	expect_caught 's/^\tmov\tenv_sel_gdt\(env\), %ecx$/\tmov\tenv_sel_ldt(env), %ecx/' abi=all op=load_gdt k=0,4
}

test_more_less_or_other_instructions_behind_an_access_are_caught() {
	expect_caught 's/^\t\.rept\t\\k$/\t.rept\t\\k + 1/' abi=all op=none,lock_add behind=alu k=all
	expect_caught 's/^\t\.rept\t\\k$/\t.rept\t\\k - 1/' abi=all op=none,lock_add behind=loads k=1,2,4,8,16,32,64
	expect_caught 's/^\tlea\tn \+ 1\(xdi\), %edx$/\tlea\tn + 1(xdi), %ecx/' abi=all op=none behind=alu k=1,8
	expect_caught 's/^\tmov\tn \* 64\(xsi\), %edx$/\tmov\t(xsi), %edx/' abi=all op=none behind=loads k=2,8
}

# Whether an instruction is locked has no effect that one CPU could see: there the code tells.
test_lock_code_has_the_prefix_that_it_names() {
	lab listing lock abi=x86_64 op=lock_add
	expect_out 'f0 83 45 00 01 +lock addl'
	lab listing lock abi=x86_64 op=add
	expect_no_out ' lock'
	lab listing lock abi=x86_64 op=lock_cmpxchg
	expect_out 'f0 0f b1 .* lock cmpxchgl'
	lab listing lock abi=x86_64 op=xchg
	expect_out '87 .* xchgl'
}
