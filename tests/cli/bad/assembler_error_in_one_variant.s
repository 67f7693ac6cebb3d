# One variant does not assemble: its own message names the line.
# says: 8: .*width: only 4
# run: width=all
#: title Broken
#: factor width 4 8
.macro body width
	.if \width != 4
	.error "width: only 4"
	.endif
	addl $\width, %eax
.endm
