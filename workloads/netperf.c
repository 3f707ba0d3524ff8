// SPDX-License-Identifier: GPL-2.0-only
/*
 * netperf's request/response tests: pairs of a netperf and a process of netserver on one
 * machine.  netserver is there before; the netperfs are started one after the other, as a
 * shell does it.  Each makes a control connection, for which netserver forks a process, asks
 * it for a test, knows where that process listens, connects there, and measures its own time.
 */
#include "workload.h"

#define CONTROL	656U		/* bytes of a message on the control connection: 164 words */

struct bench {
	enum wl_protocol protocol;
	int clients, pinned;
	unsigned int request, response;
	unsigned long long length;
	struct wl_pipe *ready;
	struct wl_listener *control;		/* netserver's */
	struct pair *pair;
};

struct pair {
	struct bench *bench;
	struct wl_socket *control;		/* the server's end */
	struct wl_listener *data;		/* what the server says on it: where it listens */
	double rate;				/* transactions/s */
};

static void serve(void *arg)
{
	struct pair *p = arg;
	struct wl_socket *data;

	wl_receive(p->control, CONTROL);
	p->data = wl_listen(p->bench->protocol);
	wl_send(p->control, CONTROL);
	wl_accept(p->data, &data);
	while (wl_receive(data, p->bench->request))
		wl_send(data, p->bench->response);
	wl_send(p->control, CONTROL);
}

static void netserver(void *arg)
{
	struct bench *b = arg;

	b->control = wl_listen(WL_TCP);
	wl_pipe_write(b->ready, 1);
	for (int i = 0; i < b->clients; i++) {
		struct wl_socket *control;
		struct pair *p = wl_accept(b->control, &control);

		p->control = control;
		wl_fork("netserver", serve, p);
		wl_drop(control);
	}
	while (wl_wait())
		;
}

static void transact(const struct bench *b, struct wl_socket *data)
{
	wl_send(data, b->request);
	wl_receive(data, b->response);
}

static void netperf(void *arg)
{
	struct pair *p = arg;
	struct bench *b = p->bench;
	struct wl_socket *control, *data;
	unsigned long transactions = 0;
	unsigned long long start;

	if (b->pinned)
		wl_pin_cpus((int)(p - b->pair) % wl_cpus(), 1);
	control = wl_connect(b->control, p);
	wl_send(control, CONTROL);
	wl_receive(control, CONTROL);
	data = wl_connect(p->data, NULL);
	while (wl_warming())
		transact(b, data);
	start = wl_now();
	wl_alarm(b->length);
	while (!wl_alarm_rang()) {
		transact(b, data);
		transactions++;
	}
	p->rate = transactions * 1e9 / (wl_now() - start);
	wl_close(data);
	wl_receive(control, CONTROL);
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

	b->protocol = wl_option("test") == 0 ? WL_TCP : WL_UDP;
	b->clients = wl_option("clients");
	b->request = wl_option("request");
	b->response = wl_option("response");
	b->length = wl_option("length");
	b->pinned = wl_option("pinned");
	b->pair = wl_new(struct pair, b->clients);
	b->ready = wl_pipe();
	for (int i = 0; i < b->clients; i++)
		b->pair[i].bench = b;
	wl_fork("netserver", netserver, b);
	wl_pipe_read(b->ready, 1);
	wl_begin();
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

WORKLOAD(netperf) = {
	.name = "netperf",
	.summary = "requests and responses over loopback, one at a time for each client",
	.original = "netperf 2.7",
	.options = options,
	.main = netperfs,
};
