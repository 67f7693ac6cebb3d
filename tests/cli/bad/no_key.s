# A header line has no key.
# says: 4: no key behind '#:'
#: title Broken
#:
.macro body
	nop
.endm
