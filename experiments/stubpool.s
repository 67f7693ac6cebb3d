#: title     How small can an interrupt stub be
#: group     Interrupt entry
#: source    H. P. Anvin and A. Kivity, November 2008, linux-kernel, on the interrupt stubs
#: note      One iteration is one dispatch: an indirect jump to the stub of the next vector; the stub hands its vector to a common routine,
#: note      which recovers it, compares it with the one that was meant and counts it as right or wrong. The bytes are those of the stubs
#: note      and what they share, without the common routine: 2008 was decided by them, with no visible difference in cycles.
#: note
#: note      Size against alignment: stub16 was larger than stub8 and also 4 bytes off an 8-byte boundary. shift=own is every pool as it
#: note      was; shift=0 and shift=4 put all pools alike, so that what remains between two schemes is size, and what remains
#: note      between two shifts of one scheme is alignment.
#: note
#: note      Size against number: with stubs=used the pool has the stubs of the vectors in use and no others. With stubs=full it has 240 and
#: note      those in use are spread over it, as devices were: a line that is fetched for one then serves fewer others. dynamic has
#: note      only those in use by design.
#: note
#: note      Footprint: a single shot of one dispatch (burst=1) from a cold pool misses one line whatever the size of its neighbours.
#: note      burst=16 is 16 dispatches a shot: divide by 16, and what a small pool saves is the lines that an earlier dispatch brought in.
#: note
#: note      Cold figures are of single shots, and so is warm, which they are to be compared with: hot is a loop and has no fences.
#: note      out_of_l1 takes all code out, the common routine with it; flushed takes the pool alone, down to memory.
#: note
#: note      random draws vectors from a generator that no predictor learns: each dispatch then pays for a mispredicted jump, which a
#: note      gate does not, and which alone varies by some cycles with what else the predictor holds: compare rows of one run only.
#: note      fixed goes through the vectors in turn: a few vectors are predicted, and of many it depends on the pool how well.
#: note
#: note      call3 and call2 are 3 and 2 bytes because a call's displacement ends in the next call's first byte. They run in code segments of
#: note      their own, whose base is the pool, with instruction pointers of 16 bits, and are entered and left by far jumps.
#: note      int3 and fault0 go through the kernel: in user mode a signal, of which next to nothing is the stub's; their true cost is ring 0's.
#: note
#: note      csvec is a far call through one of 256 LDT code descriptors, of 8 bytes each that are the kernel's and not counted here.
#: note      dynamic is written when the code has been placed, by code: for a moment its pages are writable and executable.
#: abi       i386 x86_64
#: factor    scheme   stub16 stub8 stub7 stub4g32 stub4line call3 call2 int3 fault0 csvec dynamic | what a stub is
#: factor    vectors  1 8 32 128 224 240         | in use: 0x20 and on, 240 of them 0x10 to 0xff
#: factor    order    fixed random               | in which they come
#: factor    code     hot warm out_of_l1 flushed | hot: a loop; else single shots, with the code where the level says
#: factor    stubs    used full                  | those of the vectors in use, or all 240 with those in use spread over them
#: factor    shift    own 0 4                    | bytes from a cache line's start to the pool's; own: stub16 4, all others 0
#: factor    burst    1 16                       | dispatches a shot
#: default   scheme=stub16,stub8,stub7,stub4g32,stub4line vectors=224 order=random code=hot
#: exclude   abi=x86_64 scheme=call3,call2,csvec | descriptors of our own run 16- and 32-bit code only
#: exclude   code=hot burst=16                   | a loop dispatches one vector after another anyway
#: exclude   vectors=240 stubs=full               | all 240 are in use: the same as stubs=used
#: exclude   scheme=dynamic stubs=full            | only stubs of vectors in use are written
#: exclude   scheme=fault0,csvec stubs=full       | there are no stubs, in use or not
#: exclude   scheme=fault0,csvec shift=0,4       | there are no stubs to be shifted
#: exclude   scheme=fault0,csvec code=flushed    | there are no stubs to be flushed
#: exclude   scheme=call3,call2 shift=4          | the segment begins where the pool does
#: needs     scheme=call3,csvec ldt
#: needs     scheme=call2 ldt16
#: needs     abi=i386 scheme=dynamic int80
#: repeat    code=hot loop
#: repeat    once
#: warm      scheme=int3,fault0 4
#: warm      vectors=1,8,32 256
#: warm      2048
#: evict     code=out_of_l1 code walk 128K
#: evict     code=flushed pool flush
#: segment   scheme=call3 code32
#: segment   scheme=call2 code16
#: ldt       scheme=csvec code 256
#: align     64
#: expect    burst=1  counter == iterations
#: expect    burst=16 counter == 16*iterations
#: expect    counter2 == 0
#: expect    stubs=full result == 240
#: expect    stubs=used vectors=1   result == 1
#: expect    stubs=used vectors=8   result == 8
#: expect    stubs=used vectors=32  result == 32
#: expect    stubs=used vectors=128 result == 128
#: expect    stubs=used vectors=224 result == 224
#: expect    stubs=used vectors=240 result == 240
#: expect    vectors=1   save1 == 1
#: expect    vectors=8   save1 == 8
#: expect    vectors=32  save1 == 32
#: expect    vectors=128 save1 == 128
#: expect    vectors=224 save1 == 224
#: expect    vectors=240 save1 == 240
#: expect    stubs=used vectors=1   save4 == 0x20
#: expect    stubs=used vectors=8   save4 == 0x27
#: expect    stubs=used vectors=32  save4 == 0x3f
#: expect    stubs=used vectors=128 save4 == 0x9f
#: expect    stubs=used vectors=224,240 save4 == 0xff
#: expect    stubs=full vectors=1   save4 == 0x10
#: expect    stubs=full vectors=8   save4 == 0xe2
#: expect    stubs=full vectors=32  save4 == 0xf8
#: expect    stubs=full vectors=128,224 save4 == 0xfe
#: expect    save2 == 1
#: expect    scheme=stub16 shift=own,4  save3 == 4
#: expect    scheme=stub16 shift=0  save3 == 0
#: expect    scheme=stub8,stub7,stub4g32,stub4line,int3,dynamic shift=own,0  save3 == 0
#: expect    scheme=stub8,stub7,stub4g32,stub4line,int3,dynamic shift=4  save3 == 4
#: expect    scheme=call3,call2  save3 == 0

