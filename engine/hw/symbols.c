// SPDX-License-Identifier: GPL-2.0-only
/*
 * A backtrace: from frame to frame, and names for the addresses from the program's own symbol
 * table.
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "inside.h"

static const char *image;

static const Elf64_Shdr *section(unsigned int type)
{
	const Elf64_Ehdr *eh = (const void *)image;
	const Elf64_Shdr *sh = (const void *)(image + eh->e_shoff);

	for (int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == type)
			return &sh[i];
	return NULL;
}

static int map_image(void)
{
	struct stat st;
	int fd;

	if (image)
		return 1;
	fd = open("/proc/self/exe", O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return 0;
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		image = NULL;
	return !!image;
}

/* Exported functions would hold the linker back from dropping unused code: hence not dladdr(). */
const char *symbol_of(const void *addr, unsigned long *offset)
{
	const Elf64_Shdr *symtab = map_image() ? section(SHT_SYMTAB) : NULL, *strings;
	const Elf64_Sym *sym;

	if (!symtab)
		return NULL;
	strings = (const Elf64_Shdr *)(image + ((const Elf64_Ehdr *)image)->e_shoff) + symtab->sh_link;
	sym = (const void *)(image + symtab->sh_offset);
	for (size_t i = 0; i < symtab->sh_size / sizeof(*sym); i++) {
		*offset = (unsigned long)addr - sym[i].st_value;
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC &&
		    *offset < (sym[i].st_size ? sym[i].st_size : 1))
			return image + strings->sh_offset + sym[i].st_name;
	}
	return NULL;
}

const void *hw_function_of(const void *ip)
{
	unsigned long offset;

	return symbol_of(ip, &offset) ? (const char *)ip - offset : NULL;
}

/* The address in the caller is that of its call, not of what comes behind. */
int to_caller(void ***frame, const void **ip)
{
	void **here = *frame, **up;

	if ((unsigned long)here <= 4096 || !here[1])
		return 0;
	up = here[0];
	if (up && (up <= here || up > here + hw_stack_size))
		return 0;
	*ip = (char *)here[1] - 1;
	*frame = up;
	return 1;
}
