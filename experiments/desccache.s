#: title     Is there a cache of segment descriptors: loads from N of them in turn
#: group     Segments
#: source    linux-kernel, November 2008, on interrupt stubs: one side said about 32 entries, one designer had built 32, direct-mapped
#: note      One iteration loads a segment register with the next of n selectors, one after the other and again from the first. Each
#: note      names a descriptor of its own in the LDT. If the CPU keeps descriptors, n that fit are cheap and n that do not are dear:
#: note      the curve of cost against n has a knee where the cache ends. If it keeps none, every load reads its descriptor through
#: note      the data caches, and the knees are theirs.
#: note
#: note      Stride tells one from the other. With n descriptors in a row 8 share a line of 64 bytes, so a data cache ends late; from
#: note      stride 8 on each has a line to itself. A cache of descriptors ends at the same n for every stride, unless it is indexed
#: note      by low bits of the selector: then a large stride leaves it a part of its entries, and what is left over tells in how many
#: note      ways an entry can lie. Direct-mapped with 32 entries, it would lose at stride=32 with n=2 already. A data cache of so many
#: note      sets and ways likewise ends at its number of ways once the stride is a multiple of its sets: in most CPUs stride=512, a
#: note      page, is.
#: note
#: note      In order, the next selector is reckoned from the last, and nothing but descriptors is read. order=random takes them from a
#: note      list of 2 bytes each, so that no prefetcher can know what comes next; the list takes room in the caches too, a fifth of all
#: note      that is read at stride 1 and 3% from stride 8 on. What that does is seen in order=listed: in order, but from a list. The
#: note      end of the walk is found without a branch. What the walk itself costs is the row reg=none, which does all but the load:
#: note      where it is flat, the walk has no part in a knee. Loads and walk overlap, so do not take one off the other.
#: note
#: note      Before the clock starts, setup goes once round all n: what an execution loads, it has loaded n loads ago and not longer, also
#: note      where it has fewer iterations than n. It begins where the one before has stopped.
#: abi       x86_64 i386
#: factor    reg     es fs gs none                | the register; none: the walk alone, the control
#: factor    n       1..8192                      | descriptors in turn
#: factor    stride  1 2 4 8 16 32 64 128 256 512 | of 8 bytes, from one to the next: 8 is one to a line, 512 one to a page
#: factor    order   sequential random listed     | in order; from a list that is shuffled anew at every placement; in order, from a list
#: default   n=1..8,10..16/2,20..32/4,40..64/8,80..128/16,160..256/32,320..512/64,640..1024/128,1280..2048/256,2560..4096/512,5120..8192/1024 stride=1,8,64,512
#: exclude   stride=2 n=4097..8192                | the LDT has 8192 entries
#: exclude   stride=4 n=2049..8192                | the LDT has 8192 entries
#: exclude   stride=8 n=1025..8192                | the LDT has 8192 entries
#: exclude   stride=16 n=513..8192                | the LDT has 8192 entries
#: exclude   stride=32 n=257..8192                | the LDT has 8192 entries
#: exclude   stride=64 n=129..8192                | the LDT has 8192 entries
#: exclude   stride=128 n=65..8192                | the LDT has 8192 entries
#: exclude   stride=256 n=33..8192                | the LDT has 8192 entries
#: exclude   stride=512 n=17..8192                | the LDT has 8192 entries
#: needs     ldt
#: ldt       data 8192
#: curve     n 8 stride
#: repeat    unroll
#: expect    counter == save1
#: expect    reg=es,fs,gs result == save2
#: expect    reg=none order=random,listed result == save2
#: expect    reg=none order=sequential result == 0
#: expect    order=random,listed counter2 == save3
#: expect    order=listed n=16..8192 save4 == 0
#: expect    order=random n=16..8192 save4 == 1

# The proof, of three iterations that begin with the last descriptor but one, so that the walk comes round: where the walk stands
# (counter) is where it must (save1, by division); the register holds (result) the selector before that one (save2); the list has
# (counter2) as many different selectors of the stride as it must (save3), and is (save4) shuffled or not.

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

.macro check_levels reg, n, stride, order
	is_one_of reg, \reg, es, fs, gs, none
	is_one_of stride, \stride, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
	is_one_of order, \order, sequential, random, listed
.endm

# A list for each n, stride and order: all registers walk the same. In front of it: has it been filled, where the walk stands, how many
# are different, how many are followed by their neighbour. It begins a line behind a multiple of 8 lines: a short one then shares no set
# of a first-level cache with descriptors that are 8 lines or more apart.
.set filled, 0
.set place, 4
.set different, 8
.set in_order, 12
.set list, 64

.macro take_list n, stride, order
	.ifndef list_\order\()_\stride\()_\n
	.pushsection .bss
	.balign	512
list_\order\()_\stride\()_\n\():
	.skip	list + 2 * \n + 2
	.popsection
	.endif
	mov	$list_\order\()_\stride\()_\n, %ebx
.endm

.macro fill n, stride
	mov	$7, %eax # the first entry; LDT, privilege level 3
	xor	%ecx, %ecx
1:	mov	%ax, list(xbx, xcx, 2)
	add	$8 * \stride, %eax
	inc	%ecx
	cmp	$\n, %ecx
	jb	1b
.endm

# Fisher and Yates. The numbers begin with the list's address, which is another at every placement.
.macro shuffle n
	imul	$0x9e3779b1, %ebx, %edi
	mov	$\n - 1, %ecx
	jmp	2f
