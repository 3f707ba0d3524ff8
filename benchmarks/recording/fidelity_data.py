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
from schedlab.benchmarks.rt_app import REQUEST_P99

_FIGURES = {"time": "seconds", "rate": "rate", "switches": "switches", "wakeups": "wakeups"}
_FIGURES["moves"] = "moves"
_LATENCIES = {"wakeup_p50": "p50", "wakeup_p99": "p99"}
_LEAST_LATENCY = 1.0
"""us: of a shorter latency an error is a part of this, as it matters no more than beside it."""

Row = dict[str, Any]


def off(workloads: Sequence[list[Row]], column: str, least: float = 0.0) -> Off:
    """Return how far the replays' figures are from the originals', as parts of these."""
    pairs = [
        tuple(statistics.fmean(row["base"][which][column] for row in rows) for which in (0, 1))
        for rows in workloads
    ]
    return _off(
        [abs(replay - original) / (max(original, least) or 1) for original, replay in pairs]
    )


def requests(workloads: Sequence[list[Row]]) -> Off | None:
    """Return how far the 99th percentile of requests is from the originals'; None: none has one."""
    found = []
    for rows in workloads:
        pairs = [
            (1 / row["base"][0]["better"][metric], 1 / row["base"][1]["better"][other])
            for row in rows
            for metric, other in row["pairs"].items()
            if other == REQUEST_P99.name
            and metric in row["base"][0]["better"]
            and other in row["base"][1]["better"]
        ]
        if pairs:
            original, replay = (statistics.fmean(values) for values in zip(*pairs, strict=True))
            found.append(abs(replay - original) / original)
    return _off(found) if found else None


def _off(parts: Sequence[float]) -> Off:
    return Off(
        median=round(statistics.median(parts), 4), worst=round(max(parts), 4), number=len(parts)
    )


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
                **{
                    name: off(_with(list(of.values()), key), key, _LEAST_LATENCY)
                    for name, key in _LATENCIES.items()
                },
                request_p99=requests(list(of.values())),
                changes=changes(list(of.values())),
            )
            for kind, of in sorted(kinds.items())
        },
    )


def _with(workloads: Sequence[list[Row]], column: str) -> list[list[Row]]:
    """Return the workloads whose originals and replays have a figure."""
    return [
        rows
        for rows in workloads
        if not any(math.isnan(row["base"][which][column]) for row in rows for which in (0, 1))
    ]


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
