# A form of repetition that does not exist.
# says: 4: repeat is unroll, loop or once, not 'lop'.*loop
#: title Broken
#: repeat lop
.macro body
	nop
.endm
