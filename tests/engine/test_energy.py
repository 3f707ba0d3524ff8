"""Energy and frequencies: power x time, from residencies that leave out no nanosecond."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine

HOG = {"program": [{"run": "10ms"}]}
BIG = 4
"""HiKey960's first big CPU."""


def board(governor: str = "performance") -> dict[str, Any]:
    made = copy.deepcopy(machine("hikey960"))
    for entry in made["cpu"]:
        entry["governor"] = governor
    return made


def mixed(duration: str = "2s") -> Json:
    """Tasks that have frequencies change, and CPUs enter every idle state."""
    small = {"name": "small", "count": 3, "program": [{"run": "2ms"}, {"sleep": "6ms"}]}
    big = {"name": "big", "program": [{"run": "30ms"}, {"sleep": "20ms"}]}
    return {"duration": duration, "tasks": [small, big]}


def of_domain(made: Json, index: int) -> dict[str, list[float]]:
    """What its CPUs take, in W."""
    entry = made["cpu"][index]
    return {
        "busy": [point["power_mw"] / 1e3 for point in entry["opp"]],
        "awake": [point["cluster_mw"] / 1e3 for point in entry["opp"]],
        "idle": [mw / 1e3 for mw in entry["idle_mw"]],
        "change": [mw / 1e3 for mw in entry["change_mw"]],
        "cluster": [mw / 1e3 for mw in entry["cluster_idle_mw"]],
    }


def dot(seconds: list[float], watts: list[float]) -> float:
    assert len(seconds) == len(watts)
    return sum(time * power for time, power in zip(seconds, watts, strict=True))


def test_one_busy_cpu_takes_its_power_times_the_time(sim: Simulator) -> None:
    made = board()
    asked = {"duration": "3s", "warmup": "1s", "tasks": [{"name": "h", "affinity": "4", **HOG}]}
    _, big = sim(made, asked)["frequency_domains"]
    [cpu] = [each for each in big["cpus"] if each["cpu"] == BIG]
    assert cpu["busy_s"] == pytest.approx([0, 0, 0, 0, 2], abs=1e-6)
    others = sum(sum(each["busy_s"]) for each in big["cpus"] if each["cpu"] != BIG)
    assert others < 0.005
    assert big["busy_j"] == pytest.approx(
        (2 + others) * made["cpu"][1]["opp"][-1]["power_mw"] / 1e3
    )
    assert big["awake_s"] == pytest.approx([0, 0, 0, 0, 2], abs=1e-6)


def test_idle_cpus_take_their_states_power_times_the_time(sim: Simulator) -> None:
    made = board()
    made["idle"]["state"] = made["idle"]["state"][:1]
    for entry in made["cpu"]:
        for name in ("idle_mw", "change_mw", "cluster_idle_mw"):
            entry[name] = entry[name][:1]
    little, big = sim(made, {"duration": "3s", "warmup": "1s"})["frequency_domains"]
    for domain, cpu_mw, cluster_mw in ((little, 2.4, 5.9), (big, 9.9, 56.3)):
        busy = sum(sum(each["busy_s"]) for each in domain["cpus"])
        assert busy < 0.02
        assert domain["idle_j"] == pytest.approx((4 * 2 - busy) * cpu_mw / 1e3)
        awake = sum(domain["awake_s"])
        assert awake < busy + 1e-6
        at_top = made["cpu"][0 if domain is little else 1]["opp"][-1]["cluster_mw"]
        cluster = (awake * at_top + (2 - awake) * cluster_mw) / 1e3
        assert domain["cluster_j"] == pytest.approx(cluster)


@pytest.mark.parametrize("governor", ["performance", "schedutil"])
def test_energy_is_the_sum_over_residencies(sim: Simulator, governor: str) -> None:
    made = board(governor)
    result = sim(made, mixed())
    for index, domain in enumerate(result["frequency_domains"]):
        watts = of_domain(made, index)
        cpus = domain["cpus"]
        assert domain["busy_j"] == pytest.approx(sum(dot(c["busy_s"], watts["busy"]) for c in cpus))
        idle = sum(
            dot(c["idle_s"], watts["idle"]) + dot(c["change_s"], watts["change"]) for c in cpus
        )
        assert domain["idle_j"] == pytest.approx(idle)
        cluster = dot(domain["awake_s"], watts["awake"]) + dot(domain["idle_s"], watts["cluster"])
        assert domain["cluster_j"] == pytest.approx(cluster)
        parts = domain["busy_j"] + domain["idle_j"] + domain["cluster_j"]
        assert domain["joules"] == pytest.approx(parts)


