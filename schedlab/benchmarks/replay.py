"""Replays of recordings: their kinds, and how far replays of each kind were off, measured.

benchmarks/recording/fidelity.py writes replay_fidelity.toml, of workloads that are known: the
original and its replay simulated on the same machine.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from schedlab.base.validation import Data, load_toml
from schedlab.base.words import listing

WORK, MESSAGES, HAND_OVERS, TIMED = "work", "messages", "hand-overs", "timers"
KINDS: Mapping[str, str] = {
    WORK: "mostly work, few waits",
    MESSAGES: "waits for messages",
    HAND_OVERS: "waits that other tasks end, without messages",
    TIMED: "waits for timers, devices and the world outside",
}
REPLAY_TIME = "time"
"""The metric of a replay that a task which waits for the clock can set alone."""
EDITS = ("trimmed", "scaled")
"""Keys of a file's `recorded` that say how the workload was changed."""
GIVEN_TIME = "given_time"
"""Key of a file's `recorded`: names of tasks that did as much as they came to in a given time."""
SMALL = 0.1
"""Effects below it are not to be judged by replays; docs/studies/replay.md has what they showed."""
NOT_MEASURED = "how far replays of this kind are off has not been measured"
_RARE = 1_000_000
"""ns of work for each wait, from which on a workload is mostly work."""
_SOME = 1.0
"""Percentage points."""
_MANY = 10
"""An error from which on it is told as a multiple."""
_WORD = re.compile(r"([wrst@dlbpgj])|(?<![^ ])(\d+)")
_HANDS_OVER = "wlbpgj"
"""Words for which tasks wait for each other; an item of a pool is waited for once."""


_CLOCK = re.compile(r"(?<![^ ])([std@])(\d+)")
_MOST_NOTES = 12
_LONGEST_NOTE = 400
_MOSTLY = 0.9
"""The part of a replay's time from which on a task that waits for the clock sets it."""


@dataclass(frozen=True)
class Recording:
    """What a report has to say of a recording, beside the kind of its replay."""

    asleep: float = 0.0
    """Seconds for which a task waits for the clock, whatever the scheduler does, at most."""
    sleeper: str = ""
    """The task that does."""
    notes: tuple[str, ...] = ()
    """The file's own, on what its trace lacked, and how it was changed since."""
    probe: bool | None = None
    """Whether it was imported with --probe; None: the file does not say."""
    given_time: tuple[str, ...] = ()
    """Names of tasks that worked for a given time and did unequal amounts."""

    def lacks(self) -> str:
        """Return sentences on what the recording lacks, and how it was changed; or nothing."""
        said = []
        if self.probe is None:
            said.append("The file does not say whether it was imported with --probe.")
        elif not self.probe:
            said.append("It was imported without --probe, and is off by more.")
        said += self.notes[:_MOST_NOTES]
        if more := len(self.notes) - _MOST_NOTES:
            said += [f"And {more} more notes (`schedlab workload show`)."] if more > 0 else []
        return " ".join(said)

    def about_time(self, seconds: float | None) -> str:
        """Return why a replay's `time` says little; empty: it may say something."""
        if self.given_time:
            return (
                f"tasks {listing(self.given_time)} worked for a given time when they were recorded,"
                " and did unequal amounts, which the replay repeats: judge by work_rate"
            )
        if not seconds or self.asleep < _MOSTLY * seconds:
            return ""
        return (
            f"{self.sleeper} waits for the clock for {self.asleep:.4g} s of it (timers, sleeps,"
            " devices, arrivals), so it can hardly change: judge by other metrics"
        )


