#: title     Null system calls: the way in and out, and the little work between
#: group     System calls
#: source    J. Lokier, 2003, linux-kernel, on sysenter and the context switch; E. Dumazet, 2006, "i386 PDA patches use of %gs"
#: note      One iteration is one system call (pipe: two), by the instruction itself and never by the C library, whose wrappers
#: note      have answered from a cache. The same bytes are run again and again: unrolled copies of a system call read anything
#: note      from half to twice the cost by their addresses. The column s/100,000,000 is what so many take, the figure that the
#: note      loops of 2006 gave (pipe there: 10,000,000).
#: note
#: note      entry: in i386 the kernel does not return behind sysenter and syscall but to the vDSO's landing pad, which pops three
#: note      registers and returns. So both are called, with the frame that the vDSO makes. vsyscall calls __kernel_vsyscall in the
#: note      vDSO; "host" shows its bytes, and which of the three instructions this kernel has put there. In a virtual machine int
#: note      may be an exit to the hypervisor: then it costs what cpuid does ("asm cpuid"), and says nothing about the CPU.
#: note
#: note      ret: user-side ret against kernel work. inline has the instruction in the loop, call has it behind one call and one
#: note      ret in user code. What the kernel does about the return predictor (spectre_v2, retbleed, spec_rstack_overflow) can
#: note      make that one ret dear, and that is no cost of the entry. So compare entries with the same ret only, in i386 all with
#: note      ret=call:
#: note
#: note      run nullsys abi=i386 entry=all call=badnr ret=call --against entry=int80
#: note
#: note      run nullsys abi=x86_64 entry=syscall call=badnr ret=all --against ret=inline
#: note
#: note      What a call is made of: badnr has a number that no table has, so it is the way in and out and nothing else. getuid
#: note      reads one word of the credentials and maps it into the user namespace; getppid takes the RCU lock, follows the parent
#: note      and looks its number up in the PID namespace; umask exchanges one word. What they cost above badnr is that work, and
#: note      the branch or, where spectre_v2 says so, the retpoline that finds it.
#: note
#: note      run nullsys abi=x86_64 entry=syscall call=badnr,umask,getuid,getppid ret=inline --against call=badnr
#: note
#: note      The way in and out has in it what this kernel does about the CPU's faults; "host" has their names, and what each is
#: note      here. On entry or exit: meltdown (other page tables); mds, tsx_async_abort, mmio_stale_data, reg_file_data_sampling
#: note      and tsa (buffers are overwritten); spectre_v2 (IBRS is written, branch history cleared); spectre_v1 (a fence behind
#: note      swapgs); retbleed and spec_rstack_overflow (returns go through a thunk); and, no fault's doing, the random offset of
#: note      the kernel's stack (kstack offset). No program can leave them out: boot with mitigations=off, run this again, and
#: note      "compare" the two runs, which names what differs between the kernels.
#: note
#: note      tls: one store of what was returned into a thread-local word, through the program's own segment, each iteration, as
#: note      a wrapper stores errno. A kernel that uses the same segment register has to reload it before.
#: abi       i386 x86_64
#: factor    entry  int80 sysenter syscall vsyscall    | the instruction; vsyscall: the one that the vDSO has, by its entry
#: factor    call   getppid umask badnr getuid pipe    | badnr: a number that no table has; pipe: one byte written, one read
#: factor    tls    no yes                             | a store to a thread-local word each iteration
#: factor    ret    inline call                        | the instruction in the loop, or behind one call and ret
#: default   abi=i386,x86_64 entry=int80,sysenter,syscall,vsyscall call=getppid tls=no ret=inline,call
#: exclude   abi=x86_64 entry=vsyscall                 | the vDSO of 64-bit programs has no entry for system calls
#: exclude   abi=x86_64 entry=sysenter                 | Linux takes sysenter from 32-bit programs only
#: exclude   abi=i386 entry=sysenter,syscall,vsyscall ret=inline | there is always a ret: the kernel returns to the vDSO's landing pad
#: needs     entry=int80 int80
#: needs     entry=sysenter sysenter
#: needs     entry=syscall syscall
#: needs     entry=vsyscall syscall32
#: repeat    loop
#: report    100000000 seconds
#
# The sum of all values returned is what it must be.
#: expect    result == save0
# counter: the entry, by its traces. x86_64: 1 if %rcx points behind a syscall instruction. i386: 1 if the frame of the vDSO is below the stack.
#: expect    entry=int80                               counter == 0
#: expect    entry=sysenter,syscall,vsyscall           counter == 1
# counter2: what was called last. 0: nothing, 1: the pool, 2: what env_vsyscall points to.
#: expect    ret=inline                                counter2 == 0
#: expect    ret=call entry=int80,sysenter,syscall     counter2 == 1
#: expect    ret=call entry=vsyscall                   counter2 == 2
# save1: the thread-local word; setup has put 0x7e57 into it.
#: expect    tls=no                                    save1 == 0x7e57
#: expect    tls=yes call=getppid                      save1 == ppid
#: expect    tls=yes call=getuid                       save1 == uid
#: expect    tls=yes call=umask                        save1 == 18
#: expect    tls=yes call=badnr                        save1 == 0xffffffda
#: expect    tls=yes call=pipe                         save1 == 1
# save2: the byte that was read.
#: expect    call=pipe                                 save2 == 90
#: expect    call=getppid,umask,badnr,getuid           save2 == 0

