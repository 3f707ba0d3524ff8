"""A metric of the user's own: what it is, and where it stands in what a program prints.

Where is an expression with one group, or a path into JSON. On the command line all of it is one
text: `throughput: ([0-9.]+) req/s higher`, or `json:results.p99 us lower`.
"""

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from schedlab.base.errors import IncompleteRun, UsageError, nearest
from schedlab.base.printable import printable
from schedlab.base.validation import Data
from schedlab.benchmarks.benchmark import Output, Values
from schedlab.benchmarks.matching import MOST, TooSlow, find
from schedlab.benchmarks.metric import Better, Metric

EXAMPLE = "--metric 'throughput: ([0-9.]+) req/s higher'"
_JSON = "json:"
_ENDING = re.compile(r"(?P<rest>.*?)(?:\s+(?P<better>higher|lower))?\s*", re.DOTALL)
_UNIT = re.compile(r"(?P<where>.*\S)\s+(?P<unit>[^\s()\[\]{}\\|*+?^$\"']+)", re.DOTALL)
_STEP = re.compile(
    r'(?:(?<!^)\.|^)(?P<key>[^.\[\]"\s]+)|\[(?P<at>[0-9]{1,9})\]|\["(?P<any>[^"]+)"\]'
)
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"[^\W_](?:[\w .,:/%+-]*\S)?")
_LONGEST_NAME, _LONGEST_UNIT, _LONGEST_WHERE = 60, 30, 1_000
_SHOWN = 200
"""Characters of a program's output that a message quotes."""


def _expression(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what an expression may mean in a later Python
            groups = re.compile(text, re.MULTILINE).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"'{text}' is not a regular expression: {error}") from None
    if groups != 1:
        wrong = "has no group" if not groups else f"has {groups} groups"
        raise ValueError(
            f"'{text}' {wrong}; put parentheses around the number alone, such as"
            " 'throughput: ([0-9.]+)', and write others as (?:...)"
        )
    return text


def _path(text: str) -> str:
    list(_steps(text))
    return text


def _steps(path: str) -> Iterator[str | int]:
    """Yield the keys and places of a path such as `results[0].latency.p99` or `["a b"].c`."""
    at = 0
    while at < len(path) or not path:
        step = _STEP.match(path, at)
        if not step:
            raise ValueError(
                f"'{path}' is not a path into JSON (at '{path[at:]}'); write it as results.p99,"
                ' results[0].p99 or ["a key with blanks"].p99'
            )
        yield int(step["at"]) if step["at"] else step["key"] or step["any"]
        at = step.end()


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"'{text}' is not a metric's name; use letters, digits, blanks and _ . , : / % + -"
        )
    return text


