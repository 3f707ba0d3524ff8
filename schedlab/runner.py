"""Running a plan: blocks in order, each run recorded at once, benchmarks stopped when settled."""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

from schedlab.analysis import Outcome, RunTable, judge_metrics, settled_cases
from schedlab.benchmarks import Case
from schedlab.order import block_order, blocks, run_seed
from schedlab.record import RunRecord
from schedlab.store import Store
from schedlab.targets.simulators import Simulators
from schedlab.targets.target import Order, Session, SessionOfMany, Wait

GIVE_UP_AFTER = 3
"""Failed runs of one benchmark in one variant after which the benchmark is left out."""


class Progress(Protocol):
    """Who watches a plan run."""

    def block(self, block: int, cases: Sequence[str]) -> None:
        """Begin a block with the benchmarks that are still open."""

    def start(self, order: Order) -> None:
        """Begin a run."""

    def done(self, record: RunRecord) -> None:
        """End a run."""

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        """Judge the evidence so far; `settled` are the benchmarks that need no more blocks."""

    def give_up(self, case: str, why: str) -> None:
        """Leave a benchmark out because it keeps failing."""


class Runner:
    """Brings a plan from wherever its store stands to its end."""

    def __init__(
        self,
        store: Store,
        cases: Sequence[Case],
        session: Session,
        progress: Progress,
        simulators: Simulators | None = None,
    ) -> None:
        """Take up the work; what the store already holds is not run again.

        `simulators` do the runs of a session of many; what is recorded does not depend on which.
        """
        self._store = store
        self._plan = store.plan
        self._cases = list(cases)
        self._session = session
        self._progress = progress
        self._simulators = simulators
        self._records = store.records()
        self._failures: dict[tuple[str, str], int] = {}
        self._left_out: set[str] = set()
        for record in self._records:
            self._count_failure(record)

    def run(self) -> None:
        """Run every block that is still owed; every record is on disk before the next run."""
        run_together([self])

    def steps(self) -> Generator[Wait]:
        """Do as `run`, giving what is waited for to whoever asks for the next step."""
        settled: set[str] = set()
        for stretch in self._stretches():
            open_cases = [case for case in self._cases if case.label not in settled]
            if all(case.label in self._left_out for case in open_cases):
                break
            for each in self._runs(self._owed(stretch, open_cases)):
                if isinstance(each, RunRecord):
                    self._record(each)
                else:
                    yield each
            self._store.note(self._session.notices)
            if stretch[-1] + 1 in self._plan.blocks.looks:
                settled = self._look(stretch[-1] + 1)

    def _stretches(self) -> Iterator[list[int]]:
        """Give the blocks up to each look; in between, which runs are owed is known."""
        stretch: list[int] = []
        for block in blocks(self._plan):
            stretch.append(block)
            if block + 1 in self._plan.blocks.looks:
                yield stretch
                stretch = []

    def _owed(self, stretch: Sequence[int], cases: Sequence[Case]) -> Iterator[Order]:
        """Give the runs of these blocks that are not recorded, each when it is to begin."""
        recorded = {record.key for record in self._records}
        fitting = self._plan.here(self._store.environment)
        for block in stretch:
            going_on = [case for case in cases if case.label not in self._left_out]
            if not going_on:
                return
            self._store.note(self._session.notices)
            self._progress.block(block, [case.label for case in going_on])
            for key, case, variant in block_order(self._plan, going_on, block):
                if key in recorded or case.label in self._left_out or variant not in fitting:
                    continue
                order = Order(
                    key=key,
                    case=case,
                    variant=variant,
                    seed=run_seed(self._plan, block, case.label),
                    position=len(self._records),
                )
                self._progress.start(order)
                yield order

    def _runs(self, orders: Iterator[Order]) -> Iterator[Wait | RunRecord]:
        raw = Path(self._store.folder) / "raw"
        if self._simulators and isinstance(self._session, SessionOfMany):
            yield from self._session.run_many(orders, raw, self._simulators)
        else:
            for order in orders:
                yield self._session.run(order, raw)

    def _record(self, record: RunRecord) -> None:
        if record.key.case in self._left_out:
            return  # begun ahead, before an earlier run showed that its benchmark keeps failing
        record.position = len(self._records)
        self._store.add(record)
        self._records.append(record)
        self._progress.done(record)
        self._count_failure(record)

    def _look(self, blocks_done: int) -> set[str]:
        # Later blocks can be there already after a resume; a look sees only its own.
        seen = [record for record in self._records if record.key.block < blocks_done]
        table = RunTable(self._plan, seen)
        outcomes = judge_metrics(self._plan, self._store.cases, table)
        settled = settled_cases(self._plan, outcomes)
        self._progress.look(blocks_done, outcomes, settled)
        return settled

    def _count_failure(self, record: RunRecord) -> None:
        if record.status == "ok":
            return
        at = (record.key.case, record.key.variant)
        self._failures[at] = self._failures.get(at, 0) + 1
        if self._failures[at] == GIVE_UP_AFTER and record.key.case not in self._left_out:
            self._left_out.add(record.key.case)
            why = f"failed {GIVE_UP_AFTER} times in {record.key.variant}: {record.error}"
            self._store.note([f"{record.key.case}: left out: {why}"])
            self._progress.give_up(record.key.case, why)


def run_together(runners: Sequence[Runner]) -> None:
    """Bring several plans to their ends; while one waits for its runs the others go on."""
    with ExitStack() as stack:
        ready = [stack.enter_context(closing(runner.steps())) for runner in runners]
        waiting: dict[Wait, Generator[Wait]] = {}
        while ready or waiting:
            for steps in ready:
                if (step := next(steps, None)) is not None:
                    waiting[step] = steps
            over, _ = wait(waiting, return_when=FIRST_COMPLETED)
            ready = [waiting.pop(step) for step in over]
