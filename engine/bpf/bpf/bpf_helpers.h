/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libbpf's header of the same name, as far as sched_ext schedulers use it, for a native compiler:
 * helpers are functions of engine/kernel/scx/, maps are declared as for libbpf and found by their
 * debug information.
 */
#ifndef NATIVE_BPF_HELPERS_H
#define NATIVE_BPF_HELPERS_H

#define SEC(name)		__attribute__((section(name), used))
#ifndef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#define always_inline			/* clang inlines a weak function too, gcc refuses to */
#ifndef __noinline
#define __noinline		__attribute__((noinline))
#endif
#ifndef __weak
#define __weak			__attribute__((weak))
#endif
#define __hidden
#define __kconfig
#define __ksym
#define __kptr
#define __kptr_untrusted
#define __percpu_kptr
#define __uptr
#define __arg_ctx
#define __arg_nonnull
#define __arg_nullable
#define __arg_trusted
#define __arg_untrusted
#define __arg_arena
#define __bpf_fastcall
#ifndef likely
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#endif
#ifndef NULL
#define NULL			((void *)0)
#endif
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#undef offsetof
#define offsetof(type, member)	__builtin_offsetof(type, member)
#undef container_of
#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))
/* What clang makes of a loop that the kernel bounds: natively the count of pieces of code does. */
#define __BPF_FEATURE_MAY_GOTO
__asm__(".macro may_goto to\n.endm");

/* A kernel does not load what may come there; natively it would run on into the next function. */
#define __builtin_unreachable()	__builtin_trap()

#define barrier()		__asm__ volatile ("" : : : "memory")
#define barrier_var(var)	__asm__ volatile ("" : "+r"(var))
#define bpf_ksym_exists(symbol)	(!!(&symbol))

#define __uint(name, val)	int (*name)[val]
#define __ulong(name, val)	enum { __native_cat(name##_value_, __COUNTER__) = val } *name
#define __type(name, val)	typeof(val) *name
#define __array(name, val)	typeof(val) *name[]
#define __native_cat_(a, b)	a##b
#define __native_cat(a, b)	__native_cat_(a, b)
#define ___bpf_concat(a, b)	a##b
#define ___bpf_apply(a, b)	__native_cat(a, b)

enum libbpf_pin_type { LIBBPF_PIN_NONE, LIBBPF_PIN_BY_NAME };
enum libbpf_tristate { TRI_NO, TRI_YES, TRI_MODULE };

/* ------------------------------------------------------------------ arguments of a format */

#define __native_12th(a, b, c, d, e, f, g, h, i, j, k, l, n, rest...)	n
#define ___bpf_narg(args...)	__native_12th(_, ##args, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __native_put0(to, i, none...)
#define __native_put1(to, i, x)		to[i] = (unsigned long long)(x);
#define __native_put2(to, i, x, more...) __native_put1(to, i, x) __native_put1(to, i + 1, more)
#define __native_put3(to, i, x, more...) __native_put1(to, i, x) __native_put2(to, i + 1, more)
#define __native_put4(to, i, x, more...) __native_put1(to, i, x) __native_put3(to, i + 1, more)
#define __native_put5(to, i, x, more...) __native_put1(to, i, x) __native_put4(to, i + 1, more)
#define __native_put6(to, i, x, more...) __native_put1(to, i, x) __native_put5(to, i + 1, more)
#define __native_put7(to, i, x, more...) __native_put1(to, i, x) __native_put6(to, i + 1, more)
#define __native_put8(to, i, x, more...) __native_put1(to, i, x) __native_put7(to, i + 1, more)
#define __native_put9(to, i, x, more...) __native_put1(to, i, x) __native_put8(to, i + 1, more)
#define __native_put10(to, i, x, more...) __native_put1(to, i, x) __native_put9(to, i + 1, more)
#define __native_put11(to, i, x, more...) __native_put1(to, i, x) __native_put10(to, i + 1, more)
#define ___bpf_fill(to, args...)	__native_cat(__native_put, ___bpf_narg(args))(to, 0, ##args)

#define bpf_printk(fmt, args...)							\
({											\
	static const char ____fmt[] = fmt;						\
	unsigned long long ____args[___bpf_narg(args) + 1] = {};			\
	___bpf_fill(____args, args)							\
	bpf_trace_vprintk(____fmt, sizeof(____fmt), ____args, sizeof(____args) - 8);	\
})
#define BPF_SNPRINTF(to, size, fmt, args...)						\
({											\
	static const char ____fmt[] = fmt;						\
	unsigned long long ____args[___bpf_narg(args) + 1] = {};			\
	___bpf_fill(____args, args)							\
	bpf_snprintf(to, size, ____fmt, ____args, sizeof(____args) - 8);		\
})

