// SPDX-License-Identifier: GPL-2.0-only
/* A log that several tasks write to, and that one at a time brings to disk for all. */
#include "applications.h"

struct commits {
	enum wakes wakes;
	struct wl_log *log;
	unsigned int logged, durable;		/* records are numbered as they come */
	struct wl_mutex lock;			/* of what follows */
	int flushing;
	struct committer *waiting, **last;	/* in the order they came */
};

struct commits *commits_new(enum wakes wakes, enum wl_figure flush, enum wl_figure work)
{
	struct commits *c = wl_new(struct commits, 1);

	c->wakes = wakes;
	c->log = wl_log(flush, work);
	c->last = &c->waiting;
	return c;
}

void commits_log(struct commits *c, struct committer *own)
{
	own->record = wl_add(&c->logged, 1) + 1;
}

static int reached(unsigned int number, unsigned int wanted)
{
	return (int)(number - wanted) >= 0;
}

static void put_last(struct committer ***last, struct committer *who)
{
	who->next = NULL;
	**last = who;
	*last = &who->next;
}

/* 1: the caller is to flush.  0: somebody was flushing, and woke the caller. */
static int flush_or_wait(struct commits *c, struct committer *own)
{
	int mine;

	wl_lock(&c->lock);
	mine = !c->flushing;
	if (mine) {
		c->flushing = 1;
	} else {
		own->woken = 0;
		put_last(&c->last, own);
	}
	wl_unlock(&c->lock);
	while (!mine && !wl_load(&own->woken))
		wl_futex_wait(&own->woken, 0, WL_NEVER);
	return mine;
}

/* Each has a semaphore of its own, and is woken by a call of its own. */
static void wake_waiting(struct commits *c)
{
	struct committer *who, *next, *woken = NULL, **last = &woken;
	unsigned int durable = wl_load(&c->durable);
	int leaders = 0;

	wl_lock(&c->lock);
	c->flushing = 0;
	next = c->waiting;
	c->waiting = NULL;
	c->last = &c->waiting;
	while ((who = next)) {
		next = who->next;
		if (c->wakes == ALL || reached(durable, who->record) || !leaders++)
			put_last(&last, who);
		else
			put_last(&c->last, who);
	}
	wl_unlock(&c->lock);
	while ((who = woken)) {
		woken = who->next;
		wl_store(&who->woken, 1);
		wl_futex_wake(&who->woken, 1);
	}
}

void commits_wait(struct commits *c, struct committer *own)
{
	while (!reached(wl_load(&c->durable), own->record)) {
		if (!flush_or_wait(c, own))
			continue;
		if (!reached(wl_load(&c->durable), own->record)) {
			unsigned int written = wl_load(&c->logged);

			wl_flush(c->log);
			wl_store(&c->durable, written);
		}
		wake_waiting(c);
	}
}
