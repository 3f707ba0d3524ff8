// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ForkJoinPool as it is used here, without locks: jobs come from outside into a queue;
 * workers without one wait on a stack, from which the last to come is woken first.
 */
#include "specjbb.h"

struct cell {
	unsigned int turn;		/* position it is free for, or, one more, filled at */
	struct job job;
};

static int put(struct pool *p, struct job job)
{
	unsigned int at = wl_load(&p->tail);

	for (;;) {
		struct cell *cell = &p->cell[at % JBB_QUEUE];
		int ahead = wl_load(&cell->turn) - at;

		if (ahead < 0)
			return 0;
		if (!ahead && wl_replace(&p->tail, at, at + 1)) {
			cell->job = job;
			wl_store(&cell->turn, at + 1);
			return 1;
		}
		at = wl_load(&p->tail);
	}
}

static int take(struct pool *p, struct job *job)
{
	unsigned int at = wl_load(&p->head);

	for (;;) {
		struct cell *cell = &p->cell[at % JBB_QUEUE];
		int ahead = wl_load(&cell->turn) - (at + 1);

		if (ahead < 0)
			return 0;
		if (!ahead && wl_replace(&p->head, at, at + 1)) {
			*job = cell->job;
			wl_store(&cell->turn, at + JBB_QUEUE);
			return 1;
		}
		at = wl_load(&p->head);
	}
}

static int is_empty(const struct pool *p)
{
	unsigned int at = wl_load(&p->head);

	return (int)(wl_load(&p->cell[at % JBB_QUEUE].turn) - (at + 1)) < 0;
}

static unsigned int stacked(unsigned int top, unsigned int number)
{
	return ((top + 0x10000) & ~0xffffU) | number;
}

static void wake_one(struct pool *p)
{
	for (;;) {
		unsigned int top = wl_load(&p->stack), number = top & 0xffff;
		struct worker *w;

		if (!number)
			return;
		w = &p->worker[number - 1];
		if (wl_replace(&p->stack, top, stacked(top, wl_load(&w->below)))) {
			wl_exchange(&w->woken, 1);
			wl_futex_wake(&w->woken, 1);
			return;
		}
	}
}

static void park(struct worker *w)
{
	struct pool *p = w->pool;
	unsigned int top;

	do {
		top = wl_load(&p->stack);
		wl_store(&w->below, top & 0xffff);
	} while (!wl_replace(&p->stack, top, stacked(top, w - p->worker + 1)));
	/* A task that put a job in before may not have seen the caller on the stack. */
	if (!is_empty(p))
		wake_one(p);
	jbb_leave_java(&w->java);
	while (!wl_load(&w->woken))
		wl_futex_wait(&w->woken, 0, WL_NEVER);
	wl_store(&w->woken, 0);
	jbb_enter_java(&w->java);
}

struct job jbb_next_job(struct worker *w)
{
	struct job job;

	while (!take(w->pool, &job))
		park(w);
	return job;
}

int jbb_submit(struct pool *p, struct job job)
{
	if (!put(p, job))
		return 0;
	wake_one(p);
	return 1;
}

void jbb_new_pool(struct pool *p, int workers)
{
	p->cell = wl_new(struct cell, JBB_QUEUE);
	for (unsigned int i = 0; i < JBB_QUEUE; i++)
		p->cell[i].turn = i;
	p->worker = wl_new(struct worker, workers);
	p->workers = workers;
}
