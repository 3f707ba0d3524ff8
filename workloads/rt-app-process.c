// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes of replays: a task that the recording has in another process than the one that starts
 * it becomes a process, which ends with the last of its threads.  What starts it waits for it then.
 */
#include <limits.h>
#include <stddef.h>
#include "calls/backend.h"
#include "rt-app-thread.h"

static void count_down(unsigned int *threads)
{
	if (wl_add(threads, -1) == 1)
		wl_futex_wake(threads, 1);
}

static void wait_until_none(unsigned int *threads)
{
	unsigned int left;

	while ((left = wl_load(threads)))
		wl_futex_wait(threads, left, WL_NEVER);
}

/*
 * A process that has ended keeps its number until the one that started it has asked how.  Many are
 * asked for together: that one of them is about to end and does not, is seldom then.
 */
void rt_reap(struct thread *t, int most)
{
	struct thread *ended, *next;

	if (t->nr_ended <= most)
		return;
	wl_lock(&t->lock);
	ended = t->ended;
	t->ended = NULL;
	t->nr_ended = 0;
	wl_unlock(&t->lock);
	for (; ended; ended = next) {
		next = ended->next_ended;
		ended->reaped = 1;
		wl_join(ended->handle);
	}
}

static void hand_to_starter(struct thread *t)
{
	struct thread *starter = t->starter;

	wl_lock(&starter->lock);
	t->next_ended = starter->ended;
	starter->ended = t;
	starter->nr_ended++;
	wl_unlock(&starter->lock);
}

static void take_back(struct thread *starter, struct thread *t)
{
	wl_lock(&starter->lock);
	for (struct thread **at = &starter->ended; *at; at = &(*at)->next_ended)
		if (*at == t) {
			*at = t->next_ended;
			starter->nr_ended--;
			break;
		}
	wl_unlock(&starter->lock);
}

static int is_own_process(const struct thread *t, const struct thread *other)
{
	return other && other->leads && other->starter == t;
}

void rt_join(struct thread *t, struct rt_task *task)
{
	struct thread *other = task->thread;

	if (is_own_process(t, other)) {
		if (other->reaped)
			return;
		other->reaped = 1;
		wl_join(other->handle);
		take_back(t, other);
		return;
	}
	wl_add(&task->awaited, 1);
	while (!wl_load(&task->over)) {
		wl_note_wait("the end of a task of its recording", NULL);
		wl_futex_wait(&task->over, 0, WL_NEVER);
	}
}

void rt_end(struct thread *t)
{
	struct run *run = t->run;

	if (t->task->joins) {
		wl_store(&t->task->over, 1);
		if (wl_load(&t->task->awaited))
			wl_futex_wake(&t->task->over, INT_MAX);
	}
	if (!run->app->processes)
		return;
	rt_reap(t, 0);
	if (t->leads) {
		count_down(&t->process->threads);
		wait_until_none(&t->process->threads);
		if (t->starter)
			hand_to_starter(t);
	}
	count_down(&run->threads);
	if (t->process && !t->leads)
		count_down(&t->process->threads);	/* the last thing: its process may end now */
}

void rt_launch(struct thread *t, struct thread *by)
{
	struct rt_task *task = t->task;

	task->thread = t;
	if (!t->run->app->processes) {
		t->handle = wl_thread(task->name, rt_thread_main, t);
		return;
	}
	t->process = by ? by->process : NULL;
	t->leads = task->process && task->process != (t->process ? t->process->id : 0);
	if (t->leads) {
		t->process = wl_new(struct process, 1);
		t->process->id = task->process;
		t->starter = by;
	}
	if (t->process)
		wl_add(&t->process->threads, 1);
	wl_add(&t->run->threads, 1);
	t->handle = t->leads ? wl_fork(task->name, rt_thread_main, t) :
			       wl_thread(task->name, rt_thread_main, t);
}

/* Of those that the run's main has started, it waits for the ends of processes, too. */
void rt_wait_for_processes(struct run *run)
{
	wait_until_none(&run->threads);
	for (struct rt_log *log = run->app->logs; log; log = log->next) {
		struct thread *t = (struct thread *)log;

		if (log->fork < 0 && !t->starter && (t->leads || !t->process))
			wl_join(t->handle);
	}
}
