# There is no title.
# says: [0-9]+: the header has no title
#: abi x86_64
.macro body
	nop
.endm
