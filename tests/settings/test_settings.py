"""Knobs: written, read back, put back; the journal undoes what a killed lab left."""

import itertools
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from schedlab.base.errors import HostError, KnobError, RestoreError, StoreError
from schedlab.base.system import LocalSystem
from schedlab.base.system.system import natural
from schedlab.settings.journal import Journal, left_behind, restore_left_behind
from schedlab.settings.kinds import sysctl
from schedlab.settings.knob import cpu_of
from schedlab.settings.switchable import switchable
from schedlab.settings.switchboard import Switchboard, variant_knobs
from schedlab.settings.variant import Variant, parse_variant
from tests.helpers.emulated import NUMA_BALANCING, emulated_system
from tests.helpers.fake_sysctl import ORIGINAL, FakeKernel

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
        ("x: sysctl kernel.nope=1", "kernel.nope: this kernel has no /proc/sys/kernel/nope"),
        ("x: sysctl kernel.numa_balancin=1", "numa_balancin. Did you mean kernel.numa_balancing?"),
        ("x: sysctl vn.nope=1", "there is no /proc/sys/vn here"),
        ("x: sched nope=1", "sched nope: this kernel has no .*/sched/nope"),
        ("x: cpuidle CPU_SLEEP_1=off", "no idle state 'CPU_SLEEP_1'. Did you mean CPU_SLEEP_0"),
        ("x: cpuidle WFI=off cpus=77", "no idle state 'WFI' on CPUs 77"),
        ("x: governor fast; cpuidle WFI=off; cpuidle state0=on", "set twice"),
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


def test_a_kernel_without_features_refuses_no_value(tmp_path: Path) -> None:
    variant = parse_variant("a: NO_WA_IDLE")
    with pytest.raises(KnobError, match="lacks this file, or its file system is not mounted"):
        Switchboard(LocalSystem(tmp_path), [BASE, variant])


def test_a_value_chosen_from_a_list_is_read_as_itself(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/debug/sched").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/sched/preempt").write_text("none voluntary (full)\n")
    ((knob, _),) = variant_knobs(LocalSystem(tmp_path), parse_variant("x: sched preempt=none"))
    assert knob.read(LocalSystem(tmp_path)) == "full"


@pytest.mark.parametrize("text", ["(none)", "[x]", "|/bin/true  -a [x]", " a\t[b] ", "b\udcff"])
def test_the_text_of_a_sysctl_is_not_interpreted(kernel: FakeKernel, text: str) -> None:
    place = kernel.place_of("kernel.text_0")
    place.write_bytes(f"{text}\n".encode(errors="surrogateescape"))
    before = place.read_bytes()
    killed_lab(kernel, fake("kernel.text_0=other"))
    assert place.read_bytes() != before
    restore_left_behind(kernel)
    assert place.read_bytes().removesuffix(b"\n") == before.removesuffix(b"\n")


@pytest.mark.parametrize("text", ["a b\n", "none full\n", "none [full] and (x)\n", "x [a b]\n"])
def test_what_is_not_a_list_to_choose_from_is_read_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "sys/kernel/debug/sched").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/sched/preempt").write_text(text)
    ((knob, _),) = variant_knobs(LocalSystem(tmp_path), parse_variant("x: sched preempt=none"))
    assert knob.read(LocalSystem(tmp_path)) == text.removesuffix("\n")


@pytest.mark.parametrize("name", ["vm/dirty_ratio", "vm.dirty_ratio"])
def test_one_knob_has_one_name_and_one_path(kernel: FakeKernel, name: str) -> None:
    board = Switchboard(kernel, [fake(f"{name}=30")])
    assert {entry.knob.path for entry in board.entries} == {
        "/proc/sys/vm/dirty_ratio",
        "/proc/sys/vm/dirty_bytes",
    }
    assert {entry.knob.label for entry in board.entries} == {"vm.dirty_ratio", "vm.dirty_bytes"}
    both = Variant(name="x", sysctl={"vm/dirty_ratio": "1", "vm.dirty_ratio": "2"})
    with pytest.raises(KnobError, match=r"vm\.dirty_ratio is set twice"):
        Switchboard(kernel, [both])


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("net.ipv4.conf.eth0/100.forwarding", "/proc/sys/net/ipv4/conf/eth0.100/forwarding"),
        ("net/ipv4/conf/eth0.100/forwarding", "/proc/sys/net/ipv4/conf/eth0.100/forwarding"),
    ],
)
def test_a_name_with_both_separators_is_read_as_sysctl_reads_it(name: str, path: str) -> None:
    assert sysctl.knob(name).path == path


def test_a_value_of_thousands_of_digits_is_put_back(kernel: FakeKernel) -> None:
    for name in ("kernel.text_0", "kernel.text_1"):
        kernel.place_of(name).write_text("9" * 5000)
    killed_lab(kernel, fake("kernel.text_0=1"))
    kernel.place_of("kernel.text_0").write_text("8" * 5000)
    assert "kernel.text_0 is 8" in str(left_behind(kernel))
    restore_left_behind(kernel)
    assert kernel.place_of("kernel.text_0").read_text() == "8" * 5000


