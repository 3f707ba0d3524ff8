// SPDX-License-Identifier: GPL-2.0-only
/* Ends of a run that went wrong: kernel warnings, broken invariants, loops that hang the host. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "inside.h"

#define NEAR_NULL	4096	/* a member of a structure at address 0 */
#define HANG_SECONDS	10	/* of CPU time without any event or progress of the boot */

int hw_verbose;
static unsigned long steps, watched;
static double host_limit, host_elapsed;

void hw_progress(void)
{
	steps++;
}

/*
 * Frame pointers are kept everywhere; a coroutine's chain ends with a null.  What calls
 * the first kern_*() is the task's own program, or the engine's loop.
 */
static void backtrace(void **frame, const void *ip, const char *caller)
{
	int in_kernel = 1;

	for (int i = 0; i < MOST_FRAMES; i++) {
		unsigned long offset = 0;
		const char *name;

		if (ip) {
			name = symbol_of(ip, &offset);
			if (name)
				fprintf(stderr, "    %s+0x%lx\n", name, offset);
			else
				fprintf(stderr, "    %p\n", ip);
			if (in_kernel && name && !strncmp(name, "kern_", 5)) {
				fprintf(stderr, "  called by %s:\n", caller);
				in_kernel = 0;
			}
		}
		if (!to_caller(&frame, &ip))
			break;
	}
}

static const char *task_name(const struct hw_task *task)
{
	static char text[40];

	if (!task || !task->pid)
		return "the idle task";
	snprintf(text, sizeof(text), "task %s/%d", task->comm, task->pid);
	return text;
}

static void stopped_backtrace(void *sp, const char *caller)
{
	void *ip, **frame = hw_co_frame(sp, &ip);

	backtrace(frame, ip, caller);
}

/* Where the host is, in the kernel and in the task, and where the coroutine that resumed it is. */
static void where(void **frame, void *ip)
{
	const struct cpu *c = &cpus[hw.cpu];
	void *resumer;
	int cpu;

	fprintf(stderr, "  simulated time %llu.%09llu s, CPU %d, %s, interrupts %s, %d locks held\n",
		hw.clk / SEC, hw.clk % SEC, hw.cpu, task_name(c->task),
		hw.irq_on ? "on" : "off", hw.held);
	fprintf(stderr, "  in the kernel:\n");
	backtrace(frame, ip, task_name(c->task));
	resumer = cpu_resumer(&cpu);
	if (!resumer)
		return;
	if (cpu < 0)
		fprintf(stderr, "  resumed by the engine's loop:\n");
	else
		fprintf(stderr, "  resumed by CPU %d, %s:\n", cpu, task_name(cpus[cpu].task));
	stopped_backtrace(resumer, cpu < 0 ? "the engine's loop" : task_name(cpus[cpu].task));
}

static void end_failed(void)
{
	where(__builtin_frame_address(0), NULL);
	exit(3);
}

void hw_die(const char *what, const char *file, int line)
{
	fprintf(stderr, "schedsim: %s (%s:%d)\n", what, file, line);
	end_failed();
	__builtin_unreachable();
}

/* A check of the engine's own loop failed about a CPU, or about a task with a stopped stack. */
void hw_die_about(const char *what, int cpu, const char *task, void *sp)
{
	const struct cpu *c = &cpus[cpu];

	fprintf(stderr, "schedsim: %s\n", what);
	fprintf(stderr, "  simulated time %llu.%09llu s\n  found by:\n", hw.clk / SEC, hw.clk % SEC);
	backtrace(__builtin_frame_address(0), NULL, "the engine's loop");
	if (sp)
		fprintf(stderr, "  task %s is stopped in the kernel:\n", task);
	else
		fprintf(stderr, "  CPU %d runs %s, in the kernel:\n", cpu, task_name(c->task));
	if (sp || c->sp)
		stopped_backtrace(sp ? sp : c->sp, sp ? "the task" : task_name(c->task));
	exit(3);
}

void hw_bug(const char *file, int line, const char *func)
{
	fprintf(stderr, "schedsim: kernel BUG at %s:%d in %s()\n", file, line, func);
	end_failed();
	__builtin_unreachable();
}

static const char *survived;

void hw_survives_warning(const char *func)
{
	survived = func;
}

void hw_warn(const char *file, int line, const char *func)
{
	if (survived && !strcmp(func, survived))
		return;
	fprintf(stderr, "schedsim: kernel WARNING at %s:%d in %s()\n", file, line, func);
	end_failed();
}

void hw_stub(const char *symbol)
{
	fprintf(stderr, "schedsim: the kernel called %s(), which the engine answers with a stub\n",
		symbol);
	end_failed();
	__builtin_unreachable();
}

void hw_end_run(const char *why, const char *more)
{
	fprintf(stderr, "schedsim: %s\n", why);
	if (more && *more)
		fprintf(stderr, "%s\n", more);
	end_failed();
	__builtin_unreachable();
}

