/* SPDX-License-Identifier: GPL-2.0-only */
/* The idle states of a CPU and how much each was used, from cpuidle in sysfs. */
#ifndef IDLE_H
#define IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* What cpuidle counts of a state; the last three only newer kernels have. */
enum idle_count { USAGE, TIME, ABOVE, BELOW, REJECTED, NR_COUNTS };
extern const char *const idle_count_name[NR_COUNTS];	/* of the JSON */

struct idle_state {
	char name[32];
	bool disabled;
	bool has[NR_COUNTS];
	uint64_t count[NR_COUNTS];	/* time in us */
};

struct idle_states {
	int nr;
	struct idle_state *state;
};

/* Counts as they are; no state where the CPU shows none. */
struct idle_states read_idle(int cpu);
void free_idle(struct idle_states *states);

/* Makes `states` hold only what was counted since `before`. */
void idle_since(struct idle_states *states, const struct idle_states *before);

/* The state of that name, or NULL. */
const struct idle_state *find_idle(const struct idle_states *states, const char *name);

#endif
