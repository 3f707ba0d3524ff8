"""Recording a host: perf's tracepoints for a while, with what is set for its tasks.

perf's events end with perf. Should we be killed, the next lab ends perf and removes its data.
"""

import gzip
import json
import re
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import HostError, IncompleteRun, UsageError, writing
from schedlab.base.system import System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.process import TAG, Exit, Launch
from schedlab.counters.tracepoints import TRACEFS, tracepoint_file
from schedlab.lab.recording.anonymous import anonymous, without_data
from schedlab.lab.recording.reading import perf_text
from schedlab.lab.recording.setup import (
    CGROUPS,
    HEAD,
    NOBODY,
    Setup,
    cgroup_path,
    look,
    look_at_machine,
)
from schedlab.settings.journal import Journal, restore_journal
from schedlab.settings.scratch import LOADED, Scratch

PROGRAMS = ("perf", "find", "grep", "sed", "sort", "stat", "ss", "nsenter")
"""Of the recorded system, beside what every shell has."""

COUNTED = ("instructions", "cycles")
_NEEDED = ("sched:sched_switch", "sched:sched_waking")
_WANTED = (
    *("sched:sched_wakeup_new", "sched:sched_process_fork", "sched:sched_process_exit"),
    *("irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_entry", "irq:softirq_exit"),
    *("timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit", "power:cpu_frequency"),
    *("syscalls:sys_enter_futex", "syscalls:sys_exit_futex"),
    *("syscalls:sys_enter_sched_yield", "syscalls:sys_exit_sched_yield"),
    *("syscalls:sys_enter_sched_setaffinity", "syscalls:sys_enter_sched_setattr"),
    *("task:task_newtask", "sched:sched_process_exec", "sock:inet_sock_set_state"),
)
_MOVES = (
    *("read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg", "sendfile64"),
)
_CALLS = (
    *("close", "close_range", "dup", "dup2", "dup3", "fcntl", "pipe", "pipe2", "socketpair"),
    *("accept", "accept4", "connect", "listen", "socket", "open", "openat", "openat2", "creat"),
    *("epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create", "signalfd4"),
    *("inotify_init1", "memfd_create", "pidfd_open", "perf_event_open", "io_uring_setup"),
)
"""That read and write, and that make and close descriptors (tools/trace-text/syscalls.c)."""
_COMMAND = r"""
echo "schedlab: task $$" >&2
for fd in /proc/$$/fd/*; do [ -e "$fd" ] && echo "schedlab: descriptor ${fd##*/}" >&2; done
exec "$@"
"""
"""The name of the folder's own descriptor is closed when it is looked for."""
_MEMBERS = r"""
find "$1" -name cgroup.threads -exec cat {} + 2>/dev/null | sed 's/^/schedlab: member /' >&2
exec sleep "$2"
"""
"""Tasks that come between the look before and the first event are known by this alone."""
_LARGEST_BUFFER, _ALL_BUFFERS, _PART = 64 << 20, 4 << 30, 16
"""bytes of each CPU, of all CPUs, and the part of the memory that they may take. What does not fit
while perf writes is lost, and counted."""
_FULL = 1 << 10
"""KiB: a disk with less space has none for perf, which writes as much as fits."""
_LOST = re.compile(rb"LOST lost (\d{1,18})|lost (\d{1,18}) events?")


@dataclass(frozen=True)
class Request:
    """What is recorded."""

    seconds: float
    """How long, where there is no command."""
    command: Sequence[str] = ()
    """Whose run is recorded, and of which only its tasks are the workload."""
    cgroup: str = ""
    """Only tasks of this cgroup and those below it are the workload."""
    anonymous: bool = False
    light: bool = False
    """Without the calls that read and write, of which a server makes many."""
    counters: Sequence[str] = COUNTED
    """What is counted from switch to switch, if the system can."""


@dataclass(frozen=True)
class Recorded:
    """What came of it."""

    lines: int
    lost: int
    end: Exit
    printed: str
    """By the command."""
    restored: list[str]
    """What an earlier lab that was killed had left, and was put in order first."""
    counted: bool
    """Whether the system has the counters that were asked for."""

    def notes(self) -> Iterator[str]:
        """Yield what is to be known of how it went."""
        if self.end.status:
            yield f"the command ended with status {self.end.status}"
        if count := self.end.left_behind:
            what = "a process" if count == 1 else f"{count} processes"
            yield f"the command left {what} running; killed"
        if self.lost:
            yield (
                f"{self.lost:,} events were lost: perf could not keep up; record a shorter time,"
                " or when the host is less busy"
            )
        if not self.counted:
            yield (
                "instructions are not counted: perf has no counter of them here"
                " (perf stat -e instructions true)"
            )


