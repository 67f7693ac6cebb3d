#: title     Single pieces of advice for entry code
#: group     Interrupt entry
#: source    J. Lokier, 2003, linux-kernel, on sysenter and the context switch
#: note      Each piece of advice is a pair of levels, what was usual and what was advised; the difference of the two rows is what
#: note      it gains here. The figures behind them are of CPUs of 2003.
#: note        entry_reload, entry_skip    load %ds and %es; or compare both with the user's selector and skip the loads (8 cycles)
#: note        exit_restore, exit_skip     pop %ds and %es; or compare what was saved and skip the pops (10 cycles)
#: note        push_ds, mov_ds             read %ds by a push and a pop; or by a move (9 to 10 cycles)
#: note        stack_none, stack_load      the stack pointer is right on entry; or it is loaded from memory at a constant offset
#: note        stack_load, stack_jump      the same; and the load is followed by a jump, as in a trampoline for each CPU
#: note        sti, cli_sti                sti; or cli immediately before it (5 cycles less)
#: note        wrmsr                       what every context switch paid for sysenter's stack pointer
#: note      In entry_reload the loads find the selector that is there, as they do for every program but those with segments of
#: note      their own; the skips find what they compare with. The three stack levels begin with the stack pointer as sysenter
#: note      leaves it, push and pop one word, and end with the user's, as sysexit does.
#: note
#: note      A row by itself runs with a full pipeline: what is independent overlaps, and a jump has been predicted long before.
#: note      Entry code begins with an empty one. before=wrong_return puts a return in front that is predicted wrongly every time,
#: note      which empties it; the return costs the same in all rows, so look at differences. The real entry is ring 0's.
#: abi       i386 x86_64
#: factor    hint    entry_reload entry_skip exit_restore exit_skip push_ds mov_ds stack_none stack_load stack_jump sti cli_sti wrmsr | usual and advised
#: factor    before  nothing wrong_return | what stands in front: nothing; a return that is predicted wrongly
#: default   hint=entry_reload,entry_skip,exit_restore,exit_skip,push_ds,mov_ds,stack_none,stack_load,stack_jump,sti,cli_sti,wrmsr
#: exclude   abi=x86_64 hint=entry_reload,entry_skip,exit_restore,exit_skip | entry into a 64-bit kernel does not touch %ds and %es
#: exclude   abi=x86_64 hint=push_ds,mov_ds | x86_64 has no push of %ds
#: needs     hint=sti,cli_sti,wrmsr ring0
#: repeat    unroll
#: expect    before=nothing       counter2 == 0
#: expect    before=wrong_return  counter2 == iterations
#: expect    hint=entry_reload             result == 1
#: expect    hint=entry_skip               result == 0xf
#: expect    hint=exit_restore             result == 1
#: expect    hint=exit_skip                result == 0xf
#: expect    hint=push_ds,mov_ds           result == sel_tls
#: expect    hint=stack_none               result == save0
#: expect    hint=stack_load,stack_jump    result == save1
#: expect    hint=sti,cli_sti              result == 0x200
#: expect    hint=wrmsr                    result == save0

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

.macro of_kind kind, word, levels:vararg
	.set	\kind, 0
	.irp	level, \levels
	.ifc \word,\level
	.set	\kind, 1
	.endif
	.endr
.endm

word_size = 4 + 4 * abi64
marker = 0x600df00d
esp_msr = 0x175	# IA32_SYSENTER_ESP

# %ds and %es get another selector than the user's: so what loads them shows, and what leaves them.
.macro setup_segments
	mov	env_sel_tls(env), %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	$user_ds, %ecx
	mov	$user_ds, %edx
	xor	%ebx, %ebx
.endm

# xdi: the stack pointer that the entry has. 16 bytes above it: that of another stack. xcx: the user's.
.macro setup_stacks
	mov	env_buffer(env), xdi
	add	$0x1000, xdi
	mov	xdi, env_save0(env)
	lea	0x1000(xdi), xdx
	mov	xdx, env_save1(env)
	mov	xdx, 16(xdi)
	movl	$0, -word_size(xdi)
	movl	$0, -word_size(xdx)
	lea	word_size(xsp), xcx
	mov	$marker, %eax
.endm

.macro setup hint, before
	is_one_of hint, \hint, entry_reload, entry_skip, exit_restore, exit_skip, push_ds, mov_ds, stack_none, stack_load, stack_jump, sti, cli_sti, wrmsr
	is_one_of before, \before, nothing, wrong_return
	of_kind about_segments, \hint, entry_reload, entry_skip, exit_restore, exit_skip, push_ds, mov_ds
	of_kind about_stacks, \hint, stack_none, stack_load, stack_jump
	.if about_segments
	setup_segments
	.endif
	.if about_stacks
	setup_stacks
	.endif
	.ifc \hint,wrmsr
	mov	$esp_msr, %ecx
	rdmsr
	mov	%eax, env_save0(env)
	.endif
.endm

# The return's target is predicted behind the call, and it is another.
.macro return_wrongly
	call	5f
	ud2
