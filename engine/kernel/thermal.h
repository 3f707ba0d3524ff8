/* SPDX-License-Identifier: GPL-2.0-only */
/* The thermal core as far as a zone with one passive trip needs it; thermal_core.c. */
#ifndef SHIM_KERNEL_THERMAL_H
#define SHIM_KERNEL_THERMAL_H

#include "thermal_core.h"

extern struct thermal_governor *__governor_thermal_table[];

struct thermal_zone_device *shim_thermal_zone(void);
void shim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance);
void shim_thermal_manage(struct thermal_zone_device *zone);	/* at a new temperature */

#endif
