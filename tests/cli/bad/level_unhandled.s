# No branch of the macro handles the level three.
# says: 5: level 'three' of how: no branch of a macro handles it
# run: how=all
#: title Broken
#: factor how one three
.macro body how
	.ifc \how,one
	nop
	.endif
.endm
