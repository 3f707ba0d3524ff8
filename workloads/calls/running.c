// SPDX-License-Identifier: GPL-2.0-only
/* The running workload: its options, its warm-up, its measured part and its results. */
#include <stdarg.h>
#include <stdio.h>
#include "world.h"

void wl_refuse(const char *fmt, ...)
{
	char text[1000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	wl_refused(text);
}

#ifdef SIMULATED

long long wl_option(const char *name)
{
	return wl_value(&instance_running()->values, name);
}

const char *wl_text(const char *name)
{
	return wl_value_text(&instance_running()->values, name);
}

void *wl_prepared(void)
{
	return instance_running()->prepared;
}

void wl_refused(const char *text)
{
	hw_refuse("workload %s: %s", instance_running()->label, text);
}

int wl_warming(void)
{
	instance_running()->warms_up = 1;
	return !instances_warm;
}

int wl_warm_up(void)
{
	int slept = 0;

	for (; wl_warming(); slept = 1)
		kern_sleep(kern_load_half_life);
	return slept;
}

void wl_begin(void)
{
	struct instance *instance = instance_running();

	instance->began = kern_now();
	instance->in_window = instance->measures;
	if (instance->in_window)
		results_window_begin();
}

void wl_end(void)
{
	instance_running()->ended = kern_now();
}

double wl_elapsed(void)
{
	const struct instance *instance = instance_running();

	return ((instance->ended ? instance->ended : kern_now()) - instance->began) / 1e9;
}

void wl_result(const char *name, double value, const char *unit)
{
	json_array_append_new(instance_running()->results, json_pack("{s:s, s:f, s:s}", "name", name,
						    "value", value, "unit", unit));
}

#else /* on this host */

void wl_refused(const char *text)
{
	fail("%s", text);
}

static int index_of(const char *name)
{
	int i = wl_option_index(running, name);

	if (i < 0)
		fail("option %s is not in the workload's table", name);
	return i;
}

long long wl_option(const char *name)
{
	return arena->number[index_of(name)];
}

const char *wl_text(const char *name)
{
	return arena->text[index_of(name)];
}

void *wl_prepared(void)
{
	return arena->prepared;
}

int wl_warming(void)
{
	return 0;
}

int wl_warm_up(void)
{
	return 0;
}

void wl_begin(void)
{
	arena->began = wl_now();
}

void wl_end(void)
{
	arena->ended = wl_now();
}

double wl_elapsed(void)
{
	return ((arena->ended ? arena->ended : wl_now()) - arena->began) / 1e9;
}

void wl_result(const char *name, double value, const char *unit)
{
	struct result *r = wl_new(struct result, 1);

	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->unit, sizeof(r->unit), "%s", unit);
	r->value = value;
	if (arena->last_result)
		arena->last_result->next = r;
	else
		arena->results = r;
	arena->last_result = r;
}
#endif
