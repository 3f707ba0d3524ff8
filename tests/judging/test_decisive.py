"""The counters that carry a change come first, and what says the same comes once."""

import random
from collections.abc import Callable
from pathlib import Path

from schedlab.counters.meaning import Topic
from schedlab.judging.analysis import analyse, counted_runs
from schedlab.judging.decisive import Ranked, rank
from schedlab.judging.meanings import meaning_of
from schedlab.plan.plan import BenchmarkEntry, Blocks, Judging, Plan
from schedlab.report import Detail, Report, all_shapes
from schedlab.report.content import has_changed
from schedlab.report.decided import MOST, decision
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant
from tests.helpers.report_store import MACHINE, TIME

Count = Callable[[bool, float, random.Random], dict[str, float]]
"""What a run counts: in the variant or not, how slow its block is, its own noise."""


def store_of(
    folder: Path, count: Count, nr_cases: int = 1, nr_blocks: int = 12, paired: bool = True
) -> Store:
    """Return a result in which the variant takes half the time; blocks differ by a third."""
    rng = random.Random(1)
    cases = [CaseInfo(f"Bench {i}-groups", "Bench", "", "", {}, (TIME,)) for i in range(nr_cases)]
    plan = Plan(
        benchmark=(BenchmarkEntry(name="Bench"),),
        variant=(Variant(name="base"), Variant(name="patch")),
        blocks=Blocks(looks=(nr_blocks,), warmup=0),
        judging=Judging(paired=paired),
    )
    store = Store.create(folder, plan, MACHINE, {}, cases, "schedlab run")
    position = 0
    for block in range(nr_blocks):
        slow = rng.uniform(0.8, 1.2)
        for case in cases:
            for variant in ("base", "patch"):
                is_patched = variant == "patch"
                run = RunRecord(RunKey(case.label, variant, block), position, 0, "", seconds=10.0)
                run.metrics = {"time": slow * (0.5 if is_patched else 1.0) * rng.gauss(1, 0.01)}
                run.counters = count(is_patched, slow, rng)
                store.add(run)
                position += 1
    return store


def ranked(store: Store) -> list[Ranked]:
    found = analyse(store)
    changed = [counter for counter in found.counters if has_changed(counter)]
    table = counted_runs(store)
    return rank(found.outcomes, changed, table, store.plan.judging.paired, store.design.margin)


def names(found: list[Ranked]) -> list[str]:
    return [each.outcome.counter for each in found]


def test_clear_movers_come_before_faint_ones(tmp_path: Path) -> None:
    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "newidle:pulls:MC": (3_000 if patched else 12_400) * rng.gauss(1, 0.05),
            "power:cpu_frequency": (2_000 if patched else 1_000) * rng.gauss(1, 0.2),
            "cost:lock_waits": (97_000 if patched else 100_000) * rng.gauss(1, 0.001),
        }

    found = ranked(store_of(tmp_path / "r", count))
    assert names(found) == ["newidle:pulls:MC", "power:cpu_frequency", "cost:lock_waits"]
    assert found[-1].clearness < 2  # whatever its noise: the margin is the floor
    assert found[0].alignment > 0.9
    assert found[1].alignment < 0


def test_the_same_without_pairs(tmp_path: Path) -> None:
    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "newidle:pulls:MC": (3_000 if patched else 12_400) * rng.gauss(1, 0.05),
            "power:cpu_frequency": (1_500 if patched else 1_000) * rng.gauss(1, 0.2),
        }

    found = ranked(store_of(tmp_path / "r", count, paired=False))
    assert names(found) == ["newidle:pulls:MC", "power:cpu_frequency"]


