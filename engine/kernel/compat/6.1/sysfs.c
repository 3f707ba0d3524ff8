// SPDX-License-Identifier: GPL-2.0-only
/* cpuidle's attributes that belong to no CPU. */
#include <linux/cpuidle.h>
#include <linux/device.h>
#include <../drivers/cpuidle/cpuidle.h>
#include "../../sim.h"

int sim_add_cpuidle_interface(void)
{
	return cpuidle_add_interface(&sim_cpu_root);
}
