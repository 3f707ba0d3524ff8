// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of sqlite3, each inserting rows one by one into a database of its own, all on one
 * file system, as the sqlite test of the Phoronix Test Suite does.  A row is a transaction of
 * four waits for the disk (strace of sqlite3 3.40): for the rollback journal and for the
 * folder it is in, for the journal's number of pages, for the database.  The first needs a
 * commit of the file system's own journal, whose thread writes for all who ask meanwhile and
 * wakes them together (jbd2); the others write and flush for themselves.
 */
#include "workload.h"

/*
 * Before each wait: statement, locks and journal; the folder; the number of pages; the database and
 * the next statement.
 */
static const enum wl_figure work[] = { WL_sqlite_statement, WL_sqlite_folder, WL_sqlite_pages, WL_sqlite_database };

#define NR_WAITS	(sizeof(work) / sizeof(work[0]))

/* Transactions of the file system are numbered; what changes now belongs to `open`. */
struct journal {
	unsigned int open, asked, done;
	unsigned long long disk; /* a write and a flush take it so long, and timer slack */
};

struct bench {
	struct journal journal;
	int copies, rows;
};

static int reached(unsigned int number, unsigned int wanted)
{
	return (int)(number - wanted) >= 0;
}

/* Writes the blocks, then the record that makes them count. */
static void jbd2(void *arg)
{
	struct journal *j = arg;

	for (;;) {
		unsigned int asked = wl_load(&j->asked);

		if (!reached(asked, wl_load(&j->open))) {
			wl_futex_wait(&j->asked, asked, WL_NEVER);
			continue;
		}
		wl_store(&j->open, asked + 1);
		wl_work(WL_sqlite_write);
		wl_sleep(j->disk);
		wl_sleep(j->disk);
		wl_store(&j->done, asked);
		wl_futex_wake(&j->done, 1 << 30);
	}
}

static void commit(struct journal *j)
{
	unsigned int number = wl_load(&j->open), asked = wl_load(&j->asked), done;

	while (!reached(asked, number)) {
		if (wl_replace(&j->asked, asked, number)) {
			wl_futex_wake(&j->asked, 1);
			break;
		}
		asked = wl_load(&j->asked);
	}
	while (!reached(done = wl_load(&j->done), number))
		wl_futex_wait(&j->done, done, WL_NEVER);
}

static void sqlite3(void *arg)
{
	struct bench *b = arg;

	for (int row = 0; row < b->rows; row++) {
		for (unsigned int i = 0; i < NR_WAITS; i++) {
			wl_cycles(wl_figure(work[i]) + wl_figure(WL_sqlite_write));
			wl_sleep(b->journal.disk);
			if (i == 0)
				commit(&b->journal);
		}
	}
}

static void sqlite(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->copies = wl_option("copies");
	b->rows = wl_option("rows");
	b->journal.disk = wl_option("disk");
	b->journal.open = 1;
	wl_thread("jbd2", jbd2, &b->journal);
	wl_begin();
	for (int i = 0; i < b->copies; i++)
		wl_fork("sqlite3", sqlite3, b);
	while (wl_wait())
		;
	wl_end();
	wl_result("time", wl_elapsed(), "s");
	wl_result("rows", b->copies * (double)b->rows / wl_elapsed(), "1/s");
}

static const struct wl_option options[] = {
	{ "copies", 'n', WL_COUNT, 1, 1, 4096, NULL, "so many sqlite3 at a time" },
	{ "rows", 'r', WL_COUNT, 2500, 1, 1 << 30, NULL, "rows each inserts" },
	{ "disk", 'd', WL_TIME, 50 * (long long)WL_USEC, WL_USEC, WL_SEC, NULL, "a write and its flush take so long" },
	{ }
};

WORKLOAD(sqlite) = {
	.name = "sqlite",
	.summary = "rows inserted one by one into databases on one journaled file system",
	.original = "sqlite3 3.40 in the sqlite test of the Phoronix Test Suite",
	.options = options,
	.main = sqlite,
};
