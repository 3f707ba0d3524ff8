/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libbpf's header of the same name: a scheduler is compiled against the very tree's types, so
 * nothing is relocated. Fields of its own declarations of them that the tree does not have are known
 * by their alignment (engine/scripts/scx/flavours.py).
 */
#ifndef NATIVE_BPF_CORE_READ_H
#define NATIVE_BPF_CORE_READ_H

#define __native_exists1(field)				(__alignof__(field) < 16384)
#define __native_exists2(type, field)			__native_exists1(((typeof(type) *)0)->field)
#define bpf_core_field_exists(field...)			__native_cat(__native_exists, ___bpf_narg(field))(field)
#define bpf_core_type_exists(type)			1
#define bpf_core_type_matches(type)			1
#define bpf_core_enum_value_exists(type, value)		({ (void)(value); 1; })
#define bpf_core_enum_value(type, value)		(value)
#define bpf_core_field_size(field...)			sizeof(field)
#define bpf_core_type_size(type)			sizeof(type)
/* What bpf_obj_new() asks for: the kernel has the object's size by its type. */
#define bpf_core_type_id_local(type)			sizeof(type)
#define bpf_core_cast(pointer, type)			((typeof(type) *)(pointer))
#define bpf_core_read(to, size, from)			bpf_probe_read_kernel(to, size, from)

#define __native_arrow1(s, a)				(s)->a
#define __native_arrow2(s, a, more...)			__native_arrow1((s)->a, more)
#define __native_arrow3(s, a, more...)			__native_arrow2((s)->a, more)
#define __native_arrow4(s, a, more...)			__native_arrow3((s)->a, more)
#define BPF_CORE_READ(s, args...)			__native_cat(__native_arrow, ___bpf_narg(args))(s, args)
#define BPF_PROBE_READ(s, args...)			BPF_CORE_READ(s, args)

#endif
