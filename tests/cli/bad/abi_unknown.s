# An ABI that does not exist.
# says: 4: there is no ABI 'x32'
#: title Broken
#: abi x32
.macro body
	nop
.endm
