# The larger number of a range stands first.
# says: 4: 10\.\.1 is an empty range
#: title Broken
#: factor adds 10..1
#: default adds=1
.macro body adds
	nop
.endm
