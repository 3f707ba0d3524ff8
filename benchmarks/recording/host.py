"""Programs of this host recorded, replayed natively and in the simulator, beside the recording.

    python benchmarks/recording/host.py [--seconds 1] [--only NAME,...] [--kernel 6.12]
        --output FOLDER

Servers run as the lab's own application benchmarks do (`schedlab run --target host`) and are
recorded for a while in the middle; hackbench and sysbench are recorded whole. Each recording is
imported with what a replay's calls cost here; the replay is recorded again natively
(`schedlab-load`), and traced in the simulator on the machine that the recording describes. Figures
are of the tasks of the workload. It needs root and perf, and a host that does nothing else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli_w
from fidelity import MESSAGES, Figures, short

from schedlab.base.system import LocalSystem
from schedlab.benchmarks import find_benchmark
from schedlab.kernels.native import schedlab_load
from schedlab.lab.recording import closure, recorder
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import call_costs, infer
from schedlab.lab.recording.pace import speeds
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.recorder import Request
from schedlab.lab.tracing import Recording, record_run
from schedlab.settings.variant import Variant
from schedlab.targets.sim import SimTarget

_STEADY = 10
"""Times that a client has been seen, one after another, before it is recorded."""
SCHEDLAB = (sys.executable, "-m", "schedlab")


@dataclass(frozen=True)
class Program:
    """What is recorded: a command, or a benchmark of the lab while its client runs."""

    name: str
    command: tuple[str, ...] = ()
    suite_label: str = ""
    client: str = ""
    """The name of the client's program."""
    tasks: tuple[str, ...] = ()
    longer: str = ""
    """The benchmark with a time of its own, where the suite's is over before perf begins."""
    word: str = ""
    """Which of the client's arguments tells the measured load from its preparation."""


PROGRAMS = (
    Program("hackbench", ("hackbench", "-g", "1", "-l", "200")),
    Program("hackbench threads", ("hackbench", "-T", "-g", "1", "-l", "200")),
    Program(
        "sysbench threads",
        ("sysbench", "threads", "--threads=4", "--events=60", "--time=0", "--thread-yields=200",
         "--thread-locks=4", "run"),
    ),
    Program(
        "sysbench mutex",
        ("sysbench", "mutex", "--threads=4", "--mutex-num=2", "--mutex-locks=2000",
         "--mutex-loops=500", "run"),
    ),
    Program("Redis get", (), "Redis get", "redis-benchmark", ("redis-*",)),
    Program("PostgreSQL select", (), "PostgreSQL select", "pgbench", ("postgres*", "pgbench*")),
    Program("MariaDB read only", (), "", "sysbench",
            ("maria*", "sysbench*", "connection*", "one_*"),
            "MariaDB:transactions=read_only,time=40", "--time=40"),
    Program("Nginx", (), "Nginx", "wrk", ("nginx*", "wrk*")),
    Program("BuildGoogleTest", (), "BuildGoogleTest", "cc1plus", ("make", "sh", "g++", "cc1plus",
                                                                  "as", "c++", "cmake")),
)  # fmt: skip


class _Beside(LocalSystem):
    """This host without the journal of the lab that runs, which would be put in order first."""

    def __init__(self, state: Path) -> None:
        super().__init__()
        self._state = state

    def state_folder(self) -> Path:
        """Return a folder of its own."""
        return self._state


def record(output: Path, asked: Request) -> None:
    """Record this host, also while the lab measures it.

    In a process of its own, as a recording ends whatever its process has started.
    """
    with multiprocessing.Pool(1) as alone:
        status = alone.apply(_record, (output, asked))
    if status:
        raise SystemExit(f"{asked.command}: ended with status {status}")


def _record(output: Path, asked: Request) -> int | None:
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as state:
        return recorder.record(_Beside(Path(state)), asked, Path(name), output).end.status


def record_program(program: Program, seconds: float, output: Path) -> None:
    """Record a command, or a while of a benchmark of the lab."""
    if program.command:
        record(output, Request(0, program.command))
        return
    folder = output.with_suffix(".result")
    chosen = ("--suite", "applications-quick", "--only", program.suite_label)
    argv = [*SCHEDLAB, "run", *(("--benchmark", program.longer) if program.longer else chosen)]
    argv += ["--target", "host", "--blocks", "1", "--aa", "--output", str(folder)]
    lab = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        running = 0
        while lab.poll() is None and running < _STEADY:
            running = running + 1 if _runs(program, lab.pid) else 0
            time.sleep(0.05)
        record(output, Request(seconds))
    finally:
        _, said = lab.communicate()
    if lab.returncode:
        raise SystemExit(f"{program.name}: {said.strip()}")


