#: title     Segment register: save, load, use, restore
#: group     Segments
#: source    J. Fitzhardinge, 2006, linux-kernel, "i386 PDA patches use of %gs"
#: note      One iteration saves a segment register, loads another selector, makes one access through it and restores it: the
#: note      shape of a kernel entry and exit. The published runs had the null selector in %fs and the thread's own in %gs
#: note      around the iteration, so that register and selector were one factor. Here they are two: reg and outer.
#: note      In x86_64 tls is no selector: %fs or %gs holds 0 and a base, and the restore sets that base again, as a kernel does.
#: abi       i386 x86_64
#: factor    reg        none fs gs es ds        | the register reloaded; none: the empty iteration
#: factor    outer      null data ldt gdt tls   | what it holds around the iteration, so what the restore loads
#: factor    inner      null data ldt gdt same  | what is loaded inside; same: the outer selector again
#: factor    use        none inner both         | accesses: none, one through inner, one more through outer after the restore
#: factor    serialise  none cpuid lfence       | what stands before each iteration, as an exception would
#: factor    via        selector base           | load selectors, or set bases (rdfsbase, wrfsbase and the same for %gs)
#: default   reg=fs,gs outer=null,tls inner=gdt use=inner serialise=none via=selector
#: exclude   inner=null use=inner,both          | an access through the null selector faults
#: exclude   outer=null use=both                | an access through the null selector faults
#: exclude   outer=null inner=same use=inner    | an access through the null selector faults
#: exclude   abi=x86_64 reg=es,ds outer=tls     | in x86_64 %es and %ds have no base
#: exclude   abi=x86_64 via=selector outer=tls inner=same | in x86_64 tls is a base, no selector
#: exclude   abi=i386 via=base                  | rdfsbase and its kin exist in x86_64 only
#: exclude   via=base reg=es,ds                 | only %fs and %gs have a base
#: exclude   via=base inner=null                | the null selector has no base to set
#: needs     outer=ldt ldt
#: needs     inner=ldt ldt
#: needs     outer=gdt gdt
#: needs     inner=gdt gdt
#: needs     via=base fsgsbase
#: repeat    unroll
#: expect    reg=none  counter == 0
#: expect    reg=fs,gs,es,ds use=none  counter == 0
#: expect    reg=fs,gs,es,ds use=inner counter == iterations
#: expect    reg=fs,gs,es,ds use=both  counter == 2*iterations
#: expect    reg=none  result == 0
#: expect    reg=fs,gs,es,ds outer=null result == sel_null
#: expect    reg=fs,gs,es,ds outer=data result == sel_data
#: expect    reg=fs,gs,es,ds outer=ldt  result == sel_ldt
#: expect    reg=fs,gs,es,ds outer=gdt  result == sel_gdt
#: expect    abi=i386 reg=fs,gs,es,ds outer=tls result == sel_tls
#: expect    abi=x86_64 reg=fs,gs outer=tls result == base_tls

# xcx: the inner selector (via=base: the inner base). xdi, xsi: the address of the counter through inner and through outer.
# xdx: the outer base, where there is one to restore.

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

.macro check_levels reg, outer, inner, use, serialise, via
	is_one_of reg, \reg, none, fs, gs, es, ds
	is_one_of outer, \outer, null, data, ldt, gdt, tls
	is_one_of inner, \inner, null, data, ldt, gdt, same
	is_one_of use, \use, none, inner, both
	is_one_of serialise, \serialise, none, cpuid, lfence
	is_one_of via, \via, selector, base
.endm

# Two descriptors of our own: what is ldt outside is entry 1, inside entry 2; gdt likewise.
.macro load_inner inner, via
	.ifc \via,base
	.ifc \inner,data
	xor	%ecx, %ecx
	.else
	mov	env_base_\inner\()2(env), xcx
	.endif
	.else
	.ifc \inner,null
	mov	env_sel_null(env), %ecx
	.else
	.ifc \inner,data
	mov	env_sel_data(env), %ecx
	.else
	mov	env_sel_\inner\()2(env), %ecx
	.endif
	.endif
	.endif
.endm

.macro load_inner_address inner
	.ifc \inner,null
	.else
	.ifc \inner,data
	mov	env_at_data(env), xdi
	.else
	mov	env_at_\inner\()2(env), xdi
	.endif
	.endif
