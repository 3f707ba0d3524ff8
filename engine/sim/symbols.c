// SPDX-License-Identifier: GPL-2.0-only
/* Names for the addresses of a backtrace, from the program's own symbol table. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sim.h"

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

/* Exported functions would hold the linker back from dropping unused code: hence not dladdr(). */
void symbol_print(FILE *out, void *addr)
{
	const Elf64_Shdr *symtab, *strings;
	const Elf64_Sym *sym, *best = NULL;
	struct stat st;
	int fd;

	if (!image) {
		fd = open("/proc/self/exe", O_RDONLY);
		if (fd < 0 || fstat(fd, &st))
			return;
		image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
		if (image == MAP_FAILED) {
			image = NULL;
			return;
		}
	}
	symtab = section(SHT_SYMTAB);
	if (symtab) {
		const Elf64_Ehdr *eh = (const void *)image;

		strings = (const Elf64_Shdr *)(image + eh->e_shoff) + symtab->sh_link;
		sym = (const void *)(image + symtab->sh_offset);
		for (size_t i = 0; i < symtab->sh_size / sizeof(*sym); i++)
			if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC &&
			    sym[i].st_value <= (unsigned long)addr &&
			    (unsigned long)addr < sym[i].st_value + (sym[i].st_size ? sym[i].st_size : 1))
				best = &sym[i];
		if (best) {
			fprintf(out, "    %s+0x%lx\n", image + strings->sh_offset + best->st_name,
				(unsigned long)addr - best->st_value);
			return;
		}
	}
	fprintf(out, "    %p\n", addr);
}
