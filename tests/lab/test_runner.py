"""The runner: order, pairing, resume, stopping, giving up; with a target that only pretends."""

import random
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import pytest

from schedlab.benchmarks import Case
from schedlab.judging.analysis import Outcome, RunTable, analyse
from schedlab.lab.order import block_order, run_seed, stretches
from schedlab.lab.runner import GIVE_UP_AFTER, Progress, Runner, is_whole
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.report import Report, all_shapes
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store, describe
from schedlab.targets.target import Order

MACHINE = Machine.model_validate(
    {"name": "m", "arch": "x86_64", "memory_gib": 8, "cpus": "0-3", "topology": {}}
)
Behaviour = Callable[[Order], float]


def plan_of(*names: str, looks: Sequence[int] = (6, 12), **more: object) -> Plan:
    return Plan.model_validate(
        {
            "benchmark": [{"name": name} for name in names],
            "variant": [{"name": "base"}, {"name": "new"}],
            "blocks": {"looks": list(looks), "seed": 5},
            **more,
        }
    )


class Pretended:
    """A session whose figures come from a function; None fails the run."""

    def __init__(self, figure: Callable[[Order], float | None], stop_after: int = 10**9) -> None:
        self.notices: list[str] = ["pretended"]
        self.figure = figure
        self.orders: list[Order] = []
        self.stop_after = stop_after

    def run(self, order: Order, raw: Path) -> RunRecord:
        if len(self.orders) == self.stop_after:
            raise KeyboardInterrupt
        self.orders.append(order)
        value = self.figure(order)
        record = RunRecord(order.key, order.position, order.seed, "pretend")
        if value is None:
            record.status, record.error = "failed", "no figure"
        else:
            (metric,) = order.case.benchmark.metrics
            record.metrics = {metric.name: value}
        return record


class Silent(Progress):
    """A progress that keeps what is reported to it."""

    def __init__(self) -> None:
        self.looks: list[tuple[int, set[str]]] = []
        self.given_up: list[str] = []
        self.ended: list[str] = []

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        self.looks.append((blocks_done, settled))

    def end(self, why: str) -> None:
        self.ended.append(why)

    def give_up(self, case: str, why: str) -> None:
        self.given_up.append(case)


def begin(folder: Path, plan: Plan) -> tuple[Store, list[Case]]:
    cases = plan.cases(MACHINE)
    infos = [describe(case, "pretend") for case in cases]
    return Store.create(folder, plan, MACHINE, {}, infos, "schedlab run"), cases


def noisy(order: Order, effect: float = 1.0, noise: float = 0.01) -> float:
    value = 100 * random.Random(f"{order.key}").lognormvariate(0, noise)
    return value * (effect if order.key.variant == "new" else 1.0)


def test_blocks_hold_every_run_once_in_an_order_of_their_own() -> None:
    plan = plan_of("SysBenchCpu", "SysBenchThreads", "Tbench")
    cases = plan.cases(MACHINE)
    orders = [[key for key, _, _ in block_order(plan, cases, block)] for block in range(20)]
    for block, order in enumerate(orders):
        assert sorted(str(key) for key in order) == sorted(
            str(RunKey(case.label, variant, block)) for case in cases for variant in ("base", "new")
        )
        variants = [key.variant for key in order if key.case == "Tbench"]
        at = order.index(RunKey("Tbench", variants[0], block))
        assert order[at + 1].case == "Tbench", "the variants of a benchmark run side by side"
    assert len({order[0].case for order in orders}) == 3


@pytest.mark.parametrize("others", [1, 2, 7])
def test_six_blocks_are_balanced_and_without_a_rhythm(others: int) -> None:
    names = [f"v{i}" for i in range(others + 1)]
    plan = plan_of("SysBenchCpu", variant=[{"name": name} for name in names], looks=[60])
    orders = [
        [key.variant for key, _, _ in block_order(plan, plan.cases(MACHINE), block)]
        for block in range(60)
    ]
    assert all(sorted(order) == names for order in orders)
    for other in names[1:]:
        ahead = [order.index("v0") < order.index(other) for order in orders]
        sixes = [ahead[at : at + 6] for at in range(0, 60, 6)]
        assert {sum(six) for six in sixes} == {3}
        assert not any(six in ([True, False] * 3, [False, True] * 3) for six in sixes)
        assert len({tuple(six) for six in sixes}) > 3, "and each six is drawn anew"


def test_leaving_a_benchmark_out_does_not_change_the_rest() -> None:
    plan = plan_of("SysBenchCpu", "SysBenchThreads", "Tbench")
    cases = plan.cases(MACHINE)
    for block in range(5):
        full = [key for key, _, _ in block_order(plan, cases, block) if key.case != "Tbench"]
        assert [key for key, _, _ in block_order(plan, cases[:2], block)] == full


def test_a_seed_is_shared_by_the_variants_of_a_block() -> None:
    plan = plan_of("SysBenchCpu")
    session = Pretended(noisy)
    seeds = {run_seed(plan, block, "SysBenchCpu") for block in chain.from_iterable(stretches(plan))}
    assert len(seeds) == 13
    assert session.orders == []


