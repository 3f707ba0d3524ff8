"""Changes here and simulated: effects, orders, scenarios, groups, refusals, going on."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.base.errors import HostError, Interrupted
from schedlab.benchmarks import Case
from schedlab.lab.accuracy import pairs
from schedlab.lab.accuracy.changes import (
    BLOCKS,
    CHANGES,
    Change,
    Compared,
    Effect,
    Group,
    Settings,
    Setup,
    effect,
    order,
    summary,
    table,
)
from schedlab.lab.accuracy.journal import Journal
from schedlab.lab.accuracy.pairs import Groups, Here, There, case_of, compare, scenario
from schedlab.lab.accuracy.single import PLAIN, Bench, Outcome
from schedlab.settings.variant import Variant

DHRY = {"test": "dhry2reg", "copies": 1, "duration": "10ms"}
BASE = Setup("unixbench", DHRY)
SLEEP = Change("sleep", "loops", Setup("nanosleep", {}), Setup("nanosleep", {"processes": 2}))
NICE = Change("nice", "lps", BASE, Setup("unixbench", DHRY, Settings(nice=10), (Settings(),)))


def test_an_effect_is_the_mean_of_logs_with_students_interval() -> None:
    found = effect([(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)])
    assert (found.mean, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))
    noisy = effect([(1.0, 1.0), (1.0, 1.2)])
    assert noisy.low < 0 < noisy.mean < noisy.high
    assert noisy.sign == 0
    assert effect([(1.0, 0.5)] * 3).sign == -1
    assert effect([(1.0, 1.01)] * 3).sign == 0  # too small to have one
    assert effect([(2.0, 1.0)]).holds(-0.5)


def test_order_alternates_and_figures_keep_their_sides() -> None:
    assert order(NICE, 0) == (NICE.base, NICE.other)
    assert order(NICE, 1) == (NICE.other, NICE.base)


def test_there_are_forty_changes_and_more_each_once() -> None:
    assert len({change.name for change in CHANGES}) == len(CHANGES) >= 40
    assert {setup.workload for change in CHANGES for setup in change.setups} >= {
        *("hackbench", "sched-pipe", "netperf", "tbench", "futex-wake", "nanosleep"),
        *("unixbench", "sysbench-cpu", "sysbench-threads", "sysbench-mutex"),
    }
    for change in CHANGES:
        assert change.base != change.other
        assert change.base.workload == change.other.workload


def test_a_setup_is_a_scenario() -> None:
    own = Settings(cpus="0-1", policy="fifo", group=Group(weight=200, quota_us=5_000))
    asked = scenario(Setup("unixbench", DHRY, own, (Settings(nice=5), Settings(policy="idle"))))
    assert [group["path"] for group in asked["groups"]] == ["/lab", "/lab/all", "/lab/2"]
    assert asked["groups"][2] == {
        "path": "/lab/2",
        "cpu.weight": "200",
        "cpu.max": "5000 100000",
    }
    workload = asked["workloads"]
    assert (workload["affinity"], workload["group"]) == ("0-1", "/lab/2")
    assert (workload["policy"], workload["priority"]) == ("fifo", 1)
    assert [hog.get("nice", hog.get("policy")) for hog in asked["tasks"]] == [5, "idle"]
    model = case_of(BASE).model()
    assert model
    assert model.workload == {"kind": "unixbench", "affinity": "0", "group": "/lab/all", **DHRY}
    assert model.beside == {"groups": scenario(BASE)["groups"], "tasks": []}


def compared(native: Effect, simulated: Effect) -> Compared:
    return Compared(NICE, native, simulated, others=0.5)


def test_signs_and_held_effects_are_counted() -> None:
    found = [
        compared(Effect(-0.5, -0.51, -0.49), Effect(-0.5, -0.52, -0.48)),
        compared(Effect(0.2, 0.1, 0.3), Effect(-0.2, -0.21, -0.19)),
        compared(Effect(0.0, -0.1, 0.1), Effect(0.05, 0.04, 0.06)),
        Compared(NICE, skipped="no right"),
        compared(Effect(-0.067, -0.074, -0.061), Effect(-0.004, -0.011, 0.003)),
        replace(compared(Effect(0.3, 0.2, 0.4), Effect(0.1, 0.1, 0.1)), change=SLEEP),
    ]
    words = summary(found)
    assert "5 of 6 changes were made" in words
    assert "Signs right: 2 of 4 whose effect" in words
    assert "Of these 3 are arithmetic" in words
    assert "quota: 1 right" in words
    assert "of the other 1, 1 are right" in words
    assert "hold the host's effect: 1 of 5; intervals that overlap: 2" in words
    rows = table(found).splitlines()[2:]
    assert rows[0].endswith("| right | yes | 50% |")
    assert rows[1].endswith("| other | no | 50% |")
    assert rows[2].endswith("|  | no | 50% |")
    assert rows[3].endswith("| no right |")
    assert rows[4].endswith("| no sign simulated | no | 50% |")


def folder_of_v2(tmp_path: Path, handed_out: str) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    (tmp_path / "cgroup.subtree_control").write_text(handed_out)
    return tmp_path


def test_groups_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = Groups(folder_of_v2(tmp_path, "cpu memory\n"), tmp_path / "none")
    assert groups.reason == ""
    monkeypatch.setattr(Path, "rmdir", lambda path: None)
    with groups.enclosure(), groups.made(Group(weight=25, quota_us=5_000)) as path:
        assert groups.tasks
        assert path.parent == groups.tasks.parent
        assert (path.parent / "cpu.weight").read_text() == "10000"
        assert (path / "cpu.weight").read_text() == "25"
        assert (path / "cpu.max").read_text() == "5000 100000"
    assert groups.tasks is None


def test_groups_of_version_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.shares").write_text("1024")
    groups = Groups(tmp_path / "none", tmp_path)
    monkeypatch.setattr(Path, "rmdir", lambda path: None)
    with groups.made(Group(weight=200)) as path:
        assert (path / "cpu.shares").read_text() == "2048"
        assert (path / "cpu.cfs_quota_us").read_text() == "-1"


def test_without_a_place_for_groups_the_reason_is_told(tmp_path: Path) -> None:
    assert "does not hand out" in Groups(folder_of_v2(tmp_path, "memory"), tmp_path).reason
    groups = Groups(tmp_path / "none", tmp_path / "none")
    assert "no control group can be made" in groups.reason
    with groups.enclosure():
        assert groups.tasks is None
    grouped = Setup("unixbench", DHRY, Settings(group=Group()))
    here = Here(FakeHost(), groups)
    assert here.refused(Change("group", "lps", BASE, grouped)) == groups.reason
    assert here.refused(NICE) == ""


def test_what_is_not_allowed_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = Here(FakeHost(), Groups(tmp_path, tmp_path))

    def with_(settings: Settings) -> str:
        return here.refused(Change("x", "lps", BASE, Setup("unixbench", DHRY, settings)))

    monkeypatch.setattr(pairs, "_works", lambda argv: False)
    assert "nice value below 0" in with_(Settings(nice=-5))
    assert "SCHED_FIFO" in with_(Settings(policy="fifo"))
    assert with_(Settings(nice=5)) == ""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert "no CPU 1" in with_(Settings(cpus="0-1"))


class FakeHost(Bench):
    """A host on which a nice value halves the speed."""

    def __init__(self, fail: Callable[[], None] = lambda: None) -> None:
        self.variant = PLAIN
        self.ran: list[Variant] = []
        self._fail = fail

    def run(self, case: Case, variant: Variant | None = None, seed: int = 1) -> Outcome:
        self._fail()
        assert variant
        self.ran.append(variant)
        return Outcome({"lps": 50.0 if "nice" in variant.around.prefix else 100.0})


class FakeSimulated(Bench):
    """A simulator in which it takes a quarter."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def run(self, case: Case, variant: Variant | None = None, seed: int = 1) -> Outcome:
        self.seeds.append(seed)
        model = case.model()
        assert model
        return Outcome({"lps": 75.0 if model.beside["tasks"] else 100.0})


