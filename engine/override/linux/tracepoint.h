/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces linux/tracepoint.h.  Every tracepoint is a struct kern_tracepoint in
 * the kern_tracepoints section: it always counts, calls our probe if there is
 * one, and prints itself (trace/trace_events.h beside this) when asked to.
 */
#ifndef _LINUX_TRACEPOINT_H
#define _LINUX_TRACEPOINT_H

#include <linux/smp.h>
#include <linux/srcu.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint-defs.h>
#include <linux/static_call.h>
#include <kern.h>

struct module;

static inline void tracepoint_synchronize_unregister(void) { }

#define TRACEPOINTS_ENABLED
#define TRACE_DEFINE_ENUM(x)
#define TRACE_DEFINE_SIZEOF(x)
#define PARAMS(args...)			args
#define TP_PROTO(args...)		args
#define TP_ARGS(args...)		args
#define TP_CONDITION(args...)		args

#define DEFINE_TRACE_FN(_name, reg, unreg, proto, args)			\
	extern void shim_emit_##_name(proto) __weak;			\
	struct kern_tracepoint shim_tp_##_name				\
	__used __section("kern_tracepoints") = {				\
		.system = __stringify(TRACE_SYSTEM),			\
		.name = #_name,						\
		.emit = shim_emit_##_name,				\
	};
#define DEFINE_TRACE(name, proto, args)					\
	DEFINE_TRACE_FN(name, 0, 0, PARAMS(proto), PARAMS(args))
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)
#define EXPORT_TRACEPOINT_SYMBOL(name)

#define __SHIM_TRACE(_name, proto, args, cond)				\
	extern struct kern_tracepoint shim_tp_##_name;			\
	static inline void trace_##_name(proto)				\
	{								\
		/* where the code of a caller is, and nowhere else: run/trace.c asks */ \
		asm(".pushsection kern_raised, \"a\"\n\t.quad shim_tp_" #_name "\n\t.popsection"); \
		if (!(cond))						\
			return;						\
		shim_tp_##_name.count++;				\
		if (shim_tp_##_name.probe)				\
			((void (*)(proto))shim_tp_##_name.probe)(args);	\
		if (unlikely(shim_tp_##_name.enabled))			\
			((void (*)(proto))shim_tp_##_name.emit)(args);	\
	}								\
	static inline void trace_call__##_name(proto)			\
	{								\
		trace_##_name(args);					\
	}								\
	static inline void trace_##_name##_rcuidle(proto)		\
	{								\
		trace_##_name(args);					\
	}								\
	static inline int						\
	register_trace_##_name(void *probe, void *data)			\
	{								\
		return -ENOSYS;						\
	}								\
	static inline int						\
	unregister_trace_##_name(void *probe, void *data)		\
	{								\
		return -ENOSYS;						\
	}								\
	static inline bool trace_##_name##_enabled(void)		\
	{								\
		return true;						\
	}

#define __tracepoint_string
#define tracepoint_string(str)	str
#endif

/* define_trace.h undefines these after each CREATE_TRACE_POINTS pass: re-readable */
#ifndef TRACE_EVENT
#undef DECLARE_TRACE
#undef DECLARE_TRACE_CONDITION
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef DECLARE_EVENT_NOP
#undef DECLARE_EVENT_CLASS_NOP
#undef DECLARE_TRACE_EVENT
#undef DECLARE_TRACE_EVENT_CONDITION
#define DECLARE_TRACE_EVENT(name, proto, args)				\
	__SHIM_TRACE(name, PARAMS(proto), PARAMS(args), 1)
#define DECLARE_TRACE_EVENT_CONDITION(name, proto, args, cond)		\
	__SHIM_TRACE(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
/* One without an event is called trace_NAME_tp() in newer trees, trace_NAME() before. */
#ifdef TREE_HAS_TRACE_TP_SUFFIX
#define SHIM_BARE(name)	name##_tp
#else
#define SHIM_BARE(name)	name
#endif
#define DECLARE_TRACE(name, proto, args)				\
	DECLARE_TRACE_EVENT(SHIM_BARE(name), PARAMS(proto), PARAMS(args))
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)		\
	DECLARE_TRACE_EVENT_CONDITION(SHIM_BARE(name), PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_FLAGS(event, flag)
#define TRACE_EVENT_PERF_PERM(event, expr...)
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT(template, name, proto, args)			\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)	\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)		\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)	\
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT(name, proto, args, struct, assign, print)		\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_FN(name, proto, args, struct, assign, print, reg, unreg) \
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_FN_COND(name, proto, args, cond, struct, assign, print, reg, unreg) \
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, struct, assign, print) \
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define DECLARE_EVENT_NOP(name, proto, args)				\
	static inline void trace_##name(proto) { }			\
	static inline bool trace_##name##_enabled(void) { return false; }
#define TRACE_EVENT_NOP(name, proto, args, struct, assign, print)	\
	DECLARE_EVENT_NOP(name, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT_NOP(template, name, proto, args)			\
	DECLARE_EVENT_NOP(name, PARAMS(proto), PARAMS(args))
#endif