def _runs(program: Program, below: int) -> bool:
    """Return whether a program's client runs, started by a process or what that started."""
    parents: dict[int, int] = {}
    named = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            comm, _, rest = status.read_text().partition(" (")[2].rpartition(") ")
        except OSError:
            continue
        pid = int(status.parent.name)
        parents[pid] = int(rest.split()[1])
        if comm == program.client[:15] and _has(status.with_name("cmdline"), program.word):
            named.append(pid)
    for pid in named:
        while pid in parents and pid != below:
            pid = parents[pid]
        if pid == below:
            return True
    return False


def _has(arguments: Path, word: str) -> bool:
    """Return whether a process has an argument; any has the empty one."""
    try:
        return not word or word.encode() in arguments.read_bytes().split(b"\0")
    except OSError:
        return False


def measure(program: Program, given: argparse.Namespace, costs: dict[str, float]) -> list[Figures]:
    """Return the figures of the recording, of its native replay, and of the simulated one."""
    folder: Path = given.output
    stem = program.name.replace(" ", "-")
    recording, file = folder / f"{stem}.gz", folder / f"{stem}.slw"
    if not recording.exists():
        record_program(program, given.seconds, recording)
    events = read_trace(recording)
    taken = Choice(program.tasks, speeds(events.machine), costs)
    made = infer(events, taken, program.name)
    made.write(file)
    waits = {cause: found["count"] for cause, found in made.recorded["waits"].items()}
    print(program.name, len(made.tasks), "tasks", waits, made.recorded["objects"], flush=True)
    native = folder / f"{stem}-native.gz"
    if not native.exists():
        record(native, Request(0, (str(schedlab_load()), "rt-app", "--file", str(file))))
    names = tuple(f"{task.key[:15]}*" for task in made.tasks)
    machine = folder / "here.toml"
    assert events.machine
    described = events.machine.model_dump(exclude_none=True, exclude_defaults=True, mode="json")
    machine.write_text(tomli_w.dumps(described))
    trace = folder / f"{stem}-simulated.txt"
    target = SimTarget(str(machine))
    case = find_benchmark("RtApp", "").case(target.machine(), {"file": str(file)}, stem, "")
    record_run(
        target,
        case,
        Variant(name="base", kernel=given.kernel),
        Recording(trace, events=MESSAGES),
        1,
    )
    replayed = Choice(names)
    again = [Figures.of(read_trace(path), replayed) for path in (native, trace)]
    return [Figures.of(events, taken), *again]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--only", default="")
    options.add_argument("--kernel")
    options.add_argument("--output", type=Path, required=True)
    given = options.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    probe, known = given.output / "probe.slw", given.output / "probe.gz"
    closure.probe().write(probe)
    if not known.exists():
        record(known, Request(0, (str(schedlab_load()), "rt-app", "--file", str(probe))))
    events = read_trace(known)
    costs = call_costs(events, speeds(events.machine))
    rows = []
    for program in PROGRAMS:
        if given.only and program.name not in given.only.split(","):
            continue
        found = measure(program, given, costs)
        rows.append(row(program.name, found))
        print(rows[-1], flush=True)
    print("\n".join([*HEAD, *rows]))


HEAD = (
    "| program | s | CPU s | switches | wakeups | p50 (us) | p99 (us) |",
    "|---|---|---|---|---|---|---|",
)
_COLUMNS: Mapping[str, Callable[[Figures], float]] = {
    "s": lambda found: found.seconds,
    "CPU s": lambda found: found.seconds * found.busy,
    "switches": lambda found: found.switches,
    "wakeups": lambda found: found.wakeups,
    "p50": lambda found: found.p50,
    "p99": lambda found: found.p99,
}


def row(name: str, found: Sequence[Figures]) -> str:
    """Return a row of the table: recorded, replayed natively, replayed in the simulator."""

    def cells() -> Iterator[str]:
        for column in _COLUMNS.values():
            yield " → ".join(short(column(figures)) for figures in found)

    return f"| {name} | {' | '.join(cells())} |"


if __name__ == "__main__":
    main()
