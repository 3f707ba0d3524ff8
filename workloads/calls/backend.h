/* SPDX-License-Identifier: GPL-2.0-only */
/* What the calls share, whichever of the two worlds they are compiled for. */
#ifndef WORKLOAD_BACKEND_H
#define WORKLOAD_BACKEND_H

#include "../workload.h"

/* The linker's. */
extern const struct workload *const __start_workloads[], *const __stop_workloads[];
#define for_each_workload(w) \
	for (const struct workload *const *w = __start_workloads; w < __stop_workloads; w++)

struct wl_task *wl_self(void);
unsigned long long *wl_chance(void);		/* the calling task's random state */
/* The calling task is about to wait; holder may be NULL.  Shown when all wait for ever. */
void wl_note_wait(const char *what, struct wl_task *holder);
/* Ends the program with what is wrong. */
void wl_refused(const char *text) __attribute__((noreturn));

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

/* chance.c */
unsigned long long wl_chance_next(unsigned long long *state);

#endif
