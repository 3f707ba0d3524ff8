"""Determinism table: random scenarios give the same trace hash in every build and on repeat.

python -m tests.helpers.engine.determinism_table [SCENARIOS]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.helpers.engine import described
from tests.helpers.engine.scenarios import scenario
from tests.helpers.engine.simulator import SERIES, build

BUILDS = {
    "gcc -O2": {},
    "gcc -O2, again": {},
    "gcc -O3": {"OPT": "-O3"},
    "clang -O2": {"CC": "clang"},
    "gcc, ASan": {"SANITIZE": "1"},
}


def trace_hash(binary: Path, scratch: Path, seed: int) -> str:
    """The hash, or the kernel's refusal of a setting, which has to be the same too."""
    machine, case = scenario(seed)
    (scratch / "m.json").write_text(json.dumps(described.machine(machine)))
    (scratch / "s.json").write_text(json.dumps(case))
    command = [str(binary), "--machine", "m.json", "--scenario", "s.json", "--out", "o.json"]
    done = subprocess.run(
        command, cwd=scratch, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.splitlines()[0]}"
    return str(json.loads((scratch / "o.json").read_text())["trace_hash"])


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    worst = 0
    print(f"{'series':8}{'build':18}{'scenarios':>10}{'completed':>10}{'same hash':>10}")
    for series in SERIES:
        reference: list[str] = []
        with tempfile.TemporaryDirectory() as scratch:
            for name, variables in BUILDS.items():
                binary = build(series, **variables)
                hashes = [trace_hash(binary, Path(scratch), seed) for seed in range(count)]
                reference = reference or hashes
                same = sum(a == b for a, b in zip(hashes, reference, strict=True))
                completed = sum(not h.startswith("status") for h in hashes)
                worst |= same != count
                print(f"{series:8}{name:18}{count:10}{completed:10}{same:10}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
