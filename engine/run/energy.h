/* SPDX-License-Identifier: GPL-2.0-only */
/* Frequencies, energy, and who ran on CPUs of which capacity, for the results. */
#ifndef RUN_ENERGY_H
#define RUN_ENERGY_H

#include "run.h"

void energy_window_begin(void);
json_t *energy_domains_json(void); /* of the frequency domains: empty without operating points */
json_t *energy_kinds_json(void);	/* of task groups on kinds of CPUs */

#endif
