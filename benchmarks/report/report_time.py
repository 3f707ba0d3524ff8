"""CPU time and size of every report of 10,000 runs, against simpler ways to sum them up.

    python benchmarks/report/report_time.py [RUNS]

The result has 11 benchmarks, 2 variants and 26 counters. Each report is a process of its own, as
`schedlab report` is, so loading Python and its libraries counts. The peers, in the same call:

    sqlite3 AVG        the mean of every figure by SQL, from the same database: a lower bound
    csv + statistics   geometric means by Python's own modules, from the CSV report: a lower bound
    hyperfine          everything but the timed commands of `hyperfine --export-json` with as many
                       timings, of one command and no counters; left out where not installed
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from schedlab.benchmarks.metric import Metric
from schedlab.lab.order import block_order
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.result.store import Store, describe

COUNTERS = 26
_SCHEDLAB = [sys.executable, "-c", "from schedlab.cli import main; main()", "report"]

_SQLITE_AVG = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
query = '''SELECT benchmark, variant, kind, name, AVG(value)
           FROM figure JOIN run USING (position) GROUP BY 1, 2, 3, 4'''
for row in database.execute(query):
    print(*row)
"""

_CSV_STATISTICS = """
import collections, csv, statistics, sys
groups = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[1])):
    if row["value"] and row["warmup"] == "0":
        groups[row["benchmark"], row["variant"], row["name"]].append(float(row["value"]) + 0.5)
for name, values in groups.items():
    print(*name, statistics.geometric_mean(values))
"""


def make_result(folder: Path, runs: int) -> Store:
    blocks = max(7, round(runs / 22))
    plan = Plan.model_validate(
        {
            "suite": "common",
            "variant": [{"name": "Default"}, {"name": "NB-OFF", "env": {"A": "1"}}],
            "blocks": {"warmup": 0, "looks": [6, blocks]},
        }
    )
    machine = Machine.model_validate(
        {"name": "big", "arch": "x86_64", "memory_gib": 512, "cpus": "0-255", "topology": {}}
    )
    cases = plan.cases(machine)
    infos = [describe(case, " ".join(case.commands[0].argv)) for case in cases]
    store = Store.create(folder, plan, machine, {"Kernel release": "6.12"}, infos, "schedlab run")
    rng = random.Random(1)
    position = 0
    for block in range(blocks):
        for key, case, _ in block_order(plan, cases, block):
            metric: Metric = case.benchmark.metrics[0]
            record = RunRecord(key, position, rng.getrandbits(31), "command", seconds=10.0)
            record.started = "2026-03-01T12:00:00+00:00"
            record.metrics = {metric.name: round(rng.lognormvariate(3, 0.03), 4)}
            record.counters = {
                f"sched:event_{n}": round(rng.lognormvariate(n / 2, 0.1)) for n in range(COUNTERS)
            }
            record.busy_during = round(rng.random() * 0.02, 5)
            store.add(record)
            position += 1
    return store


def seconds(command: Sequence[str]) -> float:
    """Return the CPU time of a command; wall time would show how busy the machine is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hyperfine_seconds(scratch: Path, timings: int) -> float | None:
    if shutil.which("hyperfine") is None:
        return None
    export = scratch / "hyperfine.json"
    command = ["hyperfine", "-N", "--warmup", "0", "--runs", str(timings), "--style", "none"]
    took = seconds([*command, "--export-json", str(export), "true"])
    (result,) = json.loads(export.read_text())["results"]
    return took - timings * float(result["user"] + result["system"])


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        folder = scratch / "result"
        print(f"writing {wanted:,} runs ...", flush=True)
        store = make_result(folder, wanted)
        runs = len(store.records())
        store.close()
        print(f"{runs:,} runs, 11 benchmarks, 2 variants, {COUNTERS} counters\n")

        reports: dict[str, tuple[float, int]] = {}
        for shape in ("csv", "html", "json", "lkml", "markdown", "mmtests", "terminal"):
            file = scratch / f"report.{shape}"
            took = seconds([*_SCHEDLAB, str(folder), "--format", shape, "--output", str(file)])
            reports[shape] = took, file.stat().st_size
        peers = {
            "sqlite3 AVG": seconds([sys.executable, "-c", _SQLITE_AVG, f"{folder}/results.sqlite"]),
            "csv + statistics": seconds(
                [sys.executable, "-c", _CSV_STATISTICS, str(scratch / "report.csv")]
            ),
        }
        hyperfine = hyperfine_seconds(scratch, runs)
        if hyperfine is None:
            print("hyperfine is not installed (Debian package hyperfine): left out")
        else:
            peers["hyperfine"] = hyperfine

        for peer, took in peers.items():
            figures = runs if peer == "hyperfine" else runs * (1 + COUNTERS)
            print(f"{peer:18}{took:6.2f} s, {1e6 * took / figures:5.1f} us a figure")
        heads = "".join(f"{f'x {peer}':>20}" for peer in peers)
        print(f"\n{'report':10}{'CPU':>8}{'size':>10}{heads}")
        for shape, (took, size) in reports.items():
            ratios = "".join(f"{took / peer:20.1f}" for peer in peers.values())
            print(f"{shape:10}{took:6.2f} s{size / 1e6:7.2f} MB{ratios}")


if __name__ == "__main__":
    main()
