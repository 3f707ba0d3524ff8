"""The packages lie in layers, and what runs plans knows nothing of a command line."""

import pkgutil
import subprocess
import sys

from schedlab import lab
from tests.helpers.layers import ROOT, graph, imports, layers, listing, modules

LAYERS = (
    "base",
    "counters kernels machine settings",
    "benchmarks",
    "doctor plan",
    "result",
    "judging targets",
    "report",
    "importers lab",
    "cli",
)
"""From the bottom up; a package imports those below its own line alone."""


def test_no_arrow_runs_back_up() -> None:
    height = {name: at for at, line in enumerate(LAYERS) for name in line.split()}
    arrows = graph()
    print(listing())
    assert height.keys() == arrows.keys(), "every package has its place, and no other"
    up = {f"{a} -> {b}" for a, below in arrows.items() for b in below if height[a] <= height[b]}
    assert not up, f"these imports run up:\n{listing()}"


def test_folders_of_a_package_import_each_other_in_one_direction() -> None:
    """At every depth, and also where an import is for types alone."""
    for folder in sorted({path.parent for path in ROOT.rglob("*.py")} - {ROOT}):
        assert layers(graph(folder)), folder


def test_the_library_imports_neither_click_nor_rich() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for package, path in modules()
        if package != "cli"
        for name in imports(path)
        if name.split(".")[0] in ("click", "rich")
    }
    assert not found


def test_the_lab_loads_neither_click_nor_rich() -> None:
    names = [each.name for each in pkgutil.walk_packages(lab.__path__, "schedlab.lab.")]
    assert "schedlab.lab.result" in names
    code = (
        f"import sys, {', '.join(names)}\nprint([n for n in ('click', 'rich') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
