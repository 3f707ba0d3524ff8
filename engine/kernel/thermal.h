/* SPDX-License-Identifier: GPL-2.0-only */
/* The thermal core as far as a zone with one passive trip needs it; thermal_core.c. */
#ifndef SIM_KERNEL_THERMAL_H
#define SIM_KERNEL_THERMAL_H

#include "thermal_core.h"

extern struct thermal_governor *__governor_thermal_table[];

struct thermal_zone_device *sim_thermal_zone(void);
void sim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance);
void sim_thermal_manage(struct thermal_zone_device *zone);	/* at a new temperature */

#endif
