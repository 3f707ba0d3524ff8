// SPDX-License-Identifier: GPL-2.0-only
/*
 * mongod with WiredTiger: a thread a connection, tickets for transactions, a journal that is
 * flushed on demand or every so often, checkpoints.
 */
#include "ycsb-mongodb.h"

#define PAGE_RECORDS	25		/* computed: 32 KiB of 1.3 KB documents */

/* computed: BSON, for field names and keys as YCSB makes them */
#define FIND		150U		/* find command with the key */
#define UPDATE		250U		/* update command with key and $set */
#define ACKNOWLEDGED	50U
#define DOCUMENT	100U		/* reply and document without fields */
#define FIELD		15U		/* name and type of a field */

/* Admission of operations to the storage engine: a semaphore as glibc's. */
struct tickets {
	unsigned int left, waiting;
} __attribute__((aligned(64)));

struct record {
	unsigned int updating;
} __attribute__((aligned(64)));

struct mongod {
	struct tickets tickets[2];
	/* lines that all writers share, each its own as in WiredTiger */
	unsigned int transaction __attribute__((aligned(64)));
	unsigned int log_slot __attribute__((aligned(64)));
	unsigned int dirty __attribute__((aligned(64)));
	unsigned int conflicts __attribute__((aligned(64)));
	struct record *record;
	unsigned int records, reply;
	int journal;
	unsigned long long commit_interval, sync_period;
	struct wl_pipe *ready;
	struct wl_listener *listener;
	struct connection *connection;

	struct wl_mutex flusher_lock;
	struct wl_condition flush_now, flushed;
	int flush_wanted;
	unsigned int begun, done;		/* flushes */
};

unsigned int mongod_request(const struct connection *c)
{
	return c->kind == READ ? FIND : UPDATE;
}

unsigned int mongod_reply(const struct connection *c)
{
	return c->kind == READ ? c->mongod->reply : ACKNOWLEDGED;
}

static void take_ticket(struct tickets *t)
{
	for (;;) {
		unsigned int left = wl_load(&t->left);

		if (left && wl_replace(&t->left, left, left - 1))
			return;
		if (!left) {
			wl_add(&t->waiting, 1);
			wl_futex_wait(&t->left, 0, WL_NEVER);
			wl_add(&t->waiting, -1);
		}
	}
}

static void give_ticket(struct tickets *t)
{
	wl_add(&t->left, 1);
	if (wl_load(&t->waiting))
		wl_futex_wake(&t->left, 1);
}

/* JournalFlusher: on demand, and when nobody asked for so long. */
static void journal_flusher(void *arg)
{
	struct mongod *m = arg;

	wl_lock(&m->flusher_lock);
	for (;;) {
		unsigned int flush;

		if (!m->flush_wanted)
			wl_condition_wait(&m->flush_now, &m->flusher_lock, m->commit_interval);
		m->flush_wanted = 0;
		flush = ++m->begun;
		wl_unlock(&m->flusher_lock);
		wl_work_about(WL_ycsb_mongodb_flush);
		wl_sleep(wl_figure(WL_ycsb_mongodb_disk));
		wl_lock(&m->flusher_lock);
		m->done = flush;
		wl_broadcast(&m->flushed);
	}
}

/* The flush under way may have begun before the caller's log record: waits for the next. */
static void wait_for_flush(struct mongod *m)
{
	unsigned int mine;

	wl_lock(&m->flusher_lock);
	mine = m->begun + 1;
	if (!m->flush_wanted) {
		m->flush_wanted = 1;
		wl_signal(&m->flush_now);
	}
	while ((int)(m->done - mine) < 0)
		wl_condition_wait(&m->flushed, &m->flusher_lock, WL_NEVER);
	wl_unlock(&m->flusher_lock);
}

