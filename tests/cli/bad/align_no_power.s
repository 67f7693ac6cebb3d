# An alignment that is no power of two.
# says: 4: align is a power of two from 1 to 4096, not '48'
#: title Broken
#: align 48
.macro body
	nop
.endm
