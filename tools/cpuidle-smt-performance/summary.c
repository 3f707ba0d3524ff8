// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "fail.h"
#include "summary.h"

static struct state_sum *sum_of(struct summary *s, const char *name)
{
	for (int i = 0; i < s->nr_states; i++)
		if (!strcmp(s->state[i].sum.name, name))
			return &s->state[i];
	s->state = realloc(s->state, (s->nr_states + 1) * sizeof(*s->state));
	if (!s->state)
		fail("no memory");
	s->state[s->nr_states] = (struct state_sum){ 0 };
	strcpy(s->state[s->nr_states].sum.name, name);
	return &s->state[s->nr_states++];
}

static void add_states(struct summary *s, const struct idle_states *states)
{
	for (int i = 0; i < states->nr; i++) {
		struct state_sum *to = sum_of(s, states->state[i].name);

		to->cpus++;
		for (int c = 0; c < NR_COUNTS; c++) {
			to->sum.has[c] |= states->state[i].has[c];
			to->sum.count[c] += states->state[i].count[c];
		}
	}
}

struct summary summarise(const struct experiment *x)
{
	struct summary s = { 0 };

	if (!x->waker.lateness.count)
		fail("ended before the first wake that counts: --timeout must be longer than --period");
	if (!x->workload.elapsed)
		fail("the workload got no time on CPU %d: something else holds it", x->options->workload_cpu);
	s.throughput = x->workload.operations * 1e3 / x->workload.elapsed;
	s.period = (double)(x->end - x->begin) / x->waker.lateness.count;
	for (int i = 0; i < x->options->nr_irritators; i++) {
		const struct irritator *it = &x->irritator[i];

		histogram_merge(&s.wakeup, &it->wakeup);
		histogram_merge(&s.sleep, &it->sleep);
		s.wakes += it->wakeup.count;
		s.late += it->late;
		s.lost += it->lost;
	}
	for (int i = 0; i < x->nr_idle_cpus; i++)
		add_states(&s, &x->idle[i]);
	return s;
}

double idle_percent(const struct experiment *x, double us)
{
	return us * NSEC_PER_USEC * 100 / x->idle_elapsed;
}
