# Every variant that we ship does what it says: the worker's functional check passes, nothing dies.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# All rows are measured, or absent with a reason; as many as the levels and the exclusions make.
expect_functional() { # least number of rows
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json '[.[]|select(.kind=="run")|.rows]==[[.[]|select(.kind=="result")]|length]'
	expect_json "[.[]|select(.kind==\"result\")]|length >= $1"
	# measured means figures in all three units
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|all(([.cycles,.ns,.ticks]|all((.est|type)=="number")))'
}

segreg() { # ABI SERIALISE
	lab run segreg abi="$1" reg=all outer=all inner=all use=all serialise="$2" via=all --time 0.1 --format jsonl
}

test_every_segreg_variant_of_i386_does_what_it_says() {
	segreg i386 none
	expect_functional 250
}

test_every_serialised_segreg_variant_of_i386_does_what_it_says() {
	segreg i386 lfence
	expect_functional 250
}

test_every_segreg_variant_of_x86_64_does_what_it_says() {
	segreg x86_64 none
	expect_functional 400
}

test_every_serialised_segreg_variant_of_x86_64_does_what_it_says() {
	segreg x86_64 lfence
	expect_functional 400
}

# cpuid leaves a virtual machine's guest: some 50 times slower, so not all.
test_segreg_variants_serialised_by_cpuid_do_what_they_say() {
	local abi
	for abi in i386 x86_64; do
		lab run segreg abi=$abi reg=none,fs,es outer=data,gdt inner=data use=none,inner serialise=cpuid --time 0.1 --format jsonl
		expect_functional 12
	done
}

test_all_segreg_variants_fit_into_one_run() {
	lab run segreg abi=all reg=all outer=all inner=all use=all serialise=none,lfence via=all --time 0.1 --format jsonl
	expect_functional 1400
	expect_json '[.[]|select(.kind=="run")|.excluded]|.[0]>0'
}

test_the_ladder_adds_up_in_both_abis() {
	lab run ladder abi=all adds=1..20,50..1000/50 --time 0.1 --format jsonl
	expect_functional 80
}

test_every_cold_variant_does_what_it_says() {
	lab run cold abi=all of=all cache=all --time 0.1 --format jsonl
	expect_functional 10
}

test_asm_measures_in_both_abis() {
	both_abis
	lab asm nop 'push xax; pop xax' 'add xax, xbx' --abi all --time 0.1 --format jsonl
	expect_functional 6
	expect_json '[.[]|select(.kind=="result")|.variant.abi]|(map(select(.=="i386"))|length)==3'
}

test_setup_is_run_before_the_snippets() {
	# without the setup, the load would fault
	lab asm 'mov (xbx), %eax' --setup 'mov xbp, xbx' --abi all --time 0.1 --format jsonl
	expect_functional 1
	lab asm 'xor %ebx, %ebx; mov (xbx), %eax' --time 0.1
	expect_exit 2
	expect_out 'died: SIGSEGV'
}

# What a check finds wrong is a row, with what was found and what was wanted.
test_a_variant_that_fails_its_check_is_a_row_that_says_so() {
	cat >liar.s <<-'END'
		#: title   Counts only half of the time
		#: factor  how right wrong
		#: default how=right,wrong
		#: expect  counter == iterations
		.macro body how
			.ifc \how,right
			addl $1, env_counter(env)
			.else
			.ifc \how,wrong
			nop
			.endif
			.endif
		.endm
	END
	lab run ./liar.s --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|.[0].state=="measured" and .[1].state=="wrong" and (.[1].reason|test("counter.* 0.*3|3.* 0"))'
	expect_json '.[]|select(.kind=="result" and .row==1)|.cycles.est==null'
}

# Levels that this machine cannot run are rows with the reason; where nothing is left, the status is 3.
test_levels_that_the_machine_lacks_are_rows_with_the_reason() {
	can i386 sysenter && skip "this machine has sysenter"
	cat >enter.s <<-'END'
		#: title   By a gate that may not be there
		#: abi     x86_64 i386
		#: factor  by nothing gate
		#: default by=nothing,gate
		#: needs   by=gate sysenter
		.macro body by
			.ifc \by,nothing
			nop
			.else
			.ifc \by,gate
			nop; nop
			.endif
			.endif
		.endm
	END
	lab run ./enter.s abi=i386 --time 0.1 --format jsonl
	both_abis
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|.[0].state=="measured" and .[1].state=="absent" and (.[1].reason|test("sysenter"))'
	lab run ./enter.s by=gate --time 0.1 --format jsonl
	expect_exit 3
	expect_json '[.[]|select(.kind=="result")]|length==1 and .[0].state=="absent"'
	expect_err 'nothing that was asked for is possible'
	lab show ./enter.s
	expect_exit 0
	expect_out 'sysenter'
}

