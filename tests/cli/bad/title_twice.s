# The title stands twice.
# says: 4: title stands twice: line 3 has it too
#: title Broken
#: title Broken
.macro body
	nop
.endm
