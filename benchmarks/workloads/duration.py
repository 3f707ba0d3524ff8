"""What a longer run changes: the table of docs/ilb-util.md.

    python benchmarks/workloads/duration.py [BENCHMARK]

Benchmarks of the ILB_UTIL plans in a short and a longer run, on the EPYC with NPS1, without the
patch and with it; geometric means of three seeds. Half an hour of CPU.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from statistics import geometric_mean

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from run_plan import figures

QUICK = (ROOT / "plans" / "ilb-util-epyc-quick.toml").read_text()
HEAD = QUICK[QUICK.index("[[kernel]]") : QUICK.index("[blocks]")]
SEEDS = 3
# benchmark, axis, its points, the parameter of length, lengths from short to long, metric
ROWS = (
    ("SchbenchOld", "workers", (16, 128), "runtime", ("2s", "20s"), "latency_p99"),
    ("UnixbenchDhry2reg", "copies", (512,), "duration", ("100ms", "3s"), "loops"),
    ("Netperf", "clients", (128, 256), "length", ("150ms", "600ms"), "transactions_per_client"),
    ("Tbench", "clients", (512, 1024), "time", ("150ms", "600ms"), "throughput"),
    ("HackbenchPipeThreads", "groups", (16,), "loops", (400, 1500, 5000), "time"),
)


def plan(name: str, axis: str, point: int, length: str, value: str | int) -> str:
    """Give a plan of one benchmark with the quick plan's kernel and variants."""
    quoted = f'"{value}"' if isinstance(value, str) else value
    return (
        f'title = "duration"\ntarget = "sim:epyc-7713-2p-nps1"\n'
        f'[[benchmark]]\nname = "{name}"\nparams = {{ {axis} = {point}, {length} = {quoted} }}\n'
        f'{HEAD}[blocks]\nlooks = [{SEEDS}]\nwarmup = 0\ntimeout = "2h"\n'
    )


def means(text: str, metric: str) -> dict[str, float]:
    """Run a plan; give the metric's mean of each variant."""
    values = defaultdict(list)
    for line in figures(text, metric):
        values[line["variant"]].append(float(line["value"]))
    return {variant: geometric_mean(found) for variant, found in values.items()}


def main() -> None:
    """Print a row for each benchmark and length."""
    for name, axis, points, length, values, metric in ROWS:
        if name not in (sys.argv[1:] or [name]):
            continue
        for point in points:
            for value in values:
                mean = means(plan(name, axis, point, length, value), metric)
                change = 100 * (mean["ILB_UTIL"] / mean["tip"] - 1)
                print(
                    f"{name} {axis}={point} {length}={value}: {metric} {mean['tip']:.5g}, "
                    f"with ILB_UTIL {mean['ILB_UTIL']:.5g} ({change:+.1f} %)",
                    flush=True,
                )


main()
