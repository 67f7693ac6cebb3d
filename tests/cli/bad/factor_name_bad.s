# The name of a factor has a minus sign.
# says: 4: 'how-much' cannot be a factor
#: title Broken
#: factor how-much one
.macro body x
	nop
.endm
