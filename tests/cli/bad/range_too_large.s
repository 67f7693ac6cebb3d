# A range goes beyond a thousand million.
# says: 4: '0\.\.1000000001' is no range
#: title Broken
#: factor adds 0..1000000001
#: default adds=1
.macro body adds
	nop
.endm
