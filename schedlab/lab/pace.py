"""How long runs take, learnt from those that are over; and a budget of time for all of them."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from schedlab.base.duration import seconds
from schedlab.plan.plan import Plan

Clock = Callable[[], float]


class Pace:
    """The seconds runs take, benchmark by benchmark."""

    def __init__(self, at_a_time: int = 1, expected: Mapping[str, float] | None = None) -> None:
        """Take how many runs are under way at a time, and what earlier results let expect."""
        self.at_a_time = at_a_time
        self._expected = dict(expected or {})
        self._seconds: dict[str, list[float]] = {}

    def learn(self, case: str, taken: float) -> None:
        """Count a run that is over."""
        self._seconds.setdefault(case, []).append(taken)

    def knows(self, cases: Iterable[str]) -> bool:
        """Return whether something is known of each of these benchmarks."""
        return all(self._of_run(case) is not None for case in cases)

    def least(self, runs: Mapping[str, int]) -> float:
        """Return the seconds of those of the runs whose benchmarks are known."""
        known = {case: number for case, number in runs.items() if self.knows([case])}
        return self.together(known) or 0.0

    def together(self, runs: Mapping[str, int]) -> float | None:
        """Return the seconds that so many runs of each benchmark take together.

        A benchmark of which nothing is known counts as the mean of the others; None where nothing
        is known of any.
        """
        owed = {case: number for case, number in runs.items() if number > 0}
        if not owed:
            return 0.0
        known = {case: taken for case in owed if (taken := self._of_run(case)) is not None}
        if not known:
            return None
        usual = _mean(list(known.values()))
        total = sum(number * known.get(case, usual) for case, number in owed.items())
        return max(total / self.at_a_time, *known.values())

    def _of_run(self, case: str) -> float | None:
        taken = self._seconds.get(case)
        return _mean(taken) if taken else self._expected.get(case)


class Budget:
    """The time a plan's runs may take together, and what of it is spent."""

    def __init__(self, plan: Plan, spent: float = 0.0, clock: Clock = time.monotonic) -> None:
        text = plan.blocks.budget
        self._limit = seconds(text) if text else None
        self._clock = clock
        self._began = clock() - spent

    @property
    def spent(self) -> float:
        """The seconds that are gone."""
        return self._clock() - self._began

    @property
    def left(self) -> float | None:
        """The seconds that are left; None where there is no limit."""
        return None if self._limit is None else self._limit - self.spent

    def fits(self, more: float | None) -> bool:
        """Return whether so many seconds more are within the budget."""
        return self.left is None or (more or 0.0) <= self.left


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
