/* shot.S: the frame around the timed iterations, for both ABIs.
 *
 * Memory is addressed absolutely and through %ss: a variant may have any selector in %ds, and %rbp or %rsp may come back wrong. The worker
 * is linked to a fixed address below 2 GB, so that absolute addresses have 32 bits in both ABIs.
 *
 * lfence, rdtsc, lfence: the time stamp is read after all before it has retired and before anything behind it starts (SDM vol. 2,
 * RDTSC; on AMD lfence is dispatch-serialising when the kernel sets DE_CFG[1], which Linux does). */

#ifdef __x86_64__
#define AX %rax
#define DX %rdx
#define SP %rsp
#define BP %rbp
#define WORD 8
#else
#define AX %eax
#define DX %edx
#define SP %esp
#define BP %ebp
#define WORD 4
#endif

#define ENTRY     %ss:shot+0
#define ENV       %ss:shot+8
#define STACK     %ss:shot+16
#define SETUP     %ss:shot+24
#define TEARDOWN  %ss:shot+32
#define FOOTPRINT %ss:shot+40
#define ONE       %ss:shot+44
#define BEGIN     %ss:shot+48
#define END       %ss:shot+56
#define ES_AFTER  %ss:shot+64
#define SP_AFTER  %ss:shot+72
#define BP_AFTER  %ss:shot+80
#define SAVED_SP  %ss:shot+88
#define SAVED_DS  %ss:shot+96
#define SAVED_ES  %ss:shot+104
#define SAVED_FS  %ss:shot+112
#define SAVED_GS  %ss:shot+120
#define FS_BASE   %ss:shot+128
#define GS_BASE   %ss:shot+136
#define SAVED_AX  %ss:shot+144
#define SAVED_DX  %ss:shot+152
#define FSGSBASE  %ss:shot+160
#define PUSHED    %ss:40(BP)

	.text
	.globl shot_fire, shot_exit
	.type shot_fire, @function
	.p2align 6
shot_fire:
#ifdef __x86_64__
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	pushfq
#else
	push %ebx
	push %ebp
	push %esi
	push %edi
	pushfl
#endif
	mov SP, SAVED_SP
	mov %ds, SAVED_DS
	mov %es, SAVED_ES
	mov %fs, SAVED_FS
	mov %gs, SAVED_GS
#ifdef __x86_64__
	cmpl $0, FSGSBASE
	je 1f
	rdfsbase %rax
	mov %rax, FS_BASE
	rdgsbase %rax
	mov %rax, GS_BASE
1:
#endif
	mov ENV, BP
	mov STACK, SP
	cmpl $0, SETUP
	je 2f
#ifdef __x86_64__
	call *SETUP
#else
	call *SETUP
#endif
2:	cmpl $0, FOOTPRINT
	je 3f
	/* A null selector with RPL 1: a return from an interrupt to user mode makes it 0 (APM vol. 2, IRET; SDM vol. 2, IRET: segment
	 * registers whose descriptor the new privilege level may not use are loaded with null). */
	movw ONE, %es
3:	mov AX, SAVED_AX
	mov DX, SAVED_DX
	lfence
	rdtsc
	mov %eax, BEGIN
	mov %edx, BEGIN+4
	mov SAVED_AX, AX
	mov SAVED_DX, DX
	lfence
	jmp *ENTRY

	.p2align 6
shot_exit:
	mov AX, SAVED_AX
	mov DX, SAVED_DX
	lfence
	rdtsc
	lfence
	mov %eax, END
	mov %edx, END+4
	mov %es, ES_AFTER
	mov SP, SP_AFTER
	mov BP, BP_AFTER
	mov STACK, SP
	mov ENV, BP
	/* before the call of teardown overwrites it */
	mov %ss:-WORD(SP), AX
	mov AX, PUSHED
	mov SAVED_AX, AX
	mov SAVED_DX, DX
	cmpl $0, TEARDOWN
	je 4f
	call *TEARDOWN
4:	cld
	/* A load of null costs several times what a compare does: only what was changed. */
	mov %ds, %eax
	cmpw SAVED_DS, %ax
	je 5f
	movw SAVED_DS, %ds
5:	mov %es, %eax
	cmpw SAVED_ES, %ax
	je 6f
	movw SAVED_ES, %es
6:	mov %fs, %eax
	cmpw SAVED_FS, %ax
	je 7f
	movw SAVED_FS, %fs
7:	mov %gs, %eax
	cmpw SAVED_GS, %ax
	je 8f
	movw SAVED_GS, %gs
8:
#ifdef __x86_64__
	/* a selector loaded into %fs replaced the base, even if the selector is the old one again */
	cmpl $0, FSGSBASE
	je 9f
	mov FS_BASE, %rax
	wrfsbase %rax
	mov GS_BASE, %rax
	wrgsbase %rax
	jmp 10f
9:	mov $158, %eax /* arch_prctl(ARCH_SET_FS, base); bodies find no base of ours in %gs then */
	mov $0x1002, %edi
	mov FS_BASE, %rsi
	mov SAVED_SP, %rsp
	syscall
10:
#endif
	mov SAVED_SP, SP
#ifdef __x86_64__
	popfq
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
#else
	popfl
	pop %edi
	pop %esi
	pop %ebp
	pop %ebx
#endif
	ret
	.size shot_fire, . - shot_fire
	.section .note.GNU-stack, "", @progbits
