# pda: per-CPU data by way of a segment or plain. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_pda_variant_of_i386_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run pda abi=i386 access=all base=all op=all width=all accesses=all entry=all --time 0.1 --format jsonl
	expect_rows 2520
}

test_every_pda_variant_of_x86_64_does_what_it_says() {
	lab run pda abi=x86_64 access=all base=all op=all width=all accesses=all entry=all --time 0.1 --format jsonl
	expect_rows 3840
}

test_nothing_of_pda_is_absent_where_there_is_an_ldt() {
	can x86_64 ldt || skip "no LDT here"
	lab run pda abi=x86_64 access=all base=all entry=all accesses=4 --time 0.1 --format jsonl
	expect_json '[.[]|select(.kind=="result")]|length==24 and all(.state=="measured")'
}

test_pda_levels_that_cannot_be_say_why() {
	lab run pda access=absolute base=nonzero
	expect_refused 'a segment whose base is zero'
	lab run pda abi=i386 access=riprel
	expect_refused 'no addresses relative to the instruction'
	lab run pda abi=i386 width=8
	expect_refused 'no operands of 8 bytes'
}

test_pda_refuses_levels_that_are_made_up() {
	local factor
	lab run pda access=absolut
	expect_refused 'did you mean absolute'
	# a level that the header has and no branch handles
	for factor in access base op width accesses entry; do
		sed -E "s/^(#: factor +$factor +)/\13 /" "$TOP/experiments/pda.s" >made_up.s
		lab run ./made_up.s abi=x86_64 $factor=3 --time 0.05
		expect_refused "$factor: no such level: 3"
	done
}

# Breaks the experiment by a line of sed: no variant of the run may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/pda.s" >broken.s
	! cmp -s "$TOP/experiments/pda.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_a_pda_access_with_a_wrong_prefix_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	expect_caught 's/(access_\\op \\width, \\data, )%gs:/\1%fs:/' abi=all access=gs base=all op=all accesses=1,8
	expect_caught 's/(access_\\op \\width, \\data, )%fs:/\1%gs:/' abi=all access=fs base=all op=all accesses=1,8
	expect_caught 's/(access_\\op \\width, \\data, )\\start/\1%gs:\\start/' abi=all access=absolute,riprel op=all accesses=1,8
	expect_caught 's/(access_\\op \\width, \\data, )%gs:/\1/' abi=x86_64 access=gs base=nonzero op=all accesses=1,8
	can i386 ldt || return
	expect_caught 's/(access_\\op \\width, \\data, )%gs:/\1/' abi=i386 access=gs base=all op=all accesses=1,8
}

# In 64-bit code with base zero the prefix has no effect that could be checked: there the code tells.
test_pda_code_has_the_prefix_and_the_loads_that_it_names() {
	lab listing pda abi=x86_64 access=gs base=zero op=load width=4 accesses=1 entry=none
	expect_out '65 8b 0c 25 .* %gs:'
	lab listing pda abi=x86_64 access=pointer base=zero op=add width=2 accesses=1 entry=none
	expect_out '65 48 8b 34 25 .* %gs:.*, %rsi'
	expect_out '66 83 46 08 01 +addw'
	lab listing pda abi=x86_64 access=riprel base=zero op=store width=8 accesses=1 entry=none
	expect_out '48 89 0d .*\(%rip\)'
	lab listing pda abi=x86_64 access=absolute base=zero accesses=0 entry=reload
	expect_out 'body, 6 bytes'
	expect_out 'push.* %gs'
	expect_out '8e ef +mov. %edi, %gs'
	expect_out 'pop.* %gs'
}

test_a_pda_access_too_many_too_few_or_elsewhere_is_caught() {
	expect_caught 's/\.rept\t\\accesses/.rept \\accesses + 1/' abi=all access=gs,absolute,pointer op=all accesses=0,1,8
	expect_caught 's/\.set\tk, 1$/.set k, 2/' abi=all access=gs,absolute,pointer op=all accesses=1,8
}

test_a_pda_operation_of_another_kind_or_width_is_caught() {
	expect_caught 's/access_immediate add, 1/access_immediate sub, 1/' abi=all op=add width=all accesses=1
	expect_caught 's/\\name\\\(\)w/\\name\\()l/' abi=all op=add,sub,or width=2 accesses=1
	expect_caught 's/\\name\\\(\)b/\\name\\()w/' abi=all op=add,sub,or width=1 accesses=1
	expect_caught 's/\\name\\\(\)q/\\name\\()l/' abi=x86_64 op=add,sub,or width=8 accesses=1
	expect_caught 's/movl\t%ecx, /movw\t%cx, /' abi=all op=store width=4 accesses=1
	expect_caught 's/movzbl\t\\at/movzwl\t\\at/' abi=all op=load width=1 accesses=1
}

test_a_pda_entry_that_saves_or_loads_nothing_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	expect_caught 's/push\t%\\reg/lea -8(xsp), xsp/; s/pop\t%\\reg/lea 8(xsp), xsp/' abi=x86_64 access=gs,absolute base=zero entry=save,reload accesses=0,1
	expect_caught 's/mov\t%edi, %\\reg/mov %edi, %eax/' abi=all access=fs,gs,pointer base=all entry=reload accesses=1
	expect_caught 's/pop\t%\\reg/lea 8(xsp), xsp/' abi=x86_64 access=fs,gs,absolute base=all entry=reload accesses=1
}

# The prefix is one byte an access; code without accesses tells what an entry has besides.
test_pda_rows_tell_the_bytes_of_an_access() {
	lab run pda abi=x86_64 access=gs,absolute,riprel base=zero op=load width=4 accesses=0,64 entry=none --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result")|{(.variant.access+.variant.accesses):.code.bytes}]|add|(.gs64-.absolute64)==64 and (.gs0//0)==0 and (.absolute64-.riprel64)==64'
}
