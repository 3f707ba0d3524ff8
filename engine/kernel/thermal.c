// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thermal zone all CPUs are in, under the kernel's own step_wise governor: a kworker looks
 * at the temperature, and every frequency domain is a cooling device whose states are its
 * operating points, the highest first (drivers/thermal/cpufreq_cooling.c).
 */
#include <linux/thermal.h>
#include "sim.h"
#include "thermal.h"

struct cooling {
	struct thermal_cooling_device cdev;
	int domain;
	unsigned long state;
};

static unsigned long max_state(const struct cooling *cooling)
{
	return sim_freq_domains[cooling->domain].nr_opps - 1;
}

static int get_max_state(struct thermal_cooling_device *cdev, unsigned long *state)
{
	*state = max_state(cdev->devdata);
	return 0;
}

static int get_cur_state(struct thermal_cooling_device *cdev, unsigned long *state)
{
	const struct cooling *cooling = cdev->devdata;

	*state = cooling->state;
	return 0;
}

static int set_cur_state(struct thermal_cooling_device *cdev, unsigned long state)
{
	struct cooling *cooling = cdev->devdata;

	if (state == cooling->state)
		return 0;
	cooling->state = state;
	sim_cap_frequency(cooling->domain, max_state(cooling) - state);
	return 0;
}

static const struct thermal_cooling_device_ops cooling_ops = {
	.get_max_state	= get_max_state,
	.get_cur_state	= get_cur_state,
	.set_cur_state	= set_cur_state,
};

static void bind_domain(struct thermal_zone_device *zone, int domain)
{
	struct cooling *cooling = sim_zalloc(sizeof(*cooling), 64);
	struct thermal_instance *instance = sim_zalloc(sizeof(*instance), 64);

	cooling->domain = domain;
	cooling->cdev.id = domain;
	cooling->cdev.type = "cpufreq";
	cooling->cdev.devdata = cooling;
	cooling->cdev.ops = &cooling_ops;
	mutex_init(&cooling->cdev.lock);
	INIT_LIST_HEAD(&cooling->cdev.thermal_instances);
	instance->cdev = &cooling->cdev;
	instance->upper = max_state(cooling);
	instance->target = THERMAL_NO_TARGET;
	list_add_tail(&instance->cdev_node, &cooling->cdev.thermal_instances);
	sim_thermal_bind(zone, instance);
}

/* thermal_zone_device_update() and monitor_thermal_zone() */
static void watch(void *arg)
{
	struct thermal_zone_device *zone = arg;

	for (;;) {
		unsigned int delay = zone->passive ? sim_thermal.passive_ms : sim_thermal.polling_ms;

		set_current_state(TASK_IDLE);
		schedule_timeout(msecs_to_jiffies(delay));
		mutex_lock(&zone->lock);
		zone->last_temperature = zone->temperature;
		zone->temperature = sim_temperature();
		sim_thermal_manage(zone);
		mutex_unlock(&zone->lock);
	}
}

void sim_setup_thermal(void)
{
	struct thermal_zone_device *zone;
	int domain;

	if (!sim_thermal.resistance)
		return;
	zone = sim_thermal_zone();
	strscpy(zone->type, "cpu", sizeof(zone->type));
	mutex_init(&zone->lock);
	zone->temperature = sim_temperature();
	for (domain = 0; domain < sim_nr_freq_domains; domain++)
		bind_domain(zone, domain);
	wake_up_new_task(sim_kthread_create(watch, zone, 0, "kworker/0:1"));
}
