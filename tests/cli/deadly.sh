# A snippet that dies, hangs or does what no snippet may do is a row that says so; the others stand, and the status is 0.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# Measures the snippet between two others, which must stand. PATTERN is what the row's reason must say.
deadly() { # ABI STATE PATTERN SNIPPET
	can "$1" "$1" || skip "no $1 programs here"
	lab asm nop "$4" 'nop; nop' --abi "$1" --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|length==3 and .[0].state=="measured" and .[2].state=="measured"'
	expect_json '.[]|select(.kind=="result" and .row==1)|.state==$s and (.reason|test($p))' --arg s "$2" --arg p "$3"
	expect_json '.[]|select(.kind=="result" and .row==1)|.cycles.est==null and .verdict=="none"'
}

# That it names the place and the instruction, also as data.
crash() { # SIGNAL OFFSET INSTRUCTION
	expect_json '.[]|select(.kind=="result" and .row==1)|.crash|.signal==$s and .in_code and .offset==$o and (.instruction|test($i))' \
		--arg s "$1" --argjson o "$2" --arg i "$3"
}

# Both ABIs, where the code is the same.
deadly_in_both() { # STATE PATTERN SNIPPET SIGNAL OFFSET INSTRUCTION
	local abi
	for abi in x86_64 i386; do
		[ $abi = x86_64 ] || can i386 i386 || continue
		deadly $abi "$1" "$2" "$3"
		crash "$4" "$5" "$6"
	done
}

test_an_undefined_instruction_is_named_with_its_offset() {
	deadly_in_both died '^SIGILL at body\+0x2: ud2' 'nop; nop; ud2' SIGILL 2 '^ud2'
}

test_a_write_to_address_0_is_named_with_its_offset() {
	deadly_in_both died '^SIGSEGV at body\+0x1: movl' 'nop; movl $1, 0' SIGSEGV 1 '^movl \$1, 0'
}

test_a_breakpoint_is_named_with_its_own_offset() {
	deadly_in_both died '^SIGTRAP at body\+0x2: int3' 'nop; nop; int3' SIGTRAP 2 '^int3'
}

test_a_division_by_zero_is_named_with_its_offset() {
	deadly_in_both died '^SIGFPE at body\+0x4: div' 'xor %edx,%edx; xor %ecx,%ecx; div %ecx' SIGFPE 4 '^div'
}

test_a_privileged_instruction_is_named_with_its_offset() {
	deadly_in_both died '^SIGSEGV at body\+0x1: cli' 'nop; cli' SIGSEGV 1 '^cli'
}

test_a_fault_in_setup_is_not_told_as_the_bodys() {
	lab asm nop --setup 'nop; ud2' --time 0.1
	expect_exit 2
	expect_out 'died: SIGILL .*setup\+0x1'
}

test_a_jump_away_is_a_row_that_tells_where_to() {
	deadly x86_64 died '^SIGSEGV at 0x123456789a, outside' 'mov $0x123456789a,%rcx; jmp *%rcx'
	expect_json '.[]|select(.kind=="result" and .row==1)|.crash.in_code==false and .crash.address=="0x123456789a"'
	deadly x86_64 died 'SIGSEGV' 'mov $0x8123456789abcdef,%rcx; jmp *%rcx'
	deadly x86_64 died 'SIGSEGV' 'jmp *xbp'
	deadly i386 died '^SIGSEGV at 0x12345678, outside' 'mov $0x12345678,%ecx; jmp *%ecx'
}

test_a_snippet_that_never_ends_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within .* at body\+0x1: jmp' 'nop; jmp .'
	deadly i386 hung 'did not end within .* at body\+0x1: jmp' 'nop; jmp .'
}

test_a_loop_that_is_too_long_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within' 'mov $0xffffffff,%ecx; 1: dec %ecx; pause; jnz 1b'
}

test_a_snippet_that_waits_for_ever_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within' 'mov $34,%eax; syscall' # pause
}

# rt_sigprocmask: the worker's own alarm cannot end it.
test_a_hang_with_all_signals_masked_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within' \
		'push $-1; xor %edi,%edi; mov %rsp,%rsi; xor %edx,%edx; mov $8,%r10d; mov $14,%eax; syscall; pop %rcx; jmp .'
}

