// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a context switch costs by the number of tasks that take turns and by what each reads
 * meanwhile: processes on one CPU hand a byte round in a ring of pipes, and each adds up its own
 * array first.  The time of the addition with the array at hand is taken off.
 *
 *	gcc -O2 -o refill refill.c && ./refill TASKS KIB		prints ns a switch
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TASKS	64
#define ROUNDS	200

static volatile long result;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/*
 * One long of each line, in an order that no prefetcher follows; no miss waits for another.  `lines`
 * is a power of 2.
 */
static void add_up(const long *array, size_t bytes)
{
	size_t i, lines = bytes / 64, line = 0;
	long sum = 0;

	for (i = 0; i < lines; i++) {
		line = (line * 5 + 1) & (lines - 1);	/* each line once */
		sum += array[line * 8];
	}
	result = sum;
}

static long *new_array(size_t bytes)
{
	long *array = calloc(1, bytes + 64);
	size_t i;

	for (i = 0; i < bytes / sizeof(long); i++)
		array[i] = i;
	return array;
}

static double at_hand(size_t bytes)
{
	long *array = new_array(bytes);
	double start, best = 1e12, took;
	int i, j;

	for (i = 0; i < 20; i++) {
		start = now();
		for (j = 0; j < 100; j++)
			add_up(array, bytes);
		took = (now() - start) / 100;
		best = took < best ? took : best;
	}
	free(array);
	return best;
}

static void pass_on(int from, int to, const long *array, size_t bytes)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		add_up(array, bytes);
		if (write(to, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* The least of several rounds: others use the machine too. */
static double a_switch(int tasks, size_t bytes)
{
	int pipes[TASKS][2], i, j, round;
	double start, took, best = 1e12;
	pid_t child[TASKS];
	char byte = 0;
	long *array;

	for (i = 0; i < tasks; i++)
		if (pipe(pipes[i]))
			exit(1);
	for (i = 1; i < tasks; i++) {
		child[i] = fork();
		if (child[i])
			continue;
		for (j = 0; j < tasks; j++) {
			if (j != i - 1)
				close(pipes[j][0]);
			if (j != i)
				close(pipes[j][1]);
		}
		pass_on(pipes[i - 1][0], pipes[i][1], new_array(bytes), bytes);
	}
	array = new_array(bytes);
	for (round = 0; round < 30; round++) {
		start = now();
		for (i = 0; i < ROUNDS; i++) {
			if (write(pipes[0][1], &byte, 1) != 1 || read(pipes[tasks - 1][0], &byte, 1) != 1)
				exit(1);
			add_up(array, bytes);
		}
		took = (now() - start) / ROUNDS / tasks;
		best = took < best ? took : best;
	}
	close(pipes[0][1]);
	for (i = 1; i < tasks; i++)
		kill(child[i], 9);
	while (wait(NULL) > 0)
		;
	return best;
}

int main(int argc, char **argv)
{
	int tasks = argc > 1 ? atoi(argv[1]) : 0, kib = argc > 2 ? atoi(argv[2]) : -1;
	struct sched_param priority = { .sched_priority = 1 };
	cpu_set_t one;

	if (argc != 3 || tasks < 2 || tasks > TASKS || kib < 0) {
		fprintf(stderr, "usage: refill TASKS KIB, 2 to %d tasks\n", TASKS);
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	/* Where it may: nobody else in between. */
	if (sched_setscheduler(0, SCHED_RR, &priority))
		fputs("refill: not real-time, so others may come between\n", stderr);
	printf("%.0f\n", a_switch(tasks, kib * 1024UL) - at_hand(kib * 1024UL));
	return 0;
}
