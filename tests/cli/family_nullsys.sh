# nullsys: system calls by every way into the kernel. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2016 # $ in code and in patterns

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_nullsys_variant_of_i386_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run nullsys abi=i386 entry=all call=all tls=all ret=all --time 0.1 --format jsonl
	expect_rows 50
}

test_every_nullsys_variant_of_x86_64_does_what_it_says() {
	lab run nullsys abi=x86_64 entry=all call=all tls=all ret=all --time 0.1 --format jsonl
	expect_rows 40
}

# Absent is only what the machine lacks.
test_nullsys_entries_are_there_where_the_machine_has_them() {
	local entry capability
	can i386 i386 || skip "no i386 programs here"
	lab run nullsys abi=i386 entry=all call=badnr ret=call --time 0.1 --format jsonl
	for entry in int80 sysenter syscall vsyscall; do
		capability=$entry
		[ $entry != vsyscall ] || capability=syscall32
		if can i386 $capability; then
			expect_json "[.[]|select(.kind==\"result\" and .variant.entry==\"$entry\")|.state]==[\"measured\"]"
		else
			expect_json "[.[]|select(.kind==\"result\" and .variant.entry==\"$entry\")]|.[0].state==\"absent\" and (.[0].reason|startswith(\"$capability: \"))"
		fi
	done
}

test_nullsys_levels_that_cannot_be_say_why() {
	lab run nullsys abi=x86_64 entry=vsyscall
	expect_refused 'the vDSO of 64-bit programs has no entry'
	lab run nullsys abi=x86_64 entry=sysenter
	expect_refused 'from 32-bit programs only'
	lab run nullsys abi=i386 entry=syscall ret=inline
	expect_refused 'the kernel returns to the vDSO'
}

test_nullsys_refuses_levels_that_are_made_up() {
	local factor
	lab run nullsys entry=sysentre
	expect_refused 'did you mean sysenter'
	# a level that the header has and no branch handles
	for factor in entry call tls ret; do
		sed -E "s/^(#: factor +$factor +)/\1bogus /" "$TOP/experiments/nullsys.s" >made_up.s
		lab run ./made_up.s abi=x86_64 $factor=bogus --time 0.05
		expect_refused "$factor: no such level: bogus"
	done
}

# What no effect tells apart, such as getuid and getgid of root, the code does.
test_nullsys_code_has_the_instruction_and_the_number() {
	lab listing nullsys abi=x86_64 entry=syscall call=getuid ret=inline
	expect_out 'b8 66 00 00 00 +movl'
	expect_out '0f 05 +syscall'
	expect_no_out ' callq? '
	lab listing nullsys abi=x86_64 entry=int80 call=getuid ret=call
	expect_out 'b8 c7 00 00 00 +movl'
	expect_out 'cd 80 +int'
	expect_out ' callq? 0x'
	expect_out 'c3 +retq?$'
	can i386 i386 || return
	lab listing nullsys abi=i386 entry=vsyscall call=getuid ret=call
	expect_out 'b8 c7 00 00 00 +movl'
	expect_out 'calll? +\*'
	expect_no_out 'syscall$|sysenter$|int +\$0x80'
	lab listing nullsys abi=i386 entry=syscall call=getppid ret=call
	expect_out '55 +pushl? +%ebp'
	expect_out '0f 05 +syscall'
	expect_out 'ud2'
}

# Breaks the experiment by a line of sed: no variant of the run may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/nullsys.s" >broken.s
	! cmp -s "$TOP/experiments/nullsys.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_a_nullsys_call_that_is_another_is_caught() {
	expect_caught 's/getppid, 64, 110/getppid, 199, 102/' abi=all entry=all call=getppid ret=all
	expect_caught 's/getuid, 199, 102/getuid, 64, 110/' abi=all entry=all call=getuid ret=all
	expect_caught 's/badnr, 65535, 65535/badnr, 64, 110/' abi=all entry=all call=badnr ret=all
	expect_caught 's/umask, 60, 95/umask, 199, 102/' abi=all entry=all call=umask ret=all
	expect_caught 's/arguments env_pipe_read, 64/arguments env_pipe_read, 0/' abi=all entry=all call=pipe ret=all
}

test_a_nullsys_entry_that_is_another_is_caught() {
	expect_caught 's/^\tenter_\\entry$/\tenter_int80/' abi=x86_64 entry=syscall ret=all
	expect_caught 's/^\tenter_\\entry$/\tenter_syscall/' abi=x86_64 entry=int80 ret=all
	expect_caught 's/^\tsyscall$/\tint $0x80/' abi=all entry=syscall ret=all
	can i386 syscall32 || return
	expect_caught 's/^\tcall\t\*env_vsyscall\(env\)/\tint $0x80/' abi=i386 entry=vsyscall
}

test_a_nullsys_ret_that_is_missing_or_too_much_is_caught() {
	expect_caught 's/^\tcall\tpool/\tenter_syscall/' abi=x86_64 entry=syscall ret=call
	expect_caught 's/^\t\.ifc \\ret,call$/\t.ifc \\ret,inline/' abi=x86_64 entry=syscall ret=inline
}

test_a_nullsys_store_that_is_missing_or_elsewhere_is_caught() {
	expect_caught '/mov\t%eax, %[fg]s:\(/d' abi=all entry=syscall,vsyscall call=all tls=yes ret=all
	expect_caught 's/mov\t%eax, %[fg]s:/mov\t%eax, /' abi=all entry=syscall,vsyscall call=all tls=yes ret=all
	expect_caught 's/\.ifc \\tls,yes/.ifc \\tls,no/' abi=all entry=syscall,vsyscall call=all tls=no ret=all
}

# Which instruction __kernel_vsyscall has is the kernel's choice: it stands beside the mitigations.
test_host_shows_the_bytes_of_the_vdsos_entry() {
	can i386 syscall32 || skip "no vDSO for 32-bit programs here"
	lab host --format jsonl
	expect_json '.[0].vsyscall|test("^([0-9a-f]{2} )+c3: (sysenter|syscall|int \\$0x80)$")'
	lab host
	expect_out '^vsyscall +([0-9a-f]{2} )+c3: '
	lab run nullsys abi=i386 entry=vsyscall --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="host")]|.[0].vsyscall|length>5'
}

test_published_nullsys_is_context_with_seconds_of_this_machine() {
	can i386 syscall32 || skip "no vDSO for 32-bit programs here"
	lab published nullsys
	[ "$STATUS" = 4 ] || expect_exit 0
	expect_out '^context '
	expect_out '^pipe +gs +12\.811 +[0-9.]+ ±[0-9.]+ +10000000'
	expect_out '^getppid +noreload +13\.37 +[0-9.]+ ±[0-9.]+ +100000000'
}
