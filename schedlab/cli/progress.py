"""Showing how plans run: a line that moves for each on a terminal, plain lines elsewhere."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from schedlab.analysis import Outcome
from schedlab.plan import Plan
from schedlab.record import RunRecord
from schedlab.targets.target import Order


class Screen:
    """Where plans that run tell how they do; each has its line."""

    def __init__(self, console: Console) -> None:
        """Take the console."""
        self.console = console
        self.moving = console.is_terminal
        self.bars = Progress(
            TextColumn("{task.description}"),
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


class RunProgress:
    """Tells which run is under way, how long the rest may take, and each look's outcome."""

    def __init__(self, plan: Plan, variants: int, screen: Screen, name: str = "") -> None:
        """Take the plan for its block counts, and its name where several run."""
        self._plan = plan
        self._variants = variants
        self._screen = screen
        self._name = f"{name}: " if name else ""
        self._task = screen.bars.add_task(f"{self._name}starting", total=None, left="")
        self._seconds: dict[str, list[float]] = {}
        self._open: Sequence[str] = ()
        self._block = 0
        self._last_end = 0.0
        self._under_way = 0
        self._begun_in_block = 0

    def block(self, block: int, cases: Sequence[str]) -> None:
        """Begin a block; without a moving line, say so."""
        self._block, self._open, self._begun_in_block = block, cases, 0
        if not self._screen.moving:
            left = self._time_left()
            self._say(f"{self._block_name()}: {len(cases)} benchmarks{f', {left}' if left else ''}")

    def start(self, order: Order) -> None:
        """Show the run that begins."""
        if not self._under_way:
            self._last_end = time.monotonic()
        self._under_way += 1
        self._begun_in_block += 1
        what = f"{self._block_name()}  {order.key.case} [{order.key.variant}]"
        self._screen.bars.update(
            self._task,
            description=f"{self._name}{what}",
            total=len(self._open) * self._variants,
            completed=self._done_in_block(),
            left=self._time_left(),
        )

    def done(self, record: RunRecord) -> None:
        """Learn how long a run takes (its share, of several at a time); tell of a failed one."""
        self._under_way -= 1
        now = time.monotonic()
        self._seconds.setdefault(record.key.case, []).append(now - self._last_end)
        self._last_end = now
        if record.status == "failed":
            self._say(f"{record.key.case} [{record.key.variant}] failed: {record.error}")

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        """Tell what the evidence says after so many blocks."""
        told = sum(outcome.verdict.settled for outcome in outcomes)
        still = len({outcome.case.label for outcome in outcomes} - settled)
        self._say(
            f"after {blocks_done} blocks: {told} of {len(outcomes)} results have a verdict; "
            f"{still} benchmarks go on"
            if blocks_done < self._plan.blocks.looks[-1]
            else f"after {blocks_done} blocks: {told} of {len(outcomes)} results have a verdict"
        )

    def give_up(self, case: str, why: str) -> None:
        """Tell that a benchmark is left out."""
        self._say(f"{case} is left out: {why}")

    def _say(self, text: str) -> None:
        console = self._screen.console
        console.print(f"{self._name}{text}", highlight=False, markup=False, soft_wrap=True)

    def _block_name(self) -> str:
        if self._block < 0:
            return "warm-up"
        return f"block {self._block + 1} of at most {self._plan.blocks.looks[-1]}"

    def _time_left(self) -> str:
        """Say how long it is to the next look, and to the end if nothing settles before."""
        per_block = self._variants * sum(
            _mean(self._seconds.get(case) or self._all_seconds()) for case in self._open
        )
        if not per_block:
            return ""
        runs = len(self._open) * self._variants
        begun = self._done_in_block() / runs
        looks = self._plan.blocks.looks
        next_look = next(look for look in looks if look > self._block)
        to_look = (next_look - self._block - begun) * per_block
        to_end = (looks[-1] - self._block - begun) * per_block
        if next_look == looks[-1]:
            return f"{_clock(to_end)} left"
        return f"{_clock(to_look)} to the look at block {next_look}, at most {_clock(to_end)} left"

    def _done_in_block(self) -> int:
        """Count the runs done; below 0 while runs of the block before are under way."""
        return self._begun_in_block - self._under_way

    def _all_seconds(self) -> list[float]:
        return [second for seconds in self._seconds.values() for second in seconds]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
