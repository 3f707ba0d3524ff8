// SPDX-License-Identifier: GPL-2.0-only
/* Coroutines: switching stacks, on x86-64 and arm64. */
#include <stddef.h>
#include <stdint.h>
#include "hw.h"

#if defined(__x86_64__)
asm(".text\n"
    ".globl hw_co_switch\n"
    ".type hw_co_switch, @function\n"
    "hw_co_switch:\n"
    "	push %rbp\n"
    "	push %rbx\n"
    "	push %r12\n"
    "	push %r13\n"
    "	push %r14\n"
    "	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15\n"
    "	pop %r14\n"
    "	pop %r13\n"
    "	pop %r12\n"
    "	pop %rbx\n"
    "	pop %rbp\n"
    "	ret\n"
    ".size hw_co_switch, . - hw_co_switch\n");

static uint64_t *first_frame(uint64_t *sp, void (*entry)(void))
{
	*--sp = 0;			/* entry's return address: it never returns */
	*--sp = (uint64_t)entry;
	sp -= 6;			/* callee-saved registers */
	for (int i = 0; i < 6; i++)
		sp[i] = 0;
	return sp;
}

#define SAVED_FRAME	5		/* rbp */
#define SAVED_IP	6
#elif defined(__aarch64__)
asm(".text\n"
    ".globl hw_co_switch\n"
    ".type hw_co_switch, @function\n"
    "hw_co_switch:\n"
    "	sub sp, sp, #160\n"
    "	stp x19, x20, [sp, #0]\n"
    "	stp x21, x22, [sp, #16]\n"
    "	stp x23, x24, [sp, #32]\n"
    "	stp x25, x26, [sp, #48]\n"
    "	stp x27, x28, [sp, #64]\n"
    "	stp x29, x30, [sp, #80]\n"
    "	stp d8, d9, [sp, #96]\n"
    "	stp d10, d11, [sp, #112]\n"
    "	stp d12, d13, [sp, #128]\n"
    "	stp d14, d15, [sp, #144]\n"
    "	mov x9, sp\n"
    "	str x9, [x0]\n"
    "	mov sp, x1\n"
    "	ldp x19, x20, [sp, #0]\n"
    "	ldp x21, x22, [sp, #16]\n"
    "	ldp x23, x24, [sp, #32]\n"
    "	ldp x25, x26, [sp, #48]\n"
    "	ldp x27, x28, [sp, #64]\n"
    "	ldp x29, x30, [sp, #80]\n"
    "	ldp d8, d9, [sp, #96]\n"
    "	ldp d10, d11, [sp, #112]\n"
    "	ldp d12, d13, [sp, #128]\n"
    "	ldp d14, d15, [sp, #144]\n"
    "	add sp, sp, #160\n"
    "	ret\n"
    ".size hw_co_switch, . - hw_co_switch\n");

#define SAVED_FRAME	10		/* x29 */
#define SAVED_IP	11		/* x30 */

static uint64_t *first_frame(uint64_t *sp, void (*entry)(void))
{
	sp -= 20;
	for (int i = 0; i < 20; i++)
		sp[i] = 0;
	sp[SAVED_IP] = (uint64_t)entry;
	return sp;
}
#else
#error "coroutines: x86-64 or arm64"
#endif

/* Prepare a stack so that the first switch to the result runs entry(). */
void *hw_co_init(void *stack, unsigned long size, void (*entry)(void))
{
	static unsigned int colour;

	/* Tops of stacks at different offsets: they must not share the host's cache sets. */
	uint64_t top = (uint64_t)stack + size - (colour++ % 13) * 192;

	*(uint64_t *)stack = HW_STACK_CANARY;
	return first_frame((uint64_t *)(top & ~15ULL), entry);
}

void **hw_co_frame(void *sp, void **ip)
{
	*ip = ((void **)sp)[SAVED_IP];
	return ((void ***)sp)[SAVED_FRAME];
}
