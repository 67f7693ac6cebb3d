# A needs line with a condition and no capability.
# says: 5: needs names no capability
#: title Broken
#: factor how one two
#: needs how=one
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
