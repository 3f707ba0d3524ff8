"""What the lab may have changed, on disk before the first change; put back after a crash."""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from schedlab.errors import KnobError, RestoreError, StoreError
from schedlab.settings.knob import FeatureKnob, FileKnob, Knob
from schedlab.system import System, hosts_known

_FILE = "journal.json"


@dataclass(frozen=True)
class Entry:
    """A knob with the value it had and every value the lab may give it."""

    knob: Knob
    original: str
    written: tuple[str, ...]


class Journal:
    """The journal file of one host."""

    def __init__(self, system: System) -> None:
        """Name the file; nothing is read or written yet."""
        self._system = system
        self.path = system.state_folder() / _FILE

    def write(self, tag: str, entries: list[Entry]) -> None:
        """Put the journal on disk, whole or not at all.

        Raises:
            StoreError: it cannot be written; then no knob may be touched.
        """
        content = {
            "boot_id": self._system.boot_id(),
            "tag": tag,
            "knobs": [_pack(entry) for entry in entries],
        }
        fresh = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("w") as file:
                json.dump(content, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write the journal: {error.strerror}; nothing was changed."
                "\n  Without it a crash could leave this host changed."
            ) from error

    def remove(self) -> None:
        """Forget: everything is as it was."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    def read(self) -> tuple[str, list[Entry]] | None:
        """Give the tag and entries, or None where there is no journal of this boot.

        Raises:
            KnobError: the file is damaged.
        """
        try:
            content = json.loads(self.path.read_text())
            if content["boot_id"] != self._system.boot_id():
                return None
            return str(content["tag"]), [_unpack(item) for item in content["knobs"]]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KnobError(
                f"{self.path}: the journal of an earlier lab cannot be read ({error!r})."
                "\n  Check this host's settings by hand, then delete the file."
            ) from error


def left_behind(system: System) -> str | None:
    """Tell what a killed lab may have left changed, or None."""
    found = Journal(system).read()
    if found is None:
        return None
    _, entries = found
    changed = [
        f"{entry.knob.label} is {value}, was {entry.original}"
        for entry in entries
        if not entry.knob.same(entry.original, value := entry.knob.read(system))
    ]
    return "; ".join(changed) or "every knob is as it was"


def hosts_left_behind(system: System) -> list[str]:
    """Give the hosts that ssh reaches from a system on which a lab of it left something."""
    return [host for host, state in hosts_known(system).items() if (state / _FILE).exists()]


def restore_left_behind(system: System) -> list[str]:
    """Undo what a killed lab left: its processes and its knobs; say what was done.

    Raises:
        RestoreError: a knob could not be put back; the journal stays.
        HostError: a lab runs; the journal is its own.
    """
    with system.held():
        return restore_journal(system)


def restore_journal(system: System) -> list[str]:
    """Do as `restore_left_behind`, for a caller that holds the host's lock."""
    journal = Journal(system)
    found = journal.read()
    if found is None:
        journal.remove()
        return []
    tag, entries = found
    lines = []
    killed = system.end_tagged(tag)
    if killed:
        lines.append(f"ended {killed} processes an earlier lab left running")
    restored = restore(system, entries)
    journal.remove()
    return lines + restored.lines + restored.foreign


@dataclass(frozen=True)
class Restored:
    """What putting the knobs back did, in lines for people."""

    lines: list[str]
    """Knobs put back."""
    foreign: list[str]
    """Knobs that something else had set since, and that were left as found."""


def restore(system: System, entries: list[Entry]) -> Restored:
    """Put every knob back that still has a value the lab gave it.

    Raises:
        RestoreError: some could not be put back; all others were.
    """
    lines: list[str] = []
    foreign: list[str] = []
    failures: list[str] = []
    for entry in reversed(entries):
        knob = entry.knob
        try:
            found = knob.read(system)
            if knob.same(entry.original, found):
                continue
            if not any(knob.same(value, found) for value in entry.written):
                foreign.append(f"{knob.path}: left at {found}: something else set it since")
                continue
            knob.write(system, entry.original)
            again = knob.read(system)
            if not knob.same(entry.original, again):
                failures.append(f"{knob.path}: wrote {entry.original}, read back {again}")
                continue
            lines.append(f"{knob.path}: {found} -> {entry.original}")
        except KnobError as error:
            failures.append(str(error))
    if failures:
        raise RestoreError(
            "not everything could be put back:\n  "
            + "\n  ".join(failures)
            + "\n  `schedlab doctor --restore` tries again."
        )
    return Restored(lines, foreign)


def _pack(entry: Entry) -> dict[str, Any]:
    assert isinstance(entry.knob, FileKnob | FeatureKnob)
    kind = "feature" if isinstance(entry.knob, FeatureKnob) else "file"
    return {"kind": kind, **asdict(entry)}


def _unpack(item: dict[str, Any]) -> Entry:
    kind = FeatureKnob if item["kind"] == "feature" else FileKnob
    return Entry(kind(**item["knob"]), item["original"], tuple(item["written"]))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
