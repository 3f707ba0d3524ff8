// SPDX-License-Identifier: GPL-2.0-only
/*
 * netperf's request/response tests: pairs of a netperf and a process of netserver on one
 * machine.  Both are started one after the other, as a shell does it, and each client
 * measures its own time.
 */
#include "workload.h"

struct bench {
	int clients, pinned;
	unsigned int request, response;
	unsigned long long length;
	struct pair *pair;
};

struct pair {
	struct bench *bench;
	struct wl_socket *end[2];
	double rate;			/* transactions/s */
};

static void serve(void *arg)
{
	struct pair *p = arg;

	while (wl_receive(p->end[1], p->bench->request))
		wl_send(p->end[1], p->bench->response);
}

/* Forks a process for each client that comes. */
static void netserver(void *arg)
{
	struct bench *b = arg;

	for (int i = 0; i < b->clients; i++)
		wl_fork("netserver", serve, &b->pair[i]);
	while (wl_wait())
		;
}

static void netperf(void *arg)
{
	struct pair *p = arg;
	struct bench *b = p->bench;
	unsigned long long start = wl_now();
	unsigned long transactions = 0;

	if (b->pinned)
		wl_pin_cpus((int)(p - b->pair) % wl_cpus(), 1);
	wl_alarm(b->length);
	while (!wl_alarm_rang()) {
		wl_send(p->end[0], b->request);
		wl_receive(p->end[0], b->response);
		transactions++;
	}
	p->rate = transactions * 1e9 / (wl_now() - start);
	wl_close(p->end[0]);
}

static void start_netperf(void *arg)
{
	wl_exec(netperf, arg);
}

static void report(const struct bench *b)
{
	double sum = 0, least = b->pair[0].rate, most = least;

	for (int i = 0; i < b->clients; i++) {
		double rate = b->pair[i].rate;

		sum += rate;
		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
	}
	wl_result("transactions per client", sum / b->clients, "1/s");
	wl_result("slowest client", least, "1/s");
	wl_result("fastest client", most, "1/s");
}

static void netperfs(void)
{
	struct bench *b = wl_new(struct bench, 1);
	enum wl_protocol protocol = wl_option("test") == 0 ? WL_TCP : WL_UDP;

	b->clients = wl_option("clients");
	b->request = wl_option("request");
	b->response = wl_option("response");
	b->length = wl_option("length");
	b->pinned = wl_option("pinned");
	b->pair = wl_new(struct pair, b->clients);
	for (int i = 0; i < b->clients; i++) {
		b->pair[i].bench = b;
		wl_connect(protocol, b->pair[i].end);
	}
	wl_begin();
	wl_fork("netserver", netserver, b);
	for (int i = 0; i < b->clients; i++)
		wl_fork("netperf", start_netperf, &b->pair[i]);
	while (wl_wait())
		;
	wl_end();
	report(b);
}

static const struct wl_option options[] = {
	{ "test", 't', WL_WORD, 0, 0, 0, "TCP_RR|UDP_RR", "what is exchanged" },
	{ "clients", 'n', WL_COUNT, 1, 1, 4096, NULL, "so many netperf at a time" },
	{ "length", 'l', WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long each measures" },
	{ "request", 0, WL_SIZE, 1, 1, 65536, NULL, "size of a request (-r)" },
	{ "response", 0, WL_SIZE, 1, 1, 65536, NULL, "size of a response (-r)" },
	{ "pinned", 0, WL_FLAG, 0, 0, 1, NULL, "client i runs on CPU i only" },
	{ }
};

const struct workload netperf_workload = {
	.name = "netperf",
	.summary = "requests and responses over loopback, one at a time for each client",
	.original = "netperf 2.7",
	.options = options,
	.main = netperfs,
};
