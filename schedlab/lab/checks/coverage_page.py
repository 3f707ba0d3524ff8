"""The page of coverage: a table of the scheduler's files, and the functions that did not run."""

from collections.abc import Iterable, Sequence

from schedlab.lab.checks.coverage import Covered, File, Function

AIM = 0.75
"""The share of the lines that can run here which the corpus aims at, in the large files."""
LARGE = ("fair.c", "core.c", "topology.c", "rt.c", "deadline.c")


def coverage_page(kernels: Sequence[Covered]) -> str:
    """Return the page, as Markdown."""
    parts = ["# Coverage of kernel/sched\n"]
    parts.append(
        "Lines and functions that ran. Those that *can run* are in the simulator: the linker\n"
        f"drops what nothing calls. The aim is {AIM:.0%} of them in {', '.join(LARGE)}.\n"
    )
    for covered in kernels:
        parts.append(f"## {covered.kernel}\n")
        parts.append("\n".join(table(covered)) + "\n")
        parts += [_functions(file) for file in covered.files if file.silent or file.dropped]
    return "\n".join(parts)


def table(covered: Covered) -> list[str]:
    """Return the table of a kernel's files, the large ones first."""
    ordered = sorted(covered.files, key=lambda file: (file.name not in LARGE, file.name))
    rows = ["| file | lines | can run | ran | of those that can | functions that can | ran |"]
    rows.append("|---|---:|---:|---:|---:|---:|---:|")
    for file in ordered:
        able = len(file.functions) - len(file.dropped)
        cells = [file.name, len(file.lines), len(file.can_run), file.ran, share(file), able]
        cells.append(able - len(file.silent))
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return rows


def shares(covered: Covered) -> str:
    """Return the shares of the large files, in a line."""
    found = [(name, covered.file(name)) for name in LARGE]
    return ", ".join(f"{share(file)} of {name}" for name, file in found if file)


def share(file: File) -> str:
    """Return how many of the lines that can run did, in percent."""
    return f"{file.ran / len(file.can_run):.1%}" if file.can_run else "-"


def _functions(file: File) -> str:
    lines = [f"### {file.name}\n"]
    if file.silent:
        lines.append(f"Did not run: {_named(file.silent)}.\n")
    if file.dropped:
        lines.append(f"Not in the simulator: {', '.join(each.name for each in file.dropped)}.\n")
    return "\n".join(lines)


def _named(functions: Iterable[Function]) -> str:
    return ", ".join(f"{each.name} ({each.last - each.first + 1} lines)" for each in functions)