def notes_of(recorded: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a file says of its recording, as sentences of one line."""
    given = recorded.get("notes")
    notes = [str(note) for note in given] if isinstance(given, list) else []
    notes += [f"Since then {key}: {recorded[key]}." for key in EDITS if recorded.get(key)]
    return tuple(" ".join(note.split())[:_LONGEST_NOTE] for note in notes)


def given_time_of(recorded: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which tasks worked for a given time, as far as a file says it."""
    names = recorded.get(GIVEN_TIME)
    return tuple(map(str, names)) if isinstance(names, list) else ()


def longest_sleep(tasks: Iterable[tuple[str, str]]) -> tuple[float, str]:
    """Return for how many seconds a task waits for the clock at most, and its name."""
    longest = (0, "")
    for name, words in tasks:
        now = 0
        for letter, number in _CLOCK.findall(words):
            now = max(now, int(number)) if letter == "@" else now + int(number)
        longest = max(longest, (now, name))
    return longest[0] / 1e9, longest[1]


def kind_of_replay(words: Iterable[str]) -> str:
    """Return the kind of a recorded workload, of the words of its tasks."""
    counts = dict.fromkeys("wrst@dlbpgj", 0)
    work = 0
    for text in words:
        for letter, ns in _WORD.findall(text):
            if letter:
                counts[letter] += 1
            else:
                work += int(ns)
    waits = sum(counts.values())
    if work >= _RARE * waits:
        return WORK
    if 2 * counts["r"] >= waits:
        return MESSAGES
    handed = sum(counts[letter] for letter in _HANDS_OVER)
    return HAND_OVERS if 2 * handed >= waits else TIMED


class Off(Data):
    """How far replays were off in one figure, as parts of the original's."""

    median: float
    worst: float
    number: int
    """Of the workloads that have the figure."""


class Changes(Data):
    """Changes that were simulated on originals and on replays; percentage points."""

    number: int
    originals: float
    """Root mean square of what they did to the originals."""
    error: float
    """Root mean square of what replays said beside that."""

    @property
    def tried(self) -> bool:
        """Whether any of them did so much to an original that it could be predicted."""
        return self.originals >= _SOME

    @property
    def predicted(self) -> bool:
        """Whether replays were off by at most half of what the changes did."""
        return self.tried and 2 * self.error <= self.originals


class Fidelity(Data):
    """How far replays of one kind were off."""

    workloads: tuple[str, ...]
    time: Off
    rate: Off
    """Work done at a time."""
    switches: Off
    wakeups: Off
    moves: Off
    wakeup_p50: Off
    """From a wake to the CPU; of less than a us, the error is a part of a us."""
    wakeup_p99: Off
    request_p99: Off | None = None
    """None: no original measures its requests."""
    changes: Changes | None = None

    def levels(self, where: str) -> str:
        """Return sentences on the figures of replays beside their originals'."""
        figures = {"time": self.time, "work done at a time": self.rate}
        figures |= {"switches": self.switches, "wakeups": self.wakeups}
        figures["moves between CPUs"] = self.moves
        figures["median wakeup latency"] = self.wakeup_p50
        figures["its 99th percentile"] = self.wakeup_p99
        said = [f"{name} {_part(off.median)} ({_part(off.worst)})" for name, off in figures.items()]
        number = len(self.workloads)
        return (
            f"Replays of {number} known workload{'s' if number > 1 else ''} of this kind, imported"
            f" with --probe, were off by, in the middle (at worst): {', '.join(said)}."
            f" {self._about_requests()} {where}"
        )

    def _about_requests(self) -> str:
        """Return a sentence on the latency of requests."""
        found = self.request_p99
        if found is None:
            return "How far latencies of requests are off is not known: none measures its own."
        number = f"{found.number} workload{'s' if found.number > 1 else ''}"
        return (
            f"The 99th percentile of requests, which {number} measured, was off by"
            f" {_part(found.median)} ({_part(found.worst)})."
        )

    def about_changes(self) -> str:
        """Return how far a replay's change may be believed, as the end of a sentence."""
        if self.changes is None:
            return "whether replays of this kind predict changes has not been measured"
        found = self.changes
        if not found.tried:
            return (
                "whether replays of this kind predict changes is not known: none of the"
                f" {found.number} that were tried did anything to the originals"
            )
        beside = (
            f"off by {found.error:.1f} points where originals moved by {found.originals:.1f}"
            f" (root mean squares of {found.number})"
        )
        word = "predict" if found.predicted else "do not predict"
        return f"replays of this kind {word} changes: {beside}"


class FidelityFile(Data):
    """What has been measured, and where."""

    machine: tuple[str, ...]
    kernel: tuple[str, ...]
    kind: dict[str, Fidelity]

    def where(self) -> str:
        """Return a sentence on where it was measured."""
        return (
            f"That was measured in the simulator, on {listing(self.machine)} (kernels"
            f" {listing(self.kernel)}), with traces that it wrote itself: other machines, and"
            " recordings of hosts, may be off by more."
        )


FIDELITY_FILE = Path(__file__).with_name("replay_fidelity.toml")


@cache
def _measured() -> FidelityFile:
    return load_toml(FIDELITY_FILE, FidelityFile)


def measured_fidelity() -> Mapping[str, Fidelity]:
    """Return what has been measured, by kind of replay."""
    return _measured().kind


def describe_fidelity(kind: str) -> str:
    """Return sentences on how far replays of a kind were off."""
    found = measured_fidelity().get(kind)
    changes = found.about_changes() if found else NOT_MEASURED
    said = f"{changes[0].upper()}{changes[1:]}."
    if doubts(kind):
        said += " No effect, of whatever size, is to be judged by them."
    else:
        said += f" Effects below {_part(SMALL)} are not to be judged by replays."
    return f"{found.levels(_measured().where())} {said}" if found else said


def doubts(kind: str) -> str:
    """Return why a change that such a replay shows may not be the original's; empty: none."""
    found = measured_fidelity().get(kind)
    if not found:
        return NOT_MEASURED
    predicts = found.changes is not None and found.changes.predicted
    return "" if predicts else found.about_changes()


def _part(value: float) -> str:
    return f"{100 * value:.0f} %" if value < _MANY else f"{value:.0f} times"
