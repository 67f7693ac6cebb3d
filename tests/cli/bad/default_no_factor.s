# The default names a factor that is not there.
# says: 5: there is no factor 'hwo'.*how
#: title Broken
#: factor how one two
#: default hwo=one
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
