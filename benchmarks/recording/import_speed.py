"""CPU time and memory of `schedlab workload import` an event, beside an earlier commit's.

    python benchmarks/recording/import_speed.py [COMMIT] [--events 300000] [--rounds 3] [--alone]

A trace is written as `perf script` prints it, of 64 tasks that sleep and wake each other on 4 CPUs,
from a fixed seed. This tree and that of COMMIT import it by turns, each in a process of its own.
The ratio is the median of the rounds' ratios, with the least and the largest; with --alone only
this tree imports it. CPU time is that of
the whole command, so few events show mostly its start.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASELINE = "584cd7e4"
"""The last commit that read traces in Python."""
TASKS, CPUS, SEED = 64, 4, 1


def trace(events: int) -> Iterator[str]:
    """Yield the lines of a trace."""
    chance = random.Random(SEED)
    current = [0] * CPUS
    asleep = list(range(100, 100 + TASKS))
    ready: list[int] = []
    ns = 10**9
    while events:
        ns += chance.randint(200, 3000)
        cpu = chance.randrange(CPUS)
        task = current[cpu]
        head = f"{_name(task):>16} {task:7} [{cpu:03}] {ns // 10**9:5}.{ns % 10**9:09}:"
        if asleep and chance.random() < 0.5:
            woken = asleep.pop(chance.randrange(len(asleep)))
            ready.append(woken)
            text = f"comm={_name(woken)} pid={woken} prio=120 target_cpu={cpu:03}"
            yield f"{head}             sched:sched_waking: {text}\n"
        else:
            after = ready.pop(0) if ready else 0
            if after == task:
                continue
            stop = "S" if chance.random() < 0.8 else "R"
            if task:
                (asleep if stop == "S" else ready).append(task)
            before = f"prev_comm={_name(task)} prev_pid={task} prev_prio=120 prev_state={stop}"
            text = f"{before} ==> next_comm={_name(after)} next_pid={after} next_prio=120"
            yield f"{head}             sched:sched_switch: {text}\n"
            current[cpu] = after
        events -= 1


def _name(task: int) -> str:
    return f"worker {task % 7}" if task else "swapper"


@dataclass(frozen=True)
class Import:
    """What one import took, and what it wrote."""

    cpu_s: float
    memory_mb: float
    digest: str


def run(tree: Path, text: Path, folder: Path) -> Import:
    """Import a trace with the schedlab of a tree."""
    output = folder / "made.slw"
    argv = ["-m", "schedlab", "workload", "import", str(text), "--output", str(output)]
    child = subprocess.Popen(
        [sys.executable, *argv],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the import failed in {tree}")
    digest = hashlib.sha256(output.read_bytes()).hexdigest()
    return Import(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, digest)


def summary(words: str, imports: Sequence[Import], events: int) -> str:
    """Return the median CPU time and the most memory of a tree's imports."""
    seconds = statistics.median(each.cpu_s for each in imports)
    memory = max(each.memory_mb for each in imports)
    per_event = f"{1e6 * seconds / events:.2f} us an event"
    return f"{words}: {seconds:.2f} s of CPU time, {per_event}, {memory:,.0f} MB"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("commit", nargs="?", default=BASELINE)
    options.add_argument("--events", type=int, default=300_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--alone", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, earlier = folder / "trace.txt", folder / "tree"
        with text.open("w") as file:
            file.writelines(trace(given.events))
        if given.alone:
            alone = [run(ROOT, text, folder) for _ in range(given.rounds)]
            print(summary("this tree", alone, given.events))
            return
        earlier.mkdir()
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", given.commit], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(earlier)], input=archive.stdout, check=True)
        run(ROOT, text, folder)  # builds what it needs
        rounds = [
            (run(earlier, text, folder), run(ROOT, text, folder)) for _ in range(given.rounds)
        ]
    for words, which in ((given.commit, 0), ("this tree", 1)):
        print(summary(words, [pair[which] for pair in rounds], given.events))
    ratios = [before.cpu_s / after.cpu_s for before, after in rounds]
    print(
        f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f},"
        f" {given.rounds} rounds)"
    )
    same = len({one.digest for pair in rounds for one in pair}) == 1
    print("the workloads are the same" if same else "the workloads differ")


if __name__ == "__main__":
    main()
