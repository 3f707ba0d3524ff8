// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many lines a message moves between two CPUs: what it takes more from one CPU to another than
 * on one, as a multiple of what one line takes.
 *
 *	cc -O2 -pthread -o message_lines benchmarks/engine/message_lines.c
 *	chrt -f 1 ./message_lines [BYTES]
 *
 * Two threads on CPU 0 and 1 write and read in turn.  A word in memory tells the other that the
 * message is there, so nobody sleeps, and nobody looks at an empty queue; the word alone, to and fro,
 * is the latency of a line.  Of short batches the one at a tenth counts; a row whose line took longer
 * after than before is left out, since virtual CPUs change their places.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES	200	/* there and back in a batch */
#define BATCHES	40
#define ROWS	8

struct end {
	int in, out;
};

static struct end ends[2];
static size_t bytes = 1;
static int passes_messages;
static volatile unsigned long __attribute__((aligned(128))) word[2][16];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static cpu_set_t only(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return set;
}

static void need(int is_there)
{
	if (!is_there) {
		fprintf(stderr, "message_lines: CPUs 0 and 1 are needed\n");
		exit(1);
	}
}

static void pass(const struct end *e, ssize_t (*call)(const struct end *, char *, size_t))
{
	static char buffer[2][65536];
	size_t done = 0;

	while (passes_messages && done < bytes) {
		ssize_t part = call(e, buffer[e - ends], bytes - done);

		if (part <= 0) {
			perror("message_lines");
			exit(1);
		}
		done += part;
	}
}

static ssize_t writes(const struct end *e, char *buffer, size_t size)
{
	return write(e->out, buffer, size);
}

static ssize_t reads(const struct end *e, char *buffer, size_t size)
{
	return read(e->in, buffer, size);
}

static void wait_for(int who, unsigned long turn)
{
	while (word[who][0] < turn)
#if defined(__x86_64__)
		__builtin_ia32_pause();
#else
		__asm__ volatile("yield" ::: "memory");
#endif
}

static void *answer(void *arg)
{
	(void)arg;
	for (unsigned long turn = 1; turn <= MESSAGES * BATCHES; turn++) {
		wait_for(0, turn);
		pass(&ends[1], reads);
		pass(&ends[1], writes);
		word[1][0] = turn;
	}
	return NULL;
}

static void here(unsigned long turn)
{
	(void)turn;
	pass(&ends[0], writes);
	pass(&ends[1], reads);
	pass(&ends[1], writes);
	pass(&ends[0], reads);
}

static void there(unsigned long turn)
{
	pass(&ends[0], writes);
	word[0][0] = turn;
	wait_for(1, turn);
	pass(&ends[0], reads);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ns a message, one way */
static double batches(void (*turn)(unsigned long))
{
	unsigned long turns = 0;
	double took[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = now();

		for (int i = 0; i < MESSAGES; i++)
			turn(++turns);
		took[b] = (now() - start) / 2 / MESSAGES;
	}
	qsort(took, BATCHES, sizeof(took[0]), ascending);
	return took[BATCHES / 10];
}

static double on_two(int with_messages)
{
	cpu_set_t its = only(1);
	pthread_attr_t attributes;
	pthread_t other;
	double ns;

	passes_messages = with_messages;
	word[0][0] = word[1][0] = 0;
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(its), &its);
	need(!pthread_create(&other, &attributes, answer, NULL));
	pthread_attr_destroy(&attributes);
	ns = batches(there);
	pthread_join(other, NULL);
	passes_messages = 1;
	return ns;
}

static void connect_pipes(void)
{
	int p[2][2];

	if (pipe(p[0]) || pipe(p[1]))
		exit(1);
	ends[0] = (struct end){ p[1][0], p[0][1] };
	ends[1] = (struct end){ p[0][0], p[1][1] };
}

static void connect_pair(int a, int b)
{
	ends[0] = (struct end){ a, a };
	ends[1] = (struct end){ b, b };
}

static void connect_unix(void)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		exit(1);
	connect_pair(s[0], s[1]);
}

static int bound(int type, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int s = socket(AF_INET, type, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (s < 0 || bind(s, (void *)address, size) || getsockname(s, (void *)address, &size))
		exit(1);
	return s;
}

static void connect_tcp(void)
{
	struct sockaddr_in address;
	int on = 1, listens = bound(SOCK_STREAM, &address), a = socket(AF_INET, SOCK_STREAM, 0), b;

	if (listen(listens, 1) || connect(a, (void *)&address, sizeof(address)) ||
	    (b = accept(listens, NULL, NULL)) < 0)
		exit(1);
	setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(b, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	connect_pair(a, b);
}

static void connect_udp(void)
{
	struct sockaddr_in address[2];
	int a = bound(SOCK_DGRAM, &address[0]), b = bound(SOCK_DGRAM, &address[1]);

	if (connect(a, (void *)&address[1], sizeof(address[1])) ||
	    connect(b, (void *)&address[0], sizeof(address[0])))
		exit(1);
	connect_pair(a, b);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*connect)(void);
	} kinds[] = {
		{ "pipe", connect_pipes }, { "unix socket", connect_unix },
		{ "udp", connect_udp }, { "tcp", connect_tcp },
	};

	cpu_set_t its = only(0);

	if (argc > 1)
		bytes = strtoul(argv[1], NULL, 10);
	if (!bytes || bytes > 16384) {
		fprintf(stderr, "message_lines: BYTES is 1 to 16384\n");
		return 2;
	}
	need(!sched_setaffinity(0, sizeof(its), &its));
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		kinds[k].connect();
		for (int row = 0; row < ROWS; row++) {
			double before, one, two, after, line;

			before = on_two(0);
			one = batches(here);
			two = on_two(1);
			after = on_two(0);
			line = (before + after) / 2;
			if (after < 1.1 * before && before < 1.1 * after)
				printf("%-12s a line %3.0f ns, on one CPU %5.0f, to another %5.0f: %.1f lines\n",
				       kinds[k].name, line, one, two, (two - one - line) / line);
		}
	}
	return 0;
}
