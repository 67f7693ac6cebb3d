# A level that the file itself refuses.
# says: [0-9]+: .*how: one or two
# run: how=three
#: title Broken
#: factor how one three
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