static void checkpoint(void *arg)
{
	struct mongod *m = arg;

	for (;;) {
		unsigned int pages;

		wl_sleep(m->sync_period);
		pages = wl_exchange(&m->dirty, 0);
		if (pages > m->records / PAGE_RECORDS + 1)
			pages = m->records / PAGE_RECORDS + 1;
		while (pages--)
			wl_work_about(WL_ycsb_mongodb_page_write);
		wl_sleep(wl_figure(WL_ycsb_mongodb_disk));
	}
}

/* mongod's patience after write conflicts */
static void back_off(unsigned int attempt)
{
	if (attempt >= 100)
		wl_sleep(10 * WL_MSEC);
	else if (attempt >= 10)
		wl_sleep(5 * WL_MSEC);
	else if (attempt >= 4)
		wl_sleep(WL_MSEC);
}

/* A record belongs to the first that updates it; others meanwhile roll back and try again. */
static void update(struct mongod *m, unsigned int record)
{
	unsigned int *updating = &m->record[record].updating;

	wl_work_about(WL_ycsb_mongodb_search);
	for (unsigned int attempt = 0; !wl_replace(updating, 0, 1); attempt++) {
		wl_add(&m->conflicts, 1);
		back_off(attempt);
		wl_work_about(WL_ycsb_mongodb_search);
	}
	wl_add(&m->transaction, 1);
	wl_work_about(WL_ycsb_mongodb_modify);
	wl_add(&m->dirty, 1);
	wl_add(&m->log_slot, 1);
	wl_work_about(WL_ycsb_mongodb_log_copy);
	wl_store(updating, 0);
}

static void serve(void *arg)
{
	struct connection *c = arg;
	struct mongod *m = c->mongod;

	wl_footprint(wl_figure(WL_ycsb_mongodb_footprint_kib) << 10);
	while (wl_receive(c->server, YCSB_HEADER)) {
		wl_receive(c->server, mongod_request(c));
		wl_work_about(WL_ycsb_mongodb_command);
		take_ticket(&m->tickets[c->kind]);
		if (c->kind == READ)
			wl_work_about(WL_ycsb_mongodb_search);
		else
			update(m, c->record);
		give_ticket(&m->tickets[c->kind]);
		if (c->kind == WRITE && m->journal)
			wait_for_flush(m);
		wl_work_about(WL_ycsb_mongodb_reply);
		wl_send(c->server, YCSB_HEADER + mongod_reply(c));
	}
}

/* A thread for each connection that comes. */
static void listener(void *arg)
{
	struct mongod *m = arg;

	for (;;) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(m->listener, &accepted);

		c->server = accepted;
		wl_thread("conn", serve, c);
	}
}

static void process(void *arg)
{
	struct mongod *m = arg;
	struct wl_task *last;

	m->listener = wl_listen(WL_TCP);
	wl_thread("JournalFlusher", journal_flusher, m);
	wl_thread("Checkpointer", checkpoint, m);
	last = wl_thread("listener", listener, m);
	wl_pipe_write(m->ready, 1);
	wl_join(last);
}

struct mongod *mongod_new(int connections)
{
	struct mongod *m = wl_new(struct mongod, 1);

	m->records = wl_option("recordcount");
	m->record = wl_new(struct record, m->records);
	m->reply = DOCUMENT + wl_option("fieldcount") * (FIELD + wl_option("fieldlength"));
	m->journal = wl_option("journal");
	m->commit_interval = wl_option("commitIntervalMs");
	m->sync_period = wl_option("syncPeriodSecs");
	for (int kind = READ; kind <= WRITE; kind++)
		m->tickets[kind].left = wl_option("tickets");
	m->ready = wl_pipe();
	m->connection = wl_new(struct connection, connections);
	return m;
}

void mongod_start(struct mongod *m)
{
	wl_fork("mongod", process, m);
	wl_pipe_read(m->ready, 1);
}

struct connection *mongod_connect(struct mongod *m, int number)
{
	struct connection *c = &m->connection[number];

	c->mongod = m;
	c->client = wl_connect(m->listener, c);
	return c;
}

unsigned int mongod_conflicts(const struct mongod *m)
{
	return wl_load(&m->conflicts);
}