# Where the program says that its controls hold, they hold; where it says that they do not, it says which and calls nothing.
test_a_run_that_says_its_controls_hold_has_controls_that_hold() {
	local seed
	for seed in 1 2 3; do
		lab run ladder --seed $seed adds=1,10 --against adds=1 --time 0.2 --format jsonl
		expect_measured
		expect_json '[.[]|select(.kind=="control" and .fatal)]|length>=3'
		expect_json '(.[]|select(.kind=="run")|.trusted)==([.[]|select(.kind=="control" and .fatal)]|all(.ok))'
		expect_json '[.[]|select(.kind=="control" and .ok and .fatal and .expected!=null)]|all(.value.lo-.tolerance <= .expected and .value.hi+.tolerance >= .expected)'
		if [ "$STATUS" = 4 ]; then
			expect_json '(.[]|select(.kind=="run")|.not_trusted_why|length)>5'
			expect_json '[.[]|select(.kind=="comparison")]|all(.verdict=="not-trusted" or .verdict=="none")'
		else
			expect_json '(.[]|select(.kind=="run")|.not_trusted_why)==null'
			expect_json '[.[]|select(.kind=="comparison")]|all(.verdict=="different" or .verdict=="no-difference")'
			# corrected for many comparisons; and beside "no difference" what would have been seen
			expect_json '[.[]|select(.kind=="comparison")]|all(.p_holm>=.p and .mdd>0)'
		fi
	done
}

test_rows_are_compared_with_the_one_that_differs_only_in_what_against_names() {
	lab run segreg abi=x86_64 reg=fs,gs outer=data,gdt inner=data --against outer=data --time 0.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="comparison")]|length==2'
	expect_json '. as $all|[.[]|select(.kind=="comparison")]|all(. as $c|$all[]|select(.kind=="result" and .row==$c.base)|.variant.outer=="data")'
	expect_json '[.[]|select(.kind=="result" and .variant.outer=="data")]|all(.verdict=="base")'
	# a full variant is one base for all
	lab run segreg abi=x86_64 reg=fs,gs outer=data,gdt inner=data --against reg=fs,outer=gdt --time 0.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="comparison")]|length==3 and (map(.base)|unique|length)==1'
}

test_the_same_seed_places_and_orders_alike() {
	lab run ladder adds=1 --seed 7 --time 0.1 --format jsonl
	expect_measured
	expect_json '.[]|select(.kind=="run")|.seed=="7"'
}

test_a_run_says_why_it_stopped() {
	lab run ladder adds=1 --precision 50 --time 20 --format jsonl
	expect_measured
	expect_json '.[]|select(.kind=="run")|.stop_reason|test("precision reached")'
	lab run ladder adds=1 --precision 0.0001 --time 0.1 --format jsonl
	expect_measured
	expect_json '.[]|select(.kind=="run")|.stop_reason|test("time limit of 0.1 s")'
}

# A figure is of one copy, however many a turn has, and what a turn costs besides is taken off.
test_copies_in_a_turn_of_a_loop_are_an_iteration_each() {
	cat >turns.s <<-'END'
		#: title    A hundred dependent adds in turns of several copies
		#: factor   copies 1..64
		#: default  copies=1,16,64
		#: repeat   copies=16 loop 16
		#: repeat   copies=64 loop 64
		#: repeat   unroll
		#: stack    copies=64 4
		#: abi      i386 x86_64
		#: expect   copies=1 iterations == 3
		#: expect   copies=16 iterations == 16
		#: expect   copies=64 iterations == 64
		#: expect   counter == iterations
		.macro setup copies
			xor %eax, %eax
			mov $1, %ecx
		.endm
		.macro teardown copies
			xor %edx, %edx
			mov $100, %ecx
			div %ecx
			mov %eax, env_counter(env)
		.endm
		.macro body copies
			.rept 100
			add %ecx, %eax
			.endr
			.if \copies == 64
			lea -4(xsp), xsp
			.endif
		.endm
	END
	lab run ./turns.s abi=all --time 0.4 --format jsonl
	expect_functional 3
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|all(.cycles.est>99 and .cycles.est<101.5)'
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|all(.code.unroll%(.variant.copies|tonumber)==0)'
}
