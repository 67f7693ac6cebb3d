# A level has a minus sign.
# says: 4: 'one-two' cannot be a level
#: title Broken
#: factor how one-two
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
