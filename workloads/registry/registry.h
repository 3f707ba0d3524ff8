/* SPDX-License-Identifier: GPL-2.0-only */
/* Which workloads there are, the values of their options, and what their programs take. */
#ifndef WORKLOADS_REGISTRY_H
#define WORKLOADS_REGISTRY_H

#include "../workload.h"

/* The linker's. */
extern const struct workload *const __start_workloads[], *const __stop_workloads[];
#define for_each_workload(w) \
	for (const struct workload *const *w = __start_workloads; w < __stop_workloads; w++)

/* options.c */
#define WL_MAX_OPTIONS 24

struct wl_values {
	const struct workload *workload;
	long long	number[WL_MAX_OPTIONS];
	const char	*text[WL_MAX_OPTIONS];
};
const struct workload *wl_find(const char *name);
void wl_values_init(struct wl_values *values, const struct workload *workload);
int wl_option_index(const struct workload *workload, const char *name);		/* or -1 */
/* 0, or -1 with the reason in why */
int wl_value_parse(struct wl_values *values, int index, const char *text, char *why, unsigned long size);
long long wl_value(const struct wl_values *values, const char *name);
const char *wl_value_text(const struct wl_values *values, const char *name);

/* figures.c */
struct json_t;
void figures_read(struct json_t *machine);	/* simulated: what programs take on this machine */

#endif
