# A header line stands behind code, where it would be overlooked.
# says: 7: a header line behind code: move it above line 4
#: title Broken
.macro body
	nop
.endm
#: repeat loop
