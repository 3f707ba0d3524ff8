// SPDX-License-Identifier: GPL-2.0-only
/* Time, sleeping, and work. */
#include "instance.h"

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

void wl_memory_share(int percent)
{
	self()->memory_share = percent * 1024 / 100;
}