def record(system: System, asked: Request, folder: Path, output: Path) -> Recorded:
    """Record a system into a gzipped text, as `schedlab workload import` reads it.

    Args:
        system: the host.
        asked: what to record.
        folder: an empty one, where perf's file lies meanwhile. The system is held.
        output: the file to write.

    Raises:
        HostError: perf or the command is missing, or perf may not do it.
        IncompleteRun: perf failed, or its disk is full.
    """
    events = _events(system) if asked.light else whole_events(system)
    if asked.command and system.which(asked.command[0]) is None:
        raise HostError(f"{asked.command[0]}: this program was not found.")
    cgroup = _cgroup_folder(system, asked.cgroup) if asked.cgroup else ""
    restored = restore_journal(system)
    partial = output.with_name(f".{output.name}.partial")
    with _noted(system, folder, partial) as (tag, own):
        data = own / "perf.data"
        counted = _counts(system, asked.counters, own, tag)
        switches = _counting(asked.counters) if counted else events[0]
        argv = _argv(system, asked, cgroup, [switches, *events[1:]], data)
        before = look(system)
        launch = Launch(argv, own / "out", own / "err", env={TAG: tag})
        end = system.execute(launch)
        said = launch.stderr.read_text(errors="replace")
        printed = launch.stdout.read_text(errors="replace").strip()
        try:
            setup = _setup(system, asked, before, said, data)
            lines, lost = _written(setup, data, (partial, output), asked.anonymous)
        except (IncompleteRun, UsageError) as error:
            if _is_full(system, own):
                raise IncompleteRun(
                    f"perf's data do not fit onto the disk of {system.place(own)}: {error}\n"
                    "  Free space there, name a folder of another disk by TMPDIR, or record less"
                    " (--light, or a shorter time)."
                ) from error
            raise
    return Recorded(lines, lost, end, printed, restored, counted)


@contextmanager
def _noted(system: System, folder: Path, partial: Path) -> Iterator[tuple[str, Path]]:
    """Yield a tag for perf and a folder for its data; they and the file are in the journal."""
    journal = Journal(system)
    journal.scratch = Scratch.of(folder, (), partial)
    tag = uuid.uuid4().hex
    journal.write(tag, [])
    try:
        (folder / LOADED).mkdir()
        yield tag, folder / LOADED
    finally:
        with uninterrupted():
            journal.remove()


def _setup(system: System, asked: Request, before: Setup, said: str, data: Path) -> Setup:
    """Return what is set for the tasks, by the looks before and after."""
    if not data.exists() or not data.stat().st_size:
        raise IncompleteRun(f"perf recorded nothing: {_last(said)}")
    members = map(int, re.findall(r"^schedlab: member (\d+)$", said, re.MULTILINE))
    setup = before.joined(look(system)).restricted(_root_pid(said), asked.cgroup, members)
    if asked.cgroup and setup.roots == NOBODY:
        raise IncompleteRun(
            f"--cgroup {asked.cgroup}: it had no task, neither before nor after the recording."
        )
    listed = re.findall(r"^schedlab: descriptor (\d+)$", said, re.MULTILINE)
    inherited = tuple(map(int, listed))
    setup = replace(setup, machine=look_at_machine(system), inherited=inherited)
    return setup.without_names() if asked.anonymous else setup


def _is_full(system: System, own: Path) -> bool:
    """Return whether the disk on which perf's data lie has no space left."""
    said = system.capture(("sh", "-c", 'df -Pk "$1"', "sh", system.place(own))).stdout.split()
    free = said[-3:-2]  # before the part that is used, and the place
    return bool(free) and free[0].isdecimal() and int(free[0]) < _FULL


def _written(setup: Setup, data: Path, files: tuple[Path, Path], nameless: bool) -> tuple[int, int]:
    """Write a recording, whole or not at all; return its lines, and the events that were lost."""
    partial, output = files
    hide = anonymous(secrets.token_bytes(16)) if nameless else None
    lines = lost = 0
    try:
        with writing(output):
            with gzip.open(partial, "wb", compresslevel=3) as file:
                file.write(f"{HEAD}{json.dumps(setup.document())}\n".encode())
                for piece in perf_text(data):
                    lost += sum(int(a or b) for a, b in _LOST.findall(piece))
                    lines += piece.count(b"\n")
                    told = without_data(piece)
                    file.write(hide(told) if hide else told)
            partial.replace(output)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return lines, lost