def test_the_name_of_a_cpu_with_thousands_of_digits() -> None:
    names = [f"cpu{'9' * 5000}", "cpu10", "cpu2", "cpu002"]
    assert sorted(names, key=natural) == ["cpu2", "cpu002", "cpu10", names[0]]
    assert cpu_of(f"/sys/devices/system/cpu/{names[0]}/cpufreq/scaling_governor") is None
    assert cpu_of("/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor") == 10


OFF = parse_variant("off: sysctl kernel.numa_balancing=0; NO_WA_IDLE")


def killed_lab(system: LocalSystem, variant: Variant = OFF) -> None:
    """Leave a host as a lab killed in the middle of a variant does."""
    if (lab := os.fork()) == 0:
        board = Switchboard(system, [variant])
        board.begin("tag-of-the-killed")
        with board.applied(variant):
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(lab, 0)[1]) == 9


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


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    made = FakeKernel(tmp_path)
    made.make()
    return made


def fake(text: str) -> Variant:
    return parse_variant(f"x: sysctl {text}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("kernel.spell_0=010", "8"),
        ("kernel.spell_0=0x20", "32"),
        ("kernel.flag=1", "Y"),
        ("kernel.cpus=0-1,2", "0-2"),
        ("kernel.mask=1", "01"),
    ],
)
def test_a_value_in_another_spelling_is_the_one_wanted(
    kernel: FakeKernel, text: str, shown: str
) -> None:
    board = Switchboard(kernel, [fake(text)])
    board.begin("tag")
    with board.applied(fake(text)) as found:
        assert found == {text.split("=")[0]: shown}
    board.end()
    assert kernel.values() == ORIGINAL
    assert board.foreign == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel.round_0=1000", "wrote 1000, read back 1024; .*\n.*ask for 1024 if that will do"),
        ("kernel.clamp_0=8192", "wrote 8192, read back 100; .*\n.*ask for 100 if that will do"),
        ("kernel.stubborn=1", "wrote 1, read back 60; .*\n.*Something else manages"),
        ("kernel.half=1000", "cannot write 1000 to .*half: Invalid argument"),
    ],
)
def test_a_value_the_kernel_does_not_take_is_refused_and_undone(
    kernel: FakeKernel, text: str, message: str
) -> None:
    board = Switchboard(kernel, [fake(text)])
    board.begin("tag")
    with pytest.raises(KnobError, match=message), board.applied(fake(text)):
        raise AssertionError
    assert kernel.values() == ORIGINAL
    board.end()
    assert board.foreign == set()


@pytest.mark.parametrize("text", ["kernel.spell_0=010", "kernel.flag=1", "kernel.cpus=0-1,2"])
def test_what_the_kernel_made_of_a_value_is_undone_after_a_kill(
    kernel: FakeKernel, text: str
) -> None:
    killed_lab(kernel, fake(text))
    assert kernel.values() != ORIGINAL
    assert len(restore_left_behind(kernel)) == 1
    assert kernel.values() == ORIGINAL


def test_a_knob_that_could_not_be_put_back_is_not_touched(kernel: FakeKernel) -> None:
    board = Switchboard(kernel, [fake("kernel.oneway=61")])
    with pytest.raises(KnobError, match="once changed, it could not be restored"):
        board.begin("tag")
    board.end()
    assert kernel.values() == ORIGINAL


@pytest.mark.parametrize("name", ["vm.dirty_bytes", "vm.dirty_ratio", "vm.overcommit_ratio"])
def test_a_knob_that_is_cleared_with_another_is_put_back_too(kernel: FakeKernel, name: str) -> None:
    killed_lab(kernel, fake(f"{name}=8192"))
    assert kernel.values() != ORIGINAL
    restore_left_behind(kernel)
    assert kernel.values() == ORIGINAL


@pytest.mark.parametrize(
    "text",
    [
        "net.ipv4.ip_forward=1",
        "net.ipv4.ip_forward=1; sysctl net.ipv4.conf.lo.forwarding=0",
        "net.ipv4.conf.all.forwarding=1; sysctl net.ipv4.conf.eth0.forwarding=0",
        "net.ipv4.neigh.lo.base_reachable_time=15",
        "net.ipv4.neigh.lo.base_reachable_time_ms=15000",
    ],
)
def test_what_the_kernel_changes_with_a_knob_is_put_back(kernel: FakeKernel, text: str) -> None:
    board = Switchboard(kernel, [fake(text)])
    board.begin("tag")
    assert kernel.values() == ORIGINAL
    with suppress(KnobError), board.applied(fake(text)):
        assert kernel.values() != ORIGINAL
    assert kernel.values() == ORIGINAL
    board.end()
    assert board.foreign == set()
    killed_lab(kernel, fake(text.partition(";")[0]))
    assert kernel.values() != ORIGINAL
    restore_left_behind(kernel)
    assert kernel.values() == ORIGINAL


