# A pool pushed out by a walk, which pushes out all code.
# says: 5: evict pool goes by flush alone
#: title Broken
#: repeat once
#: evict pool walk 64K
.macro body
	nop
.endm
.macro pool
	nop
.endm
