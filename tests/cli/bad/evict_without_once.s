# Eviction between iterations, where it would be timed.
# says: 4: evict goes with .#: repeat once. alone
#: title Broken
#: evict buffer flush
.macro body
	nop
.endm
