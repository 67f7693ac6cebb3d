#: title     What the LOCK prefix costs, and whether anything overlaps with it
#: group     Interrupt entry
#: source    linux-kernel, November 2008, thread on interrupt stubs: opinions from "a dozen" to "about 50 cycles"
#: note      One iteration is one access (op) to a line that stays in the first-level cache, followed by k instructions that depend on
#: note      nothing (behind). If the access overlaps with nothing, k instructions cost what they cost alone: the row with op=none. What
#: note      an iteration costs less than the sum of the two is overlap. load_gdt and load_ldt load %es: a descriptor load is said to be locked.
#: abi       x86_64 i386
#: factor    op      none add lock_add xchg lock_cmpxchg load_gdt load_ldt | the access
#: factor    behind  alu loads               | what follows it: register instructions, or loads that hit
#: factor    k       0 1 2 4 8 16 32 64      | how many of them
#: default   op=add,lock_add,xchg,lock_cmpxchg behind=alu k=0
#: exclude   behind=loads k=0                | nothing follows: the same as behind=alu k=0
#: needs     op=load_gdt gdt
#: needs     op=load_ldt ldt
#: repeat    unroll
#: expect    op=add,lock_add,lock_cmpxchg  counter == iterations
#: expect    op=none,xchg,load_gdt,load_ldt  counter == 0
#: expect    op=xchg  counter2 == 1
#: expect    op=load_gdt  result == sel_gdt
#: expect    op=load_ldt  result == sel_ldt

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

# xcx: the selector to be loaded. xsi: a buffer whose first lines hit. xdi: what the register instructions read.
.macro setup op, behind, k
	is_one_of op, \op, none, add, lock_add, xchg, lock_cmpxchg, load_gdt, load_ldt
	is_one_of behind, \behind, alu, loads
	is_one_of k, \k, 0, 1, 2, 4, 8, 16, 32, 64
	.ifc \op,load_gdt
	mov	env_sel_gdt(env), %ecx
	.endif
	.ifc \op,load_ldt
	mov	env_sel_ldt(env), %ecx
	.endif
	mov	env_buffer(env), xsi
	mov	$1, %ebx
	xor	%edi, %edi
.endm

# xchg moves the 1 from %ebx to memory and back: after the check's three iterations it is in memory.
.macro access op
	.ifc \op,add
	addl	$1, env_counter(env)
	.endif
	.ifc \op,lock_add
	lock addl $1, env_counter(env)
	.endif
	.ifc \op,xchg
	xchg	%ebx, env_counter2(env)
	.endif
	.ifc \op,lock_cmpxchg
	mov	env_counter(env), %eax
	lea	1(xax), %edx
	lock cmpxchg %edx, env_counter(env)
	.endif
	.ifc \op,load_gdt
	mov	%ecx, %es
	.endif
	.ifc \op,load_ldt
	mov	%ecx, %es
	.endif
.endm

.macro body op, behind, k
	access \op
	.set	n, 0
	.rept	\k
	.ifc \behind,alu
	lea	1(xdi), %edx
	.else
	mov	(n % 64) * 64(xsi), %edx
	.endif
	.set	n, n + 1
	.endr
.endm

.macro teardown op, behind, k
	.ifc \op,load_gdt
	mov	%es, env_result(env)
	.endif
	.ifc \op,load_ldt
	mov	%es, env_result(env)
	.endif
.endm
