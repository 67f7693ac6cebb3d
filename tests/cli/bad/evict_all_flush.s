# A flush of everything, which has no address.
# says: 5: evict all goes by walk alone
#: title Broken
#: repeat once
#: evict all flush
.macro body
	nop
.endm
