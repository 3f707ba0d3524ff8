"""Drawing a machine's figures: repeatable, in range, and no false verdicts because of it."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from schedlab.judging.analysis import analyse
from schedlab.judging.sensitivity import FEWEST_BLOCKS, claimed, strongest
from schedlab.judging.stats import judge_families
from schedlab.judging.verdict import Comparison
from schedlab.machine.draws import Draw, about, draw, drawn, figure_at
from schedlab.machine.ledger import at, number
from schedlab.machine.model import find_machine, known_machines
from schedlab.machine.simulator import description
from schedlab.plan.design import Design
from schedlab.report import Report, as_json
from schedlab.report.sensitivity import sensitivity
from schedlab.result.store import Store
from tests.judging.test_no_effect import CASE, PLAN, runs

SMP4 = find_machine("smp4")


@pytest.mark.parametrize("name", known_machines())
def test_a_drawn_machine_is_one_and_keeps_its_facts(name: str) -> None:
    machine = find_machine(name)
    table = machine.model_dump(mode="json")
    for positions in (dict.fromkeys(draw(machine, 1), end) for end in (0.0, 1.0)):
        other = drawn(machine, positions)
        assert description(other).keys() == description(machine).keys()
        assert other.topology == machine.topology
        for key in positions:
            entry = machine.ledger[key]
            assert entry.range
            end = entry.range[int(positions[key])]
            found = at(other.model_dump(mode="json"), key)
            if isinstance(end, str):
                assert number(found) == pytest.approx(number(end), abs=0.51)
    assert machine.model_dump(mode="json") == table


def test_a_draw_follows_from_the_seed_alone() -> None:
    first, second = draw(SMP4, 7), draw(SMP4, 8)
    assert first == draw(SMP4, 7) != second
    assert all(0 <= position < 1 for position in first.values())
    fewer = {key: entry for key, entry in SMP4.ledger.items() if key != "cost.line_remote"}
    without = draw(SMP4.model_copy(update={"ledger": fewer}), 7)
    assert without == {key: at for key, at in first.items() if key != "cost.line_remote"}


def test_a_run_depends_on_its_own_programs_figures() -> None:
    positions = draw(SMP4, 1)
    shown = about(positions, "sqlite")
    assert "work.sqlite.write" in shown and "cost.tick" not in positions | shown
    assert {key for key in shown if key.startswith("work.")} == {
        key for key in positions if key.startswith("work.sqlite.")
    }
    assert about(positions, "hackbench") == {
        key: at for key, at in positions.items() if not key.startswith("work.")
    }


def test_figures_that_are_one_fact_move_together() -> None:
    machine = find_machine("spr-8480-2p")
    for seed in range(20):
        cost = drawn(machine, draw(machine, seed)).cost
        assert cost["line_llc"] == cost["line_node"] == cost["line_package"]


def test_figures_lie_in_a_triangle_around_their_value() -> None:
    found = [number(figure_at("20us", "10us", "40us", (i + 0.5) / 4000)) for i in range(4000)]
    assert min(found) >= 10_000 and max(found) <= 40_000
    assert sum(each < 20_000 for each in found) / 4000 == pytest.approx(0.5, abs=0.03)
    assert np.std(np.log(found)) == pytest.approx(math.log(2) / math.sqrt(6), rel=0.05)
    edge = [number(figure_at("30us", "10us", "30us", (i + 0.5) / 4000)) for i in range(4000)]
    assert max(edge) <= 30_000
    assert np.median(edge) == pytest.approx(10_000 * 3 ** math.sqrt(0.5), rel=0.01)


EFFECTS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "one figure": lambda u: 0.10 * (u[:, 0] - 0.5),
    "many figures": lambda u: 0.05 * (u[:, :10] - 0.5).sum(axis=1),
    "one end only": lambda u: 0.15 * (np.maximum(u[:, 0] - 0.6, 0) - 0.08),
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_no_more_false_verdicts_when_the_change_depends_on_the_draw(effect: str) -> None:
    """The change is nothing on average over what the machine may be, and something in each block.

    The reports look at 6, 12, 24 and 40 blocks; any claim at any look is a false alarm.
    """
    design, rng, reports, benchmarks = Design(), np.random.default_rng(3), 250, 4
    alarms = np.zeros(reports, bool)
    families: list[list[Comparison]] = []
    u = rng.random((reports, benchmarks, 40, 12))
    noise = rng.normal(0, 0.01, (reports, benchmarks, 40))
    d = np.stack([[EFFECTS[effect](u[r, b]) for b in range(benchmarks)] for r in range(reports)])
    ratios = np.exp(d + noise)
    for look in design.looks:
        families = [
            [
                Comparison(b, [1.0] * look, ratios[r, b, :look].tolist(), "lower")
                for b in range(benchmarks)
            ]
            for r in range(reports)
        ]
        for r, verdicts in enumerate(judge_families(families, design)):
            alarms[r] |= any(v.word in ("better", "worse") for v in verdicts)
    assert stats.binomtest(int(alarms.sum()), reports, 0.05, alternative="greater").pvalue > 0.01


def dealt(blocks: int, seed: int) -> dict[int, Draw]:
    return {block: draw(SMP4, 1000 * seed + block) for block in range(blocks)}


@pytest.mark.parametrize("blocks", [12, 24])
def test_no_figure_is_named_by_chance(blocks: int) -> None:
    rng, named = np.random.default_rng(blocks), 0
    for seed in range(120):
        changes = dict(enumerate(rng.normal(0, 0.01, blocks)))
        named += sum(claimed([strongest(changes, dealt(blocks, seed))], 0.05))
    assert stats.binomtest(named, 120, 0.05, alternative="greater").pvalue > 0.01


def test_the_figure_that_decides_is_named() -> None:
    rng, right = np.random.default_rng(1), 0
    for seed in range(40):
        draws = dealt(24, seed)
        changes = {b: 0.1 * d["cost.line_remote"] + rng.normal(0, 0.02) for b, d in draws.items()}
        found = strongest(changes, draws)
        assert found
        right += claimed([found], 0.05)[0] and found.figure == "cost.line_remote"
        assert found.low < found.high or found.figure != "cost.line_remote"
    assert right >= 32


def test_few_blocks_say_nothing() -> None:
    draws = dealt(FEWEST_BLOCKS - 1, 1)
    assert strongest({b: d["cost.line_remote"] for b, d in draws.items()}, draws) is None
    assert strongest(dict.fromkeys(range(24), 0.0), dealt(24, 1)) is None


@pytest.mark.parametrize(
    ("blocks", "said"), [(6, "not enough blocks to say"), (24, "cost.line_remote")]
)
def test_a_report_names_it(tmp_path: Path, blocks: int, said: str) -> None:
    store = Store.create(tmp_path / "result", PLAN, SMP4, {}, [CASE], "schedlab run")
    records = runs(blocks, frozenset(range(blocks)))
    for record in records:
        record.draws = dict(draw(SMP4, record.seed))
        if record.key.variant == "no-wa":
            record.metrics["time"] *= 1 + 0.1 * record.draws["cost.line_remote"]
    store.add(*records)
    assert [r.draws for r in store.records()] == [r.draws for r in records]
    report = Report(store, analyse(store))
    table = sensitivity(report)
    assert table
    assert said in str((table.notes, table.rows))
    drawn_alone = [key for key in records[0].draws if not SMP4.ledger[key].moves_with]
    assert f"Each block drew {len(drawn_alone)} figures" in table.notes[0]
    named = [each["figure"] for each in json.loads(as_json.render(report))["dependences"]]
    assert named == ([said] if blocks >= FEWEST_BLOCKS else [])
