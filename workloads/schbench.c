// SPDX-License-Identifier: GPL-2.0-only
/*
 * schbench, before and after its rewrite of 2023.  A worker puts itself on the list of its
 * message thread, posts it and waits; the message thread wakes the whole list, with one time
 * stamp taken before the first, and waits for the next post.
 *
 * Before: woken, a worker spins for `cputime`; its latency is from the stamp to the end of the
 * spin, less the spin.  Message threads spin and sleep between two rounds.
 * After: a worker sleeps (its request's network) and multiplies matrices under a lock of its
 * CPU; wakeup, request and requests per second are measured each for itself.
 */
#include "workload.h"

enum { BLOCKED, RUNNING };

struct messenger;

/* What others write lies in one line, as in schbench. */
struct worker {
	unsigned int	next;			/* on the messenger's list: number + 1 */
	unsigned int	futex;
	unsigned long long woken_at;
	unsigned int	loops;
	struct messenger *messenger;
} __attribute__((aligned(64)));

struct messenger {
	unsigned int	list;			/* newest worker, number + 1 */
	unsigned int	futex;
	struct bench	*bench;
	struct worker	*worker;
} __attribute__((aligned(64)));

/* As far apart as schbench's, a pthread_mutex_t rounded up to 48 bytes: neighbours share lines. */
struct cpu_lock {
	struct wl_mutex	mutex;
	char		rest[48 - sizeof(struct wl_mutex)];
};

struct bench {
	unsigned int	stopping;
	int		message_threads, threads;
	unsigned long long measured_from;
	void		(*pause)(struct messenger *messenger);
	void		(*serve)(struct worker *worker);
	struct wl_histogram *wakeup, *request, *rps;
	/* before */
	unsigned long long sleeptime, cputime;			/* us */
	/* after */
	unsigned long long network, work;			/* ns, cycles */
	unsigned long	footprint;
	struct cpu_lock	*cpu_lock;
};

/* gettimeofday(), in microseconds as schbench counts */
static unsigned long long now_us(void)
{
	return wl_now() / WL_USEC;
}

/* In microseconds too; what took none is not counted. */
static void record(struct bench *b, struct wl_histogram *histogram, unsigned long long us)
{
	if (us && wl_now() >= b->measured_from)
		wl_record(histogram, us);
}

/* ------------------------------------------------------------------ posting and waiting */

static void post(unsigned int *futex)
{
	if (wl_replace(futex, BLOCKED, RUNNING))
		wl_futex_wake(futex, 1);
}

static void wait(unsigned int *futex)
{
	while (!wl_replace(futex, RUNNING, BLOCKED))
		wl_futex_wait(futex, BLOCKED, WL_NEVER);
}

static void wake_all(struct messenger *m)
{
	unsigned int number = wl_exchange(&m->list, 0);
	unsigned long long now = now_us();

	while (number) {
		struct worker *w = &m->worker[number - 1];

		number = w->next;
		w->woken_at = now;
		post(&w->futex);
	}
}

static void enlist(struct worker *w)
{
	struct messenger *m = w->messenger;
	unsigned int me = w - m->worker + 1;

	do {
		w->next = wl_load(&m->list);
	} while (!wl_replace(&m->list, w->next, me));
}

static void message_and_wait(struct worker *w)
{
	wl_store(&w->futex, BLOCKED);
	w->woken_at = now_us();
	enlist(w);
	post(&w->messenger->futex);
	if (!wl_load(&w->messenger->bench->stopping))
		wait(&w->futex);
}

/* ------------------------------------------------------------------ the threads */

static void worker(void *arg)
{
	struct worker *w = arg;
	struct bench *b = w->messenger->bench;

	wl_footprint(b->footprint);
	while (!wl_load(&b->stopping)) {
		message_and_wait(w);
		b->serve(w);
		wl_store(&w->loops, w->loops + 1);
	}
}

static void messenger(void *arg)
{
	struct messenger *m = arg;
	struct bench *b = m->bench;
	struct wl_task **task = wl_new(struct wl_task *, b->threads);

	m->worker = wl_new(struct worker, b->threads);
	for (int i = 0; i < b->threads; i++) {
		m->worker[i].messenger = m;
		task[i] = wl_thread("worker", worker, &m->worker[i]);
	}
	for (;;) {
		wl_store(&m->futex, BLOCKED);
		wake_all(m);
		if (wl_load(&b->stopping))
			break;
		b->pause(m);
	}
	wake_all(m);
	for (int i = 0; i < b->threads; i++) {
		post(&m->worker[i].futex);
		wl_join(task[i]);
	}
}

static unsigned long loops_done(const struct bench *b, const struct messenger *m)
{
	unsigned long sum = 0;

	for (int i = 0; i < b->message_threads; i++)
		for (int k = 0; m[i].worker && k < b->threads; k++)
			sum += wl_load(&m[i].worker[k].loops);
	return sum;
}

