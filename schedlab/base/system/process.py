"""Running a program so that nothing of it survives: own session, own output files, a hard end.

Every process of a lab carries the lab's tag, so that a later lab can find what one killed with
SIGKILL left running: in its environment, and, as programs may clear or overwrite that or keep it
from being read, in a limit that Linux inherits, shows to everybody and otherwise ignores.
"""

import contextlib
import ctypes
import hashlib
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedlab.base.errors import HostError
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.numbers import amount

TAG = "SCHEDLAB_TAG"
_GRACE_SECONDS = 2.0
_DEATH_SECONDS = 10.0
_LOOK_SECONDS = 1.0
"""How often it is looked at how much a program has printed: not so often as to disturb it."""
LIMIT = "Max resident set"
_PR_SET_CHILD_SUBREAPER = 36
_LONGEST_POLL_MS = 2**31 - 1
_lines: set[int] = set()
"""Children of ours that belong to no run: the connections to other machines."""
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
    most_output: int | None = None
    """Bytes it may print; it is ended about a second after it has printed more."""

    @property
    def printed(self) -> int:
        """The bytes it has printed so far."""
        return sum(file.stat().st_size for file in (self.stdout, self.stderr))

    @property
    def too_long(self) -> bool:
        """Whether it has printed more than it may."""
        return self.most_output is not None and self.printed > self.most_output


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
    printed_too_much: bool = False
    """Whether it printed more than it might; the rest is cut off."""


class Child:
    """A running program in a session of its own."""

    def __init__(self, launch: Launch) -> None:
        """Start the program; HostError if it cannot be started."""
        adopt_orphans()
        self._exit: Exit | None = None
        self._cpu_before = _children_cpu_seconds()
        self._started = time.monotonic()
        try:
            with (
                launch.stdout.open("wb") as out,
                launch.stderr.open("wb") as err,
                _marked(launch.env.get(TAG)),
            ):
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
        """Return the process id, which is the session's too."""
        return self._popen.pid

    def running(self) -> bool:
        """Return whether the program itself still runs."""
        return self._popen.poll() is None

    def wait(self, timeout: float | None) -> bool:
        """Wait for the end of the program; False when time ran out before."""
        return ended_within(self._popen, timeout)

    def finish(self, timed_out: bool = False, spare: frozenset[int] = frozenset()) -> Exit:
        """End the program if it still runs, and everything it started; `spare` may live on.

        A program ends once: later calls return what the first one did.
        """
        if self._exit is not None:
            return self._exit
        if self.running():
            self._signal_group(signal.SIGTERM)
            if not self.wait(_GRACE_SECONDS):
                self._signal_group(signal.SIGKILL)
                self._popen.wait()
        seconds = time.monotonic() - self._started
        left = end_descendants(spare)
        self._signal_group(signal.SIGKILL)
        self._exit = Exit(
            status=self._popen.returncode,
            seconds=seconds,
            cpu_seconds=_children_cpu_seconds() - self._cpu_before,
            timed_out=timed_out,
            left_behind=left,
        )
        return self._exit

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def run(launch: Launch, spare: frozenset[int] = frozenset()) -> Exit:
    """Run a program to its end, or to its time limit; no process of it survives."""
    with child_of(launch, spare) as child:
        if launch.most_output is None:
            in_time = child.wait(launch.timeout)
        else:
            in_time = _wait_and_look(child, launch)
        ended = child.finish(timed_out=not in_time, spare=spare)
    if launch.too_long:
        for file in (launch.stdout, launch.stderr):
            os.truncate(file, min(file.stat().st_size, launch.most_output or 0))
        return replace(ended, timed_out=False, printed_too_much=True)
    return ended


def _wait_and_look(child: Child, launch: Launch) -> bool:
    """Wait for the end of a program, its time or what it may print; False if it has to be ended."""
    deadline = math.inf if launch.timeout is None else time.monotonic() + launch.timeout
    while (left := deadline - time.monotonic()) > 0:
        if child.wait(min(left, _LOOK_SECONDS)):
            return True
        if launch.too_long:
            return False
    return False


@contextlib.contextmanager
def child_of(launch: Launch, spare: frozenset[int] = frozenset()) -> Iterator[Child]:
    """Run a program inside a `with` block; however the block ends, no process of it survives.

    A stop that arrives while the program starts waits until its process is known: raised inside
    `Popen`, it would leave a program running that nobody can end.
    """
    started: list[Child] = []
    try:
        with uninterrupted():
            started.append(Child(launch))
        yield started[0]
    finally:
        with uninterrupted():
            for child in started:
                child.finish(spare=spare)


