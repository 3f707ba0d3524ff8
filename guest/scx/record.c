/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches record.bpf.c to each operation of the sched_ext schedulers that are loaded, prints a line
 * for each (number, name, kinds of the arguments, kind of the answer), "unseen" and the name of one
 * that the kernel lets nobody look at, says "ready" and stays until its input ends. Kinds are
 * engine/scripts/scx/signatures.py's. A sub-scheduler's names begin with what an argument ID=NAME
 * says of its group:
 *
 *	scx-record [ID=NAME ...]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "record.skel.h"

#define MOST_ARGUMENTS	4

static struct btf *kernel;

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static char kind_of(unsigned int id)
{
	const struct btf_type *type;

	if (!id)
		return 'v';
	id = btf__resolve_type(kernel, id);
	type = btf__type_by_id(kernel, id);
	if (btf_is_ptr(type)) {
		const struct btf_type *to = btf__type_by_id(kernel, btf__resolve_type(kernel, type->type));

		return to && btf_is_struct(to) && !strcmp(btf__name_by_offset(kernel, to->name_off), "task_struct") ? 't' : 'p';
	}
	if (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_BOOL)
		return 'b';
	if (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED)
		return type->size == 8 ? 'D' : 'd';
	return type->size == 8 ? 'x' : 'u';
}

static const struct btf_member *member_of(const struct btf_type *type, const char *name)
{
	unsigned int i;

	for (i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(kernel, btf_members(type)[i].name_off), name))
			return btf_members(type) + i;
	return NULL;
}

static unsigned int nr_operations;

static void attach(const char *of, const char *operation, const struct btf_type *proto, unsigned int program)
{
	struct record_bpf *skel = record_bpf__open();
	const struct btf_param *params = btf_params(proto);
	unsigned int nr = btf_vlen(proto), size, i;
	int fd = bpf_prog_get_fd_by_id(program);
	char kinds[MOST_ARGUMENTS + 1] = "", function[128], name[256];
	struct bpf_prog_info info = {};
	struct bpf_func_info first = {};
	struct btf *btf;

	snprintf(name, sizeof(name), "%s%s%s", of, *of ? ":" : "", operation);
	/* Its whole name is in its types: info has 15 letters of it. */
	info.nr_func_info = 1;
	info.func_info_rec_size = sizeof(first);
	info.func_info = (unsigned long)&first;
	size = sizeof(info);
	if (!skel || fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		fail(name);
	btf = btf__load_from_kernel_by_id(info.btf_id);
	if (!btf)
		fail(name);
	snprintf(function, sizeof(function), "%s",
		 btf__name_by_offset(btf, btf__type_by_id(btf, first.type_id)->name_off));
	for (i = 0; i < nr && i < MOST_ARGUMENTS; i++)
		kinds[i] = kind_of(params[i].type);
	skel->rodata->operation = nr_operations;
	skel->rodata->nr_arguments = strlen(kinds);
	strcpy((char *)skel->rodata->kinds, kinds);
	if (bpf_program__set_attach_target(skel->progs.begins, fd, function) ||
	    bpf_program__set_attach_target(skel->progs.ends, fd, function) || record_bpf__load(skel) ||
	    record_bpf__attach(skel)) {
		if (errno != EOPNOTSUPP)
			fail(function);
		record_bpf__destroy(skel);
		printf("unseen %s\n", name);
		return;
	}
	printf("%u %s %s %c\n", nr_operations++, name, *kinds ? kinds : "-", kind_of(proto->type));
}

/* Of a sub-scheduler what the arguments call its group; the root's is empty, NULL: nobody asked for it. */
static const char *called(const struct btf_type *type, const char *operations, char **groups)
{
	const struct btf_member *member = member_of(type, "sub_cgroup_id");
	unsigned long long id = member ? *(unsigned long long *)(operations + member->offset / 8) : 0;

	if (id <= 1)
		return "";
	for (; *groups; groups++) {
		char *equals = strchr(*groups, '=');

		if (equals && strtoull(*groups, NULL, 10) == id)
			return equals + 1;
	}
	return NULL;
}

static void attach_all(const struct btf_type *type, const char *operations, const char *of)
{
	const struct btf_member *member;
	unsigned int i;

	for (i = 0, member = btf_members(type); i < btf_vlen(type); i++, member++) {
		const struct btf_type *to = btf__type_by_id(kernel, btf__resolve_type(kernel, member->type));
		unsigned long program = *(unsigned long *)(operations + member->offset / 8);

		if (!btf_is_ptr(to) || !program)
			continue;
		to = btf__type_by_id(kernel, btf__resolve_type(kernel, to->type));
		if (to && btf_is_func_proto(to))
			attach(of, btf__name_by_offset(kernel, member->name_off), to, program);
	}
}

/* The maps of operations that are in the kernel: their values have the programs' ids. */
int main(int argc, char **argv)
{
	unsigned int id = 0, nr = 0;
	char byte;

	libbpf_set_print(NULL);
	kernel = btf__load_vmlinux_btf();
	if (!kernel)
		fail("the kernel's types");
	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = {};
		unsigned int size = sizeof(info), zero = 0;
		int fd = bpf_map_get_fd_by_id(id);
		char *value = NULL;

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_MAP_TYPE_STRUCT_OPS)
			value = calloc(1, info.value_size);
		if (value && !bpf_map_lookup_elem(fd, &zero, value)) {
			const struct btf_type *whole = btf__type_by_id(kernel, info.btf_vmlinux_value_type_id);
			const struct btf_member *data = member_of(whole, "data");
			const struct btf_type *type = btf__type_by_id(kernel, btf__resolve_type(kernel, data->type));
			const char *of = called(type, value + data->offset / 8, argv + 1);

			if (of)
				attach_all(type, value + data->offset / 8, of);
			nr += !!of;
		}
		free(value);
		close(fd);
	}
	if (nr != (unsigned int)argc) {		/* the root, and one for each argument */
		printf("%u schedulers are loaded in place of %d\n", nr, argc);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
