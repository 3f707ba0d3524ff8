# SPDX-License-Identifier: GPL-2.0-only
"""A sched_ext scheduler's BPF source made into an object that is linked into the simulator.

The engine's Makefile calls it.

The source is compiled as it is, with each access to memory (-fsanitize=thread) and each piece of
code (-fsanitize-coverage) seen. What it calls is answered by functions of engine/kernel/scx/ that
are named native_NAME, or by the kernel's own kfuncs; any other name is refused. A description of
its maps and tunables, read from its debug information, is put beside it, and all its own names stay
its own.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import btf
from elf import ALLOCATED, EXECUTES, NOBITS, WRITES, Object

PREFIX = "native_"
LENT = {"memcpy": "__tsan_memcpy", "memmove": "__tsan_memcpy", "memset": "__tsan_memset"}
"""What the compiler calls by itself, with what looks at the access."""
INLINED = {
    "bpf_map_lookup_elem",
    "bpf_get_smp_processor_id",
    "bpf_get_current_task",
    "bpf_get_current_task_btf",
    "bpf_jiffies64",
    "bpf_kptr_xchg",
    "bpf_loop",
    "bpf_rdonly_cast",
}
"""What the verifier replaces by instructions, so that nothing is called; a map's lookup says itself
whether it was."""
OPERATIONS = ".struct_ops.link"
_KINDS = ("sched_ext_ops", "sched_ext_ops_cid")
MAPS = ".maps"
PROGRAMS = "syscall"
TUNABLE_SECTIONS = (".rodata", ".data", ".bss")
_SETTING = re.compile("CONFIG_|LINUX_KERNEL_VERSION$")
"""What libbpf would fill in from the kernel's configuration."""
SHARED = ("task_struct", "sched_ext_entity", "rq", "cgroup")
FIGURES = ("type", "key_size", "value_size", "max_entries", "map_flags")


class Refused(Exception):
    """The scheduler cannot be made; says why."""


def run(argv: list[str]) -> str:
    """Run a program; its words go to our own output."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Refused("")
    return done.stdout


def essential(name: str) -> str:
    """Return a kfunc's name without its flavour: `foo___v2___compat` asks for `foo___v2`."""
    return name.rpartition("___")[0] or name


def resolve(
    source: str, names: Iterable[tuple[str, bool]], native: set[str], kfuncs: set[str]
) -> dict[str, str]:
    """Return what each undefined name is linked to; weak ones without an answer stay out.

    Raises:
        Refused: nothing answers a name that the scheduler cannot do without.
    """
    found, missing = {}, []
    for name, is_weak in names:
        for each in (LENT.get(name, name), essential(name)):
            if PREFIX + each in native:
                found[name] = PREFIX + each
                break
            if each in kfuncs:
                found[name] = each
                break
        else:
            if not is_weak:
                missing.append(name)
    if missing:
        raise Refused(
            f"{source}: calls {', '.join(sorted(missing))}, which"
            f" {'is not a function' if len(missing) == 1 else 'are not functions'} that this"
            " kernel or the simulator has for schedulers"
        )
    return found


def ours(name: str) -> str:
    """Return what the tables call a variable of the scheduler: the kernel's may have its name."""
    return f"its_{name}"


def linked(declared: str, name: str) -> str:
    """Return a declaration of a variable that is linked by another name."""
    return f'{declared} __asm__("{name}")'


def is_called(name: str) -> bool:
    """Return whether the scheduler's code calls it in a real kernel, which takes time."""
    return not name.startswith("__") and name not in LENT and name not in INLINED


def calls(answers: Mapping[str, str]) -> Iterator[str]:
    """Yield a function for each helper and kfunc that takes a call's time and calls it.

    All their arguments, six at most, are in registers, as their results are.
    """
    six = [f"u64 {letter}" for letter in "abcdef"]
    for name, to in answers.items():
        if is_called(name):
            declared = f"extern u64 {ours(to)}({', '.join(six)})"
            yield f'{declared} __asm__("{to}");'
            yield f"u64 called_{name}({', '.join(six)});"
            yield (
                f"u64 called_{name}({', '.join(six)})\n{{\n"
                f"\tshim_scx_charge(hw_costs.bpf_call);\n\treturn {ours(to)}(a, b, c, d, e, f);\n}}"
            )


