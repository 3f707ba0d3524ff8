"""Recording a host: tracepoints for a while, with what is set for its tasks.

ftrace's ring buffers record where they can (ring.py), otherwise perf. Should we be killed, the next
lab ends the recording and removes its data.
"""

import gzip
import json
import re
import secrets
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import HostError, IncompleteRun, UsageError, writing
from schedlab.base.system import System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.process import TAG, Exit, Launch
from schedlab.lab.recording import perf, ring
from schedlab.lab.recording.anonymous import anonymous, without_data
from schedlab.lab.recording.both import BothRecorder
from schedlab.lab.recording.perf import COUNTED, PerfRecorder, can_count
from schedlab.lab.recording.ring import RingRecorder
from schedlab.lab.recording.setup import (
    CGROUPS,
    HEAD,
    NOBODY,
    Setup,
    cgroup_path,
    look,
    look_at_machine,
)
from schedlab.lab.recording.tracepoints import Tracepoints, find_tracepoints
from schedlab.settings.journal import Journal, restore_journal
from schedlab.settings.scratch import LOADED, Scratch

PROGRAMS = (
    *(*perf.PROGRAMS, *ring.PROGRAMS),
    *("find", "grep", "sed", "sort", "stat", "ss", "nsenter"),
)
"""Of the recorded system, beside what every shell has."""
FTRACE, PERF = "ftrace", "perf"
RECORDERS = (FTRACE, PERF)
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
until it is read is lost, and counted."""
_FULL = 1 << 10
"""KiB: a disk with less space has none for a recorder, which writes as much as fits."""
_LOST = re.compile(
    rb"LOST lost (\d{1,18})|lost (\d{1,18}) events?|^CPU:\d+ \[LOST (\d{1,18}) EVENTS\]$",
    re.MULTILINE,
)


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
    recorder: str = ""
    """One of RECORDERS; empty: ftrace where it can, otherwise perf."""
    counters: Sequence[str] = COUNTED
    """What perf counts from switch to switch, if the system can."""


class Recorder(Protocol):
    """What records a system while a command runs there."""

    name: str

    def argv(self, run: Sequence[str], place: str) -> tuple[str, ...]:
        """Return the command that records while another one runs, into a folder there."""

    def wrote(self, folder: Path) -> bool:
        """Return whether something was recorded into the folder."""

    def text(self, folder: Path) -> Iterator[bytes]:
        """Yield pieces of what was recorded, in the format of `perf script`."""


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
    by: str
    """One of RECORDERS."""
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
                f"{self.lost:,} events were lost: {self.by} could not keep up; record a shorter"
                " time, or when the host is less busy"
            )
        if not self.counted:
            yield (
                "instructions are not counted: perf is missing there, or has no counter of them"
                " (perf stat -e instructions true)"
            )


def record(system: System, asked: Request, folder: Path, output: Path) -> Recorded:
    """Record a system into a gzipped text, as `schedlab workload import` reads it.

    Args:
        system: the host.
        asked: what to record.
        folder: an empty one, where the recorder's files lie meanwhile. The system is held.
        output: the file to write.

    Raises:
        HostError: the recorder or the command is missing, or may not do it.
        IncompleteRun: the recorder failed, or its disk is full.
    """
    points = find_tracepoints(system, asked.light)
    by = _chosen(system, asked.recorder, points.tracefs)
    if asked.command and system.which(asked.command[0]) is None:
        raise HostError(_why_not_run(system, asked.command[0]))
    cgroup = _cgroup_folder(system, asked.cgroup) if asked.cgroup else ""
    restored = restore_journal(system)
    partial = output.with_name(f".{output.name}.partial")
    tag = uuid.uuid4().hex
    instance = f"{points.tracefs}/instances/schedlab-{tag}" if by == FTRACE else ""
    kib = _buffer(system) >> 10
    with _noted(system, folder, partial, tag, instance) as own:
        counted = system.which(PERF) is not None and can_count(system, asked.counters, own, tag)
        recorder = _recorder(points, instance, kib, asked.counters if counted else ())
        before = look(system)
        argv = recorder.argv(_run(asked, cgroup), system.place(own / "x").removesuffix("/x"))
        launch = Launch(argv, own / "out", own / "err", env={TAG: tag})
        end = system.execute(launch)
        said = launch.stderr.read_text(errors="replace")
        printed = launch.stdout.read_text(errors="replace").strip()
        try:
            if (instance and end.status == ring.FAILED) or not recorder.wrote(own):
                other = instance and not _is_full(system, own)
                hint = "\n  `--recorder perf` does without its buffers." if other else ""
                raise IncompleteRun(f"{recorder.name} could not record: {_last(said)}{hint}")
            setup = _setup(system, asked, before, said)
            text = recorder.text(own)
            lines, lost = _written(setup, text, (partial, output), asked.anonymous)
        except (IncompleteRun, UsageError) as error:
            if _is_full(system, own):
                raise IncompleteRun(
                    f"{recorder.name}'s data do not fit onto the disk of {system.place(own)}:"
                    f" {error}\n"
                    "  Free space there, name a folder of another disk by TMPDIR, or record less"
                    " (--light, or a shorter time)."
                ) from error
            raise
    return Recorded(lines, lost, end, printed, restored, by, counted)


def _why_not_run(system: System, program: str) -> str:
    """Return what is wrong with a program that cannot be run."""
    there = 'case $1 in */*) [ -e "$1" ] && echo there ;; esac'
    if system.capture(("sh", "-c", there, "sh", program)).stdout.strip():
        return (
            f"{program}: this is not a program that can be run.\n"
            "  Give a program, or a script that is executable (chmod +x)."
        )
    return f"{program}: this program was not found."


def _recorder(points: Tracepoints, instance: str, kib: int, counters: Sequence[str]) -> Recorder:
    """Return what records: ftrace into an instance if there is one, and perf what is counted."""
    if not instance:
        return PerfRecorder(points, kib, counters)
    if not counters:
        return RingRecorder(points, instance, kib)
    switch, others = points.events[:1], points.events[1:]
    return BothRecorder(
        RingRecorder(replace(points, events=others), instance, kib),
        PerfRecorder(replace(points, events=switch), kib, counters),
    )


def _chosen(system: System, named: str, tracefs: str) -> str:
    """Return which recorder is used.

    Raises:
        HostError: the named one cannot record, or none can.
    """
    by_ftrace = ring.lacking(system, tracefs) if named != PERF else ""
    if named == FTRACE and by_ftrace:
        raise HostError(by_ftrace)
    if named != PERF and not by_ftrace:
        return FTRACE
    if by_perf := perf.lacking(system):
        raise HostError(by_perf)
    return PERF


@contextmanager
def _noted(system: System, folder: Path, partial: Path, tag: str, instance: str) -> Iterator[Path]:
    """Yield a folder for the recorder's data; it, the file and the instance are in the journal."""
    journal = Journal(system)
    journal.scratch = Scratch.of(folder, (), partial)
    journal.instances = [instance] if instance else []
    journal.write(tag, [])
    try:
        (folder / LOADED).mkdir()
        yield folder / LOADED
    finally:
        with uninterrupted():
            journal.remove_instances()
            journal.remove()


