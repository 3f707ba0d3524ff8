"""A divergence in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from schedlab.lab.divergence.decisions import Decision
from schedlab.lab.divergence.search import Divergence, Parting, Tally

LINES = 20
"""What is said without being asked for more."""

_WIDTH = 80
_MOST_OUTCOMES = 4
_NOT_SEEN = "-"
_MOST_LOOKED_AT = 12
"""Groups shown of a pass, of those that one side saw only and of those that both did."""


@dataclass(frozen=True)
class Words:
    """The words for the divergence of two runs."""

    found: Divergence
    names: tuple[str, str]
    began: tuple[float, float]
    """When the workload of each began, in seconds."""
    origin: str = "power-on"
    """From when on times and decisions count."""

    def lines(self, verbose: bool = False) -> list[str]:
        """Return where the runs part and what differs from then on; not `verbose`, 20 lines."""
        if not self.found.choice:
            return [*self._same()]
        head = [*self._head(self.found.choice, verbose)]
        parted = [item for item in self.found.functions.items() if item[1].parted]
        parted.sort(key=lambda item: item[1].place)
        blocks = [[*self._function(name, tally)] for name, tally in parted]
        firsts = [[*self._first(tally)] for _, tally in parted]
        if verbose:
            return head + [
                line for pair in zip(blocks, firsts, strict=True) for part in pair for line in part
            ]
        room = LINES - len(head) - 1
        while sum(map(len, blocks)) > room:
            blocks.pop()
        room -= sum(map(len, blocks))
        shown = head
        for block, first in zip(blocks, firsts, strict=False):
            shown += block
            if len(first) <= room:
                shown += first
                room -= len(first)
        more = len(parted) - len(blocks)
        functions = f"{_counted(more, 'more function')}, " if more else ""
        return [*shown, f"--verbose shows {functions}all inputs, and all events at the parting."]

    def _same(self) -> Iterator[str]:
        one, other = self.names
        anything = self.found.anything
        number = f"{_counted(self.found.equal, 'decision')}, from {self.origin} to the end"
        if not anything:
            yield from _wrapped(
                f"No difference: {one} and {other} took the same {number}, to the nanosecond."
            )
            return
        yield from _wrapped(
            f"{one} and {other} took the same {number}; the runs differ in moments or inputs only."
        )
        yield from self._difference(anything)

    def _head(self, parting: Parting, verbose: bool) -> Iterator[str]:
        one, other = self.names
        function = parting.earliest.function
        after = f"after {_counted(self.found.equal, 'equal decision')}"
        if self._since(parting) < 0:
            shown = f"parted before the workload began, in {function}, {after}."
        else:
            shown = f"part in {function}, {after}."
        yield from _wrapped(f"{one} and {other} {shown}")
        yield from self._parting(parting)
        anything = self.found.anything
        if anything and anything.place < parting.place:
            yield from self._difference(anything)
        if verbose and parting.first and parting.second:
            yield from _looked_at(parting.first.looked_at, parting.second.looked_at, self.names)
        yield ""
        yield from _wrapped(
            f"By function ({one} / {other}; the n-th decisions of a CPU or task compared):"
        )

    def _parting(self, parting: Parting) -> Iterator[str]:
        first, second = parting.sides
        place = parting.earliest
        yield from _wrapped(f"On CPU {place.cpu}, {self._moment(parting)}, in {place.task}:")
        if first and second and _are_alike(first, second):
            yield from _wrapped(f"{self.names[0]}: {first.did}", 1)
            yield from _wrapped(f"{self.names[1]}{_later(first, second)}: {second.did}", 1)
            yield from self._inputs(first, second)
            return
        for name, side in zip(self.names, parting.sides, strict=True):
            if side:
                saw = ", ".join(f"{key} {value}" for key, value in side.inputs.items())
                later = "" if side is place else f", the next there{_later(place, side)}"
                yield from _wrapped(f"{name}{later}: {side.function}: {side.did} ({saw})", 1)
            else:
                yield from _wrapped(f"{name}: nothing more; its run has ended", 1)

    def _inputs(self, first: Decision, second: Decision) -> Iterator[str]:
        differing = _differing(first, second)
        same = [f"{key} {value}" for key, value in first.inputs.items() if key not in differing]
        both = [
            f"{key} {one} / {other}"
            for key, (one, other) in differing.items()
            if _NOT_SEEN not in (one, other)
        ]
        if both:
            yield from _wrapped(f"they saw differently: {', '.join(both)}", 1)
        for name, side, counterpart in zip(
            self.names, (first, second), (second, first), strict=True
        ):
            own = [f"{key} {side.inputs[key]}" for key in side.inputs.keys() - counterpart.inputs]
            if own:
                yield from _wrapped(f"only {name} came to see {', '.join(sorted(own))}", 1)
        if same:
            yield from _wrapped(f"both saw {', '.join(same)}", 1)
        if not differing and first.looked_at == second.looked_at:
            yield from _wrapped(
                "what is recorded of what they saw is the same: either the rule itself differs, or"
                " something that is not recorded, as what another change left behind",
                1,
            )

    def _difference(self, parting: Parting) -> Iterator[str]:
        """Yield what differs about two equal decisions: what they were made from, and when."""
        first, second = parting.sides
        assert first and second
        differing = _differing(first, second)
        shown = [f"{key} {one} / {other}" for key, (one, other) in differing.items()]
        if later := _later(first, second):
            shown.append(f"{self.names[1]}{later}")
        what = f"{first.function} of {first.subject}, {self._moment(parting)}"
        yield from _wrapped(f"The first difference of any kind: {what}: {', '.join(shown)}.")

    def _function(self, name: str, tally: Tally) -> Iterator[str]:
        one, other = tally.totals
        number = _counted(one, "decision") if one == other else f"{one:,} / {other:,} decisions"
        differ = f", {tally.differing:,} of {tally.compared:,} differ" if tally.compared else ""
        yield from _wrapped(f"{name}: {number}{differ}")
        if outcomes := _outcomes(*tally.outcomes):
            yield from _wrapped(outcomes, 1)

    def _first(self, tally: Tally) -> Iterator[str]:
        parting = tally.first
        if not parting or not parting.first or not parting.second or parting == self.found.choice:
            return
        first, second = parting.first, parting.second
        yield from _wrapped(
            f"first {self._moment(parting)}, {first.subject}: {self.names[0]} {first.did};"
            f" {self.names[1]} {second.did}",
            1,
        )

    def _since(self, parting: Parting) -> float:
        """Return the time of a parting from the beginning of its run's workload."""
        return parting.time - self.began[0 if parting.earliest is parting.first else 1]

    def _moment(self, parting: Parting) -> str:
        since = self._since(parting)
        shown = f"{1e3 * abs(since):,.3f} ms"
        return f"at {shown}" if since >= 0 else f"{shown} before the workload"


