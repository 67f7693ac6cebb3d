#: title     What the LOCK prefix costs, and whether anything overlaps with it
#: group     Interrupt entry
#: source    linux-kernel, November 2008, thread on interrupt stubs: opinions from "a few" to "about 50 cycles"
#: note      One iteration is one access (op) to a line that stays in the first-level cache, followed by k instructions that depend on
#: note      nothing (behind). If the access overlaps with nothing, k instructions cost what they cost alone: the row with op=none and
#: note      the same k. What an iteration costs less than the sum of the two is overlap. Look at both kinds: register instructions may
#: note      go on where loads have to wait, for a locked access is a fence for memory and not for the rest.
#: note
#: note      add is the same access without the prefix, which most CPUs overlap entirely. Iterations follow each other, so an access
#: note      waits for the one before it: what a single one costs among other code is no more than this. Nobody else has the line; one
#: note      that another CPU has written costs hundreds of cycles, locked or not.
#: note
#: note      load_gdt and load_ldt load %es: a descriptor load is said to be locked. They load the selector that is there already (segreg
#: note      inner=same tells whether that matters), and Linux keeps the accessed bit set in every descriptor, so that the load has
#: note      nothing to write: what a clear bit costs, only ring 0 can tell.
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
#: expect    op=none,add,lock_add,lock_cmpxchg  result == 0
#: expect    op=xchg  result == 1
#: expect    op=load_gdt  result == sel_gdt
#: expect    op=load_ldt  result == sel_ldt
#: expect    k=0   save0 == 0
#: expect    k=1   save0 == 1
#: expect    k=2   save0 == 2
#: expect    k=4   save0 == 4
#: expect    k=8   save0 == 8
#: expect    k=16  save0 == 16
#: expect    k=32  save0 == 32
#: expect    k=64  save0 == 64

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

# xcx: the selector to be loaded. xsi: a buffer whose first lines hit; the n-th has n in its first word. xdi: 0, what the register
# instructions read. Of whatever follows the access, the n-th leaves n in %edx.
.macro setup op, behind, k
	is_one_of op, \op, none, add, lock_add, xchg, lock_cmpxchg, load_gdt, load_ldt
	is_one_of behind, \behind, alu, loads
	is_one_of k, \k, 0, 1, 2, 4, 8, 16, 32, 64
	mov	env_buffer(env), xsi
	.ifc \behind,loads
	mov	$64, %ecx
	mov	xsi, xdi
	xor	%eax, %eax
1:	inc	%eax
	mov	%eax, (xdi)
	add	$64, xdi
	dec	%ecx
	jnz	1b
	.endif
	.ifc \op,load_gdt
	mov	env_sel_gdt(env), %ecx
	.endif
	.ifc \op,load_ldt
	mov	env_sel_ldt(env), %ecx
	.endif
	mov	$1, %ebx
	xor	%edx, %edx
	xor	%edi, %edi
.endm

# xchg moves the 1 from %ebx to memory, and back in the next iteration.
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
	lea	1(xax), %ecx
	lock cmpxchg %ecx, env_counter(env)
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
	lea	n + 1(xdi), %edx
	.else
	mov	n * 64(xsi), %edx
	.endif
	.set	n, n + 1
	.endr
.endm

# Of the 1 that xchg moves there is one, and it is where the number of iterations puts it.
.macro look_at_xchg
	mov	env_counter2(env), %eax
	lea	(xax,xbx), %ecx
	cmp	$1, %ecx
	jne	2f
	xor	env_iterations(env), %eax
	and	$1, %eax
	xor	$1, %eax
	mov	%eax, env_result(env)
2:
.endm

.macro teardown op, behind, k
	mov	%edx, env_save0(env)
	.ifc \op,xchg
	look_at_xchg
	.endif
	.ifc \op,load_gdt
	mov	%es, env_result(env)
	.endif
	.ifc \op,load_ldt
	mov	%es, env_result(env)
	.endif
.endm