void hw_end_in_scheduler(const char *why)
{
	char place[400];

	scheduler_place(__builtin_frame_address(0), NULL, place, sizeof(place));
	fprintf(stderr, "schedsim: %s%s\n", why, place);
	end_failed();
	__builtin_unreachable();
}

void hw_end_in_fork(const char *comm, int error)
{
	fprintf(stderr, "schedsim: sched_ext: init_task() of the scheduler refuses a task that %s forks: %s\n",
		comm, strerror(-error));
	end_failed();
	__builtin_unreachable();
}

void hw_lock_imbalance(void *lock)
{
	(void)lock;
	hw_die("unlock of a lock that is not held", "spinlock", 0);
}

void hw_log(const char *text, unsigned long len)
{
	if (hw_verbose)
		fprintf(stderr, "[%5llu.%06llu] %.*s%s", hw.clk / SEC, hw.clk % SEC / 1000,
			(int)len, text, len && text[len - 1] == '\n' ? "" : "\n");
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

/* Of a function that has just been called. */
static void *caller_of(void *context)
{
	return *(void **)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
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

static void *caller_of(void *context)
{
	return (void *)((ucontext_t *)context)->uc_mcontext.regs[30];
}
#endif

/* The process's own time counts: on a busy host it may wait without being in an endless loop. */
static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Every host second: has anything happened, and is there time left? */
static void watchdog(int sig, siginfo_t *info, void *context)
{
	static double quiet_since;

	(void)sig;
	(void)info;
	host_elapsed += 1;
	if (events + steps != watched || !quiet_since) {
		watched = events + steps;
		quiet_since = cpu_seconds();
	}
	if (cpu_seconds() - quiet_since >= HANG_SECONDS) {
		char place[400];

		scheduler_place(frame_of(context), ip_of(context), place, sizeof(place));
		if (*place)
			fprintf(stderr, "schedsim: the scheduler loops for ever%s: no event for %d s of CPU time\n",
				place, HANG_SECONDS);
		else
			fprintf(stderr, "schedsim: no event for %d s of CPU time: a loop in kernel code?\n",
				HANG_SECONDS);
		where(frame_of(context), ip_of(context));
		_exit(3);
	}
	if (host_limit && host_elapsed >= host_limit) {
		fprintf(stderr, "schedsim: the bound of %g s of host time is reached, at %.6f s of simulated time\n",
			host_limit, (double)hw.clk / SEC);
		where(frame_of(context), ip_of(context));
		_exit(4);
	}
}

static const char *user_of(const void *ip)
{
	return in_scheduler(ip) ? "the scheduler" : "what the scheduler calls";
}

static void crashed(int sig, siginfo_t *info, void *context)
{
	const char *ip = ip_of(context);
	int is_call = sig == SIGSEGV && ip == info->si_addr;
	char place[400];

	if (sig == SIGFPE && divided_by_zero(context))
		return;
	if (is_call)
		ip = (const char *)caller_of(context) - 1;
	scheduler_place(frame_of(context), ip, place, sizeof(place));
	if (is_call && *place && info->si_addr)
		fprintf(stderr, "schedsim: the scheduler calls address %p, where no function is%s\n", info->si_addr, place);
	else if (is_call && *place)
		fprintf(stderr, "schedsim: the scheduler calls %s%s\n", calls_by_name(ip) ?
			"a kfunc that this kernel does not have" : "a NULL pointer", place);
	else if (sig == SIGILL && in_scheduler(ip))
		fprintf(stderr, "schedsim: the scheduler comes to a place that it says is never reached"
			" (__builtin_unreachable() or __builtin_trap())%s\n", place);
	else if (*place && info->si_code == SI_KERNEL)	/* whose address the host does not say */
		fprintf(stderr, "schedsim: %s uses a wild pointer%s\n", user_of(ip), place);
	else if (*place && sig == SIGSEGV && is_frozen(info->si_addr))
		fprintf(stderr, "schedsim: %s writes to a constant, which a kernel has made read-only%s\n", user_of(ip), place);
	else if (*place && (sig == SIGSEGV || sig == SIGBUS))
		fprintf(stderr, "schedsim: %s uses %s%p%s\n", user_of(ip), (unsigned long)info->si_addr < NEAR_NULL ?
			"a NULL pointer, address " : "the unmapped address ", info->si_addr, place);
	else
		fprintf(stderr, "schedsim: signal %d (%s) at address %p%s\n", sig, strsignal(sig), info->si_addr, place);
	where(frame_of(context), (void *)ip);
	_exit(3);
}

void hw_fail_after(double host_seconds)
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
#ifndef ENGINE_SANITIZE
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGFPE, &act, NULL);
#endif
	sigaction(SIGILL, &act, NULL);
	setitimer(ITIMER_REAL, &second, NULL);
}
