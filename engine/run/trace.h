/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces of the kernel's tracepoints. */
#ifndef RUN_TRACE_H
#define RUN_TRACE_H

#include "run.h"

struct trace_options {
	const char	*file, *format, *events, *cpus, *tasks;
	double		from, to;	/* seconds of the scenario; to < 0: to the end */
	unsigned long	ring;		/* keep the last N only, 0: all */
	int		boot;		/* times count from power-on, and events do too */
};

void trace_open(const struct trace_options *options);
void trace_write(const struct kern_tracepoint *tp, const char *flags, const char *text,
		 unsigned long len);	/* an event of the running CPU */
void trace_close(void);

/* trace_ring.c: the last records only */
FILE *ring_open(unsigned long records);
void ring_write_out(FILE *out);

/* trace_setups.c: what was set for the tasks */
void setups_open(void);
void trace_task(struct kern_task *task);
void setups_write_out(FILE *out);

/* perfetto.c: one event of the running CPU at a time of the trace, with the kernel's text of it */
void perfetto_write(FILE *out, simtime time, const char *name, int pid, const char *text,
		    unsigned int len);

#endif
