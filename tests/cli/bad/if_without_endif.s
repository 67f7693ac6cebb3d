# A conditional is never closed.
# says: [0-9]+: .*(endif|conditional)
#: title Broken
.macro body
	.if abi64
	nop
.endm
