# The macro body is never closed.
# says: ([0-9]+|[0-9]*): .*([Ee]nd of file|endm|unexpected)
#: title Broken
.macro body
	nop
