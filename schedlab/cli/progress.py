"""Showing how plans run: a line that moves on a terminal, a line for each run elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import progress
from rich.console import Console

from schedlab.base.printable import printable
from schedlab.base.words import plural
from schedlab.kernels.progress import Step
from schedlab.lab.forecast import Forecast, are
from schedlab.lab.runner import Progress
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord

if TYPE_CHECKING:
    from schedlab.judging.analysis import Outcome


class Screen:
    """The progress of plans that run; each has its line."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.moving = console.is_terminal
        self.bars = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.fields[left]}"),
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

    @property
    def on(self) -> bool:
        """Whether lines move now; no others can beside them."""
        return self.moving and self.bars.live.is_started

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Show a long step among the plans."""
        task = self.bars.add_task(what, total=1.0, left="")
        yield lambda share, text: self.bars.update(task, completed=share, left=text[-40:])
        self.bars.remove_task(task)


class RunProgress(Progress):
    """Show how many runs are over, how long the rest may take, and each look's outcome."""

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

    def start(self, key: RunKey) -> None:
        """Show the run that begins."""
        self._screen.bars.update(
            self._task,
            description=printable(f"{self._name}{self._count()}  {key.case} [{key.variant}]"),
            total=self._forecast.at_most,
            completed=self._forecast.done,
            left=str(self._forecast),
        )

    def done(self, record: RunRecord) -> None:
        """Count a finished run: print a line, unless one moves; report a failed one."""
        key = record.key
        self._forecast.count(key.case)
        if not self._screen.moving:
            block = "warm-up" if key.warmup else f"block {key.block}"
            left = str(self._forecast)
            self._say(
                f"{self._count()}: {key.case} [{key.variant}] {block}, {record.seconds:.3g} s"
                + (f"; {left}" if left else "")
            )
        if record.status == "failed":
            self._say(f"{key.case} [{key.variant}] failed: {record.error}")
        self._warn()

    def look(self, blocks_done: int, outcomes: Sequence["Outcome"], settled: set[str]) -> None:
        """Print what the evidence says after so many blocks."""
        clear = sum(outcome.verdict.settled for outcome in outcomes)
        still = len({outcome.case.label for outcome in outcomes} - settled)
        verb = "has" if clear == 1 else "have"
        what = f"{clear} of {len(outcomes)} results {verb} a verdict"
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
