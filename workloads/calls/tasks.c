// SPDX-License-Identifier: GPL-2.0-only
/* Processes and threads, their policies and groups. */
#include <string.h>
#include "world.h"

#ifdef SIMULATED

#include <setjmp.h>

struct wl_task *wl_self(void)
{
	return (struct wl_task *)self();
}

unsigned long long *wl_chance(void)
{
	return &self()->chance;
}

void wl_note_wait(const char *what, struct wl_task *holder)
{
	self()->waits_for = what;
	self()->waits_for_task = (struct task *)holder;
}

struct start {
	void (*fn)(void *);
	void *arg;
	jmp_buf again;			/* where exec() begins anew */
};

static void task_main(struct kern_task *kern)
{
	struct task *task = task_of(kern);
	struct start start = *(struct start *)task->arg;

	if (!task->is_thread && cookie_of_each_process(task->instance))
		kern_core_sched(0);
	hw_free(task->arg);
	task->arg = &start;
	setjmp(start.again);
	start.fn(start.arg);
}

static struct wl_task *start_task(const char *name, int number, void (*fn)(void *), void *arg)
{
	struct start *start = hw_zalloc(sizeof(*start), 16);

	start->fn = fn;
	start->arg = arg;
	return (struct wl_task *)task_launch(name, number, task_main, start);
}

struct wl_task *wl_fork(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -1, fn, arg);
}

struct wl_task *wl_thread(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -2, fn, arg);
}

static void await(struct wl_task *task)
{
	unsigned int id = task->pid;

	if (!task->is_thread)
		kern_wait_child(&task->kern);
	else
		while (wl_load(&task->thread) == id && !self()->killed)
			kern_futex_wait_end(&task->thread, id);
}

static struct wl_task *await_child(void)
{
	return (struct wl_task *)kern_wait_child(NULL);
}

static void forget(struct wl_task *task)
{
	task_forget((struct task *)task);
}

void wl_exec(void (*fn)(void *), void *arg)
{
	struct start *start = self()->arg;

	kern_exec();
	start->fn = fn;
	start->arg = arg;
	longjmp(start->again, 1);
}

void wl_exit(void)
{
	kern_exit();
}

void wl_sched(const struct wl_sched *sched)
{
	static const int policies[] = { 0, 3, 5, 1, 2, 6 };	/* uapi/linux/sched.h */
	struct kern_attr attr = {
		.policy = policies[sched->policy], .nice = sched->nice, .rt_priority = sched->priority,
		.dl_runtime = sched->runtime, .dl_deadline = sched->deadline, .dl_period = sched->period,
		.uclamp_min = sched->util_min, .uclamp_max = sched->util_max,
	};
	int err;

	if (sched->runtime && sched->policy != WL_DEADLINE && !kern_has_slices())
		wl_refuse("the slice of %s: this kernel gives all fair tasks the same; 6.12 and newer ask each",
			  self()->comm);
	err = kern_setattr(&self()->kern, &attr);
	if (err)
		wl_refuse("the policy of %s: %s", self()->comm, strerror(-err));
}

void wl_group(const char *path)
{
	const struct instance *instance = self()->instance;
	/* The groups of what is in the scenario's group are below it, as below a scope of systemd's. */
	const char *above = instance && instance->group && instance->group == scenario.workloads_group ?
			    instance->group : "";
	char whole[256], part[256];
	int err;

	snprintf(whole, sizeof(whole), "%s%s", above, strcmp(path, "/") ? path : *above ? "" : path);
	path = whole;
	for (const char *end = path; *end && end[1]; ) {
		end = strchrnul(end + 1, '/');
		snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
		kern_cgroup_create(part, has_own_cpuset(part));	/* or it is there */
	}
	err = kern_cgroup_attach(&self()->kern, path);
	if (err)
		wl_refuse("group %s: %s", path, strerror(-err));
}

#else /* on this host */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD_STACK	(256UL << 10)

static __thread struct wl_task *me;

struct wl_task *wl_self(void)
{
	return me;
}

unsigned long long *wl_chance(void)
{
	return &me->chance;
}

void wl_note_wait(const char *what, struct wl_task *holder)
{
	me->holder = holder;
	me->waits_for = what ? what - (const char *)wl_exec : 0;
	me->steps++;
}

const char *task_waits_for(const struct wl_task *task)
{
	return (const char *)wl_exec + task->waits_for;
}

static struct wl_task *new_task(const char *name, void (*fn)(void *), void *arg)
{
	struct wl_task *task = wl_new(struct wl_task, 1);

	snprintf(task->name, sizeof(task->name), "%s", name);
	task->fn = fn;
	task->arg = arg;
	task->chance = wl_chance_next(me ? &me->chance : &arena->seed);
	pthread_mutex_lock(&arena->lock);
	task->next = arena->tasks;
	if (task->next)
		task->next->previous = task;
	arena->tasks = task;
	task->alive = 1;
	pthread_mutex_unlock(&arena->lock);
	return task;
}

static void forget(struct wl_task *task)
{
	pthread_mutex_lock(&arena->lock);
	if (task->previous)
		task->previous->next = task->next;
	else
		arena->tasks = task->next;
	if (task->next)
		task->next->previous = task->previous;
	pthread_mutex_unlock(&arena->lock);
}

static void begin(struct wl_task *task)
{
	me = task;
	pthread_setname_np(pthread_self(), task->name);
}

