"""How close a replay comes to what was recorded: each workload recorded, imported and replayed.

    python benchmarks/recording/fidelity.py [--machine smp4] [--kernel 6.12] [--seeds 3]
        [--only NAME,...] [--change 'SETTING; ...' ...] [--without-messages] --output FOLDER

A workload is simulated and its trace imported; the replay is simulated on the same machine, under
the same kernel and seed. With --change both are simulated under that setting too, so that the
change which the replay predicts stands beside the change of the original: of each metric of the
original that a replay measures too. `kernel:NAME` and `machine:NAME` are changes as well. Figures
are of the workload's own tasks. What has been measured is in FOLDER and not measured again.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from schedlab.base.errors import SchedlabError
from schedlab.benchmarks import Case, find_benchmark
from schedlab.benchmarks.metric import Metric, is_run_time
from schedlab.benchmarks.misfit import LONGEST
from schedlab.benchmarks.replay import kind_of_replay
from schedlab.benchmarks.rt_app import REQUEST_P99, TIME, WAKEUP_P99, WORK_RATE
from schedlab.cli.planning import single_case
from schedlab.lab.recording import closure
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.events import Events
from schedlab.lab.recording.inference import call_costs, infer
from schedlab.lab.recording.pace import speeds
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.stats import trace_stats
from schedlab.lab.tracing import Recording, record_run
from schedlab.machine.model import Machine
from schedlab.settings.variant import Variant, parse_variant
from schedlab.targets.sim import SimTarget

CASES = (
    "HackbenchForkPipes:groups=1,loops=40",
    "HackbenchForkSockets:groups=1,loops=40",
    "HackbenchPipeThreads:groups=1,loops=40",
    "HackbenchPipeThreads4k:groups=1,loops=40",
    "HackbenchSocketThreads:groups=1,loops=40",
    "PerfBenchSchedMessaging:groups=1,loops=40",
    "PerfBenchSchedPipe:loops=3000",
    "PerfBenchFutexWake:threads=64",
    "PerfBenchNumaMem:processes=1,threads=2,memory=64,time=1",
    "SysBenchCpu:threads=6,time=200ms",
    "SysBenchMemory:threads=6,time=200ms",
    "SysBenchMutex:threads=16,locks=60",
    "SysBenchThreads:threads=6,time=50ms",
    "StressNgPipe:instances=4,time=50ms",
    "Netperf:clients=4,length=50ms",
    "Netperf:test=UDP_RR,clients=4,length=50ms",
    "Tbench:clients=4,time=50ms",
    "Schbench:workers=6,runtime=300ms",
    "SchbenchOld:message_threads=2,workers=4,runtime=1",
    "Nanosleep:processes=4,time=200ms",
    "Sqlite:copies=4,rows=100",
    "UnixbenchSpawn:copies=2,duration=100ms",
    "UnixbenchExecl:copies=2,duration=100ms",
    "UnixbenchPipe:copies=2,duration=100ms",
    "UnixbenchSyscall:copies=2,duration=100ms",
    "UnixbenchDhry2reg:copies=6,duration=200ms",
    "YcsbMongodb:threads=6,time=1",
    "DeathStarBench:ccds=1,connections=8,time=1",
    "Specjbb2015Preset:groups=1,tier1=4,ir=1000,time=1",
    "Stream:array_size=4194304,ntimes=2,threads=2",
    "Misfit:requests=200",
)


EVENTS = (
    "sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sched_migrate_task,"
    "sched_process_fork,sched_process_exit"
)
MESSAGES = f"{EVENTS},messages:*,syscalls:*"


@dataclass(frozen=True)
class Figures:
    """What a trace shows of the workload's own tasks."""

    events: int
    seconds: float
    """From the first moment one of them ran to the last."""
    switches: int
    wakeups: int
    moves: int
    busy: float
    """CPUs, on average."""
    p50: float
    """us from wake to CPU."""
    p99: float

    @classmethod
    def of(cls, events: Events, taken: Choice) -> Figures:
        """Return the figures of a trace."""
        found = trace_stats(events, taken)
        return cls(
            len(events),
            found.span,
            found.switches,
            sum(group.wakeups for group in found.groups),
            sum(group.moves for group in found.groups),
            sum(group.running for group in found.groups) / 1e9 / max(found.span, 1e-9),
            found.latency.get("p50", math.nan),
            found.latency.get("p99", math.nan),
        )


