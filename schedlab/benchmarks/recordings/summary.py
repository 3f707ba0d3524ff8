"""Summarised workloads: which words tasks have, in their order, and how long times are.

The words of a recording are mostly the same few again and again; what differs are its times. So a
summary keeps all words without the times, packed, and of the times the distribution of each class:
those of tasks of one name, of one word, before one other word. Expanded, each time is drawn from
its class; the sum of a class is that of the recording.
"""

import base64
import binascii
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.base.errors import UsageError

VERSION = 1
_TIMED = ("", "s", "d", "@")
"""Words whose numbers are times: work, sleeps, waits for devices, arrivals."""
_KEPT = "t"
"""A timer's period, of which there are few."""
_BARE = ("w", "y")
_PUT = "p"
_WORK = "."
"""How the text of all words has work."""
_POINTS = 33
"""Of a distribution, least and most included."""
_SEED = 1
_LONGEST = 86_400 * 10**9
_WORD = re.compile(r"([a-z>+@]?)(\d*)")
_PACKED = re.compile(r"([a-z>+@.])(-?\d*)")

Step = tuple[str, int]


class _Class(NamedTuple):
    """Times that are alike."""

    of: str
    """The name of the tasks that have it, numbers aside."""
    word: str
    before: str
    """The next word; empty: work, or none."""


Numbers = NDArray[np.int64]


