#: title     Per-CPU data: through a segment prefix, or plain
#: group     Segments
#: source    J. Fitzhardinge and E. Dumazet, 2006, linux-kernel, "i386 PDA patches use of %gs"
#: note      One iteration is what one kernel entry does with its per-CPU structure: accesses to that many fields of it, 8 bytes
#: note      apart, each once. On several CPUs the structure is reached through a segment register (fs, gs); on one it is a plain
#: note      variable (absolute; riprel as x86_64 code has it). pointer reads the structure's own address from its first field
#: note      through %gs, once an entry (with accesses=0 too), and then needs no prefix.
#: note
#: note      Prefix against nonzero base: with base=zero the prefix stands before the very address that a plain access has, and
#: note      nothing else differs; base=nonzero has the same fields at small offsets, so that a base is added to each. What is
#: note      left is length: a prefix is one byte an access, and code that runs as fast as it can be fetched pays for bytes.
#: note
#: note      run pda access=gs,absolute base=all op=load,store,add accesses=64 --against access=absolute,base=zero
#: note
#: note      entry: save pushes the register and pops it, reload loads the kernel's selector between: what a kernel has to do that
#: note      uses the register, and what one without a per-CPU segment leaves out. absolute and riprel with save and reload are the
#: note      kernel in between, with plain accesses, that still reloads %gs. The register holds a real selector outside, in all
#: note      rows: null is another matter (segreg). A pop loads a descriptor, so save has one load in it and reload two. Accesses
#: note      behind a load wait for it or run beside it; what they cost there is the question, and not what they cost alone:
#: note
#: note      run pda access=gs,absolute base=zero accesses=0,8 entry=all --against accesses=0
#: note
#: note      Iterations follow each other at once, so with entry=none add, sub and or wait for what the iteration before stored to
#: note      the same field: with few accesses they show how long that takes, with many how many fit into a cycle. load and store
#: note      wait for nothing. Loads of 1 and 2 bytes extend with zeros, as compilers make them; a plain one would wait for the
#: note      rest of its register.
#: note
#: note      Code: bytes per access are the bytes of a row less those of the same row with accesses=0, over the number of accesses.
#: note      "listing" shows them; --format jsonl (code.bytes) and csv (code_bytes) have them in every row. pointer is the shortest
#: note      for fields that one byte of displacement reaches, here the first 15. In 2006 the plain form saved 3,400 bytes of a
#: note      kernel's text besides.
#: abi       i386 x86_64
#: factor    access    fs gs absolute pointer riprel   | how a field is reached
#: factor    base      zero nonzero                    | of the segment: added to every address that goes through it
#: factor    op        load store add sub or           | what is done to a field
#: factor    width     1 2 4 8                         | its bytes
#: factor    accesses  0 1 2 4 8 16 32 64              | fields accessed in one entry
#: factor    entry     none save reload                | the register: left alone; pushed and popped; and loaded between
#: default   access=gs,absolute,pointer base=zero,nonzero op=load width=4 accesses=16 entry=none
#: exclude   access=absolute,riprel base=nonzero       | a plain access goes through a segment whose base is zero
#: exclude   abi=i386 access=riprel                    | i386 has no addresses relative to the instruction
#: exclude   abi=i386 width=8                          | i386 has no operands of 8 bytes
#: needs     base=nonzero ldt
#: needs     entry=reload ldt
#: repeat    unroll
#
# counter: how many fields, from the first on, are as so many operations of that width leave them; with load, the field loaded last.
#: expect    accesses=0  counter == 0
#: expect    accesses=1  counter == 1
#: expect    accesses=2  counter == 2
#: expect    accesses=4  counter == 4
#: expect    accesses=8  counter == 8
#: expect    accesses=16 counter == 16
#: expect    accesses=32 counter == 32
#: expect    accesses=64 counter == 64
# counter2: what else has changed, in this structure or the other, and what was not loaded right.
#: expect    counter2 == 0
# result: what was pushed; save0, save1: what the register held before and holds after.
#: expect    entry=none        result == 0
#: expect    entry=save,reload result == save0
#: expect    save1 == save0

# Two structures: area, where base is zero, and the buffer, where it is not. Field k is 8*k bytes in, field 0 its own address.
#
# The register has outside, with entry=reload, what an access would go wrong through: a base that is not zero where it should be, and the
# other way round. So does the one that is not used: a wrong prefix, or a prefix too many, does not pass. Nor does, in i386, one too few:
# %ds is null there where all accesses have a prefix.
#
# %ecx (and loads: %edx, %ebx in turn): data. xsi: pointer. %edi: the kernel's selector.

.data
.balign 4096
area:	.skip	65 * 8

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

.macro check_levels access, base, op, width, accesses, entry
	is_one_of access, \access, fs, gs, absolute, pointer, riprel
	is_one_of base, \base, zero, nonzero
	is_one_of op, \op, load, store, add, sub, or
	is_one_of width, \width, 1, 2, 4, 8
	is_one_of accesses, \accesses, 0, 1, 2, 4, 8, 16, 32, 64
	is_one_of entry, \entry, none, save, reload
