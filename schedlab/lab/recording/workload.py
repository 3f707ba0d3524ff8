"""A workload file of a recording: rt-app's JSON, each task with the words of its replay.

docs/manual/recording.md describes it. `workloads/rt-app-replay.c` runs it.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from schedlab.base.errors import UsageError
from schedlab.base.files import parse_json
from schedlab.benchmarks.recorded_file import (
    one_line_each,
    read_workload_text,
    write_workload_text,
)

VERSION = 1
_T = TypeVar("_T")
WAIT, WAKE, START, SLEEP, GRID, ARRIVAL, DEVICE = "w", ">", "+", "s", "t", "@", "d"
SEND, RECEIVE = "m", "r"
LOCK, UNLOCK, BARRIER, YIELD = "l", "u", "b", "y"
PASS, OPEN = "g", "o"
JOIN = "j"
PUT, SERVE = "p", "q"
TAKE = "c"
"""Of an item, by a task of a pool; not in files, where SERVE stands for all of them."""
_BARE = (WAIT, YIELD)
"""Words without a number."""
WORDS: Mapping[str, str] = {
    "": "work of N ns",
    WAIT: "waits until another task wakes it",
    WAKE: "wakes task N",
    START: "starts task N",
    JOIN: "waits until task N has ended",
    SLEEP: "sleeps N ns",
    GRID: "sleeps to the next point of a grid of N ns",
    ARRIVAL: "waits for what arrives from outside, N ns after the start",
    DEVICE: "waits N ns for a device it has asked itself",
    SEND: "sends message N",
    RECEIVE: "receives as many bytes as message N has",
    LOCK: "takes lock N",
    UNLOCK: "gives lock N back",
    BARRIER: "waits at barrier N until all of its tasks are there",
    YIELD: "yields its CPU",
    PASS: "waits until gate N is open",
    OPEN: "opens gate N, for all that wait for it at once",
    PUT: "puts item N into its pool",
    SERVE: "takes items of pool N and does their words, until none is to come",
}
TIMER_SLACK = 50_000
"""ns by which the kernel lets a timer of a task that is not real-time end late (prctl(2),
PR_SET_TIMERSLACK): a replay's sleep gets it again."""
KINDS = ("pipe", "packets", "unix", "tcp", "udp")
"""Of messages."""
_REALTIME = ("SCHED_FIFO", "SCHED_RR", "SCHED_DEADLINE")
_LONGEST_NS = 86_400 * 10**9
_MOST_DIGITS = len(str(_LONGEST_NS))
_LONGEST_MESSAGE = 1 << 30
_MOST_POOLS = _MOST_LOCKS = 1_000_000
_MOST_THREADS = 10_000
_LONGEST_NAME = 40
_NAME = re.compile(rf"[^/\n]{{1,{_LONGEST_NAME}}}")
_LOCKS_AND_GATES = {LOCK: "locks", UNLOCK: "locks", PASS: "gates", OPEN: "gates"}
_NAMED = {SEND: "message", RECEIVE: "message", BARRIER: "barrier", PUT: "item", SERVE: "pool"}
"""What words name; others name tasks."""
_ONCE = {START: "task {} is started", PUT: "item {} is put", OPEN: "gate {} is opened"}
_MOST = (1 << 31) - 1
_SECTIONS = ("recorded", "global", "messages", "barriers", "items", "tasks")
_KEY = re.compile(r'\s*"([^"]+)"\s*:')
_DIGITS = "0123456789"


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
    """As in a task of rt-app: policy, priority, cpus, taskgroup, delay, instance; first_cpu and
    process."""

    @property
    def delay(self) -> int:
        """Return after how many us it comes."""
        return int(self.settings.get("delay", 0))

    @property
    def process(self) -> int:
        """Return the number of its process; 0: that of the task which starts it."""
        return int(self.settings.get("process", 0))

    @property
    def slack(self) -> int:
        """Return by how many ns its timers may end later."""
        return 0 if self.settings.get("policy") in _REALTIME else TIMER_SLACK

    @property
    def key(self) -> str:
        """Return its name in the file."""
        return f"{self.name}-{self.id}"

    def steps(self) -> Iterator[tuple[str, int]]:
        """Yield its words, as a letter and a number."""
        return read_words(self.words, f"tasks.{self.key}")


@dataclass(frozen=True)
class Item:
    """Work that any task of a pool does."""

    pool: int
    words: str


