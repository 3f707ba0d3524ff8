/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads a sched_ext scheduler from its BPF object and stays until the kernel has disabled it:
 *
 *	schedlab-scx-load OBJECT WORD ...
 *
 *	NAME=VALUE[,...]	a global variable of the scheduler, or an array's first elements
 *	NAME[KEY]=VALUE		an element of one of its maps
 *	+NAME			a flag of its operations, one of enum scx_ops_flags
 *	@CPU			stay on that CPU until it is loaded
 *	NAME:VALUE[,...]	run one of its programs with these numbers, before it is loaded
 *	:NAME:VALUE[,...]	the same, after that
 *
 * What the kernel does not have is left out, as the schedulers' own programs do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define STATE		"/sys/kernel/sched_ext/state"
#define MOST_NUMBERS	16
#define KERNELS_ENUM	"__SCX_"	/* variables that have the values of the kernel's enumerators */

static struct bpf_object *object;
static struct btf *kernel;

static void fail(const char *what, ...)
{
	int error = errno;
	va_list arguments;

	va_start(arguments, what);
	vfprintf(stderr, what, arguments);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(1);
}

static bool enumerator(const char *name, unsigned long long *value)
{
	unsigned int id, i;

	for (id = 1; id < btf__type_cnt(kernel); id++) {
		const struct btf_type *type = btf__type_by_id(kernel, id);

		for (i = 0; btf_is_any_enum(type) && i < btf_vlen(type); i++) {
			unsigned int off = btf_is_enum(type) ? btf_enum(type)[i].name_off : btf_enum64(type)[i].name_off;

			if (strcmp(btf__name_by_offset(kernel, off), name))
				continue;
			*value = btf_is_enum(type) ? (unsigned int)btf_enum(type)[i].val : btf_enum64_value(&btf_enum64(type)[i]);
			return true;
		}
	}
	return false;
}

/* The first bytes of a section's map, before it is loaded. */
static char *section(const char *name)
{
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_map(map, object) {
		const char *own = strchr(bpf_map__name(map), '.');

		if (own && !strcmp(own, name))
			return bpf_map__initial_value(map, &size);
	}
	return NULL;
}

/* The variables of all sections: where each is, and the size of a number there. */
static void for_each_variable(void (*each)(const char *name, char *at, unsigned int size, void *arg), void *arg)
{
	struct btf *btf = bpf_object__btf(object);
	unsigned int id, i;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		char *begin = btf_is_datasec(type) ? section(btf__name_by_offset(btf, type->name_off)) : NULL;

		for (i = 0; begin && i < btf_vlen(type); i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(type) + i;
			const struct btf_type *var = btf__type_by_id(btf, info->type), *of;
			unsigned int number = btf__resolve_type(btf, var->type);

			of = btf__type_by_id(btf, number);
			if (btf_is_array(of))
				number = btf__resolve_type(btf, btf_array(of)->type);
			each(btf__name_by_offset(btf, var->name_off), begin + info->offset,
			     btf__resolve_size(btf, number), arg);
		}
	}
}

static void take_from_kernel(const char *name, char *at, unsigned int size, void *arg)
{
	unsigned long long value;

	if (!strncmp(name, KERNELS_ENUM, strlen(KERNELS_ENUM)) && enumerator(name + 2, &value))
		memcpy(at, &value, size);
}

struct wanted {
	const char	*name, *numbers;
};

static void put(const char *name, char *at, unsigned int size, void *arg)
{
	const struct wanted *wanted = arg;
	char *next = (char *)wanted->numbers;

	if (strcmp(name, wanted->name))
		return;
	do {
		unsigned long long value = strtoull(next, &next, 0);

		memcpy(at, &value, size);
		at += size;
	} while (*next++ == ',');
}

static void run(const char *name, const char *numbers)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	int context[MOST_NUMBERS], nr = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context);
	char *next = (char *)numbers;

	do {
		context[nr++] = strtol(next, &next, 0);
	} while (*next++ == ',' && nr < MOST_NUMBERS);
	options.ctx_size_in = nr * sizeof(*context);
	if (!program)
		return;
	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
		fail("%s()", name);
	if (options.retval) {
		errno = -(int)options.retval;
		fail("%s(%s) answers %d", name, numbers, (int)options.retval);
	}
}

static void update(const char *name, unsigned int key, unsigned int value)
{
	int fd = bpf_object__find_map_fd_by_name(object, name);

	if (fd >= 0 && bpf_map_update_elem(fd, &key, &value, BPF_ANY))
		fail("%s[%u]", name, key);
}

static struct bpf_map *operations(void)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			return map;
	errno = ENOENT;
	fail("no scheduler in it");
	return NULL;
}

static unsigned long long *flags(void)
{
	struct btf *btf = bpf_object__btf(object);
	int id = btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT);
	const struct btf_type *type = btf__type_by_id(btf, id);
	size_t size;
	char *at = bpf_map__initial_value(operations(), &size);
	unsigned int i;

	for (i = 0; at && type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), "flags"))
			return (unsigned long long *)(at + btf_members(type)[i].offset / 8);
	errno = ENOENT;
	fail("its operations have no flags");
	return NULL;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("CPU %d", cpu);
}

enum when { OPENED, LOADED, ATTACHED };

static void obey(const char *given, enum when when)
{
	char *word = strdup(given), *equals = strchr(word, '='), *colon = strchr(word + 1, ':');
	char *bracket = equals ? strchr(word, '[') : NULL;
	bool is_late = *word == ':';
	unsigned long long value;

	if (*word == '@' && when == OPENED) {
		stay_on(atoi(word + 1));
	} else if (*word == '+' && when == OPENED) {
		if (enumerator(word + 1, &value))
			*flags() |= value;
	} else if (bracket && when == LOADED) {
		*bracket = 0;
		update(word, strtoul(bracket + 1, NULL, 0), strtoul(equals + 1, NULL, 0));
	} else if (equals && !bracket && when == OPENED) {
		*equals = 0;
		for_each_variable(put, &(struct wanted){ word, equals + 1 });
	} else if (colon && when == (is_late ? ATTACHED : LOADED)) {
		*colon = 0;
		run(word + is_late, colon + 1);
	}
	free(word);
}

static void obey_all(char **words, enum when when)
{
	for (; *words; words++)
		obey(*words, when);
}

static bool is_enabled(void)
{
	char state[32] = "";
	FILE *file = fopen(STATE, "r");

	if (file) {
		if (!fgets(state, sizeof(state), file))
			*state = 0;
		fclose(file);
	}
	return strncmp(state, "disabl", strlen("disabl"));
}

int main(int argc, char **argv)
{
	struct bpf_program *program;

	if (argc < 2) {
		fprintf(stderr, "usage: %s OBJECT WORD ...\n", argv[0]);
		return 2;
	}
	kernel = btf__load_vmlinux_btf();
	object = kernel ? bpf_object__open_file(argv[1], NULL) : NULL;
	if (!object)
		fail("%s", argv[1]);
	for_each_variable(take_from_kernel, NULL);
	obey_all(argv + 2, OPENED);
	if (bpf_object__load(object))
		fail("%s", argv[1]);
	obey_all(argv + 2, LOADED);
	bpf_object__for_each_program(program, object)
		if (bpf_program__autoload(program) && bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
		    !bpf_program__attach(program))
			fail("%s()", bpf_program__name(program));
	if (!bpf_map__attach_struct_ops(operations()))
		fail("%s: the kernel does not take it", argv[1]);
	obey_all(argv + 2, ATTACHED);
	while (is_enabled())
		usleep(100000);
	return 1;
}