# counter: dispatches whose vector was recovered; counter2: others. The first setup at a placement dispatches every stub of the
# pool once and leaves in result how many were right, in save1 how many different vectors the order reaches, in save2 whether a
# vector that was not meant is found out, in save3 how far from a line's start the pool is, and in save4 the last vector in use.
#
# xbx: the vector that is meant. xcx: its number among those in use. xdx: where the common routine goes back to. xsi: what
# the order goes on from. xdi: dispatches left in a burst. xax: the common routine's.
#
# A gate is 8 bytes: offset of the stub (4), code selector (2), vector (2). Without a selector the jump is near.

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

# Sets `found` to whether the scheme is one of these.
.macro scheme_is scheme, names:vararg
	.set	found, 0
	.irp	name, \names
	.ifc \scheme,\name
	.set	found, 1
	.endif
	.endr
.endm

# The first vector of the pool, and how many stubs it has.
.macro set_extent vectors, stubs
	.set	first, 0x20
	.set	total, \vectors
	.ifc \stubs,full
	.set	total, 240
	.endif
	.if total > 224
	.set	first, 0x10
	.endif
.endm

# The common routine, a copy for each way to recover the vector, so that each begins a line of its own.

.macro compare_and_return
	cmp	%ebx, %eax
	jne	1f
	addl	$1, env_counter(env)
	jmp	*xdx
1:	addl	$1, env_counter2(env)
	jmp	*xdx
.endm

	.text
# ~vector was pushed
	.p2align 6
common_wide:
	pop	xax
	add	$0, %eax
	not	%eax
	compare_and_return
# ~vector + 128 was pushed, which always fits a byte
	.p2align 6
common_byte:
	pop	xax
	add	$-128, %eax
	not	%eax
	compare_and_return
# The vector stands behind the breakpoint.
	.p2align 6
common_int3:
	mov	env_signal_pc(env), xax
	movzbl	(xax), %eax
	compare_and_return
# The vector is how far from the base it faulted. Nothing is mapped there: the lowest pages are not given out (vm.mmap_min_addr).
.set fault_base, 0x8000
	.p2align 6