/* Looks every second how many requests were served in it. */
static void sleep_for_runtime(struct bench *b, const struct messenger *m, unsigned long long end,
			      unsigned long served)
{
	unsigned long long now = wl_now(), before = now;

	while (now < end) {
		unsigned long all;

		wl_sleep(end - now < WL_SEC ? end - now : WL_SEC);
		now = wl_now();
		all = loops_done(b, m);
		if (now >= b->measured_from)
			wl_record(b->rps, (all - served) * WL_SEC / (now - before));
		served = all;
		before = now;
	}
}

static struct bench *create(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->message_threads = wl_option("message-threads");
	b->threads = wl_option("threads");
	b->wakeup = wl_histogram();
	b->request = wl_histogram();
	b->rps = wl_histogram();
	return b;
}

static void run(struct bench *b)
{
	struct messenger *m = wl_new(struct messenger, b->message_threads);
	struct wl_task **task = wl_new(struct wl_task *, b->message_threads);
	unsigned long long runtime = wl_option("runtime"), warmup = wl_option("warmuptime"), start = wl_now();
	unsigned long served = 0;

	/* schbench forgets what it had after the warm-up, if that ends before all ends */
	b->measured_from = wl_warming() ? WL_NEVER : warmup < runtime ? start + warmup : start;
	wl_begin();
	for (int i = 0; i < b->message_threads; i++) {
		m[i].bench = b;
		task[i] = wl_thread("messenger", messenger, &m[i]);
	}
	if (wl_warm_up()) {
		start = wl_now();
		served = loops_done(b, m);
		b->measured_from = warmup < runtime ? start + warmup : start;
	}
	sleep_for_runtime(b, m, start + runtime, served);
	wl_store(&b->stopping, 1);
	wl_end();
	for (int i = 0; i < b->message_threads; i++) {
		post(&m[i].futex);
		wl_join(task[i]);
	}
	wl_result("requests", loops_done(b, m) - served, "");
	wl_result("average rps", (loops_done(b, m) - served) / wl_elapsed(), "1/s");
}

static void write_percentile(const char *name, const struct wl_histogram *histogram, double percent)
{
	wl_result(name, wl_percentile(histogram, percent), "us");
}

/* ------------------------------------------------------------------ before */

/* Message threads think so long; schbench ignores what its option -C says. */
#define MESSAGE_CPUTIME 30000		/* us */

/* Until the microseconds have counted further than that. */
static void spin(unsigned long long us)
{
	if (us)
		wl_spin((now_us() + us + 1) * WL_USEC - wl_now());
}

static void pause_old(struct messenger *m)
{
	unsigned long long sleeptime = m->bench->sleeptime;

	if (sleeptime)
		wait(&m->futex);
	spin(MESSAGE_CPUTIME);
	if (sleeptime)
		wl_sleep((sleeptime + wl_random() % (sleeptime / 4 + 1)) * WL_USEC);
}

static void serve_old(struct worker *w)
{
	struct bench *b = w->messenger->bench;
	unsigned long long latency;

	spin(b->cputime);
	latency = now_us() - w->woken_at;
	record(b, b->wakeup, latency > b->cputime ? latency - b->cputime : 1);
}

static void schbench_old(void)
{
	struct bench *b = create();

	b->pause = pause_old;
	b->serve = serve_old;
	b->sleeptime = wl_option("sleeptime");
	b->cputime = wl_option("cputime");
	run(b);
	write_percentile("latency p50", b->wakeup, 50);
	write_percentile("latency p75", b->wakeup, 75);
	write_percentile("latency p90", b->wakeup, 90);
	write_percentile("latency p95", b->wakeup, 95);
	write_percentile("latency p99", b->wakeup, 99);
	write_percentile("latency p99.5", b->wakeup, 99.5);
	write_percentile("latency p99.9", b->wakeup, 99.9);
	write_percentile("latency max", b->wakeup, 100);
	wl_result("samples", wl_count(b->wakeup), "");
}

#define US_MAX 1000000000

static const struct wl_option old_options[] = {
	{ "message-threads", 'm', WL_COUNT, 2, 1, 10000, NULL, "message threads" },
	{ "threads", 't', WL_COUNT, 16, 1, 100000, NULL, "workers of each message thread" },
	{ "runtime", 'r', WL_TIME, 30 * WL_SEC, WL_MSEC, 86400 * WL_SEC, NULL, "how long it runs" },
	{ "warmuptime", 'w', WL_TIME, 5 * WL_SEC, 0, 86400 * WL_SEC, NULL, "what is measured before is forgotten" },
	{ "sleeptime", 's', WL_COUNT, 30000, 0, US_MAX, NULL, "us a message thread sleeps, and up to a quarter more" },
	{ "cputime", 'c', WL_COUNT, 30000, 0, US_MAX, NULL, "us a worker spins" },
	{ }
};