.endm

# ---- body ----

.macro access_load width, data, at:vararg
	.if \width == 1
	movzbl	\at, %e\data\()x
	.endif
	.if \width == 2
	movzwl	\at, %e\data\()x
	.endif
	.if \width == 4
	movl	\at, %e\data\()x
	.endif
	.if \width == 8
	movq	\at, %r\data\()x
	.endif
.endm

.macro access_store width, data, at:vararg
	.if \width == 1
	movb	%cl, \at
	.endif
	.if \width == 2
	movw	%cx, \at
	.endif
	.if \width == 4
	movl	%ecx, \at
	.endif
	.if \width == 8
	movq	%rcx, \at
	.endif
.endm

.macro access_immediate name, value, width, at:vararg
	.if \width == 1
	\name\()b	$\value, \at
	.endif
	.if \width == 2
	\name\()w	$\value, \at
	.endif
	.if \width == 4
	\name\()l	$\value, \at
	.endif
	.if \width == 8
	\name\()q	$\value, \at
	.endif
.endm

.macro access_add width, data, at:vararg
	access_immediate add, 1, \width, \at
.endm

.macro access_sub width, data, at:vararg
	access_immediate sub, 1, \width, \at
.endm

# Sign-extended: it changes every byte of the field.
.macro access_or width, data, at:vararg
	access_immediate or, -128, \width, \at
.endm

# start: where the segment has the structure: at its address, or at its base.
.macro access_field access, start, op, width, data
	.ifc \access,absolute
	access_\op \width, \data, \start + 8 * k
	.endif
	.ifc \access,riprel
	access_\op \width, \data, \start + 8 * k(%rip)
	.endif
	.ifc \access,pointer
	access_\op \width, \data, 8 * k(xsi)
	.endif
	.ifc \access,fs
	access_\op \width, \data, %fs:\start + 8 * k
	.endif
	.ifc \access,gs
	access_\op \width, \data, %gs:\start + 8 * k
	.endif
.endm

.macro access_fields access, start, op, width, accesses
	.ifc \access,pointer
	mov	%gs:\start, xsi
	.endif
	.set	k, 1
	.rept	\accesses
	.if k % 3 == 1
	access_field \access, \start, \op, \width, c
	.endif
	.if k % 3 == 2
	access_field \access, \start, \op, \width, d
	.endif
	.if k % 3 == 0
	access_field \access, \start, \op, \width, b
	.endif
	.set	k, k + 1
	.endr
.endm

.macro body_in reg, access, base, op, width, accesses, entry
	.ifc \entry,none
	.else
	push	%\reg
	.endif
	.ifc \entry,reload
	mov	%edi, %\reg
	.endif
	.ifc \base,zero
	access_fields \access, area, \op, \width, \accesses
	.else
	access_fields \access, 0, \op, \width, \accesses
	.endif
	.ifc \entry,none
	.else
	pop	%\reg
	.endif
.endm

.macro body access, base, op, width, accesses, entry
	.ifc \access,fs
	body_in fs, \access, \base, \op, \width, \accesses, \entry
	.else
	body_in gs, \access, \base, \op, \width, \accesses, \entry
	.endif
.endm

# ---- setup ----

# Where the field of number %ecx begins: \word in both halves, to %eax.
.macro initial_word op, other
	.ifc \op,load
	imul	$0x01010101, %ecx, %eax
	.if \other
	add	$0x80808080, %eax
	.endif
	.else
	.ifc \op,add
	mov	$-1, %eax
	.else
	xor	%eax, %eax
	.endif
	.endif
.endm

.macro prepare_structure op, other
	mov	xdi, (xdi)
	mov	$1, %ecx
1:	initial_word \op, \other
	mov	%eax, (xdi,xcx,8)
	mov	%eax, 4(xdi,xcx,8)
	inc	%ecx
	cmp	$64, %ecx
	jbe	1b
.endm

# Both structures, one as the other but for loads.
.macro prepare_structures base, op
	.set	nonzero, 1
	.ifc \base,zero
	.set	nonzero, 0
	.endif
	mov	$area, %edi
	prepare_structure \op, nonzero
	mov	env_buffer(env), xdi
	prepare_structure \op, !nonzero
.endm

.macro load_selectors reg, unused, access, base, entry
	.if have_ldt
	mov	env_sel_ldt(env), %eax
	mov	env_sel_area(env), %edx
	.else
	mov	env_sel_data(env), %eax
	mov	%eax, %edx
	.endif
	.ifc \base,nonzero
	xchg	%eax, %edx
	.endif
	# %eax: the kernel's; %edx: one that is wrong for these accesses
	mov	%eax, %edi
	.set	inside, 1
	.ifc \entry,reload
	.set	inside, 0
	.endif
	.ifc \access,absolute
	.set	inside, 0
	.endif
	.ifc \access,riprel
	.set	inside, 0
	.endif
	.if !inside
	mov	%edx, %eax
	.endif
	mov	%eax, env_save0(env)
	mov	%eax, %\reg
	# An access through null faults in i386. In x86_64 it is one with base zero.
	xor	%eax, %eax
	.if abi64
	.ifc \base,zero
	mov	%edx, %eax
	.endif
	.endif
	mov	%eax, %\unused
