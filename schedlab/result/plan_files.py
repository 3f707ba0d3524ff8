"""The plan's files as a result or sweep began with them, and what has become of them since.

Runs go by the plan that the result began with. A plan file that was edited meanwhile must not look
as if the runs were its own.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from schedlab.base.errors import StoreError, UsageError, reading, writing
from schedlab.base.printable import printable
from schedlab.base.system.inside import inside
from schedlab.base.validation import KeptData
from schedlab.base.words import first_of
from schedlab.benchmarks.enclosure import Enclosure

_MOST_SHOWN = 5
_LONGEST_VALUE = 80
_MISSING = object()


class PlanGiven(KeptData):
    """A plan file that a command named."""

    path: str
    text: str

    @classmethod
    def read(cls, file: Path | None) -> "PlanGiven | None":
        """Return a plan file as it is now; None where there is none."""
        if file is None:
            return None
        with suppress(OSError):
            return cls(path=str(file.absolute()), text=_text(file))
        return None

    def changed(self, goes_by: Path) -> str:
        """Return a line if the file is another now; one that is gone says nothing.

        `goes_by` is where the plan is that counts.
        """
        now = PlanGiven.read(Path(self.path))
        differences = list(_differences(self.text, now.text)) if now else []
        if not differences:
            return ""
        return (
            f"{self.path} has changed since this began: {first_of(differences, _MOST_SHOWN)}."
            f"\n  --resume goes by the plan as it was, which is in {goes_by}; for the changed plan"
            " begin a new result."
        )


class PlanFiles(KeptData):
    """The plan in a folder of results, with the files beside it."""

    text: str = ""
    """Of the plan; empty where an earlier version wrote the result."""
    inputs: dict[str, str] = {}
    """The digests of the files beside it, by name."""
    given: PlanGiven | None = None

    @classmethod
    def of(
        cls, text: str, inputs: Sequence[Enclosure] = (), given: PlanGiven | None = None
    ) -> "PlanFiles":
        """Return what is to be kept of a plan whose file is about to be written."""
        digests = {file.name: _digest(_encoded(file.text)) for file in inputs}
        return cls(text=text, inputs=digests, given=given)

    def check(self, file: Path) -> None:
        """Refuse a folder whose plan is not the one it began with; write one that is missing.

        Raises:
            UsageError: the plan, or a file beside it, was changed.
        """
        if not self.text:
            return
        if not file.exists():
            with writing(file, StoreError):
                file.write_text(self.text, encoding="utf-8")
        changed = [*_differences(self.text, _text(file)), *self._changed_inputs(file)]
        if changed:
            raise UsageError(
                f"{file}: has changed since this began: {first_of(changed, _MOST_SHOWN)}."
                "\n  The runs that are here belong to the plan as it was. To go on with that one"
                f" delete {file.name}, which is then written again; for the changed one:"
                f" schedlab run {file}"
            )

    def _changed_inputs(self, file: Path) -> Iterator[str]:
        for name, digest in self.inputs.items():
            with suppress(OSError):
                if _digest(inside(file.parent, name, file).read_bytes()) != digest:
                    yield f"{name} is another file"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _text(file: Path) -> str:
    with reading(file, UsageError):
        return file.read_text(encoding="utf-8", errors="replace")


def _differences(before: str, now: str) -> Iterator[str]:
    """Yield where the data of two plan files differ; layout and comments do not count."""
    try:
        one, other = tomllib.loads(before), tomllib.loads(now)
    except (ValueError, RecursionError):
        if before != now:
            yield "it is not the same text, and not TOML"
        return
    yield from _between(one, other, "")


def _between(before: Any, now: Any, where: str) -> Iterator[str]:
    """Yield the keys that differ in two values of TOML."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            place = f"{where}.{key}" if where else str(key)
            yield from _between(before.get(key, _MISSING), now.get(key, _MISSING), place)
    elif _has_tables(before) and _has_tables(now):
        for i in range(max(len(before), len(now))):
            one, other = (each[i] if i < len(each) else _MISSING for each in (before, now))
            yield from _between(one, other, f"{where}[{i}]")
    elif before is _MISSING:
        yield f"{where} was not there, is {_shown(now)}"
    elif now is _MISSING:
        yield f"{where} was {_shown(before)}, is not there"
    elif repr(before) != repr(now):  # 0, 0.0 and false are equal
        yield f"{where} was {_shown(before)}, is {_shown(now)}"


def _has_tables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, Mapping) for each in value)


def _shown(value: Any) -> str:
    text = printable(repr(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
