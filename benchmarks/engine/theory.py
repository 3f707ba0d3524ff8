"""Theory table: what the scheduler's own rules promise, beside what came out.

python benchmarks/engine/theory.py
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "engine"))

from conftest import SERIES, Simulator, build, tasks
from test_theory import HOG, WEIGHT, runtime


def rows(sim: Simulator) -> Iterator[tuple[str, float, float]]:
    """Name, promised, measured."""
    result = sim(
        "smp4",
        {
            "duration": "4s",
            "warmup": "1s",
            "tasks": [{"name": "h", "count": 5, "affinity": "1", **HOG}],
        },
    )
    times = [t["runtime_ns"] / 3e9 for t in tasks(result, "h")]
    yield "share of each of 5 equal hogs, lowest", 0.2, min(times)
    yield "share of each of 5 equal hogs, highest", 0.2, max(times)
    for a, b in ((0, 5), (-10, 0)):
        result = sim(
            "smp4",
            {
                "duration": "11s",
                "warmup": "1s",
                "tasks": [
                    {"name": "a", "nice": a, "affinity": "0", **HOG},
                    {"name": "b", "nice": b, "affinity": "0", **HOG},
                ],
            },
        )
        yield (
            f"share of nice {a} beside nice {b}",
            WEIGHT[a] / (WEIGHT[a] + WEIGHT[b]),
            runtime(result, "a") / 10,
        )
    result = sim(
        "smp4",
        {
            "duration": "5s",
            "warmup": "1s",
            "groups": [{"path": "/a", "cpu.weight": "100"}, {"path": "/b", "cpu.weight": "300"}],
            "tasks": [
                {"name": "a", "count": 3, "group": "/a", "affinity": "0", **HOG},
                {"name": "b", "group": "/b", "affinity": "0", **HOG},
            ],
        },
    )
    yield "share of a group of weight 300 beside 100", 0.75, runtime(result, "b") / 4
    for quota, period in ((20000, 100000), (150000, 100000), (5000, 20000)):
        result = sim(
            "smp4",
            {
                "duration": "6s",
                "warmup": "1s",
                "groups": [{"path": "/l", "cpu.max": f"{quota} {period}"}],
                "tasks": [{"name": "h", "count": 3, "group": "/l", **HOG}],
            },
        )
        yield f"CPUs used under cpu.max {quota} {period}", quota / period, runtime(result, "h") / 5
    result = sim(
        "smp4",
        {
            "duration": "3s",
            "warmup": "1s",
            "tasks": [
                {"name": "dl", "policy": "deadline", "runtime": "3ms", "period": "10ms", **HOG}
            ],
        },
    )
    yield "share of a deadline hog, 3 of 10 ms", 0.3, runtime(result, "dl") / 2
    result = sim(
        "smp4",
        {
            "duration": "2s",
            "warmup": "100ms",
            "tasks": [
                {"name": "hog", "count": 12, **HOG},
                {
                    "name": "rt",
                    "policy": "fifo",
                    "priority": 50,
                    "program": [{"run": "100us"}, {"sleep": "1ms"}],
                },
            ],
        },
    )
    yield (
        "longest wait of a FIFO task beside 12 hogs, us (bound)",
        20,
        tasks(result, "rt")[0]["wait_max_ns"] / 1e3,
    )
    result = sim(
        "smp4", {"duration": "1043ms", "tasks": [{"name": "h", "count": 4, "affinity": "0", **HOG}]}
    )
    times = [t["runtime_ns"] / 1e6 for t in tasks(result, "h")]
    yield "spread of 4 equal hogs, ms (bound: two slices and ticks)", 15, max(times) - min(times)
    result = sim(
        "biglittle-6",
        {
            "duration": "2s",
            "warmup": "1s",
            "tasks": [{"name": "big", "affinity": "0", **HOG}],
            "actions": [{"at": "500ms", "task": "big", "affinity": "0-5"}],
        },
    )
    busy = {c["cpu"]: c["user_ns"] / 1e9 for c in result["per_cpu"]}
    yield "misfit hog's time on big CPUs, share", 1, busy[4] + busy[5]


def main() -> None:
    for series in SERIES:
        print(f"Linux {series:52}{'promised':>10}{'measured':>10}")
        with tempfile.TemporaryDirectory() as scratch:
            for name, promised, measured in rows(Simulator(build(series), Path(scratch))):
                print(f"  {name:56}{promised:10.4f}{measured:10.4f}", flush=True)


if __name__ == "__main__":
    main()
