"""Builds of the engine that a test makes by itself: of a tree with one substitution."""

import re
import shutil
import subprocess
from pathlib import Path

from tests.helpers import builds
from tests.helpers.engine.simulator import ROOT, build


def make(*goals: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-j2", "-C", str(ROOT / "engine"), *goals]
    return subprocess.run(
        [*command, *(f"{k}={v}" for k, v in variables.items())],
        capture_output=True,
        text=True,
        check=False,
    )


def patch(tmp_path: Path, tree: Path, file: str, pattern: str, replacement: str) -> Path:
    """A patch that makes one substitution in one file."""
    for side in "ab":
        (tmp_path / side / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / file, tmp_path / side / file)
    target = tmp_path / "b" / file
    text, changed = re.subn(pattern, replacement, target.read_text(), count=1)
    assert changed
    target.write_text(text)
    diff = subprocess.run(
        ["diff", "-u", f"a/{file}", f"b/{file}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    path = tmp_path / "change.patch"
    path.write_text(diff.stdout)
    return path


def objects(series: str, sanitize: bool = False) -> Path:
    """What make left of the build of a series."""
    _ = builds.sanitized(series) if sanitize else build(series)
    return builds.objects(series, sanitize=sanitize)