def test_warm_up_counts_for_nothing(tmp_path: Path) -> None:
    store, cases = begin(tmp_path / "r", plan_of("SysBenchCpu", looks=[6]))
    Runner(store, cases, Pretended(noisy), Silent()).run()
    records = store.records()
    assert [record.key.warmup for record in records] == [True] * 2 + [False] * 12
    (outcome,) = analyse(store).outcomes
    assert outcome.verdict.n == (6, 6)


def test_a_settled_benchmark_stops_and_an_open_one_goes_on(tmp_path: Path) -> None:
    def figure(order: Order) -> float:
        if order.key.case == "SysBenchCpu":
            return noisy(order, effect=1.2)
        return noisy(order, effect=1.04, noise=0.05)

    store, cases = begin(tmp_path / "r", plan_of("SysBenchCpu", "SysBenchThreads"))
    progress = Silent()
    Runner(store, cases, Pretended(figure), progress).run()
    assert progress.looks[0] == (6, {"SysBenchCpu"})
    table = RunTable(store.plan, store.records(), {})
    assert (table.blocks_done("SysBenchCpu"), table.blocks_done("SysBenchThreads")) == (6, 12)
    words = {outcome.case.label: outcome.verdict.word for outcome in analyse(store).outcomes}
    assert words == {"SysBenchCpu": "better", "SysBenchThreads": "can't tell"}


@pytest.mark.parametrize("stop_after", [0, 1, 3, 14, 25, 40])
def test_a_resumed_plan_makes_the_same_runs_in_the_same_order(
    tmp_path: Path, stop_after: int
) -> None:
    plan = plan_of("SysBenchCpu", "SysBenchThreads", "Tbench")
    whole, cases = begin(tmp_path / "whole", plan)
    Runner(whole, cases, Pretended(noisy), Silent()).run()
    store, cases = begin(tmp_path / "cut", plan)
    with pytest.raises(KeyboardInterrupt):
        Runner(store, cases, Pretended(noisy, stop_after), Silent()).run()
    assert len(store.records()) == stop_after
    store.close()
    store = Store.open(tmp_path / "cut", readonly=False)
    Runner(store, cases, Pretended(noisy), Silent()).run()
    assert store.records() == whole.records()


def test_a_variant_that_keeps_failing_is_left_out_and_the_others_are_compared(
    tmp_path: Path,
) -> None:
    def figure(order: Order) -> float | None:
        return None if order.variant.name == "bad" else noisy(order)

    three = [{"name": name} for name in ("base", "new", "bad")]
    store, cases = begin(tmp_path / "r", plan_of("SysBenchCpu", looks=[6], variant=three))
    progress = Silent()
    Runner(store, cases, Pretended(figure), progress).run()
    assert progress.given_up == ["SysBenchCpu in bad"]
    failed = [record for record in store.records() if record.status == "failed"]
    assert len(failed) == GIVE_UP_AFTER
    numbers = {outcome.variant: outcome.verdict.n for outcome in analyse(store).outcomes}
    assert numbers == {"new": (6, 6), "bad": (0, 0)}
    assert is_whole(store, cases)


def test_a_benchmark_that_keeps_failing_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    def figure(order: Order) -> float | None:
        return None if order.key == RunKey("Tbench", "new", order.key.block) else noisy(order)

    store, cases = begin(tmp_path / "r", plan_of("SysBenchCpu", "Tbench", looks=[6]))
    progress = Silent()
    Runner(store, cases, Pretended(figure), progress).run()
    assert progress.given_up == ["Tbench"]
    failed = [record for record in store.records() if record.status == "failed"]
    assert len(failed) == GIVE_UP_AFTER
    assert any("Tbench: left out: failed 3 times in new" in line for line in store.notices)
    words = {outcome.case.label: outcome.verdict.n for outcome in analyse(store).outcomes}
    assert words == {"SysBenchCpu": (6, 6), "Tbench": (0, 0)}
    report = Report(store, analyse(store))
    [why] = {o.verdict.note for o in report.analysis.outcomes if o.case.label == "Tbench"}
    assert why.startswith("not judged: every run of new failed: ")
    assert report.tally("new").endswith("1 not judged")
    for shape in ("terminal", "lkml", "summary", "html", "markdown"):
        text = all_shapes()[shape].render(report)
        assert "every run of new failed" in " ".join(text.split()), shape


def test_a_failed_run_takes_its_pair_with_it(tmp_path: Path) -> None:
    def figure(order: Order) -> float | None:
        return None if order.key == RunKey("SysBenchCpu", "new", 2) else noisy(order)

    store, cases = begin(tmp_path / "r", plan_of("SysBenchCpu", looks=[6]))
    Runner(store, cases, Pretended(figure), Silent()).run()
    (outcome,) = analyse(store).outcomes
    assert outcome.verdict.n == (5, 5)
    assert outcome.verdict.blocks_done == 6
