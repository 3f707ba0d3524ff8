"""A budget of time: where it ends a plan, how the last look is judged, what a resume does."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from schedlab.judging.analysis import analyse
from schedlab.judging.stats import finished, judge
from schedlab.judging.verdict import Comparison
from schedlab.lab.pace import Budget, Pace
from schedlab.lab.runner import MORE_BLOCKS, Runner
from schedlab.plan.design import Design
from schedlab.plan.plan import Plan
from schedlab.report import Report
from schedlab.result.record import RunRecord
from schedlab.result.store import Store
from schedlab.targets.target import Order
from tests.lab.test_runner import Pretended, Silent, begin, noisy, plan_of


class Clock:
    """Time that passes only in runs."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Timed(Pretended):
    """A session whose runs take as long as the test wants."""

    def __init__(
        self, clock: Clock, seconds: float = 1.0, stop_after: int = 10**9, beside: float = 0.0
    ) -> None:
        super().__init__(lambda order: noisy(order, effect=1.04, noise=0.05), stop_after)
        self.clock = clock
        self.seconds = seconds
        self.beside = beside
        """What settling and counting take beside each run."""

    def run(self, order: Order, raw: Path) -> RunRecord:
        record = super().run(order, raw)
        record.started = f"2024-01-01T00:00:00.{len(self.orders):03}+00:00"
        record.seconds = self.seconds
        self.clock.now += self.seconds + self.beside
        return record


def run_with(folder: Path, plan: Plan, clock: Clock, session: Timed) -> tuple[Store, Silent]:
    store, cases = begin(folder, plan)
    progress = Silent()
    Runner(store, cases, session, progress, budget=Budget(plan, store.spent, clock)).run()
    return store, progress


def budgeted(budget: str, **more: object) -> Plan:
    blocks = {"looks": [6, 12, 24], "seed": 5, "budget": budget, **more}
    return plan_of("SysBenchCpu", "SysBenchThreads", blocks=blocks)


@pytest.mark.parametrize(
    ("budget", "blocks"),
    [("1s", 1), ("11s", 1), ("12s", 2), ("35s", 7), ("36s", 8), ("1000s", 12)],
)
def test_a_plan_ends_after_the_last_whole_block_that_fits(
    tmp_path: Path, budget: str, blocks: int
) -> None:
    """Four runs a block, a second each; the warm-up block counts towards the time."""
    clock = Clock()
    plan = budgeted(budget, looks=[6, 12])
    store, progress = run_with(tmp_path / "r", plan, clock, Timed(clock))
    counted = [record for record in store.records() if not record.key.warmup]
    assert len(counted) == 4 * blocks
    assert progress.looks[-1][0] == blocks
    assert store.ended == (blocks if blocks < 12 else None)
    assert bool(progress.ended) == (blocks < 12)


def test_a_budget_too_short_for_a_block_says_so_and_runs_one(tmp_path: Path) -> None:
    clock = Clock()
    store, progress = run_with(tmp_path / "r", budgeted("3s"), clock, Timed(clock))
    assert store.ended == 1
    assert progress.ended == [
        "the budget of 3s ended the plan after 1 block; one is run at least,"
        f" and with 1 block to warm up it took 8 s. {MORE_BLOCKS}"
    ]
    assert store.notices[-2:] == [progress.ended[0].removesuffix(f". {MORE_BLOCKS}"), MORE_BLOCKS]


def test_the_last_look_is_where_the_budget_ended_the_plan(tmp_path: Path) -> None:
    clock = Clock()
    store, progress = run_with(tmp_path / "r", budgeted("40s"), clock, Timed(clock))
    assert store.ended == 9
    assert [look for look, _ in progress.looks] == [6, 9]
    store.close()
    again = Store.open(tmp_path / "r")
    assert again.design.taken == (6, 9)
    assert again.design.looks == (6, 12, 24), "by whose number each p is multiplied"
    assert all(o.verdict.p_adjusted is not None for o in analyse(again).outcomes)
    method = " ".join(Report(again, analyse(again)).method())
    assert "A time budget of 40s ended the plan after 9 blocks" in method


def test_nothing_is_run_when_a_plan_that_its_budget_ended_is_resumed(tmp_path: Path) -> None:
    clock = Clock()
    store, _ = run_with(tmp_path / "r", budgeted("20s"), clock, Timed(clock))
    runs, ended = len(store.records()), store.ended
    store.close()
    store = Store.open(tmp_path / "r", readonly=False)
    session = Timed(clock)
    Runner(store, store.plan.cases(store.machine), session, Silent()).run()
    assert (len(store.records()), store.ended, session.orders) == (runs, ended, [])


def test_a_resumed_plan_has_what_is_left_of_its_budget(tmp_path: Path) -> None:
    """What lies between the runs counts, as it does without a stop; a day's pause does not."""
    clock = Clock()
    plan = budgeted("22s")
    store, cases = begin(tmp_path / "r", plan)
    session, budget = Timed(clock, stop_after=10, beside=0.1), Budget(plan, clock=clock)
    with closing(store), pytest.raises(KeyboardInterrupt):
        Runner(store, cases, session, Silent(), budget=budget).run()
    clock.now += 86_400.0
    store = Store.open(tmp_path / "r", readonly=False)
    assert len(store.records()) == 10
    assert Budget(plan, store.spent, clock).left == pytest.approx(11)
    session = Timed(clock, beside=0.1)
    budget = Budget(plan, store.spent, clock)
    Runner(store, plan.cases(store.machine), session, Silent(), budget=budget).run()
    assert store.ended == 4
    assert len(store.records()) == 20, "the block that was begun is whole"


def test_a_budget_without_time_is_refused() -> None:
    with pytest.raises(ValidationError, match="'0s' leaves no time for a run"):
        budgeted("0s")


def test_runs_at_a_time_share_the_time_but_none_is_shorter_than_itself() -> None:
    pace = Pace(4, {"long": 8.0})
    assert pace.together({"other": 3}) is None
    assert pace.together({}) == 0
    assert pace.together({"long": 2}) == 8
    pace.learn("short", 1.0)
    pace.learn("short", 3.0)
    assert pace.together({"long": 4, "short": 8}) == (4 * 8 + 8 * 2) / 4
    assert pace.together({"short": 4, "unknown": 4}) == 4


def test_a_look_moved_by_a_budget_is_never_one_more() -> None:
    design = Design(looks=(6, 12, 24))
    for ended in range(1, 25):
        taken = replace(design, ended=ended).taken
        assert len(taken) <= len(design.looks)
        assert taken[-1] == ended
        assert set(taken[:-1]) <= set(design.looks)


def test_the_p_of_a_plan_that_was_cut_short_is_still_multiplied_by_all_looks() -> None:
    values = [1.0 + 0.01 * (i % 3) for i in range(9)]
    other = [1.05 * value + 0.004 * (i % 2) for i, value in enumerate(values)]
    comparison = Comparison("x", values, other, "higher", blocks_done=9)
    design = Design(looks=(6, 12, 24), ended=9)
    (verdict,) = judge([comparison], design)
    (alone,) = judge([comparison], Design(looks=(9,)))
    assert alone.p_adjusted is not None
    (at_six,) = judge(
        [Comparison("x", values[:6], other[:6], "higher", blocks_done=6)], Design(looks=(6,))
    )
    assert at_six.p_adjusted is not None
    assert verdict.p_adjusted == pytest.approx(3 * min(alone.p_adjusted, at_six.p_adjusted))
    assert finished(verdict, design)
