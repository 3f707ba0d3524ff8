"""Counters: parsed from recorded files, chosen by what the host allows, named when missing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import HostError, UsageError
from schedlab.base.system import LocalSystem
from schedlab.counters import all_groups
from schedlab.counters.choice import check_names, choose
from schedlab.counters.cpuidle import CpuidleGroup
from schedlab.counters.group import Unavailable, counter_group, difference
from schedlab.counters.perf_stat import TRACEPOINTS, parse_report
from schedlab.counters.procstat import ProcStatGroup
from schedlab.counters.schedstat import SchedstatGroup
from tests.helpers.emulated import emulated_system
from tests.helpers.tool_output import TOOLS, recorded

SCHEDSTAT = {
    "schedstat:schedule": 101,
    "schedstat:schedule-idle": 41,
    "schedstat:wakeups": 61,
    "schedstat:wakeups-local": 51,
    "schedstat:run-ns": 7001,
    "schedstat:wait-ns": 8001,
    "schedstat:timeslices": 91,
    "schedstat:balance-idle": 11,
    "schedstat:balance-idle-pulled": 15,
    "schedstat:balance-busy": 21,
    "schedstat:balance-busy-pulled": 25,
    "schedstat:balance-newidle": 31,
    "schedstat:balance-newidle-pulled": 35,
}


def test_perf_report_of_a_file() -> None:
    counts = parse_report((TOOLS / "perfstat.csv").read_text())
    assert counts == {**dict.fromkeys(TRACEPOINTS, 0.0), "sched:sched_migrate_task": 419.0}


def test_what_perf_could_not_count_is_left_out() -> None:
    counts = parse_report(recorded("perfstat-hw").stderr)
    assert counts == {"context-switches": 41, "cpu-migrations": 6, "task-clock": 404.17}


@given(st.text())
def test_any_report_parses(text: str) -> None:
    assert all(value >= 0 for value in parse_report(text).values())


def put(root: Path, name: str, text: str) -> LocalSystem:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return LocalSystem(root)


def test_procstat(tmp_path: Path) -> None:
    text = "cpu  100 20 300 4000 50 6 7 8 0 0\ncpu0 1 2 3 4\nintr 5 6\nctxt 4711\n"
    assert ProcStatGroup().read(put(tmp_path, "proc/stat", text)) == {
        "context-switches": 4711.0,
        "cpu:busy-seconds": pytest.approx(4.33),
        "cpu:user-seconds": pytest.approx(1.2),
        "cpu:system-seconds": pytest.approx(3.0),
        "cpu:irq-seconds": pytest.approx(0.13),
    }


def test_cpuidle_is_summed_over_cpus(tmp_path: Path) -> None:
    for cpu, usage in ((0, 3), (1, 4)):
        state = f"sys/devices/system/cpu/cpu{cpu}/cpuidle/state1"
        put(tmp_path, f"{state}/name", "C1\n")
        put(tmp_path, f"{state}/usage", f"{usage}\n")
        put(tmp_path, f"{state}/time", "1500000\n")
    counts = CpuidleGroup().read(LocalSystem(tmp_path))
    assert counts == {"cpuidle:C1:usage": 7.0, "cpuidle:C1:seconds": 3.0}


BALANCE = {  # for each idle type: count and pulls, distinct from all else
    15: " ".join(f"{kind}1 0 0 0 {kind}5 0 0 0" for kind in (1, 2, 3)),
    16: " ".join(f"{kind}1 0 0 0 {kind}5 0 0 0" for kind in (2, 1, 3)),
    17: " ".join(f"{kind}1 0 0 0 0 0 0 {kind}5 0 0 0" for kind in (2, 1, 3)),
}


@pytest.mark.parametrize("version", [15, 16, 17])
def test_schedstat_versions_say_the_same(tmp_path: Path, version: int) -> None:
    name = "MC " if version == 17 else ""
    text = (
        f"version {version}\ntimestamp 4294892937\n"
        "cpu0 0 0 100 40 60 50 7000 8000 90\n"
        f"domain0 {name}0000003 {BALANCE[version]} 0 0 0 0 0 0 0 0 0 0 0 0\n"
        "cpu1 0 0 1 1 1 1 1 1 1\n"
    )
    assert SchedstatGroup().read(put(tmp_path, "proc/schedstat", text)) == SCHEDSTAT


@pytest.mark.parametrize("text", ["", "version 99\n", "nonsense\n"])
def test_an_unknown_schedstat_is_not_guessed_at(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unavailable, match="of version"):
        SchedstatGroup().read(put(tmp_path, "proc/schedstat", text))


def test_a_counter_that_appears_or_goes_does_not_matter() -> None:
    assert difference({"a": 1, "b": 2}, {"a": 5, "c": 9}, {}) == {"a": 4}


def test_all_counters_a_host_gives_and_why_the_rest_is_missing(tmp_path: Path) -> None:
    system = emulated_system(tmp_path)
    choice = choose(system, "all")
    assert [group.name for group in choice.snapshots] == ["procstat", "cpuidle"]
    assert choice.perf and choice.perf.events == (*TRACEPOINTS, "cpu-migrations")
    assert choice.missing == (
        "cpufreq: this host keeps no times of frequencies (CONFIG_CPU_FREQ_STAT; intel_pstate and"
        " amd-pstate have none)",
        "energy: this host has neither RAPL's zones (powercap) nor a sensor of energy (hwmon)",
        "schedstat: this kernel has no /proc/schedstat (it is built without CONFIG_SCHEDSTATS)",
    )


def test_one_event_refused_does_not_cost_the_others(tmp_path: Path) -> None:
    system = emulated_system(tmp_path, events=["sched:sched_migrate_task"])
    choice = choose(system, ["tracepoints"])
    assert choice.perf and choice.perf.events == ("sched:sched_migrate_task",)
    assert len(choice.missing) == 4
    assert "event syntax error: 'sched:sched_stick_numa'" in choice.missing[0]


def test_without_perf_one_line_says_so(tmp_path: Path) -> None:
    system = emulated_system(tmp_path, tools={})
    choice = choose(system, ["tracepoints", "procstat"])
    assert choice.perf is None
    assert choice.missing == (
        f"{', '.join(TRACEPOINTS)}: perf is not installed (Debian package linux-perf)",
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [("tracepoint", "Did you mean tracepoints"), ("", "none is called"), ("a b:c", "none is")],
)
def test_unknown_counters(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_names([name])


ODD = ["abc", "1 2 3", "\x1b]0;pwn\x07", "-1", "nan", "1e400", "9" * 5000, "\ufffd"]


@pytest.mark.parametrize("text", ODD)
def test_a_count_that_is_none_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    state = "sys/devices/system/cpu/cpu0/cpuidle/state1"
    put(tmp_path, f"{state}/usage", text)
    with pytest.raises(
        HostError, match=rf"/{state}/usage: a number is expected \(found '"
    ) as error:
        CpuidleGroup().read(LocalSystem(tmp_path))
    assert str(error.value).isprintable() and len(str(error.value)) < 200
    for proc, group in (
        (f"cpu  100 x{text}\nctxt 1\n", ProcStatGroup()),
        ("cpu  100\nctxt\n", ProcStatGroup()),
    ):
        with pytest.raises(HostError, match="/proc/stat: "):
            group.read(put(tmp_path, "proc/stat", proc))
    for line in (f"cpu0 x{text}", f"cpu0 {'1 ' * 8}x{text}", "domain0 ff 1 2"):
        with pytest.raises(HostError, match="/proc/schedstat: "):
            SchedstatGroup().read(put(tmp_path, "proc/schedstat", f"version 15\n\n{line}\n"))


def test_the_files_of_an_offline_cpu_may_be_empty(tmp_path: Path) -> None:
    for name in ("usage", "time"):
        put(tmp_path, f"sys/devices/system/cpu/cpu0/cpuidle/state1/{name}", "")
    counts = CpuidleGroup().read(LocalSystem(tmp_path))
    assert counts == {"cpuidle:state1:usage": 0.0, "cpuidle:state1:seconds": 0.0}


def test_a_group_registers_itself_under_a_name_of_its_own() -> None:
    known = all_groups()
    first = [name for name in known if name in ("tracepoints", "procstat", "schedstat")]
    assert first == ["tracepoints", "procstat", "schedstat"]
    with pytest.raises(ValueError, match="another group"):
        counter_group(99)(CpuidleGroup)
    with pytest.raises(ValueError, match="another group"):
        counter_group(10)(type("Other", (CpuidleGroup,), {"name": "other"}))
    assert all_groups() == known
