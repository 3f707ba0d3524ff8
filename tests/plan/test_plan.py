"""Plans: files, defaults, and what is wrong with bad ones."""

import re
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import SchedlabError, UsageError
from schedlab.base.validation import validate
from schedlab.machine.model import Machine
from schedlab.plan.duration import seconds
from schedlab.plan.plan import Plan, all_suites, find_plan, load_plan

GOOD: dict[str, Any] = {
    "title": "Does NUMA balancing hurt us?",
    "suite": "common",
    "variant": [{"name": "Default"}, {"name": "NB-OFF", "sysctl": {"kernel.numa_balancing": 0}}],
}
MACHINE = Machine.model_validate(
    {"name": "m", "arch": "x86_64", "memory_gib": 8, "cpus": "0-3", "topology": {}}
)


def written(tmp_path: Path, data: dict[str, Any]) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(tomli_w.dumps(data))
    return path


def test_a_plan_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    plan = load_plan(written(tmp_path, GOOD))
    again = tmp_path / "again.toml"
    again.write_text(plan.to_toml())
    assert load_plan(again) == plan
    assert plan.baseline.name == "Default"
    assert plan.design().looks == (6, 12, 24, 40)
    assert len(plan.cases(MACHINE)) == 11


def test_only_leaves_the_rest_out() -> None:
    plan = Plan.model_validate({**GOOD, "only": ["SysBenchCpu"]})
    assert [case.label for case in plan.cases(MACHINE)] == ["SysBenchCpu"]


def test_one_benchmark_several_ways() -> None:
    entries = [
        {"name": "HackbenchForkSockets", "label": f"{n}-groups", "params": {"groups": n}}
        for n in (1, 16)
    ]
    plan = Plan.model_validate({**GOOD, "suite": None, "benchmark": entries})
    assert [case.commands[0].argv[1:3] for case in plan.cases(MACHINE)] == [
        ("-g", "1"),
        ("-g", "16"),
    ]


def test_an_axis_makes_a_case_of_each_value() -> None:
    entry = {
        "name": "HackbenchForkSockets",
        "label": "hackbench",
        "axis": {"groups": [1, "cpus*4"]},
        "params": {"loops": 5},
    }
    plan = Plan.model_validate({**GOOD, "suite": None, "benchmark": [entry]})
    cases = plan.cases(MACHINE)
    assert [case.label for case in cases] == ["hackbench-1-groups", "hackbench-16-groups"]
    assert [case.params["groups"] for case in cases] == [1, 16]
    only = plan.model_copy(update={"only": ("hackbench",)})
    assert only.cases(MACHINE) == cases


def test_parameters_of_a_simulated_machine() -> None:
    entry = {
        "name": "HackbenchForkSockets",
        "params": {"loops": 1000, "groups": 2},
        "simulated": {"loops": 5},
    }
    for target, loops in (("host", 1000), ("sim:smp4", 5)):
        plan = {**GOOD, "suite": None, "benchmark": [entry], "target": target}
        [case] = Plan.model_validate(plan).cases(MACHINE)
        assert (case.params["loops"], case.params["groups"]) == (loops, 2)


