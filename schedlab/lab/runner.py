"""Running a plan: blocks in order, each run recorded at once, benchmarks stopped when settled."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.benchmarks import Case
from schedlab.lab.order import block_order, run_seed, stretches
from schedlab.lab.pace import Budget, Pace
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store
from schedlab.targets.simulators import Simulators
from schedlab.targets.target import Order, Session, SessionOfMany, Wait

if TYPE_CHECKING:
    from schedlab.judging.analysis import Outcome

GIVE_UP_AFTER = 3
"""Failed runs of one benchmark in one variant after which the benchmark is left out."""


MORE_BLOCKS = (
    "For more blocks begin a new result with a longer --budget, or without one: --resume adds"
    " nothing to a plan that its budget ended, since to go on because of what a report says is to"
    " stop by outcome (docs/internals/statistics.md)."
)
"""What to do where a budget has ended a plan."""


class Progress:
    """Watches a plan run; this one looks away. A subclass overrides what it wants to hear of."""

    def begin(self) -> None:
        """The runs to do are known, and how long they may take if that can be said."""

    def block(self, block: int, cases: Sequence[str]) -> None:
        """Begin a block with the benchmarks that are still open."""

    def start(self, key: RunKey) -> None:
        """Begin a run."""

    def done(self, record: RunRecord) -> None:
        """End a run."""

    def look(self, blocks_done: int, outcomes: Sequence["Outcome"], settled: set[str]) -> None:
        """Judge the evidence so far; `settled` are the benchmarks that need no more blocks."""

    def give_up(self, case: str, why: str) -> None:
        """Leave a benchmark out because it keeps failing."""

    def end(self, why: str) -> None:
        """End the plan before its last block."""


class Runner:
    """Brings a plan from wherever its store stands to its end."""

    def __init__(
        self,
        store: Store,
        cases: Sequence[Case],
        session: Session,
        progress: Progress,
        simulators: Simulators | None = None,
        pace: Pace | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Start the work; what the store already holds is not run again.

        `simulators` do the runs of a session of many; what is recorded does not depend on which.
        """
        self._store = store
        self._plan = store.plan
        self._cases = list(cases)
        self._session = session
        self._progress = progress
        self._simulators = simulators if isinstance(session, SessionOfMany) else None
        self._records = store.records()
        self._pace = pace or Pace(self._simulators.at_a_time if self._simulators else 1)
        self._budget = budget or Budget(self._plan, store.spent)
        self._under_way: Counter[str] = Counter()
        self._began = 0.0
        self._failures = Counter[tuple[str, str]]()
        for record in self._records:
            self._pace.learn(record.key.case, record.seconds)
            self._count_failure(record)

    def run(self) -> None:
        """Run every block that is still owed; every record is on disk before the next run."""
        run_together([self])

    def steps(self) -> Generator[Wait]:
        """Like `run`, but a generator that yields what it waits for."""
        settled: set[str] = set()
        for stretch in stretches(self._plan):
            open_cases = [case for case in self._cases if case.label not in settled]
            if all(_is_closed(self._plan, self._failures, case.label) for case in open_cases):
                break
            for each in self._runs(self._owed(stretch, open_cases)):
                if isinstance(each, RunRecord):
                    self._record(each)
                else:
                    yield each
            self._store.note(self._session.notices)
            done = min(stretch.stop, self._store.ended or stretch.stop)
            if done in self._store.design.taken:
                settled = self._look(done)
            if done == self._store.ended:
                break

    def _owed(self, stretch: Sequence[int], cases: Sequence[Case]) -> Iterator[Order]:
        """Yield the runs of these blocks that are not recorded, each when it is to begin."""
        recorded = {record.key for record in self._records}
        fitting = self._plan.here(self._store.environment)
        for block in stretch:
            going_on = [
                case for case in cases if not _is_closed(self._plan, self._failures, case.label)
            ]
            if not going_on or block == self._store.ended:
                return
            begun = any(key.block == block for key in recorded)
            if block > 0 and not begun and not self._fits(going_on, len(fitting)):
                self._end(block)
                return
            self._store.note(self._session.notices)
            self._progress.block(block, [case.label for case in going_on])
            for key, case, variant in block_order(self._plan, going_on, block):
                if key in recorded or variant not in fitting or self._left_out(key):
                    continue
                order = Order(
                    key=key,
                    case=case,
                    variant=variant,
                    seed=run_seed(self._plan, block, case.label),
                    position=len(self._records),
                )
                self._progress.start(key)
                self._under_way[case.label] += 1
                self._began = self._budget.spent
                yield order

    def _runs(self, orders: Iterator[Order]) -> Iterator[Wait | RunRecord]:
        raw = Path(self._store.folder) / "raw"
        if self._simulators:
            assert isinstance(self._session, SessionOfMany)
            yield from self._session.run_many(orders, raw, self._simulators)
        else:
            for order in orders:
                yield self._session.run(order, raw)

    def _fits(self, cases: Iterable[Case], variants: int) -> bool:
        """Return whether a further block ends within the budget, at the speed there is."""
        block = Counter({case.label: variants for case in cases})
        return self._budget.fits(self._pace.together(self._under_way + block))

    def _end(self, blocks_done: int) -> None:
        """Keep that the budget ends the plan, and say why."""
        self._store.end(blocks_done)
        limit = self._plan.blocks.budget
        why = f"the budget of {limit} ended the plan after {_blocks(blocks_done)}"
        if blocks_done == 1 and not self._budget.fits(0.0):
            why += f"; one is run at least, and {self._with_warmup()} {self._budget.spent:.0f} s"
        self._store.note([why, MORE_BLOCKS])
        self._progress.end(f"{why}. {MORE_BLOCKS}")

    def _with_warmup(self) -> str:
        warmup = self._plan.blocks.warmup
        return f"with {_blocks(warmup)} to warm up it took" if warmup else "it took"

    def _record(self, record: RunRecord) -> None:
        self._under_way[record.key.case] -= 1
        # One after the other, a run takes what lies between them as well.
        alone = record.seconds if self._simulators else self._budget.spent - self._began
        self._pace.learn(record.key.case, alone)
        if self._left_out(record.key):
            return  # begun ahead, before an earlier run showed that its benchmark keeps failing
        record.position = len(self._records)
        self._store.add(record)
        self._records.append(record)
        if self._plan.blocks.budget:
            self._store.spend(self._budget.spent)
        self._progress.done(record)
        self._count_failure(record)

    def _look(self, blocks_done: int) -> set[str]:
        # Later blocks can be there already after a resume; a look sees only its own.
        seen = [record for record in self._records if record.key.block < blocks_done]
        outcomes, settled = _judged(self._store, seen)
        self._progress.look(blocks_done, outcomes, settled)
        return settled

    def _count_failure(self, record: RunRecord) -> None:
        if record.status == "ok":
            return
        case, variant = record.key.case, record.key.variant
        was_closed = _is_closed(self._plan, self._failures, case)
        self._failures[case, variant] += 1
        if self._failures[case, variant] == GIVE_UP_AFTER and not was_closed:
            why = f"failed {GIVE_UP_AFTER} times in {variant}: {record.error}"
            closed = _is_closed(self._plan, self._failures, case)
            what = case if closed else f"{case} in {variant}"
            self._store.note([f"{what}: left out: {why}"])
            self._progress.give_up(what, why)

    def _left_out(self, key: RunKey) -> bool:
        """Return whether a run's benchmark keeps failing, in its variant or as a whole."""
        return _is_given_up(self._failures, key.case, key.variant) or _is_closed(
            self._plan, self._failures, key.case
        )


