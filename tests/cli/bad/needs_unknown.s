# A capability that does not exist.
# says: 4: there is no capability 'ltd'.*ldt
#: title Broken
#: needs ltd
.macro body
	nop
.endm
