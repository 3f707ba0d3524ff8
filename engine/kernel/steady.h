/* SPDX-License-Identifier: GPL-2.0-only */
/* What balancing and address spaces share with the watch for a settled state. */
#ifndef SIM_STEADY_H
#define SIM_STEADY_H

#define SIM_MAX_LEVELS	16

/* A periodic pass was made over a domain of this CPU, by this CPU or for it. */
void sim_balance_passed(int cpu, const struct sched_domain *sd, enum cpu_idle_type idle);

/* The load has run for so long that its load averages are built. */
bool sim_load_has_lasted(void);

#endif
