# There is no macro body.
# says: [0-9]+: there is no macro named body
#: title Broken
.macro setup
	nop
.endm
