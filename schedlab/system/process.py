"""Running a program so that nothing of it survives: own session, own output files, a hard end.

Every process of a lab carries the lab's tag in its environment, so that a later lab can find
what one killed with SIGKILL left running.
"""

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.errors import HostError

TAG = "SCHEDLAB_TAG"
_GRACE_SECONDS = 2.0
_PR_SET_CHILD_SUBREAPER = 36
_UTIME = 11
"""The place of utime behind the name in /proc/PID/stat; stime, cutime and cstime follow."""


@dataclass(frozen=True)
class Launch:
    """A program to run: its arguments, extra environment, and where its output goes."""

    argv: tuple[str, ...]
    stdout: Path
    stderr: Path
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    folder: Path | None = None
    """Where it runs; where we are if not given."""


@dataclass(frozen=True)
class Exit:
    """How a program ended."""

    status: int
    """Exit status; -N when signal N ended it."""
    seconds: float
    cpu_seconds: float
    """User and system time of the program and all its children."""
    timed_out: bool = False
    left_behind: int = 0
    """Processes still alive after the program ended; they were killed."""


class Child:
    """A running program in a session of its own."""

    def __init__(self, launch: Launch) -> None:
        """Start the program.

        Raises:
            HostError: it cannot be started.
        """
        adopt_orphans()
        self._cpu_before = _children_cpu_seconds()
        self._started = time.monotonic()
        try:
            with launch.stdout.open("wb") as out, launch.stderr.open("wb") as err:
                self._popen = subprocess.Popen(
                    launch.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**os.environ, "LC_ALL": "C", **launch.env},
                    start_new_session=True,
                    cwd=launch.folder,
                )
        except OSError as error:
            raise HostError(f"{launch.argv[0]}: cannot be started: {error.strerror}") from error

    @property
    def pid(self) -> int:
        """Give the process id, which is the session's too."""
        return self._popen.pid

    def running(self) -> bool:
        """Tell whether the program itself still runs."""
        return self._popen.poll() is None

    def wait(self, timeout: float | None) -> bool:
        """Wait for the end of the program; False when time ran out before."""
        return ended_within(self._popen, timeout)

    def finish(self, timed_out: bool = False, spare: frozenset[int] = frozenset()) -> Exit:
        """End the program if it still runs, and everything it started; `spare` may live on."""
        if self.running():
            self._signal_group(signal.SIGTERM)
            if not self.wait(_GRACE_SECONDS):
                self._signal_group(signal.SIGKILL)
                self._popen.wait()
        seconds = time.monotonic() - self._started
        left = end_descendants(spare)
        self._signal_group(signal.SIGKILL)
        return Exit(
            status=self._popen.returncode,
            seconds=seconds,
            cpu_seconds=_children_cpu_seconds() - self._cpu_before,
            timed_out=timed_out,
            left_behind=left,
        )

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def run(launch: Launch, spare: frozenset[int] = frozenset()) -> Exit:
    """Run a program to its end, or to its time limit; no process of it survives."""
    child = Child(launch)
    in_time = False
    try:
        in_time = child.wait(launch.timeout)
    except BaseException:
        child.finish(spare=spare)
        raise
    return child.finish(timed_out=not in_time, spare=spare)


def ended_within(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    """Wait for a child's end, without the polling of `Popen.wait`; False when time ran out."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        if not poller.poll(None if timeout is None else timeout * 1000):
            return False
    finally:
        os.close(descriptor)
    process.wait()
    return True


def dying_with_us(by: signal.Signals) -> list[str]:
    """Give the words before a command that send it a signal when the thread that began it ends."""
    return (
        ["setpriv", "--pdeathsig", by.name.removeprefix("SIG")] if shutil.which("setpriv") else []
    )


def adopt_orphans() -> None:
    """Make orphaned descendants our children, so that none can hide from `end_descendants`."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(spare: frozenset[int] = frozenset()) -> int:
    """Kill and reap every descendant of this process but `spare` and theirs; count the living."""
    ended: dict[int, bool] = {}
    while victims := {
        pid: alive for pid, alive in _descendants(os.getpid(), spare) if pid not in ended
    }:
        for pid in victims:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= victims
        for pid in victims:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return sum(ended.values())


def end_tagged(tag: str) -> list[int]:
    """Kill every process that carries `tag`, as an earlier lab's leftovers do; give their ids."""
    ended = []
    for pid, environ in _environments():
        if pid != os.getpid() and f"{TAG}={tag}".encode() in environ:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                ended.append(pid)
    return ended


def cpu_seconds(roots: Iterable[int]) -> float:
    """Give the CPU time that processes, all they started and all those have reaped have used."""
    pids = {pid for root in roots for pid in (root, *(pid for pid, _ in _descendants(root)))}
    seconds = 0.0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            seconds += stat_cpu_seconds(Path(f"/proc/{pid}/stat").read_text(errors="replace"))
    return seconds


def stat_cpu_seconds(stat: str) -> float:
    """Read the CPU time of a process and those it has reaped from its line in /proc."""
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[_UTIME : _UTIME + 4])) / os.sysconf("SC_CLK_TCK")


def _descendants(root: int, spare: frozenset[int] = frozenset()) -> list[tuple[int, bool]]:
    """Give the descendants' ids, each with whether it lives or only waits to be reaped."""
    children: dict[int, list[tuple[int, bool]]] = {}
    for entry in _process_folders():
        with contextlib.suppress(OSError, IndexError, ValueError):
            state, parent, *_ = (
                (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            )
            children.setdefault(int(parent), []).append((int(entry.name), state not in "ZX"))
    found: list[tuple[int, bool]] = []
    queue = [root]
    while queue:
        for pid, alive in children.get(queue.pop(), ()):
            if pid not in spare:
                found.append((pid, alive))
                queue.append(pid)
    return found


def _environments() -> Iterator[tuple[int, Sequence[bytes]]]:
    for entry in _process_folders():
        with contextlib.suppress(OSError):
            yield int(entry.name), (entry / "environ").read_bytes().split(b"\0")


def _process_folders() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
