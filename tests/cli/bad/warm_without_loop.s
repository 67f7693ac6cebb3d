# Iterations before what is no loop.
# says: 4: warm goes with '#: repeat loop' alone
#: title Broken
#: warm 100
.macro body
	nop
.endm