def _are_alike(first: Decision, second: Decision) -> bool:
    return (first.function, first.subject) == (second.function, second.subject)


def _later(first: Decision, second: Decision) -> str:
    """Return how much later the second was decided, to follow its name."""
    later = round(1e9 * (second.time - first.time))
    apart = f"{abs(later)} ns" if abs(later) < 1000 else f"{round(abs(later) / 1000):,} us"
    return f", {apart} {'later' if later > 0 else 'earlier'}" if later else ""


def _differing(first: Decision, second: Decision) -> dict[str, tuple[str, str]]:
    keys = dict.fromkeys((*first.inputs, *second.inputs))
    pairs = {
        key: (first.inputs.get(key, _NOT_SEEN), second.inputs.get(key, _NOT_SEEN)) for key in keys
    }
    return {key: (one, other) for key, (one, other) in pairs.items() if one != other}


def _outcomes(first: Counter[str], second: Counter[str]) -> str:
    """Return the outcomes whose number differs, those that differ most first."""
    names = [name for name in first | second if first[name] != second[name]]
    names.sort(key=lambda name: -abs(first[name] - second[name]))
    shown = [f"{name} {first[name]:,} / {second[name]:,}" for name in names[:_MOST_OUTCOMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _looked_at(
    first: Sequence[str], second: Sequence[str], names: tuple[str, str]
) -> Iterator[str]:
    common = [text for text in first if text in second]
    for name, side in zip(names, (first, second), strict=True):
        own = [text for text in side if text not in common]
        if own:
            yield f"  only {name} looked at, or saw so:"
            yield from (f"    {text}" for text in own[:_MOST_LOOKED_AT])
            if len(own) > _MOST_LOOKED_AT:
                yield f"    ... and {len(own) - _MOST_LOOKED_AT} more"
    if common:
        yield "  both looked at:"
        yield from (f"    {text}" for text in common[:_MOST_LOOKED_AT])
        if len(common) > _MOST_LOOKED_AT:
            yield f"    ... and {len(common) - _MOST_LOOKED_AT} more"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _wrapped(text: str, depth: int = 0) -> list[str]:
    """Return the text in lines of the terminal's width; the first indented by `depth` steps."""
    indent = "  " * depth
    return wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
