"""rt-app's JSON: what its own readers take beyond JSON, made strict for the real program.

rt-app's reader takes comments and a comma before a closing bracket, its preprocessor workgen
repeated keys and keys without a value.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.recorded_file import read_workload_text
from schedlab.benchmarks.replay import (
    Recording,
    given_time_of,
    kind_of_replay,
    longest_sleep,
    notes_of,
)

_TOKEN = re.compile(
    r'(?P<string>"(?:\\.|[^"\\\n])*")|(?P<none>//[^\n]*|/\*.*?\*/|\s+)|(?P<sign>.)', re.DOTALL
)
_EVENTS = (
    *("run", "runtime", "sleep", "timer", "lock", "unlock", "wait", "signal", "broad", "sync"),
    *("barrier", "suspend", "resume", "yield", "mem", "iorun", "fork", "sem_post", "sem_wait"),
    "replay",
)
"""What an event's key begins with."""
_PROPERTIES = (
    *(
        "instance",
        "delay",
        "first_cpu",
        "process",
        "policy",
        "priority",
        "dl-runtime",
        "dl-deadline",
        "dl-period",
    ),
    *("util_min", "util_max", "cpus", "nodes_membind", "taskgroup"),
)
_NOT_FOR_US = ("logdir", "log_size", "ftrace", "gnuplot")
_SHOWN = 15
"""Characters of a thread's name that the kernel keeps."""
_LATER = re.compile(r"fork|slice$|util_min$|util_max$|taskgroup$|nodes_membind$")


_BEGINS = re.compile(r"(?:^| )[st@]\d")
_SERVES = re.compile(r"(?:^| )q(\d+)")
_CLASSES = 8
"""Of requests, at most, each with metrics of its own."""
FEWEST_REQUESTS = 100
"""Of a run, for a figure of them: of fewer, the 99th percentile is the longest one itself, and one
that comes late moves the mean by more than a hundredth of its own time."""


class Object(list[tuple[str, Any]]):
    """A JSON object: its members in order, keys may repeat."""

    def get(self, key: str) -> Any:
        """Return the last value of a key, or None."""
        return dict(self).get(key)


