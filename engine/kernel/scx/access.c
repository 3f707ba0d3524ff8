// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the compiler has the scheduler's code call for each access to memory (-fsanitize=thread):
 * whether it may, and what it costs where other CPUs have the line.  Atomic operations come here
 * whole.  And what it calls for each piece of code without a branch (-fsanitize-coverage=trace-pc):
 * the time it takes, and an end where it has none.
 */
#include "scx.h"

#define native(name)	native___tsan_##name

/*
 * BPF_MAX_LOOPS turns, of a few pieces each: no loop that the verifier or can_loop lets through
 * takes more.
 */
#define MOST_BLOCKS	(4U << 23)
#define PS_TOGETHER	8000		/* charged at once: the clock counts nanoseconds */

#define MOST_NESTED	16		/* operations, and callbacks in them */
/*
 * Functions of it in each other: the verifier lets eight (MAX_CALL_FRAMES), of which clang may have
 * made one where gcc makes several.
 */
#define MOST_CALLS	32U

/*
 * What a task runs of the scheduler, with what interrupts it there: an operation that sleeps or is
 * preempted lets others run on its CPU.
 */
struct shim_code {
	unsigned int	blocks;		/* of the operation */
	unsigned int	depth;		/* functions of the scheduler */
	int		held[SHIM_SCX_NR_HELD];
	unsigned int	nested;
	bool		is_pinned;
	struct {
		unsigned int	depth;
		const void	*ip;		/* in an operation */
		int		held[SHIM_SCX_NR_HELD];
	} entered[MOST_NESTED];
};

static struct {
	unsigned int	owed;		/* picoseconds */
	bool		is_called_back;	/* what is entered next */
} cpus[HW_MAX_CPUS];

static struct shim_code *code_of_task(void)
{
	struct shim_code **code = &current->thread.code;

	if (unlikely(!*code))
		*code = hw_zalloc(sizeof(**code), 64);
	return *code;
}

void shim_scx_holds(enum shim_scx_held what, int change)
{
	code_of_task()->held[what] += change;
}

int shim_scx_held(enum shim_scx_held what)
{
	return code_of_task()->held[what];
}

const void *shim_scx_operation_ip(void)
{
	const struct shim_code *code = code_of_task();
	unsigned int i = min_t(unsigned int, code->nested, MOST_NESTED);

	while (i && !code->entered[i - 1].ip)	/* a callback is of the operation that it is called in */
		i--;
	return i ? code->entered[i - 1].ip : NULL;
}

void shim_scx_charge(unsigned int ns)
{
	simtime before = hw.clk;

	hw_charge(ns);
	hw_counts.bpf_ns += hw.clk - before;
}

static __cold void end(const char *why, unsigned int most)
{
	static char text[100];

	snprintf(text, sizeof(text), why, most);
	hw_end_in_scheduler(text);
}

void native___sanitizer_cov_trace_pc(void)
{
	unsigned int *owed = &cpus[hw.cpu].owed;

	if (unlikely(!current))		/* AddressSanitizer's constructor */
		return;
	*owed += hw_costs.bpf_blocks_per_1000;
	if (*owed >= PS_TOGETHER) {
		unsigned int ns = *owed / 1000;

		*owed %= 1000;
		shim_scx_charge(ns);
	}
	if (++code_of_task()->blocks > MOST_BLOCKS)
		end("the scheduler does not come to an end: %u pieces of code in one operation", MOST_BLOCKS);
}

void native(init)(void)
{
}

/* Where nothing is entered and left (AddressSanitizer's builds), this alone says so. */
void shim_scx_new_operation(void)
{
	struct shim_code *code = code_of_task();

	if (!code->nested)
		code->blocks = 0;
}

/*
 * As BPF's trampoline does it: where a task may be preempted or sleep, it goes on on the same CPU.
 */
static void pin(struct shim_code *code)
{
	if (preempt_count() || irqs_disabled())
		return;
	migrate_disable();
	code->is_pinned = true;
}

