# A pool flushed that is not there.
# says: 5: evict pool: the file has no macro pool
#: title Broken
#: repeat once
#: evict pool flush
.macro body
	nop
.endm
