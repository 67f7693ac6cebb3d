# The default is outside of the range.
# says: 5: adds=11 is out of range: 1 to 10
#: title Broken
#: factor adds 1..10
#: default adds=11
.macro body adds
	nop
.endm
