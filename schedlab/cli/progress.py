"""Showing how plans run: a line that moves on a terminal, a line for each run elsewhere."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from schedlab.base.printable import printable
from schedlab.judging.analysis import Outcome
from schedlab.lab.pace import Budget, Pace
from schedlab.plan.plan import Plan
from schedlab.report.wording import plural
from schedlab.result.record import RunRecord
from schedlab.targets.target import Order

LONG = 30 * 60.0
"""A plan that may take so many seconds is announced as a long one."""


class Screen:
    """Where plans that run tell how they do; each has its line."""

    def __init__(self, console: Console) -> None:
        """Take the console."""
        self.console = console
        self.moving = console.is_terminal
        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not self.moving,
        )

    def __enter__(self) -> "Screen":
        """Begin to show."""
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the moving lines."""
        self.bars.stop()


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
        self._pace = pace
        self._budget = budget
        self.open: Sequence[str] = cases
        self._done = Counter(record.key.case for record in recorded)
        self.done = len(recorded)

    def count(self, case: str) -> None:
        """Take in that a run is over."""
        self._done[case] += 1
        self.done += 1

    @property
    def at_most(self) -> int:
        """The runs there can be in all."""
        return self.done + sum(self._owed(self._plan.blocks.looks[-1]).values())

    @property
    def known(self) -> bool:
        """Whether something is known of every benchmark that goes on."""
        return self._pace.knows(self.open)

    @property
    def familiar(self) -> str:
        """How many of the benchmarks something is known of."""
        known = sum(self._pace.knows([case]) for case in self.open)
        return f"{known} of {plural(len(self.open), 'benchmark')}"

    @property
    def longest(self) -> float | None:
        """The seconds all runs take that there can be; None where nothing is known."""
        return self._seconds(self._plan.blocks.looks[-1])

    @property
    def least(self) -> float:
        """The seconds of those of them whose benchmarks are known."""
        return self._pace.least(self._owed(self._plan.blocks.looks[-1]))

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
        return f"about {rough(nearest)} to the look at block {ahead[0]}, at most {rough(longest)}"

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
        return self._pace.together(self._owed(look))

    def _owed(self, look: int) -> Mapping[str, int]:
        whole = self._variants * (self._plan.blocks.warmup + look)
        return {case: max(0, whole - self._done[case]) for case in self.open}


class RunProgress:
    """Tells how many runs are over, how long the rest may take, and each look's outcome."""

    def __init__(self, plan: Plan, forecast: Forecast, screen: Screen, name: str = "") -> None:
        """Take the plan and its forecast, and the plan's name where several run."""
        self._plan = plan
        self._forecast = forecast
        self._screen = screen
        self._name = f"{name}: " if name else ""
        self._task = screen.bars.add_task(f"{self._name}starting", total=None, left="")
        self._warned = False

    def begin(self) -> None:
        """Print what there is to do, and how long it may take as far as that is known."""
        f = self._forecast
        how_long = str(f) or "how long they take shows when the first are over"
        there = f"{are(f.done, 'run')} recorded; " if f.done else ""
        self._say(f"{there}at most {plural(f.at_most, 'run')}; {how_long}")
        self._warn()

    def block(self, block: int, cases: Sequence[str]) -> None:
        """Begin a block with the benchmarks that are still open."""
        self._forecast.open = cases

    def start(self, order: Order) -> None:
        """Show the run that begins."""
        self._screen.bars.update(
            self._task,
            description=printable(
                f"{self._name}{self._count()}  {order.key.case} [{order.key.variant}]"
            ),
            total=self._forecast.at_most,
            completed=self._forecast.done,
            left=str(self._forecast),
        )

    def done(self, record: RunRecord) -> None:
        """Take in a run that is over: a line, unless one moves; tell of a failed one."""
        key = record.key
        self._forecast.count(key.case)
        if not self._screen.moving:
            block = "warm-up" if key.warmup else f"block {key.block + 1}"
            left = str(self._forecast)
            self._say(
                f"{self._count()}: {key.case} [{key.variant}] {block}, {record.seconds:.3g} s"
                + (f"; {left}" if left else "")
            )
        if record.status == "failed":
            self._say(f"{key.case} [{key.variant}] failed: {record.error}")
        self._warn()

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        """Print what the evidence says after so many blocks."""
        told = sum(outcome.verdict.settled for outcome in outcomes)
        still = len({outcome.case.label for outcome in outcomes} - settled)
        verb = "has" if told == 1 else "have"
        what = f"{told} of {plural(len(outcomes), 'result')} {verb} a verdict"
        last = blocks_done >= self._plan.blocks.looks[-1]
        self._say(
            f"after {plural(blocks_done, 'block')}: {what}"
            + (
                ""
                if last or not still
                else f"; {plural(still, 'benchmark')} {'goes' if still == 1 else 'go'} on"
            )
        )

    def give_up(self, case: str, why: str) -> None:
        """Print that a benchmark is left out."""
        self._say(f"{case} is left out: {why}")

    def end(self, why: str) -> None:
        """Print that the plan ends before its last block."""
        self._say(why)

    def _count(self) -> str:
        return f"run {self._forecast.done} of at most {self._forecast.at_most}"

    def _warn(self) -> None:
        """Warn once of a plan that takes very long, as soon as that is known."""
        if not self._warned and (words := self._forecast.warning()):
            self._warned = True
            self._say(f"note: {words}")

    def _say(self, text: str) -> None:
        console = self._screen.console
        console.print(
            printable(f"{self._name}{text}"), highlight=False, markup=False, soft_wrap=True
        )


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