@pytest.mark.parametrize("suite", all_suites())
@pytest.mark.parametrize("target", ["host", "sim:smp4"])
def test_suites_can_be_sized(suite: str, target: str) -> None:
    assert Plan.model_validate({**GOOD, "suite": suite, "target": target}).cases(MACHINE)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"name": "Netperf", "axis": {"clients": []}}, "axis.clients: "),
        ({"name": "Netperf", "axis": {"clients": [1, 2], "length": [1, 2]}}, "axis: "),
        ({"name": "Netperf", "axis": {"clients": [1, 2]}, "params": {"clients": 3}}, "as the axis"),
        (
            {"name": "Netperf", "axis": {"clients": [1, 2]}, "simulated": {"clients": 3}},
            "as the axis",
        ),
        ({"name": "Netperf", "axis": {"test": ["TCP_RR", "UDP_RR"]}}, "an axis takes numbers"),
        ({"name": "Netperf", "axis": {"client": [1, 2]}}, "clients"),
    ],
)
def test_an_axis_that_is_none(entry: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        validate({**GOOD, "suite": None, "benchmark": [entry]}, Plan, "plan").cases(MACHINE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"suit": "common"},
            r"suit: unknown key. Did you mean suite\? Known: title, target, machine, suite",
        ),
        ({"suite": None}, "names nothing to run: a suite, a benchmark"),
        ({"variant": [{"name": "a"}]}, "variant: "),
        ({"variant": [{"name": "a"}, {"name": "a"}]}, "two variants are called a"),
        ({"blocks": {"looks": [6, 3]}}, "blocks.looks: the numbers of blocks must rise"),
        ({"blocks": {"looks": [0]}}, r"blocks.looks\[0\]: "),
        ({"blocks": {"looks": [1.5]}}, r"blocks.looks\[0\]: "),
        ({"blocks": {"timeout": "soon"}}, "blocks.timeout: 'soon' is not a duration"),
        ({"blocks": {"warmup": -1}}, "blocks.warmup: "),
        ({"judging": {"margin": 0}}, "judging.margin: "),
        ({"counters": [3]}, "counters"),
        ({"exact": "yes"}, r"exact: true or false is expected \(found 'yes'\)"),
        ({"aa": 1}, "aa: true or false is expected"),
        (
            {"variant": [{"name": "a", "cpuidle": [{"state": "C1", "enable": True}]}, {}]},
            r"variant\[0\].cpuidle\[0\].enabled: is missing",
        ),
        (
            {"variant": [{"name": "a", "cpuidle": [{"state": "C", "enabled": True, "cpu": ""}]}]},
            r"variant\[0\].cpuidle\[0\].cpu: unknown key. Did you mean cpus\? Known: state, ",
        ),
        ({"benchmark": [{"nam": "x"}]}, r"benchmark\[0\].name: is missing"),
        (
            {"benchmark": [{"name": "Hackbench", "params": {"groups": [1]}}]},
            r"benchmark\[0\].params.groups: ",
        ),
    ],
)
def test_a_bad_plan_names_file_and_key(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    data = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(UsageError, match=f"plan.toml: {why}"):
        load_plan(written(tmp_path, data))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"suite": "comon"}, "no suite is called 'comon'. Did you mean common"),
        ({"suite": "none.toml"}, "none.toml: cannot be read"),
        ({"only": ["SysBenchCPU"]}, "Did you mean SysBenchCpu"),
        ({"benchmark": [{"name": "SysBenchCpu"}]}, "two benchmarks are labelled 'SysBenchCpu'"),
        (
            {"benchmark": [{"name": "Tbench", "params": {"time": -1}}]},
            r"plan: benchmark \w+.params.time: '-1'",
        ),
        (
            {"benchmark": [{"name": "Tbench", "simulated": {"tim": 1}}]},
            r"plan: benchmark Tbench.simulated.tim: there is no such parameter",
        ),
    ],
)
def test_a_plan_that_cannot_be_carried_out(change: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Plan.model_validate({**GOOD, **change}).cases(MACHINE)


def test_a_shipped_plans_workloads_lie_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = find_plan("cgroup-mode")[0].workload
    assert len(files) == 2
    assert all(Path(file).is_file() for file in files)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = [", b"a = 1\na = 2", b"x" * 10])
def test_a_file_that_is_no_toml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"plan\.toml: is no"):
        load_plan(path)


def test_durations() -> None:
    assert [seconds(text) for text in ("200ms", "90s", "1.5min", "2h")] == [0.2, 90, 90, 7200]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=5,
)
KEYS = st.sampled_from([*Plan.model_fields, "name", "params", "looks", "sysctl", "x"])


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_data_is_a_plan_or_one_clear_error(data: dict[str, Any]) -> None:
    try:
        plan = validate({**GOOD, **data}, Plan, "plan.toml")
        plan.design()
        plan.cases(MACHINE)
    except SchedlabError as error:
        assert str(error)
