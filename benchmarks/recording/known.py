"""Programs whose time is known, recorded on this host, and the time that their workloads take.

    python benchmarks/recording/known.py [--rounds 3] [--only NAME,...] [--recorder ftrace|perf]

known.c is compiled, and each of its programs is recorded several times, as busy as the host is. Of
each workload the time is printed that it takes where every task has a CPU, without a scheduler,
beside that of the program by its own constants, and what its waits were found to be for. It needs
root, perf and gcc.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from host import record

from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.pace import speeds
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.recorder import RECORDERS, Request
from schedlab.lab.recording.workload import RecordedWorkload

SOURCE = Path(__file__).with_name("known.c")
FLAGS = ("-O2", "-D_GNU_SOURCE", "-pthread", "-Wall", "-Wextra", "-Werror")
ROUNDS = 400
"""Of known.c."""
PROGRAMS = {
    **dict.fromkeys(("futexes", "eventfds", "pipes", "semaphores", "conditions"), 500e-6 * ROUNDS),
    "ring": 800e-6 * ROUNDS,
    "busy-pool": 500e-6 * ROUNDS / 3,
    "idle-pool": 1000e-6 * ROUNDS,
    "full-pool": 500e-6 * ROUNDS / 3,
    **dict.fromkeys(("narrow-pipeline", "wide-pipeline"), 300e-6 * ROUNDS + 450e-6),
    "busy-lock": 3 * 200e-6 * ROUNDS,
    "half-lock": 3 * 100e-6 * ROUNDS,
    "free-lock": 530e-6 * ROUNDS,
    "barrier": 300e-6 * ROUNDS,
    "timers": 1.001,
    "children": 30e-3,
    "server": 3 * 200e-6 * ROUNDS,
}
"""Seconds that each takes at least, with a CPU for every task."""


def workload(program: Path, name: str, folder: Path, recorder: str) -> RecordedWorkload:
    """Record a program, and return the workload."""
    recording = folder / "x.gz"
    record(recording, Request(0, (str(program), name), recorder=recorder))
    events = read_trace(recording)
    return infer(events, Choice((), speeds(events.machine), {}), name)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", default="")
    options.add_argument("--recorder", default="", choices=("", *RECORDERS))
    given = options.parse_args()
    print("| program | takes (s) | its workload takes (s) | waits were for, in the last one |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = folder / "known"
        subprocess.run(("gcc", *FLAGS, "-o", program, SOURCE), check=True)
        for name, least in PROGRAMS.items():
            if given.only and name not in given.only.split(","):
                continue
            made = [workload(program, name, folder, given.recorder) for _ in range(given.rounds)]
            took = [IdealRun(each).ns / 1e9 for each in made]
            waits = made[-1].recorded["waits"].items()
            causes = ", ".join(f"{cause} {found['count']}" for cause, found in waits)
            each = f"{min(took):.3f}, {statistics.median(took):.3f}, {max(took):.3f}"
            print(f"| {name} | {least:.3f} | {each} | {causes} |", flush=True)


if __name__ == "__main__":
    main()
