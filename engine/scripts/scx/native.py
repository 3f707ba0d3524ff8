# SPDX-License-Identifier: GPL-2.0-only
"""A sched_ext scheduler's BPF sources made into an object that is linked into the simulator.

The engine's Makefile calls it.

Its sources are compiled as they are, with each access to memory (-fsanitize=thread) and each piece
of code (-fsanitize-coverage) seen. What they call is answered by functions of engine/kernel/scx/
that are named native_NAME, or by the kernel's own kfuncs; any other name is refused. A description
of its maps and tunables, read from its debug information, is put beside it, and all its own names
stay its own.
"""

import argparse
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import btf
from assembly import Refused, refuse_assembly
from elf import ALLOCATED, EXECUTES, NOBITS, WRITES, Object
from flavours import placed
from signatures import Signatures

PREFIX = "native_"
LIMITS = {resource.RLIMIT_AS: 8 << 30, resource.RLIMIT_CPU: 600}
"""Of each compilation: a source may include what has no end."""
LENT = {
    "memcpy": "__tsan_memcpy",
    "memmove": "__tsan_memcpy",
    "memset": "__tsan_memset",
    "__builtin_memcpy_inline": "__tsan_memcpy",
    "__builtin_memset_inline": "__tsan_memset",
}
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
whether it was. With a lock held it refuses them, all but one, as any other call."""
CALLED_LOCKED = "bpf_kptr_xchg"
COMPILERS = ("__tsan_", "__sanitizer_", "__ubsan_", "__popcount", "__scx_bounds")
"""Names of what the compiler calls, or a header of ours; kfuncs may begin with `__` too."""
SANITIZERS = {False: "thread", True: "address"}
"""Where AddressSanitizer looks at accesses, the simulator does not: they cost nothing then."""
FRAMES = {False: ["-Werror=frame-larger-than=4096"], True: []}
"""By whether AddressSanitizer makes them larger. BPF has 512 bytes for all functions that call each
other, and lets eight do so. Native frames are larger, as variables that are never there together
may each have a place: a function with more than eight times that is refused."""
SIZED = ["-Werror=vla", "-Walloca", "-Werror=alloca"]
"""Frames whose size is known only when they are entered: BPF has none, and no limit sees them."""
VARIABLES = {"runqueues": "runqueues", "cpufreq_cpu_data": "native_cpufreq_cpu_data"}
"""Of the kernel, that schedulers read, with what answers for each."""
SPECIALS = {
    "bpf_spin_lock": "SHIM_LOCK",
    "bpf_res_spin_lock": "SHIM_LOCK",
    "bpf_timer": "SHIM_TIMER",
    "bpf_list_head": "SHIM_OTHER",
    "bpf_rb_root": "SHIM_OTHER",
    "bpf_refcount": "SHIM_OTHER",
}
OPERATIONS = ".struct_ops.link"
SCHEDULER = "the_scheduler"
"""What the tables call it; the linker finds it by its section."""
_KINDS = ("sched_ext_ops", "sched_ext_ops_cid")
MAPS = ".maps"
PROGRAMS = r"syscall|\??tp_btf/sched_switch"
"""Sections of what its program runs or attaches; a question mark: only where it says so."""
PAGE = 4096
"""Where each section of variables begins, as libbpf makes a map of it that can be mapped: which
variables share a cache line is the scheduler's doing, not that of what it is linked with."""
CONSTANTS = ".rodata"
TUNABLE_SECTIONS = (CONSTANTS, ".data", ".bss")
_SETTING = re.compile("CONFIG_|LINUX_KERNEL_VERSION$")
"""What libbpf would fill in from the kernel's configuration."""
SIX = ", ".join(f"u64 {letter}" for letter in "abcdef")
SHARED = ("task_struct", "sched_ext_entity", "rq", "cgroup")
FIGURES = ("type", "key_size", "value_size", "max_entries", "map_flags")


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
    source: str,
    names: Iterable[tuple[str, bool]],
    native: set[str],
    kfuncs: set[str],
    where: Callable[[str], str],
) -> dict[str, str]:
    """Return what each undefined name is linked to; weak ones without an answer stay out.

    `where` says in which function of the scheduler a name is called.

    Raises:
        Refused: nothing answers a name that the scheduler cannot do without.
    """
    found, missing = {}, []
    for name, is_weak in names:
        if name in VARIABLES:
            found[name] = VARIABLES[name]
            continue
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
        called = ", ".join(f"{name}{where(name)}" for name in sorted(missing))
        raise Refused(
            f"{source}: calls {called}, which"
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


def labelled(declared: str) -> str:
    """Return a declaration of a table whose label no variable of the scheduler can have."""
    name = re.sub(r"\[.*", "", declared).split()[-1]
    return linked(declared, f"scx.{name}")


def is_called(name: str) -> bool:
    """Return whether the scheduler's code calls it in a real kernel, which takes time."""
    known = name in LENT or name in INLINED or name in VARIABLES
    return not name.startswith(COMPILERS) and not known


def is_wrapped(name: str) -> bool:
    """Return whether a function of ours stands before what answers a name."""
    return is_called(name) or name in INLINED


def calls(answers: Mapping[str, str], signatures: Signatures) -> Iterator[str]:
    """Yield a function for each helper and kfunc that charges, makes and traces the call.

    All their arguments, six at most, are in registers, as their results are. Behind those that the
    scheduler knows of the kernel has the program that calls, of which it finds the scheduler.
    """
    for name, to in answers.items():
        if is_wrapped(name):
            yield f'extern u64 {ours(to)}({SIX}) __asm__("{to}");'
            yield f"u64 called_{name}({SIX});"
        if name in INLINED:
            yield (
                f"u64 called_{name}({SIX})\n{{\n"
                f'\tshim_scx_inlines("{essential(name)}");\n'
                f"\treturn {ours(to)}(a, b, c, d, e, f);\n}}"
            )
        elif is_called(name):
            signature = signatures.of_function(name, essential(name))
            given = list("abcdef")
            if signature.is_known and len(signature.kinds) < len(given):
                given[len(signature.kinds)] = f"(u64){SCHEDULER}.aux"
            yield signature.table(f"of_{name}", SCHEDULER)
            yield (
                f"u64 called_{name}({SIX})\n{{\n\tu64 result;\n"
                "\tu64 arguments[] = { a, b, c, d, e, f };\n\n"
                f"\tshim_scx_calls(&of_{name}, arguments);\n"
                f"\tresult = {ours(to)}({', '.join(given)});\n"
                f"\tshim_scx_called(&of_{name}, arguments, result);\n"
                "\treturn result;\n}"
            )


def operations_table(scheduler: "Made", signatures: Signatures) -> Iterator[str]:
    """Yield the table of its operations, each with a function that traces and calls it."""
    entries = []
    for name, offset in scheduler.slots():
        yield signatures.of_operation(name).table(f"of_op_{name}", SCHEDULER)
        yield f"static u64 (*real_{name})({SIX});"
        yield (
            f"static u64 traced_{name}({SIX})\n{{\n\tu64 result;\n\n"
            f"\tshim_scx_begins(&of_op_{name}, (u64[]){{ a, b, c, d, e, f }});\n"
            f"\tresult = real_{name}(a, b, c, d, e, f);\n"
            f"\tshim_scx_ends(&of_op_{name}, result);\n"
            "\treturn result;\n}"
        )
        entries.append(f"{{ &of_op_{name}, {offset}, traced_{name}, (void **)&real_{name} }}")
    listing = labelled("static const struct shim_op op_table[]")
    yield f"{listing} = {{ {', '.join(entries) or '{ }'} }};"


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
        value = next((number for name, number in declared.members if name == "value"), 0)
        kept = list(specials(types, types.plain(value)[0].size)) if value else []
        listed = ", ".join(f"{{ {at}, {size}, {kind} }}" for at, size, kind in sorted(kept))
        array = f"(const struct shim_special[]){{ {listed} }}" if kept else "0"
        yield (
            variable.name,
            f'{{ {ours(variable.name)}, "{variable.name}", {shown}, {values},'
            f" {array}, {len(kept)} }}",
        )


def specials(types: btf.Btf, number: int, at: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield what of a type only the kernel writes: where, how many bytes, and its kind."""
    plain, _ = types.plain(number)
    if plain.kind == btf.ARRAY:
        size = types.size(plain.size)
        for i in range(plain.count):
            yield from specials(types, plain.size, at + i * size)
    if plain.kind != btf.STRUCT:
        return
    if plain.name in SPECIALS:
        yield at, plain.size, SPECIALS[plain.name]
        return
    for (_, member), offset in zip(plain.members, plain.offsets, strict=True):
        if offset >= 0:
            yield from specials(types, member, at + offset)


def variables(types: btf.Btf) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each number among its variables, the variable's, and its table entry.

    A number that is not a tunable is one that only its own program sets. A structure's are named
    `variable.member`.
    """
    for section in TUNABLE_SECTIONS:
        for variable in types.variables(section):
            for name, at, element, counts, step, stripped in _numbers(types, variable):
                inner, outer = counts
                is_tunable = btf.VOLATILE in stripped and not at and "." not in name
                is_text = element.name == "char" and inner > 1
                yield (
                    name,
                    variable.name,
                    f'{{ "{name}", {ours(variable.name)} + {at}, {element.size}, {inner * outer},'
                    f" {int(btf.is_signed(element))}, {int(btf.is_flag(element))}, {int(is_text)},"
                    f" {int(is_tunable)}, {inner}, {step}, {enumerators(element)} }}",
                )


def sections_of(parts: Iterable[btf.Btf]) -> str:
    """Return a linker script that puts constants where clang has them.

    Each variable comes in a section of its own. gcc has constants that are `volatile`, as tunables
    are, among the variables that are written. Those of functions have a number behind their name.
    """
    is_constant: dict[str, bool] = {}
    for types in parts:
        for section in TUNABLE_SECTIONS:
            for each in types.variables(section):
                stripped = _element(types, each.size)[2]
                is_constant[each.name] = btf.CONST in stripped and is_constant.get(each.name, True)
    constants = [name for name in is_constant if is_constant[name]]
    written = [*(name for name in is_constant if not is_constant[name]), "*.[0-9]*"]
    script = ""
    for section in TUNABLE_SECTIONS:
        inputs = [f"{section}.{name}" for name in written]
        if section == CONSTANTS:
            inputs = [f"{each}.{name}" for each in TUNABLE_SECTIONS for name in constants]
        script += f"{section} 0 : {{ *({' '.join([section, *inputs])}) }}\n"
    return f"SECTIONS {{\n{script}}}\n"


def enumerators(each: btf.Type) -> str:
    """Return the names of an enumeration's numbers, as the end of a table entry."""
    if each.kind != btf.ENUM:
        return "0, 0"
    listed = ", ".join(f'{{ "{name}", {number} }}' for name, number in each.members)
    return f"(const struct shim_enumerator[]){{ {listed} }}, {len(each.members)}"


_Number = tuple[str, int, btf.Type, tuple[int, int], int, set[int]]


def _numbers(types: btf.Btf, variable: btf.Type) -> Iterator[_Number]:
    element, count, stripped = _element(types, variable.size)
    if element.kind in (btf.INT, btf.ENUM):
        yield variable.name, 0, element, (count, 1), 0, stripped
    elif element.kind == btf.STRUCT:
        for (name, number), at in zip(element.members, element.offsets, strict=True):
            inner, inner_count, more = _element(types, number)
            if name and at >= 0 and inner.kind in (btf.INT, btf.ENUM):
                full = f"{variable.name}.{name}"
                yield full, at, inner, (inner_count, count), element.size, stripped | more


def _element(types: btf.Btf, number: int) -> tuple[btf.Type, int, set[int]]:
    """Return what an array holds, how many, and the qualifiers; of another type itself."""
    element, stripped = types.plain(number)
    count = 1
    while element.kind == btf.ARRAY:
        count *= element.count
        element, more = types.plain(element.size)
        stripped |= more
    return element, count, stripped


def tables(scheduler: "Made", config: str, signatures: Signatures) -> tuple[str, list[str]]:
    """Return the source of the tables, and the scheduler's names that they use."""
    sizes = {each.name: each.size for each in scheduler.object.symbols}
    counts = Counter(each.name for each in scheduler.object.symbols if each.section)
    operations, by_cid = scheduler.operations()
    made = dict(each for types in scheduler.types for each in maps(types, sizes))
    # Two parts may each have a variable of their own of one name: that names neither.
    listed = {
        name: (variable, entry)
        for types in scheduler.types
        for name, variable, entry in variables(types)
        if counts[variable] == 1
    }
    programs = dict(scheduler.functions(PROGRAMS))
    names = list(
        dict.fromkeys([operations, *made, *(each for each, _ in listed.values()), *programs])
    )
    lines = [
        "#include <linux/version.h>",
        '#include "scx/scx.h"',
        *(f"extern char {linked(f'{ours(name)}[]', name)};" for name in names),
        f"static struct shim_scheduler {SCHEDULER};",
        "static void exits(struct scx_exit_info *info)",
        f"{{\n\tshim_ext_exits(&{SCHEDULER}, info);\n}}",
    ]
    lines.append(
        f"{labelled('static struct shim_map maps[]')} = {{ {', '.join(made.values()) or '{ }'} }};"
    )
    entries = ", ".join(entry for _, entry in listed.values())
    listing = labelled("static const struct shim_tunable tunables[]")
    lines.append(f"{listing} = {{ {entries or '{ }'} }};")
    run = ", ".join(
        f'{{ "{name}", "{section}", {ours(name)} }}' for name, section in programs.items()
    )
    listing = labelled("static const struct shim_program programs[]")
    lines.append(f"{listing} = {{ {run or '{ }'} }};")
    lines += operations_table(scheduler, signatures)
    lines.append(
        f'static struct shim_scheduler {SCHEDULER} = {{ "{scheduler.name}", "{operations}",'
        f" {ours(operations)}, {int(by_cid)}, maps, {len(made)}, tunables, {len(listed)},"
        f" programs, {len(programs)}, op_table, {len(list(scheduler.slots()))},"
        f" {scheduler.task_context()}, exits }};"
    )
    lines.append(
        f'static struct shim_scheduler *const listed __used __section("scx_schedulers")'
        f" = &{SCHEDULER};"
    )
    # What is read through pointers must lie where the kernel has it.
    shared = {
        (each.name, each.size)
        for types in scheduler.types
        for each in types.types
        if each.kind == btf.STRUCT and each.name in SHARED and each.size
    }
    for name, size in sorted(shared):
        lines.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
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
        """Compile each source twice: once to be linked, once for its types."""
        self.name, self.out = given.name, given.out
        self.compiled = given.out / "compiled.o"
        self.types = []
        self.text = ""
        compiled = []
        for number, source in enumerate(given.source):
            compile_it = [given.cc, *given.flags.split(), "-c", str(source)]
            part, typed = given.out / f"part{number}.o", given.out / f"typed{number}.o"
            seen = [
                f"-fsanitize={SANITIZERS[given.sanitize]},bounds",
                "-fsanitize-coverage=trace-pc",
                *FRAMES[given.sanitize],
                *SIZED,
            ]
            preprocess = [given.cc, *given.flags.split(), "-E", str(source)]
            text = run(preprocess)
            refuse_assembly(text)
            if (with_flavours := placed(text)) != text:
                preprocessed = given.out / f"part{number}.i"
                preprocessed.write_text(with_flavours)
                compile_it[-1] = str(preprocessed)
            run([*compile_it, "-g", "-fdata-sections", *seen, "-o", str(part)])
            run([*compile_it, "-gbtf", "-w", "-o", str(typed)])
            self.text += run([*preprocess, "-P"])
            section = Object(typed).section(".BTF")
            if section is None:
                raise Refused(f"{given.cc} writes no BTF (-gbtf); schedulers are compiled by gcc")
            self.types.append(btf.Btf(section.content))
            compiled.append(str(part))
        # As libbpf links them: each has the license, and weak definitions of the headers.
        places = given.out / "sections.ld"
        places.write_text(sections_of(self.types))
        run(["ld", "-r", "-z", "muldefs", "-T", str(places), *compiled, "-o", str(self.compiled)])
        self.object = Object(self.compiled)
        undefined = [each for each in self.object.symbols if not each.section and each.name]
        self.settings = [each.name for each in undefined if _SETTING.match(each.name)]
        self.calls = [
            (each.name, each.is_weak)
            for each in undefined
            if not _SETTING.match(each.name) and not each.name.startswith("__asan_")
        ]
        self.keeps_constructors = given.sanitize

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
            each.name: types.plain(each.size)[0].name
            for types in self.types
            for each in types.variables(OPERATIONS)
        }
        kind = kinds.get(found[0])
        if kind not in _KINDS:
            raise Refused(
                f"{self.name}: its operations are {kind or 'of another type'}; those of"
                f" {' and '.join(_KINDS)} are simulated"
            )
        return found[0], kind == _KINDS[1]

    def slots(self) -> Iterator[tuple[str, int]]:
        """Yield the operations that its kind may have, each with its place in bytes."""
        kind = _KINDS[self.operations()[1]]
        found = (each for types in self.types for each in types.types if each.name == kind)
        whole = next(each for each in found if each.kind == btf.STRUCT and each.members)
        types = next(types for types in self.types if whole in types.types)
        for (name, number), at in zip(whole.members, whole.offsets, strict=True):
            member, _ = types.plain(number)
            if member.kind == btf.PTR and types.plain(member.size)[0].kind == btf.FUNC_PROTO:
                yield name, at

    def task_context(self) -> int:
        """Return the size of what its program has the scx project's library keep for a task."""
        sizes = [
            each.size
            for types in self.types
            for each in types.types
            if each.kind == btf.STRUCT and each.name == "task_ctx"
        ]
        return max(sizes, default=0)

    def caller(self, name: str) -> str:
        """Return where a function is first called, as the end of a clause."""
        section = ""
        for line in run(["readelf", "-rW", str(self.compiled)]).splitlines():
            if match := re.match(r"Relocation section '\.rela?(\S+)'", line):
                section = match[1]
            elif not section.startswith(".debug") and re.search(rf"\s{name}\b", line):
                at = ["-e", str(self.compiled), "-j", section, line.split()[0]]
                function, place = run(["addr2line", "-f", "-s", *at]).split()[:2]
                return f" in {function}() ({place})"
        return ""

    def functions(self, pattern: str) -> Iterator[tuple[str, str]]:
        """Yield the names of its functions in sections that match a pattern, with the section."""
        sections = {number: each.name for number, each in enumerate(self.object.sections)}
        for each in self.object.symbols:
            section = sections.get(each.section, "")
            if each.is_function and re.fullmatch(pattern, section):
                yield each.name, section

    def sections(self) -> Iterator[str]:
        """Yield objcopy's options that gather its sections in four, of names the engine knows."""
        for each in self.object.sections:
            if not each.flags & ALLOCATED or each.name.startswith((".note", ".eh_frame")):
                continue
            if each.name.startswith((".init_array", ".ctors", ".fini_array")):
                if self.keeps_constructors:
                    continue
                yield f"--remove-section={each.name}"
                continue
            to = "scx_bss" if each.kind == NOBITS else "scx_data"
            if not each.flags & WRITES or f"{each.name}.".startswith(f"{CONSTANTS}."):
                to = "scx_text" if each.flags & EXECUTES else "scx_rodata"
            yield f"--rename-section={each.name}={to}"
            if each.flags & WRITES:
                yield f"--set-section-alignment={each.name}={PAGE}"


def make(given: argparse.Namespace) -> None:
    """Compile, describe and close the scheduler.

    Raises:
        Refused: it does not compile, or asks for what is not there.
    """
    given.out.mkdir(parents=True, exist_ok=True)
    made = Made(given)
    signatures = Signatures(made.text)
    described, names = tables(made, given.config.read_text(), signatures)
    answers = resolve(
        made.name,
        made.calls,
        set(given.natives.read_text().split()),
        set(given.kfuncs.read_text().split()),
        made.caller,
    )
    table, table_object = given.out / "tables.c", given.out / "tables.o"
    functions = "\n".join(calls(answers, signatures))
    table.write_text(f"{described}{functions}\n")
    run([given.cc, *given.table_flags.split(), "-c", str(table), "-o", str(table_object)])
    opened, whole = given.out / "open.o", given.out / "scheduler.o"
    options = [
        *made.sections(),
        *(f"--globalize-symbol={name}" for name in names),
        *(
            f"--redefine-sym={name}={f'called_{name}' if is_wrapped(name) else to}"
            for name, to in answers.items()
        ),
    ]
    run(["objcopy", *options, str(made.compiled), str(opened)])
    run(["ld", "-r", str(opened), str(table_object), "-o", str(whole)])
    # Several may be linked together, even one of them twice: nothing of theirs has a global name.
    run(["objcopy", f"--keep-global-symbol={SCHEDULER}", str(whole)])


def main() -> None:
    """Make the object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True, action="append")
    for name in ("out", "natives", "kfuncs", "config"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("cc", "name", "flags", "table-flags"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--sanitize", action="store_true")
    for limit, most in LIMITS.items():
        _, hard = resource.getrlimit(limit)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (soft, hard))
    try:
        make(parser.parse_args())
    except Refused as error:
        if str(error):
            print(f"scx: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