class RtAppFile:
    """A workload file of the user's."""

    def __init__(self, path: str) -> None:
        """Read it.

        Raises:
            UsageError: it cannot be read or is not rt-app's JSON; file and line are named.
        """
        self.path = path
        self.text = read_workload_text(Path(path))
        self._root = self._load()
        for place, key in self._members():
            if not key.startswith(_EVENTS) and key not in (*_PROPERTIES, "loop", "phases"):
                line = self.text[: max(self.text.find(f'"{key}"'), 0)].count("\n") + 1
                hint = nearest(key, (*_EVENTS, *_PROPERTIES))
                raise UsageError(f"{path}:{line}: {place}.{key}: unknown key.{hint}")

    def is_plain(self) -> bool:
        """Return whether the file has the text as it is, not packed or summarised."""
        return Path(self.path).read_bytes() == self.text.encode()

    def _load(self) -> Object:
        try:
            try:
                root = json.loads(self.text, object_pairs_hook=Object)
            except json.JSONDecodeError:  # what follows is slow, and recordings are long
                root = json.loads(_strict(self.text), object_pairs_hook=Object)
        except json.JSONDecodeError as error:
            raise UsageError(f"{self.path}:{error.lineno}: is not JSON: {error.msg}.") from None
        except ValueError as error:  # a number of thousands of digits
            raise UsageError(f"{self.path}: {error}.") from None
        except RecursionError:
            raise UsageError(f"{self.path}: brackets are nested too deep.") from None
        if not isinstance(root, Object) or not _is(root.get("tasks")):
            raise UsageError(f'{self.path}: an object with "tasks" is expected.')
        return root

    def has(self, event: str) -> bool:
        """Return whether any task has an event of that name; `runtime` is not `run`."""
        return any(
            key.startswith(event) and (event != "run" or not key.startswith("runtime"))
            for _, key in self._members()
        )

    def replay_kind(self) -> str:
        """Return the kind of the recorded workload (schedlab/benchmarks/replay.py); empty: none."""
        words = [words for _, words in [*self._replays(), *self._items()]]
        return kind_of_replay(words) if words else ""

    def recording(self) -> Recording:
        """Return what a report has to say of the recording that is replayed."""
        asleep, sleeper = longest_sleep(self._replays())
        about = self._root.get("recorded")
        about = dict(about) if _is(about) else {}
        probe = about.get("probe")
        probe = probe if isinstance(probe, bool) else None
        return Recording(asleep, sleeper, notes_of(about), probe, given_time_of(about))

    def request_classes(self) -> tuple[bool, list[str]]:
        """Return whether a replay has enough requests, and the names of the tasks that begin them.

        Sleeps and arrivals begin requests. The names are of those that begin enough of them, where
        tasks of several names begin any.

        A number in a name is one star, and the name's own number is left out, as in the result.
        What items begin counts for all tasks that may take them.
        """
        counts: dict[str, int] = {}
        within: dict[str, int] = {}
        for pool, words in self._items():
            within[pool] = within.get(pool, 0) + len(_BEGINS.findall(words))
        for name, words in self._replays():
            number = len(_BEGINS.findall(words))
            number += sum(within.get(pool, 0) for pool in _SERVES.findall(words))
            if number:
                group = re.sub(r"\d+", "*", name.rpartition("-")[0])
                counts[group] = counts.get(group, 0) + number
        most = sorted(counts, key=lambda group: -counts[group])[:_CLASSES]
        named = [name for name in most if counts[name] >= FEWEST_REQUESTS]
        return sum(counts.values()) >= FEWEST_REQUESTS, named if len(counts) > 1 else []

    def works(self) -> bool:
        """Return whether a task or item of a replay works at all."""
        return any(
            re.search(r"(?:^| )\d", words) for _, words in [*self._replays(), *self._items()]
        )

    def hands_over(self) -> bool:
        """Return whether tasks of a replay wait for each other's wakes, or for items of pools."""
        return any(re.search(r"(?:^| )(?:w|q\d+)(?: |$)", words) for _, words in self._replays())

    def _replays(self) -> Iterator[tuple[str, str]]:
        for name, task in self._root.get("tasks"):
            for key, value in task if _is(task) else ():
                if key == "replay":
                    yield name, str(value)

    def _items(self) -> Iterator[tuple[str, str]]:
        """Yield the pool and the words of each item."""
        items = self._root.get("items")
        for _, item in items if _is(items) else ():
            if _is(item):
                yield str(item.get("pool")), str(item.get("replay"))

    def calibrates(self) -> bool:
        """Return whether rt-app is left to measure its loop before each run."""
        settings = self._root.get("global")
        return not isinstance(settings.get("calibration") if _is(settings) else None, int)

    def later_keys(self) -> list[str]:
        """Return the keys that rt-app 1.0 does not know and passes over."""
        return sorted({key for _, key in self._members() if _LATER.match(key)})

    def values(self, thread: str, key: str) -> list[Any]:
        """Return the values of a key in tasks whose threads have a name, and in their phases.

        Args:
            thread: the name as the kernel shows it, which may be shorter than the task's.
            key: a property, such as `taskgroup`.
        """
        found = []
        for name, task in self._root.get("tasks"):
            if not (name == thread or (len(thread) == _SHOWN and name.startswith(thread))):
                continue
            if not _is(task):
                continue
            phases = task.get("phases")
            within = [phase for _, phase in phases] if _is(phases) else []
            for members in filter(_is, [task, *within]):
                found += [value for at, value in members if at == key]
        return found

    def as_written(self) -> Enclosure:
        """Return the file as it is."""
        return Enclosure(self._name(), self.text, self.path)

    def for_rt_app(self) -> Enclosure:
        """Return strict JSON that every rt-app reads alike; logs go to the folder it runs in."""
        settings = self._root.get("global") or []
        kept = [(key, value) for key, value in settings if key not in _NOT_FOR_US]
        tasks = [(name, _task(name, task)) for name, task in self._root.get("tasks")]
        whole = Object([("global", Object([*kept, ("logdir", ".")])), ("tasks", Object(tasks))])
        return Enclosure(self._name(), json.dumps(_unique(whole), indent=1), self.path)

    def _members(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of all tasks and phases, each with its place."""
        for name, task in self._root.get("tasks"):
            place = f"tasks.{name}"
            for key, value in task if _is(task) else ():
                yield place, key
                for phase_name, phase in value if key == "phases" and _is(value) else ():
                    within = f"{place}.phases.{phase_name}"
                    yield from ((within, key) for key, _ in (phase if _is(phase) else ()))

    def _name(self) -> str:
        """Return a name that changes with the content, so that every command line shows it."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        path = Path(self.path)
        if path.suffix == ".gz":
            path = path.with_suffix("")
        stem = re.sub(r"[^\w.-]", "_", path.stem)
        return f"{stem}-{digest}{'.slw' if path.suffix == '.slw' else '.json'}"


def _is(value: Any) -> bool:
    return isinstance(value, Object)


def _strict(text: str) -> str:
    """Drop comments and spare commas, set keys without a value to null; lines stay."""
    tokens = [_without_comment(match) for match in _TOKEN.finditer(text)]
    solid = [at for at, token in enumerate(tokens) if not token.isspace()]
    inside: list[str] = []
    before = ""
    for place, at in enumerate(solid):
        token = tokens[at]
        after = tokens[solid[place + 1]] if place + 1 < len(solid) else ""
        if token in ("{", "["):
            inside.append(token)
        elif token in ("}", "]"):
            del inside[-1:]
        elif token == "," and after in ("}", "]"):
            tokens[at] = ""
        elif inside[-1:] == ["{"] and before in ("{", ",") and after in (",", "}"):
            tokens[at] = f"{token}:null"
        before = token
    return "".join(tokens)


def _without_comment(match: re.Match[str]) -> str:
    return re.sub(r"\S", " ", match[0]) if match["none"] else match[0]


def _task(name: str, task: Any) -> Any:
    """Name what suspends; put a task's own loop into a phase, since rt-app 1.0 passes over it."""
    if not _is(task):
        return task
    loop = task.get("loop")
    if task.get("phases") is not None:
        phases = Object((key, _named(name, phase)) for key, phase in task.get("phases"))
        return Object((key, phases if key == "phases" else value) for key, value in task)
    if not isinstance(loop, int) or loop < 1:
        return _named(name, task)
    kept = [(key, value) for key, value in task if key in _PROPERTIES]
    moved = Object((key, value) for key, value in task if key not in _PROPERTIES)
    return Object([*kept, ("loop", 1), ("phases", Object([("phase", _named(name, moved))]))])


def _named(name: str, members: Any) -> Any:
    """Return a suspend without a name its task's, a yield the empty one."""
    if not _is(members):
        return members
    return Object((key, _value(name, key, value)) for key, value in members)


def _value(name: str, key: str, value: Any) -> Any:
    if value not in (None, ""):
        return value
    return name if key.startswith("suspend") else ""


def _unique(value: Any) -> Any:
    """Number repeated keys, as workgen does."""
    if not _is(value):
        return value
    members: dict[str, Any] = {}
    for key, below in value:
        free, number = key, 0
        while free in members:
            number += 1
            free = f"{key}{number}"
        members[free] = _unique(below)
    return members