common_fault0:
	mov	env_signal_address(env), xax
	sub	$fault_base, %eax
	compare_and_return
.if !abi64
# 16 bits of return address were pushed: 3 * number + 4. The multiplier is the inverse of 3 modulo 65536.
	.p2align 6
common_call3_32:
	pop	%ax
	sub	$4, %eax
	imul	$0xaaab, %eax, %eax
	movzwl	%ax, %eax
	add	$0x20, %eax
	compare_and_return
	.p2align 6
common_call3_16:
	pop	%ax
	sub	$4, %eax
	imul	$0xaaab, %eax, %eax
	movzwl	%ax, %eax
	add	$0x10, %eax
	compare_and_return
# 2 * number + 3
	.p2align 6
common_call2_32:
	pop	%ax
	movzwl	%ax, %eax
	sub	$3, %eax
	shr	$1, %eax
	add	$0x20, %eax
	compare_and_return
	.p2align 6
common_call2_16:
	pop	%ax
	movzwl	%ax, %eax
	sub	$3, %eax
	shr	$1, %eax
	add	$0x10, %eax
	compare_and_return
# Entered by a far call.
	.p2align 6
common_csvec:
	mov	%cs, %eax
	shr	$3, %eax
	movzbl	%al, %eax
	cmp	%ebx, %eax
	jne	1f
	addl	$1, env_counter(env)
	lret
1:	addl	$1, env_counter2(env)
	lret
.endif

# The pools. Each stub makes its gate.

.macro gate offset
	.pushsection .data
	.long	\offset
	.short	0, vector
	.popsection
	.set	vector, vector + 1
.endm

.macro pool_stub16
	.rept	total
7:	push	$~vector
	jmp	common_wide
	# 7 bytes while the constant fits one, then 10; padded to 8
	.if vector < 128
	.fill	1, 1, 0x90
	.else
	.fill	6, 1, 0x90
	.endif
	gate	7b
	.endr
.endm

.macro pool_stub8
	.rept	total
7:	push	$~vector + 128
	jmp	common_byte
	nop
	gate	7b
	.endr
.endm

.macro pool_stub7
	.rept	total
7:	push	$~vector + 128
	jmp	common_byte
	gate	7b
	.endr
.endm

.macro pool_stub4g32
	.set	left, total
	.rept	(total + 31) / 32
	.set	now, 32
	.if left < 32
	.set	now, left
	.endif
	.rept	now
7:	push	$~vector + 128
	jmp	8f
	gate	7b
	.endr
8:	jmp	common_byte
	.fill	(8 - (now * 4 + 5) % 8) % 8, 1, 0x90
	.set	left, left - now
	.endr
.endm

.macro pool_stub4line
	.set	left, total
	.rept	(total + 6) / 7
	.set	now, 7
	.if left < 7
	.set	now, left
	.endif
	.rept	now - 1
7:	push	$~vector + 128
	jmp	8f
	gate	7b
	.endr
7:	push	$~vector + 128
8:	jmp	common_byte
	gate	7b
	.fill	32 - (now * 4 + 3), 1, 0x90
	.set	left, left - now
	.endr
.endm

# A call of 16 bits: operand-size prefix, opcode, displacement. Its second byte is the next call's prefix, 0x66, so the first decides
# between 256 landings; it is chosen to reach one that as many calls as possible share.
.macro pool_call3
	.set	number, 0
	.rept	total
	.byte	0x66, 0xe8, 0xff - 3 * number % 256
	gate	3*number
	.set	number, number + 1
	.endr
	.byte	0x66
	.set	landing, 0x6703
	.rept	(3 * (total - 1)) / 256 + 1
	.org	landing
	ljmp	*env_save6(%ebp)
	.set	landing, landing + 256
	.endr
.endm

# The same in a 16-bit segment, where a call needs no prefix: the second byte is 0xe8.
.macro pool_call2
	.set	number, 0
	.rept	total
	.byte	0xe8, 0xff - 2 * number % 256
	gate	2*number
	.set	number, number + 1
	.endr
	.byte	0xe8
	.set	landing, 0xe902
	.rept	(2 * (total - 1)) / 256 + 1
	.org	landing
	.code16
	ljmpl	*env_save6(%ebp)
	.code32
	.set	landing, landing + 256
	.endr
