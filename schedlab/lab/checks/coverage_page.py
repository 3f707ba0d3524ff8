"""The pages of coverage: a table of the scheduler's files, and the functions that did not run."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schedlab.lab.checks.coverage import Covered, File, Function
from schedlab.report.page import environment

PAGE = "coverage.html"

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


def coverage_html(kernels: Sequence[Covered]) -> dict[str, str]:
    """Return HTML pages by the names of their files: PAGE, and the lines of each source."""
    pages: dict[str, str] = {}
    for covered in kernels:
        for file in covered.files:
            if text := _source_page(covered, file):
                pages[_page_of(covered, file)] = text
    shown = [
        {
            "name": covered.kernel,
            "id": _id(covered.kernel),
            "files": [_shown(covered, file, pages) for file in _ordered(covered)],
        }
        for covered in kernels
    ]
    template = environment().get_template("coverage.html.j2")
    return {PAGE: template.render(kernels=shown, aim=AIM, large=LARGE), **pages}


def _shown(covered: Covered, file: File, pages: Mapping[str, str]) -> dict[str, Any]:
    able = len(file.functions) - len(file.dropped)
    page = _page_of(covered, file)
    return {
        "name": file.name,
        "id": _id(f"{covered.kernel}-{file.name}"),
        "page": page if page in pages else "",
        "lines": len(file.lines),
        "can_run": len(file.can_run),
        "ran": file.ran,
        "share": share(file),
        "functions_can": able,
        "functions_ran": able - len(file.silent),
        "silent": [_row(file, each, each.first) for each in file.silent],
        "dropped": [_row(file, each, each.first) for each in file.dropped],
        "partly": [_row(file, each, file.missing(each)[0]) for each in file.partly],
    }


def _row(file: File, function: Function, at: int) -> dict[str, Any]:
    lines, missing = len(file.code(function)), len(file.missing(function))
    return {"name": function.name, "at": at, "lines": lines, "missing": missing}


def _source_page(covered: Covered, file: File) -> str:
    """Return a source with its lines marked; nothing if it cannot be read any more."""
    try:
        text = file.source.read_text(errors="replace") if file.source else ""
    except OSError:
        return ""
    marks = {line: "ran" if file.lines[line] else "missed" for line in file.can_run}
    lines = [
        {"number": number, "text": line.expandtabs(), "mark": marks.get(number, "")}
        for number, line in enumerate(text.splitlines(), 1)
    ]
    back = _id(f"{covered.kernel}-{file.name}")
    template = environment().get_template("coverage_source.html.j2")
    return template.render(name=file.name, kernel=covered.kernel, lines=lines, back=back)


def _page_of(covered: Covered, file: File) -> str:
    return f"{_id(f'{covered.kernel}-{file.name}')}.html"


def _id(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def _ordered(covered: Covered) -> list[File]:
    """Return a kernel's files, the large ones first."""
    return sorted(covered.files, key=lambda file: (file.name not in LARGE, file.name))


def table(covered: Covered) -> list[str]:
    """Return the table of a kernel's files."""
    ordered = _ordered(covered)
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
        lines.append(f"Did not run: {_named(file, file.silent)}.\n")
    if file.dropped:
        lines.append(f"Not in the simulator: {', '.join(each.name for each in file.dropped)}.\n")
    return "\n".join(lines)


def _named(file: File, functions: Iterable[Function]) -> str:
    return ", ".join(f"{each.name} ({len(file.code(each))} lines)" for each in functions)