def read_words(words: str, where: str) -> Iterator[tuple[str, int]]:
    """Yield words as a letter and a number each.

    Raises:
        UsageError: one is none.
    """
    for word in words.split():
        letter, digits = ("", word) if word[0] in _DIGITS else (word[0], word[1:])
        fits = not digits if letter in _BARE else digits.isascii() and digits.isdigit()
        if not fits or letter not in WORDS:
            raise UsageError(f"{where}: '{word[:20]}' is not a word of a replay.")
        number = int(digits or 0) if len(digits) <= _MOST_DIGITS else _LONGEST_NS + 1
        if number > _LONGEST_NS:
            raise UsageError(f"{where}: '{word[:20]}': a time is longer than a day.")
        if letter == GRID and not number:
            raise UsageError(f"{where}: '{word[:20]}': a grid of 0 ns has no next point.")
        yield letter, number


def join_words(steps: Iterable[tuple[str, int]]) -> str:
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
        words.append(letter if letter in _BARE else f"{letter}{number}")
    if work:
        words.append(str(work))
    return " ".join(words)


def closed(words: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return words with the locks given back that are held at their end."""
    found = list(words)
    held: list[int] = []
    for letter, number in found:
        if letter == LOCK:
            held.append(number)
        elif letter == UNLOCK and number in held:
            held.remove(number)
    return [*found, *((UNLOCK, number) for number in reversed(held))]


@dataclass(frozen=True)
class RecordedWorkload:
    """What a file holds."""

    tasks: Sequence[RecordedTask]
    recorded: Mapping[str, Any]
    """Where it comes from: seconds, CPUs, waits by their cause, and notes."""
    messages: Sequence[Message] = ()
    """By the numbers that the words have, from 1, as the others are."""
    barriers: Sequence[int] = ()
    """How many tasks each waits for."""
    items: Sequence[Item] = ()

    def item_steps(self, number: int) -> Iterator[tuple[str, int]]:
        """Yield the words of an item, as those of a task."""
        return read_words(self.items[number - 1].words, f"items.{number}")

    def all_words(self) -> Iterator[str]:
        """Yield the words of each task, and of each item."""
        yield from (task.words for task in self.tasks)
        yield from (item.words for item in self.items)

    def named_steps(self, *letters: str) -> Iterator[tuple[str, Iterator[tuple[str, int]]]]:
        """Yield where the file has each task and item, and its steps.

        With letters, only of those that have one of these words: reading words takes long.
        """
        for task in self.tasks:
            if not letters or any(letter in task.words for letter in letters):
                yield f"tasks.{task.key}", task.steps()
        for at, item in enumerate(self.items, 1):
            if not letters or any(letter in item.words for letter in letters):
                yield f"items.{at}", self.item_steps(at)

    def edited(self, edit: Callable[[str, int], tuple[str, int]]) -> "RecordedWorkload":
        """Return it with each step of tasks and items as the edit returns it."""

        def words(steps: Iterable[tuple[str, int]]) -> str:
            return join_words(edit(letter, number) for letter, number in steps)

        tasks = [replace(task, words=words(task.steps())) for task in self.tasks]
        items = [
            replace(item, words=words(self.item_steps(at))) for at, item in enumerate(self.items, 1)
        ]
        return replace(self, tasks=tasks, items=items)

    def work(self) -> int:
        """Return the work of all tasks and items, ns."""
        return sum(ns for _, steps in self.named_steps() for letter, ns in steps if not letter)

    def highest(self, *letters: str) -> int:
        """Return the highest number that these words have."""
        numbers = (
            number
            for _, steps in self.named_steps(*letters)
            for letter, number in steps
            if letter in letters
        )
        return max(numbers, default=0)

    def write(self, path: Path) -> None:
        """Write the file, compressed if its name ends in .gz."""
        write_workload_text(path, one_line_each(self.document()))

    def document(self) -> dict[str, Mapping[str, Any]]:
        """Return what the file holds."""
        tasks = {
            task.key: {**task.settings, "loop": 1, "replay": task.words} for task in self.tasks
        }
        messages = {str(at): vars(message) for at, message in enumerate(self.messages, 1)}
        barriers = {str(at): size for at, size in enumerate(self.barriers, 1)}
        items = {
            str(at): {"pool": item.pool, "replay": item.words}
            for at, item in enumerate(self.items, 1)
        }
        shared: dict[str, Mapping[str, Any]]
        shared = {"messages": messages, "barriers": barriers, "items": items}
        return {
            "recorded": {"version": VERSION, **self.recorded},
            "global": {"duration": -1, "calibration": 1},
            **{key: value for key, value in shared.items() if value},
            "tasks": tasks,
        }


def read_workload(path: Path) -> RecordedWorkload:
    """Read a workload file of a recording.

    Raises:
        UsageError: it cannot be read, or it is not such a file; file and key are named.
    """
    text = read_workload_text(path)
    document = parse_json(text, path)
    try:
        return _workload(document)
    except UsageError as error:
        raise UsageError(f"{path}{_line_of(str(error), text)}: {error}") from None


def _line_of(error: str, text: str) -> str:
    """Return the line of the member that an error is about, as `:12`; empty: none has a line."""
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = _KEY.match(line)
        if not found:
            continue
        if found[1] in _SECTIONS:
            section = found[1]
        elif error.startswith((f"{section}.{found[1]}:", f"{section}.{found[1]}.")):
            return f":{number}"
    return ""


def checked(made: RecordedWorkload) -> RecordedWorkload:
    """Return a workload as it is read back from its file.

    Raises:
        UsageError: it would be refused.
    """
    return _workload(made.document())


def _workload(document: Any) -> RecordedWorkload:
    recorded = document.get("recorded") if isinstance(document, dict) else None
    if not isinstance(recorded, dict) or not isinstance(document.get("tasks"), dict):
        raise UsageError('"recorded" and "tasks" are expected; it is not a recording.')
    version = recorded.get("version")
    if version != VERSION:
        raise UsageError(f"recorded.version is {version!r}; this schedlab reads {VERSION}.")
    tasks = [_task(key, value) for key, value in document["tasks"].items()]
    about = {key: value for key, value in recorded.items() if key != "version"}
    _check_about(about)
    messages = _numbered(
        *(document, "messages", "kind, channel and bytes are expected"),
        lambda v: Message(
            *(_one_of(v["kind"], KINDS), _whole(v["channel"], 1, _MOST)),
            _whole(v["bytes"], 1, _LONGEST_MESSAGE),
        ),
    )
    barriers = _numbered(
        document, "barriers", "a number of tasks is expected", lambda v: _whole(v, 1, _MOST)
    )
    items = _numbered(
        *(document, "items", "pool and replay are expected"),
        lambda v: Item(_whole(v["pool"], 1, _MOST_POOLS), str(v["replay"])),
    )
    made = RecordedWorkload(tasks, about, messages, barriers, items)
    _check_runs(made)
    _check_words(made)
    return made


def _whole(value: Any, least: int, most: int) -> int:
    """Return a whole number within bounds; ValueError if it is none."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError
    return value


def _one_of(value: Any, words: Sequence[str]) -> str:
    if value not in words:
        raise ValueError
    return str(value)


def _check_about(about: Mapping[str, Any]) -> None:
    """Refuse what is not of the type that `show` and `merge` expect."""
    if not _is_number(about.get("seconds", 0)):
        raise UsageError("recorded.seconds: a number is expected.")
    if not _is_number(about.get("waited", 0)):
        raise UsageError("recorded.waited: a number is expected.")
    if not isinstance(about.get("notes", []), list):
        raise UsageError("recorded.notes: a list is expected.")
    waits = about.get("waits", {})
    for cause, found in waits.items() if isinstance(waits, dict) else ():
        figures = found if isinstance(found, dict) else {}
        if type(figures.get("count")) is not int or not _is_number(figures.get("share_of_time")):
            raise UsageError(f"recorded.waits.{cause}: count and share_of_time are expected.")
    _check_counted(about.get("counted"))


def _check_counted(counted: Any) -> None:
    for group, found in counted.items() if isinstance(counted, dict) else ():
        sums = found if isinstance(found, dict) else {}
        known = [sums.get("seconds"), sums.get("instructions"), sums.get("cycles", 0)]
        if not all(type(each) in (int, float) and 0 <= each < 1 << 63 for each in known):
            raise UsageError(
                f"recorded.counted.{group}: seconds, instructions and maybe cycles are expected."
            )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _MOST


def _check_runs(made: RecordedWorkload) -> None:
    """Refuse what no run would take (workloads/rt-app-file.c, rt-app-replay-file.c)."""
    numbers: set[int] = set()
    for task in made.tasks:
        if task.id in numbers:
            raise UsageError(f"tasks.{task.key}: another task has the same number.")
        numbers.add(task.id)
        if not _NAME.fullmatch(task.key):
            raise UsageError(
                f"tasks.{task.key}: a task's name has 1 to {_LONGEST_NAME} characters and no /."
            )
    begin = sum(1 for task in made.tasks if task.settings.get("instance", 1))
    if not begin:
        raise UsageError("tasks: no task begins: one that none starts has no instance 0.")
    if begin > _MOST_THREADS:
        raise UsageError(f"tasks: {begin} are more than {_MOST_THREADS}, the most that run.")
    _check_channels(made)


def _check_channels(made: RecordedWorkload) -> None:
    kinds: dict[int, str] = {}
    for at, message in enumerate(made.messages, 1):
        if kinds.setdefault(message.channel, message.kind) != message.kind:
            raise UsageError(
                f"messages.{at}: channel {message.channel} is of another kind in a message before."
            )


def _check_words(made: RecordedWorkload) -> None:
    """Refuse what is not a word, what the file does not have, and what comes twice.

    All in one pass, as reading words takes long.
    """
    messages = range(1, len(made.messages) + 1)
    tasks = {task.id for task in made.tasks}
    known: dict[str, Container[int]] = {SEND: messages, RECEIVE: messages}
    known[BARRIER] = range(1, len(made.barriers) + 1)
    known[PUT] = range(1, len(made.items) + 1)
    known[SERVE] = {item.pool for item in made.items}
    known |= dict.fromkeys((WAKE, START, JOIN), tasks)
    known |= dict.fromkeys(_LOCKS_AND_GATES, range(1, _MOST_LOCKS + 1))
    once: dict[str, set[int]] = {PUT: set(), OPEN: set()}
    once[START] = {task.id for task in made.tasks if task.settings.get("instance", 1)}
    for where, steps in made.named_steps():
        of_item = where.startswith("items.")
        for letter, number in steps:
            if letter in known and number not in known[letter]:
                raise UsageError(f"{where}: {_unknown(letter, number)}")
            if letter in once:
                if number in once[letter]:
                    raise UsageError(f"{_ONCE[letter].format(number)} more than once.")
                once[letter].add(number)
            if of_item and letter in (WAIT, SERVE):
                raise UsageError(f"{where}: an item belongs to no task, so it has no w and no q.")


def _unknown(letter: str, number: int) -> str:
    """Return what is wrong with a word that names what the file does not have."""
    what = _LOCKS_AND_GATES.get(letter)
    if what:
        return f"'{letter}{number}': {what} have numbers from 1 to {_MOST_LOCKS}."
    return (
        f"the word '{letter}{number}' names a {_NAMED.get(letter, 'task')} that the file does not"
        " have.\n  Take the word out, or `schedlab workload trim --tasks` the file it is from,"
        " which leaves no such words."
    )


def _numbered(document: Any, name: str, expected: str, read: Callable[[Any], _T]) -> list[_T]:
    given = document.get(name, {})
    if not isinstance(given, dict):
        raise UsageError(f"{name}: an object is expected.")
    found = []
    for at, (key, value) in enumerate(given.items(), 1):
        if key != str(at):
            raise UsageError(f"{name}.{key}: they are numbered from 1, one after another.")
        try:
            found.append(read(value))
        except (TypeError, ValueError, KeyError):
            raise UsageError(f"{name}.{key}: {expected}.") from None
    return found


def _task(key: str, value: Any) -> RecordedTask:
    name, dash, number = key.rpartition("-")
    if not dash or not re.fullmatch(r"\d{1,12}", number):
        raise UsageError(f"tasks.{key}: a recorded task is called NAME-NUMBER.")
    if not isinstance(value, dict) or not isinstance(value.get("replay"), str):
        raise UsageError(f'tasks.{key}: "replay" is missing.')
    if value.get("loop", 1) != 1:
        raise UsageError(f'tasks.{key}: a replay is done once, so that "loop" is 1.')
    try:
        _whole(value.get("delay", 0), 0, _LONGEST_NS // 1000)
    except ValueError:
        raise UsageError(f"tasks.{key}.delay: a time in us, up to a day, is expected.") from None
    try:
        _whole(value.get("first_cpu", 0), 0, _MOST)
    except ValueError:
        raise UsageError(f"tasks.{key}.first_cpu: the number of a CPU is expected.") from None
    try:
        _whole(value.get("process", 1), 1, _MOST)
    except ValueError:
        raise UsageError(f"tasks.{key}.process: a number from 1 is expected.") from None
    settings = {k: v for k, v in value.items() if k not in ("loop", "replay")}
    return RecordedTask(int(number), name, value["replay"], settings)
