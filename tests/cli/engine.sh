# How the program goes about it, as far as it can be seen from outside.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# A worker that stays for a while, to be looked at; its number is in WORKER.
watched_worker() { # ABI WORD...
	local abi=$1 i
	shift
	COMMAND="entrylab asm 'jmp .' --abi $abi $*"
	"$PROGRAM" asm 'jmp .' --abi "$abi" "$@" >out 2>err &
	PID=$!
	for ((i = 0; i < 400; i++)); do
		# it may be checked in a process of its own, below the worker
		# shellcheck disable=SC2046
		for WORKER in $(pgrep -P $PID,$(pgrep -d , -P $PID -x entrylab-worker) -x entrylab-worker 2>/dev/null); do
			# it has been given its code
			grep -q 'memfd:code\|rwx\|r-x.* 0 *$' "/proc/$WORKER/maps" 2>/dev/null && return
		done
		sleep 0.02
	done
	fail "no worker was seen"
}

test_no_page_of_a_worker_is_writable_and_executable() {
	local abi
	for abi in x86_64 i386; do
		can $abi $abi || continue
		watched_worker $abi
		cat "/proc/$WORKER/maps" >maps
		wait $PID
		[ -s maps ] || fail "the worker's memory could not be looked at"
		! grep -E '^[^ ]+ .wx' maps || fail "a page of the $abi worker is writable and executable"
		# code lies below 2 GB: 32-bit absolute addresses are right in both ABIs
		grep -qE '^[0-7]?[0-9a-f]{1,7}-[0-9a-f]+ r-x.*memfd:code' maps || grep -q memfd:code maps || skip "no memfd here"
	done
}

test_a_worker_is_pinned_to_the_cpu_that_measures() {
	local cpu
	for cpu in $(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g' | awk '{print $1, $NF}'); do
		watched_worker x86_64 --cpu "$cpu"
		grep Cpus_allowed_list "/proc/$WORKER/status" >allowed
		wait $PID
		expect_equal 'CPUs of the worker' "$(awk '{print $2}' allowed)" "$cpu"
	done
}

test_a_worker_leaves_no_core_and_has_limits() {
	watched_worker x86_64
	cat "/proc/$WORKER/limits" >limits
	wait $PID
	grep -qE '^Max core file size +0 ' limits || fail "a worker may leave a core: $(grep core limits)"
	! grep -qE '^Max address space +unlimited' limits || fail "a worker may take all memory"
}

# The user's environment moves the stack and may hold what is nobody's business.
test_a_worker_gets_nothing_of_the_users_environment() {
	SECRET=hidden watched_worker x86_64
	tr '\0' '\n' <"/proc/$WORKER/environ" >environment 2>/dev/null
	wait $PID
	! grep -q SECRET environment || fail "the worker has the user's environment"
}

test_one_cpu_is_enough() {
	local cpu
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	capture taskset -c "$cpu" "$PROGRAM" run ladder adds=1,10 --time 0.3 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|all(.state=="measured")'
	expect_json '(.[]|select(.kind=="run")|.cpu)==$c' --argjson c "$cpu"
}

# Many variants are one run of the assembler, and one more to see which levels do nothing.
test_many_variants_are_few_runs_of_the_assembler() {
	local real
	real=$(command -v as) || skip "no assembler"
	mkdir bin
	printf '#!/bin/sh\necho >>"%s/count"\nexec %s "$@"\n' "$PWD" "$real" >bin/as
	chmod +x bin/as
	PATH=$PWD/bin:$PATH lab run segreg abi=x86_64 reg=all outer=all inner=all use=all via=all --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|length>400'
	[ "$(wc -l <count)" -le 3 ] || fail "the assembler ran $(wc -l <count) times"
}

test_nothing_is_left_in_the_temporary_directory() {
	mkdir temporary
	TMPDIR=$PWD/temporary lab run segreg abi=all --time 0.1
	expect_measured
	TMPDIR=$PWD/temporary lab asm 'bogus'
	expect_exit 2
	[ -z "$(ls -A temporary)" ] || fail "left behind: $(ls -A temporary)"
	# nor does it need one
	TMPDIR=/nonexistent lab run ladder adds=1 --time 0.1
	expect_measured
}

# New addresses for every block: the same code at as many places as there were blocks.
test_code_is_placed_anew_for_every_block() {
	lab run segreg reg=fs outer=tls --precision 0.0001 --time 0.4 --format jsonl
	expect_measured
	expect_json '.[]|select(.kind=="result")|.layouts.blocks>8 and .layouts.workers>1'
}

# A body that enters the kernel: interrupts taken there leave no trace, and the row says so; what uses %es has none at all.
test_the_footprint_is_on_or_off_or_partial_with_a_reason() {
	can x86_64 footprint || skip "no footprint on this machine"
	lab run segreg reg=fs,es outer=data inner=data use=none --time 0.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result" and .variant.reg=="fs")]|all(.samples.footprint=="on" and .samples.footprint_why==null)'
	expect_json '[.[]|select(.kind=="result" and .variant.reg=="es")]|all(.samples.footprint=="off" and (.samples.footprint_why|length>3))'
	lab asm 'mov $110,%eax; syscall' --time 0.2 --format jsonl # getppid
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|all(.state=="measured" and .samples.footprint!="on" and (.samples.footprint_why|length>3))'
}
