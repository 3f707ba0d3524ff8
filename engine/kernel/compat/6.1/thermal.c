// SPDX-License-Identifier: GPL-2.0-only
/* 6.1's thermal core: trips by number, asked for one by one; the governor counts who throttles. */
#include "../../sim.h"
#include "../../thermal.h"
#define CREATE_TRACE_POINTS
#include <trace/events/thermal.h>

static int get_trip_type(struct thermal_zone_device *zone, int trip, enum thermal_trip_type *type)
{
	*type = THERMAL_TRIP_PASSIVE;
	return 0;
}

static int get_trip_temp(struct thermal_zone_device *zone, int trip, int *temperature)
{
	*temperature = sim_thermal.trip;
	return 0;
}

struct thermal_zone_device *sim_thermal_zone(void)
{
	static struct thermal_zone_device_ops ops = {
		.get_trip_type	= get_trip_type,
		.get_trip_temp	= get_trip_temp,
	};
	struct thermal_zone_device *zone = sim_zalloc(sizeof(*zone), 64);

	zone->ops = &ops;
	zone->governor = __governor_thermal_table[0];
	INIT_LIST_HEAD(&zone->thermal_instances);
	return zone;
}

void sim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
	instance->tz = zone;
	list_add_tail(&instance->tz_node, &zone->thermal_instances);
}

void sim_thermal_manage(struct thermal_zone_device *zone)
{
	trace_thermal_temperature(zone);
	zone->governor->throttle(zone, 0);
}
