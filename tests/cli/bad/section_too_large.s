# A body of 64 MiB.
# says: [0-9]*:? ?.*too large
#: title Broken
.macro body
	.skip 67108864, 0x90
.endm
