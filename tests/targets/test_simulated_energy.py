"""Energy of simulated runs: which machines' is known, the metric, and the counters."""

import pytest

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks import find_benchmark
from schedlab.benchmarks.energy import ENERGY, ENERGY_PER_OPERATION, energy, knows_energy
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.simulator import description
from schedlab.plan.plan import Plan
from schedlab.targets.simulated import outcome

RATE = Metric("events", unit="1/s", better="higher", label="Events/sec")
TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


def domain(cpus: range, joules: float | None) -> dict[str, object]:
    found: dict[str, object] = {
        "mhz": [500.0, 1000.0],
        "seconds": [0.5, 1.5],
        "changes": 4,
        "cpus": [{"cpu": cpu} for cpu in cpus],
        "busy_j": 1.0,
    }
    known = {"joules": joules, "idle_j": 0.5, "cluster_j": 0.25}
    return found | (known if joules is not None else {})


def result(*domains: dict[str, object]) -> dict[str, object]:
    ran = [
        {"group": "t", "capacity": 512, "seconds": 1.5},
        {"group": "t", "capacity": 1024, "seconds": 0.25},
    ]
    return {"window_s": 2.0, "frequency_domains": list(domains), "kinds": ran}


def test_only_machines_with_all_powers_have_it() -> None:
    assert [
        name for name in ("hikey960", "juno-r0", "smp4") if knows_energy(find_machine(name))
    ] == ["hikey960"]
    board = find_machine("hikey960")
    deepest = board.idle.state[-1].model_copy(update={"power_mw": None, "change_mw": None})
    idle = board.idle.model_copy(update={"state": (*board.idle.state[:-1], deepest)})
    without = board.model_copy(update={"idle": idle})
    assert not knows_energy(without)
    assert "idle_mw" not in description(without)["cpu"][0]


def test_each_kind_of_cpu_is_told_its_own_powers() -> None:
    little, big = description(find_machine("hikey960"))["cpu"]
    assert (little["idle_mw"], big["idle_mw"]) == ([2.4, 0, 0], [9.9, 0, 0])
    assert (little["change_mw"], big["change_mw"]) == ([2.4, 3.4, 6.5], [9.9, 14.1, 39.9])
    assert (little["cluster_idle_mw"], big["cluster_idle_mw"]) == ([5.9, 5.9, 0], [56.3, 56.3, 0])


def test_powers_are_of_every_kind_of_cpu() -> None:
    table = find_machine("hikey960").model_dump(mode="json", exclude_defaults=True)
    del table["ledger"]
    table["idle"]["state"][0]["power_mw"] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"idle.state\[0\].power_mw: has 3 figures for 2 entries"):
        Machine.model_validate(table)
    del table["idle"]["state"][0]["power_mw"]
    with pytest.raises(ValueError, match=r"idle.state\[0\].cluster_mw: says nothing without"):
        Machine.model_validate(table)


def test_energy_is_of_a_run_or_of_an_operation() -> None:
    answer = result(domain(range(4), 3.0), domain(range(4, 8), 5.0))
    assert energy(ENERGY, {TIME: 2.0}, answer) == 8.0
    assert energy(ENERGY, {TIME: 1.0}, answer) == 4.0, "the window held twice the run's work"
    # 8 J in 2 s are 4 W; at 100 operations a second one takes 40 mJ
    assert energy(ENERGY_PER_OPERATION, {RATE: 100.0}, answer) == pytest.approx(40.0)
    assert energy(ENERGY, {TIME: 2.0}, result(domain(range(8), None))) is None


def test_a_case_has_the_metric_in_the_simulator_alone() -> None:
    names = {}
    for target in ("sim:hikey960", "sim:juno-r0", "host"):
        plan = Plan.model_validate(
            {
                "target": target,
                "benchmark": [{"name": "Misfit"}, {"name": "SysBenchCpu"}],
                "variant": [{"name": "base"}, {"name": "other", "governor": "schedutil"}],
            }
        )
        names[target] = [
            [m.name for m in case.metrics] for case in plan.cases(find_machine("hikey960"))
        ]
    assert names["sim:hikey960"][0] == ["longest", "mean", "energy"]
    assert names["sim:hikey960"][1][-1] == "energy_per_operation"
    assert names["host"][0] == ["longest", "mean"]


def test_a_result_without_it_is_incomplete() -> None:
    misfit = find_benchmark("Misfit", "here")
    model = misfit.case(find_machine("hikey960"), {}, None, "here").with_energy().model()
    assert model and model.besides == (ENERGY,)
    answer = {"metrics": {"misfit.longest": 2.0, "misfit.mean": 1.0}, "window_s": 1.0}
    plain = Model(model.workload, {TIME: "misfit.longest"}, besides=model.besides)
    with pytest.raises(IncompleteRun, match="no energy"):
        outcome.metrics(plain, answer)
    values, _ = outcome.metrics(plain, {**answer, **result(domain(range(8), 3.0))})
    assert values == {TIME: 2.0, ENERGY: 3.0}


def test_counters_of_frequencies_and_kinds() -> None:
    counted = outcome.counters(result(domain(range(4), 3.0), domain(range(4, 8), 5.0)), "all")
    assert {name: value for name, value in counted.items() if "cpufreq" in name} == {
        "cpufreq:cpu0-7:500MHz:seconds": 1.0,
        "cpufreq:cpu0-7:1000MHz:seconds": 3.0,
        "cpufreq:cpu0-7:transitions": 8.0,
    }
    assert {name: value for name, value in counted.items() if name.startswith("energy")} == {
        "energy:cpu0-7:joules": 8.0,
        "energy:joules": 8.0,
        "energy:busy:joules": 2.0,
        "energy:idle:joules": 1.0,
        "energy:cluster:joules": 0.5,
    }
    assert counted["ran:t:capacity-512:seconds"] == 1.5
    one_kind = result(domain(range(8), 3.0)) | {
        "kinds": [{"group": "t", "capacity": 1, "seconds": 1}]
    }
    assert not [name for name in outcome.counters(one_kind, "all") if name.startswith("ran:")]
