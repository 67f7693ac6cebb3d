# An exclude line has a reason and no condition.
# says: 4: 
#: title Broken
#: exclude | everything
.macro body
	nop
.endm
