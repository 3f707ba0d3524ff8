"""Figures of the simulator's result: metrics, counters, and files read back."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError, nearest
from schedlab.lab.checks.expect.expectation import Bounded, Expectation
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.timeline import Watcher
from schedlab.targets.simulated.outcome import counters

Number = Annotated[float, Field(strict=False)]


class Figure(Bounded):
    """A metric or a counter of the run lies between bounds."""

    kind: ClassVar = "figure"
    meaning: ClassVar = "a metric or counter of the run is at most, or at least, N"

    name: str
    at_most: Number | None = None
    at_least: Number | None = None

    def watch(self, given: Given) -> Watcher:
        """Return the watcher."""
        return _Bounds(self, given.metrics)


class Setting(Expectation):
    """A file of the simulated kernel reads so at the end."""

    kind: ClassVar = "setting"
    meaning: ClassVar = "a file of the kernel reads as expected at the end"

    file: str
    reads: str

    def watch(self, given: Given) -> Watcher:
        """Return the watcher."""
        return _ReadBack(self)


class _Bounds(Watcher):
    def __init__(self, asked: Figure, metrics: Mapping[str, str]) -> None:
        super().__init__()
        self._asked = asked
        self._metrics = metrics

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        asked = self._asked
        measured = result.get("metrics", {})
        known = {
            **counters(result, "all"),
            **result.get("counters", {}),
            **measured,
            **{name: measured[of] for name, of in self._metrics.items() if of in measured},
        }
        known |= dict.fromkeys(set(result.get("tracepoints", ())) - known.keys(), 0.0)
        if asked.name not in known:
            raise UsageError(
                f"name: the run has no metric or counter '{asked.name}'."
                f"{nearest(asked.name, known)}"
                f" Its metrics: {', '.join([*self._metrics, *measured]) or 'none'};"
                " counters: `schedlab list counters`."
            )
        value = float(known[asked.name])
        if asked.outside(value):
            self.found(time, f"{asked.name} is {value:.6g}")


class _ReadBack(Watcher):
    def __init__(self, asked: Setting) -> None:
        super().__init__()
        self._asked = asked

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        found = result.get("settings", {})
        if self._asked.file not in found:
            raise UsageError(
                f"file: {self._asked.file} is not among the files that the run read back."
                f"{nearest(self._asked.file, found)}"
            )
        read = str(found[self._asked.file]).strip()
        if read != self._asked.reads:
            self.found(time, f"{self._asked.file} reads {read!r}")