def _unit(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError(f"{text!r} is not a unit; write it as req/s, MB/s or us")
    return text


class OwnMetric(Data, serialize_by_alias=True):
    """A figure of a command's output."""

    name: Annotated[str, Field(max_length=_LONGEST_NAME), AfterValidator(_name)]
    regex: Annotated[str, Field(max_length=_LONGEST_WHERE), AfterValidator(_expression)] | None = (
        None
    )
    """Matches once in what is printed; its group is the figure."""
    path: Annotated[str, Field(max_length=_LONGEST_WHERE), AfterValidator(_path)] | None = Field(
        default=None, alias="json"
    )
    """Where the figure is in the JSON that is printed."""
    unit: Annotated[str, Field(min_length=1, max_length=_LONGEST_UNIT), AfterValidator(_unit)]
    better: Better

    @model_validator(mode="before")
    @classmethod
    def _asked_for(cls, data: Any) -> Any:
        """Ask for a unit and a direction, with an example."""
        if isinstance(data, dict):
            missing = [
                f"{key} = {value}"
                for key, value in (("unit", '"req/s"'), ("better", '"higher" or "lower"'))
                if key not in data
            ]
            if missing:
                raise ValueError(f"add {' and '.join(missing)}: a report has to know it")
        return data

    @model_validator(mode="after")
    def _one_place(self) -> "OwnMetric":
        if (self.regex is None) == (self.path is None):
            raise ValueError(
                "either regex or json says where the figure is, such as"
                " regex = 'throughput: ([0-9.]+)' or json = \"results.throughput\""
            )
        return self

    @property
    def metric(self) -> Metric:
        """Return what reports and verdicts know of it."""
        return Metric(self.name, self.unit, self.better, f"{self.name} ({self.unit})")


def parse_metric(text: str) -> dict[str, str]:
    """Read `REGEX UNIT DIRECTION` or `json:PATH UNIT DIRECTION` into the table of a plan.

    The metric is called what stands before the group, or the last key of the path.

    Raises:
        UsageError: the unit or the direction is missing.
    """
    ending = _ENDING.fullmatch(text)
    assert ending
    rest, better = ending["rest"].strip(), ending["better"]
    united = _UNIT.fullmatch(rest)
    missing = [] if united else ["its unit"]
    missing += [] if better else ["whether higher or lower is better"]
    if not united or not better:
        raise UsageError(f"--metric '{text}': add {' and '.join(missing)}, such as {EXAMPLE}.")
    where = united["where"]
    given = {"unit": united["unit"], "better": better}
    if where.startswith(_JSON):
        path = where.removeprefix(_JSON).strip()
        keys = re.findall(r"[^\W_][\w-]*", path)
        return {"name": keys[-1] if keys else "value", "json": path, **given}
    return {"name": _called(where), "regex": where, **given}


def _called(regex: str) -> str:
    """Return the words of an expression before its group, or else those after it."""
    plain = re.sub(r"\[[^\]]*\]|\{[^}]*\}", " ", re.sub(r"\\.", " ", regex))
    before, _, after = plain.partition("(")
    for part in (before, after.rpartition(")")[2]):
        if words := re.findall(r"[^\W_][\w-]*", part):
            return "-".join(words)[:_LONGEST_NAME]
    return "value"


def read(metrics: Sequence[OwnMetric], output: Output) -> Values:
    """Return the figures in what a program printed.

    Raises:
        IncompleteRun: one is not there, there several times, or is not a finite number.
    """
    by_regex = [metric for metric in metrics if metric.regex]
    values = dict(zip(by_regex, _matched(by_regex, output), strict=True))
    by_path = [metric for metric in metrics if metric.path]
    document = _document(output) if by_path else None
    values |= {metric: _at_path(metric, document) for metric in by_path}
    return {metric.metric: values[metric] for metric in metrics}


def _matched(metrics: Sequence[OwnMetric], output: Output) -> Iterator[float]:
    if not metrics:
        return
    text = f"{output.stdout}\n{output.stderr}"
    try:
        found = find([metric.regex or "" for metric in metrics], text)
    except TooSlow as slow:
        metric = metrics[slow.at]
        raise IncompleteRun(
            f"{metric.name}: to match '{metric.regex}' takes {slow} on {len(text):,} characters;"
            " avoid repetitions of repetitions: write (a+)+ as (a+)"
        ) from None
    for metric, figures in zip(metrics, found, strict=True):
        if not figures:
            raise IncompleteRun(
                f"{metric.name}: '{metric.regex}' matches nothing in what was printed"
                f" ({_printed(output)})"
            )
        if len(figures) > 1:
            times = "more than 8" if len(figures) == MOST else f"{len(figures)}"
            raise IncompleteRun(
                f"{metric.name}: '{metric.regex}' matches {times} times"
                f" ({printable(', '.join(figures)[:_SHOWN])}); one is expected: make it match"
                " more of its line, or print less"
            )
        yield _number(metric, figures[0])


def _printed(output: Output) -> str:
    """Return the last of what a program printed, for a message."""
    for name, text in (("standard output", output.stdout), ("standard error", output.stderr)):
        if end := text.strip():
            cut = "... " if len(end) > _SHOWN else ""
            return f"{name}: {cut}{printable(end[-_SHOWN:])}"
    return "nothing"


def _document(output: Output) -> Any:
    """Return the JSON on standard output: all of it, or its last line."""
    text = output.stdout.strip()
    for part in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(part)
        except (ValueError, RecursionError):
            continue
    raise IncompleteRun(f"neither standard output nor its last line is JSON ({_printed(output)})")


def _at_path(metric: OwnMetric, document: Any) -> float:
    place, found = "", document
    for step in _steps(metric.path or ""):
        if isinstance(step, int):
            there = isinstance(found, list) and step < len(found)
            has = f"a list of {len(found)}" if isinstance(found, list) else "not a list"
        else:
            there = isinstance(found, dict) and step in found
            keys = list(found) if isinstance(found, dict) else []
            known = ", ".join(keys)[:_SHOWN] or "no keys"
            has = f"it has {printable(known)}.{nearest(step, keys)}" if keys else "it has no keys"
        if not there:
            raise IncompleteRun(
                f"{metric.name}: the JSON printed has no {metric.path}:"
                f" {place or 'at its top'}: {has}".rstrip(".")
            )
        found = found[step]
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise IncompleteRun(f"{metric.name}: {metric.path} of the JSON printed is not a number")
    return _number(metric, str(found)[:_LONGEST_WHERE])


def _number(metric: OwnMetric, text: str) -> float:
    """Read a figure as programs print them, with or without commas between thousands."""
    text = text.strip()
    if _NUMBER.fullmatch(text) and re.search(r"\d", text):
        try:
            return float(text.replace(",", ""))
        except ValueError:
            pass
    raise IncompleteRun(f"{metric.name}: '{printable(text[:60])}' is not a finite number")
