# The key repeat stands twice.
# says: 5: repeat stands twice: line 4 has it too
#: title Broken
#: repeat loop
#: repeat unroll
.macro body
	nop
.endm
