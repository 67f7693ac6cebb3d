# The key repeat stands twice.
# says: 5: repeat stands twice
#: title Broken
#: repeat loop
#: repeat unroll
.macro body
	nop
.endm
