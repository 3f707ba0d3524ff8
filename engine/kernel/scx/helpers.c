// SPDX-License-Identifier: GPL-2.0-only
/* Helpers that are not of maps: time, chance, who runs where, reading the kernel, printing. */
#include <linux/bpf.h>
#include <linux/jiffies.h>
#include "scx.h"

u64 native_bpf_ktime_get_ns(void)
{
	shim_scx_charge(hw_costs.clock_read);
	return ktime_get_mono_fast_ns();
}

u64 native_bpf_ktime_get_boot_ns(void)
{
	shim_scx_charge(hw_costs.clock_read);
	return ktime_get_mono_fast_ns();
}

u64 native_bpf_ktime_get_coarse_ns(void)
{
	return rounddown(ktime_get_mono_fast_ns(), TICK_NSEC);
}

u64 native_bpf_jiffies64(void)
{
	return get_jiffies_64();
}

/* All randomness of a run comes from its seed. */
u32 native_bpf_get_prandom_u32(void)
{
	return hw_random_of_scheduler() >> 32;
}

u32 native_bpf_get_smp_processor_id(void)
{
	return smp_processor_id();
}

long native_bpf_get_numa_node_id(void)
{
	return numa_node_id();
}

/* cpufreq's own policies, which no machine here has: what limits a frequency is the machine's. */
struct cpufreq_policy *native_cpufreq_cpu_data[NR_CPUS];

/* Of a variable of the kernel for each CPU. */
void *native_bpf_per_cpu_ptr(const void *variable, u32 cpu)
{
	return variable && cpu < nr_cpu_ids ? per_cpu_ptr((void __percpu *)variable, cpu) : NULL;
}

void *native_bpf_this_cpu_ptr(const void *variable)
{
	return per_cpu_ptr((void __percpu *)variable, smp_processor_id());
}

u64 native_bpf_get_current_pid_tgid(void)
{
	return (u64)current->tgid << 32 | current->pid;
}

struct task_struct *native_bpf_get_current_task_btf(void)
{
	return current;
}

u64 native_bpf_get_current_task(void)
{
	return (u64)current;
}

long native_bpf_get_current_comm(char *buf, u32 size)
{
	shim_scx_check(buf, size, true);
	strscpy_pad(buf, current->comm, size);
	return 0;
}

/* A pointer that leads nowhere reads as nothing, as a fault in a real kernel does. */
static bool leads_nowhere(const void *from)
{
	return (unsigned long)from < PAGE_SIZE || (unsigned long)from >> SHIM_SCX_ADDRESS_BITS;
}

long native_bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	if (!size)
		return 0;
	shim_scx_check(to, size, true);
	if (leads_nowhere(from)) {
		memset(to, 0, size);
		return -EFAULT;
	}
	memcpy(to, from, size);
	return 0;
}

long native_bpf_probe_read_kernel_str(char *to, u32 size, const char *from)
{
	ssize_t length;

	if (!size)
		return 0;
	shim_scx_check(to, size, true);
	if (leads_nowhere(from)) {
		memset(to, 0, size);
		return -EFAULT;
	}
	length = strscpy(to, from, size);
	return length < 0 ? size : length + 1;
}

/* What the compiler makes of counting bits where the processor may have no instruction for it. */
int native___popcountdi2(u64 word)
{
	return hweight64(word);
}

long native_bpf_probe_read_str(char *to, u32 size, const char *from)
{
	return native_bpf_probe_read_kernel_str(to, size, from);
}

long native_bpf_strncmp(const char *a, u32 size, const char *b)
{
	shim_scx_check(a, size, false);
	shim_scx_check(b, 1, false);
	return strncmp(a, b, size);
}

long native_bpf_snprintf(char *to, u32 size, const char *fmt, u64 *args, u32 bytes)
{
	struct bpf_bprintf_data data = {};
	int ret = bpf_bprintf_prepare((char *)fmt, UINT_MAX, args, bytes / 8, &data);

	if (size)
		shim_scx_check(to, size, true);
	return ret < 0 ? ret : bstr_printf(to, size, fmt, data.bin_args) + 1;
}

long native_bpf_trace_vprintk(const char *fmt, u32 size, u64 *args, u32 bytes)
{
	static char text[1024];
	long length = native_bpf_snprintf(text, sizeof(text), fmt, args, bytes);

	if (length > 0)
		hw_log(text, min_t(long, length - 1, sizeof(text) - 1));
	return length;
}

long native_bpf_loop(u32 turns, long (*callback)(u32 turn, void *context), void *context, u64 flags)
{
	u32 turn;

	if (flags)
		return -EINVAL;
	if (turns > BPF_MAX_LOOPS)
		return -E2BIG;
	for (turn = 0; turn < turns; turn++) {
		shim_scx_calls_back();
		if (callback(turn, context))
			return turn + 1;
	}
	return turns;
}

/* What the loops of the headers call each turn; their number is the compiler's. */
void native_bpf_loop_begins(void)
{
}

void native_bpf_loop_turn(void)
{
}

int native_bpf_iter_num_new(struct bpf_iter_num *it, s32 start, s32 end)
{
	s32 *n = (s32 *)it;

	shim_scx_check(it, 8, true);
	n[0] = n[1] = 0;
	if (start > end)
		return -EINVAL;
	if ((s64)end - start > BPF_MAX_LOOPS)
		return -E2BIG;
	n[0] = start - 1;
	n[1] = end;
	return 0;
}

s32 *native_bpf_iter_num_next(struct bpf_iter_num *it)
{
	s32 *n = (s32 *)it;

	if ((s64)n[0] + 1 >= n[1]) {
		n[0] = n[1] = 0;
		return NULL;
	}
	n[0]++;
	return n;
}

void native_bpf_iter_num_destroy(struct bpf_iter_num *it)
{
	memset(it, 0, 8);
}

void native_bpf_rcu_read_lock(void)
{
	shim_scx_holds(SHIM_SCX_RCU, 1);
	rcu_read_lock();
}

void native_bpf_rcu_read_unlock(void)
{
	shim_scx_holds(SHIM_SCX_RCU, -1);
	rcu_read_unlock();
}

void native_bpf_preempt_disable(void)
{
	shim_scx_holds(SHIM_SCX_PREEMPTION, 1);
	preempt_disable();
}

void native_bpf_preempt_enable(void)
{
	shim_scx_holds(SHIM_SCX_PREEMPTION, -1);
	preempt_enable();
}
