# There is a body, and no header at all.
# says: [0-9]+: the header has no title
.macro body
	nop
.endm
