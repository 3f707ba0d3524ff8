"""What the lab may have changed, on disk before each change; put back after a crash.

The journal's first line is written before the first knob is turned: every knob with the value to
put back. The last line after it holds the knobs that are not as they were: those being written,
and those that hold a value of ours. While it is not yet known which other files the kernel changes
with the knobs, the first line holds all files around them: any may be ours then.
"""

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedlab.base.errors import KnobError, RestoreError, StoreError
from schedlab.base.system import System, hosts_known
from schedlab.base.system.durable import write_durably
from schedlab.base.system.system import legible
from schedlab.settings.groups import remove_group
from schedlab.settings.knob import ChoiceKnob, FeatureKnob, FileKnob, Knob
from schedlab.settings.scratch import Scratch
from schedlab.settings.siblings import sibling_knob

_FILE = "journal.json"
_ROUNDS = 4
"""To put one knob back can set others, which are then put back; how often that is repeated."""

_KINDS: dict[str, type[FileKnob] | type[FeatureKnob]] = {
    "file": FileKnob,
    "choice": ChoiceKnob,
    "feature": FeatureKnob,
}


@dataclass
class Entry:
    """A knob, the value to put back, and what the lab has made of it."""

    knob: Knob
    original: str
    ours: tuple[str, ...] | None = ()
    """The value the lab wrote and what the kernel made of it. None while knobs are being written:
    nobody knows yet how the kernel spells or rounds a value, so any may be ours."""

    def untouched(self, found: str) -> bool:
        """Return whether a value that was read is the one to put back."""
        return self.original == found

    def made(self, found: str) -> bool:
        """Return whether a value that was read is one that the lab made."""
        return self.ours is None or any(self.same(value, found) for value in self.ours)

    def same(self, wanted: str, found: str) -> bool:
        """Return whether a value that was read is the one wanted, however it is spelled."""
        return self.knob.same(wanted, found, self.original)

    def leave(self, found: str) -> str:
        """Adopt a value that something else set as the one to restore; return a line on it."""
        self.original, self.ours = found, ()
        return f"{self.knob.path}: left at {legible(found)}: something else set it since"


