# A factor stands twice in default.
# says: 5: how stands twice in default
#: title Broken
#: factor how one two
#: default how=one how=two
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
