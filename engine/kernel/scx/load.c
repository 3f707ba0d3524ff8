// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the schedulers that were linked into the program and unloading them, their tunables, and
 * the end that one comes to.
 */
#include <linux/bpf.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "scx.h"

struct shim_scheduler *shim_scheduler;

const char *kern_scx_choose(unsigned int nr, const char *group)
{
	if (nr >= &__stop_scx_schedulers[0] - &__start_scx_schedulers[0])
		return NULL;
	shim_scheduler = __start_scx_schedulers[nr];
#ifdef CONFIG_EXT_SUB_SCHED
	if (!shim_scheduler->aux) {
		shim_scheduler->aux = hw_zalloc(sizeof(*shim_scheduler->aux), 64);
		RCU_INIT_POINTER(shim_scheduler->aux->st_ops_assoc, (void *)shim_scheduler);
	}
#endif
	shim_scheduler->group = group;
	shim_scheduler->group_id = group ? shim_cgroup_id(group) : 0;
	return shim_scheduler->source;
}

int kern_scx_has_subs(void)
{
	return IS_ENABLED(CONFIG_EXT_SUB_SCHED);
}

static const struct shim_tunable *find_variable(const char *name)
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_tunables; i++)
		if (!strcmp(shim_scheduler->tunables[i].name, name))
			return &shim_scheduler->tunables[i];
	return NULL;
}

static const struct shim_tunable *find_tunable(const char *name)
{
	const struct shim_tunable *t = find_variable(name);

	return t && t->is_tunable ? t : NULL;
}

/* Of which only numbers are known, as variable.member. */
static bool is_structure(const char *name)
{
	unsigned int i, length = strlen(name);

	for (i = 0; i < shim_scheduler->nr_tunables; i++)
		if (strstarts(shim_scheduler->tunables[i].name, name) && shim_scheduler->tunables[i].name[length] == '.')
			return true;
	return false;
}

static int set_number(const struct shim_tunable *t, void *at, const char *value)
{
	unsigned int bits = t->size * 8, base = value[*value == '-'] == '0' && (value[(*value == '-') + 1] | 32) == 'x' ? 16 : 10, i;
	long long number;
	bool flag;
	int ret;

	for (i = 0; i < t->nr_names; i++)
		if (!strcmp(t->names[i].name, value)) {
			memcpy(at, &t->names[i].number, t->size);
			return 0;
		}
	if (t->is_flag) {
		ret = kstrtobool(value, &flag);
		if (!ret)
			*(bool *)at = flag;
		return ret;
	}
	if (*value == '-' || t->is_signed) {
		ret = kstrtoll(value, base, &number);
		if (!ret && (!t->is_signed || (bits < 64 && (number >= 1LL << (bits - 1) || number < -(1LL << (bits - 1))))))
			ret = -ERANGE;
	} else {
		ret = kstrtoull(value, base, (unsigned long long *)&number);
		if (!ret && bits < 64 && (unsigned long long)number >> bits)
			ret = -ERANGE;
	}
	if (!ret)
		memcpy(at, &number, t->size);	/* of a little-endian machine */
	return ret;
}

void shim_scx_put(const char *name, unsigned int index, u64 number)
{
	const struct shim_tunable *t = find_variable(name);

	if (t && index < t->count)
		memcpy(t->at + index / t->inner * t->step + index % t->inner * t->size, &number, t->size);
}

unsigned int shim_scx_count(const char *name)
{
	const struct shim_tunable *t = find_variable(name);

	return t ? t->count : 0;
}

int kern_scx_set(const char *name, const char *value)
{
	const struct shim_tunable *t = find_tunable(name);
	char list[4096], *rest = list, *item;
	unsigned int i = 0;
	int ret;

	if (!t)
		return is_structure(name) ? -EISDIR : -ENOENT;
	if (t->is_text) {
		if (strlen(value) >= t->count)
			return -E2BIG;
		strscpy(t->at, value, t->count);
		return 0;
	}
	if (strscpy(list, value, sizeof(list)) < 0)
		return -E2BIG;
	while ((item = strsep(&rest, ","))) {
		if (i == t->count)
			return -E2BIG;
		ret = set_number(t, t->at + i++ * t->size, item);
		if (ret)
			return ret;
	}
	return 0;
}