def _is_given_up(failures: Mapping[tuple[str, str], int], case: str, variant: str) -> bool:
    return failures.get((case, variant), 0) >= GIVE_UP_AFTER


def _is_closed(plan: Plan, failures: Mapping[tuple[str, str], int], case: str) -> bool:
    """Return whether nothing of a benchmark is left to compare: one variant, or no baseline."""
    going_on = [
        variant.name for variant in plan.variant if not _is_given_up(failures, case, variant.name)
    ]
    return len(going_on) < len(plan.variant) and (
        len(going_on) < 2 or plan.variant[0].name not in going_on
    )


def is_whole(store: Store, cases: Sequence[Case]) -> bool:
    """Return whether no run is missing: recorded, settled, left out or beyond the budget."""
    plan, records = store.plan, store.records()
    recorded = {record.key for record in records}
    here = plan.here(store.environment)
    failures = Counter((r.key.case, r.key.variant) for r in records if r.status != "ok")
    closed = {case.label for case in cases if _is_closed(plan, failures, case.label)}
    for stretch in stretches(plan):
        going_on = [case for case in cases if case.label not in closed]
        for block in stretch:
            if block == store.ended:
                return True
            for key, _, variant in block_order(plan, going_on, block):
                given_up = _is_given_up(failures, key.case, key.variant)
                if variant in here and key not in recorded and not given_up:
                    return False
        if stretch.stop in store.design.taken:
            seen = [record for record in records if record.key.block < stretch.stop]
            closed |= _judged(store, seen)[1]
    return True


def _judged(store: Store, seen: Sequence[RunRecord]) -> tuple[list["Outcome"], set[str]]:
    from schedlab.judging.analysis import RunTable, judge_metrics, settled_cases

    table = RunTable(store.plan, seen, store.environment)
    outcomes = judge_metrics(store.plan, store.design, store.cases, table)
    return outcomes, settled_cases(store.design, outcomes)


def _blocks(number: int) -> str:
    return "1 block" if number == 1 else f"{number} blocks"


def run_together(runners: Sequence[Runner]) -> None:
    """Finish several plans; while one waits for its runs the others go on."""
    with ExitStack() as stack:
        ready = [stack.enter_context(closing(runner.steps())) for runner in runners]
        waiting: dict[Wait, Generator[Wait]] = {}
        while ready or waiting:
            for steps in ready:
                if (step := next(steps, None)) is not None:
                    waiting[step] = steps
            over, _ = wait(waiting, return_when=FIRST_COMPLETED)
            ready = [waiting.pop(step) for step in over]
