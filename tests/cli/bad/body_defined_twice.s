# The macro body is defined twice.
# says: 7: .*body.*
#: title Broken
.macro body
	nop
.endm
.macro body
	nop
.endm
