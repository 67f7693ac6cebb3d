# An instruction of x86_64 in a body that is assembled for i386 too.
# says: 6: bad register name
# run: abi=all
#: title Broken
.macro body
	push %rax
	pop %rax
.endm
