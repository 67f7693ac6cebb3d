#: title     What an interrupt stub does to tell its vector
#: group     Interrupt entry
#: source    A. van Heukelum, 2008, linux-kernel, on the interrupt stubs
#: note      A stub has to leave its vector on the stack. It can push it as a constant, which takes one stub for each vector. Or
#: note      there is one code selector for each vector, the gates name it, and the vector can be got from %cs: the stub pushes
#: note      %cs and leaves the rest to later, or makes of it what the constant would have been.
#: note      What is measured is the stack and the arithmetic, hot and in a row: no gate, no jump, no cache miss. Extraction reads
#: note      its own push again, so it costs latency where the pushes only cost throughput. Sequences are compared with one
#: note      another; stubpool tells what the size of the stubs costs, and the published figures are of 1,024 in a row, as here.
#: note      The constant fits into a byte, as it did in the stubs of the day.
#: abi       i386
#: factor    sequence  push_imm push_cs extract | a constant; the code selector; eight instructions that make the constant of it
#: default   sequence=push_imm,push_cs,extract
#: repeat    loop 1024
#: stack     4
#: report    1024 cycles
#: expect    counter == iterations
#: expect    result == 0x1234567

# The vector, as the stubs of 2008 pushed it: complemented, and moved so that it fits into a signed byte.
vector_pushed = ~0x20 + 0x80

# %eax: what must be there behind extraction too.
.macro setup sequence
	mov	$0x1234567, %eax
.endm

.macro body sequence
	.ifc \sequence,push_imm
	push	$vector_pushed
	.else
	.ifc \sequence,push_cs
	push	%cs
	.else
	.ifc \sequence,extract
	push	%eax
	push	%eax
	mov	%cs, %eax
	shr	$3, %eax
	and	$0xff, %eax
	not	%eax
	mov	%eax, 4(%esp)
	pop	%eax
	.else
	.error "sequence: no such level: \sequence"
	.endif
	.endif
	.endif
.endm

# Goes down the stack of the last turn, in the check alone: counter counts the words that are the one that each must be. The engine has kept the
# first, where this call's return address is. A push of %cs writes two or four bytes, which one depends on the CPU.
.macro count_if_right sequence
	.ifc \sequence,push_cs
	movzwl	%dx, %edx
	.endif
	cmp	%ebx, %edx
	jne	2f
	incl	env_counter(env)
2:
.endm

.macro teardown sequence
	cmpl	$0, env_checking(env)
	je	3f
	.ifc \sequence,push_imm
	mov	$vector_pushed, %ebx
	.else
	mov	env_sel_code(env), %ebx
	.endif
	.ifc \sequence,extract
	shr	$3, %ebx
	and	$0xff, %ebx
	not	%ebx
	.endif
	mov	env_iterations(env), %ecx
	mov	%esp, %esi
	mov	env_pushed(env), %edx
1:	count_if_right \sequence
	sub	$4, %esi
	mov	(%esi), %edx
	dec	%ecx
	jnz	1b
	mov	%eax, env_result(env)
3:
.endm
