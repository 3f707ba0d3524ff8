/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpf's header of the same name: natively an operation's arguments are a function's own. */
#ifndef NATIVE_BPF_TRACING_H
#define NATIVE_BPF_TRACING_H

#define BPF_PROG(name, args...)		name(args)

#endif
