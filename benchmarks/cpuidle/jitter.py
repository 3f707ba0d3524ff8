"""Jitter of cpuidle-smt-performance's waker and latency of its irritators, beside cyclictest's.

    python benchmarks/cpuidle/jitter.py [SECONDS]

Both run at the same time at the same period: cyclictest with a thread on the waker's CPU and one on
the irritator's. The waker sleeps on a timer as cyclictest does, with the same slack of 1 ns, so the
two first rows measure the same thing on the same CPU; the irritator is woken by a thread of another
CPU, cyclictest's thread there by a timer. The self-test's floor is what a wake takes where no idle
state is in its way.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schedlab.base.system import LocalSystem
from schedlab.kernels.native import cpuidle_smt_performance
from schedlab.machine.here import describe
from schedlab.machine.placement import place

PERIODS = (1000, 200)
PR_SET_TIMERSLACK = 29
LONGEST = 1_000_000
"""Beyond this many us a latency is only counted."""

Row = tuple[str, float, float, float, float]


def percentile(histogram: Mapping[str, int], percent: float) -> float:
    need = sum(histogram.values()) * percent / 100
    have = 0
    for latency, count in sorted((int(us), n) for us, n in histogram.items()):
        have += count
        if have >= need:
            return float(latency)
    raise SystemExit("jitter: cyclictest woke up not once")


def ours(report: Mapping[str, Any], name: str, what: str) -> Row:
    values = {result["name"]: result["value"] for result in report["results"]}
    return (what, *(values[f"{name} {which}"] for which in ("mean", "p50", "p99", "max")))


def theirs(thread: Mapping[str, Any], what: str) -> Row:
    histogram = thread["histogram"]
    return (
        what,
        thread["avg"],
        percentile(histogram, 50),
        percentile(histogram, 99),
        thread["max"],
    )


def measure(
    tool: str, words: list[str], cpus: tuple[int, int], period: int, time: int
) -> list[Row]:
    waker, irritator = cpus
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        peer = subprocess.Popen(
            [
                *("cyclictest", "--default-system", "-q", f"-a{waker},{irritator}", "-t2", "-d0"),
                *(f"-i{period}", f"-D{time}", f"-h{LONGEST}", f"--json={file.name}"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        run = [tool, *words, "-r", str(period), "-t", str(time), "-s", "--json"]
        result = json.loads(subprocess.run(run, capture_output=True, check=True).stdout)
        if peer.wait():
            raise SystemExit("jitter: cyclictest failed")
        threads = json.loads(Path(file.name).read_text())["thread"].values()
    on = {thread["cpu"]: thread for thread in threads}
    return [
        ours(result, "waker lateness", f"waker, CPU {waker}"),
        theirs(on[waker], f"cyclictest, CPU {waker}"),
        ours(result, "wakeup latency", f"irritator, CPU {irritator}"),
        theirs(on[irritator], f"cyclictest, CPU {irritator}"),
    ]


def main() -> None:
    time = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    tool = str(cpuidle_smt_performance())
    cpus = place(describe(LocalSystem()).machine)
    print(cpus.described())
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)  # handed down to what is started
    waker, irritator = cpus.waker, cpus.irritators[0]
    words = ["-w", str(cpus.workload), "-i", str(irritator), "-a", str(waker)]
    print(f"{'us':32}{'mean':>9}{'p50':>9}{'p99':>9}{'max':>9}")
    for period in PERIODS:
        print(f"every {period} us, {time} s")
        for name, *figures in measure(tool, words, (waker, irritator), period, time):
            print(f"  {name:30}" + "".join(f"{figure:9.1f}" for figure in figures))
    floor = subprocess.run(
        [tool, "--self-test", "-a", str(waker), "-i", str(irritator), "-t", "2"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    print(floor.stdout, end="")


if __name__ == "__main__":
    main()
