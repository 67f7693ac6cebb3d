# A control character in the header.
# says: 3: a control character \(0x07\) in the header
#: title Broken
.macro body
	nop
.endm
