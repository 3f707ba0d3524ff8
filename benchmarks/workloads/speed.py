"""Speed of workloads: simulated on 256 CPUs, and native against the originals.

    python benchmarks/workloads/speed.py [SERIES]

Simulated: seconds of the simulated machine per second of CPU, and events per second, one core, all
costs on. Native: our time over the original's, the median of pairs run in turn; 1 is equal.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "engine"))

from conftest import build, machine

from schedlab.native import schedlab_load

PAIRS = 7
EPYC = machine("epyc-7713-2p-nps1")

SIMULATED: list[dict[str, object]] = [
    *({"kind": "hackbench", "groups": n, "loops": 200, "pipe": True} for n in (1, 4, 16)),
    *({"kind": "tbench", "nprocs": n, "timelimit": "20ms"} for n in (1, 64, 1024)),
    *({"kind": "schbench-old", "threads": n, "runtime": "200ms", "warmuptime": 0}
      for n in (1, 64, 512)),
    {"kind": "unixbench", "test": "spawn", "copies": 512, "duration": "20ms"},
]  # fmt: skip

NATIVE = {
    "hackbench -g 4 -l 500": (
        ["hackbench", "-g", "4", "--loops", "500", "-f", "20"],
        r"Time: ([\d.]+)",
        ["hackbench", "-g", "4", "-l", "500"],
        r"^time: ([\d.]+)",
    ),
    "perf bench sched pipe -l 50000": (
        ["perf", "bench", "-f", "simple", "sched", "pipe", "-l", "50000"],
        r"^([\d.]+)",
        ["sched-pipe", "-l", "50000"],
        r"^time: ([\d.]+)",
    ),
}


def simulated(binary: Path) -> Iterator[str]:
    for workload in SIMULATED:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            scenario = {
                "duration": "100s",
                "settle": "100ms",
                "workloads": [workload],
                "end": {"when": "workloads_done", "max_simulated": "100s"},
            }
            (folder / "machine").write_text(json.dumps(EPYC))
            (folder / "scenario").write_text(json.dumps(scenario))
            argv = [str(binary), "--machine", "machine", "--scenario", "scenario", "--out", "out"]
            subprocess.run(argv, cwd=folder, check=True)
            told = json.loads((folder / "out").read_text())
        engine = told["engine"]
        words = " ".join(f"{key}={value}" for key, value in workload.items())
        yield (
            f"| {words} | {told['simulated_s'] / engine['cpu_s']:.3f} |"
            f" {engine['events_per_cpu_s'] / 1e6:.1f} |"
        )


def seconds(argv: list[str], pattern: str) -> float:
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    match = re.search(pattern, done.stdout, re.MULTILINE)
    assert match, done.stdout
    return float(match[1])


def native() -> Iterator[str]:
    load = str(schedlab_load())
    for name, (original, theirs, ours, own) in NATIVE.items():
        if not shutil.which(original[0]):
            yield f"| {name} | {original[0]} is not installed |"
            continue
        pairs = [(seconds([load, *ours], own), seconds(original, theirs)) for _ in range(PAIRS)]
        yield f"| {name} | {statistics.median(a / b for a, b in pairs):.2f} |"


def main() -> None:
    series = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    print(f"| simulated on 256 CPUs, {series} | simulated s per CPU s | M events/s |")
    print("| --- | ---: | ---: |")
    for line in simulated(build(series)):
        print(line, flush=True)
    print("\n| native | our time / the original's |\n| --- | ---: |")
    for line in native():
        print(line, flush=True)


if __name__ == "__main__":
    main()
