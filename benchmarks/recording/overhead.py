"""What recording a host costs what is recorded: hackbench, and a Redis with its client.

    python benchmarks/recording/overhead.py [--rounds 10] [--recorders ftrace,perf]

Each round runs both bare, while `schedlab record` records them, and while `record --light` does,
with each recorder, in random order. The ratios of the rounds have their mean and 95 % interval (on
logs). CPU time is that of hackbench's processes, and of the Redis server and its client, which a
busy host disturbs less than the time that they take; the recorder's own CPU time is not in it. It
needs root, perf, trace-cmd and a writable tracefs.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import random
import re
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scipy import stats

from schedlab.base.system import LocalSystem
from schedlab.lab.recording.recorder import RECORDERS, Request, record

HACKBENCH = ("hackbench", "-g", "1", "-l", "500")
REQUESTS = 50_000
PATIENCE = ("timeout", "60")
Way = tuple[str, str]
"""A recorder, and whether what it records is light or whole."""
BARE: Way = ("", "")
LIGHT, WHOLE = "light", "whole"
Measure = Callable[[Way], dict[str, float]]


def run(argv: Sequence[str], how: Way) -> tuple[str, float]:
    """Run a command, bare or recorded; return what it printed, and its CPU seconds."""
    if how != BARE:
        # A process of its own, as a recording ends whatever its process has started.
        with multiprocessing.Pool(1) as alone:
            return alone.apply(run_recorded, (tuple(argv), how))
    timed = ("sh", "-c", '"$@"; times >&2', "sh", *argv)
    done = subprocess.run(timed, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr, cpu_of_children(done.stderr)


def run_recorded(argv: Sequence[str], how: Way) -> tuple[str, float]:
    """Run a command while it is recorded."""
    recorder, what = how
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed = ("sh", "-c", '"$@" 2>&1; times', "sh", *argv)
        system = LocalSystem()
        with system.held():
            asked = Request(0, timed, light=what == LIGHT, recorder=recorder)
            made = record(system, asked, folder, folder / "x.gz")
            if made.lost:
                print(f"{recorder}, {what}: {made.lost:,} events were lost")
        return made.printed, cpu_of_children(made.printed)


def _worked(pid: int) -> float:
    """Return the CPU seconds of all threads of a process so far."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def cpu_of_children(said: str) -> float:
    """Return the CPU seconds of a shell's children, the second line of its `times`."""
    last = [line for line in said.splitlines() if re.fullmatch(r"\d+m[\d.]+s \d+m[\d.]+s", line)]
    return sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", last[-1]))


def hackbench(how: Way) -> dict[str, float]:
    """Return hackbench's time and CPU time, inverted."""
    said, cpu = run(HACKBENCH, how)
    found = re.search(r"Time: ([\d.]+)", said)
    assert found
    return {"hackbench, 1 / time": 1 / float(found[1]), "hackbench, 1 / CPU time": 1 / cpu}


def redis(port: int, server: int) -> Measure:
    """Return the measurement of a Redis that runs at a port, and of its client."""
    ask = ("redis-benchmark", "-p", str(port), "-n", str(REQUESTS), "-c", "20", "-t", "get")

    def measure(how: Way) -> dict[str, float]:
        before = _worked(server)
        said, cpu = run((*PATIENCE, *ask, "--csv"), how)
        cpu += _worked(server) - before
        found = re.search(r'"GET","([\d.]+)"', said)
        assert found
        rates = {"Redis, requests/s": float(found[1])}
        return {**rates, "Redis, requests per CPU s": REQUESTS / cpu}

    return measure


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=10)
    options.add_argument("--recorders", default=",".join(RECORDERS))
    given = options.parse_args()
    ways = [(by, what) for by in given.recorders.split(",") for what in (LIGHT, WHOLE)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"],
        stdout=subprocess.DEVNULL,
    )
    chance = random.Random(1)
    logs: dict[str, list[float]] = {}
    try:
        time.sleep(1)
        for _ in range(given.rounds):
            for measure in (hackbench, redis(port, server.pid)):
                order = [BARE, *ways]
                chance.shuffle(order)
                found = {how: measure(how) for how in order}
                for name, bare in found[BARE].items():
                    for how in ways:
                        ratio = math.log(found[how][name] / bare)
                        logs.setdefault(f"{', '.join(how)}, {name}", []).append(ratio)
    finally:
        server.terminate()
        server.wait()
        print_ratios(logs)
    print(f"{given.rounds} rounds on {os.cpu_count()} CPUs")


def print_ratios(logs: Mapping[str, Sequence[float]]) -> None:
    """Print each mean with its interval, of the rounds that there are."""
    for name, each in logs.items():
        if len(each) < 2:
            continue
        mean = statistics.fmean(each)
        low, high = stats.t.interval(0.95, len(each) - 1, mean, stats.sem(each))
        percents = [100 * math.expm1(value) for value in (mean, low, high)]
        print(f"{name}: {percents[0]:+.1f} % [{percents[1]:+.1f}, {percents[2]:+.1f}]", flush=True)


if __name__ == "__main__":
    main()
