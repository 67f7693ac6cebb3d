#: title     Interrupt entry: load the kernel's segments, or look first and skip it
#: group     Interrupt entry
#: source    B. Evans, 2004, FreeBSD cvs-src, on interrupt entry
#: note      An interrupt that comes from user mode finds the user's selectors and must load the kernel's; one that comes from the
#: note      kernel finds them right. The old code loads always. The new code reads %fs, compares, and skips the loads: it saves
#: note      three loads when the kernel was interrupted, and pays a compare and a branch that may be predicted wrongly when not.
#: note
#: note      One iteration is one interrupt: push all general registers, %ds, %es and %fs; the sequence; one access through %fs, as
#: note      handlers make it to their CPU's data (sequence=none through %ss, for %fs is the user's there); pop all. The pushes and
#: note      the pops are the same in all: what a sequence costs is its difference to none, and to always what it saves.
#: note
#: note      skip16 makes its loads from %ax, which it sets by 16-bit moves: to read %eax behind that stalled on the CPUs of the day.
#: note      skip32 sets all of %eax. skip16p reads only %ax, by operand-size prefixes on the segment moves. skip_exit is skip32, and on
#: note      the way out compares what was saved and skips the three pops in the same way.
#: note
#: note      Before each interrupt %fs is set: to the kernel's selector, or for the share given by user to a user's. Here the
#: note      kernel's selector is the flat data selector, which is the sequences' immediate, as in the published program. That
#: note      setting has a cost of its own, which depends on user and usersel: it is measured alone and taken off.
#: note
#: note      Three things are apart. The work: compare sequences at user=0 and user=100, where the branch is always right. The
#: note      predictor: compare pattern=random with short and blocks, whose share is the same; only random cannot be learnt. The
#: note      selector: usersel is what is popped behind user interrupts and what was loaded before them, and null costs several
#: note      times as much on some CPUs. %ds and %es are flat all the time, so their loads find the selector that is there.
#: abi       i386
#: factor    sequence  always skip16 skip32 skip16p none skip_exit | what stands between the pushes and the handler
#: factor    usersel   code tls null                       | what %fs holds in user mode
#: factor    user      0 25 50 75 100                      | percent of the interrupts that come from user mode
#: factor    pattern   random short blocks                 | their order: no period, a period of 64, or runs of 1,000
#: default   sequence=always,skip16,skip32,skip16p usersel=code user=0,25,50,75,100 pattern=random
#: pattern   user pattern
#: repeat    loop
#: expect    counter == iterations
#: expect    save1 == sel_data
#: expect    usersel=code  save2 == sel_code
#: expect    usersel=tls   save2 == sel_tls
#: expect    usersel=null  save2 == sel_null
#: expect    save5 == 127
#: expect    sequence=always                result == 0x3f
#: expect    sequence=skip16,skip32,skip16p result == 0x37
#: expect    sequence=skip_exit             result == 0x17
#: expect    sequence=none                  result == 0x36

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

# env_save0: how far in the pattern the last execution came. env_save1, env_save2: the kernel's selector and the user's.
# %esi: the place in the pattern. The other registers hold what teardown looks for.
.macro setup sequence, usersel, user, pattern
	is_one_of sequence, \sequence, always, skip16, skip32, skip16p, none, skip_exit
	is_one_of usersel, \usersel, code, tls, null
	is_one_of user, \user, 0, 25, 50, 75, 100
	is_one_of pattern, \pattern, random, short, blocks
	movl	$user_ds, env_save1(env)
	mov	env_sel_\usersel(env), %eax
	mov	%eax, env_save2(env)
	mov	env_save0(env), %esi
	mov	env_iterations(env), %eax
	add	%esi, %eax
	cmp	env_pattern_size(env), %eax
	jbe	1f
	xor	%esi, %esi
	mov	env_iterations(env), %eax
1:	mov	%eax, env_save0(env)
	add	env_pattern(env), %esi
	mov	$0x0badb00c, %ebx
	mov	$0x0badc0de, %ecx
	mov	$0x0badd00d, %edx
	mov	$0x0badd1d1, %edi
.endm

# %fs as the mode that is interrupted has it; %eax is left with the same.
.macro arrive
	movzbl	(%esi), %eax
	inc	%esi
	mov	env_save1(env,%eax,8), %eax
	mov	%eax, %fs
.endm

.macro baseline sequence, usersel, user, pattern
	arrive
.endm

.macro load_by_16_bits prefix
	mov	$user_ds, %ax
	\prefix mov %eax, %ds
	\prefix mov %eax, %es
	mov	$user_ds, %ax
	\prefix mov %eax, %fs
.endm

.macro load_by_32_bits
	mov	$user_ds, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	$user_ds, %eax
	mov	%eax, %fs
.endm

# The loads are written with 32-bit registers, for those have no prefix of their own.
.macro enter sequence
	pusha
	push	%ds
	push	%es
	push	%fs
	.ifc \sequence,always
	load_by_32_bits
	.else
	.ifc \sequence,none
	.else
	mov	%fs, %ax
	cmp	$user_ds, %ax
	je	1f
	.ifc \sequence,skip16
	load_by_16_bits
	.endif
	.ifc \sequence,skip16p
	load_by_16_bits data16
	.endif
	.ifc \sequence,skip32
	load_by_32_bits
	.endif
	.ifc \sequence,skip_exit
	load_by_32_bits
	.endif
