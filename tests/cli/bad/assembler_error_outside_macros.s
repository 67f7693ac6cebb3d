# An error outside of all macros.
# says: 7: .*[Nn]o such instruction
#: title Broken
.macro body
	nop
.endm
	frobnicate %eax
