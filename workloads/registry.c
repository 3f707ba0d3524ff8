// SPDX-License-Identifier: GPL-2.0-only
/* All workloads. */
#include "workload.h"

#define WORKLOADS(X)		\
	X(cpuidle_smt)		\
	X(deathstarbench)	\
	X(futex_wake)		\
	X(hackbench)		\
	X(mem_memset)		\
	X(micro)		\
	X(misfit)		\
	X(nanosleep)		\
	X(netperf)		\
	X(placement)		\
	X(numa_mem)		\
	X(producer_consumer)	\
	X(rt_app)		\
	X(schbench)		\
	X(schbench_old)		\
	X(sched_messaging)	\
	X(sched_pipe)		\
	X(specjbb2015)		\
	X(sqlite)		\
	X(stream)		\
	X(stress_ng_pipe)	\
	X(sysbench_cpu)		\
	X(sysbench_memory)	\
	X(sysbench_mutex)	\
	X(sysbench_threads)	\
	X(tbench)		\
	X(unixbench)		\
	X(ycsb_mongodb)

#define DECLARE(name)	extern const struct workload name##_workload;
WORKLOADS(DECLARE)

#define ENTRY(name)	&name##_workload,
const struct workload *const wl_workloads[] = { WORKLOADS(ENTRY) NULL };
