# A symbol is not defined.
# says: ([0-9]+: )? ?symbol 'nowhere' is not defined
#: title Broken
.macro body
	call nowhere
.endm
