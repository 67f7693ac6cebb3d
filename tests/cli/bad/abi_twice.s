# An ABI is named twice.
# says: 4: abi names i386 twice
#: title Broken
#: abi i386 i386
.macro body
	nop
.endm
