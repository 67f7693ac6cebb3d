# More stack than there is.
# says: 4: stack is a number of bytes from 0 to 4096, not '4097'
#: title Broken
#: stack 4097
.macro body
	nop
.endm