.endm

.macro pool_int3
	.rept	total
7:	.byte	0xcc, vector
	gate	7b
	.endr
.endm

.macro pool_fault0
	.rept	total
	gate	fault_base+vector
	.endr
.endm

.macro pool_csvec
	.rept	total
	gate	common_csvec
	.endr
.endm

# Room alone: setup writes what is there.
.macro pool_dynamic
	.rept	total
7:	.fill	8, 1, 0xcc
	gate	7b
	.endr
.endm

# The number of bytes that the pool is off a line.
.macro set_off scheme, shift
	.set	off, 0
	.ifc \shift,own
	.ifc \scheme,stub16
	.set	off, 4
	.endif
	.else
	.set	off, \shift
	.endif
.endm

# all_ID: a gate for each stub. gates_ID: one for each vector in use. state_ID: where the order goes on; last_ID: where it went on in
# the shot before. count_ID: shots done. ready_ID: zero at a new placement.
.macro pool_of id, scheme, vectors, stubs, shift
	set_extent \vectors, \stubs
	set_off \scheme, \shift
	.pushsection .data
	.p2align 3
ready_\id:	.long 0
state_\id:	.long 0
last_\id:	.long 0
count_\id:	.long 0
	.ifc \stubs,full
gates_\id:	.skip 8 * \vectors
	.endif
all_\id:
	.popsection
	.ifc \stubs,used
	.set	gates_\id, all_\id
	.endif
	.set	vector, first
	scheme_is \scheme, fault0, csvec
	.if !found
	.p2align 6
	.if off
	.zero	off
	.endif
	.endif
stubs_\id:
	pool_\scheme
.endm

.macro pool scheme, vectors, order, code, stubs, shift, burst
	pool_of \scheme\()_\vectors\()_\order\()_\code\()_\stubs\()_\shift\()_\burst, \scheme, \vectors, \stubs, \shift
.endm

# Steps to the next vector: xcx is its number.
.macro next_number order, vectors
	.ifc \order,random
	imul	$1664525, %esi, %esi
	add	$1013904223, %esi
	mov	%esi, %ecx
	shr	$16, %ecx
	imul	$\vectors, %ecx, %ecx
	shr	$16, %ecx
	.else
	xor	%ecx, %ecx
	add	$1, %esi
	cmp	$\vectors, %esi
	cmovae	%ecx, %esi
	mov	%esi, %ecx
	.endif
.endm

# Through gate xcx of a table, to the common routine and back.
.macro dispatch scheme, gates
	scheme_is \scheme, call3, call2
	.if found
	mov	$9f, %edx
	ljmp	*\gates(,%ecx,8)
	.else
	scheme_is \scheme, csvec
	.if found
	lcall	*\gates(,%ecx,8)
	.else
	mov	$9f, %edx
	mov	\gates(,xcx,8), %eax
	jmp	*xax
	.endif
	.endif
9:
.endm

.macro body_of id, scheme, vectors, order, code, burst
	.ifc \code,hot
	next_number \order, \vectors
	movzwl	gates_\id+6(,xcx,8), %ebx
	dispatch \scheme, gates_\id
	.else
	.ifc \burst,1
	dispatch \scheme, gates_\id
	.else
	jmp	4f
3:	next_number \order, \vectors
	movzwl	gates_\id+6(,xcx,8), %ebx
4:	dispatch \scheme, gates_\id
	sub	$1, %edi
	jnz	3b
	.endif
	.endif
.endm

.macro body scheme, vectors, order, code, stubs, shift, burst
	body_of \scheme\()_\vectors\()_\order\()_\code\()_\stubs\()_\shift\()_\burst, \scheme, \vectors, \order, \code, \burst
.endm

# mprotect of the pages of the pool.
.macro protect_stubs id, bits
	.if abi64
	mov	$stubs_\id, %edi
	lea	8*total+4095(%rdi), %esi
	and	$-4096, %edi
	and	$-4096, %esi
	sub	%edi, %esi
	mov	$\bits, %edx
	mov	$10, %eax
	syscall
	.else
	mov	$stubs_\id, %ebx
	lea	8*total+4095(%ebx), %ecx
	and	$-4096, %ebx
	and	$-4096, %ecx
	sub	%ebx, %ecx
	mov	$\bits, %edx
	mov	$125, %eax
	int	$0x80
	.endif