/* ------------------------------------------------------------------ loops */

#define bpf_for_each(type, cur, args...)						\
	for (struct bpf_iter_##type ___it __attribute__((cleanup(bpf_iter_##type##_destroy))) = {},	\
	     *___once __attribute__((unused)) = (bpf_iter_##type##_new(&___it, ##args), &___it);	\
	     ((cur) = bpf_iter_##type##_next(&___it)); )
#define __native_most_turns	(1LL << 23)	/* with more, the kernel makes none */
#define __native_end(start, end)							\
({											\
	long long ____end = (end);							\
	____end - (start) > __native_most_turns ? (start) : (int)____end;		\
})
#define bpf_for(i, start, end)								\
	for (int ___i = (bpf_loop_begins(), start), ___end = __native_end(___i, end);	\
	     bpf_loop_turn(), ___i < ___end && ((i) = ___i, 1); ___i++)
#define bpf_repeat(n)									\
	for (int ___i = (bpf_loop_begins(), 0), ___n = __native_end(0, n); bpf_loop_turn(), ___i < ___n; ___i++)

/* ------------------------------------------------------------------ helpers */

struct bpf_timer;
struct bpf_spin_lock;

void *__builtin_memcpy_inline(void *to, const void *from, unsigned long size);	/* clang's */
void *__builtin_memset_inline(void *to, int byte, unsigned long size);
void bpf_loop_begins(void);	/* what the two loops call; their number is the compiler's here */
void bpf_loop_turn(void);
struct bpf_iter_num;
int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end);
int *bpf_iter_num_next(struct bpf_iter_num *it);
void bpf_iter_num_destroy(struct bpf_iter_num *it);

void *bpf_map_lookup_elem(void *map, const void *key);
void *bpf_map_lookup_percpu_elem(void *map, const void *key, u32 cpu);
long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
long bpf_map_push_elem(void *map, const void *value, u64 flags);
long bpf_map_pop_elem(void *map, void *value);
long bpf_map_peek_elem(void *map, void *value);
long bpf_for_each_map_elem(void *map, void *callback, void *context, u64 flags);
void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, u64 flags);
long bpf_task_storage_delete(void *map, struct task_struct *task);
void *bpf_cgrp_storage_get(void *map, struct cgroup *cgroup, void *value, u64 flags);
long bpf_cgrp_storage_delete(void *map, struct cgroup *cgroup);
void *bpf_kptr_xchg(void *where, void *pointer);
long bpf_loop(u32 turns, void *callback, void *context, u64 flags);
u64 bpf_ktime_get_ns(void);
u64 bpf_ktime_get_boot_ns(void);
u64 bpf_ktime_get_coarse_ns(void);
u64 bpf_jiffies64(void);
void *bpf_per_cpu_ptr(const void *variable, u32 cpu);
void *bpf_this_cpu_ptr(const void *variable);
u32 bpf_get_prandom_u32(void);
u32 bpf_get_smp_processor_id(void);
long bpf_get_numa_node_id(void);
u64 bpf_get_current_pid_tgid(void);
u64 bpf_get_current_task(void);
long bpf_probe_read_str(void *to, u32 size, const void *from);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_get_current_comm(void *buf, u32 size);
long bpf_probe_read_kernel(void *to, u32 size, const void *from);
long bpf_probe_read_kernel_str(void *to, u32 size, const void *from);
long bpf_trace_vprintk(const char *fmt, u32 size, const void *args, u32 bytes);
long bpf_snprintf(char *to, u32 size, const char *fmt, u64 *args, u32 bytes);
long bpf_strncmp(const char *a, u32 size, const char *b);
long bpf_perf_event_read_value(void *map, u64 flags, void *value, u32 size);
void *bpf_ringbuf_reserve(void *map, u64 size, u64 flags);
void bpf_ringbuf_submit(void *data, u64 flags);
void bpf_ringbuf_discard(void *data, u64 flags);
long bpf_ringbuf_output(void *map, void *data, u64 size, u64 flags);
u64 bpf_ringbuf_query(void *map, u64 flags);
void bpf_spin_lock(struct bpf_spin_lock *lock);
void bpf_spin_unlock(struct bpf_spin_lock *lock);
long bpf_timer_init(struct bpf_timer *timer, void *map, u64 flags);
long bpf_timer_set_callback(struct bpf_timer *timer, void *callback);
long bpf_timer_start(struct bpf_timer *timer, u64 ns, u64 flags);
long bpf_timer_cancel(struct bpf_timer *timer);

#endif
