# The key abi has no value.
# says: 4: abi needs a value
#: title Broken
#: abi
.macro body
	nop
.endm
