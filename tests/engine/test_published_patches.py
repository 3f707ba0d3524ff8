"""The patches of published changes: each applies to its tree as it is, and adds what its plan sets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from schedlab.kernels.shipped import shipped_patches
from schedlab.plan.plan import all_plans, find_plan
from tests.helpers.engine.simulator import ROOT
from tests.helpers.kernel_source import kernel_source

FOLDER = ROOT / "patches" / "published"
PATCHES = sorted(FOLDER.glob("*/*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_applies_without_fuzz(patch: Path, tmp_path: Path) -> None:
    tree = kernel_source(patch.parent.name)
    for line in patch.read_text().splitlines():
        if line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/").split("\t")[0]
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((tree / name).read_bytes())
    words = ["patch", "-p1", "--forward", "--fuzz=0", "-i", str(patch)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "offset" not in done.stdout


def test_each_is_used_by_a_plan_or_on_7_3() -> None:
    """docs/studies/on-7.3.md builds its kernels by commands."""
    known = shipped_patches("7.3")
    study = (ROOT / "docs/studies/on-7.3.md").read_text()
    used = {known[patch] for patch in re.findall(r"--patch (\S+)", study) if patch in known}
    for name in all_plans():
        plan, _ = find_plan(name)
        for kernel in plan.kernel:
            known = shipped_patches(kernel.base)
            used |= {known[patch] for patch in kernel.patches if patch in known}
    assert used >= set(PATCHES)
