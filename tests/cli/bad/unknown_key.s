# A key is misspelt.
# says: 4: there is no header key 'repaet'.*repeat
#: title Broken
#: repaet loop
.macro body
	nop
.endm
