"""`kill -9` of labs on this host at random moments; what the next start finds and leaves.

    python benchmarks/kill9/kill_at_random.py [KILLS [SEED]]

As root, with nothing else of schedlab running. Labs run a plan of two tiny benchmarks, one with a
server, and of two variants, the second with several sysctls, a prefix that hides the environment
and a companion whose child hides in a session of its own. Each lab is killed within three seconds
of taking the host's lock: at any moment, or just after its journal has changed, or the restore
after it is killed as well. What follows is `schedlab doctor --restore` to its end, then `schedlab
run --resume`, which is the next to be killed. Prints a row for each way to be killed; exits 1 if
anything was lost, left changed or left running.
"""

import contextlib
import io
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.system import LocalSystem
from schedlab.base.system.lock import LOCK
from schedlab.base.system.process import adopt_orphans
from schedlab.cli import main as schedlab
from schedlab.result.folder import DATABASE
from schedlab.settings.journal import Journal

SYSTEM = LocalSystem()
KNOBS = {
    "vm.swappiness": "010",
    "vm.dirty_bytes": "100000000",
    "vm.stat_interval": "2",
    "net.core.rps_sock_flow_entries": "1024",
    "kernel.sched_cfs_bandwidth_slice_us": "6000",
    "kernel.sched_autogroup_enabled": "0",
}
WATCHED = (*KNOBS, "vm.dirty_ratio")
COMPANION = "sh -c 'env -i /usr/bin/setsid /bin/sleep 1000 & exec sleep 1000'"
PREFIX = "env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin taskset 1"
LONGEST_SECONDS = 3.0
START_SECONDS = 60.0


@dataclass
class Row:
    """What came of one way to be killed."""

    kills: int = 0
    knobs_turned: int = 0
    """Kills that left knobs turned."""
    running: int = 0
    """Processes that a kill left running."""
    runs: int = 0
    """Runs recorded by the labs that were killed."""
    lost: int = 0
    changed: int = 0
    left: int = 0


def start(*words: str, log: Path) -> int:
    """Start schedlab in a process of its own; return its id."""
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(fd, "w"), "utf-8") for fd in (1, 2))
        sys.argv = ["schedlab", *words]
        schedlab()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))
    os._exit(0)


def kill(pid: int) -> bool:
    """Kill a process with SIGKILL; return whether it was still running."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def whole(*words: str, log: Path) -> None:
    """Run schedlab to its end."""
    status = os.waitstatus_to_exitcode(os.waitpid(start(*words, log=log), 0)[1])
    if status:
        sys.exit(f"schedlab {' '.join(words)}: ended with {status}:\n{log.read_text()[-2000:]}")


def await_(happened: Callable[[], bool], pid: int, seconds: float) -> None:
    """Wait for something, so long at most, while a process lives."""
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return


def holds_the_lock(pid: int) -> bool:
    """Return whether the lock of this host is a process's."""
    try:
        return (SYSTEM.state_folder() / LOCK).read_text() == f"{pid}\n"
    except FileNotFoundError:
        return False


def changes(file: Path, count: int) -> Callable[[], bool]:
    """Return a question: whether a file has changed so often since."""
    seen: list[object] = []

    def asked() -> bool:
        try:
            status = file.stat()
            state: object = (status.st_size, status.st_mtime_ns, status.st_ino)
        except FileNotFoundError:
            state = None
        if not seen or seen[-1] != state:
            seen.append(state)
        return len(seen) > count

    return asked


def rows_of(result: Path) -> list[tuple[object, ...]]:
    """Read the recorded runs, as another process sees them."""
    try:
        with contextlib.closing(sqlite3.connect(result / DATABASE)) as database:
            figures = database.execute("SELECT * FROM figure ORDER BY position, kind, name")
            values: dict[object, list[object]] = {}
            for position, *figure in figures:
                values.setdefault(position, []).append(figure)
            runs = database.execute("SELECT * FROM run ORDER BY position").fetchall()
            return [(*run, str(values.get(run[0]))) for run in runs]
    except sqlite3.OperationalError:
        return []


def descendants() -> list[int]:
    """Return what lives of all that was started here: orphans have become our children."""
    found, queue = [], [os.getpid()]
    while queue:
        pid = queue.pop()
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                queue += map(int, (task / "children").read_text().split())
            if pid != os.getpid():
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                found += [pid] if state not in "ZX" else []
    return found