class Journal:
    """The journal file of one host."""

    def __init__(self, system: System) -> None:
        """Name the file; nothing is read or written yet."""
        self._system = system
        self.path = system.state_folder() / _FILE
        self.scratch = Scratch()
        """The folders of data that a lab leaves when it is killed."""
        self.groups: list[str] = []
        """The cgroups that it leaves."""
        self.instances: list[str] = []
        """The folders of tracefs with the buffers of a recording."""
        self._descriptor: int | None = None
        self._entries: Sequence[Entry] = ()
        self._first_line = 0
        """The length of the first line."""

    def write(
        self, tag: str, entries: Sequence[Entry], siblings: Mapping[str, str] | None = None
    ) -> None:
        """Put the journal on disk, whole or not at all, and keep it open for notes.

        Args:
            tag: what the lab's processes carry.
            entries: the knobs, and what has become of them.
            siblings: files that may change with them, and their values.

        Raises:
            StoreError: it cannot be written; then no knob may be touched.
        """
        content = {
            "boot_id": self._system.boot_id(),
            "tag": tag,
            "knobs": [_pack(entry) for entry in entries],
            "siblings": dict(siblings or {}),
            "scratch": asdict(self.scratch),
            "groups": self.groups,
            "instances": self.instances,
        }
        line = f"{json.dumps(content)}\n".encode()
        try:
            self.path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            write_durably(self.path, line + _states(entries))
            self._open(entries, len(line))
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write the journal: {error.strerror}; nothing was changed."
                "\n  Without it a crash could leave this host changed."
            ) from error

    def note(self) -> None:
        """Keep what has become of the knobs; nothing where no journal was begun.

        What a killed lab has noted is with the kernel, and a crash of the kernel makes it
        worthless: it need not reach the disk.

        Raises:
            StoreError: it cannot be written.
        """
        if self._descriptor is None:
            return
        line = _states(self._entries)
        if not line:
            os.ftruncate(self._descriptor, self._first_line)
            return
        size = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise StoreError(
                f"{self.path}: cannot write the journal: {error.strerror}."
                "\n  Without it a crash could leave this host changed."
            ) from error

    def remove(self) -> None:
        """Forget: everything is as it was; StoreError if the file cannot be removed."""
        self._close()
        try:
            self.path.unlink(missing_ok=True)
        except NotADirectoryError:
            pass
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot be removed: {error.strerror}."
                "\n  Every knob is as it was; delete the file."
            ) from error

    def groups_left(self) -> list[str]:
        """Return the cgroups of the lab that are there."""
        return [group for group in self.groups if self._system.exists(group)]

    def instances_left(self) -> list[str]:
        """Return the buffers of the lab that are there."""
        return [each for each in self.instances if self._system.exists(each)]

    def remove_groups(self) -> list[str]:
        """Remove the lab's cgroups that are there; return a line on each.

        Raises:
            RestoreError: one could not be removed; all others were.
        """
        return self._removed("the cgroup", self.groups_left(), remove_group)

    def remove_instances(self) -> list[str]:
        """Remove the lab's buffers that are there, which ends the recording; a line on each.

        Raises:
            RestoreError: one could not be removed; all others were.
        """
        return self._removed("ftrace's buffers", self.instances_left(), _remove_folder)

    def _removed(
        self, what: str, folders: Sequence[str], remove: Callable[[System, str], None]
    ) -> list[str]:
        lines = []
        failures = []
        for folder in folders:
            try:
                remove(self._system, folder)
            except OSError as error:
                failures.append(f"{folder}: {what} cannot be removed: {error.strerror}")
            else:
                lines.append(f"removed {what} {folder}")
        if failures:
            raise RestoreError(_again(failures))
        return lines

    def read(self) -> tuple[str, list[Entry]] | None:
        """Return the tag and entries, or None where there is no journal of this boot.

        Raises:
            KnobError: the file is damaged.
        """
        try:
            # A last line without its end was being written when the lab was killed.
            lines = self.path.read_text().split("\n")[:-1] or [""]
            content = json.loads(lines[0])
            self.scratch = Scratch.packed(content.get("scratch", {}))
            self.groups = [str(group) for group in content.get("groups", ())]
            self.instances = [str(each) for each in content.get("instances", ())]
            if content["boot_id"] != self._system.boot_id():
                return None
            entries = [_unpack(item) for item in content["knobs"]]
            if len(lines) > 1:
                for place, (original, ours) in json.loads(lines[-1]).items():
                    entry = entries[int(place)]
                    entry.original, entry.ours = original, None if ours is None else tuple(ours)
            return str(content["tag"]), [*self._siblings(content.get("siblings", {})), *entries]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise KnobError(
                f"{self.path}: the journal of an earlier lab cannot be read ({error!r})."
                "\n  Check this host's settings by hand, then delete the file."
            ) from error

    def _siblings(self, siblings: Mapping[str, str]) -> Iterator[Entry]:
        """Yield the files that may be ours, of those that are there still."""
        for path, text in siblings.items():
            knob = sibling_knob(self._system, path)
            with contextlib.suppress(KnobError):
                knob.read(self._system)
                yield Entry(knob, knob.value_of(text), None)

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self, entries: Sequence[Entry], first_line: int) -> None:
        self._close()
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        self._entries = entries
        self._first_line = first_line


def left_behind(system: System) -> str | None:
    """Return what a killed lab may have left changed, or None."""
    journal = Journal(system)
    found = journal.read()
    data = [f"data that a lab left are in {folder}" for folder in journal.scratch.found()]
    if found is None:
        return "; ".join(data) or None
    _, entries = found
    changed = [
        legible(f"{entry.knob.label} is {value}, was {entry.original}")
        for entry in entries
        if not entry.untouched(value := entry.knob.read(system))
    ]
    groups = [f"the cgroup {group} is there" for group in journal.groups_left()]
    groups += [f"ftrace records into {each}" for each in journal.instances_left()]
    return "; ".join([*(changed or ["every knob is as it was"]), *groups, *data])


def hosts_left_behind(system: System) -> list[str]:
    """Return the hosts that ssh reaches from a system on which a lab of it left something."""
    return [host for host, state in hosts_known(system).items() if (state / _FILE).exists()]


def restore_left_behind(system: System) -> list[str]:
    """Undo what a killed lab left: processes, knobs, servers' data; return what was done.

    Raises:
        RestoreError: a knob could not be put back; the journal stays.
        HostError: a lab runs; the journal is its own.
    """
    with system.held():
        return restore_journal(system)


