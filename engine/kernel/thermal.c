// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thermal zone all CPUs are in, under the kernel's own step_wise governor: a kworker looks
 * at the temperature, and every frequency domain is a cooling device whose states are its
 * operating points, the highest first (drivers/thermal/cpufreq_cooling.c).
 */
#include <linux/thermal.h>
#include "shim.h"
#include "thermal.h"

struct cooling {
	struct thermal_cooling_device cdev;
	int domain;
	unsigned long state;
};

static unsigned long max_state(const struct cooling *cooling)
{
	return hw_freq_domains[cooling->domain].nr_opps - 1;
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
	shim_cap_frequency(cooling->domain, max_state(cooling) - state);
	return 0;
}

static const struct thermal_cooling_device_ops cooling_ops = {
	.get_max_state	= get_max_state,
	.get_cur_state	= get_cur_state,
	.set_cur_state	= set_cur_state,
};

static void bind_domain(struct thermal_zone_device *zone, int domain)
{
	struct cooling *cooling = hw_zalloc(sizeof(*cooling), 64);
	struct thermal_instance *instance = hw_zalloc(sizeof(*instance), 64);

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
	shim_thermal_bind(zone, instance);
}

/* thermal_zone_device_update() and monitor_thermal_zone() */
static void watch(void *arg)
{
	struct thermal_zone_device *zone = arg;

	for (;;) {
		unsigned int delay = zone->passive ? hw_thermal.passive_ms : hw_thermal.polling_ms;

		set_current_state(TASK_IDLE);
		schedule_timeout(msecs_to_jiffies(delay));
		mutex_lock(&zone->lock);
		zone->last_temperature = zone->temperature;
		zone->temperature = hw_temperature();
		shim_thermal_manage(zone);
		mutex_unlock(&zone->lock);
	}
}

void shim_setup_thermal(void)
{
	struct thermal_zone_device *zone;
	int domain;

	if (!hw_thermal.resistance)
		return;
	zone = shim_thermal_zone();
	strscpy(zone->type, "cpu", sizeof(zone->type));
	mutex_init(&zone->lock);
	zone->temperature = hw_temperature();
	for (domain = 0; domain < hw_nr_freq_domains; domain++)
		bind_domain(zone, domain);
	wake_up_new_task(shim_kthread_create(watch, zone, 0, "kworker/0:1"));
}
