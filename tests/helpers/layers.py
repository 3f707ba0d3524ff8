"""The layers of schedlab's packages, as their imports make them.

python -m tests.helpers.layers
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2] / "schedlab"


def modules(below: Path = ROOT) -> Iterator[tuple[str, Path]]:
    """Yield every module below a folder with the package it is of, those of none with their own."""
    for path in sorted(below.rglob("*.py")):
        package, *inside = path.relative_to(below).parts
        if inside or below != ROOT:
            yield package.removesuffix(".py"), path


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


def graph(below: Path = ROOT) -> dict[str, set[str]]:
    """Return the packages that each package imports, of those right below a folder."""
    packages = {package for package, _ in modules(below)}
    arrows: dict[str, set[str]] = {package: set() for package in packages}
    depth = len(below.relative_to(ROOT.parent).parts)
    for package, path in modules(below):
        for name in imports(path):
            parts = name.split(".")
            if tuple(parts[:depth]) == below.relative_to(ROOT.parent).parts:
                arrows[package] |= {*parts[depth : depth + 1]} & (packages - {package})
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
