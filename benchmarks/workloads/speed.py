"""Speed of our native workloads against the originals.

    python benchmarks/workloads/speed.py

Our time over the original's, the median of pairs run in turn; 1 is equal.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator

from schedlab.kernels.native import schedlab_load

PAIRS = 7

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
    print("| native | our time / the original's |\n| --- | ---: |")
    for line in native():
        print(line, flush=True)


if __name__ == "__main__":
    main()