.endm

# push $~vector+128; jmp common_byte; nop, for each gate. The cpuid is what must come between writing code and running it (SDM vol. 3, 9.1.3).
.macro write_stubs id
	protect_stubs \id, 7
	mov	$total, %ecx
	mov	$all_\id, %esi
5:	mov	(xsi), %edi
	movzwl	6(xsi), %eax
	not	%eax
	add	$128, %eax
	movb	$0x6a, (xdi)
	mov	%al, 1(xdi)
	movb	$0xe9, 2(xdi)
	mov	$common_byte - 7, %eax
	sub	%edi, %eax
	mov	%eax, 3(xdi)
	movb	$0x90, 7(xdi)
	add	$8, %esi
	sub	$1, %ecx
	jnz	5b
	protect_stubs \id, 5
	xor	%eax, %eax
	cpuid
.endm

# Selectors, which are not known before: of the segment that the pool is, or of the descriptor of each vector.
.macro fill_gates id, scheme
	scheme_is \scheme, call3, call2, csvec
	.if found
	mov	$total, %ecx
	mov	$all_\id, %esi
5:
	.ifc \scheme,csvec
	movzwl	6(%esi), %eax
	shl	$3, %eax
	add	env_ldt_first(env), %eax
	.else
	mov	env_sel_pool(env), %eax
	.endif
	mov	%ax, 4(%esi)
	add	$8, %esi
	sub	$1, %ecx
	jnz	5b
	.endif
.endm

# Of 240 stubs, those in use are spread evenly.
.macro choose_gates id, vectors
	xor	%esi, %esi
5:	imul	$240 * 65536 / \vectors, %esi, %ecx
	shr	$16, %ecx
	mov	all_\id(,xcx,8), %eax
	mov	%eax, gates_\id(,xsi,8)
	mov	all_\id+4(,xcx,8), %eax
	mov	%eax, gates_\id+4(,xsi,8)
	add	$1, %esi
	cmp	$\vectors, %esi
	jb	5b
.endm

# Every stub of the pool, once; then the first with another vector meant.
.macro prove_stubs id, scheme
	xor	%esi, %esi
5:	mov	%esi, %ecx
	mov	all_\id+6(,xcx,8), %bx
	movzwl	%bx, %ebx
	dispatch \scheme, all_\id
	add	$1, %esi
	cmp	$total, %esi
	jb	5b
	mov	env_counter(env), %eax
	mov	%eax, env_result(env)
	mov	env_counter2(env), %eax
	mov	%eax, env_save3(env)
	xor	%ecx, %ecx
	movzwl	all_\id+6, %ebx
	add	$1, %ebx
	dispatch \scheme, all_\id
	mov	env_counter2(env), %eax
	sub	env_save3(env), %eax
	mov	%eax, env_save2(env)
	mov	env_save3(env), %eax
	mov	%eax, env_counter2(env)
	mov	$stubs_\id, %eax
	and	$63, %eax
	mov	%eax, env_save3(env)
	movl	$0, env_counter(env)
.endm

# How many vectors the order reaches: in one turn, or in so many draws that none is missed but once in a million.
.macro prove_order id, order, vectors
	mov	env_buffer(env), xdi
	mov	$256, %ecx
5:	movb	$0, -1(xdi,xcx)
	sub	$1, %ecx
	jnz	5b
	xor	%esi, %esi
	xor	%edx, %edx
	mov	$\vectors, %eax
	.ifc \order,random
	imul	$20, %eax, %eax
	.endif
5:	next_number \order, \vectors
	movzwl	gates_\id+6(,xcx,8), %ecx
	cmpb	$1, (xdi,xcx)
	adc	$0, %edx
	movb	$1, (xdi,xcx)
	sub	$1, %eax
	jnz	5b
	mov	%edx, env_save1(env)
	movzwl	gates_\id+6+8*(\vectors-1), %edx
	mov	%edx, env_save4(env)
.endm

