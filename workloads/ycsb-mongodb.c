// SPDX-License-Identifier: GPL-2.0-only
/*
 * YCSB on MongoDB, both on this machine: client threads, each with a connection of its
 * own over TCP and one operation under way.
 */
#include "ycsb-mongodb.h"

/* ------------------------------------------------------------------ choosing records */

/*
 * YCSB's scrambled zipfian distribution: ranks of 10^10 items by zipf with exponent
 * 0.99, scattered over the records by a hash.  The hottest ranks are drawn one by one;
 * the rest, each rarer than 1 in 2000 of them, falls evenly on all records.
 */
#define HOT		1000
#define ZETA_Q32	113683610483ULL	/* 26.46902820178302 of YCSB's generator, times 2^32 */

struct chooser {
	unsigned long long upto[HOT];	/* sum of weights to this rank, 1/2^32 */
	unsigned int records;
	int uniform;
};

/* ln(i / (i - 1)) in 1/2^32: twice atanh(1 / (2i - 1)) */
static unsigned long long ln_step(unsigned long long i)
{
	unsigned long long odd = 2 * i - 1, power = (1ULL << 33) / odd, sum = power;

	for (int k = 3; power; k += 2) {
		power /= odd * odd;
		sum += power / k;
	}
	return sum;
}

static unsigned long long exp_q32(unsigned long long x)
{
	unsigned long long term = 1ULL << 32, sum = term;

	for (int k = 1; term; k++) {
		term = (unsigned __int128)term * x / k >> 32;
		sum += term;
	}
	return sum;
}

static void prepare(struct chooser *c, unsigned int records, int uniform)
{
	unsigned long long ln = 0, sum = 0;

	c->records = records;
	c->uniform = uniform;
	for (int rank = 1; rank <= HOT; rank++) {
		if (rank > 1)
			ln += ln_step(rank);
		sum += exp_q32(ln / 100) / rank;	/* rank^-0.99 */
		c->upto[rank - 1] = sum;
	}
}

static unsigned int scatter(unsigned long long rank, unsigned int records)
{
	return (rank + 1) * 0x9e3779b97f4a7c15ULL % records;
}

