# What the machine lacks is told with the reason and what to do; where something else was asked for too, that runs.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

test_without_an_assembler_nothing_is_possible() {
	COMMAND="PATH=/nonexistent entrylab run ladder"
	PATH=/nonexistent "$PROGRAM" run ladder adds=1 >out 2>err
	STATUS=$?
	expect_exit 3
	expect_err 'as. is not on the PATH .*binutils'
	PATH=/nonexistent "$PROGRAM" asm nop >out 2>err
	STATUS=$?
	expect_exit 3
	PATH=/nonexistent "$PROGRAM" listing ladder >out 2>err
	STATUS=$?
	expect_exit 3
	# what needs none works
	PATH=/nonexistent "$PROGRAM" list >out 2>err
	STATUS=$?
	expect_exit 0
}

test_an_assembler_that_fails_without_a_word_is_told() {
	mkdir bin
	printf '#!/bin/sh\nexit 1\n' >bin/as
	chmod +x bin/as
	PATH=$PWD/bin:$PATH lab run ladder adds=1
	[ "$STATUS" = 2 ] || [ "$STATUS" = 3 ] || fail "expected exit status 2 or 3"
	expect_err 'assembler'
	printf '#!/bin/sh\nkill -9 $$\n' >bin/as
	PATH=$PWD/bin:$PATH lab run ladder adds=1
	[ "$STATUS" = 2 ] || [ "$STATUS" = 3 ] || fail "expected exit status 2 or 3"
	expect_err 'assembler.*signal 9'
}

test_without_an_i386_worker_its_rows_tell_the_reason() {
	own_workers x86_64
	lab run ladder adds=1,2 abi=i386 --time 0.1 --format jsonl
	expect_exit 3
	expect_json '[.[]|select(.kind=="result")]|length==2 and all(.state=="absent" and (.reason|test("gcc-multilib")))'
	expect_err 'nothing that was asked for is possible'
	lab run ladder adds=1,2 abi=i386,x86_64 --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result" and .variant.abi=="i386")]|length==2 and all(.state=="absent" and (.reason|test("gcc-multilib")))'
	expect_json '[.[]|select(.kind=="result" and .variant.abi=="x86_64")]|length==2 and all(.state=="measured")'
	lab run ladder adds=1,2 abi=i386,x86_64 --time 0.1
	expect_measured
	expect_out '^i386 +1 +n/a: .*gcc-multilib'
	lab asm nop --abi i386
	expect_exit 3
	lab show ladder
	expect_exit 0
	expect_out 'i386: not on this machine: .*gcc-multilib'
	lab host
	expect_exit 0
	expect_out 'gcc-multilib'
}

test_without_any_worker_nothing_is_possible() {
	mkdir none
	ENTRYLAB_WORKERS=$PWD/none lab run ladder adds=1 abi=all
	expect_exit 3
	expect_out 'n/a: x86_64: not built'
}

test_a_worker_that_does_not_answer_is_a_reason_and_no_hang() {
	own_workers x86_64
	printf '#!/bin/sh\nexit 7\n' >workers/entrylab-worker-i386
	chmod +x workers/entrylab-worker-i386
	lab run ladder adds=1 abi=all --time 0.1
	expect_measured
	expect_out 'i386 +n/a: .*gave no answer'
	printf '#!/bin/sh\nexec sleep 60\n' >workers/entrylab-worker-i386
	lab run ladder adds=1 abi=all --time 0.1
	expect_measured
	expect_out 'i386 +n/a: .*did not answer'
	echo garbage >workers/entrylab-worker-i386
	lab run ladder adds=1 abi=all --time 0.1
	expect_measured
	expect_out 'i386 +n/a: '
}

test_missing_libraries_of_experiments_are_told() {
	ENTRYLAB_EXPERIMENTS=/nonexistent lab list
	[ "$STATUS" = 0 ] || [ "$STATUS" = 2 ] || fail "expected exit status 0 or 2"
	HOME='' XDG_CONFIG_HOME='' lab list
	expect_exit 0
	expect_out segreg
}
