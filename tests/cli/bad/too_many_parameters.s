# The macro setup takes more than the factors.
# says: 5: macro setup takes 2 arguments? \(how, abi\), but there are 1 factors
#: title Broken
#: factor how one two
.macro setup how, abi
.endm
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
