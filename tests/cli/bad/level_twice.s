# A level stands twice.
# says: 4: factor how has the level one twice
#: title Broken
#: factor how one two one
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