static void unpin(struct shim_code *code)
{
	if (!code->is_pinned)
		return;
	code->is_pinned = false;
	migrate_enable();
}

/* A function of its own calls it, or the kernel does. */
void native(func_entry)(void *caller)
{
	struct shim_code *code = code_of_task();
	bool is_called_back = cpus[hw.cpu].is_called_back;

	if (caller >= (void *)__start_scx_text && caller < (void *)__stop_scx_text) {
		code->depth++;
		if (code->nested && code->nested <= MOST_NESTED &&
		    code->depth - code->entered[code->nested - 1].depth > MOST_CALLS)
			end("the scheduler calls more than %u functions of its own in each other (BPF: 8)", MOST_CALLS);
		return;
	}
	cpus[hw.cpu].is_called_back = false;
	if (!code->nested)
		pin(code);
	if (code->nested < MOST_NESTED) {
		code->entered[code->nested].depth = code->depth;
		code->entered[code->nested].ip = is_called_back ? NULL : __builtin_return_address(0);
		memcpy(code->entered[code->nested].held, code->held, sizeof(code->held));
	}
	if (!code->nested)
		code->blocks = 0;
	code->nested++;
	code->depth++;
	if (!is_called_back)
		shim_scx_charge(hw_costs.bpf_op);
}

void shim_scx_calls_back(void)
{
	cpus[hw.cpu].is_called_back = true;
}

/* The verifier refuses what leaves an operation with more held than it came with. */
static void check_held(const int *before, const int *after)
{
	static const char *const what[] = {
		[SHIM_SCX_RCU] = "RCU's read lock", [SHIM_SCX_PREEMPTION] = "preemption off",
		[SHIM_SCX_LOCKS] = "a spinlock", [SHIM_SCX_MESSAGES] = "a message of a ring buffer",
	};
	static char text[100];
	int i;

	for (i = 0; i < SHIM_SCX_NR_HELD; i++)
		if (before[i] != after[i]) {
			snprintf(text, sizeof(text), "the scheduler comes with %s held %d times and leaves with %d",
				 what[i], before[i], after[i]);
			hw_end_in_scheduler(text);
		}
}

void native(func_exit)(void)
{
	struct shim_code *code = code_of_task();

	code->depth--;
	if (code->nested > MOST_NESTED || code->depth != code->entered[code->nested - 1].depth) {
		if (code->nested > MOST_NESTED)
			code->nested--;
		return;
	}
	code->nested--;
	check_held(code->entered[code->nested].held, code->held);
	if (!code->nested)
		unpin(code);
}

/*
 * Of so many bytes of variables the lines that are used become lines that CPUs share when they are
 * first used.
 */
static const char *late, *late_end;
static unsigned long *late_lines;

void shim_scx_register_late(const char *begin, const char *end)
{
	late = (const char *)round_down((unsigned long)begin, L1_CACHE_BYTES);
	late_end = end;
	late_lines = hw_zalloc(BITS_TO_LONGS((late_end - late) / L1_CACHE_BYTES + 1) * sizeof(long), 64);
}

static void register_late(const char *at)
{
	unsigned long nr = (at - late) / L1_CACHE_BYTES;

	if (!__test_and_set_bit(nr, late_lines))
		hw_hot_register(at, at);
}

static inline void line(const void *at, bool write)
{
	at = shim_scx_line(at);
	if (unlikely((const char *)at >= late && (const char *)at < late_end))
		register_late(at);
	if (hw_hot_filter[((unsigned long)at >> 6) % HW_HOT_FILTER])
		hw_hot_line(at, write);
}

static inline void access(const void *at, unsigned int size, bool write)
{
	shim_scx_check(at, size, write);
	line(at, write);
}

void shim_scx_access(const void *at, unsigned int size, bool write)
{
	const char *line_at;

	shim_scx_check(at, size, write);
	for (line_at = at; line_at < (const char *)at + size; line_at += L1_CACHE_BYTES)
		line(line_at, write);
}

/* ------------------------------------------------------------------ indices of arrays */

