// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of which it is known how long they take where every task has a CPU: known.py records
 * them.  Work is CPU time of the task, so that other programs of the host do not shorten it.
 */
#include <err.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 400
#define NS_PER_US 1000L
#define NS_PER_S 1000000000L
#define MOST_TASKS 3

static void work(long us)
{
	struct timespec now, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	end.tv_nsec += us * NS_PER_US;
	end.tv_sec += end.tv_nsec / NS_PER_S;
	end.tv_nsec %= NS_PER_S;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec < end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void run_tasks(int number, void *(*task)(void *))
{
	pthread_t threads[MOST_TASKS];

	for (intptr_t i = 0; i < number; i++) {
		if (pthread_create(&threads[i], NULL, task, (void *)i))
			errx(1, "pthread_create");
	}
	for (int i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
}

/* ---- turns: each of two tasks, or three in a ring, waits for the one before it ---- */

static int nr_turns = 2;
static atomic_int words[MOST_TASKS];
static int events[MOST_TASKS], pipes[MOST_TASKS][2];
static sem_t sems[MOST_TASKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned[MOST_TASKS] = {
	PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
};
static int whose = -1;

static void give_futex(int to)
{
	atomic_fetch_add(&words[to], 1);
	syscall(SYS_futex, &words[to], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void take_futex(int own)
{
	while (!atomic_load(&words[own]))
		syscall(SYS_futex, &words[own], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_fetch_sub(&words[own], 1);
}

static void give_event(int to)
{
	if (eventfd_write(events[to], 1))
		err(1, "eventfd_write");
}

static void take_event(int own)
{
	eventfd_t value;

	if (eventfd_read(events[own], &value))
		err(1, "eventfd_read");
}

static void give_pipe(int to)
{
	if (write(pipes[to][1], "", 1) != 1)
		err(1, "write");
}

static void take_pipe(int own)
{
	char byte;

	if (read(pipes[own][0], &byte, 1) != 1)
		err(1, "read");
}

static void give_sem(int to)
{
	sem_post(&sems[to]);
}

static void take_sem(int own)
{
	sem_wait(&sems[own]);
}

static void give_cond(int to)
{
	pthread_mutex_lock(&lock);
	whose = to;
	pthread_cond_signal(&turned[to]);
	pthread_mutex_unlock(&lock);
}

static void take_cond(int own)
{
	pthread_mutex_lock(&lock);
	while (whose != own)
		pthread_cond_wait(&turned[own], &lock);
	pthread_mutex_unlock(&lock);
}

static void (*give)(int to), (*take)(int own);

static void *take_turns(void *arg)
{
	int own = (intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		take(own);
		work(own ? 300 : 200);
		give((own + 1) % nr_turns);
	}
	return NULL;
}

static void turns(int number, void (*how_to_give)(int to), void (*how_to_take)(int own))
{
	nr_turns = number;
	give = how_to_give;
	take = how_to_take;
	for (int i = 0; i < number; i++) {
		events[i] = eventfd(0, 0);
		if (events[i] < 0 || pipe(pipes[i]) || sem_init(&sems[i], 0, 0))
			err(1, "eventfd, pipe, sem_init");
	}
	give(0);
	run_tasks(number, take_turns);
}

static void by_futex(void)
{
	turns(2, give_futex, take_futex);
}

static void by_event(void)
{
	turns(2, give_event, take_event);
}

static void by_pipe(void)
{
	turns(2, give_pipe, take_pipe);
}

static void by_sem(void)
{
	turns(2, give_sem, take_sem);
}

static void by_cond(void)
{
	turns(2, give_cond, take_cond);
}

static void ring(void)
{
	turns(3, give_event, take_event);
}

/* ---- a queue that workers serve ---- */

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int queued, most = ROUNDS;
static bool done;
static long apart;	/* us between two items, of sleep; 0: of work, and it is 100 */

static bool take_item(void)
{
	bool found;

	pthread_mutex_lock(&lock);
	while (!queued && !done)
		pthread_cond_wait(&filled, &lock);
	found = queued;
	queued -= found;
	pthread_cond_signal(&emptied);
	pthread_mutex_unlock(&lock);
	return found;
}

static void *serve(void *arg)
{
	(void)arg;
	while (take_item())
		work(500);
	return NULL;
}

static void *put_items(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		if (apart)
			usleep(apart);
		else
			work(100);
		pthread_mutex_lock(&lock);
		while (queued == most)
			pthread_cond_wait(&emptied, &lock);
		queued++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	done = true;
	pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void pool(void)
{
	pthread_t source;

	if (pthread_create(&source, NULL, put_items, NULL))
		errx(1, "pthread_create");
	run_tasks(3, serve);
	pthread_join(source, NULL);
}

static void idle_pool(void)
{
	apart = 1000;
	pool();
}

static void full_pool(void)
{
	most = 8;
	pool();
}

/* ---- a pipeline of three, with a few places between two of them ---- */

static sem_t taken[MOST_TASKS - 1], places[MOST_TASKS - 1];

static void *stage(void *arg)
{
	static const long us[MOST_TASKS] = { 200, 300, 250 };
	int own = (intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		if (own) {
			sem_wait(&taken[own - 1]);
			sem_post(&places[own - 1]);
		}
		work(us[own]);
		if (own < MOST_TASKS - 1) {
			sem_wait(&places[own]);
			sem_post(&taken[own]);
		}
	}
	return NULL;
}

static void pipeline(int slots)
{
	for (int i = 0; i < MOST_TASKS - 1; i++)
		if (sem_init(&taken[i], 0, 0) || sem_init(&places[i], 0, slots))
			err(1, "sem_init");
	run_tasks(MOST_TASKS, stage);
}

static void narrow_pipeline(void)
{
	pipeline(1);
}

static void wide_pipeline(void)
{
	pipeline(3);
}

/* ---- a lock, a barrier, timers, children, a server ---- */

static long under, outside;

static void *lock_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		work(under);
		pthread_mutex_unlock(&lock);
		work(outside);
	}
	return NULL;
}

static void busy_lock(void)
{
	under = 200;
	outside = 100;
	run_tasks(3, lock_often);
}

static void half_lock(void)
{
	under = 100;
	outside = 200;
	run_tasks(3, lock_often);
}

static void free_lock(void)
{
	under = 30;
	outside = 500;
	run_tasks(2, lock_often);
}

static pthread_barrier_t meeting;

static void *meet(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		work(100 + 100 * (intptr_t)arg);
		pthread_barrier_wait(&meeting);
	}
	return NULL;
}

static void barrier(void)
{
	pthread_barrier_init(&meeting, NULL, 3);
	run_tasks(3, meet);
}

static void timers(void)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < 100; i++) {
		next.tv_nsec += NS_PER_S / 100;
		next.tv_sec += next.tv_nsec / NS_PER_S;
		next.tv_nsec %= NS_PER_S;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		work(1000);
	}
}

static void grow(int left)
{
	work(10000);
	for (int i = 0; left && i < 3; i++) {
		if (!fork()) {
			grow(left - 1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		continue;
}

static void children(void)
{
	grow(2);
}

static int ends[MOST_TASKS][2];

static void *ask(void *arg)
{
	int end = ends[(intptr_t)arg][1];
	char message[64] = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		work(100);
		if (write(end, message, 64) != 64 || read(end, message, 64) != 64)
			err(1, "a client");
	}
	return NULL;
}

static void *answer(void *arg)
{
	struct epoll_event found[MOST_TASKS];
	char message[64];

	for (int left = MOST_TASKS * ROUNDS; left;) {
		int number = epoll_wait((intptr_t)arg, found, MOST_TASKS, -1);

		for (int i = 0; i < number; i++, left--) {
			if (read(found[i].data.fd, message, 64) != 64)
				err(1, "a server");
			work(200);
			if (write(found[i].data.fd, message, 64) != 64)
				err(1, "a server");
		}
	}
	return NULL;
}

static void server(void)
{
	intptr_t set = epoll_create1(0);
	pthread_t thread;

	for (int i = 0; i < MOST_TASKS; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			err(1, "socketpair");
		event.data.fd = ends[i][0];
		epoll_ctl(set, EPOLL_CTL_ADD, ends[i][0], &event);
	}
	if (pthread_create(&thread, NULL, answer, (void *)set))
		errx(1, "pthread_create");
	run_tasks(MOST_TASKS, ask);
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "futexes", by_futex }, { "eventfds", by_event }, { "pipes", by_pipe },
	{ "semaphores", by_sem }, { "conditions", by_cond }, { "ring", ring },
	{ "busy-pool", pool }, { "idle-pool", idle_pool }, { "full-pool", full_pool },
	{ "narrow-pipeline", narrow_pipeline }, { "wide-pipeline", wide_pipeline },
	{ "busy-lock", busy_lock }, { "half-lock", half_lock }, { "free-lock", free_lock },
	{ "barrier", barrier },
	{ "timers", timers }, { "children", children }, { "server", server },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], programs[i].name)) {
			programs[i].run();
			return 0;
		}
	}
	errx(1, "which program?");
}
