# More descriptors than an LDT has.
# says: 4: ldt is data and a number of descriptors from 1 to 8192, or code and one from 1 to 256
#: title Broken
#: ldt data 8193
.macro body
.endm
