# Eviction of something unknown.
# says: 5: evict is
#: title Broken
#: repeat once
#: evict cache flush
.macro body
	nop
.endm
