# A factor stands twice.
# says: 5: factor how stands twice: line 4 has it too
#: title Broken
#: factor how one
#: factor how two
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