def ended_within(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    """Wait for a child's end, without the polling of `Popen.wait`; False when time ran out."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        deadline = None if timeout is None else time.monotonic() + timeout
        while not poller.poll(None if deadline is None else _milliseconds_until(deadline)):
            if deadline is not None and time.monotonic() >= deadline:
                return False
    finally:
        os.close(descriptor)
    process.wait()
    return True


def _milliseconds_until(deadline: float) -> float:
    """Return how long to poll for at a time: poll(2) takes 31 bits."""
    return min(max(deadline - time.monotonic(), 0.0) * 1000, _LONGEST_POLL_MS)


def dying_with_us(by: signal.Signals) -> list[str]:
    """Return the words before a command that have it signalled when its starter ends."""
    return (
        ["setpriv", "--pdeathsig", by.name.removeprefix("SIG")] if shutil.which("setpriv") else []
    )


def adopt_orphans() -> None:
    """Adopt orphaned descendants, so that none can hide from `end_descendants`."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def outlives_runs(pid: int) -> None:
    """Spare a child when the descendants of a run are ended."""
    _lines.add(pid)


def has_ended(pid: int) -> None:
    """Forget a child that outlived runs."""
    _lines.discard(pid)


def end_descendants(spare: frozenset[int] = frozenset()) -> int:
    """Kill and reap every descendant of this process but `spare` and theirs; count the living.

    Lines to other machines are not ended.
    """
    spare |= _lines
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
    """Kill every process that carries `tag`, as an earlier lab's leftovers do; return their ids.

    Raises:
        HostError: one cannot be killed.
    """
    ended: set[int] = set()
    # One that is just being forked is seen the next time.
    while found := {pid for pid in _tagged(tag) if pid not in ended}:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= found
    deadline = time.monotonic() + _DEATH_SECONDS
    while left := list(_tagged(tag)):
        if time.monotonic() > deadline:
            raise HostError(
                f"processes of an earlier lab cannot be ended: {', '.join(map(str, left))}."
                "\n  Look at them with ps; one that waits in the kernel ends when it is done there."
            )
        time.sleep(0.01)
    return sorted(ended)


def cpu_seconds(roots: Iterable[int]) -> float:
    """Return the CPU time of processes and their descendants, those that ended included."""
    pids = {pid for root in roots for pid in (root, *(pid for pid, _ in _descendants(root)))}
    seconds = 0.0
    for pid in pids:
        with contextlib.suppress(OSError, HostError):
            seconds += stat_cpu_seconds(Path(f"/proc/{pid}/stat").read_text(errors="replace"))
    return seconds


def stat_cpu_seconds(stat: str) -> float:
    """Read the CPU time of a process and those it has reaped from its line in /proc."""
    fields = stat.rpartition(")")[2].split()[_UTIME : _UTIME + 4]
    return sum(amount(ticks, "/proc/PID/stat") for ticks in fields) / os.sysconf("SC_CLK_TCK")


def _descendants(root: int, spare: frozenset[int] = frozenset()) -> list[tuple[int, bool]]:
    """Return the descendants' ids, each with whether it lives or only waits to be reaped."""
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


def _tagged(tag: str) -> Iterator[int]:
    """Yield the processes that carry a tag and live."""
    variable = f"{TAG}={tag}".encode()
    limit = str(limit_of(tag))
    for entry in _process_folders():
        pid = int(entry.name)
        with contextlib.suppress(OSError):
            if pid != os.getpid() and (
                _carries(entry, variable) or _limit(entry / "limits") == limit
            ):
                state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                if state not in "ZX":
                    yield pid


def _carries(entry: Path, variable: bytes) -> bool:
    with contextlib.suppress(OSError):
        return variable in (entry / "environ").read_bytes().split(b"\0")
    return False


def _limit(limits: Path) -> str:
    line = next((row for row in limits.read_text().splitlines() if row.startswith(LIMIT)), "")
    return line.removeprefix(LIMIT).partition("bytes")[0].split()[0] if line else ""


def limit_of(tag: str) -> int:
    """Return a number of bytes of a tag's own, as large as no memory is: whole KiB, for shells."""
    return (1 << 61) + (int.from_bytes(hashlib.sha256(tag.encode()).digest()[:6]) << 10)


@contextlib.contextmanager
def _marked(tag: str | None) -> Iterator[None]:
    """Tag, in their limits, the processes that are started inside a `with` block."""
    if tag is None:
        yield
        return
    limits = resource.getrlimit(resource.RLIMIT_RSS)
    if limits[1] != resource.RLIM_INFINITY:
        yield  # somebody has set it, and may count on it
        return
    resource.setrlimit(resource.RLIMIT_RSS, (limit_of(tag), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_RSS, limits)


def _process_folders() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
