"""rt-app: threads that do what a JSON file says; the figures are those of its logs (rt-app).

Where rt-app is not installed our own schedlab-load stands in, and says so.
"""

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from schedlab.base.errors import HostError, IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.replay import REPLAY_TIME
from schedlab.benchmarks.rt_app_file import RtAppFile
from schedlab.benchmarks.tool import Tool
from schedlab.kernels.native import PROGRAM, schedlab_load

RT_APP = Tool(
    "rt-app",
    package="rt-app",
    use="workloads from files; without it our own program stands in",
)

WAKEUP = Metric(
    "wakeup_latency", unit="us", better="lower", label="Wakeup latency, mean (us)", optional=True
)
WAKEUP_P99 = Metric(
    *("wakeup_latency_p99", "us", "lower", "Wakeup latency, p99 (us)"), optional=True
)
SLACK = Metric("slack", unit="us", better="higher", label="Slack, mean (us)", signed=True)
RUN = Metric("run", unit="us", better="lower", label="Time for the work of a phase (us)")
PERF = Metric("perf", unit="loops", better="higher", label="Work done in a phase (loops)")
PERIOD = Metric("period", unit="us", better="lower", label="Duration of a phase (us)")
TIME = Metric(REPLAY_TIME, unit="s", better="lower", label="Time for all recorded work (s)")
WORK_RATE = Metric(
    "work_rate", unit="CPUs", better="higher", label="Recorded work done at a time (CPUs)"
)
REQUEST = Metric("request", "us", "lower", "Request, mean (us)", optional=True)
REQUEST_P99 = Metric("request_p99", "us", "lower", "Request, p99 (us)", optional=True)

_FIGURES = {
    WAKEUP: "wu_lat mean",
    WAKEUP_P99: "wu_lat p99",
    SLACK: "slack mean",
    RUN: "run mean",
    PERF: "perf mean",
    PERIOD: "period mean",
    TIME: "time",
    WORK_RATE: "work rate",
    REQUEST: "request mean",
    REQUEST_P99: "request p99",
}
"""What the simulator's result calls them."""
_WOKEN = {WAKEUP: "wakeup mean", WAKEUP_P99: "wakeup p99"}
"""And those of a replay, which has no timers: from a wake to the task's next step."""


class Row(NamedTuple):
    """A line of a log: one time through a phase; microseconds, but for `perf`."""

    idx: int
    perf: int
    run: int
    period: int
    start: int
    end: int
    rel_st: int
    slack: int
    c_duration: int
    c_period: int
    wu_lat: int


def metrics(file: str) -> tuple[Metric, ...]:
    """Return what a file's logs can contain: timers, work, or time given for it."""
    description = RtAppFile(file)
    if description.has("replay"):
        return tuple(_replay_figures(description))
    timers = description.has("timer")
    found = {
        WAKEUP: timers,
        WAKEUP_P99: timers,
        SLACK: timers,
        RUN: description.has("run"),
        PERF: description.has("runtime"),
        PERIOD: not timers,
    }
    return tuple(metric for metric, present in found.items() if present)


def _replay_figures(description: RtAppFile) -> dict[Metric, str]:
    """Return what a replay measures, and what the result calls it."""
    found = {TIME: _FIGURES[TIME]}
    if description.works():
        found[WORK_RATE] = _FIGURES[WORK_RATE]
    if description.hands_over():
        found |= _WOKEN
    enough, classes = description.request_classes()
    if enough:
        found |= {metric: _FIGURES[metric] for metric in (REQUEST, REQUEST_P99)}
    for name in classes:
        found |= {
            _of_class(metric, name): f"request of {name} {figure}"
            for metric, figure in ((REQUEST, "mean"), (REQUEST_P99, "p99"))
        }
    return found


def _of_class(metric: Metric, name: str) -> Metric:
    """Return the metric of the requests that tasks of one name begin."""
    slug = re.sub(r"\W+", "_", name).strip("_") or "tasks"
    label = metric.label.replace("Request", f"Request of {name}")
    return replace(metric, name=metric.name.replace("request", f"request_{slug}"), label=label)