@pytest.mark.parametrize("governor", ["performance", "schedutil"])
def test_residencies_leave_out_no_time(sim: Simulator, governor: str) -> None:
    result = sim(board(governor), mixed())
    window = result["window_s"]
    for domain in result["frequency_domains"]:
        assert sum(domain["seconds"]) == pytest.approx(window)
        assert sum(domain["awake_s"]) + sum(domain["idle_s"]) == pytest.approx(window)
        for cpu in domain["cpus"]:
            busy, idle = sum(cpu["busy_s"]), sum(cpu["idle_s"]) + sum(cpu["change_s"])
            account = result["per_cpu"][cpu["cpu"]]
            accounts = ("user_ns", "kernel_ns", "idle_ns", "offline_ns")
            # Which goes beyond the window where the CPU is in the kernel at its end.
            whole = sum(account[name] for name in accounts) / 1e9
            assert busy + idle == pytest.approx(whole, abs=2e-6)
            assert whole == pytest.approx(window, abs=2e-5)
            assert idle == pytest.approx(account["idle_ns"] / 1e9, abs=2e-6)
            assert min(cpu["busy_s"] + cpu["idle_s"] + cpu["change_s"]) > -1e-6


def test_time_at_a_frequency_is_counted_where_it_was_spent(sim: Simulator) -> None:
    """One CPU is always busy and asks for little, so that another one decides the frequency."""
    path = sim.scratch / "trace.txt"
    bursts = [{"run": "50ms"}, {"sleep": "50ms"}]
    tasks = [
        {"name": "h", "affinity": "4", "uclamp_max": 100, **HOG},
        {"name": "t", "affinity": "5", "program": bursts},
    ]
    asked = {"duration": "2s", "warmup": "200ms", "tasks": tasks}
    options = ("--trace", str(path), "--trace-events", "power:cpu_frequency")
    _, big = sim(board("schedutil"), asked, *options)["frequency_domains"]
    changes = re.findall(
        r" (\d+\.\d+): cpu_frequency: state=(\d+) cpu_id=4$", path.read_text(), re.M
    )
    ends = [*(float(time) for time, _ in changes[1:]), 2.0]
    spent = dict.fromkeys(big["mhz"], 0.0)
    for (start, khz), end in zip(changes, ends, strict=True):
        spent[int(khz) / 1e3] += max(end, 0.2) - max(float(start), 0.2)
    assert float(changes[0][0]) < 0.2
    assert big["changes"] == sum(float(time) > 0.2 for time, _ in changes) > 10
    assert big["seconds"] == pytest.approx(list(spent.values()), abs=1e-6 * len(changes))
    [cpu] = [each for each in big["cpus"] if each["cpu"] == BIG]
    assert cpu["busy_s"] == pytest.approx(big["seconds"], abs=1e-3)
    assert max(cpu["busy_s"]) < 1.5


def test_a_cluster_sleeps_when_its_last_cpu_does(sim: Simulator) -> None:
    """One task on a little CPU: the big cluster is off, the little one never for long."""
    task = {"name": "t", "affinity": "0", "program": [{"run": "1ms"}, {"sleep": "1ms"}]}
    asked = {"duration": "3s", "warmup": "1s", "tasks": [task]}
    little, big = sim(board(), asked)["frequency_domains"]
    assert big["idle_s"][-1] > 1.8
    assert little["idle_s"][-1] < 0.2
    assert big["cluster_j"] < 0.1 * 2 * 0.239


def test_what_is_not_known_is_not_told(sim: Simulator) -> None:
    made = board()
    for entry in made["cpu"]:
        del entry["idle_mw"]
    little, _ = sim(made, {"duration": "100ms"})["frequency_domains"]
    assert "busy_j" in little and "joules" not in little
    powerless, _ = sim("juno-r0", {"duration": "100ms"})["frequency_domains"]
    assert "busy_j" not in powerless and sum(powerless["seconds"]) == pytest.approx(0.1)
    assert sim("smp4", {"duration": "100ms"})["frequency_domains"] == []


def test_figures_of_idle_states_change_no_decision(sim: Simulator) -> None:
    made = board("schedutil")
    with_them = sim(made, mixed())["trace_hash"]
    for entry in made["cpu"]:
        del entry["idle_mw"], entry["change_mw"], entry["cluster_idle_mw"]
        entry["opp"] = [{"mhz": p["mhz"], "power_mw": p["power_mw"]} for p in entry["opp"]]
    assert sim(made, mixed())["trace_hash"] == with_them


def test_who_ran_on_which_kind_of_cpu(sim: Simulator) -> None:
    result = sim(board("schedutil"), mixed())
    ran = {(each["group"], each["capacity"]): each["seconds"] for each in result["kinds"]}
    assert set(ran) == {(name, kind) for name in ("small", "big") for kind in (462, 1024)}
    for name in ("small", "big"):
        runtime = sum(t["runtime_ns"] for t in result["tasks"] if t["name"].startswith(name)) / 1e9
        assert ran[name, 462] + ran[name, 1024] == pytest.approx(runtime, rel=0.01)
    assert ran["big", 1024] > 2 * ran["big", 462]


def test_bad_powers(sim: Simulator) -> None:
    made = board()
    made["cpu"][0]["idle_mw"] = 3
    assert "cpu[0].idle_mw: a list" in refused(sim, made, {"duration": "1s"})
    made["cpu"][0]["idle_mw"] = [-1]
    assert "cpu[0].idle_mw[0]:" in refused(sim, made, {"duration": "1s"})
