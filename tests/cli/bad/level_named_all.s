# A level is called all.
# says: 4: a level cannot be named 'all'
#: title Broken
#: factor how one all
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
