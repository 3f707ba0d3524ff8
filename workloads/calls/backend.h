/* SPDX-License-Identifier: GPL-2.0-only */
/* What the calls share, whichever of the two worlds they are compiled for. */
#ifndef WORKLOAD_BACKEND_H
#define WORKLOAD_BACKEND_H

#include "../workload.h"

struct wl_task *wl_self(void);
unsigned long long *wl_chance(void);		/* the calling task's random state */
/* The calling task is about to wait; holder may be NULL.  Shown when all wait for ever. */
void wl_note_wait(const char *what, struct wl_task *holder);
/* Ends the program with what is wrong. */
void wl_refused(const char *text) __attribute__((noreturn));

/* chance.c */
unsigned long long wl_chance_next(unsigned long long *state);

#endif
