# The stack is no number.
# says: 4: stack is a number of bytes from 0 to 4096, not '8 bytes'
#: title Broken
#: stack 8 bytes
.macro body
	nop
.endm
