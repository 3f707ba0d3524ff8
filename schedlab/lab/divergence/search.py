"""Where two streams of decisions part, and how often from then on."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from schedlab.lab.divergence.decisions import Decision


@dataclass(frozen=True)
class Parting:
    """Two decisions in the same place of their runs; None where one run has no more."""

    first: Decision | None
    second: Decision | None

    @property
    def sides(self) -> tuple[Decision | None, Decision | None]:
        """Return both."""
        return self.first, self.second

    @property
    def time(self) -> float:
        """Return the earlier time, in simulated seconds."""
        return min(side.time for side in self.sides if side)

    @property
    def earliest(self) -> Decision:
        """Return the one with fewer decisions before it."""
        return min((side for side in self.sides if side), key=lambda side: side.place)

    @property
    def place(self) -> int:
        """Return how many decisions came before the earlier one in its run."""
        return self.earliest.place


@dataclass
class Tally:
    """The decisions of one function: of a subject the n-th ones of both runs are compared."""

    outcomes: tuple[Counter[str], Counter[str]] = field(
        default_factory=lambda: (Counter(), Counter())
    )
    compared: int = 0
    differing: int = 0
    first: Parting | None = None
    """The earliest that differ."""
    since: int = 0
    """The place of the first that either run had."""

    @property
    def place(self) -> float:
        """Return where they began to differ; infinity where only their number does."""
        if self.first:
            return self.first.place
        return self.since if 0 in self.totals else math.inf

    @property
    def totals(self) -> tuple[int, int]:
        """Return how many such decisions each run took."""
        one, other = self.outcomes
        return one.total(), other.total()

    @property
    def parted(self) -> bool:
        """Return whether anything differs, be it only the number."""
        return bool(self.differing) or self.outcomes[0] != self.outcomes[1]


@dataclass
class Divergence:
    """Where two runs begin to differ at all, where they first decide differently, how often."""

    equal: int = 0
    """Decisions before the parting, in the order of each CPU."""
    anything: Parting | None = None
    """The first difference of a moment or an input, in decisions that are the same."""
    choice: Parting | None = None
    """The first decision that is another, or turns out otherwise."""
    functions: dict[str, Tally] = field(default_factory=dict)


def diverge(first: Iterator[Decision], second: Iterator[Decision]) -> Divergence:
    """Compare two runs from their beginning to their end, the one that lags read first."""
    comparison = _Comparison()
    streams = (first, second)
    times = [0.0, 0.0]
    open_sides = [0, 1]
    while open_sides:
        side = min(open_sides, key=times.__getitem__)
        decision = next(streams[side], None)
        if decision is None:
            open_sides.remove(side)
        else:
            times[side] = decision.time
            comparison.take(side, decision)
    return comparison.ended()


@dataclass
class _Waiting:
    """Decisions of one run that wait for the other's in the same place."""

    side: int = 0
    queue: deque[Decision] = field(default_factory=deque)


class _Comparison:
    """Decisions as they come, each set beside the other run's in the same place.

    Where runs part is seen in the order of each CPU: that of several CPUs may change without any
    decision doing so.
    """

    def __init__(self) -> None:
        self.found = Divergence()
        self._of_cpu: dict[int, _Waiting | None] = defaultdict(_Waiting)
        self._of_subject: dict[tuple[str, str], _Waiting] = defaultdict(_Waiting)

    def take(self, side: int, decision: Decision) -> None:
        tally = self.found.functions.setdefault(decision.function, Tally(since=decision.place))
        tally.outcomes[side][decision.outcome] += 1
        place = self._of_cpu[decision.cpu]
        if place is not None and (pair := _paired(place, side, decision)):
            self._in_sequence(decision.cpu, pair)
        key = decision.function, decision.subject
        if pair := _paired(self._of_subject[key], side, decision):
            self._of_one_subject(tally, pair)

    def ended(self) -> Divergence:
        """Compare what is left at the end with nothing."""
        for cpu, place in list(self._of_cpu.items()):
            if place and place.queue:
                left = place.queue[0]
                self._part(cpu, Parting(left, None) if place.side == 0 else Parting(None, left))
        return self.found

    def _in_sequence(self, cpu: int, pair: Parting) -> None:
        one, other = pair.sides
        assert one and other
        if not one.decides_as(other):
            self._part(cpu, pair)
            return
        found = self.found
        if found.choice is None or pair.place < found.choice.place:
            found.equal += 1
        if (one.time, one.inputs) != (other.time, other.inputs) and _is_before(
            pair, found.anything
        ):
            found.anything = pair

    def _part(self, cpu: int, pair: Parting) -> None:
        self._of_cpu[cpu] = None
        if _is_before(pair, self.found.choice):
            self.found.choice = pair

    def _of_one_subject(self, tally: Tally, pair: Parting) -> None:
        one, other = pair.sides
        assert one and other
        tally.compared += 1
        if one.choice != other.choice:
            tally.differing += 1
            if _is_before(pair, tally.first):
                tally.first = pair


def _paired(place: _Waiting, side: int, decision: Decision) -> Parting | None:
    """Return the decision with the other run's in the same place; None if it has to wait."""
    if not place.queue or place.side == side:
        place.side = side
        place.queue.append(decision)
        return None
    other = place.queue.popleft()
    return Parting(decision, other) if side == 0 else Parting(other, decision)


def _is_before(pair: Parting, other: Parting | None) -> bool:
    return other is None or pair.place < other.place
