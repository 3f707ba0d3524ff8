// SPDX-License-Identifier: GPL-2.0-only
/* cpuidle's attributes that belong to no CPU. */
#include <linux/cpuidle.h>
#include <linux/device.h>
#include <../drivers/cpuidle/cpuidle.h>
#include "../../sim.h"

const struct bus_type cpu_subsys;

struct device *bus_get_dev_root(const struct bus_type *bus)
{
	return &sim_cpu_root;
}

int sim_add_cpuidle_interface(void)
{
	return cpuidle_add_interface();
}
