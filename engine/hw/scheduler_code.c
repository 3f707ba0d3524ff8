// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code of a BPF scheduler that was compiled natively: dividing as BPF does, and where in it
 * something went wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "inside.h"

static const char *code, *code_end;

void hw_scheduler_code(const void *begin, const void *end)
{
	code = begin;
	code_end = end;
}

int in_scheduler(const void *ip)
{
	return (const char *)ip >= code && (const char *)ip < code_end;
}

/*
 * BPF: a quotient by zero is 0, the remainder is what was divided; the least number by -1 is itself.
 * arm64 divides so by itself; x86 traps, and goes on behind the instruction with the two as BPF has
 * them.
 */
#if defined(__x86_64__)
/* Whether the divisor is a register that holds -1: what traps then is not a division by zero. */
static int by_minus_one(const greg_t *reg, unsigned char modrm, int extended, unsigned int bytes)
{
	static const int registers[] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	unsigned long long ones = bytes == 8 ? ~0ULL : (1ULL << bytes * 8) - 1;

	return modrm >> 6 == 3 && (modrm & 0x38) == 0x38 && bytes > 1 &&
	       ((unsigned long long)reg[registers[(modrm & 7) + extended * 8]] & ones) == ones;
}

/* The linker has made a jump through its table of functions of what is not there. */
int calls_by_name(const void *last)
{
	extern const unsigned char __executable_start[], etext[];
	const unsigned char *end = (const unsigned char *)last + 1;
	int distance;

	memcpy(&distance, end - 4, sizeof(distance));
	return end[-5] == 0xe8 && end + distance >= __executable_start && end + distance < etext;
}

int divided_by_zero(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)reg[REG_RIP];
	unsigned char modrm, mod, opcode, rex = 0;
	unsigned int bytes = 4;

	if (!in_scheduler(at))
		return 0;
	if (*at == 0x66) {
		bytes = 2;
		at++;
	}
	if ((*at & 0xf0) == 0x40)
		rex = *at++;
	if (rex & 8)
		bytes = 8;
	opcode = *at++;
	if (opcode != 0xf7 && opcode != 0xf6)	/* div and idiv, the latter of 8 bits */
		return 0;
	if (opcode == 0xf6)
		bytes = 1;
	modrm = *at++;
	mod = modrm >> 6;
	if (mod != 3 && (modrm & 7) == 4) {	/* SIB */
		if (!mod && (*at & 7) == 5)
			at += 4;
		at++;
	} else if (!mod && (modrm & 7) == 5) {
		at += 4;			/* relative to the instruction pointer */
	}
	at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	reg[REG_RIP] = (greg_t)at;
	if (by_minus_one(reg, modrm, rex & 1, bytes)) {
		reg[REG_RDX] = 0;
	} else if (bytes == 1) {		/* both in one register */
		reg[REG_RAX] = (reg[REG_RAX] & 0xff) << 8;
	} else {
		reg[REG_RDX] = reg[REG_RAX];
		reg[REG_RAX] = 0;
	}
	return 1;
}
#else
/* The linker leaves out such calls. */
int calls_by_name(const void *last)
{
	(void)last;
	return 0;
}

int divided_by_zero(ucontext_t *context)
{
	(void)context;
	return 0;
}
#endif

/* "file.bpf.c:77", by addr2line where there is one. */
static int source_line(const void *ip, char *text, size_t size)
{
	char command[100], *slash;
	FILE *said;

	snprintf(command, sizeof(command), "exec addr2line -e /proc/%d/exe %p 2>/dev/null", getpid(), ip);
	said = popen(command, "r");
	if (!said)
		return 0;
	if (!fgets(text, size, said))
		*text = 0;
	if (pclose(said))
		return 0;
	text[strcspn(text, " \n")] = 0;		/* a discriminator may follow */
	slash = strrchr(text, '/');
	if (slash)
		memmove(text, slash + 1, strlen(slash));
	return *text && *text != '?';
}

static void function_and_line(const void *function, const void *line, char *text, size_t size)
{
	unsigned long offset;
	const char *name = symbol_of(function, &offset);
	char where[300];

	if (!source_line(line, where, sizeof(where)))
		snprintf(where, sizeof(where), "%p", line);
	snprintf(text, size, "%s() (%s)", name ?: "the scheduler", where);
}

void hw_scheduler_function(const void *function, char *text, unsigned long size)
{
	function_and_line(function, function, text, size);
}

/*
 * Frames from `frame` on; the innermost of the scheduler's is where it was, the outermost the
 * operation.
 */
void scheduler_place(void **frame, const void *ip, char *text, size_t size)
{
	const void *line = NULL, *operation = NULL;

	for (int i = 0; i < MOST_FRAMES; i++) {
		if (in_scheduler(ip)) {
			line = line ?: ip;
			operation = ip;
		} else if (operation) {
			break;
		}
		if (!to_caller(&frame, &ip))
			break;
	}
	*text = 0;
	if (!operation)
		return;
	snprintf(text, size, " in ");
	function_and_line(operation, line, text + 4, size - 4);
}
