// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a machine does besides its load: daemons that wake by their timers, and every CPU's kworker.
 */
#include "json.h"
#include "run.h"

static struct {
	int		daemons;
	double		wakeups, per_cpu;	/* a second: of all daemons together, of each CPU */
	simtime		run;			/* what a wakeup takes */
} background = { .daemons = -1 };

void background_read(json_t *machine)
{
	json_t *obj = json_object_get(machine, "background");
	const struct path *at = AT(NULL, "background");

	if (!obj)
		return;
	json_only(obj, at, "daemons", "wakeups", "per_cpu", "run", NULL);
	background.daemons = json_int(json_need(obj, at, "daemons"), AT(at, "daemons"), 0, 100000);
	background.wakeups = json_num(json_need(obj, at, "wakeups"), AT(at, "wakeups"), 0, 1e6);
	background.per_cpu = json_num(json_need(obj, at, "per_cpu"), AT(at, "per_cpu"), 0, 1000);
	background.run = json_time_up_to(json_need(obj, at, "run"), AT(at, "run"), SEC);
	if (background.wakeups > 0 && !background.daemons)
		json_error_at(AT(at, "wakeups"), "there is no daemon to wake");
	if (background.wakeups > 0 && background.daemons / background.wakeups > 3600)
		json_error_at(AT(at, "wakeups"), "a daemon would sleep for more than an hour");
}

/* The services' timers are independent of each other: together they wake at irregular times. */
static void daemon_main(struct kern_task *task)
{
	simtime period = background.daemons * (double)SEC / background.wakeups;
	unsigned long long rng = hw_random();

	(void)task;
	kern_sleep(hw_random_of(&rng) % (period + 1));
	for (;;) {
		kern_run(background.run);
		kern_sleep(period / 2 + hw_random_of(&rng) % (period + 1));
	}
}

void background_start(void)
{
	if (background.daemons < 0)
		hw_refuse("scenario: background: the machine does not say what runs besides; its file has no [background]");
	for (int i = 0; background.wakeups > 0 && i < background.daemons; i++)
		task_launch("daemon", 0, daemon_main, NULL);
	if (background.per_cpu > 0)
		kern_start_housekeeping(SEC / background.per_cpu, background.run);
}