def whole_events(system: System) -> list[str]:
    """Return the tracepoints of a recording with the calls that read and write.

    Raises:
        HostError: perf or a tracepoint that is needed is missing.
    """
    return _events(system, (*_MOVES, *_CALLS))


def _events(system: System, named: Sequence[str] = ()) -> list[str]:
    """Return the tracepoints that the system has, with those of the named system calls."""
    if system.which("perf") is None:
        raise HostError("perf is needed to record.\n  Install: apt-get install linux-perf")
    tracing = next(
        (folder for folder in TRACEFS if system.exists(tracepoint_file(folder, _NEEDED[0]))),
        None,
    )
    if tracing is None:
        raise HostError(
            f"the tracepoints of this kernel cannot be seen below {TRACEFS[0]}: that takes"
            f" root, and a mounted tracefs.\n  Try: mount -t tracefs tracefs {TRACEFS[0]}"
        )

    def there(event: str) -> bool:
        return system.exists(tracepoint_file(tracing, event))

    missing = [event for event in _NEEDED if not there(event)]
    if missing:
        raise HostError(
            f"this kernel has no tracepoint {', '.join(missing)}; it cannot be recorded."
        )
    calls = (f"syscalls:sys_{side}_{call}" for call in named for side in ("enter", "exit"))
    return [*_NEEDED, *filter(there, (*_WANTED, *calls))]


def _counting(counters: Sequence[str]) -> str:
    """Return the event of a switch, which reads the counters of its CPU."""
    return f"{{{','.join((_NEEDED[0], *counters))}}}:S"


def _counts(system: System, counters: Sequence[str], own: Path, tag: str) -> bool:
    """Return whether perf can count from switch to switch here; virtual machines often cannot."""
    if not counters:
        return False
    where = system.place(own / "counts.data")
    argv = ("perf", "record", "-q", "-a", "-e", _counting(counters), "-o", where, "--", "true")
    launch = Launch(argv, own / "counts.out", own / "counts.err", env={TAG: tag})
    return system.execute(launch).status == 0


def _cgroup_folder(system: System, named: str) -> str:
    """Return the folder of a cgroup of version 2: of others it is not seen which tasks they have.

    Raises:
        HostError: there is none of this name.
    """
    path = cgroup_path(named)
    give = (
        "\n  Give the path that /proc/PID/cgroup has after `0::` for a task of the cgroup, e.g."
        " --cgroup /system.slice/nginx.service."
    )
    if {"..", "."} & set(path.split("/")):
        raise HostError(f"--cgroup {named}: `.` and `..` are not followed.{give}")
    folders = (each for each in CGROUPS if system.exists(f"{each}/cgroup.controllers"))
    folder = next(folders, CGROUPS[0])
    place = f"{folder}{path}"
    if system.exists(f"{place}/cgroup.controllers"):
        return place
    if not system.exists(place) and not system.exists(f"{CGROUPS[0]}{path}"):
        raise HostError(f"--cgroup {named}: there is no such cgroup in {folder}.{give}")
    raise HostError(
        f"--cgroup {named}: {CGROUPS[0]}{path} is not a cgroup of version 2, of which alone a"
        f" recording knows the tasks.{give}\n  On a host with version 1 alone, record all tasks,"
        " and choose by `schedlab workload import --tasks 'nginx*'`."
    )


def _argv(
    system: System, asked: Request, cgroup: str, events: Sequence[str], data: Path
) -> tuple[str, ...]:
    chosen = [word for event in events for word in ("-e", event)]
    buffer = f"{_buffer(system) >> 10}K"
    perf = ("perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", buffer)
    where = ("-o", system.place(data))
    if asked.command:
        run: tuple[str, ...] = ("sh", "-c", _COMMAND, "sh")
        run += tuple(asked.command)
    elif cgroup:
        run = ("sh", "-c", _MEMBERS, "sh", cgroup, f"{asked.seconds:g}")
    else:
        run = ("sleep", f"{asked.seconds:g}")
    return (*perf, *chosen, *where, "--", *run)


def _buffer(system: System) -> int:
    """Return how many bytes of events perf keeps for each CPU, a power of two."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", system.read_or("/proc/meminfo", ""), re.MULTILINE)
    memory = int(found[1]) << 10 if found else 0
    cpus = len(parse_cpulist(system.read_or("/sys/devices/system/cpu/online", "0")))
    most = min(_LARGEST_BUFFER, _ALL_BUFFERS // cpus, memory // _PART // cpus)
    return 1 << (max(most, 1 << 20).bit_length() - 1)


def _root_pid(said: str) -> int | None:
    found = re.search(r"^schedlab: task (\d+)$", said, re.MULTILINE)
    return int(found[1]) if found else None


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it printed no reason"
