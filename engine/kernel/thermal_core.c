// SPDX-License-Identifier: GPL-2.0-only
/* The thermal core: a zone with one passive trip, and its governor. */
#include "shim.h"
#include "thermal.h"
#define CREATE_TRACE_POINTS
#ifdef TREE_HAS_THERMAL_TRACE
#include "thermal_trace.h"
#else
#include <trace/events/thermal.h>
#endif

static void bind_to_zone(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
#ifdef TREE_HAS_THERMAL_TZ_NODE
	instance->tz = zone;
	list_add_tail(&instance->tz_node, &zone->thermal_instances);
#endif
}

#ifdef TREE_HAS_THERMAL_TRIPS
/* The core handles hysteresis and which trips throttle, the governor the devices. */
struct thermal_zone_device *shim_thermal_zone(void)
{
	struct thermal_zone_device *zone = hw_zalloc(struct_size(zone, trips, 1), 64);
	struct thermal_trip_desc *td = &zone->trips[0];

	zone->governor = __governor_thermal_table[0];
	zone->num_trips = 1;
	td->trip.type = THERMAL_TRIP_PASSIVE;
	td->trip.temperature = td->threshold = hw_thermal.trip;
	td->trip.hysteresis = hw_thermal.hysteresis;
#ifdef TREE_HAS_THERMAL_TZ_NODE
	INIT_LIST_HEAD(&zone->thermal_instances);
#else
	INIT_LIST_HEAD(&td->thermal_instances);
#endif
	return zone;
}

void shim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
	instance->trip = &zone->trips[0].trip;
	bind_to_zone(zone, instance);
#ifndef TREE_HAS_THERMAL_TZ_NODE
	list_add_tail(&instance->trip_node, &zone->trips[0].thermal_instances);
#endif
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

/* The governor counts the throttling devices; it is called for each trip, by number or place. */
#ifdef TREE_HAS_THERMAL_TRIP_OPS
static int get_trip_type(struct thermal_zone_device *tz, int trip, enum thermal_trip_type *type)
{
	*type = tz->trips[trip].type;
	return 0;
}

static int get_trip_temp(struct thermal_zone_device *tz, int trip, int *temperature)
{
	*temperature = tz->trips[trip].temperature;
	return 0;
}
#endif

int __thermal_zone_get_trip(struct thermal_zone_device *tz, int trip_id, struct thermal_trip *trip)
{
	*trip = tz->trips[trip_id];
	return 0;
}

#ifdef TREE_HAS_THERMAL_TRIP_BY_PLACE
#ifdef TREE_HAS_THERMAL_TRIP_ID_CONST
int thermal_zone_trip_id(const struct thermal_zone_device *tz, const struct thermal_trip *trip)
#else
int thermal_zone_trip_id(struct thermal_zone_device *tz, const struct thermal_trip *trip)
#endif
{
	return trip - tz->trips;
}
#endif

struct thermal_zone_device *shim_thermal_zone(void)
{
	struct thermal_zone_device *zone = hw_zalloc(sizeof(*zone) + sizeof(zone->trips[0]), 64);
#ifdef TREE_HAS_THERMAL_TRIP_OPS
	static struct thermal_zone_device_ops ops = {
		.get_trip_type	= get_trip_type,
		.get_trip_temp	= get_trip_temp,
	};

	zone->ops = &ops;
#endif
#ifdef TREE_HAS_THERMAL_TRIPS_APART
	zone->trips = (struct thermal_trip *)(zone + 1);
#endif
	zone->trips[0].type = THERMAL_TRIP_PASSIVE;
	zone->trips[0].temperature = hw_thermal.trip;
	zone->num_trips = 1;
	zone->governor = __governor_thermal_table[0];
	INIT_LIST_HEAD(&zone->thermal_instances);
	return zone;
}

void shim_thermal_bind(struct thermal_zone_device *zone, struct thermal_instance *instance)
{
#ifdef TREE_HAS_THERMAL_TRIP_POINTER
	instance->trip = &zone->trips[0];
#endif
	bind_to_zone(zone, instance);
}

void shim_thermal_manage(struct thermal_zone_device *zone)
{
	trace_thermal_temperature(zone);
#ifdef TREE_HAS_THERMAL_TRIP_BY_PLACE
	zone->governor->throttle(zone, &zone->trips[0]);
#else
	zone->governor->throttle(zone, 0);
#endif
}
#endif
