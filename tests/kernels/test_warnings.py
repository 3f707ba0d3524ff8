"""The compiler's warnings of a patched kernel: kept beside objects, and only what is new."""

import subprocess
from pathlib import Path

import pytest

from schedlab.kernels.warnings import new_warnings, without_lines
from tests.helpers.builds import ROOT

NOTING = ROOT / "engine/scripts/noting-warnings"


def compiled(folder: Path, content: str) -> tuple[int, Path]:
    """Compile a file as the engine does; return the status and where its warnings are."""
    source, made = folder / "src/kernel/fair.c", folder / "k/kernel/fair.o"
    for file in (source, made):
        file.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(content)
    argv = [NOTING, made, "gcc", "-Wall", "-c", source, "-o", made]
    return subprocess.run(argv, stderr=subprocess.DEVNULL).returncode, Path(f"{made}.warn")


OLD = "static int old;\n"
NEW = "static int fresh;\n"


def test_only_new_warnings_count_and_files_are_named_as_the_tree_does(tmp_path: Path) -> None:
    base, patched = tmp_path / "base", tmp_path / "patched"
    assert compiled(base, OLD)[0] == 0
    assert compiled(patched, f"\n\n{OLD}{NEW}")[0] == 0
    [found] = new_warnings(patched, base, tmp_path / "tree", ["kernel/fair.c"])
    assert found.startswith("kernel/fair.c:4: ")
    assert "fresh" in found
    assert without_lines([found]) == without_lines([found.replace(":4:", ":9:")])
    assert len(new_warnings(patched, None, tmp_path / "tree", ["kernel/fair.c"])) == 2
    assert new_warnings(patched, None, tmp_path / "tree", ["kernel/core.c"]) == ()


@pytest.mark.parametrize(("content", "status"), [("int fine;\n", 0), ("not C\n", 1)])
def test_the_compilers_status_is_kept(tmp_path: Path, content: str, status: int) -> None:
    assert compiled(tmp_path, OLD)[1].exists()
    found, warned = compiled(tmp_path, content)
    assert (found, warned.exists()) == (status, bool(status)), "no word is left of an earlier one"