# x86_64: %r12d sums what is returned, %r13 is the offset of the thread-local word; arguments in %rdi, %rsi, %rdx or, by int $0x80,
# %ebx, %ecx, %edx. i386: %esi, %edi; %ebx, %ecx, %edx.

.macro is_one_of what, word, levels:vararg
	.set	found, 0
	.irp	level, \levels
	.ifc \word,\level
	.set	found, 1
	.endif
	.endr
	.if !found
	.error "\what: no such level: \word"
	.endif
.endm

.macro check_levels entry, call, tls, ret
	is_one_of entry, \entry, int80, sysenter, syscall, vsyscall
	is_one_of call, \call, getppid, umask, badnr, getuid, pipe
	is_one_of tls, \tls, no, yes
	is_one_of ret, \ret, inline, call
.endm

# by64: the call has the numbers and the registers of x86_64's own table.
.macro choose_table entry
	.set	by64, 0
	.if abi64
	.ifc \entry,syscall
	.set	by64, 1
	.endif
	.endif
.endm

# arch/x86/entry/syscalls/syscall_32.tbl, syscall_64.tbl. getuid in i386 is getuid32: 24 cuts to 16 bits.
.macro number call
	.set	found, 0
	number_if \call, getppid, 64, 110
	number_if \call, umask, 60, 95
	number_if \call, badnr, 65535, 65535
	number_if \call, getuid, 199, 102
	number_if \call, write, 4, 1
	number_if \call, read, 3, 0
	.if !found
	.error "no number for \call"
	.endif
.endm

.macro number_if call, name, nr32, nr64
	.ifc \call,\name
	.set	found, 1
	.if by64
	mov	$\nr64, %eax
	.else
	mov	$\nr32, %eax
	.endif
	.endif
.endm

# %eax: the call's number, then what it returned.
.macro enter entry, ret
	.ifc \entry,vsyscall
	call	*env_vsyscall(env)
	.else
	.ifc \ret,call
	call	pool
	.else
	enter_\entry
	.endif
	.endif
.endm

.macro enter_int80
	int	$0x80
.endm

.macro enter_syscall
	syscall
.endm

# As __kernel_vsyscall does it (arch/x86/entry/vdso/vdso32/system_call.S). The landing pad pops all three; ud2: it never comes back here.
.macro pool_with_frame entry
	push	%ecx
	push	%edx
	push	%ebp
	.ifc \entry,sysenter
	mov	%esp, %ebp
	sysenter
	.else
	mov	%ecx, %ebp
	syscall
	.endif
	ud2
.endm

.macro pool entry, call, tls, ret
	.ifc \ret,call
	.ifc \entry,vsyscall
	.else
	.set	with_frame, !abi64
	.ifc \entry,int80
	.set	with_frame, 0
	.endif
	.if with_frame
	pool_with_frame \entry
	.else
	enter_\entry
	ret
	.endif
	.endif
	.endif
.endm

