/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast this host turns the loop of wl_run(), measured once and kept. */
#ifndef POSIX_CALIBRATION_H
#define POSIX_CALIBRATION_H

struct calibration {
	double stored, now;		/* turns a ns */
	char file[300];
};

/* Reads it, or measures and keeps it when there is none or when anew is set. */
void calibration_get(struct calibration *calibration, int anew);
double calibration_drift(const struct calibration *calibration); /* now against stored, percent */

#endif