/* As the scheduler has it now. */
void kern_scx_get(const char *name, char *buf, unsigned long size)
{
	const struct shim_tunable *t = find_tunable(name);
	unsigned int i, at = 0, shift = 64 - t->size * 8;

	if (t->is_text) {
		strscpy(buf, t->at, size);
		return;
	}
	for (i = 0; i < t->count; i++) {
		unsigned long long number = 0;

		memcpy(&number, t->at + i * t->size, t->size);
		at += scnprintf(buf + at, size - at, i ? ",%lld" : "%lld",
				t->is_signed ? (long long)(number << shift) >> shift : (long long)number);
	}
}

void kern_scx_list(void (*tunable)(const char *name))
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_tunables; i++)
		if (shim_scheduler->tunables[i].is_tunable)
			tunable(shim_scheduler->tunables[i].name);
}

/* Lines of variables that all CPUs share cost what other hot lines do. */
static void register_lines(const char *begin, const char *end)
{
	const char *at;

	if (end - begin > SHIM_SCX_MOST_LINES) {
		shim_scx_register_late(begin, end);
		return;
	}
	for (at = begin; at < end; at += L1_CACHE_BYTES)
		hw_hot_register(begin, at);
}

extern char __start_scx_data[] __weak, __stop_scx_data[] __weak;
extern char __start_scx_bss[] __weak, __stop_scx_bss[] __weak;
extern char __start_scx_rodata[] __weak, __stop_scx_rodata[] __weak;

int kern_scx_load(void)
{
	if (shim_scheduler == __start_scx_schedulers[0]) {
		hw_scheduler_code(__start_scx_text, __stop_scx_text);
		register_lines(__start_scx_data, __stop_scx_data);
		register_lines(__start_scx_bss, __stop_scx_bss);
	}
	shim_scx_make_maps();
	hw_freeze(__start_scx_rodata, __stop_scx_rodata);
	return shim_scx_attach();
}

/* As when their programs end: the last reference to a link is dropped in a kworker. */
static void unload(struct work_struct *work)
{
	long nr = &__stop_scx_schedulers[0] - &__start_scx_schedulers[0];

	while (nr-- > 0)
		shim_ext_unload(__start_scx_schedulers[nr]);
}

static DECLARE_WORK(unloading, unload);

static void begin_unloading(void *info)
{
	schedule_work(&unloading);
}

/* An interrupt of the first CPU does it, as if another one had called it. */
static void call(call_single_data_t *call)
{
	int cpu = cpumask_first(cpu_online_mask);

	call->node.u_flags = CSD_FLAG_LOCK;
	__smp_call_single_queue(cpu, &call->node.llist);
	hw_interrupt(cpu, HW_CALL);
}

void kern_scx_unload(void)
{
	static call_single_data_t unloads = CSD_INIT(begin_unloading, NULL);

	call(&unloads);
	/*
	 * 6.12 queues a balance callback when a deadline task changes its class, and takes the
	 * runqueue's lock again before it has run.
	 */
	hw_survives_warning("rq_pin_lock");
}

static void tick(void *info)
{
	shim_ext_tick();
}

/*
 * The kernel's watchdog is a work, whose kworker waits like all tasks for a scheduler that dispatches
 * none. That it does not look is what the tick of any CPU looks at, and on a real machine one ticks
 * sooner or later. Here all may be idle without a tick for ever, and time runs on.
 */
void kern_scx_look(void)
{
	static call_single_data_t ticks = CSD_INIT(tick, NULL);
	static unsigned long looked;
	static simtime since;

	if (!shim_ext_name() || looked != shim_ext_watchdog_looked()) {
		looked = shim_ext_watchdog_looked();
		since = hw.clk;
	} else if (hw.clk - since > jiffies_to_nsecs(shim_ext_longest_timeout) && !(ticks.node.u_flags & CSD_FLAG_LOCK)) {
		call(&ticks);
	}
}

/* The member of its operations for which it was not loaded; NULL: not for one. */
const char *kern_scx_refused(void)
{
	return shim_ext_refused_member();
}

int kern_scx_is_loaded(void)
{
	return shim_scheduler && __start_scx_schedulers[0]->loaded;
}

const char *kern_scx_name(void)
{
	return shim_ext_name();
}

/* Why, in one line; below it where in the dump of the kernel. */
void shim_scx_ended(const char *name, const char *reason, const char *msg, const char *where, const char *dump)
{
	static char text[2048];

	snprintf(text, sizeof(text), "sched_ext: BPF scheduler \"%s\" disabled (%s)%s%s%s", name, reason,
		 msg && *msg ? ": " : "", msg && *msg ? msg : "", where);
	hw_end_run(text, dump);
}
