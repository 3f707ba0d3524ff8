/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces trace/trace_events.h: makes, for every TRACE_EVENT, a function that
 * fills the event's record and prints it with the event's own format.
 */
#include "../../kernel/trace_print.h"

#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)		\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args),		\
			    PARAMS(tstruct), PARAMS(assign), PARAMS(print)) \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg) \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)	\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)	\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
/* A second format for the same record: the class's own will do. */
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)		\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT(name, proto, args)

#undef __field
#define __field(type, item)		type item;
#undef __field_struct
#define __field_struct(type, item)	type item;
#undef __field_ext
#define __field_ext(type, item, filter)	type item;
#undef __array
#define __array(type, item, len)	type item[len];
#undef __string
#define __string(item, src)		const char *item;
#undef __string_len
#define __string_len(item, src, len)	const char *item;
#undef __bitmask
#define __bitmask(item, nr_bits)	const unsigned long *item;
#undef __cpumask
#define __cpumask(item)			const unsigned long *item;
#undef __dynamic_array
#define __dynamic_array(type, item, len) type item[1];
#undef TP_STRUCT__entry
#define TP_STRUCT__entry(args...)	args
#undef TP_fast_assign
#define TP_fast_assign(args...)		args
#undef TP_printk
#define TP_printk(fmt, args...)		fmt, ##args
#undef __get_str
#define __get_str(item)			(__entry->item)
#undef __get_bitmask
#define __get_bitmask(item)		"-"
#undef __get_cpumask
#define __get_cpumask(item)		"-"
#undef __assign_bitmask
#define __assign_bitmask(item, src, nr)	__entry->item = (src)
#undef __assign_cpumask
#define __assign_cpumask(item, src)	__entry->item = (src)
#undef __print_flags
#define __print_flags(flag, delim, flags...)				\
({									\
	static const struct trace_print_flags __flags[] = { flags, { -1, NULL } }; \
	shim_print_flags(flag, delim, __flags);				\
})
#undef __print_symbolic
#define __print_symbolic(value, symbols...)				\
({									\
	static const struct trace_print_flags __symbols[] = { symbols, { -1, NULL } }; \
	shim_print_symbolic(value, __symbols);				\
})

/*
 * First the records, then what fills and prints one: the strings, whose sources stand beside their
 * fields, and the rest.
 */
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(_name, proto, args, tstruct, assign, print)	\
struct shim_record_##_name {						\
	tstruct								\
	int __end;							\
};
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, _name, proto, args)

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

#undef __field
#define __field(type, item)
#undef __field_struct
#define __field_struct(type, item)
#undef __field_ext
#define __field_ext(type, item, filter)
#undef __array
#define __array(type, item, len)
#undef __string
#define __string(item, src)		__entry->item = shim_trace_string(src);
#undef __string_len
#define __string_len(item, src, len)
#undef __bitmask
#define __bitmask(item, nr_bits)
#undef __cpumask
#define __cpumask(item)
#undef __dynamic_array
#define __dynamic_array(type, item, len)
#undef __assign_str
#define __assign_str(item, src...)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(_name, proto, args, tstruct, assign, print)	\
static noinline void shim_emit_class_##_name(const struct kern_tracepoint *__tp, proto) \
{									\
	struct shim_record_##_name __data = { }, *__entry = &__data;	\
	(void)__entry;							\
	tstruct								\
	assign								\
	shim_trace_printf(__tp, print);					\
}

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, _name, proto, args)			\
void shim_emit_##_name(proto);						\
void shim_emit_##_name(proto)						\
{									\
	shim_emit_class_##template(&shim_tp_##_name, args);		\
}

#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
