# A walk without a size.
# says: 5: evict buffer walk needs a size
#: title Broken
#: repeat once
#: evict buffer walk
.macro body
	nop
.endm
