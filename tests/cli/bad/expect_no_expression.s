# An expectation of something that cannot be computed.
# says: 4: .*'iterations\+1'
#: title Broken
#: expect counter == iterations+1
.macro body
	nop
.endm
