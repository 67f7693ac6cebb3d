# A flush with a size.
# says: 5: evict code flush takes no size
#: title Broken
#: repeat once
#: evict code flush 64K
.macro body
	nop
.endm
