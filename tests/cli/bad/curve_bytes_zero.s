# A number of a curve that takes no room.
# says: 5: curve is a factor, how many bytes one of its number takes \(1 to 1048576\), and a factor that they are multiplied by, not 'n 0'
#: title Broken
#: factor n 1 2
#: curve n 0
.macro body n
.endm
