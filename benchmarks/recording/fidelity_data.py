"""What fidelity.py measured, as the data file that reports of replays quote.

    python benchmarks/recording/fidelity_data.py FOLDER...

reads the measured.jsonl of each folder and writes schedlab/benchmarks/replay_fidelity.toml. Of each
workload the means over its seeds count; a change is that of each metric of an original that a
replay measures too. Another machine moves everything and would hide the rest: it does not count,
nor does the largest change of several.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w
from fidelity import ABOUT, metric_pairs, ratio

from schedlab.benchmarks.replay import FIDELITY_FILE, Changes, Fidelity, FidelityFile, Off

_FIGURES = {"time": "seconds", "rate": "rate", "switches": "switches", "wakeups": "wakeups"}
_FIGURES["moves"] = "moves"

Row = dict[str, Any]


def off(workloads: Sequence[list[Row]], column: str) -> Off:
    """Return how far the replays' figures are from the originals', as parts of these."""
    found = []
    for rows in workloads:
        original, replay = (
            statistics.fmean(row["base"][which][column] for row in rows) for which in (0, 1)
        )
        found.append(abs(replay - original) / (original or 1))
    return Off(median=round(statistics.median(found), 4), worst=round(max(found), 4))


def changes(workloads: Sequence[list[Row]]) -> Changes | None:
    """Return how far replays predict what changes did; None where none was simulated."""
    pairs = []
    for rows in workloads:
        made = {key for row in rows for key in row if key not in {*ABOUT, "base"}}
        for change in sorted(key for key in made if not key.startswith("machine:")):
            having = [row for row in rows if change in row]
            for names in metric_pairs(having):
                original, replay = (
                    100 * statistics.fmean(ratio(row, change, which, name) - 1 for row in having)
                    for which, name in enumerate(names)
                )
                pairs.append((original, replay))
    if not pairs:
        return None
    if len(pairs) > 2:
        # the largest must not decide alone whether replays predict changes
        pairs.remove(max(pairs, key=lambda pair: abs(pair[0])))
    return Changes(
        number=len(pairs),
        originals=round(_root_mean_square([original for original, _ in pairs]), 2),
        error=round(_root_mean_square([replay - original for original, replay in pairs]), 2),
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(statistics.fmean(value * value for value in values))


def summary(rows: Sequence[Row]) -> FidelityFile:
    """Return the data of all that was measured."""
    kinds: defaultdict[str, defaultdict[tuple[str, str], list[Row]]]
    kinds = defaultdict(lambda: defaultdict(list))
    good = [row for row in rows if "base" in row]
    for row in good:
        kinds[row["kind"]][row["case"], row["machine"]].append(row)
    return FidelityFile(
        machine=tuple(sorted({row["machine"] for row in good})),
        kernel=tuple(sorted({row["kernel"] for row in good})),
        kind={
            kind: Fidelity(
                workloads=tuple(sorted({case for case, _ in of})),
                **{name: off(list(of.values()), key) for name, key in _FIGURES.items()},
                changes=changes(list(of.values())),
            )
            for kind, of in sorted(kinds.items())
        },
    )


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rows = [
        json.loads(line)
        for folder in sys.argv[1:]
        for line in (Path(folder) / "measured.jsonl").read_text().splitlines()
    ]
    data = summary(rows).model_dump(exclude_none=True)
    head = "# Written by benchmarks/recording/fidelity_data.py of what fidelity.py measured.\n\n"
    FIDELITY_FILE.write_text(head + tomli_w.dumps(data))
    print(f"wrote {FIDELITY_FILE}")


if __name__ == "__main__":
    main()