.endm

# In x86_64: a base for %fs or %gs, by the instruction or, where the kernel does not allow it, by arch_prctl (158, ARCH_SET_GS 0x1001,
# ARCH_SET_FS 0x1002).
.macro set_base reg, from
	.if have_fsgsbase
	wr\reg\()base \from
	.else
	push	%rsi
	push	%rdi
	push	%rcx
	mov	\from, %rsi
	.ifc \reg,fs
	mov	$0x1002, %edi
	.else
	mov	$0x1001, %edi
	.endif
	mov	$158, %eax
	syscall
	pop	%rcx
	pop	%rdi
	pop	%rsi
	.endif
.endm

.macro get_base reg
	.if have_fsgsbase
	rd\reg\()base %rax
	mov	%rax, env_result(env)
	.else
	.ifc \reg,fs
	mov	$0x1003, %edi
	.else
	mov	$0x1004, %edi
	.endif
	lea	env_result(env), %rsi
	mov	$158, %eax
	syscall
	.endif
.endm

.macro setup reg, outer, inner, use, serialise, via
	check_levels \reg, \outer, \inner, \use, \serialise, \via
	.ifc \outer,null
	.else
	mov	env_at_\outer(env), xsi
	.endif
	.ifc \inner,same
	.ifc \via,base
	.ifc \outer,tls
	mov	env_base_tls(env), xcx
	.else
	xor	%ecx, %ecx
	.endif
	.else
	mov	env_sel_\outer(env), %ecx
	.endif
	mov	xsi, xdi
	.else
	load_inner \inner, \via
	load_inner_address \inner
	.endif
	mov	env_base_tls(env), xdx
	.ifc \reg,none
	.else
	mov	env_sel_\outer(env), %eax
	mov	%eax, %\reg
	.if abi64
	.ifc \outer,tls
	set_base \reg, xdx
	.endif
	.endif
	.endif
.endm

.macro use_once reg, at
	addl	$1, %\reg:(\at)
.endm

.macro serialise_once how
	.ifc \how,cpuid
	push	xcx
	push	xdx
	.if abi64
	push	%rbx
	.endif
	xor	%eax, %eax
	cpuid
	.if abi64
	pop	%rbx
	.endif
	pop	xdx
	pop	xcx
	.endif
	.ifc \how,lfence
	lfence
	.endif
.endm

.macro body_base reg, use
	rd\reg\()base %rax
	wr\reg\()base %rcx
	.ifc \use,none
	.else
	use_once \reg, xdi
	.endif
	wr\reg\()base %rax
.endm

# x86_64 has no push and pop of %es and %ds.
.macro body_through_register reg, use
	mov	%\reg, %eax
	mov	%ecx, %\reg
	.ifc \use,none
	.else
	use_once \reg, xdi
	.endif
	mov	%eax, %\reg
.endm

.macro body_through_stack reg, outer, use
	push	%\reg
	mov	%ecx, %\reg
	.ifc \use,none
	.else
	use_once \reg, xdi
	.endif
	pop	%\reg
	.if abi64
	.ifc \outer,tls
	set_base \reg, xdx
	.endif
	.endif
.endm

.macro body_by_selector reg, outer, use
	.set	by_register, 0
	.if abi64
	.ifc \reg,es
	.set	by_register, 1
	.endif
	.ifc \reg,ds
	.set	by_register, 1
	.endif
	.endif
	.if by_register
	body_through_register \reg, \use
	.else
	body_through_stack \reg, \outer, \use
	.endif
.endm

.macro body reg, outer, inner, use, serialise, via
	serialise_once \serialise
	.ifc \reg,none
	.else
	.ifc \via,base
	body_base \reg, \use
	.else
	body_by_selector \reg, \outer, \use
	.endif
	.ifc \use,both
	use_once \reg, xsi
	.endif
	.endif
.endm

# What the register holds at the end: the outer selector, or in x86_64 the base that was restored.
.macro teardown reg, outer, inner, use, serialise, via
	.ifc \reg,none
	.else
	.set	with_base, 0
	.if abi64
	.ifc \outer,tls
	.set	with_base, 1
	.endif
	.endif
	.if with_base
	get_base \reg
	.else
	mov	%\reg, env_result(env)
	.endif
	.endif
.endm
