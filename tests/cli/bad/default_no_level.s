# The default is no level.
# says: 5: there is no level 'thre' of how.*did you mean
#: title Broken
#: factor how one three
#: default how=thre
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
