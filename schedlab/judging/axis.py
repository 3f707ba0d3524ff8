"""An axis: one benchmark at several values of one of its parameters, all else alike."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from schedlab.result.store import CaseInfo


@dataclass(frozen=True)
class Axis:
    """Cases of one benchmark that differ in one number, by rising value."""

    benchmark: str
    parameter: str
    cases: tuple[CaseInfo, ...]

    @property
    def values(self) -> tuple[int, ...]:
        """The parameter's value in each case."""
        return tuple(int(case.params[self.parameter]) for case in self.cases)

    @property
    def name(self) -> str:
        """The benchmark with the words among the parameters that all its cases share."""
        first = self.cases[0].params
        words = [f"{k}={v}" for k, v in first.items() if k != self.parameter and isinstance(v, str)]
        return " ".join(filter(None, [self.benchmark, ",".join(words)]))


def find_axes(cases: Sequence[CaseInfo]) -> list[Axis]:
    """Return every axis in the order of its first case; a case is on one at most, the longest."""
    candidates = sorted(_candidates(cases), key=lambda axis: -len(axis.cases))
    taken: set[str] = set()
    axes = []
    for axis in candidates:
        labels = {case.label for case in axis.cases}
        if not labels & taken:
            taken |= labels
            axes.append(axis)
    position = {case.label: i for i, case in enumerate(cases)}
    return sorted(axes, key=lambda axis: min(position[case.label] for case in axis.cases))


def _candidates(cases: Sequence[CaseInfo]) -> Iterator[Axis]:
    """Yield each set of cases that one parameter tells apart."""
    alike: defaultdict[tuple[str, Hashable], list[CaseInfo]] = defaultdict(list)
    for case in cases:
        for parameter, value in case.params.items():
            if isinstance(value, int):
                rest = frozenset((k, v) for k, v in case.params.items() if k != parameter)
                alike[parameter, (case.benchmark, case.metrics, rest)].append(case)
    for (parameter, _), members in alike.items():
        if len(members) > 1 and len({case.params[parameter] for case in members}) == len(members):
            rising = sorted(members, key=lambda case: case.params[parameter])
            yield Axis(rising[0].benchmark, parameter, tuple(rising))