def parse(output: Output) -> Values:
    """Read the logs of all threads.

    Raises:
        IncompleteRun: there are none, a line is damaged, or rt-app passed over an event.
    """
    refused = re.search(r"Unknown or mismatch .*", output.stderr)
    if refused:
        raise IncompleteRun(f"rt-app did not take an event of the file: {refused[0]}")
    rows = [row for path in sorted(output.folder.glob("*.log")) for row in read_log(path)]
    if not rows:
        raise IncompleteRun("no thread finished a phase: the logs are empty")
    by_timer = [row for row in rows if row.c_period]
    working = [row for row in rows if row.c_duration]
    values = {PERIOD: _mean(rows, lambda row: row.period)}
    if by_timer:
        values[WAKEUP] = _mean(by_timer, lambda row: row.wu_lat)
        values[WAKEUP_P99] = float(_percentile([row.wu_lat for row in by_timer], 99))
        values[SLACK] = _mean(by_timer, lambda row: row.slack)
    if working:
        values[RUN] = _mean(working, lambda row: row.run)
        values[PERF] = _mean(working, lambda row: row.perf)
    return values


def parse_replay(figures: Mapping[Metric, str], output: Output) -> Values:
    """Read the figures of a replay, which our own program prints.

    Raises:
        IncompleteRun: there are none.
    """
    try:
        results = json.loads(output.stdout)["results"]
        found = {result["name"]: float(result["value"]) for result in results}
    except (ValueError, KeyError, TypeError):
        raise IncompleteRun(f"{PROGRAM} printed no results") from None
    return {metric: found[name] for metric, name in figures.items() if name in found}


def read_log(path: Path) -> list[Row]:
    """Read the log of one thread; IncompleteRun where a line is damaged."""
    rows = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if line.startswith("#"):
            continue
        try:
            rows.append(Row(*map(int, line.split())))
        except (ValueError, TypeError):
            raise IncompleteRun(f"{path.name}:{number}: is not a line of rt-app's log") from None
    return rows


def _mean(rows: Sequence[Row], column: Callable[[Row], int]) -> float:
    return sum(map(column, rows)) / len(rows)


def _percentile(values: Sequence[int], percent: int) -> int:
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def rt_app_model(file: str) -> Model:
    """Return the same file to the simulator."""
    description = RtAppFile(file)
    enclosed = description.as_written()
    replays = description.has("replay")
    named = _replay_figures(description) if replays else {m: _FIGURES[m] for m in metrics(file)}
    figures = {metric: f"rt-app.{name}" for metric, name in named.items()}
    workload = {"kind": "rt-app", "file": enclosed.name}
    if TIME not in figures:
        workload["logdir"] = "."
    return Model(workload, figures, (enclosed,))


def check(description: RtAppFile) -> None:
    """Check a file with our own reader, which knows all keys and values; rt-app ignores some.

    Raises:
        UsageError: it refuses the file; line and key are named.
    """
    try:
        program = schedlab_load()
    except HostError:
        return  # what cannot be built here is not needed: a run of rt-app finds most by itself
    with tempfile.TemporaryDirectory(prefix="schedlab-") as folder:
        file = description.path
        if not description.is_plain():
            file = str(Path(folder) / "workload")
            Path(file).write_text(description.text)
        argv = [str(program), "rt-app", "--file", file, "--check"]
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        refused = done.stderr.strip().removeprefix(f"{PROGRAM} rt-app: ")
        raise UsageError(refused.replace(file, description.path))


def _note(description: RtAppFile) -> str:
    notes = []
    if description.calibrates():
        notes.append(
            "rt-app measures its loop anew before each run; a number as calibration spares it"
        )
    if later := ", ".join(description.later_keys()):
        notes.append(f"rt-app 1.0 does not know {later} and passes over it")
    return "; ".join(notes)


def _replay(description: RtAppFile) -> Command:
    """Return the command for a recording, which rt-app itself cannot replay."""
    ours = description.as_written()
    return Command(
        *(PROGRAM, "rt-app", "--file", ours.name, "--json"),
        parse=partial(parse_replay, _replay_figures(description)),
        enclosures=(ours,),
        check=partial(check, description),
    )


@benchmark(
    "RtApp",
    tool=RT_APP,
    metrics=list(_FIGURES),
    select=metrics,
    parse=parse,
    defaults={"file": ""},
    model=rt_app_model,
    replays=lambda file: RtAppFile(file).replay_kind(),
    recording=lambda file: RtAppFile(file).recording(),
)
def rt_app(file: str) -> Sequence[Command]:
    """Threads as a file of rt-app describes them (`--workload FILE.json`)."""
    description = RtAppFile(file)
    if description.has("replay"):
        return [_replay(description)]
    theirs, ours = description.for_rt_app(), description.as_written()
    return [
        Command(
            "rt-app",
            theirs.name,
            enclosures=(theirs,),
            note=_note(description),
            check=partial(check, description),
        ),
        Command(
            *(PROGRAM, "rt-app", "--file", ours.name, "--logdir", "."),
            enclosures=(ours,),
            note="rt-app is not installed; our own schedlab-load stands in for it",
            check=partial(check, description),
        ),
    ]