def test_what_says_the_same_comes_once(tmp_path: Path) -> None:
    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        timers = (300 if patched else 1_000) * rng.gauss(1, 0.2)
        switches = (5_000 if patched else 9_000) * rng.gauss(1, 0.05)
        return {
            "timer:hrtimer_expire_exit": timers * rng.gauss(1, 0.1),  # by name, however it varies
            "timer:hrtimer_expire_entry": timers,
            "schedlab:load_balance": 2 * switches,  # in a fixed ratio
            "newidle:found": switches,
            "newidle:entries": (2_000 if patched else 9_000) * rng.gauss(1, 0.05),
        }

    found = {each.outcome.counter: each.alike for each in ranked(store_of(tmp_path / "r", count))}
    assert found == {
        "timer:hrtimer_expire_entry": ("timer:hrtimer_expire_exit",),
        "newidle:found": ("schedlab:load_balance",),  # it says more of what happened
        "newidle:entries": (),
    }


def many(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
    """Count thirty things that all change, in six topics."""
    balance = ("newidle:pulls:{}", "busy:pulls:{}", "cpuidle:{}:usage", "cpu-time:{}:ns")
    kinds = (*balance, "irq:{}", "lock:{}")
    counted = {
        kind.format(f"N{i}"): (100.0 if patched else 1_000.0 + i) * rng.gauss(1, 0.1)
        for kind in kinds
        for i in range(5)
    }
    return counted | {"sched:pelt": (10.0 if patched else 1_000.0) * rng.gauss(1, 0.01)}


def test_a_report_has_eight_at_most_of_several_topics(tmp_path: Path) -> None:
    for nr_cases in (1, 3, 12):
        store = store_of(tmp_path / f"{nr_cases}", many, nr_cases, nr_blocks=8)
        found = decision(Report(store, analyse(store)))
        shown = [ranked for part in found.parts for ranked in part.ranked]
        assert found.title == "What decided it"
        assert len(shown) == MOST
        assert len(found.parts) == min(nr_cases, MOST)
        for part in found.parts:
            topics = [each.topic for each in part.ranked]
            weights = [each.weight for each in part.ranked]
            assert topics == sorted(topics, key=topics.index)  # those of one topic together
            assert weights[0] == max(weights)
            assert max(map(topics.count, topics)) <= 2
            assert Topic.BOOKKEEPING not in topics
        assert found.more == 31 * nr_cases - MOST


def test_what_changed_little_does_not_carry_a_large_change(tmp_path: Path) -> None:
    """However clearly: the metric changes by a third and more."""

    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "vmstat:numa_pages_migrated": (10 if patched else 9_000) * rng.gauss(1, 0.05),
            "newidle:entries": (9_500 if patched else 9_000) * rng.gauss(1, 0.001),
        }

    store = store_of(tmp_path / "r", count)
    assert len(ranked(store)) == 2
    found = decision(Report(store, analyse(store)))
    [part] = found.parts
    assert [each.outcome.counter for each in part.ranked] == ["vmstat:numa_pages_migrated"]
    assert found.more == 1


def test_in_a_users_words(tmp_path: Path) -> None:
    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "newidle:pulls:MC": (3_100 if patched else 12_400) * rng.gauss(1, 0.001),
            "cost:lock_wait_ns": (5e7 if patched else 2e7) * rng.gauss(1, 0.001),
        }

    store = store_of(tmp_path / "r", count)
    [part] = decision(Report(store, analyse(store))).parts
    assert part.lines == (
        "newidle balance pulled a task in MC: 1,240 -> 310 a second",
        "time spent waiting for locks: 2 -> 5 ms a second",
    )


def test_all_counters_where_they_are_asked_for(tmp_path: Path) -> None:
    store = store_of(tmp_path / "r", many, 2)
    analysis = analyse(store)
    for name in ("terminal", "markdown"):
        render = all_shapes()[name].render
        plain = render(Report(store, analysis))
        full = render(Report(store, analysis, Detail(counters=True)))
        assert "54 further counters changed" in " ".join(plain.split())
        assert "sched:pelt" not in plain.partition("# Test results")[0]
        assert "sched:pelt" in full.partition("# Test results")[0]
        assert meaning_of("sched:pelt").topic in full


