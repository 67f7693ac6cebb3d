# A curve against words.
# says: 5: curve needs numbers to draw against, and reg has the level fs
#: title Broken
#: factor reg fs gs
#: curve reg
.macro body reg
.endm
