// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loads of the engine's peer: the same calls, tasks and loops as the engine's own workloads.
 *
 *     peer_load calibrate                              turns of work() in a microsecond, here
 *     peer_load hackbench GROUPS FDS LOOPS DATASIZE    threads over pipes
 *     peer_load runsleep TASKS LOOPS TURNS SLEEP_US    TURNS of work, then sleep, LOOPS times
 *
 * A sleep of 0 us makes hogs. Says "begin" when the tasks are let go, and "end NS SWITCHES" when
 * the last one is through: CLOCK_MONOTONIC and /proc/stat's ctxt between the two, which counts
 * what the tracepoint sched_switch does and costs nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ULL
#define STACK_SIZE (64 * 1024)

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static unsigned long long context_switches(void)
{
	unsigned long long switches = 0;
	char line[4096];
	FILE *f = fopen("/proc/stat", "r");

	if (!f)
		die("/proc/stat");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "ctxt %llu", &switches) == 1)
			break;
	fclose(f);
	return switches;
}

/* A chain of dependent steps in registers: no memory, nothing to leave out. */
static void work(unsigned long turns)
{
	unsigned long x = turns | 1;

	while (turns--) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		asm volatile("" : "+r"(x));
	}
}

/* The fastest of several tries: the host may be busy with other things. */
static void calibrate(void)
{
	const unsigned long turns = 20 * 1000 * 1000;
	unsigned long long best = ~0ULL;

	for (int i = 0; i < 15; i++) {
		unsigned long long start = now(CLOCK_THREAD_CPUTIME_ID), took;

		work(turns);
		took = now(CLOCK_THREAD_CPUTIME_ID) - start;
		if (took < best)
			best = took;
	}
	printf("turns per us %.1f\n", turns * 1e3 / best);
}

/* ------------------------------------------------------------------ tasks */

static pthread_barrier_t ready;
static pthread_t *threads;
static int nr_threads;

static void start_thread(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (pthread_create(&threads[nr_threads++], &attr, fn, arg))
		die("pthread_create");
	pthread_attr_destroy(&attr);
}

static void expect_threads(int nr)
{
	threads = calloc(nr, sizeof(*threads));
	if (!threads || pthread_barrier_init(&ready, NULL, nr + 1))
		die("threads");
}

/* Lets all tasks go, waits for them and says what it took. */
static void go(void)
{
	unsigned long long start, switches, took;

	usleep(100 * 1000);		/* the last one is on its way to the barrier */
	printf("begin\n");
	fflush(stdout);
	switches = context_switches();
	start = now(CLOCK_MONOTONIC);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	took = now(CLOCK_MONOTONIC) - start;
	printf("end %llu %llu\n", took, context_switches() - switches);
	fflush(stdout);
}

/* ------------------------------------------------------------------ hackbench */

struct group {
	int fds, loops, datasize;
	int (*pipe)[2];
	int next_receiver;
};

static void transfer(ssize_t (*call)(int, char *, size_t), int fd, char *data, int size)
{
	for (int done = 0; done < size;) {
		ssize_t n = call(fd, data + done, size - done);

		if (n <= 0)
			die("pipe");
		done += n;
	}
}

static ssize_t read_some(int fd, char *data, size_t size)
{
	return read(fd, data, size);
}

static ssize_t write_some(int fd, char *data, size_t size)
{
	return write(fd, data, size);
}

/* One receiver: every sender of its group writes `loops` messages into its pipe. */
static void *receiver(void *arg)
{
	struct group *g = arg;
	int fd = g->pipe[__atomic_fetch_add(&g->next_receiver, 1, __ATOMIC_RELAXED)][0];
	char data[g->datasize];

	pthread_barrier_wait(&ready);
	for (long i = 0; i < (long)g->fds * g->loops; i++)
		transfer(read_some, fd, data, g->datasize);
	return NULL;
}

/* One sender: `loops` rounds, one message to each receiver of the group. */
static void *sender(void *arg)
{
	struct group *g = arg;
	char data[g->datasize];

	memset(data, '-', g->datasize);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < g->loops; i++)
		for (int r = 0; r < g->fds; r++)
			transfer(write_some, g->pipe[r][1], data, g->datasize);
	return NULL;
}

static void hackbench(int groups, int fds, int loops, int datasize)
{
	expect_threads(groups * fds * 2);
	for (int i = 0; i < groups; i++) {
		struct group *g = calloc(1, sizeof(*g));

		if (!g)
			die("group");
		*g = (struct group) { fds, loops, datasize, calloc(fds, sizeof(*g->pipe)), 0 };
		for (int k = 0; k < fds; k++)
			if (!g->pipe || pipe(g->pipe[k]))
				die("pipe");
		for (int k = 0; k < fds; k++)
			start_thread(receiver, g);
		for (int k = 0; k < fds; k++)
			start_thread(sender, g);
	}
	go();
}

/* ------------------------------------------------------------------ run and sleep */

struct run_sleep {
	int loops;
	unsigned long turns;
	long sleep_us;
};

static void *run_sleep(void *arg)
{
	const struct run_sleep *rs = arg;
	struct timespec ts = { rs->sleep_us / 1000000, rs->sleep_us % 1000000 * 1000 };

	pthread_barrier_wait(&ready);
	for (int i = 0; i < rs->loops; i++) {
		work(rs->turns);
		if (rs->sleep_us)
			nanosleep(&ts, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "calibrate")) {
		calibrate();
	} else if (argc == 6 && !strcmp(argv[1], "hackbench")) {
		hackbench(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	} else if (argc == 6 && !strcmp(argv[1], "runsleep")) {
		struct run_sleep rs = { atoi(argv[3]), atol(argv[4]), atol(argv[5]) };

		expect_threads(atoi(argv[2]));
		for (int i = 0; i < atoi(argv[2]); i++)
			start_thread(run_sleep, &rs);
		go();
	} else {
		fprintf(stderr, "peer_load: see the first lines of peer_load.c\n");
		return 2;
	}
	return 0;
}