1:	imul	$1664525, %edi, %edi
	add	$1013904223, %edi
	lea	1(xcx), %eax
	mul	%edi # %edx: 0 to %ecx
	movzwl	list(xbx, xdx, 2), %eax
	movzwl	list(xbx, xcx, 2), %esi
	mov	%ax, list(xbx, xcx, 2)
	mov	%si, list(xbx, xdx, 2)
	dec	%ecx
2:	test	%ecx, %ecx
	jnz	1b
.endm

# Marks each entry of the LDT that is in the list, and counts those that were not yet.
.macro count n, stride
	mov	env_buffer(env), xsi
	mov	$8192 / 4, %ecx
1:	movl	$0, -4(xsi, xcx, 4)
	dec	%ecx
	jnz	1b
	movl	$0, in_order(xbx)
	xor	%edi, %edi
2:	movzwl	list(xbx, xcx, 2), %eax
	lea	8 * \stride(xax), %edx
	cmp	%dx, list + 2(xbx, xcx, 2)
	sete	%dl
	movzbl	%dl, %edx
	add	%edx, in_order(xbx)
	xor	$7, %eax
	test	$7 + 8 * (\stride - 1), %eax
	jnz	3f
	shr	$3, %eax
	cmp	$\n * \stride, %eax
	jae	3f
	cmpb	$0, (xsi, xax)
	jne	3f
	movb	$1, (xsi, xax)
	inc	%edi
3:	inc	%ecx
	cmp	$\n, %ecx
	jb	2b
	mov	%edi, different(xbx)
.endm

# Once at every placement. The walk begins with the last but one, so that the check's three iterations come round.
.macro prepare n, stride, order
	movl	$1, filled(xbx)
	.if \n > 2
	movl	$\n - 2, place(xbx)
	.endif
	.ifc \order,sequential
	.else
	fill \n, \stride
	.ifc \order,random
	shuffle \n
	.endif
	count \n, \stride
	.endif
.endm

# xsi: the next selector, or where it stands in the list. xdx, xdi: the first, and what lies behind the last.
.macro stand n, stride, order
	.ifc \order,sequential
	mov	$7, %edx
	mov	$7 + 8 * \stride * \n, %edi
	imul	$8 * \stride, place(xbx), %esi
	.else
	lea	list(xbx), %edx
	lea	list + 2 * \n(xbx), %edi
	mov	place(xbx), %esi
	add	%esi, %esi
	.endif
	add	%edx, %esi
.endm

.macro load reg, from
	.ifc \reg,none
	.else
	mov	\from, %\reg
	.endif
.endm

.macro body reg, n, stride, order
	.ifc \order,sequential
	load \reg, %esi
	add	$8 * \stride, %esi
	.else
	movzwl	(xsi), %eax
	load \reg, %eax
	add	$2, %esi
	.endif
	cmp	%edi, %esi
	cmove	%edx, %esi
.endm

.macro setup reg, n, stride, order
	check_levels \reg, \n, \stride, \order
	take_list \n, \stride, \order
	cmpl	$0, filled(xbx)
	jne	4f
	prepare \n, \stride, \order
4:	stand \n, \stride, \order
	mov	$\n, %ecx
5:	body \reg, \n, \stride, \order
	dec	%ecx
	jnz	5b
	# null, so that what the register holds in the end was loaded by body
	xor	%eax, %eax
	load \reg, %eax
.endm

# What the register holds; without one, the selector that was read, and that %fs and %gs have none of the LDT's. (Not %es: to look at
# it would cost the walk its footprint, which tells that %es is as it was.)
.macro found_selector reg, order
	.ifc \reg,none
	.ifc \order,sequential
	.else
	mov	%eax, env_result(env)
	.endif
	mov	%fs, %eax
	mov	%gs, %ecx
	or	%ecx, %eax
	and	$4, %eax
	shl	$16, %eax
	or	%eax, env_result(env)
	.else
	mov	%\reg, env_result(env)
	.endif
.endm

.macro found_place stride, order
	.ifc \order,sequential
	lea	-7(xsi), %eax
	xor	%edx, %edx
	mov	$8 * \stride, %ecx
	div	%ecx
	shl	$16, %edx # nothing is left over
	or	%edx, %eax
	.else
	sub	%ebx, %esi
	lea	-list(xsi), %eax
	shr	$1, %eax
	.endif
	mov	%eax, env_counter(env)
.endm

.macro teardown reg, n, stride, order
	found_selector \reg, \order
	take_list \n, \stride, \order
	found_place \stride, \order
	mov	place(xbx), %eax
	add	env_iterations(env), %eax
	xor	%edx, %edx
	mov	$\n, %ecx
	div	%ecx
	mov	%edx, place(xbx)
	mov	%edx, env_save1(env)
	dec	%edx
	jns	6f
	add	$\n, %edx
6:	.ifc \order,random
	movzwl	list(xbx, xdx, 2), %eax
	.else
	imul	$8 * \stride, %edx, %eax
	add	$7, %eax
	.endif
	mov	%eax, env_save2(env)
	mov	different(xbx), %eax
	mov	%eax, env_counter2(env)
	movl	$\n, env_save3(env)
	mov	in_order(xbx), %ecx
	xor	%eax, %eax
	lea	(xcx, xcx), %ecx
	cmp	$\n, %ecx
	setb	%al
	mov	%eax, env_save4(env)
.endm
