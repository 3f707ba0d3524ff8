"""Knobs: written, read back, put back; the journal undoes what a killed lab left."""

import json
from pathlib import Path

import pytest

from schedlab.errors import HostError, KnobError, RestoreError, StoreError
from schedlab.settings.journal import Journal, left_behind, restore_left_behind
from schedlab.settings.switchable import switchable
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant_knobs import variant_knobs
from schedlab.system import LocalSystem
from schedlab.variant import parse_variant
from tests.emulated import NUMA_BALANCING, emulated_system

FEATURES = "/sys/kernel/debug/sched/features"
BASE = parse_variant("base")


@pytest.fixture
def system(tmp_path: Path) -> LocalSystem:
    return emulated_system(tmp_path)


def test_every_kind_of_knob_is_set_and_put_back(system: LocalSystem) -> None:
    variant = parse_variant(
        "all: sysctl kernel.numa_balancing=0; NO_WA_IDLE; sched base_slice_ns=1000000;"
        " cpuidle CPU_SLEEP_0=off cpus=0-1; governor performance"
    )
    board = Switchboard(system, [BASE, variant])
    with board.applied(BASE) as before:
        pass
    assert before == {
        "kernel.numa_balancing": "1",
        "sched_feature WA_IDLE": "WA_IDLE",
        "sched base_slice_ns": "3000000",
        "cpuidle CPU_SLEEP_0 disable": "0",
        "cpufreq governor": "schedutil",
    }
    with board.applied(variant) as settings:
        assert system.read(FEATURES) == "NO_WA_IDLE WA_WEIGHT NO_HRTICK"
        assert settings == {
            "kernel.numa_balancing": "0",
            "sched_feature WA_IDLE": "NO_WA_IDLE",
            "sched base_slice_ns": "1000000",
            "cpuidle CPU_SLEEP_0 disable": "1",
            "cpufreq governor": "performance",
        }
    with board.applied(BASE) as after:
        assert after == before
    assert board.foreign == set()


def test_some_cpus_of_an_idle_state_are_told_apart(system: LocalSystem) -> None:
    some = parse_variant("some: cpuidle CPU_SLEEP_0=off cpus=0")
    both = parse_variant("both: cpuidle CPU_SLEEP_0=off")
    with Switchboard(system, [some, both]).applied(some) as settings:
        assert settings == {"cpuidle CPU_SLEEP_0 disable": "1 (cpus 0), 0 (cpus 1-3)"}


def test_a_body_that_fails_leaves_nothing_changed(system: LocalSystem) -> None:
    variant = parse_variant("off: sysctl kernel.numa_balancing=0")
    with pytest.raises(ZeroDivisionError), Switchboard(system, [variant]).applied(variant):
        assert system.read(NUMA_BALANCING) == "0"
        raise ZeroDivisionError
    assert system.read(NUMA_BALANCING) == "1"


def test_a_knob_that_does_not_read_back_fails_with_both_values(tmp_path: Path) -> None:
    system = emulated_system(tmp_path, stubborn=[NUMA_BALANCING])
    variant = parse_variant("off: NO_WA_IDLE; sysctl kernel.numa_balancing=0")
    board = Switchboard(system, [variant])
    with pytest.raises(KnobError, match="wrote 0, read back 1"), board.applied(variant):
        raise AssertionError
    assert "NO_WA_IDLE" not in system.read(FEATURES)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x: NO_WA_IDEL", "no feature 'WA_IDEL' in this kernel. Did you mean WA_IDLE"),
        ("x: sysctl kernel.nope=1", "kernel.nope: cannot read /proc/sys/kernel/nope"),
        ("x: sched nope=1", "sched nope: cannot read"),
        ("x: cpuidle CPU_SLEEP_1=off", "no idle state 'CPU_SLEEP_1'. Did you mean CPU_SLEEP_0"),
        ("x: cpuidle WFI=off cpus=77", "no idle state 'WFI' on CPUs 77"),
        ("x: governor fast; cpuidle WFI=off; cpuidle WFI=on", "set twice"),
    ],
)
def test_a_knob_this_host_lacks(system: LocalSystem, text: str, why: str) -> None:
    with pytest.raises(KnobError, match=why):
        Switchboard(system, [parse_variant(text)])


def test_lockdown_is_told_plainly(tmp_path: Path) -> None:
    system = emulated_system(tmp_path, refused=[FEATURES])
    variant = parse_variant("x: NO_WA_IDLE")
    with (
        pytest.raises(KnobError, match="lockdown"),
        Switchboard(system, [variant]).applied(variant),
    ):
        raise AssertionError


def test_features_and_tunables_of_old_kernels(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/debug").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/sched_features").write_text("WA_IDLE\n")
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/sched_latency_ns").write_text("1\n")
    knobs = variant_knobs(LocalSystem(tmp_path), parse_variant("x: NO_WA_IDLE; sched latency_ns=2"))
    assert [knob.path for knob, _ in knobs] == [
        "/sys/kernel/debug/sched_features",
        "/proc/sys/kernel/sched_latency_ns",
    ]


