// SPDX-License-Identifier: GPL-2.0-only
/*
 * A JVM: its threads take memory from a young generation; when that is used up, all of
 * them stop where they look for it, and collector threads copy what lives.
 */
#include "specjbb.h"

#define COPY_CHUNK_KB	256U		/* a piece of what a collection copies */

void jbb_leave_java(struct java *j)
{
	wl_exchange(&j->running, 0);
}

void jbb_enter_java(struct java *j)
{
	wl_exchange(&j->running, 1);
	while (wl_load(&j->jvm->stop)) {
		jbb_leave_java(j);
		wl_futex_wait(&j->jvm->stop, 1, WL_NEVER);
		wl_exchange(&j->running, 1);
	}
}

static void want_collection(struct jvm *jvm)
{
	if (!wl_exchange(&jvm->collect, 1))
		wl_futex_wake(&jvm->collect, 1);
}

static void allocate(struct java *j, unsigned int kb)
{
	unsigned int tlab_kb = wl_figure(WL_specjbb2015_tlab_kib);
	struct jvm *jvm = j->jvm;

	if (j->tlab_kb >= kb) {
		j->tlab_kb -= kb;
		return;
	}
	j->tlab_kb += tlab_kb - kb;
	if (wl_add(&jvm->young_kb, tlab_kb) + tlab_kb <= jvm->xmn_kb)
		return;
	want_collection(jvm);
	while (wl_load(&jvm->young_kb) > jvm->xmn_kb) {
		jbb_leave_java(j);
		wl_futex_wait(&jvm->collect, 1, WL_NEVER);
		jbb_enter_java(j);
	}
}

void jbb_compute(struct java *j, unsigned long long cycles, unsigned int kb)
{
	unsigned long long longest = wl_figure(WL_specjbb2015_slice);

	cycles = wl_uniform(cycles - cycles / 4, cycles + cycles / 4);
	while (cycles) {
		unsigned long long slice = cycles < longest ? cycles : longest;
		unsigned int part = kb * slice / cycles;

		wl_cycles(slice);
		allocate(j, part);
		kb -= part;
		cycles -= slice;
		if (wl_load(&j->jvm->stop))
			jbb_enter_java(j);
	}
}

void jbb_collector(void *arg)
{
	struct jvm *jvm = arg;

	for (unsigned int cycle = 0; ; cycle++) {
		while (wl_load(&jvm->cycle) == cycle)
			wl_futex_wait(&jvm->cycle, cycle, WL_NEVER);
		wl_work_about(WL_specjbb2015_roots);
		while (wl_add(&jvm->chunks, 1) < jvm->nr_chunks)
			wl_work_about(WL_specjbb2015_copy_chunk);
		if (wl_add(&jvm->finished, 1) + 1 == jvm->collectors)
			wl_futex_wake(&jvm->finished, 1);
	}
}

static void collect(struct jvm *jvm)
{
	unsigned int done;

	jvm->nr_chunks = wl_load(&jvm->young_kb) / wl_figure(WL_specjbb2015_survive) / COPY_CHUNK_KB + 1;
	wl_store(&jvm->chunks, 0);
	wl_store(&jvm->finished, 0);
	wl_add(&jvm->cycle, 1);
	wl_futex_wake(&jvm->cycle, jvm->collectors);
	while ((done = wl_load(&jvm->finished)) < jvm->collectors)
		wl_futex_wait(&jvm->finished, done, WL_NEVER);
	wl_store(&jvm->young_kb, 0);
}

void jbb_vm_thread(struct jvm *jvm)
{
	for (;;) {
		unsigned long long start;

		while (!wl_load(&jvm->collect))
			wl_futex_wait(&jvm->collect, 0, WL_NEVER);
		start = wl_now();
		wl_exchange(&jvm->stop, 1);
		for (int i = 0; i < jvm->nr_java; i++)
			while (wl_load(&jvm->java[i]->running))
				wl_sleep(wl_figure(WL_specjbb2015_safepoint_nap));
		collect(jvm);
		wl_exchange(&jvm->collect, 0);
		wl_exchange(&jvm->stop, 0);
		wl_futex_wake(&jvm->collect, 1 << 30);
		wl_futex_wake(&jvm->stop, 1 << 30);
		jvm->collections++;
		jvm->paused += wl_now() - start;
	}
}
