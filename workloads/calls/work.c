// SPDX-License-Identifier: GPL-2.0-only
/* Time, sleeping, and work. */
#include "world.h"

#ifdef SIMULATED

unsigned long long wl_now(void)
{
	kern_run(hw_costs.clock_read);
	return kern_now();
}

void wl_alarm(unsigned long long ns)
{
	self()->alarm = kern_now() + ns;
}

int wl_alarm_rang(void)
{
	return kern_now() >= self()->alarm;
}

void wl_run(unsigned long long ns)
{
	kern_run(ns);
}

void wl_cycles(unsigned long long n)
{
	kern_run(n * 1000000 / hw_machine.core_khz);
}

void wl_divide(unsigned long long n)
{
	kern_run(n * hw_costs.divide_per_1000 / 1000);
}

void wl_spin(unsigned long long ns)
{
	kern_run_clock(ns);
}

void wl_relax(void)
{
	kern_run_clock(hw_costs.spin);
}

void wl_sleep(unsigned long long ns)
{
	kern_sleep(ns);
}

void wl_sleep_until(unsigned long long time)
{
	kern_sleep_until(time);
}

void wl_yield(void)
{
	kern_yield();
}

void wl_syscall(void)
{
	kern_syscall(NULL);
}

void wl_footprint(unsigned long bytes)
{
	self()->footprint_kb = bytes >> 10;
}

#else /* on this host */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LINE	64
#define BURST	64		/* turns of the loop to one line of the footprint */
/* Of a turn: a multiplication's three and an addition's one, as measured on Zen 4. */
#define CYCLES	4

unsigned long long wl_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * WL_SEC + t.tv_nsec;
}

static volatile sig_atomic_t alarm_rang;

static void on_alarm(int signal)
{
	(void)signal;
	alarm_rang = 1;
}

void wl_alarm(unsigned long long ns)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval timer = { .it_value = { ns / WL_SEC, ns % WL_SEC / WL_USEC } };

	alarm_rang = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

int wl_alarm_rang(void)
{
	return alarm_rang;
}

/* A chain of multiplications, going on from x: one after the other on every CPU. */
static unsigned long turn(unsigned long x, unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r" (x));
	}
	return x;
}

double work_measure(double seconds)
{
	const unsigned long turns = 1 << 16;
	unsigned long long start = wl_now(), best = WL_NEVER;

	while (wl_now() - start < seconds * WL_SEC) {
		unsigned long long before = wl_now(), took;

		turn(turns, turns);
		took = wl_now() - before;
		if (took < best)
			best = took;
	}
	return (double)turns / best;
}

/* The task's own memory, walked through along with its work. */
static unsigned char *footprint(struct wl_task *me)
{
	static __thread unsigned char *memory;
	static __thread unsigned long size;

	if (size != me->footprint) {
		free(memory);
		size = me->footprint;
		memory = size ? calloc(1, size) : NULL;
		if (size && !memory)
			fail("no memory for a footprint of %lu bytes", size);
	}
	return memory;
}

static void work(unsigned long turns)
{
	struct wl_task *me = wl_self();
	unsigned long x = turns;
	unsigned char *memory;

	if (!me->footprint) {
		turn(x, turns);
		return;
	}
	memory = footprint(me);
	for (unsigned long done = 0; done < turns; done += BURST) {
		x = turn(x, BURST);
		memory[me->position]++;
		me->position += LINE;
		if (me->position >= me->footprint)
			me->position = 0;
	}
}

void wl_run(unsigned long long ns)
{
	work(ns * arena->iterations_per_ns);
}

void wl_cycles(unsigned long long n)
{
	work(n / CYCLES);
}

/*
 * As in a search for primes: of a number of some thousands, by one after the other up to its root.
 */
void wl_divide(unsigned long long n)
{
	unsigned long number = 9973, sum = 0;

	while (n)
		for (unsigned long divisor = 2; divisor < 100 && n; divisor++, n--) {
			sum += number % divisor;
			__asm__ volatile("" : "+r" (sum));
		}
}

void wl_footprint(unsigned long bytes)
{
	wl_self()->footprint = bytes;
	wl_self()->position = 0;
}

void wl_spin(unsigned long long ns)
{
	unsigned long long end = wl_now() + ns;

	while (wl_now() < end)
		;
}

void wl_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void wl_sleep_until(unsigned long long time)
{
	struct timespec t = { time / WL_SEC, time % WL_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void wl_sleep(unsigned long long ns)
{
	struct timespec t = { ns / WL_SEC, ns % WL_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

void wl_yield(void)
{
	sched_yield();
}

void wl_syscall(void)
{
	syscall(SYS_getppid);
}
#endif