1:
	.endif
	.endif
.endm

# skip_exit: the kernel was interrupted if its selector was in %fs, and then there is nothing to restore. Moves, so that both ways
# end in one.
.macro leave_ sequence
	.ifc \sequence,skip_exit
	cmpw	$user_ds, (%esp)
	je	2f
	mov	(%esp), %fs
	mov	4(%esp), %es
	mov	8(%esp), %ds
2:	add	$12, %esp
	.else
	pop	%fs
	pop	%es
	pop	%ds
	.endif
	popa
.endm

.macro handle sequence
	.ifc \sequence,none
	addl	$1, %ss:env_counter(env)
	.else
	addl	$1, %fs:env_counter(env)
	.endif
.endm

.macro body sequence, usersel, user, pattern
	arrive
	enter \sequence
	handle \sequence
	leave_ \sequence
.endm

# ---- what teardown looks at, in the check alone, which is of a few iterations ----

# To the label 4 that comes next.
.macro jump_unless_equal a, b
	cmpl	\a, \b
	jne	4f
.endm

# 1: %esi has gone on; 2: the other registers are as they were; 4, 8: %eax and %fs are the last arrival's; 16, 32: %ds and %es are the
# kernel's; 64: the pattern has its share of ones, within 0.1%.
.macro look_at_body user
	movl	$0, env_save5(env)
	push	%eax
	mov	env_pattern(env), %eax
	add	env_save0(env), %eax
	jump_unless_equal %eax, %esi
	orl	$1, env_save5(env)
4:	jump_unless_equal $0x0badb00c, %ebx
	jump_unless_equal $0x0badc0de, %ecx
	jump_unless_equal $0x0badd00d, %edx
	jump_unless_equal $0x0badd1d1, %edi
	orl	$2, env_save5(env)
4:	movzbl	-1(%esi), %eax
	mov	env_save1(env,%eax,8), %eax
	jump_unless_equal (%esp), %eax
	orl	$4, env_save5(env)
4:	mov	%fs, %ecx
	jump_unless_equal %ecx, %eax
	orl	$8, env_save5(env)
4:	mov	%ds, %eax
	jump_unless_equal $user_ds, %eax
	orl	$16, env_save5(env)
4:	mov	%es, %eax
	jump_unless_equal $user_ds, %eax
	orl	$32, env_save5(env)
4:	pop	%eax
	mov	env_pattern(env), %esi
	mov	env_pattern_size(env), %ecx
	xor	%edx, %edx
5:	movzbl	(%esi), %eax
	inc	%esi
	add	%eax, %edx
	dec	%ecx
	jnz	5b
	sub	$\user * 10000 - 1000, %edx
	cmp	$2000, %edx
	ja	4f
	orl	$64, env_save5(env)
4:
.endm

# One more interrupt, by the sequence that body has, of a mode whose %ds and %es are not the kernel's either: they hold the code selector,
# which shows whether they are loaded or left. The handler notes what it finds, and clears %ds and %es if told to.
.macro interrupt sequence, clear
	mov	%edi, %fs
	mov	env_sel_code(env), %eax
	mov	%eax, %ds
	mov	%eax, %es
	enter	\sequence
	mov	%ds, %eax
	mov	%eax, env_save6(env)
	mov	%es, %eax
	mov	%eax, env_save6+4(env)
	mov	%fs, %eax
	mov	%eax, env_save7(env)
	.if \clear
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	.endif
	leave_	\sequence
.endm

.macro look_at_registers bit
	jump_unless_equal env_sel_code(env), %eax
	jump_unless_equal $0x1111, %ebx
	jump_unless_equal $0x2222, %ecx
	jump_unless_equal $0x3333, %edx
	jump_unless_equal $0x4444, %esi
	mov	%fs, %eax
	jump_unless_equal %edi, %eax
	orl	$\bit, env_result(env)
4:
.endm

.macro look_at_segments value, bit
	mov	%ds, %eax
	jump_unless_equal \value, %eax
	mov	%es, %eax
	jump_unless_equal \value, %eax
	orl	$\bit, env_result(env)
4:
.endm

.macro look_inside bit
	jump_unless_equal $user_ds, env_save6(env)
	jump_unless_equal $user_ds, env_save6+4(env)
	jump_unless_equal $user_ds, env_save7(env)
	orl	$\bit, env_result(env)
4:
.endm

# From user mode: 1, inside all three are the kernel's; 2, behind it the registers and %fs, and 4, %ds and %es are as they were. From the
# kernel: 8, inside all three have been loaded; 16, behind it the registers and %fs are as they were, and 32, %ds and %es have been
# restored, which the handler had cleared.
.macro teardown sequence, usersel, user, pattern
	cmpl	$0, env_checking(env)
	je	9f
	look_at_body \user
	mov	$0x1111, %ebx
	mov	$0x2222, %ecx
	mov	$0x3333, %edx
	mov	$0x4444, %esi
	mov	env_save2(env), %edi
	interrupt \sequence, 0
	look_at_registers 2
	look_at_segments env_sel_code(env), 4
	look_inside 1
	mov	env_save1(env), %edi
	interrupt \sequence, 1
	look_at_registers 16
	look_at_segments env_sel_code(env), 32
	look_inside 8
9:
.endm
