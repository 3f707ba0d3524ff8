// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes, conditions and barriers of futexes, waking as glibc's do. */
#include "backend.h"

enum { FREE, TAKEN, CONTENDED };

void wl_lock(struct wl_mutex *mutex)
{
	if (!wl_replace(&mutex->word, FREE, TAKEN)) {
		while (wl_exchange(&mutex->word, CONTENDED) != FREE) {
			wl_note_wait("a mutex", mutex->holder);
			wl_futex_wait(&mutex->word, CONTENDED, WL_NEVER);
		}
	}
	mutex->holder = wl_self();
}

int wl_trylock(struct wl_mutex *mutex)
{
	if (!wl_replace(&mutex->word, FREE, TAKEN))
		return 0;
	mutex->holder = wl_self();
	return 1;
}

void wl_unlock(struct wl_mutex *mutex)
{
	mutex->holder = NULL;
	if (wl_exchange(&mutex->word, FREE) == CONTENDED)
		wl_futex_wake(&mutex->word, 1);
}

int wl_condition_wait(struct wl_condition *condition, struct wl_mutex *mutex,
		      unsigned long long timeout)
{
	unsigned int sequence = wl_load(&condition->sequence);
	int woken;

	wl_add(&condition->waiting, 1);
	wl_unlock(mutex);
	wl_note_wait("a condition", NULL);
	woken = wl_futex_wait(&condition->sequence, sequence, timeout);
	wl_add(&condition->waiting, -1);
	wl_lock(mutex);
	return woken;
}

static void wake(struct wl_condition *condition, int nr)
{
	if (!wl_load(&condition->waiting))
		return;
	wl_add(&condition->sequence, 1);
	wl_futex_wake(&condition->sequence, nr);
}

void wl_signal(struct wl_condition *condition)
{
	wake(condition, 1);
}

void wl_broadcast(struct wl_condition *condition)
{
	wake(condition, 1 << 30);
}

void wl_barrier_init(struct wl_barrier *barrier, unsigned int size)
{
	*barrier = (struct wl_barrier) { .size = size };
}

void wl_barrier_wait(struct wl_barrier *barrier)
{
	unsigned int round = wl_load(&barrier->round);

	if (wl_add(&barrier->arrived, 1) + 1 == barrier->size) {
		wl_store(&barrier->arrived, 0);
		wl_add(&barrier->round, 1);
		wl_futex_wake(&barrier->round, 1 << 30);
		return;
	}
	while (wl_load(&barrier->round) == round) {
		wl_note_wait("a barrier", NULL);
		wl_futex_wait(&barrier->round, round, WL_NEVER);
	}
}