def test_what_only_takes_time_is_not_why_where_there_is_more_of_it(tmp_path: Path) -> None:
    """The variant is better: pages that move may be why, more marks and faults are not."""

    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        more = (3 if patched else 1) * slow * rng.gauss(1, 0.01)
        less = (1 if patched else 3) * slow * rng.gauss(1, 0.01)
        return {
            "vmstat:numa_pte_updates": 9000 * more * rng.gauss(1, 0.1),
            "vmstat:numa_pages_migrated": 1000 * more * rng.gauss(1, 0.1),
            "vmstat:numa_hint_faults": 1000 * less * rng.gauss(1, 0.1),
        }

    store = store_of(tmp_path / "r", count)
    [part] = decision(Report(store, analyse(store))).parts
    said = [line.partition(":")[0] for line in part.lines]
    assert sorted(said) == ["marked page was touched", "page moved to another node"]


def test_what_was_decided_comes_before_what_follows(tmp_path: Path) -> None:
    """However clear: that no CPU is overloaded follows from where tasks were put."""

    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "newidle:left:calm": (90_000 if patched else 9_000) * rng.gauss(1, 0.001),
            "cost:lock_waits": (80_000 if patched else 9_000) * rng.gauss(1, 0.002),
            "cpuidle:C6:usage": (70_000 if patched else 9_000) * rng.gauss(1, 0.002),
            "newidle:pulls:NUMA": (2 if patched else 1_600) * rng.gauss(1, 0.3),
        }

    store = store_of(tmp_path / "r", count)
    assert names(ranked(store))[0] == "newidle:left:calm"
    [part] = decision(Report(store, analyse(store))).parts
    assert [line.partition(":")[0] for line in part.lines] == [
        "newidle balance pulled a task in NUMA",
        "newidle balance ended",
        "wait for a lock",
        "CPU entered C6",
    ]


def test_a_tracepoint_without_words_has_no_line(tmp_path: Path) -> None:
    """Its name alone says nothing of the scheduler; all counters have it."""

    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return {
            "timer_migration:tmigr_update_events": (90 if patched else 9) * rng.gauss(1, 0.001),
            "newidle:pulls:NUMA": (2 if patched else 1_600) * rng.gauss(1, 0.3),
        }

    report = Report(store := store_of(tmp_path / "r", count), analyse(store))
    [part] = decision(report).parts
    assert [each.outcome.counter for each in part.ranked] == ["newidle:pulls:NUMA"]
    everything = Report(store, analyse(store), Detail(counters=True))
    assert "tmigr_update_events" in all_shapes()["terminal"].render(everything)


def test_a_time_too_small_to_matter_is_not_named(tmp_path: Path) -> None:
    """A few ns of each operation doubled; the tasks' time halved."""

    def count(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        spent = {"time:measured:ns": 1e9, "time:user:ns": (4e9 if patched else 8e9)}
        tiny = (2e6 if patched else 1e6) * rng.gauss(1, 0.01)
        return {**spent, "cpu-time:newidle_balance:ns": tiny}

    store = store_of(tmp_path / "r", count)
    report = Report(store, analyse(store))
    found = decision(report)
    assert (found.title, found.parts, found.more) == ("What decided it", (), 1)
    for shape in ("terminal", "markdown", "html"):
        assert "No counter stands out" in all_shapes()[shape].render(report), shape

    def large(patched: bool, slow: float, rng: random.Random) -> dict[str, float]:
        return count(patched, slow, rng) | {
            "cpu-time:newidle_balance:ns": (2e9 if patched else 1e9) * rng.gauss(1, 0.01)
        }

    store = store_of(tmp_path / "large", large)
    [part] = decision(Report(store, analyse(store))).parts
    assert part.lines == ("CPU time in newidle_balance: 100 -> 200 ms a second",)
