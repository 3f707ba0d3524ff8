"""How many runs a plan still owes, and how long they may take."""

from collections import Counter
from collections.abc import Mapping, Sequence

from schedlab.base.words import plural
from schedlab.lab.pace import Budget, Pace
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord

LONG = 30 * 60.0
"""A plan that may take so many seconds is announced as a long one."""


class Forecast:
    """How many runs a plan still owes, and how long they may take."""

    def __init__(
        self,
        plan: Plan,
        variants: int,
        cases: Sequence[str],
        pace: Pace,
        budget: Budget,
        recorded: Sequence[RunRecord] = (),
    ) -> None:
        """Take the plan, and what of it is there."""
        self._plan = plan
        self._variants = variants
        self.pace = pace
        self._budget = budget
        self.open: Sequence[str] = cases
        self._done = Counter(record.key.case for record in recorded)
        self.done = len(recorded)

    def count(self, case: str) -> None:
        """Count a run that is over."""
        self._done[case] += 1
        self.done += 1

    @property
    def at_most(self) -> int:
        """The runs there can be in all."""
        return self.done + sum(self._owed(self._plan.blocks.looks[-1]).values())

    @property
    def known(self) -> bool:
        """Whether something is known of every benchmark that goes on."""
        return self.pace.knows(self.open)

    @property
    def familiar(self) -> str:
        """How many of the benchmarks something is known of."""
        known = sum(self.pace.knows([case]) for case in self.open)
        return f"{known} of {plural(len(self.open), 'benchmark')}"

    @property
    def longest(self) -> float | None:
        """The seconds all runs take that there can be; None where nothing is known."""
        return self._seconds(self._plan.blocks.looks[-1])

    @property
    def least(self) -> float:
        """The seconds of those runs whose benchmarks' durations are known."""
        return self.pace.least(self._owed(self._plan.blocks.looks[-1]))

    def __str__(self) -> str:
        """Return how long it is to the next look, and to the end if nothing settles before."""
        looks = self._plan.blocks.looks
        ahead = [look for look in looks if sum(self._owed(look).values())]
        if not ahead or (longest := self.longest) is None:
            return ""
        if self._budget.left is not None and self._budget.left <= longest:
            first = 0.0 if self.done else self._seconds(1) or 0.0
            if first > self._budget.left:
                return f"about {rough(first)}, as one block takes: more than the budget"
            return f"about {rough(max(self._budget.left, 0.0))} left of the budget"
        if not self.known:
            return f"at least {rough(self.least)} left if nothing settles before"
        nearest = self._seconds(ahead[0])
        if len(ahead) == 1 or nearest is None:
            return f"about {rough(longest)} left"
        look = f"the look after {plural(ahead[0], 'block')}"
        return f"about {rough(nearest)} to {look}, at most {rough(longest)}"

    def warning(self) -> str:
        """Return a warning if the plan may take very long, with what to do; else nothing."""
        if self.least <= LONG or self._budget.left is not None:
            return ""
        at_least = "" if self.known else "at least "
        return (
            f"this may take {at_least}{rough(self.least)}. `--budget 10min` ends a plan after the"
            " last block that fits; `--blocks 6`, fewer benchmarks (--only) or the suite quick"
            " take less."
        )

    def _seconds(self, look: int) -> float | None:
        return self.pace.together(self._owed(look))

    def _owed(self, look: int) -> Mapping[str, int]:
        whole = self._variants * (self._plan.blocks.warmup + look)
        return {case: max(0, whole - self._done[case]) for case in self.open}


def rough(seconds: float) -> str:
    """Return a time as one would say it of a guess."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.2g} h"


def are(number: int, what: str) -> str:
    """Count things that something is said of: `1 run is`, `12 runs are`."""
    return f"{plural(number, what)} {'is' if number == 1 else 'are'}"
