/* SPDX-License-Identifier: GPL-2.0-only */
/* What setup.c shares with the set-up of single schedulers. */
#ifndef SHIM_SCX_SETUP_H
#define SHIM_SCX_SETUP_H

/* Of a CPU, as programs of the scx project see it; 1024 is the most. */
unsigned int setup_capacity(unsigned int cpu);
bool setup_has_little(void);
bool setup_is_big(unsigned int cpu);

void setup_run(const char *program, void *argument);	/* refuses where it answers anything but 0 */

/* lavd.c */
void setup_lavd(void);		/* before tunables that the user sets */
void setup_arena(void);		/* when it is loaded */

#endif
