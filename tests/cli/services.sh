# What header lines and the code itself ask for reaches the code that runs: each file proves it by what it expects, before anything is
# timed.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# Runs ./NAME.s; every row must be measured.
all_measured() { # NAME [WORD...]
	local name=$1
	shift
	lab run "./$name.s" "$@" --time 0.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|length>0 and all(.state=="measured")'
}

# Before the engine looked at the code, a segment register es that held a real selector cost what a load of null costs, three times as
# much. Here null is deadly: by its value, by an access, or by a string instruction.
test_a_body_that_holds_a_selector_in_es_is_not_measured_with_a_null_one() {
	both_abis
	cat >es.s <<-'END'
		#: title A selector in %es
		#: abi i386 x86_64
		#: factor how value pool override string
		#: exclude abi=x86_64 how=override,string | null is no obstacle there
		#: expect counter == iterations
		.macro same
		cmp env_sel_data(env), %ax
		je 1f
		ud2
		1: incl env_counter(env)
		.endm
		.macro pool how
		mov %es, %eax
		ret
		.endm
		.macro setup how
		mov env_sel_data(env), %eax
		mov %eax, %es
		.endm
		.macro body how
		.ifc \how,value
		mov %es, %eax
		same
		.endif
		.ifc \how,pool
		call pool
		same
		.endif
		.ifc \how,override
		incl %es:env_counter(env)
		.endif
		.ifc \how,string
		mov env_buffer(env), xdi
		stosl
		incl env_counter(env)
		.endif
		.endm
	END
	all_measured es abi=i386,x86_64 how=value,pool
	expect_json '[.[]|select(.kind=="result")]|length==4 and all(.samples.footprint=="off" and .samples.footprint_why=="the code uses %es" and .samples.interrupted==0)'
	all_measured es abi=i386 how=override,string
	expect_json '[.[]|select(.kind=="result")]|length==2 and all(.samples.footprint=="off")'
}

# The load of %es is the constant of another instruction: only the functional check can find it.
test_code_whose_use_of_es_cannot_be_seen_is_measured_without_the_footprint_too() {
	local abi
	for abi in i386 x86_64; do
		can $abi $abi && can $abi footprint || continue
		cat >hidden.s <<-'END'
			#: title A hidden use of %es
			#: abi i386 x86_64
			#: expect counter == iterations
			.macro body
			jmp 1f + 1
			1: mov $0x00ebc18c, %edx # mov %es, %ecx; jmp to what follows
			cmp $1, %cx
			jne 2f
			ud2
			2: incl env_counter(env)
			.endm
		END
		all_measured hidden abi=$abi
		expect_json '[.[]|select(.kind=="result")]|length==1 and all(.samples.footprint=="off" and .samples.footprint_why=="the code uses %es")'
	done
}

test_descriptors_of_an_ldt_line_are_there() {
	local abi
	cat >descriptors.s <<-'END'
		#: title Descriptors
		#: abi i386 x86_64
		#: factor kind data code
		#: needs ldt
		#: ldt kind=data data 300
		#: ldt kind=code code 200
		#: repeat once
		#: expect kind=data counter == 300
		#: expect kind=data ldt_first == 7
		#: expect kind=data result == 0
		#: expect kind=code counter == 200
		#: expect kind=code ldt_first == 2055 | entry 256
		#: expect kind=code result == 200 | executable
		.macro body kind
		.ifc \kind,data
		most = 300
		.else
		.ifc \kind,code
		most = 200
		.endif
		.endif
		mov env_ldt_first(env), %eax
		xor %esi, %esi
		1: lar %eax, %edx
		jnz 3f
		incl env_counter(env)
		test $0x800, %edx
		jz 2f
		incl env_result(env)
		2: add $8, %eax
		inc %esi
		cmp $most, %esi
		jb 1b
		3:
		.endm
	END
	for abi in i386 x86_64; do
		can $abi $abi && can $abi ldt || continue
		all_measured descriptors abi=$abi kind=data
		all_measured descriptors abi=$abi kind=code
	done
	# a run has what all of its variants want
	can x86_64 ldt || skip "no LDT here"
	sed -i '/^#: expect kind=code/d' descriptors.s
	sed -i '/^#: expect kind=data result/d' descriptors.s
	all_measured descriptors abi=x86_64 kind=all
}

test_a_segment_line_gives_the_pool_a_code_segment() {
	both_abis
	can i386 ldt16 || skip "no 16-bit segments here"
	cat >segments.s <<-'END'
		#: title Segments
		#: abi i386
		#: factor width 16 32
		#: needs ldt
		#: needs width=16 ldt16
		#: segment width=16 code16
		#: segment width=32 code32
		#: repeat loop
		#: expect counter == iterations
		#: expect result == sel_pool
		.macro pool width
		.if \width == 16
		.code16
		.endif
		incl env_counter(env)
		mov %cs, %eax
		mov %eax, env_result(env)
		.if \width == 16
		lretl
		.code32
		.elseif \width == 32
		lret
		.endif
		.endm
		.macro body width
		movl $0, env_save0(env)
		mov env_sel_pool(env), %eax
		mov %eax, env_save0+4(env)
		lcall *env_save0(env)
		.endm
	END
	all_measured segments width=all
}