static bool any_index[HW_MAX_CPUS];

void native___scx_bounds(int are_checked)
{
	any_index[hw.cpu] = !are_checked;
}

/* What the compiler tells of an index: where it is, and the types. */
struct out_of_bounds {
	struct { const char *file; u32 line, column; } at;
	const struct { u16 kind, info; char name[]; } *array, *index;
};

void native___ubsan_handle_out_of_bounds(const struct out_of_bounds *what, unsigned long index)
{
	static char text[200];

	if (any_index[hw.cpu])
		return;
	snprintf(text, sizeof(text), "the scheduler uses index %ld of an array of type %s", (long)index, what->array->name);
	hw_end_in_scheduler(text);
}

#define ACCESS(size)								\
void native(read##size)(void *at) { access(at, size, false); }			\
void native(write##size)(void *at) { access(at, size, true); }			\
void native(unaligned_read##size)(void *at) { access(at, size, false); }		\
void native(unaligned_write##size)(void *at) { access(at, size, true); }		\
void native(volatile_read##size)(void *at) { access(at, size, false); }		\
void native(volatile_write##size)(void *at) { access(at, size, true); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

void native(read_range)(void *at, unsigned long size)
{
	access(at, size, false);
}

void native(write_range)(void *at, unsigned long size)
{
	access(at, size, true);
}

/* What the compiler makes of copies and assignments of structures. */
void *native(memcpy)(void *to, const void *from, unsigned long size)
{
	access(from, size, false);
	access(to, size, true);
	return memmove(to, from, size);
}

void *native(memset)(void *to, int byte, unsigned long size)
{
	access(to, size, true);
	return memset(to, byte, size);
}

/* ------------------------------------------------------------------ atomic operations */

static inline void atomic_access(const void *at, unsigned int size)
{
	access(at, size, true);
	shim_scx_charge(hw_costs.lock);
}

#define FETCH(bits, name, change)						\
u##bits native(atomic##bits##_##name)(u##bits *at, u##bits value, int order)	\
{										\
	u##bits before;								\
										\
	atomic_access(at, bits / 8);						\
	before = *at;								\
	*at = change;								\
	return before;								\
}
#define ATOMICS(bits)								\
u##bits native(atomic##bits##_load)(const u##bits *at, int order)		\
{										\
	access(at, bits / 8, false);						\
	return *at;								\
}										\
void native(atomic##bits##_store)(u##bits *at, u##bits value, int order)		\
{										\
	access(at, bits / 8, true);						\
	*at = value;								\
}										\
FETCH(bits, exchange, value)							\
FETCH(bits, fetch_add, before + value)						\
FETCH(bits, fetch_sub, before - value)						\
FETCH(bits, fetch_and, before & value)						\
FETCH(bits, fetch_or, before | value)						\
FETCH(bits, fetch_xor, before ^ value)						\
FETCH(bits, fetch_nand, ~(before & value))					\
int native(atomic##bits##_compare_exchange_strong)(u##bits *at, u##bits *expected, u##bits value, int o, int f)	\
{										\
	u##bits found;								\
										\
	atomic_access(at, bits / 8);						\
	found = *at;								\
	if (found == *expected) {						\
		*at = value;							\
		return 1;							\
	}									\
	*expected = found;							\
	return 0;								\
}										\
int native(atomic##bits##_compare_exchange_weak)(u##bits *at, u##bits *expected, u##bits value, int o, int f)	\
{										\
	return native(atomic##bits##_compare_exchange_strong)(at, expected, value, o, f);	\
}										\
u##bits native(atomic##bits##_compare_exchange_val)(u##bits *at, u##bits expected, u##bits value, int o, int f)	\
{										\
	native(atomic##bits##_compare_exchange_strong)(at, &expected, value, o, f);	\
	return expected;							\
}
ATOMICS(8) ATOMICS(16) ATOMICS(32) ATOMICS(64)

void native(atomic_thread_fence)(int order)
{
	shim_scx_charge(hw_costs.lock);
}