Metrics = dict[str, float]
"""Of a run; inverted where less is better."""


def counterpart(metric: Metric) -> str:
    """Return the metric of replays that stands for one of an original; empty: none does."""
    if is_run_time(metric) or metric == LONGEST:
        return TIME.name
    if metric.better == "higher":
        return WORK_RATE.name
    if not metric.name.endswith("_p99"):
        return ""
    return WAKEUP_P99.name if "wakeup" in metric.name else REQUEST_P99.name


def counterparts(metrics: Sequence[Metric]) -> dict[str, str]:
    """Return the metrics of an original that a replay measures too, each of these once."""
    found = {counterpart(metric): metric.name for metric in reversed(metrics)}
    return {original: replay for replay, original in reversed(found.items()) if replay}


class Laboratory:
    """Simulates, imports and replays on one machine under one kernel."""

    def __init__(self, machine: str, kernel: str | None, events: str, folder: Path) -> None:
        self.target = SimTarget(machine)
        self.machine: Machine = self.target.machine()
        self.kernel, self.events = kernel, events
        self.folder = folder
        self.speed = speeds(self.machine)
        probe = folder / "probe.slw"
        closure.probe().write(probe)
        trace = folder / "probe.txt"
        self.run(self.replay_case(probe), "", 1, self.recording(trace))
        self.taken = Choice(speed=self.speed, costs=call_costs(read_trace(trace), self.speed))

    def run(self, case: Case, change: str, seed: int, recording: Recording) -> Metrics:
        """Simulate a case."""
        what, colon, name = change.partition(":")
        target = SimTarget(name) if colon and what == "machine" else self.target
        kernel = name if colon and what == "kernel" else self.kernel
        set_ = bool(change) and not colon
        variant = parse_variant(f"changed: {change}") if set_ else Variant(name="base")
        if kernel:
            variant = variant.model_copy(update={"kernel": kernel})
        record = record_run(target, case, variant, recording, seed)
        return {
            metric.name: value if metric.better == "higher" else 1 / value
            for metric in case.metrics
            if (value := record.metrics.get(metric.name))
        }

    def recording(self, trace: Path) -> Recording:
        """Return what a trace that is to be read has."""
        return Recording(trace, events=self.events)

    def replay_case(self, file: Path) -> Case:
        """Return the case that replays a file."""
        return find_benchmark("RtApp", "").case(self.machine, {"file": str(file)}, file.stem, "")

    def compare(self, text: str, changes: Sequence[str], seed: int) -> dict[str, Any]:
        """Return the figures of an original and its replay, by change; the first is none."""
        case = single_case(text, self.machine)
        trace, file = self.folder / "trace.txt", self.folder / "recorded.slw"
        found: dict[str, Any] = {"case": text, "seed": seed}
        found |= {"machine": self.machine.name, "kernel": self.kernel or "default"}
        original = self.run(case, "", seed, self.recording(trace))
        events = read_trace(trace)
        made = infer(events, self.taken, text)
        made.write(file)
        found |= {"waits": made.recorded["waits"], "objects": made.recorded["objects"]}
        found |= {"work": made.work(), "pairs": counterparts(case.metrics)}
        found["kind"] = kind_of_replay(made.all_words())
        before = Figures.of(events, Choice())
        again = self.replay_case(file)
        replay = self.run(again, "", seed, self.recording(trace))
        after = Figures.of(read_trace(trace), Choice())
        rates = (made.work() / 1e9 / max(before.seconds, 1e-9), replay.get(WORK_RATE.name, 0.0))
        rows = zip((before, after), rates, (original, replay), strict=True)
        found["base"] = [{**vars(figs), "rate": rate, "better": run} for figs, rate, run in rows]
        few = Recording(trace, events="sched_process_exit")
        for change in changes:
            runs = [self.run(each, change, seed, few) for each in (case, again)]
            found[change] = [{"better": run} for run in runs]
        return found


