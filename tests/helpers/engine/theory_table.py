"""Theory table: what the scheduler's own rules promise, beside what came out.

python -m tests.helpers.engine.theory_table
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.helpers.engine.simulator import SERIES, Simulator, build
from tests.helpers.engine.theory import measured


def main() -> int:
    broken = 0
    for series in SERIES:
        print(f"Linux {series:46}{'promised':>10}{'':>10}{'lowest':>10}{'highest':>10}")
        with tempfile.TemporaryDirectory() as scratch:
            for promise, values in measured(Simulator(build(series), Path(scratch)), series):
                rule = promise.rule if isinstance(promise.rule, str) else f"+-{promise.rule:.4f}"
                kept = all(map(promise.holds, values))
                broken |= not kept
                print(
                    f"  {promise.name:50}{promise.value:10.4f}{rule:>10}"
                    f"{min(values):10.4f}{max(values):10.4f}{'' if kept else '  BROKEN'}",
                    flush=True,
                )
    return broken


if __name__ == "__main__":
    sys.exit(main())
