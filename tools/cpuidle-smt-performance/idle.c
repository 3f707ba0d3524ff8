// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpus.h"
#include "fail.h"
#include "idle.h"

#define STATE	"/devices/system/cpu/cpu%d/cpuidle/state%d"

const char *const idle_count_name[NR_COUNTS] = { "usage", "time_us", "above", "below", "rejected" };
static const char *const file[NR_COUNTS] = { "usage", "time", "above", "below", "rejected" };

static bool read_state(int cpu, int index, struct idle_state *state)
{
	char text[100];

	memset(state, 0, sizeof(*state));
	if (!read_sys(text, sizeof(text), STATE "/name", cpu, index))
		return false;
	snprintf(state->name, sizeof(state->name), "%.31s", text);
	state->disabled = read_sys(text, sizeof(text), STATE "/disable", cpu, index) && atoi(text);
	for (int c = 0; c < NR_COUNTS; c++) {
		state->has[c] = read_sys(text, sizeof(text), STATE "/%s", cpu, index, file[c]);
		if (state->has[c])
			state->count[c] = strtoull(text, NULL, 10);
	}
	return true;
}

struct idle_states read_idle(int cpu)
{
	struct idle_states states = { 0 };
	struct idle_state state;

	while (read_state(cpu, states.nr, &state)) {
		states.state = realloc(states.state, (states.nr + 1) * sizeof(state));
		if (!states.state)
			fail("no memory");
		states.state[states.nr++] = state;
	}
	return states;
}

void free_idle(struct idle_states *states)
{
	free(states->state);
	*states = (struct idle_states){ 0 };
}

void idle_since(struct idle_states *states, const struct idle_states *before)
{
	for (int s = 0; s < states->nr && s < before->nr; s++)
		for (int c = 0; c < NR_COUNTS; c++)
			states->state[s].count[c] -= before->state[s].count[c];
}

const struct idle_state *find_idle(const struct idle_states *states, const char *name)
{
	for (int s = 0; s < states->nr; s++)
		if (!strcmp(states->state[s].name, name))
			return &states->state[s];
	return NULL;
}
