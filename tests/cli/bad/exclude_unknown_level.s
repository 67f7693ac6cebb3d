# An exclude line names a level that does not exist.
# says: 5: there is no level 'tow' of how.*two
#: title Broken
#: factor how one two
#: exclude how=tow
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
