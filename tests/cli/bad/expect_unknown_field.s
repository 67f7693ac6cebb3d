# An expectation of a field that does not exist.
# says: 4: the environment has no field 'conter'.*counter
#: title Broken
#: expect conter == iterations
.macro body
	nop
.endm
