# An exclude line has a word that is no condition.
# says: 5: 'one' is not FACTOR=LEVEL
#: title Broken
#: factor how one two
#: exclude one
.macro body how
	.ifc \how,one
	nop
	.else
	.ifc \how,two
	nop; nop
	.else
	.error "how: one or two"
	.endif
	.endif
.endm