def restore_journal(system: System) -> list[str]:
    """Like restore_left_behind(), for a caller that holds the host's lock."""
    journal = Journal(system)
    found = journal.read()
    if found is None:
        removed = journal.scratch.remove()
        journal.remove()
        return removed
    tag, entries = found
    try:
        killed = system.end_tagged(tag)
    finally:
        with contextlib.suppress(StoreError):  # the notes so far are then the ones that count
            journal.write(tag, entries)
        restored = restore(system, entries, journal)
    try:
        groups = [*journal.remove_groups(), *journal.remove_instances()]
    finally:
        data = journal.scratch.remove()
    journal.remove()
    ended = [f"ended {killed} processes an earlier lab left running"] if killed else []
    return [*ended, *restored.lines, *restored.foreign, *groups, *data]


@dataclass(frozen=True)
class Restored:
    """What putting the knobs back did, in lines for people."""

    lines: list[str]
    """Knobs put back."""
    foreign: list[str]
    """Knobs that something else had set since, and that were left as found."""


def restore(system: System, entries: Sequence[Entry], journal: Journal) -> Restored:
    """Put every knob back that still has a value the lab gave it, the last one turned first.

    Raises:
        RestoreError: some could not be put back; all others were.
    """
    lines: list[str] = []
    foreign: list[str] = []
    failures: dict[Knob, str] = {}
    readable: list[Entry] = []
    before: dict[Knob, str] = {}
    for entry in reversed(entries):
        try:
            found = entry.knob.read(system)
        except KnobError as error:
            failures[entry.knob] = str(error)
            continue
        readable.append(entry)
        if entry.untouched(found):
            continue
        if entry.made(found):
            before[entry.knob] = found
        else:
            foreign.append(entry.leave(found))
    # To write one knob can set another, of those too that are as they were.
    for entry in readable:
        entry.ours = None if before else ()
    _note_if_possible(journal)
    left = [entry for entry in readable if entry.knob in before]
    for _ in range(_ROUNDS):
        left = _put_back(system, left, readable, failures)
    for entry in readable:
        if entry in left:
            continue
        entry.ours = ()
        if entry.knob in before:
            found = before[entry.knob]
            lines.append(legible(f"{entry.knob.path}: {found} -> {entry.original}"))
    _note_if_possible(journal)
    if failures:
        raise RestoreError(_again(list(failures.values())))
    return Restored(lines, foreign)


def _again(failures: Sequence[str]) -> str:
    return (
        "not everything could be restored:\n  "
        + legible("\n  ".join(failures))
        + "\n  `schedlab doctor --restore` tries again."
    )


def _put_back(
    system: System, changed: Sequence[Entry], entries: Sequence[Entry], failures: dict[Knob, str]
) -> list[Entry]:
    """Write the originals of what is changed; return what is still, or has become so by that."""
    for entry in changed:
        try:
            entry.knob.write(system, entry.original)
        except KnobError as error:
            failures[entry.knob] = str(error)
    left = []
    for entry in entries if changed else ():
        try:
            found = entry.knob.read(system)
        except KnobError as error:
            failures[entry.knob] = str(error)
            left.append(entry)
            continue
        if entry.untouched(found):
            failures.pop(entry.knob, None)
        else:
            left.append(entry)
            failures.setdefault(
                entry.knob, f"{entry.knob.path}: wrote {entry.original}, read back {found}"
            )
    return left


def _note_if_possible(journal: Journal) -> None:
    """Keep what has become of the knobs; a full disk must not keep them from being put back."""
    with contextlib.suppress(StoreError):
        journal.note()


def _remove_folder(system: System, folder: str) -> None:
    system.remove_folder(folder)


def _states(entries: Sequence[Entry]) -> bytes:
    """Return the line on the knobs that are not as they were; nothing where all are."""
    states = {
        place: [entry.original, entry.ours]
        for place, entry in enumerate(entries)
        if entry.ours != ()
    }
    return f"{json.dumps(states)}\n".encode() if states else b""


def _pack(entry: Entry) -> dict[str, Any]:
    assert isinstance(entry.knob, FileKnob | FeatureKnob)
    kind = next(kind for kind, knob in _KINDS.items() if type(entry.knob) is knob)
    return {"kind": kind, "knob": asdict(entry.knob), "original": entry.original}


def _unpack(item: dict[str, Any]) -> Entry:
    return Entry(_KINDS[item["kind"]](**item["knob"]), item["original"])
