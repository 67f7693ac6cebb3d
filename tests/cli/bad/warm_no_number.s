# Iterations before a loop that are no number.
# says: 5: warm is a number of iterations from 1 to 1000000, not 'some'
#: title Broken
#: repeat loop
#: warm some
.macro body
	nop
.endm
