// SPDX-License-Identifier: GPL-2.0-only
/* The thermal core: a zone with one passive trip, and its governor. */
#include "shim.h"
#include "thermal.h"
#define CREATE_TRACE_POINTS
#ifdef TREE_HAS_THERMAL_TRIPS
#include "thermal_trace.h"

/* The core sees to hysteresis and to who throttles, the governor to the devices. */
struct thermal_zone_device *shim_thermal_zone(void)
{
	struct thermal_zone_device *zone = hw_zalloc(struct_size(zone, trips, 1), 64);
	struct thermal_trip_desc *td = &zone->trips[0];

	zone->governor = __governor_thermal_table[0];
	zone->num_trips = 1;
	td->trip.type = THERMAL_TRIP_PASSIVE;
	td->trip.temperature = td->threshold = hw_thermal.trip;
	td->trip.hysteresis = hw_thermal.hysteresis;
	INIT_LIST_HEAD(&td->thermal_instances);
	return zone;
}

void shim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
	instance->trip = &zone->trips[0].trip;
	list_add_tail(&instance->trip_node, &zone->trips[0].thermal_instances);
}

int thermal_zone_trip_id(const struct thermal_zone_device *zone, const struct thermal_trip *trip)
{
	return trip_to_trip_desc(trip) - zone->trips;
}

/* handle_thermal_trip(): once above the trip, it ends below the hysteresis. */
static void cross(struct thermal_zone_device *zone, struct thermal_trip_desc *td)
{
	if (zone->passive && zone->temperature < td->threshold) {
		zone->passive = 0;
		td->threshold = td->trip.temperature;
	} else if (!zone->passive && zone->temperature >= td->threshold) {
		zone->passive = 1;
		td->threshold = td->trip.temperature - td->trip.hysteresis;
	}
}

void shim_thermal_manage(struct thermal_zone_device *zone)
{
	trace_thermal_temperature(zone);
	cross(zone, &zone->trips[0]);
	zone->governor->manage(zone);
}
#else
#include <trace/events/thermal.h>

/* Trips by number, asked for one by one; the governor counts who throttles. */
static int get_trip_type(struct thermal_zone_device *zone, int trip, enum thermal_trip_type *type)
{
	*type = THERMAL_TRIP_PASSIVE;
	return 0;
}

static int get_trip_temp(struct thermal_zone_device *zone, int trip, int *temperature)
{
	*temperature = hw_thermal.trip;
	return 0;
}

struct thermal_zone_device *shim_thermal_zone(void)
{
	static struct thermal_zone_device_ops ops = {
		.get_trip_type	= get_trip_type,
		.get_trip_temp	= get_trip_temp,
	};
	struct thermal_zone_device *zone = hw_zalloc(sizeof(*zone), 64);

	zone->ops = &ops;
	zone->governor = __governor_thermal_table[0];
	INIT_LIST_HEAD(&zone->thermal_instances);
	return zone;
}

void shim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
	instance->tz = zone;
	list_add_tail(&instance->tz_node, &zone->thermal_instances);
}

void shim_thermal_manage(struct thermal_zone_device *zone)
{
	trace_thermal_temperature(zone);
	zone->governor->throttle(zone, 0);
}
#endif
