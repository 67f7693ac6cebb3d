#: title     Three segment descriptors in one cache line, or in three
#: group     Segments
#: source    linux-kernel, November 2008, on interrupt stubs: descriptors that an entry loads should share a line
#: note      One iteration loads %es, %fs and %gs, as a kernel's entry did, from three descriptors in the LDT. When all lie in the first-level
#: note      cache, how many lines they share should not matter: cache=hot is many iterations in a row, cache=warm one at a time.
#: note      With cache=evicted, 64 MB of other memory are read before each single shot, for clflush does not reach the kernel's tables.
#: note      Each line then comes from memory, one after the other if loads of segment registers do not overlap; and so do the page tables,
#: note      for all levels alike: compare rows, cold with cold, and do not read a cold row for itself (--against lines=one).
#: note      lines=none, the same without loads, tells what of a row is not theirs. Adjacent lines may be brought in two by two; of the
#: note      three of lines=apart none is next to another. All are in one page. To evict takes milliseconds, so placements are few.
#: abi       x86_64 i386
#: factor    lines  none one three apart    | no descriptors; three in one line; in three adjacent ones; in three that are apart
#: factor    cache  hot warm evicted        | in a row; single shots; single shots, each after everything was evicted
#: default   lines=one,three cache=hot,warm,evicted
#: needs     ldt
#: ldt       data 128
#: repeat    cache=hot unroll
#: repeat    cache=warm,evicted once
#: evict     cache=evicted all walk 64M
#: expect    lines=none   result == 0
#: expect    lines=one,three,apart  result == save0
#: expect    lines=one    counter == 1
#: expect    lines=one    counter2 == 1
#: expect    lines=three  counter == 8
#: expect    lines=three  counter2 == 8
#: expect    lines=apart  counter == 24
#: expect    lines=apart  counter2 == 24

# The proof: what %es holds (result) is entry 16, the first of a line, for the LDT begins with a page; the entry in %fs is so many behind it
# (counter), and that in %gs so many behind that (counter2).

.macro is_one_of what, word, levels:vararg
	.set	found, 0
	.irp	level, \levels
	.ifc \word,\level
	.set	found, 1
	.endif
	.endr
	.if !found
	.error "\what: no such level: \word"
	.endif
.endm

# Selectors of three entries of the LDT. Entry 16 begins the third line; the line that it may come with is the fourth.
.macro take_selectors first, second, third
	mov	env_ldt_first(env), %eax
	lea	8 * \first(xax), %ebx
	lea	8 * \second(xax), %ecx
	lea	8 * \third(xax), %edx
.endm

.macro take lines
	.ifc \lines,none
	.else
	.ifc \lines,one
	take_selectors 16, 17, 18
	.else
	.ifc \lines,three
	take_selectors 16, 24, 32
	.else
	take_selectors 16, 40, 64
	.endif
	.endif
	.endif
.endm

# None of the selectors is loaded here: it would bring its line back.
.macro setup lines, cache
	is_one_of lines, \lines, none, one, three, apart
	is_one_of cache, \cache, hot, warm, evicted
	take \lines
.endm

.macro body lines, cache
	.ifc \lines,none
	.else
	mov	%ebx, %es
	mov	%ecx, %fs
	mov	%edx, %gs
	.endif
.endm

.macro teardown lines, cache
	.ifc \lines,none
	mov	%fs, %eax
	mov	%gs, %ecx
	or	%ecx, %eax
	and	$4, %eax # one of the LDT's
	mov	%eax, env_result(env)
	.else
	mov	%es, %eax
	mov	%fs, %ecx
	mov	%gs, %edx
	mov	%eax, env_result(env)
	sub	%ecx, %edx
	sub	%eax, %ecx
	shr	$3, %ecx
	shr	$3, %edx
	mov	%ecx, env_counter(env)
	mov	%edx, env_counter2(env)
	mov	env_ldt_first(env), %eax
	add	$8 * 16, %eax
	mov	%eax, env_save0(env)
	.endif
.endm