test_a_crash_in_a_code_segment_names_its_place_in_the_pool() {
	both_abis
	can i386 ldt || skip "no LDT here"
	cat >crash.s <<-'END'
		#: title Crash
		#: abi i386
		#: segment code32
		.macro pool
		nop
		nop
		ud2
		.endm
		.macro body
		movl $0, env_save0(env)
		mov env_sel_pool(env), %eax
		mov %eax, env_save0+4(env)
		lcall *env_save0(env)
		.endm
	END
	lab run ./crash.s --time 0.1
	expect_exit 2
	expect_out 'died: SIGILL at pool\+0x2'
}

test_a_pattern_line_gives_the_share_of_ones() {
	local abi
	cat >patterns.s <<-'END'
		#: title Patterns
		#: abi i386 x86_64
		#: factor share 0 25 100
		#: factor order short blocks
		#: pattern share order
		#: repeat once
		#: expect share=0 result == 0
		#: expect share=25 result == 250000
		#: expect share=100 result == 1000000
		#: expect pattern_size == 1000000
		.macro body share, order
		mov env_pattern(env), xsi
		xor %ecx, %ecx
		1: movzbl (xsi,xcx), %eax
		add %eax, env_result(env)
		inc %ecx
		cmp env_pattern_size(env), %ecx
		jb 1b
		.endm
	END
	for abi in i386 x86_64; do
		can $abi $abi || continue
		all_measured patterns abi=$abi share=all order=all
	done
}

test_a_body_goes_on_behind_its_signals() {
	local abi
	cat >signals.s <<-'END'
		#: title Signals
		#: abi i386 x86_64
		#: factor cause int3 ud2 fault
		#: repeat loop
		#: expect counter == iterations
		#: expect counter2 == 0
		#: expect cause=int3 signal_number == 5
		#: expect cause=ud2 signal_number == 4
		#: expect cause=fault signal_number == 11
		#: expect cause=fault signal_address == 0x1005
		.macro body cause
		movl $1f, env_on_signal(env)
		.ifc \cause,int3
		int3
		.endif
		.ifc \cause,ud2
		ud2
		.endif
		.ifc \cause,fault
		mov $0x1005, %eax
		jmp *xax
		.endif
		incl env_counter2(env)
		1: incl env_counter(env)
		.endm
	END
	for abi in i386 x86_64; do
		can $abi $abi || continue
		all_measured signals abi=$abi cause=all
	done
}

test_what_the_guard_refuses_is_a_row_that_says_what_was_wanted_and_where() {
	local abi
	# the numbers of getpid, fork; kill of the parent; close of 3
	lab asm nop 'mov $57,%eax; syscall' 'mov $62,%eax; mov env_ppid(env),%rdi; xor %esi,%esi; syscall' 'mov $3,%eax; mov $3,%edi; syscall' \
		--abi x86_64 --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|.[0].state=="measured" and ([.[1:][]|.state]|all(.=="died"))'
	expect_json '.[]|select(.kind=="result" and .row==1)|.reason=="wanted to start another process at body+0x5: syscall"'
	expect_json '.[]|select(.kind=="result" and .row==2)|.reason|test("^wanted to signal or change another process at body\\+0x[0-9a-f]+: syscall")'
	expect_json '.[]|select(.kind=="result" and .row==3)|.reason|test("^wanted to use a descriptor of the worker.s own \\(3 or 4\\) at body\\+0xa: syscall")'
	can x86_64 int80 || return 0
	lab asm nop 'mov $2,%eax; int $0x80' --abi x86_64 --time 0.1 --format jsonl
	expect_measured
	expect_json '.[]|select(.kind=="result" and .row==1)|.reason=="wanted to start another process at body+0x5: int $0x80"'
}

# The first copy of a variant is checked and its child found; here it forks only when it is timed, and there is no guard.
test_a_child_born_while_the_code_is_timed_does_not_live_on() {
	own_workers
	cat >late.s <<-'END'
		#: title Late
		#: abi x86_64
		#: repeat loop
		.macro body
		mov $21, %edi # prctl(PR_GET_SECCOMP): 2 under the guard
		mov $157, %eax
		syscall
		test %eax, %eax
		jnz 2f
		cmpl $0, env_save0(env)
		jne 2f
		incl env_save0(env)
		mov $57, %eax
		syscall
		test %eax, %eax
		jnz 2f
		mov $112, %eax # setsid
		syscall
		1: mov $34, %eax # pause
		syscall
		jmp 1b
		2:
		.endm
	END
	lab run ./late.s --time 0.2
	expect_no_workers
}
