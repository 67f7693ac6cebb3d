# The parameters of body stand in another order than the factors.
# says: 6: macro body takes \(two, one\), but levels are passed in the order of the factors, \(one, two\)
#: title Broken
#: factor one a b
#: factor two a b
.macro body two, one
	nop
.endm
