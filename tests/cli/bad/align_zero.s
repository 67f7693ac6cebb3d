# An alignment of nothing.
# says: 4: align is a power of two from 1 to 4096, not '0'
#: title Broken
#: align 0
.macro body
	nop
.endm
