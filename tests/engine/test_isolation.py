"""CPUs without domains: isolcpus= of a kernel's command line."""

from __future__ import annotations

import pytest

from schedlab.machine.domains import read
from tests.helpers.engine.simulator import Json, Simulator

BUSY: Json = {
    "duration": "300ms",
    "boot": {"isolcpus": "2,3,6,7"},
    "background": True,
    "tasks": [{"name": "any", "count": 12, "program": [{"run": ["1ms", "4ms"]}, {"sleep": "1ms"}]}],
}


def user_ns(result: Json) -> list[int]:
    return [cpu["user_ns"] for cpu in result["per_cpu"]]


def test_nothing_goes_to_isolated_cpus_by_itself(sim: Simulator) -> None:
    result = sim("smt8", BUSY)
    assert result["settings"]["isolcpus"] == "2-3,6-7"
    spent = user_ns(result)
    assert all(spent[cpu] == 0 for cpu in (2, 3, 6, 7))
    assert all(spent[cpu] > 0.2e9 for cpu in (0, 1, 4, 5))


def test_who_is_bound_there_stays_unbalanced(sim: Simulator) -> None:
    """Two tasks on one of two isolated CPUs share it: no domain has both."""
    scenario: Json = {
        **BUSY,
        "tasks": [{"name": "bound", "count": 2, "affinity": "6", "program": [{"run": "1s"}]}],
        "actions": [{"at": "10ms", "task": "bound*", "affinity": "6,7"}],
    }
    isolated = user_ns(sim("smt8", scenario))
    assert isolated[7] == 0
    assert isolated[6] > 0.29e9
    free = user_ns(sim("smt8", {key: value for key, value in scenario.items() if key != "boot"}))
    assert free[7] > 0.2e9


def test_isolated_cpus_have_no_domains(sim: Simulator) -> None:
    path = sim.scratch / "isolated.json"
    path.write_text('{"duration": "1ms", "boot": {"isolcpus": "2,3"}}')
    done = sim.start("smt8", BUSY, "--scenario", str(path), "--print-domains")
    assert done.returncode == 0, done.stderr
    spans = {(domain.cpu, domain.files["span"]) for domain in read(done.stdout)}
    assert {cpu for cpu, _ in spans} == {0, 1, 4, 5, 6, 7}
    assert (1, "0-1,4-7") in spans


@pytest.mark.parametrize("cpus", ["0-7", "", "9", "nohz,2"])
def test_bad_lists(sim: Simulator, cpus: str) -> None:
    done = sim.start("smt8", {**BUSY, "boot": {"isolcpus": cpus}})
    assert done.returncode == 2
    assert "boot.isolcpus" in done.stderr


def test_the_last_cpu_that_is_not_isolated_stays(sim: Simulator) -> None:
    """As the kernel has it: without it a domain would span no CPU."""
    scenario: Json = {
        **BUSY,
        "boot": {"isolcpus": "0-6"},
        "actions": [{"at": "10ms", "offline": 7}],
    }
    done = sim.start("smt8", scenario)
    assert (done.returncode, "offline 7" in done.stderr) == (2, True), done.stderr


def test_a_list_that_is_too_long_is_refused(sim: Simulator) -> None:
    done = sim.start("smt8", {**BUSY, "boot": {"isolcpus": "2,3," * 1200 + "2"}})
    assert (done.returncode, "more than 4095 characters" in done.stderr) == (2, True)