def reap() -> None:
    """Take note of the ends of orphans."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def values() -> dict[str, str]:
    """Read every watched knob."""
    return {name: SYSTEM.read(f"/proc/sys/{name.replace('.', '/')}") for name in WATCHED}


class Experiment:
    """Labs of one result, killed one after the other."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._result = folder / "result"
        self._log = folder / "log"
        self._before = values()
        self._known: list[tuple[object, ...]] = []
        sysctls = "; ".join(f"sysctl {name}={value}" for name, value in KNOBS.items())
        self._plan = ["--benchmark", "HackbenchPipeThreads:groups=1,loops=20"]
        if shutil.which("tbench_srv"):
            self._plan += ["--benchmark", "Tbench:clients=1,time=2"]
        self._plan += ["--variant", "base", "--blocks", "1000", "--warmup", "0"]
        self._plan += ["--counters", "migrations,procstat"]
        self._plan += ["--variant", f"x: {sysctls}; prefix {PREFIX}; companion {COMPANION}"]

    def kill(self, row: Row, way: str) -> None:
        """Kill one lab, and check what the next start makes of it."""
        lab = self._start()
        await_(lambda: holds_the_lock(lab), lab, START_SECONDS)
        if way == "as the journal changes":
            changed = changes(Journal(SYSTEM).path, self._random.randint(1, 30))
            await_(changed, lab, LONGEST_SECONDS)
            time.sleep(self._random.uniform(0, 0.002))
        else:
            time.sleep(self._random.uniform(0, LONGEST_SECONDS))
        recorded = rows_of(self._result)
        if not kill(lab):
            sys.exit(f"a lab ended by itself:\n{self._log.read_text()[-2000:]}")
        row.kills += 1
        row.knobs_turned += values() != self._before
        row.running += len(descendants())
        if way == "and in the restore":
            self._kill_the_restore()
        whole("doctor", "--restore", log=self._log)
        reap()
        row.changed += sum(values()[name] != value for name, value in self._before.items())
        row.left += len(descendants())
        after = rows_of(self._result)
        row.lost += sum(one != other for one, other in zip(self._known, after, strict=False))
        row.lost += max(len(recorded) - len(after), 0)
        row.runs += len(after) - len(self._known)
        self._known = after

    def go_on(self) -> int:
        """Let the last lab run on for a while, then stop it as Ctrl-C does; return its runs."""
        lab = self._start()
        await_(lambda: len(rows_of(self._result)) > len(self._known) + 4, lab, START_SECONDS)
        os.kill(lab, signal.SIGINT)
        os.waitpid(lab, 0)
        after = rows_of(self._result)
        assert after[: len(self._known)] == self._known
        assert [run[0] for run in after] == list(range(len(after)))
        assert values() == self._before and not descendants()
        return len(after) - len(self._known)

    def _start(self) -> int:
        if self._known:
            return start("run", "--resume", str(self._result), log=self._log)
        shutil.rmtree(self._result, ignore_errors=True)
        return start("run", *self._plan, "--output", str(self._result), log=self._log)

    def _kill_the_restore(self) -> None:
        restore = start("doctor", "--restore", log=self._log)
        await_(lambda: holds_the_lock(restore), restore, START_SECONDS)
        time.sleep(self._random.expovariate(1 / 0.01))
        kill(restore)


def main() -> None:
    """Kill labs and print the table."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    ways = ("at any moment", "as the journal changes", "and in the restore")
    table = {way: Row() for way in ways}
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="kill9-") as folder:
        experiment = Experiment(Path(folder), seed)
        for number in range(kills):
            way = ways[number % len(ways)]
            experiment.kill(table[way], way)
            print(f"{number + 1} of {kills}", end="\r", file=sys.stderr, flush=True)
        went_on = experiment.go_on()
    print("| killed | kills | left knobs turned | left processes | runs recorded", end="")
    print(" | runs lost | knobs changed | processes left |")
    print("|---|---|---|---|---|---|---|---|")
    for way, row in table.items():
        print(f"| {way} | {row.kills} | {row.knobs_turned} | {row.running} | {row.runs} |", end="")
        print(f" {row.lost} | {row.changed} | {row.left} |")
    print(f"Afterwards `schedlab run --resume` went on with {went_on} more runs.")
    sys.exit(any(row.lost or row.changed or row.left for row in table.values()))


if __name__ == "__main__":
    main()