# Where to go on at a signal, or from a landing; both before every execution.
.macro set_ways scheme
	.ifc \scheme,int3
	movl	$common_int3, env_on_signal(env)
	.endif
	.ifc \scheme,fault0
	movl	$common_fault0, env_on_signal(env)
	.endif
	scheme_is \scheme, call3, call2
	.if found
	.if first == 0x20
	movl	$common_\scheme\()_32, env_save6(env)
	.else
	movl	$common_\scheme\()_16, env_save6(env)
	.endif
	mov	env_sel_code(env), %eax
	mov	%eax, env_save6+4(env)
	.endif
.endm

# At a new placement; the order begins anywhere.
.macro prepare id, scheme, vectors, order, stubs
	fill_gates \id, \scheme
	.ifc \scheme,dynamic
	write_stubs \id
	.endif
	.ifc \stubs,full
	choose_gates \id, \vectors
	.endif
	prove_stubs \id, \scheme
	prove_order \id, \order, \vectors
	mov	env_save0(env), %eax
	add	$stubs_\id, %eax
	imul	$1664525, %eax, %eax
	add	$1013904223, %eax
	mov	%eax, env_save0(env)
	.ifc \order,fixed
	shr	$16, %eax
	imul	$\vectors, %eax, %eax
	shr	$16, %eax
	.endif
	mov	%eax, state_\id
	movl	$1, ready_\id
.endm

.macro step_state order, vectors, burst
	.ifc \order,random
	imul	$22695477, %esi, %esi
	add	$1, %esi
	.else
	add	$\burst, %esi
5:	sub	$\vectors, %esi
	jae	5b
	add	$\vectors, %esi
	.endif
.endm

# The first vector of a burst, and how many are to come.
.macro begin_burst id, vectors, order, burst
	next_number \order, \vectors
	movzwl	gates_\id+6(,xcx,8), %ebx
	mov	$\burst, %edi
.endm

# Before each shot that is timed there is one that is not. If both had the same vectors, the jump would be predicted, and the stub
# fetched while the clock is still being read; a gate's target is known to nobody. So the untimed one goes where the timed one
# before it went, and setup, by a jump of its own, to where the next goes, so that a warm stub is warm. A shot of nothing has no
# part in this.
.macro start_shot id, scheme, vectors, order, burst
	mov	state_\id, %esi
	cmpl	$0, env_iterations(env)
	je	7f
	xorl	$1, count_\id
	jz	7f
	mov	%esi, last_\id
	step_state \order, \vectors, \burst
	mov	%esi, state_\id
	begin_burst \id, \vectors, \order, \burst
6:	dispatch \scheme, gates_\id
	next_number \order, \vectors
	movzwl	gates_\id+6(,xcx,8), %ebx
	sub	$1, %edi
	jnz	6b
	movl	$0, env_counter(env)
	mov	last_\id, %esi
7:	begin_burst \id, \vectors, \order, \burst
.endm

.macro setup_of id, scheme, vectors, order, code, stubs, burst
	set_extent \vectors, \stubs
	set_ways \scheme
	cmpl	$0, ready_\id
	jne	2f
	prepare \id, \scheme, \vectors, \order, \stubs
2:
	.ifc \code,hot
	mov	state_\id, %esi
	.else
	start_shot \id, \scheme, \vectors, \order, \burst
	.endif
.endm

.macro setup scheme, vectors, order, code, stubs, shift, burst
	is_one_of scheme, \scheme, stub16, stub8, stub7, stub4g32, stub4line, call3, call2, int3, fault0, csvec, dynamic
	is_one_of vectors, \vectors, 1, 8, 32, 128, 224, 240
	is_one_of order, \order, fixed, random
	is_one_of code, \code, hot, warm, out_of_l1, flushed
	is_one_of stubs, \stubs, used, full
	is_one_of shift, \shift, own, 0, 4
	is_one_of burst, \burst, 1, 16
	setup_of \scheme\()_\vectors\()_\order\()_\code\()_\stubs\()_\shift\()_\burst, \scheme, \vectors, \order, \code, \stubs, \burst
.endm

# A loop goes on where the one before it ended.
.macro teardown scheme, vectors, order, code, stubs, shift, burst
	.ifc \code,hot
	mov	%esi, state_\scheme\()_\vectors\()_\order\()_\code\()_\stubs\()_\shift\()_\burst
	.endif
.endm
