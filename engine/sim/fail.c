// SPDX-License-Identifier: GPL-2.0-only
/* Ends of a run that went wrong: kernel warnings, broken invariants, loops that hang the host. */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include "sim.h"

#define HANG_SECONDS	10	/* of the host without any event */

int verbose;
static unsigned long watched_events;
static double host_limit, host_elapsed;

static void where(void **frame, void *ip)
{
	struct cpu *c = &cpus[sim.cpu];

	fprintf(stderr, "  simulated time %llu.%09llu s, CPU %d, task %s/%d, interrupts %s, %d locks held\n",
		sim.clk / SEC, sim.clk % SEC, sim.cpu, c->task ? c->task->comm : "idle",
		c->task ? c->task->pid : 0, sim.irq_on ? "on" : "off", sim.held);
	fprintf(stderr, "  backtrace:\n");
	if (ip)
		symbol_print(stderr, ip);
	/* Frame pointers are kept everywhere; a coroutine's chain ends with a null. */
	for (int i = 0; i < 40 && (unsigned long)frame > 4096 && frame[1]; i++) {
		void **up = frame[0];

		symbol_print(stderr, (char *)frame[1] - 1);
		if (up <= frame || up > frame + sim_stack_size)
			break;
		frame = up;
	}
}

static void end_failed(void)
{
	where(__builtin_frame_address(0), NULL);
	exit(3);
}

void sim_die(const char *what, const char *file, int line)
{
	fprintf(stderr, "schedsim: %s (%s:%d)\n", what, file, line);
	end_failed();
	__builtin_unreachable();
}

void sim_bug(const char *file, int line, const char *func)
{
	fprintf(stderr, "schedsim: kernel BUG at %s:%d in %s()\n", file, line, func);
	end_failed();
	__builtin_unreachable();
}

void sim_warn(const char *file, int line, const char *func)
{
	fprintf(stderr, "schedsim: kernel WARNING at %s:%d in %s()\n", file, line, func);
	end_failed();
}

void sim_stub(const char *symbol)
{
	fprintf(stderr, "schedsim: the kernel called %s(), which the engine answers with a stub\n",
		symbol);
	end_failed();
	__builtin_unreachable();
}

void sim_lock_imbalance(void *lock)
{
	(void)lock;
	sim_die("unlock of a lock that is not held", "spinlock", 0);
}

void sim_log(const char *text, unsigned long len)
{
	if (verbose)
		fprintf(stderr, "[%5llu.%06llu] %.*s%s", sim.clk / SEC, sim.clk % SEC / 1000,
			(int)len, text, len && text[len - 1] == '\n' ? "" : "\n");
}

void usage_error(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "schedsim: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

/* Where a signal hit. */
#if defined(__x86_64__)
static void *ip_of(void *context)
{
	return (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static void **frame_of(void *context)
{
	return (void **)((ucontext_t *)context)->uc_mcontext.gregs[REG_RBP];
}
#else
static void *ip_of(void *context)
{
	return (void *)((ucontext_t *)context)->uc_mcontext.pc;
}

static void **frame_of(void *context)
{
	return (void **)((ucontext_t *)context)->uc_mcontext.regs[29];
}
#endif

/* Every host second: has anything happened, and is there time left? */
static void watchdog(int sig, siginfo_t *info, void *context)
{
	static int quiet;

	(void)sig;
	(void)info;
	host_elapsed += 1;
	quiet = sim_events == watched_events ? quiet + 1 : 0;
	watched_events = sim_events;
	if (quiet >= HANG_SECONDS) {
		fprintf(stderr, "schedsim: no event for %d s of host time: a loop in kernel code?\n",
			HANG_SECONDS);
		where(frame_of(context), ip_of(context));
		_exit(3);
	}
	if (host_limit && host_elapsed >= host_limit) {
		fprintf(stderr, "schedsim: the bound of %g s of host time is reached; simulated time moves at %.6f s so far\n",
			host_limit, (double)sim.clk / SEC);
		where(frame_of(context), ip_of(context));
		_exit(4);
	}
}

static void crashed(int sig, siginfo_t *info, void *context)
{
	fprintf(stderr, "schedsim: signal %d (%s) at address %p\n", sig, strsignal(sig), info->si_addr);
	where(frame_of(context), ip_of(context));
	_exit(3);
}

void fail_init(double host_seconds)
{
	struct itimerval second = { { 1, 0 }, { 1, 0 } };
	static char stack[65536];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_sigaction = watchdog,
				 .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO };

	host_limit = host_seconds;
	sigaltstack(&alt, NULL);
	sigaction(SIGALRM, &act, NULL);
	act.sa_sigaction = crashed;
#ifndef SIM_SANITIZE
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
#endif
	sigaction(SIGILL, &act, NULL);
	setitimer(ITIMER_REAL, &second, NULL);
}
