# A range has no default.
# says: 4: adds is a range and needs a default
#: title Broken
#: factor adds 1..10
.macro body adds
	nop
.endm
