# The macro body does not take all factors.
# says: 6: macro body takes 1 arguments? \(one\), but there are 2 factors \(one, two\)
#: title Broken
#: factor one a b
#: factor two a b
.macro body one
	nop
.endm
