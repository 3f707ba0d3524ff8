/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads a sched_ext scheduler from its BPF object and stays until the kernel has disabled it:
 *
 *	schedlab-scx-load OBJECT WORD ...
 *
 *	NAME=VALUE[,...]	a global variable of the scheduler, or an array's first elements
 *	NAME[I].[MEMBER]=VALUE[,...]	the same, of one element of an array: of a row, or a structure's member
 *	NAME[KEY]=VALUE		an element of one of its maps
 *	+NAME			a flag of its operations, one of enum scx_ops_flags
 *	-NAME			an operation that is left out
 *	&NAME			a program of its that is loaded and attached
 *	@CPU			stay on that CPU until it is loaded
 *	NAME:VALUE[,...]	run one of its programs with these numbers, before it is loaded
 *	:NAME:VALUE[,...]	the same, after that
 *	%=VALUE[,...]		write numbers of 64 bits to the address in the arena that the program
 *				run last has put into the first 64 bits of what it was given
 *
 * Numbers for programs have 32 bits; `%` is that address, `sizeof(STRUCT)` a size, both of 64 bits.
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
#define SIZE_OF		"sizeof("
#define KERNELS_ENUM	"__SCX_"	/* variables that have the values of the kernel's enumerators */

static struct bpf_object *object;
static struct btf *kernel;
static unsigned long long answered;	/* by the program that was run last */

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

/* What an array has, or the thing itself. */
static unsigned int element_type(struct btf *btf, unsigned int type)
{
	const struct btf_type *of;

	type = btf__resolve_type(btf, type);
	of = btf__type_by_id(btf, type);
	if (btf_is_array(of))
		type = btf__resolve_type(btf, btf_array(of)->type);
	return type;
}

/* The variables of all sections: where each is, and the type of what it has there. */
static void for_each_variable(void (*each)(const char *name, char *at, unsigned int type, void *arg), void *arg)
{
	struct btf *btf = bpf_object__btf(object);
	unsigned int id, i;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		char *begin = btf_is_datasec(type) ? section(btf__name_by_offset(btf, type->name_off)) : NULL;

		for (i = 0; begin && i < btf_vlen(type); i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(type) + i;
			const struct btf_type *var = btf__type_by_id(btf, info->type);

			each(btf__name_by_offset(btf, var->name_off), begin + info->offset,
			     element_type(btf, var->type), arg);
		}
	}
}

static void take_from_kernel(const char *name, char *at, unsigned int type, void *arg)
{
	unsigned long long value;

	if (!strncmp(name, KERNELS_ENUM, strlen(KERNELS_ENUM)) && enumerator(name + 2, &value))
		memcpy(at, &value, btf__resolve_size(bpf_object__btf(object), type));
}

struct wanted {
	const char	*name, *member, *numbers;
	unsigned int	index;
};

/* Of a structure: where it is, with its own type; NULL: it has none of that name. */
static char *member_of(struct btf *btf, char *at, unsigned int *type, const char *name)
{
	const struct btf_type *structure = btf__type_by_id(btf, *type);
	unsigned int i;

	for (i = 0; btf_is_composite(structure) && i < btf_vlen(structure); i++) {
		const struct btf_member *m = btf_members(structure) + i;

		if (!strcmp(btf__name_by_offset(btf, m->name_off), name)) {
			*type = element_type(btf, m->type);
			return at + btf_member_bit_offset(structure, i) / 8;
		}
	}
	return NULL;
}

static void put(const char *name, char *at, unsigned int type, void *arg)
{
	struct btf *btf = bpf_object__btf(object);
	const struct wanted *wanted = arg;
	char *next = (char *)wanted->numbers;

	if (strcmp(name, wanted->name))
		return;
	at += wanted->index * btf__resolve_size(btf, type);
	if (wanted->member && *wanted->member)
		at = member_of(btf, at, &type, wanted->member);
	if (!at)
		return;
	type = element_type(btf, type);
	do {
		unsigned long long value = strtoull(next, &next, 0);
		unsigned int size = btf__resolve_size(btf, type);

		memcpy(at, &value, size);
		at += size;
	} while (*next++ == ',');
}

