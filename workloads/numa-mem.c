// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf bench numa mem: processes and threads that go over memory, over and over: the processes over
 * what all share, the threads of a process over what it has, each from another place on, and each
 * thread over its own.
 */
#include "workload.h"

struct bench {
	int processes, threads;
	unsigned long global_bytes, proc_bytes, thread_bytes;
	struct wl_region *memory;
	unsigned long long end;
	struct wl_barrier start;
	unsigned long *moved;		/* bytes, by thread */
};

struct process {
	struct bench *bench;
	int number;
	struct wl_region *memory;
};

struct thread {
	struct process *process;
	int number;			/* in its process */
};

/* As perf sets it up: with init_cpu0 all pages are there, and on the node of CPU 0. */
static struct wl_region *allocate(unsigned long bytes, struct wl_region *(*map)(unsigned long bytes))
{
	struct wl_region *memory;

	if (!bytes)
		return NULL;
	memory = map(bytes);
	if (wl_option("interleave"))
		wl_bind(memory, -1);
	else if (wl_option("memnode") >= 0)
		wl_bind(memory, wl_option("memnode"));
	if (wl_option("init_cpu0")) {
		wl_pin_cpus(0, 1);
		wl_touch(memory, 0, bytes, WL_WRITE);
		wl_pin_cpus(0, wl_cpus());
	}
	return memory;
}

/* All of it, from one of several places on and round. */
static void go_over(struct wl_region *memory, unsigned long bytes, int place, int places)
{
	enum wl_access access = wl_option("data_writes") ? WL_WRITE : WL_READ;
	unsigned long from = bytes / places * place / 4096 * 4096;

	if (!memory)
		return;
	wl_touch(memory, from, bytes - from, access);
	if (from)
		wl_touch(memory, 0, from, access);
}

static void thread_main(void *arg)
{
	struct thread *t = arg;
	struct bench *b = t->process->bench;
	struct wl_region *own = allocate(b->thread_bytes, wl_region);
	unsigned long *moved = &b->moved[t->process->number * b->threads + t->number];
	long long loops = wl_option("nr_loops"), sleep = wl_option("usleep");

	wl_barrier_wait(&b->start);
	for (long long i = 0; !loops || i < loops; i++) {
		go_over(b->memory, b->global_bytes, t->process->number, b->processes);
		go_over(t->process->memory, b->proc_bytes, t->number, b->threads);
		go_over(own, b->thread_bytes, 0, 1);
		*moved += b->global_bytes + b->proc_bytes + b->thread_bytes;
		if (sleep)
			wl_sleep(sleep * WL_USEC);
		if (wl_now() >= b->end)
			break;
	}
}

static void process_main(void *arg)
{
	struct process *p = arg;
	struct thread *thread = wl_new(struct thread, p->bench->threads);
	struct wl_task **task = wl_new(struct wl_task *, p->bench->threads);

	p->memory = allocate(p->bench->proc_bytes, wl_region);
	for (int i = 0; i < p->bench->threads; i++) {
		thread[i] = (struct thread) { p, i };
		task[i] = wl_thread("numa-mem", thread_main, &thread[i]);
	}
	for (int i = 0; i < p->bench->threads; i++)
		wl_join(task[i]);
}

static void numa_mem(void)
{
	struct bench *b = wl_new(struct bench, 1);
	int total = wl_option("nr_proc") * wl_option("nr_threads");
	struct process *process = wl_new(struct process, wl_option("nr_proc"));
	struct wl_task **task = wl_new(struct wl_task *, wl_option("nr_proc"));
	unsigned long bytes = 0;

	b->processes = wl_option("nr_proc");
	b->threads = wl_option("nr_threads");
	b->global_bytes = wl_option("mb_global") << 20;
	b->proc_bytes = wl_option("mb_proc") << 20;
	b->thread_bytes = wl_option("mb_thread") << 20;
	if (!b->global_bytes && !b->proc_bytes && !b->thread_bytes)
		wl_refuse("neither mb_global nor mb_proc nor mb_thread: there is no memory to go over");
	if (wl_option("interleave") && wl_option("memnode") >= 0)
		wl_refuse("interleave over all nodes and memnode exclude each other");
	if (wl_option("memnode") >= wl_nodes())
		wl_refuse("memnode %lld: the machine's nodes are 0 to %d", wl_option("memnode"),
			  wl_nodes() - 1);
	b->memory = allocate(b->global_bytes, wl_shared_region);
	b->moved = wl_new(unsigned long, total);
	b->end = WL_NEVER;
	wl_barrier_init(&b->start, total + 1);
	for (int i = 0; i < b->processes; i++) {
		process[i] = (struct process) { .bench = b, .number = i };
		task[i] = wl_fork("numa-mem", process_main, &process[i]);
	}
	wl_barrier_wait(&b->start);
	wl_begin();
	b->end = wl_now() + wl_option("nr_secs");
	for (int i = 0; i < b->processes; i++)
		wl_join(task[i]);
	wl_end();
	for (int i = 0; i < total; i++)
		bytes += b->moved[i];
	wl_result("data processed, total", bytes / 1e9, "GB");
	wl_result("thread speed", bytes / wl_elapsed() / total / 1e9, "GB/s");
	wl_result("total speed", bytes / wl_elapsed() / 1e9, "GB/s");
}

static const struct wl_option options[] = {
	{ "nr_proc", 'p', WL_COUNT, 1, 1, 10000, NULL, "processes" },
	{ "nr_threads", 't', WL_COUNT, 1, 1, 10000, NULL, "threads of each process" },
	{ "mb_global", 'G', WL_COUNT, 0, 0, 1 << 24, NULL, "MiB that all processes share" },
	{ "mb_proc", 'P', WL_COUNT, 0, 0, 1 << 24, NULL, "MiB that the threads of a process share" },
	{ "mb_thread", 'T', WL_COUNT, 0, 0, 1 << 24, NULL, "MiB of each thread" },
	{ "nr_loops", 'l', WL_COUNT, 0, 0, 1 << 30, NULL, "limit of loops; 0: none" },
	{ "nr_secs", 's', WL_TIME, 5 * WL_SEC, 1, 86400 * WL_SEC, NULL, "limit of time" },
	{ "usleep", 'u', WL_COUNT, 0, 0, 1 << 30, NULL, "microseconds of sleep in each loop" },
	{ "data_writes", 'W', WL_FLAG, 0, 0, 1, NULL, "writes instead of reads" },
	{ "init_cpu0", '0', WL_FLAG, 0, 0, 1, NULL, "all memory is allocated on CPU 0's node" },
	{ "memnode", 0, WL_COUNT, -1, -1, 1023, NULL, "binds all memory to this node; perf: --memnodes" },
	{ "interleave", 0, WL_FLAG, 0, 0, 1, NULL, "spreads all memory over the nodes; perf: under numactl" },
	{ }
};

WORKLOAD(numa_mem) = {
	.name = "numa-mem",
	.summary = "tasks that go over memory of their own, of their process and of all",
	.original = "perf bench numa mem, Linux 6.1",
	.options = options,
	.main = numa_mem,
	.working_set = { .process = 4, .child = 4, .thread = 2, .stack = 8 << 20 },
};