@pytest.fixture
def no_groups(tmp_path: Path) -> Groups:
    return Groups(tmp_path / "none", tmp_path / "none")


def test_both_worlds_are_run_block_by_block(tmp_path: Path, no_groups: Groups) -> None:
    native, simulated = FakeHost(), FakeSimulated()
    lines: list[str] = []
    journal = Journal(tmp_path / "j", "x")
    [found] = compare(Here(native, no_groups), There(simulated), [NICE], journal, lines.append)
    assert found.native
    assert found.simulated
    assert (found.native.mean, found.simulated.mean) == pytest.approx((-0.5, -0.25))
    assert simulated.seeds == [seed for seed in range(1, BLOCKS + 1) for _ in range(2)]
    assert native.ran[0].around.prefix == ("taskset", "--cpu-list", "0")
    other = native.ran[2].around
    assert other.prefix == ("taskset", "--cpu-list", "0", "nice", "-n", "10")
    assert [each.command[:2] for each in other.beside] == [("sh", "-c")]
    assert other.beside[0].command[2].startswith("taskset --cpu-list 0 sh -c 'while")
    assert not native.ran[0].around.beside
    assert lines == ["change 1 of 1: nice"]


def test_an_interrupted_comparison_goes_on(tmp_path: Path, no_groups: Groups) -> None:
    changes = [Change(f"nice {n}", "lps", BASE, NICE.other) for n in range(3)]
    left = [BLOCKS * 2 + 3]

    def fail() -> None:
        left[0] -= 1
        if not left[0]:
            raise Interrupted("interrupted")

    journal = Journal(tmp_path / "j", "this host")
    there = There(FakeSimulated())
    with pytest.raises(Interrupted, match="1 of 3 changes are kept, the same command goes on"):
        list(compare(Here(FakeHost(fail), no_groups), there, changes, journal, lambda _: None))
    again, lines = FakeHost(), list[str]()
    journal = Journal(tmp_path / "j", "this host")
    found = list(compare(Here(again, no_groups), there, changes, journal,
                         lines.append))  # fmt: skip
    assert len(found) == 3
    assert len(again.ran) == 2 * BLOCKS * 2
    assert "left" in lines[2]


def test_a_journal_of_another_comparison_is_begun_anew(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", "one")
    journal.put("a", [1])
    with (tmp_path / "j").open("a") as file:
        file.write('{"key": "b", "val')  # cut off
    again = Journal(tmp_path / "j", "one")
    assert "a" in again
    assert again["a"] == [1]
    assert "b" not in again
    again.put("c", 3)
    assert Journal(tmp_path / "j", "one")["c"] == 3
    assert "a" not in Journal(tmp_path / "j", "another")
    again.end()
    assert not (tmp_path / "j").exists()


def test_a_group_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "cpu.shares").write_text("1024")
    groups = Groups(tmp_path / "none", tmp_path)
    (tmp_path / f"schedlab-{os.getpid()}-1").mkdir()
    with pytest.raises(HostError, match="File exists"), groups.made(Group()):
        pass