/* `numbers` without the first one, which lies at `to` then; the bytes of it. */
static unsigned int take_number(char **numbers, void *to)
{
	struct btf *btf = bpf_object__btf(object);
	unsigned long long value = 0;
	unsigned int size = sizeof(value);

	if (**numbers == '%') {
		value = answered;
		++*numbers;
	} else if (!strncmp(*numbers, SIZE_OF, strlen(SIZE_OF))) {
		char *name = *numbers + strlen(SIZE_OF), *end = strchr(name, ')');

		*end = 0;
		value = btf__resolve_size(btf, btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT));
		*numbers = end + 1;
	} else {
		value = strtol(*numbers, numbers, 0);
		size = sizeof(int);
	}
	memcpy(to, &value, size);
	return size;
}

static void run(const char *name, char *numbers)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	unsigned long long context[MOST_NUMBERS] = { };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context);

	do {
		options.ctx_size_in += take_number(&numbers, (char *)context + options.ctx_size_in);
	} while (*numbers++ == ',' && options.ctx_size_in < sizeof(context));
	if (!program)
		return;
	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
		fail("%s()", name);
	if (options.retval) {
		errno = -(int)options.retval;
		fail("%s() answers %d", name, (int)options.retval);
	}
	answered = *context;
}

/* libbpf has mapped the arena where its programs' addresses are. */
static void write_to_arena(char *numbers)
{
	unsigned long long *to = (void *)answered;

	do {
		*to++ = strtoull(numbers, &numbers, 0);
	} while (*numbers++ == ',');
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

static void *operations_member(const char *name)
{
	struct btf *btf = bpf_object__btf(object);
	unsigned int type = btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT);
	size_t size;
	char *at = bpf_map__initial_value(operations(), &size);
	void *member = at ? member_of(btf, at, &type, name) : NULL;

	if (!member) {
		errno = ENOENT;
		fail("its operations have no %s", name);
	}
	return member;
}

static void attach_too(const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (program)
		bpf_program__set_autoload(program, true);
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

/* Before it is loaded: what its variables and operations have. */
static void prepare(char *word)
{
	char *equals = strchr(word, '='), *bracket = equals ? strchr(word, '[') : NULL;
	struct wanted wanted = { word, .numbers = equals + 1 };
	unsigned long long value;

	if (*word == '@') {
		stay_on(atoi(word + 1));
	} else if (*word == '+') {
		if (enumerator(word + 1, &value))
			*(unsigned long long *)operations_member("flags") |= value;
	} else if (*word == '-') {
		*(void **)operations_member(word + 1) = NULL;
	} else if (*word == '&') {
		attach_too(word + 1);
	} else if (equals && *word != '%') {
		*equals = 0;
		if (bracket) {
			*bracket = 0;
			wanted.index = strtoul(bracket + 1, &bracket, 0);
			wanted.member = bracket[1] == '.' ? bracket + 2 : NULL;
		}
		if (!bracket || wanted.member)
			for_each_variable(put, &wanted);
	}
}

static void obey(char *word, enum when when)
{
	char *equals = strchr(word, '='), *colon = strchr(word + 1, ':');
	char *bracket = equals ? strchr(word, '[') : NULL;
	bool is_late = *word == ':';

	if (when == OPENED) {
		prepare(word);
	} else if (*word == '%' && when == LOADED) {
		write_to_arena(equals + 1);
	} else if (bracket && when == LOADED && !strstr(bracket, "].")) {
		*bracket = 0;
		update(word, strtoul(bracket + 1, NULL, 0), strtoul(equals + 1, NULL, 0));
	} else if (colon && when == (is_late ? ATTACHED : LOADED)) {
		*colon = 0;
		run(word + is_late, colon + 1);
	}
}

static void obey_all(char **words, enum when when)
{
	for (; *words; words++) {
		char *word = strdup(*words);

		obey(word, when);
		free(word);
	}
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
