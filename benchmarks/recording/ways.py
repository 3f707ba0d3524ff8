"""What costs hackbench how much of a recording: each recorder, and parts of its events.

    python benchmarks/recording/ways.py [--rounds 8]

Each round runs hackbench bare and in each way, in random order. `perf` and `ftrace` write the
events that `schedlab record` asks for, ftrace into buffers that nobody reads meanwhile. `rejected`
has a filter that lets no system call through; `no exits` leaves the ends of reads and writes out;
`raw` takes the events of all system calls in place of those that are needed; `light` is without the
calls that read and write, `scheduler` with the scheduler's own events alone. Printed are the CPU
seconds of hackbench's processes: medians, and what the ways took away of the work done in a CPU
second. It needs root, perf and tracefs.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from overhead import HACKBENCH, cpu_of_children
from scipy import stats

from schedlab.base.system import LocalSystem
from schedlab.counters.tracepoints import TRACEFS
from schedlab.lab.recording.tracepoints import find_tracepoints

TIMED = ("sh", "-c", '"$@" 2>&1; times', "sh", *HACKBENCH)
BUFFER = 64 << 20
"""bytes for each CPU"""
_EXIT = re.compile(r"syscalls:sys_exit_(?:read|write|recv|send)")


def cpu(before: Sequence[str] = ()) -> float:
    """Return the CPU seconds of a hackbench that a command runs."""
    done = subprocess.run((*before, *TIMED), capture_output=True, text=True, check=True)
    return cpu_of_children(done.stdout)


def perf(events: Sequence[str], without: str = "") -> float:
    """Return those of one whose events perf writes; with a filter of its system calls."""
    chosen: list[str] = []
    for event in events:
        chosen += ["-e", event]
        if without and event.startswith("syscalls:"):
            chosen += ["--filter", without]
    with tempfile.TemporaryDirectory() as name:
        options = ("-k", "CLOCK_MONOTONIC", "-m", f"{BUFFER >> 10}K", "-o", f"{name}/perf.data")
        return cpu(("perf", "record", "-q", "-a", *options, *chosen, "--"))


@contextmanager
def instance(tracefs: Path) -> Iterator[Path]:
    """Yield an own ring buffer of ftrace's."""
    own = tracefs / "instances" / f"schedlab-{os.getpid()}"
    own.mkdir()
    try:
        yield own
    finally:
        (own / "events/enable").write_text("0")
        own.rmdir()


def ftrace(events: Sequence[str]) -> float:
    """Return those of one whose events lie in ftrace's ring buffer; none may be lost."""
    tracefs = next(Path(each) for each in TRACEFS if (Path(each) / "instances").is_dir())
    with instance(tracefs) as own:
        (own / "trace_clock").write_text("mono")
        (own / "buffer_size_kb").write_text(str(BUFFER >> 10))
        for event in events:
            (own / "events" / event.replace(":", "/") / "enable").write_text("1")
        took = cpu()
        lost = [
            int(found)
            for cpus in (own / "per_cpu").iterdir()
            for found in re.findall(r"^overrun: (\d+)", (cpus / "stats").read_text(), re.MULTILINE)
        ]
        assert not sum(lost), lost
        return took


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=8)
    given = options.parse_args()
    events = find_tracepoints(LocalSystem()).events
    light = find_tracepoints(LocalSystem(), light=True).events
    no_exits = [event for event in events if not _EXIT.match(event)]
    raw = [event for event in events if not event.startswith("syscalls:")]
    raw += ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]
    ways: dict[str, Callable[[], float]] = {
        "bare": cpu,
        "perf": lambda: perf(events),
        "rejected": lambda: perf(events, "common_pid == 1"),
        "no exits": lambda: perf(no_exits),
        "raw": lambda: perf(raw),
        "ftrace": lambda: ftrace(events),
        "ftrace, no exits": lambda: ftrace(no_exits),
        "ftrace, light": lambda: ftrace(light),
        "ftrace, scheduler": lambda: ftrace([e for e in light if e.startswith("sched:")]),
    }
    chance = random.Random(1)
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(given.rounds):
        order = list(ways)
        chance.shuffle(order)
        for name in order:
            took[name].append(ways[name]())
    bare = np.log(took["bare"])
    for name, each in took.items():
        said = f"{name}: {np.median(each):.3f} CPU s"
        if name != "bare":
            logs = bare - np.log(each)
            mean = float(np.mean(logs))
            low, high = stats.t.interval(0.95, len(logs) - 1, mean, stats.sem(logs))
            percents = [100 * math.expm1(value) for value in (mean, low, high)]
            said += f", {percents[0]:+.1f} % [{percents[1]:+.1f}, {percents[2]:+.1f}]"
        print(said)
    print(f"{given.rounds} rounds on {os.cpu_count()} CPUs")


if __name__ == "__main__":
    main()