def _setup(system: System, asked: Request, before: Setup, said: str) -> Setup:
    """Return what is set for the tasks, by the looks before and after."""
    members = map(int, re.findall(r"^schedlab: member (\d+)$", said, re.MULTILINE))
    setup = before.joined(look(system)).restricted(_number(said, "task"), asked.cgroup, members)
    if asked.cgroup and setup.roots == NOBODY:
        raise IncompleteRun(
            f"--cgroup {asked.cgroup}: it had no task, neither before nor after the recording."
        )
    listed = re.findall(r"^schedlab: descriptor (\d+)$", said, re.MULTILINE)
    inherited = tuple(map(int, listed))
    own = _number(said, "recorder")
    setup = replace(
        setup,
        machine=look_at_machine(system),
        inherited=inherited,
        recorder=() if own is None else (own,),
    )
    return setup.without_names() if asked.anonymous else setup


def _is_full(system: System, own: Path) -> bool:
    """Return whether the disk on which the recorder's data lie has no space left."""
    said = system.capture(("sh", "-c", 'df -Pk "$1"', "sh", system.place(own))).stdout.split()
    free = said[-3:-2]  # before the part that is used, and the place
    return bool(free) and free[0].isdecimal() and int(free[0]) < _FULL


def _written(
    setup: Setup, text: Iterator[bytes], files: tuple[Path, Path], nameless: bool
) -> tuple[int, int]:
    """Write a recording, whole or not at all; return its lines, and the events that were lost.

    Raises:
        IncompleteRun: of no event could the names be replaced.
    """
    partial, output = files
    seen = Counter[bool]()
    hide = anonymous(secrets.token_bytes(16), seen) if nameless else None
    lines = lost = 0
    try:
        with writing(output):
            with gzip.open(partial, "wb", compresslevel=3) as file:
                file.write(f"{HEAD}{json.dumps(setup.document())}\n".encode())
                for piece in text:
                    lost += sum(int(b"".join(one)) for one in _LOST.findall(piece))
                    lines += piece.count(b"\n")
                    told = without_data(piece)
                    file.write(hide(told) if hide else told)
            if seen[False] and not seen[True]:
                raise IncompleteRun(
                    f"{output}: not written: the {seen[False]:,} events that have names of tasks"
                    " are printed in a form that is not known, so that no name could be replaced."
                    "\n  Record without --anonymous, or by another --recorder."
                )
            partial.replace(output)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return lines, lost


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


def _run(asked: Request, cgroup: str) -> tuple[str, ...]:
    """Return the command during which is recorded."""
    if asked.command:
        return ("sh", "-c", _COMMAND, "sh", *asked.command)
    if cgroup:
        return ("sh", "-c", _MEMBERS, "sh", cgroup, f"{asked.seconds:g}")
    return ("sleep", f"{asked.seconds:g}")


def _buffer(system: System) -> int:
    """Return how many bytes of events are kept for each CPU, a power of two."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", system.read_or("/proc/meminfo", ""), re.MULTILINE)
    memory = int(found[1]) << 10 if found else 0
    cpus = len(parse_cpulist(system.read_or("/sys/devices/system/cpu/online", "0")))
    most = min(_LARGEST_BUFFER, _ALL_BUFFERS // cpus, memory // _PART // cpus)
    return 1 << (max(most, 1 << 20).bit_length() - 1)


def _number(said: str, what: str) -> int | None:
    """Return the number of a task that the recorded system's shell named."""
    found = re.search(rf"^schedlab: {what} (\d+)$", said, re.MULTILINE)
    return int(found[1]) if found else None


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it printed no reason"