def summarised(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a workload, as JSON has both; of one that is known to be valid."""
    times: dict[_Class, list[int]] = {}
    lines = []
    for name, words in _lines(document):
        steps = list(_steps(words))
        for each, number in _times(name, steps):
            times.setdefault(each, []).append(number)
        lines.append(steps)
    first = len(document["tasks"])
    pools = [item["pool"] for item in document.get("items", {}).values()]
    text = _text(lines[:first], pools, lines[first:])
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    summary = {
        "version": VERSION,
        "times": [_distribution(each, np.array(times[each])) for each in sorted(times)],
        "words": base64.b64encode(packed).decode(),
    }
    tasks = {name: {**task, "replay": ""} for name, task in document["tasks"].items()}
    kept = {key: value for key, value in document.items() if key not in ("items", "tasks")}
    return {**kept, "summary": summary, "tasks": tasks}


def expanded(document: Mapping[str, Any], name: str, most: int) -> dict[str, Any]:
    """Return a workload with all words, of its summary.

    Args:
        document: the file's.
        name: its name, for messages.
        most: bytes of the unpacked words, at most.

    Raises:
        UsageError: it is not such a summary.
    """
    try:
        return _expanded(document, most)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, lzma.LZMAError) as error:
        raise UsageError(f"{name}: summary: is damaged, or of another version: {error}.") from None


def _lines(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield for each task, and then each item, the name that its times go by, and its words."""
    served: dict[int, str] = {}
    for key, task in document["tasks"].items():
        name = _group(key)
        yield name, task["replay"]
        for pool in re.findall(r"(?:^| )q(\d+)", task["replay"]):
            served.setdefault(int(pool), name)
    for item in document.get("items", {}).values():
        yield f"item of {served.get(item['pool'], '')}", item["replay"]


def _group(key: str) -> str:
    return re.sub(r"\d+", "*", key.rpartition("-")[0])


def _steps(words: str) -> Iterator[Step]:
    for word in words.split():
        found = _WORD.fullmatch(word)
        if not found:
            raise ValueError(f"'{word[:20]}' is not a word")
        yield found[1], int(found[2] or 0)


def _times(name: str, steps: Sequence[Step]) -> Iterator[tuple[_Class, int]]:
    """Yield the times of a task or item; of arrivals the time from one to the next."""
    arrival = 0
    for at, (letter, number) in enumerate(steps):
        if letter not in _TIMED:
            continue
        following = steps[at + 1][0] if at + 1 < len(steps) else ""
        if letter == "@":
            number, arrival = number - arrival, number
        yield _Class(name, letter, following), number


# ------------------------------------------------------------------ distributions


def _distribution(each: _Class, times: Numbers) -> dict[str, Any]:
    points = np.quantile(times, np.linspace(0, 1, min(_POINTS, len(times))))
    whole = {"count": len(times), "sum": int(times.sum())}
    return {**each._asdict(), **whole, "quantiles": np.rint(points).astype(np.int64).tolist()}


def _drawn(row: Mapping[str, Any], number: int, draw: np.random.Generator) -> list[int]:
    """Return so many times of a distribution; their sum is its part of the recorded one."""
    points = np.array(row["quantiles"], np.float64)
    if not len(points) or points.max() > _LONGEST or points.min() < -_LONGEST:
        raise ValueError("times are expected")
    found = np.interp(draw.random(number), np.linspace(0, 1, len(points)), points)
    asked = float(row["sum"]) * number / max(int(row["count"]), 1)
    if asked > 0 and found.sum() > 0:
        found *= asked / found.sum()
    times: list[int] = np.rint(np.clip(found, -_LONGEST, _LONGEST)).astype(np.int64).tolist()
    return times


# ------------------------------------------------------------------ words without times


def _text(
    tasks: Sequence[Sequence[Step]], pools: Sequence[int], items: Sequence[Sequence[Step]]
) -> str:
    """Return a line for each task, and for each item, which begins with its pool.

    Items stand in the order in which the lines put them, so that no number is needed. Another
    number is the difference to the last one of the same letter in the task, or in the items of the
    pool: so what is the same again and again looks the same.
    """
    found = [_packed(steps, {}) for steps in tasks]
    order = [number for steps in tasks for letter, number in steps if letter == _PUT]
    known = set(order)
    rest = iter(range(1, len(items) + 1))
    last: dict[int, dict[str, int]] = {}
    for at in range(len(items)):
        if at == len(order):
            order.append(next(number for number in rest if number not in known))
            known.add(order[-1])
        steps, pool = items[order[at] - 1], pools[order[at] - 1]
        found.append(f"{pool} {_packed(steps, last.setdefault(pool, {}))}")
        more = [number for letter, number in steps if letter == _PUT]
        order += more
        known.update(more)
    return "\n".join(found)


def _packed(steps: Iterable[Step], last: dict[str, int]) -> str:
    words = []
    for letter, number in steps:
        if letter in _TIMED:
            words.append(letter or _WORK)
        elif letter in (*_BARE, _PUT):
            words.append(letter)
        elif letter == _KEPT:
            words.append(f"{letter}{number}")
        else:
            words.append(f"{letter}{number - last.get(letter, 0)}")
            last[letter] = number
    return " ".join(words)


def _unpacked(words: str, last: dict[str, int], puts: Iterator[int]) -> list[Step]:
    steps = []
    for word in words.split():
        found = _PACKED.fullmatch(word)
        if not found:
            raise ValueError(f"'{word[:20]}' is not a word")
        letter, number = found[1], int(found[2] or 0)
        if letter == _WORK:
            letter = ""
        elif letter == _PUT:
            number = next(puts)
        elif letter not in (*_TIMED, *_BARE, _KEPT):
            number += last.get(letter, 0)
            last[letter] = number
        steps.append((letter, number))
    return steps


def _expanded(document: Mapping[str, Any], most: int) -> dict[str, Any]:
    summary = document["summary"]
    if summary["version"] != VERSION:
        raise ValueError(f"version {summary['version']!r}; {VERSION} is expected")
    unpack = lzma.LZMADecompressor(memlimit=most)
    try:
        content = unpack.decompress(base64.b64decode(summary["words"]), max_length=most)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if not unpack.eof:
        raise ValueError("its words are cut off, or too long")
    lines = content.decode().split("\n")
    keys = list(document["tasks"])
    puts = count(1)
    steps = [_unpacked(line, {}, puts) for line in lines[: len(keys)]]
    if len(steps) != len(keys):
        raise ValueError("a line for each task is expected")
    pools = []
    last: dict[int, dict[str, int]] = {}
    for line in lines[len(keys) :]:
        pool, _, words = line.partition(" ")
        pools.append(int(pool))
        steps.append(_unpacked(words, last.setdefault(pools[-1], {}), puts))
    names = _names(keys, pools, steps)
    words_of = _filled(names, steps, summary["times"])
    tasks = {
        key: {**document["tasks"][key], "replay": words}
        for key, words in zip(keys, words_of, strict=False)
    }
    items = {
        str(at): {"pool": pool, "replay": words}
        for at, (pool, words) in enumerate(zip(pools, words_of[len(keys) :], strict=True), 1)
    }
    kept = {key: value for key, value in document.items() if key not in ("summary", "tasks")}
    return {**kept, **({"items": items} if items else {}), "tasks": tasks}


def _names(keys: Sequence[str], pools: Sequence[int], steps: Sequence[list[Step]]) -> list[str]:
    served: dict[int, str] = {}
    for key, own in zip(keys, steps, strict=False):
        for letter, number in own:
            if letter == "q":
                served.setdefault(number, _group(key))
    return [*map(_group, keys), *(f"item of {served.get(pool, '')}" for pool in pools)]


def _filled(
    names: Sequence[str], steps: Sequence[list[Step]], rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the words of all lines, with times."""
    known = {_Class(row["of"], row["word"], row["before"]): row for row in rows}
    classes = [[each for each, _ in _times(*line)] for line in zip(names, steps, strict=True)]
    counts: dict[_Class, int] = {}
    for every in classes:
        for each in every:
            counts[each] = counts.get(each, 0) + 1
    draw = np.random.default_rng(_SEED)
    drawn = {each: iter(_drawn(known[each], counts[each], draw)) for each in sorted(counts)}
    found = []
    for own, every in zip(steps, classes, strict=True):
        times = iter(every)
        arrival = 0
        words = []
        for letter, number in own:
            if letter in _TIMED:
                number = next(drawn[next(times)])
                if letter == "@":
                    arrival = number = max(0, arrival + number)
                words.append(f"{letter}{max(0, number)}")
            else:
                words.append(letter if letter in _BARE else f"{letter}{number}")
        found.append(" ".join(words))
    return found
