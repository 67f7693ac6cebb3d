# An instruction that does not exist, in a macro.
# says: 6: .*`mvo %eax,%ebx'
#: title Broken
.macro body
	nop
	mvo %eax, %ebx
.endm