def test_a_value_chosen_from_a_list_is_read_as_itself(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/debug/sched").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/sched/preempt").write_text("none voluntary (full)\n")
    ((knob, _),) = variant_knobs(LocalSystem(tmp_path), parse_variant("x: sched preempt=none"))
    assert knob.read(LocalSystem(tmp_path)) == "full"


def killed_lab(system: LocalSystem) -> Switchboard:
    """Leave a host as a lab killed in the middle of a variant does."""
    board = Switchboard(system, [parse_variant("off: sysctl kernel.numa_balancing=0; NO_WA_IDLE")])
    board.journal("tag-of-the-killed")
    system.write(NUMA_BALANCING, "0")
    system.write(FEATURES, "NO_WA_IDLE")
    return board


def test_what_a_killed_lab_left_is_undone(system: LocalSystem) -> None:
    killed_lab(system)
    assert left_behind(system) == (
        "kernel.numa_balancing is 0, was 1; sched_feature WA_IDLE is NO_WA_IDLE, was WA_IDLE"
    )
    lines = restore_left_behind(system)
    assert lines == [f"{FEATURES}: NO_WA_IDLE -> WA_IDLE", f"{NUMA_BALANCING}: 0 -> 1"]
    assert system.read(NUMA_BALANCING) == "1"
    assert left_behind(system) is None
    assert restore_left_behind(system) == []


def test_a_value_somebody_else_set_since_is_left_alone(system: LocalSystem) -> None:
    killed_lab(system)
    system.write(NUMA_BALANCING, "2")
    assert f"{NUMA_BALANCING}: left at 2: something else set it since" in restore_left_behind(
        system
    )
    assert system.read(NUMA_BALANCING) == "2"


def test_after_a_reboot_there_is_nothing_to_undo(system: LocalSystem) -> None:
    killed_lab(system)
    system.path("/proc/sys/kernel/random/boot_id").write_text("another\n")
    assert restore_left_behind(system) == []
    assert system.read(NUMA_BALANCING) == "0"
    assert not Journal(system).path.exists()


def test_a_knob_that_will_not_go_back_keeps_the_journal(tmp_path: Path) -> None:
    system = emulated_system(tmp_path, stubborn=[NUMA_BALANCING])
    board = Switchboard(system, [parse_variant("off: sysctl kernel.numa_balancing=0; NO_WA_IDLE")])
    board.journal("tag")
    system.path(NUMA_BALANCING).write_text("0\n")
    system.write(FEATURES, "NO_WA_IDLE")
    with pytest.raises(RestoreError, match="wrote 1, read back 0"):
        restore_left_behind(system)
    assert system.read(FEATURES).startswith("WA_IDLE"), "the others are put back all the same"
    assert left_behind(system) is not None


@pytest.mark.parametrize("content", ["", "{}", "\0", "[]"])
def test_a_damaged_journal_is_one_clear_error(system: LocalSystem, content: str) -> None:
    killed_lab(system)
    journal = Journal(system).path
    journal.write_text(content)
    with pytest.raises(KnobError, match="cannot be read"):
        restore_left_behind(system)


def test_without_a_journal_nothing_is_touched(system: LocalSystem) -> None:
    system.path("/var").mkdir()
    system.path("/var/lib").write_text("a file where a folder should be")
    board = Switchboard(system, [parse_variant("off: sysctl kernel.numa_balancing=0")])
    with pytest.raises(StoreError, match="nothing was changed"):
        board.journal("tag")


def test_the_journal_says_what_it_needs_and_no_more(system: LocalSystem) -> None:
    killed_lab(system)
    content = json.loads(Journal(system).path.read_text())
    assert content["knobs"][0] == {
        "kind": "file",
        "knob": {"path": NUMA_BALANCING, "label": "kernel.numa_balancing", "cpu": None},
        "original": "1",
        "written": ["0"],
    }


def test_one_lab_a_host(system: LocalSystem) -> None:
    with system.held():
        with pytest.raises(HostError, match="another schedlab runs on this host"):
            system.held().__enter__()
        with pytest.raises(HostError, match="another schedlab"):
            restore_left_behind(system)
    with system.held():
        pass


def test_what_can_be_switched_comes_best_first(system: LocalSystem, tmp_path: Path) -> None:
    assert [text for text, _ in switchable(system)] == [
        "NB-OFF: sysctl kernel.numa_balancing=0",
        "NO-CLUSTER_SLEEP_0: cpuidle CLUSTER_SLEEP_0=off",
        "NO-WA-IDLE: NO_WA_IDLE",
    ]
    system.path(NUMA_BALANCING).write_text("0\n")
    assert switchable(system)[0][0] == "NB-ON: sysctl kernel.numa_balancing=1"
    assert switchable(LocalSystem(tmp_path / "nothing")) == []
    for text, _ in switchable(system):
        Switchboard(system, [parse_variant(text)])