WORKLOAD(schbench_old) = {
	.name = "schbench-old",
	.summary = "workers woken in batches: latency of waking",
	.original = "schbench 2eef447 (2021)",
	.options = old_options,
	.main = schbench_old,
	.working_set = { .process = 5, .thread = 2, .stack = 8 << 20 },
};

/* ------------------------------------------------------------------ after */

/* Schbench does at once, but a holder that was preempted is away for long. */
#define TRY_AGAIN WL_USEC

static struct wl_mutex *lock_this_cpu(struct bench *b)
{
	for (;;) {
		int cpu = wl_cpu();
		struct wl_mutex *mutex = &b->cpu_lock[cpu].mutex;

		while (!wl_trylock(mutex))
			wl_spin(TRY_AGAIN);
		if (wl_cpu() == cpu)
			return mutex;
		wl_unlock(mutex);
	}
}

static void pause_new(struct messenger *m)
{
	wait(&m->futex);
}

static void serve_new(struct worker *w)
{
	struct bench *b = w->messenger->bench;
	unsigned long long start = now_us();
	struct wl_mutex *mutex = NULL;

	record(b, b->wakeup, start - w->woken_at);
	if (b->network)
		wl_sleep(b->network);
	if (b->cpu_lock)
		mutex = lock_this_cpu(b);
	wl_cycles(b->work);
	if (mutex)
		wl_unlock(mutex);
	record(b, b->request, now_us() - start);
}

static unsigned long long square_root(unsigned long long x)
{
	unsigned long long root = 0;

	while ((root + 1) * (root + 1) <= x)
		root++;
	return root;
}

static void schbench(void)
{
	struct bench *b = create();
	unsigned long long side;

	if (!b->threads)
		b->threads = (wl_cpus() + b->message_threads - 1) / b->message_threads;
	b->pause = pause_new;
	b->serve = serve_new;
	side = square_root(wl_option("cache_footprint") * 1024 / 3 / sizeof(unsigned long));
	/* without an operation a worker touches none of its matrices */
	b->footprint = wl_option("operations") ? wl_option("cache_footprint") * 1024 : 0;
	b->work = wl_option("operations") * side * side * side * wl_figure(WL_schbench_multiply_100) / 100;
	b->network = wl_option("sleep_usec") * WL_USEC;
	if (!wl_option("no-locking"))
		b->cpu_lock = wl_new(struct cpu_lock, wl_cpus());
	run(b);
	write_percentile("wakeup p50", b->wakeup, 50);
	write_percentile("wakeup p90", b->wakeup, 90);
	write_percentile("wakeup p99", b->wakeup, 99);
	write_percentile("wakeup p99.9", b->wakeup, 99.9);
	write_percentile("wakeup max", b->wakeup, 100);
	write_percentile("request p50", b->request, 50);
	write_percentile("request p90", b->request, 90);
	write_percentile("request p99", b->request, 99);
	write_percentile("request p99.9", b->request, 99.9);
	write_percentile("request max", b->request, 100);
	wl_result("rps p20", wl_percentile(b->rps, 20), "1/s");
	wl_result("rps p50", wl_percentile(b->rps, 50), "1/s");
	wl_result("rps p90", wl_percentile(b->rps, 90), "1/s");
}

static const struct wl_option options[] = {
	{ "message-threads", 'm', WL_COUNT, 1, 1, 10000, NULL, "message threads" },
	{ "threads", 't', WL_COUNT, 0, 0, 100000, NULL, "workers of each message thread; 0: CPUs / message threads" },
	{ "runtime", 'r', WL_TIME, 30 * WL_SEC, WL_MSEC, 86400 * WL_SEC, NULL, "how long it runs" },
	{ "warmuptime", 'w', WL_TIME, 0, 0, 86400 * WL_SEC, NULL, "what is measured before is forgotten" },
	{ "operations", 'n', WL_COUNT, 5, 0, 1000000, NULL, "matrix multiplications of a request" },
	{ "cache_footprint", 'F', WL_COUNT, 256, 1, 1 << 20, NULL, "KiB of a worker's matrices" },
	{ "sleep_usec", 's', WL_COUNT, 100, 0, US_MAX, NULL, "us a request sleeps before its work" },
	{ "no-locking", 'L', WL_FLAG, 0, 0, 1, NULL, "work without the lock of the CPU" },
	{ }
};

WORKLOAD(schbench) = {
	.name = "schbench",
	.summary = "workers woken in batches: latencies of waking and of requests",
	.original = "schbench 24e32b8 (2025)",
	.options = options,
	.main = schbench,
	.working_set = { .process = 5, .thread = 2, .stack = 8 << 20 },
};