def measured(lab: Laboratory, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what has been measured, after measuring what was not."""
    path: Path = given.output / "measured.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["case"], row["seed"]) for row in rows}
    names = given.only.split(",") if given.only else None
    for seed in range(1, given.seeds + 1):
        for text in CASES:
            if (text, seed) in known or (names and text.partition(":")[0] not in names):
                continue
            try:
                row = lab.compare(text, given.change, seed)
            except SchedlabError as error:
                row = {"case": text, "seed": seed, "failed": str(error)}
            rows.append(row)
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(text, seed, row.get("failed", "done"), flush=True)
    return rows


ABOUT = frozenset(
    {"case", "seed", "machine", "kernel", "waits", "objects", "work", "pairs", "kind"}
)
"""What a row holds beside runs, by their changes."""
_COLUMNS = ("seconds", "rate", "switches", "wakeups", "moves", "busy", "p50", "p99")


def replay_table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of originals and replays: the replay's figure as a multiple."""
    yield (
        "| workload | s | work done at a time (CPUs) | switches | wakeups | moves | CPUs busy |"
        " p50 (us) | p99 (us) |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in dict.fromkeys(str(row["case"]) for row in rows):
        of_case = [row for row in rows if row["case"] == case and "base" in row]
        if not of_case:
            failed = next(row for row in rows if row["case"] == case)
            yield f"| {case} | {str(failed['failed']).splitlines()[0]} | | | | | | |"
            continue
        cells = []
        for column in _COLUMNS:
            original, replay = (
                float(np.mean([row["base"][which][column] for row in of_case])) for which in (0, 1)
            )
            cells.append(f"{short(original)} → {short(replay)}")
        yield f"| {case} | {' | '.join(cells)} |"


def change_table(rows: Sequence[dict[str, Any]], changes: Sequence[str]) -> Iterator[str]:
    """Yield the table of changes: of the original, and as the replay predicts it."""
    yield "| workload | metric | change | original | replay | sign | intervals |"
    yield "|---|---|---|---|---|---|---|"
    for case in dict.fromkeys(str(row["case"]) for row in rows):
        of_case = [row for row in rows if row["case"] == case and "base" in row]
        for (metric, other), change in product(metric_pairs(of_case), changes):
            found = [
                _interval([
                    math.log(ratio(row, change, which, name)) for row in of_case
                ])
                for which, name in enumerate((metric, other))
            ]  # fmt: skip
            (low, mid, high), (low2, mid2, high2) = found
            sure = [low * high > 0, low2 * high2 > 0]
            sign = "same" if mid * mid2 > 0 else "other"
            word = sign if all(sure) else "both nothing" if not any(sure) else "one nothing"
            overlap = "overlap" if low <= high2 and low2 <= high else "apart"
            texts = [
                f"{100 * math.expm1(m):+.1f} % [{100 * math.expm1(a):+.1f},"
                f" {100 * math.expm1(b):+.1f}]"
                for a, m, b in found
            ]
            yield f"| {case} | {metric} | {change} | {texts[0]} | {texts[1]} | {word} | {overlap} |"


def metric_pairs(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the metrics of the original and of the replay that all runs have."""
    every = dict(rows[0]["pairs"]) if len(rows) > 1 else {}
    return [
        names
        for names in every.items()
        if all(
            name in run["better"]
            for row in rows
            for key, runs in row.items()
            if key not in ABOUT
            for name, run in zip(names, runs, strict=True)
        )
    ]


def ratio(row: dict[str, Any], change: str, which: int, metric: str) -> float:
    """Return what a change did to a metric of the original (0) or of the replay (1)."""
    after, before = (row[key][which]["better"][metric] for key in (change, "base"))
    return float(after / before)


def _interval(logs: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval."""
    mean = float(np.mean(logs))
    error = float(stats.sem(logs))
    if not error:
        return mean, mean, mean
    low, high = stats.t.interval(0.95, len(logs) - 1, mean, error)
    return float(low), mean, float(high)


def short(value: float) -> str:
    """Return a figure with three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--machine", default="smp4")
    options.add_argument("--kernel")
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--only", default="")
    options.add_argument("--change", action="append", default=[])
    options.add_argument("--without-messages", action="store_true")
    options.add_argument("--output", type=Path, required=True)
    given = options.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    events = EVENTS if given.without_messages else MESSAGES
    lab = Laboratory(given.machine, given.kernel, events, given.output)
    rows = measured(lab, given)
    print("\n".join(replay_table(rows)))
    if given.change:
        print("\n".join(change_table(rows, given.change)))


if __name__ == "__main__":
    main()
