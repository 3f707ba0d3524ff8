/* SPDX-License-Identifier: GPL-2.0-only */
/* What balancing and address spaces share with the watch for a settled state. */
#ifndef SHIM_STEADY_H
#define SHIM_STEADY_H

#define SHIM_MAX_LEVELS	16

/* A periodic pass was made over a domain of this CPU, by this CPU or for it. */
void shim_balance_passed(int cpu, const struct sched_domain *sd, enum cpu_idle_type idle);

/* The load has run for so long that its load averages are built. */
bool shim_load_has_lasted(void);

#endif