static unsigned int choose(const struct chooser *c)
{
	unsigned long long drawn = c->uniform ? ZETA_Q32 : wl_uniform(0, ZETA_Q32 - 1);
	int low = 0, high = HOT - 1;

	if (drawn >= c->upto[HOT - 1])
		return wl_uniform(0, c->records - 1);
	while (low < high) {
		int middle = (low + high) / 2;

		if (drawn < c->upto[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return scatter(low, c->records);
}

/* ------------------------------------------------------------------ YCSB */

struct ycsb {
	struct chooser chooser;
	unsigned int reads, updates;	/* millionths */
	unsigned long long stop;
	struct wl_histogram *latency[2];
};

struct client {
	struct ycsb *ycsb;
	struct mongod *mongod;
	int number;
	unsigned long operations;	/* 0: until the time is over */
};

static void operation(struct ycsb *y, struct connection *c)
{
	unsigned long long start = wl_now();

	wl_work_about(WL_ycsb_mongodb_encode);
	wl_send(c->client, YCSB_HEADER + mongod_request(c));
	wl_receive(c->client, YCSB_HEADER);
	wl_receive(c->client, mongod_reply(c));
	wl_work_about(WL_ycsb_mongodb_decode);
	wl_record(y->latency[c->kind], wl_now() - start);
}

static void client(void *arg)
{
	struct client *me = arg;
	struct ycsb *y = me->ycsb;
	struct connection *c = mongod_connect(me->mongod, me->number);

	wl_footprint(wl_figure(WL_ycsb_mongodb_footprint_kib) << 10);
	for (unsigned long done = 0; !me->operations || done < me->operations; done++) {
		if (wl_now() >= y->stop)
			break;
		c->kind = wl_uniform(1, y->reads + y->updates) > y->reads ? WRITE : READ;
		c->record = choose(&y->chooser);
		operation(y, c);
	}
}

static void read_workload(struct ycsb *y)
{
	y->reads = wl_option("readproportion");
	y->updates = wl_option("updateproportion");
	if (!y->reads && !y->updates)
		wl_refuse("readproportion and updateproportion are both 0");
	if (!wl_option("operationcount") && !wl_option("maxexecutiontime"))
		wl_refuse("operationcount and maxexecutiontime are both 0: it would never end");
	prepare(&y->chooser, wl_option("recordcount"), wl_option("requestdistribution"));
	for (int kind = READ; kind <= WRITE; kind++)
		y->latency[kind] = wl_histogram();
}

static void results(struct ycsb *y, struct mongod *m)
{
	static const char *const names[2][3] = {
		{ "READ AverageLatency", "READ 95thPercentileLatency", "READ 99thPercentileLatency" },
		{ "UPDATE AverageLatency", "UPDATE 95thPercentileLatency", "UPDATE 99thPercentileLatency" },
	};
	unsigned long operations = wl_count(y->latency[READ]) + wl_count(y->latency[WRITE]);

	wl_result("RunTime", wl_elapsed() * 1e3, "ms");
	wl_result("Throughput", operations / wl_elapsed(), "ops/sec");
	wl_result("Operations", operations, "");
	for (int kind = READ; kind <= WRITE; kind++) {
		const struct wl_histogram *h = y->latency[kind];

		if (!wl_count(h))
			continue;
		wl_result(names[kind][0], wl_mean(h) / WL_USEC, "us");
		wl_result(names[kind][1], (double)wl_percentile(h, 95) / WL_USEC, "us");
		wl_result(names[kind][2], (double)wl_percentile(h, 99) / WL_USEC, "us");
	}
	wl_result("WriteConflicts", mongod_conflicts(m), "");
}

static void ycsb_mongodb(void)
{
	struct ycsb *y = wl_new(struct ycsb, 1);
	unsigned long operations = wl_option("operationcount"), threads = wl_option("threadcount");
	unsigned long long limit = wl_option("maxexecutiontime");
	struct client *clients = wl_new(struct client, threads);
	struct wl_task **task = wl_new(struct wl_task *, threads);
	struct mongod *m;

	read_workload(y);
	if (operations && threads > operations)
		threads = operations;		/* as YCSB does */
	m = mongod_new(threads);
	mongod_start(m);
	wl_begin();
	y->stop = limit ? wl_now() + limit : WL_NEVER;
	for (unsigned long i = 0; i < threads; i++) {
		clients[i] = (struct client) {
			y, m, i, operations / threads + (i < operations % threads),
		};
		task[i] = wl_thread("ycsb", client, &clients[i]);
	}
	for (unsigned long i = 0; i < threads; i++)
		wl_join(task[i]);
	wl_end();
	results(y, m);
}

static const struct wl_option options[] = {
	{ "threadcount", 0, WL_COUNT, 1, 1, 8192, NULL, "client threads" },
	{ "operationcount", 0, WL_COUNT, 1000, 0, 1LL << 40, NULL, "operations of all threads; 0: no limit" },
	{ "maxexecutiontime", 0, WL_TIME, 0, 0, 86400LL * WL_SEC, NULL, "end after this time; 0: no limit" },
	{ "recordcount", 0, WL_COUNT, 1000, 1, 10000000, NULL, "records in the table" },
	{ "readproportion", 0, WL_FRACTION, 500000, 0, 1000000, NULL, "of the operations; workload b 0.95, c 1" },
	{ "updateproportion", 0, WL_FRACTION, 500000, 0, 1000000, NULL, "of the operations; workload b 0.05, c 0" },
	{ "requestdistribution", 0, WL_WORD, 0, 0, 1, "zipfian|uniform", "how records are chosen" },
	{ "fieldcount", 0, WL_COUNT, 10, 1, 1000, NULL, "fields of a record" },
	{ "fieldlength", 0, WL_SIZE, 100, 1, 1 << 20, NULL, "size of a field" },
	{ "journal", 'j', WL_FLAG, 0, 0, 1, NULL, "write concern j: updates wait for the journal" },
	{ "tickets", 0, WL_COUNT, 128, 1, 100000, NULL, "read, and write, transactions at a time" },
	{ "commitIntervalMs", 0, WL_TIME, 100 * WL_MSEC, WL_MSEC, 500 * WL_MSEC, NULL, "of the journal" },
	{ "syncPeriodSecs", 0, WL_TIME, 60 * WL_SEC, WL_MSEC, 86400LL * WL_SEC, NULL, "of checkpoints" },
	{ }
};

WORKLOAD(ycsb_mongodb) = {
	.name = "ycsb-mongodb",
	.summary = "closed loop of client threads on a document database",
	.original = "YCSB 0.17 core workload A on MongoDB 4.4 with WiredTiger",
	.options = options,
	.main = ycsb_mongodb,
};
