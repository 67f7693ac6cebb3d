# A factor is called abi.
# says: 4: abi is a factor of every file
#: title Broken
#: factor abi i386
.macro body abi
	nop
.endm