def maps(types: btf.Btf, sizes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield each map's name with its entry of the table; `sizes` are those of the variables."""
    for variable in types.variables(MAPS):
        figures: dict[str, int] = {}
        declared = types.plain(variable.size)[0]
        for name, number in declared.members:
            pointed, _ = types.plain(number)
            if name in ("key", "value"):
                figures.setdefault(f"{name}_size", types.size(pointed.size))
            elif pointed.kind == btf.PTR and types.plain(pointed.size)[0].kind == btf.ARRAY:
                figures[name] = types.plain(pointed.size)[0].count
        shown = ", ".join(str(figures.get(figure, 0)) for figure in FIGURES)
        held = (sizes.get(variable.name, 0) - declared.size) // 8
        values = (
            f"(void **)({ours(variable.name)} + {declared.size}), {held}" if held > 0 else "0, 0"
        )
        yield variable.name, f'{{ {ours(variable.name)}, "{variable.name}", {shown}, {values} }}'


def tunables(types: btf.Btf) -> Iterator[tuple[str, str]]:
    """Yield each tunable's name with its entry of the table."""
    for section in TUNABLE_SECTIONS:
        for variable in types.variables(section):
            outer, stripped = types.plain(variable.size)
            element, count = outer, 1
            while element.kind == btf.ARRAY:
                count *= element.count
                element, more = types.plain(element.size)
                stripped |= more
            if btf.VOLATILE not in stripped or element.kind not in (btf.INT, btf.ENUM):
                continue
            is_text = element.name == "char" and outer.kind == btf.ARRAY
            yield (
                variable.name,
                f'{{ "{variable.name}", {ours(variable.name)}, {element.size}, {count},'
                f" {int(btf.is_signed(element))}, {int(btf.is_flag(element))}, {int(is_text)} }}",
            )


def tables(scheduler: "Made", config: str) -> tuple[str, list[str]]:
    """Return the source of the tables, and the scheduler's names that they use."""
    sizes = {each.name: each.size for each in scheduler.object.symbols}
    operations, by_cid = scheduler.operations()
    made = dict(maps(scheduler.types, sizes))
    listed = dict(tunables(scheduler.types))
    programs = list(scheduler.functions(PROGRAMS))
    names = [operations, *made, *listed, *programs]
    lines = [
        "#include <linux/version.h>",
        '#include "scx/scx.h"',
        *(f"extern char {linked(f'{ours(name)}[]', name)};" for name in names),
    ]
    lines.append(f"static struct shim_map maps[] = {{ {', '.join(made.values()) or '{ }'} }};")
    lines.append(
        "static const struct shim_tunable tunables[] = {"
        f" {', '.join(listed.values()) or '{ }'} }};"
    )
    run = ", ".join(f'{{ "{name}", (int (*)(void *)){ours(name)} }}' for name in programs)
    lines.append(f"static const struct shim_program programs[] = {{ {run or '{ }'} }};")
    lines.append(
        f'struct shim_scheduler shim_scheduler = {{ "{scheduler.name}", "{operations}",'
        f" {ours(operations)}, {int(by_cid)}, maps, {len(made)}, tunables, {len(listed)},"
        f" programs, {len(programs)} }};"
    )
    # What is read through pointers must lie where the kernel has it.
    for each in scheduler.types.types:
        if each.kind == btf.STRUCT and each.name in SHARED and each.size:
            lines.append(
                f'_Static_assert(sizeof(struct {each.name}) == {each.size}, "{each.name}");'
            )
    for name in scheduler.settings:
        if name == "LINUX_KERNEL_VERSION":
            lines.append(f"extern int {linked(ours(name), name)};")
            lines.append(f"int {ours(name)} = LINUX_VERSION_CODE;")
        else:
            value = re.search(rf"#define {name} (\w+)", config)
            lines.append(f"extern long {linked(f'{ours(name)}[16]', name)};")
            lines.append(f"long {ours(name)}[16] = {{ {value[1] if value else 0} }};")
    return "\n".join(lines) + "\n", names


class Made:
    """The scheduler's object as it is compiled, and what is read from it."""

    def __init__(self, given: argparse.Namespace) -> None:
        """Compile it twice: once to be linked, once for its types."""
        self.source, self.name, self.out = given.source, given.name, given.out
        self.compiled, typed = given.out / "compiled.o", given.out / "typed.o"
        compile_it = [given.cc, *given.flags.split(), "-c", str(given.source)]
        seen = ["-fsanitize=thread", "-fsanitize-coverage=trace-pc"]
        run([*compile_it, "-g", *seen, "-o", str(self.compiled)])
        run([*compile_it, "-gbtf", "-w", "-o", str(typed)])
        self.object = Object(self.compiled)
        section = Object(typed).section(".BTF")
        if section is None:
            raise Refused(f"{given.cc} writes no BTF (-gbtf); schedulers are compiled by gcc")
        self.types = btf.Btf(section.content)
        undefined = [each for each in self.object.symbols if not each.section and each.name]
        self.settings = [each.name for each in undefined if _SETTING.match(each.name)]
        self.calls = [
            (each.name, each.is_weak) for each in undefined if not _SETTING.match(each.name)
        ]

    def operations(self) -> tuple[str, bool]:
        """Return the name of its operations, and whether they are sched_ext_ops_cid."""
        sections = {number: each.name for number, each in enumerate(self.object.sections)}
        found = [
            each.name
            for each in self.object.symbols
            if each.is_object and sections.get(each.section) == OPERATIONS
        ]
        if len(found) != 1:
            raise Refused(
                f"{self.name}: defines {len(found)} sched_ext_ops (SCX_OPS_DEFINE); a"
                " scheduler has one"
            )
        kinds = {
            each.name: self.types.plain(each.size)[0].name
            for each in self.types.variables(OPERATIONS)
        }
        kind = kinds.get(found[0])
        if kind not in _KINDS:
            raise Refused(
                f"{self.name}: its operations are {kind or 'of another type'}; those of"
                f" {' and '.join(_KINDS)} are simulated"
            )
        return found[0], kind == _KINDS[1]

    def functions(self, section: str) -> Iterator[str]:
        """Yield the names of its functions in a section."""
        sections = {number: each.name for number, each in enumerate(self.object.sections)}
        for each in self.object.symbols:
            if each.is_function and sections.get(each.section) == section:
                yield each.name

    def sections(self) -> Iterator[str]:
        """Yield objcopy's options that gather its sections in four, of names the engine knows."""
        for each in self.object.sections:
            if not each.flags & ALLOCATED or each.name.startswith((".note", ".eh_frame")):
                continue
            if each.name.startswith((".init_array", ".ctors", ".fini_array")):
                yield f"--remove-section={each.name}"
                continue
            to = "scx_bss" if each.kind == NOBITS else "scx_data"
            if not each.flags & WRITES:
                to = "scx_text" if each.flags & EXECUTES else "scx_rodata"
            yield f"--rename-section={each.name}={to}"


def make(given: argparse.Namespace) -> None:
    """Compile, describe and close the scheduler.

    Raises:
        Refused: it does not compile, or asks for what is not there.
    """
    given.out.mkdir(parents=True, exist_ok=True)
    made = Made(given)
    described, names = tables(made, given.config.read_text())
    answers = resolve(
        made.name,
        made.calls,
        set(given.natives.read_text().split()),
        set(given.kfuncs.read_text().split()),
    )
    table, table_object = given.out / "tables.c", given.out / "tables.o"
    functions = "\n".join(calls(answers))
    table.write_text(f"{described}{functions}\n")
    run([given.cc, *given.table_flags.split(), "-c", str(table), "-o", str(table_object)])
    opened, whole = given.out / "open.o", given.out / "scheduler.o"
    options = [
        *made.sections(),
        *(f"--globalize-symbol={name}" for name in names),
        *(
            f"--redefine-sym={name}={f'called_{name}' if is_called(name) else to}"
            for name, to in answers.items()
        ),
    ]
    run(["objcopy", *options, str(made.compiled), str(opened)])
    run(["ld", "-r", str(opened), str(table_object), "-o", str(whole)])
    run(["objcopy", "--keep-global-symbol=shim_scheduler", str(whole)])


def main() -> None:
    """Make the object."""
    parser = argparse.ArgumentParser()
    for name in ("source", "out", "natives", "kfuncs", "config"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("cc", "name", "flags", "table-flags"):
        parser.add_argument(f"--{name}", required=True)
    try:
        make(parser.parse_args())
    except Refused as error:
        if str(error):
            print(f"scx: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
