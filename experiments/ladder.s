#: title     Dependent adds: the instrument's own ruler
#: group     Instrument
#: note      A chain of N dependent register adds costs N cycles on every x86 CPU since the Pentium Pro, so what this
#: note      reads is known beforehand. If a rung is off, so is everything else that is measured here today.
#: abi       i386 x86_64
#: factor    adds   1..1000 | how many adds one iteration has
#: default   adds=1,2,10,100,1000
#: repeat    unroll
#: expect    counter == iterations
#: expect    result == 0

.macro setup adds
	xor	%eax, %eax
	mov	$1, %ecx
.endm

.macro body adds
	.rept \adds
	add	%ecx, %eax
	.endr
.endm

# The sum over the number of adds must be the number of iterations, with nothing left over.
.macro teardown adds
	xor	%edx, %edx
	mov	$\adds, %ecx
	div	%ecx
	mov	%eax, env_counter(env)
	mov	%edx, env_result(env)
.endm
