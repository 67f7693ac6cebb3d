# A segment at a pool that is not there.
# says: 4: segment: the file has no macro pool
#: title Broken
#: segment code16
.macro body
	nop
.endm
