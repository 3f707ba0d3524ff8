/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user reads. */
#ifndef REPORT_H
#define REPORT_H

#include "experiment.h"
#include "summary.h"

void print_placement(const struct experiment *x);
void print_text(const struct experiment *x, const struct summary *s);
void print_json(const struct experiment *x, const struct summary *s);

#endif