/* The workload's first task, in the calling process. */
void task_begin_main(void (*fn)(void))
{
	begin(new_task(running->name, NULL, NULL));
	me->pid = getpid();
	fn();
	wl_note_wait(NULL, NULL);
	if (!arena->ended)
		arena->ended = wl_now();
	arena->done = 1;
}

struct wl_task *wl_fork(const char *name, void (*fn)(void *), void *arg)
{
	struct wl_task *task = new_task(name, fn, arg);
	pid_t pid = fork();

	if (pid < 0)
		fail("fork of %s: %s", name, strerror(errno));
	if (!pid) {
		task->pid = getpid();
		begin(task);
		fn(arg);
		wl_exit();
	}
	task->pid = pid;
	return task;
}

static void *thread_main(void *arg)
{
	struct wl_task *task = arg;

	begin(task);
	task->fn(task->arg);
	task->alive = 0;
	return NULL;
}

struct wl_task *wl_thread(const char *name, void (*fn)(void *), void *arg)
{
	struct wl_task *task = new_task(name, fn, arg);
	pthread_attr_t attr;
	int err;

	task->is_thread = 1;
	task->pid = getpid();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	err = pthread_create(&task->thread, &attr, thread_main, task);
	if (err)
		fail("thread %s: %s", name, strerror(err));
	pthread_attr_destroy(&attr);
	return task;
}

void wl_exit(void)
{
	me->alive = 0;
	if (me->is_thread)
		pthread_exit(NULL);
	_exit(0);
}

static void check_status(const char *name, int status)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("%s ended by %s %d", name, WIFSIGNALED(status) ? "signal" : "status",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void await(struct wl_task *task)
{
	int status;

	if (task->is_thread) {
		pthread_join(task->thread, NULL);
		return;
	}
	while (waitpid(task->pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waiting for %s: %s", task->name, strerror(errno));
	check_status(task->name, status);
}

static struct wl_task *find(pid_t pid)
{
	struct wl_task *task;

	pthread_mutex_lock(&arena->lock);
	for (task = arena->tasks; task->pid != pid || task->is_thread; task = task->next)
		;
	pthread_mutex_unlock(&arena->lock);
	return task;
}

static struct wl_task *await_child(void)
{
	struct wl_task *task;
	int status;
	pid_t pid;

	while ((pid = wait(&status)) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return NULL;
	task = find(pid);
	check_status(task->name, status);
	return task;
}

/* Addresses differ after exec(): the function goes along as its distance from here. */
void wl_exec(void (*fn)(void *), void *arg)
{
	char fd[20], task[24], offset[24];

	me->arg = arg;
	snprintf(fd, sizeof(fd), "%d", arena_fd);
	snprintf(task, sizeof(task), "%lu", (unsigned long)((char *)me - (char *)arena));
	snprintf(offset, sizeof(offset), "%ld", (long)((char *)fn - (char *)wl_exec));
	execl("/proc/self/exe", "schedlab-load", "--resume", fd, task, offset, NULL);
	fail("exec: %s", strerror(errno));
}

void task_resume(struct wl_task *task, long fn_offset)
{
	begin(task);
	task->fn = (void (*)(void *))((char *)wl_exec + fn_offset);
	task->fn(task->arg);
	wl_exit();
}

/* ------------------------------------------------------------------ policies and groups */

/* sched_setattr() and its structure have no place in older C libraries. */
struct attr {
	unsigned int	size, policy;
	unsigned long long flags;
	int		nice;
	unsigned int	priority;
	unsigned long long runtime, deadline, period;
	unsigned int	util_min, util_max;
};

#define POLICY_DEADLINE		6
#define FLAG_UTIL_MIN		0x20
#define FLAG_UTIL_MAX		0x40

void wl_sched(const struct wl_sched *sched)
{
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR,
					POLICY_DEADLINE };
	struct attr attr = {
		.size = sizeof(attr), .policy = policies[sched->policy], .nice = sched->nice,
		.priority = sched->priority, .runtime = sched->runtime,
		.deadline = sched->deadline, .period = sched->period,
	};

	if (sched->util_min >= 0) {
		attr.flags |= FLAG_UTIL_MIN;
		attr.util_min = sched->util_min;
	}
	if (sched->util_max >= 0) {
		attr.flags |= FLAG_UTIL_MAX;
		attr.util_max = sched->util_max;
	}
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		fail("policy of %s: %s", me->name, strerror(errno));
}

void wl_group(const char *path)
{
	char file[300];
	FILE *f;

	if (me->is_thread)
		fail("group %s: %s is a thread, and here only processes are moved into groups", path, me->name);
	snprintf(file, sizeof(file), "/sys/fs/cgroup%s", path);
	if (mkdir(file, 0755) && errno != EEXIST)
		fail("group %s: %s", file, strerror(errno));
	snprintf(file, sizeof(file), "/sys/fs/cgroup%s/cgroup.procs", path);
	f = fopen(file, "w");
	if (!f || fprintf(f, "0\n") < 0 || fclose(f))
		fail("group %s: %s", file, strerror(errno));
}
#endif

/* ------------------------------------------------------------------ the same in both worlds */

void wl_join(struct wl_task *task)
{
	wl_note_wait("the end", task);
	await(task);
	wl_note_wait(NULL, NULL);
	forget(task);
}

int wl_wait(void)
{
	struct wl_task *task;

	wl_note_wait("the end of a child", NULL);
	task = await_child();
	wl_note_wait(NULL, NULL);
	if (task)
		forget(task);
	return task != NULL;
}
