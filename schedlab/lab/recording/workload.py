"""A workload file of a recording: rt-app's JSON, each task with the words of its replay.

docs/manual/recording.md describes it. `workloads/rt-app-replay.c` runs it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError, writing
from schedlab.base.files import read_json
from schedlab.benchmarks.rt_app_file import LARGEST_WORKLOAD

VERSION = 1
WAIT, WAKE, START, SLEEP, GRID, ARRIVAL, DEVICE = "w", ">", "+", "s", "t", "@", "d"
SEND, RECEIVE = "m", "r"
WORDS: Mapping[str, str] = {
    "": "work of N ns",
    WAIT: "waits until another task wakes it",
    WAKE: "wakes task N",
    START: "starts task N",
    SLEEP: "sleeps N ns",
    GRID: "sleeps to the next point of a grid of N ns",
    ARRIVAL: "waits for what arrives from outside, N ns after the start",
    DEVICE: "waits N ns for a device it has asked itself",
    SEND: "sends message N",
    RECEIVE: "receives as many bytes as message N has",
}
_WORD = re.compile(r"([w>+st@dmr]?)(\d*)")


@dataclass(frozen=True)
class Message:
    """What is sent or received at once, and over what."""

    kind: str
    """pipe, packets, unix, tcp or udp"""
    channel: int
    """The number of one direction of a pipe or connection."""
    bytes: int


@dataclass(frozen=True)
class RecordedTask:
    """One task: its name, what is set for it, and what it does."""

    id: int
    name: str
    words: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As in a task of rt-app: policy, priority, cpus, taskgroup, delay, instance."""

    @property
    def key(self) -> str:
        """Return its name in the file."""
        return f"{self.name}-{self.id}"

    def steps(self) -> Iterator[tuple[str, int]]:
        """Yield its words, as a letter and a number."""
        for word in self.words.split():
            found = _WORD.fullmatch(word)
            if not found or bool(found[2]) == (found[1] == WAIT):
                raise UsageError(f"tasks.{self.key}: '{word[:20]}' is not a word of a replay.")
            yield found[1], int(found[2] or 0)

    def edited(self, edit: Callable[[str, int], tuple[str, int] | None]) -> "RecordedTask":
        """Return it with each step as the edit returns it; None drops the step."""
        steps = (edit(letter, number) for letter, number in self.steps())
        return replace(self, words=join_words(step for step in steps if step))


def join_words(steps: Iterator[tuple[str, int]]) -> str:
    """Return the text of steps; work beside work is one word."""
    words: list[str] = []
    work = 0
    for letter, number in steps:
        if not letter:
            work += number
            continue
        if work:
            words.append(str(work))
            work = 0
        words.append(letter if letter == WAIT else f"{letter}{number}")
    if work:
        words.append(str(work))
    return " ".join(words)


@dataclass(frozen=True)
class RecordedWorkload:
    """What a file holds."""

    tasks: Sequence[RecordedTask]
    recorded: Mapping[str, Any]
    """Where it comes from: seconds, CPUs, waits by their cause, and notes."""
    messages: Sequence[Message] = ()
    """By the numbers that the words have, from 1."""

    def write(self, path: Path) -> None:
        """Write the file."""
        tasks = {
            task.key: {**task.settings, "loop": 1, "replay": task.words} for task in self.tasks
        }
        messages = {str(at): vars(message) for at, message in enumerate(self.messages, 1)}
        document = {
            "recorded": {"version": VERSION, **self.recorded},
            "global": {"duration": -1, "calibration": 1},
            **({"messages": messages} if messages else {}),
            "tasks": tasks,
        }
        with writing(path, UsageError):
            path.write_text(json.dumps(document, indent=1) + "\n")


def read_workload(path: Path) -> RecordedWorkload:
    """Read a workload file of a recording.

    Raises:
        UsageError: it cannot be read, or it is not such a file; file and key are named.
    """
    document = read_json(path, LARGEST_WORKLOAD)
    try:
        return _workload(document)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _workload(document: Any) -> RecordedWorkload:
    recorded = document.get("recorded") if isinstance(document, dict) else None
    if not isinstance(recorded, dict) or not isinstance(document.get("tasks"), dict):
        raise UsageError('"recorded" and "tasks" are expected; it is not a recording.')
    version = recorded.get("version")
    if version != VERSION:
        raise UsageError(f"recorded.version is {version!r}; this schedlab reads {VERSION}.")
    tasks = [_task(key, value) for key, value in document["tasks"].items()]
    about = {key: value for key, value in recorded.items() if key != "version"}
    messages = _messages(document.get("messages", {}))
    for task in tasks:
        for letter, number in task.steps():
            if letter in (SEND, RECEIVE) and not 1 <= number <= len(messages):
                raise UsageError(f"tasks.{task.key}: there is no message {number}.")
    return RecordedWorkload(tasks, about, messages)


def _messages(given: Any) -> list[Message]:
    if not isinstance(given, dict):
        raise UsageError("messages: an object is expected.")
    found = []
    for at, (key, value) in enumerate(given.items(), 1):
        if key != str(at):
            raise UsageError(f"messages.{key}: they are numbered from 1, one after another.")
        try:
            found.append(Message(str(value["kind"]), int(value["channel"]), int(value["bytes"])))
        except (TypeError, ValueError, KeyError):
            raise UsageError(f"messages.{key}: kind, channel and bytes are expected.") from None
    return found


def _task(key: str, value: Any) -> RecordedTask:
    name, dash, number = key.rpartition("-")
    if not dash or not re.fullmatch(r"\d{1,12}", number):
        raise UsageError(f"tasks.{key}: a recorded task is called NAME-NUMBER.")
    if not isinstance(value, dict) or not isinstance(value.get("replay"), str):
        raise UsageError(f'tasks.{key}: "replay" is missing.')
    settings = {k: v for k, v in value.items() if k not in ("loop", "replay")}
    task = RecordedTask(int(number), name, value["replay"], settings)
    for _ in task.steps():
        pass
    return task
