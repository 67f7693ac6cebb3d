#: title     One access, warm or evicted: single shots
#: group     Instrument
#: note      What a cold access costs cannot be had from many in a row: an eviction inside the clock costs more than what it
#: note      shows. So each sample is one iteration, its line is put where the level says before the clock starts, and an
#: note      empty shot is taken off. Warm is what the same instruction costs when nothing was evicted.
#: abi       i386 x86_64
#: factor    of      data code        | what is cold: the line that is loaded, or the code that loads it
#: factor    cache   warm l1 memory   | where it was left: everywhere; out of the first level; nowhere but in memory
#: default   of=data cache=warm,l1,memory
#: exclude   of=code cache=l1         | a walk over data does not evict code from the first level
#: repeat    once
#: evict     of=data cache=l1      buffer walk 256K
#: evict     of=data cache=memory  buffer flush
#: evict     of=code cache=memory  code flush
#: expect    counter == iterations

.macro check_levels of, cache
	.ifc \of,data
	.else
	.ifc \of,code
	.else
	.error "of: data or code"
	.endif
	.endif
	# warm, l1 and memory differ in what the engine evicts before the shot, not in the code
	.ifc \cache,warm
	.else
	.ifc \cache,l1
	.else
	.ifc \cache,memory
	.else
	.error "cache: warm, l1 or memory"
	.endif
	.endif
	.endif
.endm

.macro setup of, cache
	check_levels \of, \cache
	mov	env_buffer(env), xsi
.endm

.macro body of, cache
	.ifc \of,data
	mov	(xsi), %eax
	.endif
	addl	$1, env_counter(env)
.endm
