# An expectation with one equals sign.
# says: 4: 
#: title Broken
#: expect counter = iterations
.macro body
	nop
.endm