.endm

.macro set_ds access, to
	.set	prefixed, 0
	.ifc \access,fs
	.set	prefixed, 1
	.endif
	.ifc \access,gs
	.set	prefixed, 1
	.endif
	.if prefixed
	mov	env_sel_\to(env), %eax
	mov	%eax, %ds
	.endif
.endm

.macro setup access, base, op, width, accesses, entry
	check_levels \access, \base, \op, \width, \accesses, \entry
	prepare_structures \base, \op
	.ifc \access,fs
	load_selectors fs, gs, \access, \base, \entry
	.else
	load_selectors gs, fs, \access, \base, \entry
	.endif
	xor	%ecx, %ecx
	xor	%edx, %edx
	xor	%ebx, %ebx
	xor	%esi, %esi
	.ifc \op,store
	mov	$-1, xcx
	.endif
	.if !abi64
	set_ds \access, null
	.endif
.endm

# ---- teardown ----

# A register that loads go to: it has the last field whose number leaves \rest over 3.
.macro check_loaded data, rest, width, accesses
	.set	last, (\accesses - \rest + 3) / 3 * 3 + \rest - 3
	.if last < 0
	.set	last, 0
	.endif
	.if \width == 1
	.set	wanted, last
	.endif
	.if \width == 2
	.set	wanted, last * 0x0101
	.endif
	.if \width == 4
	.set	wanted, last * 0x01010101
	.endif
	.if \width == 8
	.set	wanted, last * 0x0101010101010101
	.endif
	.if \width == 8
	movabs	$wanted, %rax
	.else
	mov	$wanted, %eax
	.endif
	cmp	xax, x\data\()x
	je	1f
	incl	env_counter2(env)
1:
	.if last == \accesses
	movzbl	%\data\()l, %eax
	mov	%eax, env_counter(env)
	.endif
.endm

# %ebx, %esi: lower and upper half of a field that was operated on.
.macro operated_word op, width
	mov	env_iterations(env), %ebx
	xor	%esi, %esi
	.ifc \op,add
	dec	%ebx
	dec	%esi
	.endif
	.ifc \op,sub
	neg	%ebx
	.endif
	.ifc \op,or
	mov	$-128, %ebx
	.endif
	.ifc \op,store
	mov	$-1, %ebx
	.endif
	.if \width == 1
	movzbl	%bl, %ebx
	.endif
	.if \width == 2
	movzwl	%bx, %ebx
	.endif
	.if \width == 8
	not	%esi
	.endif
	.ifc \op,add
	.if \width == 1
	or	$0xffffff00, %ebx
	.endif
	.if \width == 2
	or	$0xffff0000, %ebx
	.endif
	.endif
.endm

# The structure at xdi, of which the first \accesses fields were operated on.
.macro check_structure op, other, accesses
	mov	$1, %ecx
1:
	.if \accesses
	cmp	$\accesses, %ecx
	ja	2f
	cmp	%ebx, (xdi,xcx,8)
	jne	3f
	cmp	%esi, 4(xdi,xcx,8)
	jne	3f
	incl	env_counter(env)
	jmp	4f
	.endif
2:	initial_word \op, \other
	cmp	%eax, (xdi,xcx,8)
	jne	3f
	cmp	%eax, 4(xdi,xcx,8)
	je	4f
3:	incl	env_counter2(env)
4:	inc	%ecx
	cmp	$64, %ecx
	jbe	1b
	cmp	xdi, (xdi)
	je	5f
	incl	env_counter2(env)
5:
.endm

.macro check_structures base, op, width, accesses
	.ifc \base,zero
	mov	$area, %edi
	.else
	mov	env_buffer(env), xdi
	.endif
	.ifc \op,load
	check_structure \op, 0, 0
	.else
	operated_word \op, \width
	check_structure \op, 0, \accesses
	.endif
	.ifc \base,zero
	mov	env_buffer(env), xdi
	.else
	mov	$area, %edi
	.endif
	check_structure \op, 1, 0
.endm

.macro check_pointer base
	.ifc \base,zero
	mov	$area, %eax
	.else
	mov	env_buffer(env), xax
	.endif
	cmp	xax, xsi
	je	1f
	incl	env_counter2(env)
1:
.endm

.macro teardown access, base, op, width, accesses, entry
	.if !abi64
	set_ds \access, data
	.endif
	.ifc \op,load
	check_loaded c, 1, \width, \accesses
	check_loaded d, 2, \width, \accesses
	check_loaded b, 3, \width, \accesses
	.endif
	.ifc \access,pointer
	check_pointer \base
	.endif
	check_structures \base, \op, \width, \accesses
	.ifc \access,fs
	mov	%fs, %eax
	.else
	mov	%gs, %eax
	.endif
	mov	%eax, env_save1(env)
	.ifc \entry,none
	.else
	movzwl	env_pushed(env), %eax
	mov	%eax, env_result(env)
	.endif
.endm
