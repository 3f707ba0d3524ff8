"""The layers of schedlab's packages, as their imports make them.

python -m tests.helpers.layers
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2] / "schedlab"


def modules() -> Iterator[tuple[str, Path]]:
    """Yield every module with the package it is of; modules of no package are left out."""
    for path in sorted(ROOT.rglob("*.py")):
        package, *inside = path.relative_to(ROOT).parts
        if inside:
            yield package, path


def imports(path: Path) -> set[str]:
    """Return the full names a module imports, wherever in it; `schedlab.a.b` for `import b` too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def graph() -> dict[str, set[str]]:
    """Return the packages that each package imports."""
    packages = {package for package, _ in modules()}
    arrows: dict[str, set[str]] = {package: set() for package in packages}
    for package, path in modules():
        for name in imports(path):
            top, *inside = name.split(".")
            if top == "schedlab" and inside and inside[0] in packages - {package}:
                arrows[package].add(inside[0])
    return arrows


def layers(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the packages from the bottom up; each imports lower layers alone.

    Raises:
        CycleError: there are no layers; it names packages that import each other.
    """
    sorter = TopologicalSorter(arrows)
    sorter.prepare()
    found = []
    while ready := sorter.get_ready():
        found.append(sorted(ready))
        sorter.done(*ready)
    return found


def listing() -> str:
    """Return a line for each layer, from the bottom up."""
    return "".join(f"{', '.join(layer)}\n" for layer in layers(graph()))


if __name__ == "__main__":
    print(listing(), end="")