def test_a_file_that_changes_by_itself_is_left_alone(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = itertools.count()
    place = kernel.path("/proc/sys/net/ipv4/count")
    read = kernel.settable

    def counted(folder: str) -> dict[str, str]:
        place.write_text(str(next(count)))
        return read(folder)

    monkeypatch.setattr(kernel, "settable", counted)
    board = Switchboard(kernel, [fake("net.ipv4.ip_forward=1")])
    board.begin("tag")
    board.end()
    assert place.read_text() == str(next(count) - 1)
    assert "/proc/sys/net/ipv4/count" not in {entry.knob.path for entry in board.entries}


def test_what_can_be_set_below_a_folder(tmp_path: Path) -> None:
    made = {"net/ipv4/a": "1\n", "net/ipv4/conf/all/b": "two  words\t\n", "net/ipv4/fixed": "7\n"}
    for name, text in made.items():
        place = tmp_path / "proc/sys" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    place.chmod(0o444)
    (tmp_path / "proc/sys/net/ipv4/link").symlink_to("a")
    system = LocalSystem(tmp_path)
    assert system.settable("/proc/sys/net/ipv4") == {
        "/proc/sys/net/ipv4/a": "1\n",
        "/proc/sys/net/ipv4/conf/all/b": "two  words\t\n",
    }
    assert system.settable("/proc/sys/nowhere") == {}


def test_what_somebody_else_sets_between_runs_is_what_is_put_back(kernel: FakeKernel) -> None:
    variant = fake("kernel.spell_0=10")
    board = Switchboard(kernel, [variant])
    board.begin("tag")
    kernel.place_of("kernel.spell_0").write_text("33")
    with board.applied(variant):
        pass
    board.end()
    assert kernel.values() == ORIGINAL | {"kernel.spell_0": "33"}
    assert board.foreign == {"/proc/sys/kernel/spell_0: left at 33: something else set it since"}


def test_a_full_disk_stops_a_run_and_not_the_putting_back(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant = fake("kernel.spell_0=10")
    board = Switchboard(kernel, [variant])
    board.begin("tag")
    with board.applied(variant), monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: len(data) // 2)
        with pytest.raises(StoreError, match="No space left on device"):
            board.journal.note()
        board.end()
        assert kernel.values() == ORIGINAL
    assert restore_left_behind(kernel) == []


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


def test_a_knob_that_will_not_go_back_keeps_the_journal(
    system: LocalSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_lab(system)
    write = system.write
    with monkeypatch.context() as stubborn:
        stubborn.setattr(
            system, "write", lambda path, text: write(path, text) if path == FEATURES else None
        )
        with pytest.raises(RestoreError, match="wrote 1, read back 0"):
            restore_left_behind(system)
    assert system.read(FEATURES).startswith("WA_IDLE"), "the others are put back all the same"
    assert left_behind(system) == "kernel.numa_balancing is 0, was 1"
    assert restore_left_behind(system) == [f"{NUMA_BALANCING}: 0 -> 1"]


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
    with pytest.raises(StoreError, match="nothing was changed"):
        Switchboard(system, [OFF]).begin("tag")
    assert system.read(NUMA_BALANCING) == "1"


def test_the_journal_holds_what_it_needs_and_no_more(system: LocalSystem) -> None:
    killed_lab(system)
    first, *_, last = map(json.loads, Journal(system).path.read_text().splitlines())
    assert first["knobs"][0] == {
        "kind": "file",
        "knob": {"path": NUMA_BALANCING, "label": "kernel.numa_balancing", "cpu": None},
        "original": "1",
    }
    assert last == {"0": ["1", ["0"]], "1": ["WA_IDLE", ["NO_WA_IDLE"]]}


def test_the_journal_does_not_grow_with_the_runs(system: LocalSystem) -> None:
    board = Switchboard(system, [OFF])
    board.begin("tag")
    sizes = set()
    for _ in range(5):
        with board.applied(OFF):
            pass
        sizes.add(board.journal.path.stat().st_size)
    assert len(sizes) == 1
    board.end()
    assert not board.journal.path.exists()


def test_one_lab_a_host(system: LocalSystem) -> None:
    with system.held():
        with pytest.raises(HostError, match="another schedlab runs on this host"):
            system.held().__enter__()
        with pytest.raises(HostError, match="another schedlab"):
            restore_left_behind(system)
    with system.held():
        pass


def test_an_idle_state_whose_name_has_blanks(system: LocalSystem) -> None:
    for path in system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state2/name"):
        system.path(path).write_text("haltpoll idle\n")
    text = switchable(system)[1][0]
    assert text == "NO-haltpoll-idle: cpuidle 'haltpoll idle=off'"
    assert len(Switchboard(system, [parse_variant(text)]).entries) == 4


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
