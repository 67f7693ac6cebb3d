#: title     The same code at different offsets in a cache line
#: group     Instrument
#: source    J. Lokier, 2003, linux-kernel, on sysenter and the context switch
#: note      Where code lies moves what it costs: a branch that crosses a line, two that share a predictor's entry, a jump into the
#: note      last bytes of a line. Here the offset of the code in a 64-byte line is a level, and nothing else changes. Every other
#: note      experiment places its code anew all the time, so that such an effect ends in the interval and not in the figure.
#: abi       i386 x86_64
#: factor    code    loop entry     | a short counting loop, or pushes, tests, a call and branches as an entry has them
#: factor    offset  0..63          | bytes from the beginning of a 64-byte line
#: default   code=entry offset=0..56/8
#: repeat    loop
#: align     64
#: expect    counter == iterations

.macro setup code, offset
	.ifc \code,loop
	.else
	.ifc \code,entry
	.else
	.error "code: loop or entry"
	.endif
	.endif
	xor	%edx, %edx
.endm

.macro count_down
	mov	$20, %ecx
2:	dec	%ecx
	jnz	2b
.endm

# Eight times: what stands between the gate and the handler, and back.
.macro enter_and_leave
	mov	$8, %ecx
2:	push	xax
	test	%ecx, %ecx
	je	3f
	call	4f
	pop	xax
	dec	%ecx
	jmp	2b
4:	test	%edx, %edx
	jne	5f
5:	ret
3:	pop	xax
.endm

# The jump over the padding is part of every level.
.macro body code, offset
	jmp	1f
	.p2align 6
	.if \offset
	.skip	\offset, 0x90
	.endif
1:
	.ifc \code,loop
	count_down
	.endif
	.ifc \code,entry
	enter_and_leave
	.endif
	addl	$1, env_counter(env)
.endm
