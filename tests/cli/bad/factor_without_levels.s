# A factor has no levels.
# says: 4: factor how has no levels
#: title Broken
#: factor how
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