5:
	.if abi64
	movq	$6f, (%rsp)
	.else
	movl	$6f, (%esp)
	.endif
	ret
6:	incl	env_counter2(env)
.endm

.macro load_both
	mov	$user_ds, %edx
	mov	%edx, %ds
	mov	%edx, %es
.endm

.macro compare_and_load
	mov	%ds, %edx
	cmp	$user_ds, %edx
	jne	1f
	mov	%es, %edx
	cmp	$user_ds, %edx
	je	2f
1:	load_both
	incl	env_counter(env)
2:
.endm

.macro compare_and_restore
	push	%ecx
	push	%edx
	cmpw	$user_ds, (%esp)
	jne	1f
	cmpw	$user_ds, 4(%esp)
	je	2f
1:	mov	(%esp), %ds
	mov	4(%esp), %es
	incl	env_counter(env)
2:	add	$8, %esp
.endm

.macro body hint, before
	.ifc \before,wrong_return
	return_wrongly
	.endif
	.ifc \hint,entry_reload
	load_both
	.endif
	.ifc \hint,entry_skip
	compare_and_load
	.endif
	.ifc \hint,exit_restore
	push	%ecx
	push	%edx
	pop	%ds
	pop	%es
	.endif
	.ifc \hint,exit_skip
	compare_and_restore
	.endif
	.ifc \hint,push_ds
	push	%ds
	pop	%ebx
	.endif
	.ifc \hint,mov_ds
	mov	%ds, %ebx
	.endif
	.if about_stacks
	mov	xdi, xsp
	.ifc \hint,stack_none
	.else
	mov	16(xsp), xsp
	.endif
	.ifc \hint,stack_jump
	jmp	3f
	.skip	64, 0x90
3:
	.endif
	push	xax
	pop	xdx
	mov	xcx, xsp
	.endif
	.ifc \hint,cli_sti
	cli
	sti
	.endif
	.ifc \hint,sti
	sti
	.endif
	.ifc \hint,wrmsr
	wrmsr
	.endif
.endm

# Adds bit to the result if %ds and %es hold these two.
.macro look_at_segments bit, ds, es
	mov	%ds, %eax
	cmp	\ds, %eax
	jne	4f
	mov	%es, %eax
	cmp	\es, %eax
	jne	4f
	orl	$\bit, env_result(env)
4:
.endm

.macro look_at_counter bit, count
	cmpl	$\count, env_counter(env)
	jne	4f
	orl	$\bit, env_result(env)
4:
.endm

# 1: both have been loaded; 2: in the first iteration only; 4: also when only the second is another's, and 8: only the first.
.macro look_at_entry_skip
	look_at_segments 1, $user_ds, $user_ds
	look_at_counter 2, 1
	mov	env_sel_tls(env), %eax
	mov	%eax, %es
	compare_and_load
	look_at_segments 4, $user_ds, $user_ds
	mov	env_sel_tls(env), %eax
	mov	%eax, %ds
	compare_and_load
	look_at_segments 8, $user_ds, $user_ds
.endm

# 1: both have been left; 2: in all iterations; 4: both are restored when the first was another's; 8: and when the second was.
.macro look_at_exit_skip
	look_at_segments 1, env_sel_tls(env), env_sel_tls(env)
	look_at_counter 2, 0
	mov	env_sel_code(env), %edx
	compare_and_restore
	look_at_segments 4, env_sel_code(env), $user_ds
	mov	$user_ds, %edx
	mov	env_sel_code(env), %ecx
	compare_and_restore
	look_at_segments 8, $user_ds, env_sel_code(env)
.endm

# Which of the two stacks has the word that was pushed.
.macro look_at_stacks
	mov	env_save0(env), xdi
	mov	env_save1(env), xdx
	xor	%ecx, %ecx
	cmpl	$marker, -word_size(xdi)
	jne	1f
	add	xdi, xcx
1:	cmpl	$marker, -word_size(xdx)
	jne	2f
	add	xdx, xcx
2:	mov	xcx, env_result(env)
.endm

.macro teardown hint, before
	.ifc \hint,entry_reload
	look_at_segments 1, $user_ds, $user_ds
	.endif
	.ifc \hint,entry_skip
	look_at_entry_skip
	.endif
	.ifc \hint,exit_restore
	look_at_segments 1, $user_ds, $user_ds
	.endif
	.ifc \hint,exit_skip
	look_at_exit_skip
	.endif
	.ifc \hint,push_ds
	mov	%ebx, env_result(env)
	.endif
	.ifc \hint,mov_ds
	mov	%ebx, env_result(env)
	.endif
	.if about_stacks
	look_at_stacks
	.endif
	.ifc \hint,wrmsr
	rdmsr
	mov	%eax, env_result(env)
	.else
	.if !about_segments & !about_stacks
	.if abi64
	pushfq
	.else
	pushfl
	.endif
	pop	xax
	and	$0x200, %eax
	mov	%eax, env_result(env)
	.endif
	.endif
.endm
