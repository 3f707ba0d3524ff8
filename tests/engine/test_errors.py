"""Bad input: one clear message with the key path, exit status 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.engine.simulator import Simulator, build, machine

OK = {"duration": "10ms", "tasks": [{"name": "a", "program": [{"run": "1ms"}]}]}


def change(obj: Any, path: str, value: Any) -> Any:
    *way, last = path.split("/")
    for step in way:
        obj = obj[int(step) if step.isdigit() else step]
    obj[int(last) if last.isdigit() else last] = value
    return obj


OPP = [{"mhz": 500, "power_mw": 50}, {"mhz": 1000, "power_mw": 100}]
MACHINE = [
    ("topology/llc", ["0-3", "3"], "topology.llc[1]: CPU 3 is already in entry 0"),
    ("topology/llc", ["0-2"], "topology.llc: CPU 3 is in no entry"),
    ("topology/node", ["0-1", "2-3"], "topology.distance: 2 rows are expected"),
    (
        "cpu",
        [{"cpus": "0-3", "capacity": 1, "transition": "1ms"} | {"opp": OPP}],
        "cpu[0].opp[0]: less than 1 of 1024 in capacity: the kernel's energy model divides by it",
    ),
    ("topology/cpus", 5000, "topology.cpus: 5000 is not within 1..1024"),
    ("cost/colour", "1ns", "cost.colour: unknown key"),
    ("cost/tick", "fast", 'cost.tick: "fast" is not a quantity like "1.5us"'),
    ("cpu", [{"cpus": "0-3", "capacity": 0}], "cpu[0].capacity: 0 is not within 1..1024"),
    (
        "topology/core",
        {"threads": 2, "stride": 3},
        "topology.core: threads and stride do not divide",
    ),
]

SCENARIO = [
    ("duration", 5, "duration: a quantity with its unit is expected"),
    ("tasks/0/program", [], "tasks[0].program: a list of phases is expected"),
    ("tasks/0/program", [{"loop": 0, "body": [{"run": "0ns"}]}], "it would never end"),
    ("tasks/0/nice", 40, "tasks[0].nice: 40 is not within -20..19"),
    ("tasks/0/affinity", "0-9", "tasks[0].affinity: 0-9 is not within 0-3"),
    ("tasks/0/group", "/x", 'tasks[0].group: no group "/x" in groups'),
    ("colour", "red", "colour: unknown key"),
    ("features", {"WA_IDEL": False}, "features.WA_IDEL: this kernel has no such scheduler feature"),
    ("ablate", ["gravity"], 'ablate[0]: no mechanism "gravity"'),
    ("end", {"when": "workloads_done"}, "end.max_simulated: missing"),
    (
        "knobs",
        {"/proc/sys/kernel/nothing": "1"},
        "/proc/sys/kernel/nothing: this kernel has no such file",
    ),
    *(
        (key, value, f"{key}: an object is expected")
        for key in ("features", "knobs", "cpuidle", "cpufreq")
        for value in ([], "x", 5, True, None)
    ),
    *(("ablate", value, "ablate: a list is expected") for value in ({}, "x", 5, True, None)),
    ("tasks/0/priority", 5, "tasks[0].priority: only the policies fifo and rr have one"),
    ("tasks/0/runtime", "1ms", "tasks[0].runtime: only the policy deadline has one"),
    *(
        ("tasks/0/program", [{"run": "1ms"}, phase], f"tasks[0].program[1].{message}")
        for phase, message in (
            ({"yield": False}, "yield: true is expected"),
            ({"exec": None}, "exec: true is expected"),
            ({"fork": "no", "body": [{"run": "1ms"}]}, "fork: true is expected"),
            ({"run": "1ms", "body": 5}, "body: this phase has none"),
            ({"wait": "f", "count": 1}, "count: this phase has none"),
            ({"wake": "f", "bytes": 1}, "bytes: this phase has none"),
            ({"sleep": "1ms", "size": "4KiB"}, "size: this phase has none"),
        )
    ),
    *(
        ("actions", [{"at": "1ms", **action}], f"actions[0]{message}")
        for action, message in (
            ({"offline": 1, "online": 2}, ": one of offline, online, write and task is expected"),
            ({"offline": 1, "task": "a"}, ": one of offline, online, write and task is expected"),
            ({"offline": 1, "nice": 3}, ": group, affinity and a policy's attributes are a task's"),
            ({"offline": 1, "value": "3"}, ".value: only a write has one"),
            ({"task": "a"}, ": one of group, affinity and a policy's attributes is expected"),
            ({"task": "a", "nice": 1, "group": "/"}, ": one of group, affinity and a policy's"),
            ({"task": "a", "priority": 3}, ".priority: only the policies fifo and rr have one"),
            ({"task": "b*", "nice": 3}, ': no task is called "b*" at that time'),
        )
    ),
    *(
        ("groups", [{"path": "/a", **files}], f"group /a: {message}")
        for files, message in (
            ({"cpu.weight": "1000", "cpu.idle": "1"}, "cpu.weight: wrote 1000, read back "),
            ({"cpu.weight": "1000", "cpu.weight.nice": "19"}, "cpu.weight: wrote 1000, read back "),
        )
    ),
]


@pytest.mark.parametrize(("path", "value", "message"), MACHINE)
def test_machine(sim: Simulator, path: str, value: Any, message: str) -> None:
    bad = machine("smp4")
    change(bad, path, value)
    done = sim.start(bad, OK)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_missing_cost(sim: Simulator) -> None:
    bad = machine("smp4")
    del bad["cost"]["irq"]
    done = sim.start(bad, OK)
    assert done.returncode == 2
    assert "cost.irq: missing" in done.stderr


@pytest.mark.parametrize(("path", "value", "message"), SCENARIO)
def test_scenario(sim: Simulator, path: str, value: Any, message: str) -> None:
    bad: Any = {"duration": "10ms", "tasks": [{"name": "a", "program": [{"run": "1ms"}]}]}
    change(bad, path, value)
    done = sim.start("smp4", bad)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_both_files_of_a_fair_server(tmp_path: Path) -> None:
    server = "/sys/kernel/debug/sched/fair_server/cpu1"
    knobs = {f"{server}/period": "500000000", f"{server}/runtime": "20000000"}
    done = Simulator(build("6.12"), tmp_path).start("smp4", {"duration": "9ms", "knobs": knobs})
    assert done.returncode == 2
    assert f"knobs.{server}/period: runtime is set for this CPU as well" in done.stderr


def test_bounds_end_a_run(sim: Simulator) -> None:
    endless = {
        "duration": "1s",
        "workloads": [{"kind": "sched-pipe", "loop": 1 << 30}],
        "end": {"when": "workloads_done", "max_simulated": "100ms"},
    }
    assert sim.start("smp4", endless).returncode == 4
