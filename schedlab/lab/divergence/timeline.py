"""Both runs of a comparison side by side as a file for Perfetto (https://ui.perfetto.dev)."""

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TextIO

from schedlab.lab.divergence.decisions import PICK, Decision


class Timeline:
    """A file in Chrome's JSON format: a process for each variant, in it a thread for each CPU.

    What ran is a slice, every decision an instant with what it was made from. Times count from
    power-on in both.
    """

    def __init__(self, file: TextIO, names: Sequence[str]) -> None:
        self._file = file
        self._names = names
        self._cpus: set[tuple[int, int]] = set()
        self._running: dict[tuple[int, int], tuple[float, str]] = {}
        self._last = [0.0 for _ in names]
        self._file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        self._file.write(json.dumps(self._named("process_name", 0, {"name": names[0]})))

    def __enter__(self) -> Self:
        """Return itself."""
        for number, name in enumerate(self._names[1:], 1):
            self._put(self._named("process_name", number, {"name": name}))
        for number in range(len(self._names)):
            self._put(self._named("process_sort_index", number, {"sort_index": number}))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the slices and the file."""
        for (number, cpu), (since, what) in self._running.items():
            self._slice(number, cpu, since, self._last[number], what)
        self._file.write("\n]}\n")

    def add(self, number: int, decision: Decision) -> None:
        """Write a decision of the first (0) or second (1) variant."""
        cpu = decision.cpu
        self._last[number] = max(self._last[number], decision.time)
        if (number, cpu) not in self._cpus:
            self._cpus.add((number, cpu))
            self._put(self._named("thread_name", number, {"name": f"CPU {cpu}"}, cpu))
            self._put(self._named("thread_sort_index", number, {"sort_index": cpu}, cpu))
        if decision.function == PICK:
            self._switch(number, cpu, decision)
        else:
            self._instant(number, cpu, decision.time, decision.function, _details(decision), "t")

    def begins(self, number: int, time: float) -> None:
        """Mark when the workload of a variant begins."""
        self._instant(number, 0, time, "the workload begins", {}, "p")

    def _switch(self, number: int, cpu: int, decision: Decision) -> None:
        [task] = decision.choice
        since, before = self._running.get((number, cpu), (decision.time, ""))
        if task == before:
            return
        self._slice(number, cpu, since, decision.time, before)
        self._running[number, cpu] = decision.time, task

    def _slice(self, number: int, cpu: int, begin: float, end: float, task: str) -> None:
        if task in ("", "idle") or end < begin:
            return
        times = {"ts": _microseconds(begin), "dur": _microseconds(end - begin)}
        self._put(
            {"ph": "X", "pid": number + 1, "tid": _thread(number, cpu), "name": task, **times}
        )

    def _instant(
        self, number: int, cpu: int, time: float, name: str, args: Mapping[str, str], scope: str
    ) -> None:
        place = {
            "pid": number + 1,
            "tid": _thread(number, cpu),
            "ts": _microseconds(time),
            "s": scope,
        }
        self._put({"ph": "i", "name": name, **place, "args": args})

    def _named(
        self, what: str, number: int, args: Mapping[str, object], cpu: int | None = None
    ) -> dict[str, Any]:
        thread = {} if cpu is None else {"tid": _thread(number, cpu)}
        return {"ph": "M", "name": what, "pid": number + 1, **thread, "args": args}

    def _put(self, event: Mapping[str, Any]) -> None:
        self._file.write(",\n" + json.dumps(event))


def _thread(number: int, cpu: int) -> int:
    """Return an id that no CPU of the other variant has; Perfetto takes 0 for an idle task."""
    return 1 + 2 * cpu + number


def _details(decision: Decision) -> dict[str, str]:
    about = {"about": decision.subject, "did": decision.did, "in": decision.task}
    return {**about, **decision.inputs}


def _microseconds(seconds: float) -> float:
    return round(1e6 * seconds, 3)
