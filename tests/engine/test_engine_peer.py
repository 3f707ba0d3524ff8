"""The engine's peer benchmark where there is no QEMU: one line that says so, and status 0."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers.patience import PATIENCE_SECONDS

PEER = Path(__file__).parents[2] / "benchmarks/engine_peer/peer.py"


def test_says_skipped_without_qemu(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path), "SCHEDLAB_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(PEER)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped: qemu-system-x86_64 is not installed")
    assert done.stdout.count("\n") == 1
    assert not (tmp_path / "cache").exists()
