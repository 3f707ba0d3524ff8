"""The lab's own time per run, against hyperfine and bare `perf stat` on the same command.

    python benchmarks/overhead/lab_overhead.py [RUNS]

The command does next to nothing, so what is left is the harness: starting and ending the process,
reading counters, writing the result to disk. The pause before each run (`settle`) is off, as it
is a choice of the plan and not overhead. Prints one line a harness, in ms per run, with the ratio
to its peer measured in the same call.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from schedlab.base.system import LocalSystem
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.tool import Tool
from schedlab.counters.perf_stat import MIGRATIONS, TRACEPOINTS, PerfStat
from schedlab.lab.runner import Progress, Runner
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.result.store import Store, describe
from schedlab.targets.host import HostTarget

TIME = Metric("time", "s", "lower", "Time (sec)")
NEXT_TO_NOTHING = ("sh", "-c", "echo Time: 1")


def parse(output: Output) -> Values:
    """Read the time the command pretends to have taken."""
    return {TIME: output.number_after("Time:")}


@benchmark(
    "NextToNothing", tool=Tool("sh", package="dash"), metrics=[TIME], parse=parse, defaults={}
)
def next_to_nothing() -> Command:
    """Print one line and end."""
    return Command(*NEXT_TO_NOTHING)


class Watch(Progress):
    """Keeps the time of each run, store and all."""

    def __init__(self) -> None:
        self.ends = [time.perf_counter()]

    def done(self, record: RunRecord) -> None:
        assert record.status == "ok", record.error
        self.ends.append(time.perf_counter())


def lab(runs: int, counters: object) -> float:
    """Return the median seconds between the ends of runs of a real plan."""
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "NextToNothing"}],
            "variant": [{"name": "A1"}, {"name": "A2"}],
            "aa": True,
            "counters": counters,
            "blocks": {"looks": [max(runs // 2, 2)], "warmup": 0, "settle": "0ms"},
        }
    )
    target = HostTarget(LocalSystem())
    machine = target.machine()
    cases = plan.cases(machine)
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        infos = [describe(case, "next to nothing") for case in cases]
        store = Store.create(Path(folder) / "r", plan, machine, {}, infos, "benchmark")
        with target.open(plan, cases, Path(folder)) as session:
            Runner(store, cases, session, watch).run()
    gaps = [end - start for start, end in zip(watch.ends[1:], watch.ends[2:], strict=False)]
    return statistics.median(gaps)


def repeated(runs: int, once: Callable[[], object]) -> float:
    """Return the median seconds of a call."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        once()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def hyperfine(runs: int) -> float:
    """Return the seconds per run hyperfine needs, its own work included."""
    with tempfile.NamedTemporaryFile() as report:
        command = ["hyperfine", "-N", "--warmup", "1", "--runs", str(runs)]
        command += ["--export-json", report.name, " ".join(["sh", "-c", "'echo Time: 1'"])]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        elapsed = time.perf_counter() - start
        assert len(json.loads(Path(report.name).read_text())["results"][0]["times"]) == runs
        return elapsed / (runs + 1)


def main() -> None:
    """Measure every harness and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    bare = repeated(runs, lambda: subprocess.run(NEXT_TO_NOTHING, capture_output=True, check=True))
    print(f"{'harness':44} {'ms per run':>10}   ratio")
    print(f"{'the bare command':44} {bare * 1e3:10.1f}")
    plain = lab(runs, ())
    if shutil.which("hyperfine"):
        peer = hyperfine(runs)
        print(f"{'hyperfine -N':44} {peer * 1e3:10.1f}")
        print(f"{'schedlab, no counters':44} {plain * 1e3:10.1f}   {plain / peer:.1f} x hyperfine")
    else:
        print("hyperfine: skipped: not installed (Debian package hyperfine)")
    events = PerfStat((*TRACEPOINTS, *MIGRATIONS))
    with tempfile.TemporaryDirectory() as folder:
        command = events.wrap(NEXT_TO_NOTHING, f"{folder}/perf.csv")
        works = subprocess.run(command, capture_output=True, check=False).returncode == 0
        if not works:
            print("perf stat: skipped: tracepoints cannot be counted here (`schedlab doctor`)")
            return
        peer = repeated(runs, lambda: subprocess.run(command, capture_output=True, check=True))
    full = lab(runs, "all")
    print(f"{'perf stat -a, the same 6 events':44} {peer * 1e3:10.1f}")
    print(f"{'schedlab, all counters':44} {full * 1e3:10.1f}   {full / peer:.2f} x perf stat")


if __name__ == "__main__":
    main()