# setitimer
test_a_hang_with_the_alarm_switched_off_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within' \
		'push $0; push $0; push $0; push $0; xor %edi,%edi; mov %rsp,%rsi; xor %edx,%edx; mov $38,%eax; syscall; add $32,%rsp; jmp .'
}

test_a_snippet_that_stops_itself_is_a_row_that_says_hung() {
	deadly x86_64 hung 'did not end within' 'mov $39,%eax; syscall; mov %eax,%edi; mov $19,%esi; mov $62,%eax; syscall'
}

test_a_snippet_that_exits_is_a_row_with_its_status() {
	deadly x86_64 died 'exited with status 3$' 'mov $3,%edi; mov $60,%eax; syscall'
	deadly x86_64 died 'exited with status 0$' 'xor %edi,%edi; mov $231,%eax; syscall'
	deadly i386 died 'exited with status 3$' 'mov $3,%ebx; mov $1,%eax; int $0x80'
}

# The status that the worker itself uses when it has met a signal must not be taken for that.
test_a_snippet_that_exits_like_the_worker_is_not_told_as_a_signal() {
	deadly x86_64 died 'exited with status 111$' 'mov $111,%edi; mov $231,%eax; syscall'
}

test_a_snippet_that_becomes_another_program_is_a_row() {
	# "//usr/bin/true"
	deadly x86_64 died 'exited with status 0|another (process|program)' \
		'push $0; movabs $0x0000657572742f6e,%rax; push %rax; movabs $0x69622f7273752f2f,%rax; push %rax; mov %rsp,%rdi; xor %esi,%esi; xor %edx,%edx; mov $59,%eax; syscall; add $24,%rsp'
}

test_a_snippet_that_forks_is_a_row_and_its_child_does_not_live_on() {
	own_workers
	deadly x86_64 died 'start(ed)? another process' 'mov $57,%eax; syscall'
	deadly i386 died 'start(ed)? another process' 'mov $2,%eax; int $0x80'
	# the child waits for ever
	deadly x86_64 died 'start(ed)? another process' \
		'mov $57,%eax; syscall; test %eax,%eax; jnz 1f; 2: mov $34,%eax; syscall; jmp 2b; 1:'
	expect_no_workers
}

test_a_child_in_a_session_of_its_own_does_not_live_on() {
	own_workers
	deadly x86_64 died 'start(ed)? another process' \
		'mov $57,%eax; syscall; test %eax,%eax; jnz 1f; mov $112,%eax; syscall; 2: mov $34,%eax; syscall; jmp 2b; 1:'
	expect_no_workers
}

# Its child shares the stack. This once filled the machine with processes, so it gets a user of its own and a limit.
test_a_snippet_that_calls_vfork_is_a_row() {
	as_root
	need setpriv
	own_workers
	chmod -R a+rwx "$HOME" .
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$PROGRAM" -a -x workers/entrylab-worker-x86_64 || skip "another user cannot run the program here"
	capture setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'ulimit -u 300 && exec "$@"' - \
		timeout -k 1 20 "$PROGRAM" asm nop 'mov $58,%eax; syscall' 'nop; nop' --no-archive --time 0.1 --format jsonl
	expect_no_workers
	expect_measured
	expect_json '.[]|select(.kind=="result" and .row==1)|.state=="died"'
	expect_json '[.[]|select(.kind=="result")]|.[0].state=="measured" and .[2].state=="measured"'
}

test_a_stack_pointer_that_is_left_moved_is_a_row_with_the_bytes() {
	deadly x86_64 died 'stack pointer moved by -8 bytes an iteration|stack pointer moved by -24 bytes after 3' 'push %rax'
	deadly x86_64 died 'stack pointer moved by (\+?8 bytes an|\+?24 bytes after 3)' 'pop %rax'
	deadly i386 died 'stack pointer moved by (-4 bytes an|-12 bytes after 3)' 'push %eax'
	deadly x86_64 died 'stack pointer' 'sub $4096, %rsp'
}

test_a_stack_pointer_that_points_nowhere_is_a_row() {
	deadly x86_64 died 'SIGSEGV at body\+0x5: push|stack pointer' 'mov $0, %esp; push %rax'
	deadly x86_64 died 'SIGSEGV|stack pointer' 'xor %esp, %esp'
}

