"""The scheduler's decisions, read out of the text of a trace."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

EVENTS = "schedlab:*"
"""The tracepoints decisions are read from (docs/internals/engine.md)."""

_LINE = re.compile(r"^\s*(.+-\d+)\s+\[(\d+)\]\s+\S+\s+(\d+\.\d+):\s+(\w+):\s?(.*)$")
_FIELD = re.compile(r"(\w+)=(.*?)(?=\s\w+=|\s*$)")

_CHOSEN = {
    "select_task_rq": ("cpu",),
    "load_balance": ("group", "queue", "pulled", "active"),
    "newidle": ("pulled",),
    "pick_next": ("comm", "pid"),
}
"""Which fields of an event are the decision; the others are what it was made from."""


@dataclass(frozen=True)
class Decision:
    """One decision: who made it, what it was, and what it was made from."""

    time: float
    """Simulated seconds."""
    cpu: int
    task: str
    """What ran on the CPU, as `comm-pid`."""
    function: str
    choice: Mapping[str, str]
    inputs: Mapping[str, str]
    looked_at: tuple[str, ...] = ()
    """Groups of a balance pass, domains of a newidle pass, with their figures."""

    def decides_as(self, other: "Decision") -> bool:
        """Return whether the other is the same decision with the same outcome."""
        return (self.function, self.cpu, self.task, self.choice) == (
            other.function,
            other.cpu,
            other.task,
            other.choice,
        )


@dataclass
class _Passes:
    """What a CPU has looked at in the passes it has begun."""

    groups: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    entry: str = ""


def decisions(lines: Iterable[str]) -> Iterator[Decision]:
    """Yield the decisions of a trace, in their order; other events are passed over."""
    passes: dict[int, _Passes] = defaultdict(_Passes)
    for line in lines:
        match = _LINE.match(line)
        if not match:
            continue
        task, cpu, time, event, text = match.groups()
        begun = passes[int(cpu)]
        if event == "group_stats":
            begun.groups.append(text)
        elif event == "newidle_entry":
            begun.entry, begun.domains = text, []
        elif event == "newidle_domain":
            begun.domains.append(text)
        elif event == "load_balance":
            yield _decision(task, cpu, time, event, text, begun.groups)
            begun.groups = []
        elif event == "newidle_exit":
            yield _decision(task, cpu, time, "newidle", f"{begun.entry} {text}", begun.domains)
            begun.domains = []
        elif event in _CHOSEN:
            yield _decision(task, cpu, time, event, text, [])


def _decision(
    task: str, cpu: str, time: str, function: str, text: str, looked_at: list[str]
) -> Decision:
    fields = dict(_FIELD.findall(text))
    chosen = {name: fields.pop(name, "") for name in _CHOSEN[function]}
    if function in ("load_balance", "newidle"):
        chosen["looked at"] = str(len(looked_at))
    return Decision(float(time), int(cpu), task, function, chosen, fields, tuple(looked_at))