# The first argument, the second, and 1 as the third. For pipe: a descriptor and the address of a byte.
.macro arguments first, offset
	.if by64
	mov	\first(env), %edi
	mov	env_buffer(env), %rsi
	.if \offset
	add	$\offset, %rsi
	.endif
	.else
	mov	\first(env), %ebx
	mov	env_buffer(env), %ecx
	.if \offset
	add	$\offset, %ecx
	.endif
	.endif
.endm

.macro add_returned
	.if abi64
	add	%eax, %r12d
	.else
	add	%eax, %esi
	.endif
.endm

.macro body entry, call, tls, ret
	choose_table \entry
	.ifc \call,pipe
	arguments env_pipe_write, 0
	number write
	enter \entry, \ret
	add_returned
	arguments env_pipe_read, 64
	number read
	enter \entry, \ret
	add_returned
	.else
	number \call
	enter \entry, \ret
	add_returned
	.endif
	.ifc \tls,yes
	.if abi64
	mov	%eax, %fs:(%r13)
	.else
	mov	%eax, %gs:(%edi)
	.endif
	.endif
.endm

# What all iterations return together, to save0. umask returns the mask before: the first time setup's, 052, then body's, 022.
.macro expected_sum call
	.ifc \call,getppid
	mov	env_ppid(env), %eax
	.endif
	.ifc \call,getuid
	mov	env_uid(env), %eax
	.endif
	.ifc \call,badnr
	mov	$-38, %eax		/* ENOSYS */
	.endif
	.ifc \call,umask
	mov	$022, %eax
	.endif
	.ifc \call,pipe
	mov	$2, %eax
	.endif
	imull	env_iterations(env), %eax
	.ifc \call,umask
	add	$052 - 022, %eax
	.endif
	mov	%eax, env_save0(env)
.endm

.macro first_argument value
	.if by64
	mov	$\value, %edi
	.else
	mov	$\value, %ebx
	.endif
.endm

.macro setup entry, call, tls, ret
	check_levels \entry, \call, \tls, \ret
	choose_table \entry
	expected_sum \call
	.ifc \call,umask
	first_argument 052
	number umask
	enter \entry, \ret
	first_argument 022
	.endif
	mov	$1, %edx
	mov	env_buffer(env), xax
	movb	$90, (xax)
	movb	$0, 64(xax)
	mov	env_base_tls(env), xax
	add	env_tls_offset(env), xax
	movl	$0x7e57, (xax)
	.if abi64
	mov	env_tls_offset(env), %r13
	xor	%r12d, %r12d
	.ifc \call,pipe
	.else
	mov	%rbp, %rcx		/* readable, and not behind a syscall instruction */
	.endif
	.else
	mov	env_tls_offset(env), %edi
	xor	%esi, %esi
	movl	$0, -12(%esp)		/* where the frame's last word will be */
	.endif
.endm

# counter. In i386 setup and teardown are called at the top of body's stack: below their return address a frame has %ecx, %edx, %ebp.
.macro find_entry
	.if abi64
	xor	%eax, %eax
	cmpw	$0x050f, -2(%rcx)
	sete	%al
	.else
	xor	%eax, %eax
	cmp	%ebp, -12(%esp)
	sete	%al
	.endif
	mov	%eax, env_counter(env)
.endm

# counter2. Before the return address: e8 and the distance to pool, or ff 95 and env_vsyscall (call *disp32(%ebp)).
.macro find_call entry
	mov	env_pushed(env), xcx
	xor	%eax, %eax
	.ifc \entry,vsyscall
	cmpw	$0x95ff, -6(xcx)
	jne	1f
	cmpl	$env_vsyscall, -4(xcx)
	jne	1f
	mov	$2, %eax
	.else
	cmpb	$0xe8, -5(xcx)
	jne	1f
	mov	-4(xcx), %edx
	add	%ecx, %edx
	cmp	$pool, %edx
	sete	%al
	.endif
1:	mov	%eax, env_counter2(env)
.endm

.macro teardown entry, call, tls, ret
	find_entry
	find_call \entry
	.if abi64
	mov	%r12d, env_result(env)
	.else
	mov	%esi, env_result(env)
	.endif
	mov	env_base_tls(env), xax
	add	env_tls_offset(env), xax
	mov	(xax), %eax
	mov	%eax, env_save1(env)
	mov	env_buffer(env), xax
	movzbl	64(xax), %eax
	mov	%eax, env_save2(env)
.endm