test_a_changed_environment_pointer_is_a_row() {
	deadly x86_64 died '%rbp' 'mov %ecx,%ebp'
	deadly i386 died '%ebp' 'mov %ecx,%ebp'
}

test_a_snippet_that_kills_its_process_is_a_row() {
	deadly x86_64 died 'SIGKILL' 'mov $39,%eax; syscall; mov %eax,%edi; mov $9,%esi; mov $62,%eax; syscall'
	deadly i386 died 'SIGKILL' 'mov $20,%eax; int $0x80; mov %eax,%ebx; mov $9,%ecx; mov $37,%eax; int $0x80'
}

# Descriptors 3 and 4 are the worker's line to the engine.
test_a_snippet_that_closes_the_workers_descriptors_is_a_row() {
	deadly x86_64 died '.' 'mov $3,%edi; mov $3,%eax; syscall'
	deadly x86_64 died '.' 'mov $4,%edi; mov $3,%eax; syscall'
}

test_a_snippet_that_writes_to_the_workers_descriptor_is_a_row() {
	deadly x86_64 died '.' 'mov $1,%eax; mov $3,%edi; mov %rsp,%rsi; mov $64,%edx; syscall'
	# what looks like the head of a message of many bytes
	deadly x86_64 died '.' 'movabs $0x0fffffff00000067,%rax; push %rax; mov $1,%eax; mov $3,%edi; mov %rsp,%rsi; mov $8,%edx; syscall; pop %rax'
}

test_a_snippet_that_unmaps_its_stack_is_a_row() {
	deadly x86_64 died 'SIGSEGV at body\+0x16: push' \
		'mov %rsp,%rdi; and $-4096,%rdi; mov $8192,%esi; mov $11,%eax; syscall; push %rax; pop %rax'
}

test_a_snippet_that_unmaps_everything_is_a_row() {
	deadly x86_64 died 'SIGSEGV|SIGKILL' 'xor %edi,%edi; mov $0x7ffffffff000,%rsi; mov $11,%eax; syscall'
}

test_single_stepping_is_a_row() {
	deadly x86_64 died 'SIGTRAP' 'pushf; orl $0x100,(%rsp); popf; nop'
}

test_many_deaths_do_not_end_the_run() {
	lab asm nop ud2 int3 'push %rax' 'movl $1,0' ud2 int3 'mov %ecx,%ebp' 'push %rax' cli ud2 'mov $60,%eax; syscall' nop \
		--time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")|.state]|.[0]=="measured" and .[12]=="measured" and (.[1:12]|all(.=="died"))'
}

test_a_run_in_which_everything_dies_is_bad_input() {
	lab asm ud2 int3
	expect_exit 2
	expect_out 'died: SIGILL'
	expect_out 'died: SIGTRAP'
	expect_err 'no variant could be measured'
}

# What the C library and the kernel need is put back: the thread pointer, flags, the direction of string instructions.
test_loads_of_fs_and_gs_are_safe_in_64_bit_snippets() {
	local s
	can x86_64 fsgsbase && set -- 'xor %eax,%eax; wrfsbase %rax' 'mov $1,%eax; wrgsbase %rax'
	for s in 'mov $0x2b,%eax; mov %eax,%fs' 'xor %eax,%eax; mov %eax,%fs' 'mov $0x2b,%eax; mov %eax,%gs' \
		'xor %eax,%eax; mov %eax,%gs' 'push %fs; pop %fs' 'push %gs; pop %gs' 'mov $0x1002,%edi; xor %esi,%esi; mov $158,%eax; syscall' "$@"; do
		lab asm nop "$s" --time 0.1 --format jsonl
		expect_measured
		expect_json '[.[]|select(.kind=="result")]|all(.state=="measured")'
	done
}

test_flags_and_vector_state_are_the_snippets_to_change() {
	lab asm nop std 'pushf; orl $0x40000,(%rsp); popf' fld1 emms 'pxor %xmm0,%xmm0' --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|all(.state=="measured")'
}

test_a_row_that_died_says_so_in_text_and_csv_too() {
	lab asm nop 'nop; ud2' --time 0.1
	expect_measured
	expect_out '^! s2 +died: SIGILL at body\+0x1: ud2'
	lab asm nop 'nop; ud2' --time 0.1 --format csv
	expect_measured
	expect_out 'died.*SIGILL at body\+0x1: ud2'
}
