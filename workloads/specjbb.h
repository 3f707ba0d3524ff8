/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of specjbb2015: JVMs and their pools of workers, backends, injectors. */
#ifndef SPECJBB_H
#define SPECJBB_H

#include "workload.h"

#define JBB_LINE	__attribute__((aligned(64)))	/* a cache line of its own */

#define JBB_QUEUE	8192U		/* places in a queue */

/* ------------------------------------------------------------------ specjbb-jvm.c */

/* A thread that may have to stop. */
struct java {
	struct jvm *jvm;
	unsigned int running JBB_LINE;		/* 0: waits, or has stopped */
	unsigned int tlab_kb;
};

struct jvm {
	unsigned int stop JBB_LINE;		/* all threads shall */
	unsigned int young_kb JBB_LINE;		/* taken since the last collection */
	unsigned int collect JBB_LINE;		/* the VM thread is wanted */
	unsigned int xmn_kb;
	struct java **java;
	int nr_java;
	/* the collectors */
	unsigned int cycle JBB_LINE;
	unsigned int chunks JBB_LINE;		/* handed out */
	unsigned int finished JBB_LINE;		/* collectors */
	unsigned int nr_chunks, collectors;
	unsigned int collections;
	unsigned long long paused;
};

void jbb_enter_java(struct java *j);
void jbb_leave_java(struct java *j);		/* before it waits */
/* Work that takes memory. */
void jbb_compute(struct java *j, unsigned long long cycles, unsigned int kb);
void jbb_collector(void *jvm);			/* a collector thread */
void jbb_vm_thread(struct jvm *jvm) __attribute__((noreturn));

/* ------------------------------------------------------------------ specjbb-pool.c */

struct job {
	struct exchange *exchange;		/* a request from outside, or */
	unsigned long long work;		/* something inside */
};

struct pool {
	unsigned int head JBB_LINE;
	unsigned int tail JBB_LINE;
	unsigned int stack JBB_LINE;		/* version << 16 | number of the top + 1 */
	struct cell *cell;
	struct worker *worker;
	int workers;
};

struct worker {
	struct java java;
	struct backend *backend;
	struct pool *pool;
	unsigned int below;			/* on the stack */
	unsigned int woken JBB_LINE;
};

void jbb_new_pool(struct pool *p, int workers);
int jbb_submit(struct pool *p, struct job job);	/* 0: the queue is full */
struct job jbb_next_job(struct worker *w);	/* waits for one */

/* ------------------------------------------------------------------ specjbb-backend.c */

/* A connection between injector and backend, for one request at a time. */
struct exchange {
	struct wl_socket *injector, *backend;
	unsigned long long work;		/* of the request, cycles */
	struct issuer *probe;			/* who waits for the answer, if anybody does */
};

enum { TIER1, TIER2, TIER3, TIERS };

struct backend {
	struct group *group;
	struct jvm jvm;
	struct pool tier[TIERS];
	struct selector *selector;
	int selectors;
};

void jbb_new_backend(struct backend *b);
void jbb_backend(void *group);			/* the process */

/* ------------------------------------------------------------------ specjbb-injector.c */

struct issuers {
	struct wl_mutex lock;
	struct wl_condition work;
	struct wanted *queue;
	unsigned int head, tail, idle;
};

struct injector {
	struct exchange **idle;			/* the pool of connections */
	int nr_idle;
	struct wl_mutex lock;
	struct wl_condition returned;
	struct issuers probes, others;
	struct issuer *issuer;
	int nr_probes, nr_others;
	struct receiver *receiver;
	int receivers;
	unsigned int rate JBB_LINE;		/* requests a second; waited for as a futex */
};

void jbb_new_injector(struct group *g);
void jbb_injector(void *group);			/* the process */
unsigned int jbb_issued(const struct injector *in);
unsigned int jbb_processed(const struct injector *in);

/* ------------------------------------------------------------------ specjbb2015.c */

struct group {
	struct controller *controller;
	struct backend backend;
	struct injector injector;
	struct exchange *exchange;
	int exchanges;
	struct wl_listener *listener;		/* the backend's */
	struct wl_pipe *listens;
};

struct controller {
	struct group *group;
	int groups;
	struct wl_pipe *ready;
	struct wl_histogram *response;		/* what probes measure now */
	unsigned int hbir, settled;
	struct level *level;
	int levels;
};

#endif
