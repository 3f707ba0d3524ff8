"""Cpusets and their partitions, by kernel/cgroup/cpuset.c as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator

PARTITION = "cpuset.cpus.partition"
APART: Json = {"path": "/b", "cpuset.cpus": "2-3", PARTITION: "isolated"}
ANY: Json = {
    "name": "any",
    "count": 12,
    "program": [{"run": ["1ms", "4ms"]}, {"sleep": "1ms"}],
}
INSIDE: Json = {"name": "inside", "count": 2, "group": "/p", "program": [{"run": "1s"}]}


@pytest.fixture
def cpusets(series: str, tmp_path: Path) -> Simulator:
    return Simulator(builds.with_cpusets(series), tmp_path)


def case(*groups: Json, actions: tuple[Json, ...] = (), tasks: tuple[Json, ...] = ()) -> Json:
    return {
        "duration": "300ms",
        "background": True,
        "groups": list(groups),
        "tasks": list(tasks or (ANY, INSIDE)),
        "actions": list(actions),
    }


def group(cpus: str, partition: str | None = None, path: str = "/p") -> Json:
    own = {PARTITION: partition} if partition else {}
    return {"path": path, "cpuset.cpus": cpus, **own}


def user_ns(result: Json) -> list[int]:
    return [cpu["user_ns"] for cpu in result["per_cpu"]]


def spans(result: Json) -> dict[str, list[tuple[int, int]]]:
    """The spans of a domain's name, each with how many there are."""
    found: dict[str, list[tuple[int, int]]] = {}
    for domain in result["steady"]["domains"]:
        found.setdefault(domain["name"], []).append((domain["cpus"], domain["domains"]))
    return found


def test_cpus_that_tasks_may_use_follow_their_cpuset(cpusets: Simulator, tmp_path: Path) -> None:
    """As it is written, and as a task comes into it."""
    comes = {"name": "comes", "program": [{"run": "1s"}]}
    shrinks = {"at": "100ms", "write": "/sys/fs/cgroup/p/cpuset.cpus", "value": "2"}
    moves = {"at": "200ms", "task": "comes", "group": "/p"}
    trace = tmp_path / "trace.txt"
    options = ("--trace", str(trace), "--trace-events", "cpus_allowed")
    tasks = ({**INSIDE, "count": 1}, comes)
    cpusets("smt8", case(group("2,3"), tasks=tasks, actions=(shrinks, moves)), *options)
    seen: dict[str, list[str]] = {}
    for name, cpus in re.findall(r"comm=(inside|comes) pid=\d+ cpus=(\S+)", trace.read_text()):
        seen.setdefault(name, []).append(cpus)
    assert seen == {"inside": ["0-7", "2-3", "2"], "comes": ["0-7", "2"]}


def test_a_cpuset_keeps_its_tasks_and_nobody_out(cpusets: Simulator) -> None:
    sleepers = {**INSIDE, "count": 4, "program": [{"run": "1ms"}, {"sleep": "3ms"}]}
    result = cpusets("smt8", case(group("2,3"), tasks=(sleepers,)))
    spent = user_ns(result)
    assert [cpu for cpu in range(8) if spent[cpu] > 10e6] == [2, 3]
    both = user_ns(cpusets("smt8", case(group("2,3"))))
    assert sum(both) > 8 * 0.27e9
    assert spans(result)["MC"] == [(8, 1)]


def test_a_root_partition_is_balanced_apart(cpusets: Simulator) -> None:
    """Tasks of a partition spread over its CPUs and no others; both islands have domains."""
    hogs = {**INSIDE, "count": 4}
    result = cpusets("smt8", case(group("2-5", "root"), tasks=(ANY, hogs)))
    assert spans(result)["MC"] == [(4, 2)]
    assert result["settings"][f"/sys/fs/cgroup/p/{PARTITION}"] == "root"
    spent = {task["name"]: task["runtime_ns"] for task in result["tasks"]}
    assert all(spent[f"inside{n}"] > 0.28e9 for n in range(1, 5))


def test_an_isolated_partition_is_not_balanced(cpusets: Simulator) -> None:
    """Two tasks that begin on one of its CPUs stay there, and nobody else comes."""
    bound = {**INSIDE, "affinity": "2"}
    free: Json = {"at": "20ms", "task": "inside*", "affinity": "2-5"}
    tasks = (ANY, bound)
    spent = user_ns(cpusets("smt8", case(group("2-5", "isolated"), actions=(free,), tasks=tasks)))
    result = cpusets("smt8", case(group("2-5", "isolated"), actions=(free,), tasks=tasks))
    assert spans(result)["MC"] == [(4, 1)]
    assert (spent[3], spent[4], spent[5]) == (0, 0, 0)
    assert spent[2] > 0.29e9
    balanced = user_ns(cpusets("smt8", case(group("2-5", "root"), actions=(free,), tasks=tasks)))
    assert sum(balanced[2:6]) > 0.5e9


def test_partitions_are_made_and_undone_while_tasks_run(cpusets: Simulator) -> None:
    def write(at: str, value: str) -> Json:
        return {"at": at, "write": f"/sys/fs/cgroup/p/{PARTITION}", "value": value}

    tasks = (ANY, {**INSIDE, "start": "20ms"})
    made = cpusets("smt8", case(group("2,3"), actions=(write("100ms", "isolated"),), tasks=tasks))
    assert spans(made)["MC"] == [(6, 1)]
    both = (write("100ms", "isolated"), write("200ms", "member"))
    assert spans(cpusets("smt8", case(group("2,3"), actions=both, tasks=tasks)))["MC"] == [(8, 1)]


@pytest.mark.parametrize("partition", ["root", "isolated"])
def test_cpus_of_a_partition_go_and_come(cpusets: Simulator, partition: str) -> None:
    actions = ({"at": "60ms", "offline": 3}, {"at": "160ms", "online": 3})
    few = {**ANY, "count": 4, "program": [{"run": "1ms"}, {"sleep": "9ms"}]}
    scenario = case(group("2-5", partition), actions=actions, tasks=(few, INSIDE))
    result = cpusets("smt8", {**scenario, "duration": "600ms"})
    assert result["per_cpu"][3]["offline_ns"] > 0.05e9
    left = (4, 2 if partition == "root" else 1)
    assert spans(result)["MC"] == [left]


def test_the_last_cpu_of_a_partition_may_be_kept(cpusets: Simulator) -> None:
    """6.12 refuses for the fair server's bandwidth; others take the partition back."""
    offline: Json = {"at": "60ms", "offline": 3}
    done = cpusets.start("smt8", case(group("3", "root"), actions=(offline,)))
    why = ("in its partition", "root when it was written, root invalid")
    assert (done.returncode, any(each in done.stderr for each in why)) == (2, True), done.stderr
    if why[1] in done.stderr:
        cpusets("smt8", case(group("3", "root"), actions=(offline, {"at": "160ms", "online": 3})))


def test_a_partition_that_becomes_invalid_later_is_refused(cpusets: Simulator) -> None:
    """Another group takes its CPUs: the file that was written reads back as written."""
    write: Json = {"at": "60ms", "write": "/sys/fs/cgroup/q/cpuset.cpus", "value": "3-5"}
    done = cpusets.start(
        "smt8", case(group("2-3", "root"), group("6", path="/q"), actions=(write,))
    )
    if done.returncode:
        assert "group /p: cpuset.cpus.partition: root when it was written, root inv" in done.stderr
        assert done.returncode == 2
    else:  # or it is the other one that goes without
        file = "/sys/fs/cgroup/p/cpuset.cpus.partition"
        assert cpusets.read()["settings"][file] == "root"


def test_groups_below_and_beside(cpusets: Simulator) -> None:
    """A group whose parent's children have no cpuset is in its parent's."""
    deep: Json = {"path": "/p/deep"}
    tasks = ({**INSIDE, "group": "/p/deep", "count": 4},)
    spent = user_ns(cpusets("smt8", case(group("6-7", "root"), deep, tasks=tasks)))
    assert all(spent[cpu] < 10e6 for cpu in range(6))
    nested = group("7", path="/p/deep")
    spent = user_ns(cpusets("smt8", case(group("6-7"), nested, tasks=tasks)))
    assert all(spent[cpu] < 10e6 for cpu in range(7))


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ((group("0-7", "root"),), "read back root invalid"),
        ((group("2,x"),), "writing 2,x to cpuset.cpus: Invalid argument"),
        (({"path": "/p", "cpuset.mems": "0"},), "groups[0].cpuset.mems: unknown key"),
    ],
)
def test_what_the_kernel_does_not_take(
    cpusets: Simulator, groups: tuple[Json, ...], why: str
) -> None:
    done = cpusets.start("smt8", case(*groups))
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr


def test_partitions_that_overlap(cpusets: Simulator) -> None:
    """Before 7.x the second one is invalid; 7.x grants it what is left."""
    done = cpusets.start("smt8", case(group("2-3", "root"), group("3-4", "root", "/q")))
    if done.returncode:
        assert (done.returncode, "group /q" in done.stderr) == (2, True), done.stderr
    else:
        assert cpusets.read()["kernel"].startswith("7")


def test_a_benchmarks_own(cpusets: Simulator) -> None:
    workload: Json = {"kind": "hackbench", "groups": 1, "fds": 2, "loops": 50}
    end = {"when": "workloads_done", "max_simulated": "10s"}
    own = {"path": "/b", "cpuset.cpus": "4,5", "cpuset.cpus.partition": "isolated"}
    result = cpusets(
        "smt8", {"duration": "10s", "workloads": [workload], "end": end, "cgroup": own}
    )
    kernel = [cpu["kernel_ns"] for cpu in result["per_cpu"]]
    assert kernel[4] + kernel[5] > 2 * sum(kernel[cpu] for cpu in (0, 1, 2, 3, 6, 7))
    assert result["settings"]["/sys/fs/cgroup/b/cpuset.cpus"] == "4-5"


def test_a_build_without_says_so(sim: Simulator) -> None:
    done = sim.start("smt8", case(group("2-3")))
    assert (done.returncode, "built without CPUSETS" in done.stderr) == (2, True)
    done = sim.start("smt8", {"duration": "1ms", "cgroup": {"path": "/b", "cpuset.cpus": "2-3"}})
    assert (done.returncode, "cgroup.cpuset.cpus: this kernel" in done.stderr) == (2, True)


def test_groups_of_a_benchmark_are_below_its_cpuset(cpusets: Simulator, tmp_path: Path) -> None:
    """Beside it they would run where the cpuset keeps them from."""
    file = tmp_path / "apps.json"
    app = {"loop": 20, "run": 5000, "sleep": 1000}
    tasks = {name: {**app, "taskgroup": f"/{name}/inner"} for name in ("one", "two", "three")}
    file.write_text(json.dumps({"global": {"calibration": "CPU2"}, "tasks": tasks}))
    result = cpusets(
        "smt8",
        {
            "duration": "5s",
            "workloads": [{"kind": "rt-app", "file": str(file)}],
            "end": {"when": "workloads_done", "max_simulated": "5s"},
            "cgroup": APART,
        },
    )
    spent = user_ns(result)
    assert spent[2] + spent[3] > 0.2e9
    assert max(spent[cpu] for cpu in (0, 1, 4, 5, 6, 7)) < 0.02e9


def test_groups_of_a_benchmark_that_is_elsewhere(cpusets: Simulator, tmp_path: Path) -> None:
    """What names a group of its own is not in the cpuset, nor are the groups it makes."""
    file = tmp_path / "apps.json"
    tasks = {"one": {"loop": 20, "run": 5000, "sleep": 1000, "taskgroup": "/inner"}}
    file.write_text(json.dumps({"global": {"calibration": "CPU0"}, "tasks": tasks}))
    inside: Json = {"kind": "hackbench", "groups": 1, "fds": 2, "loops": 5}
    result = cpusets(
        "smt8",
        {
            "duration": "5s",
            "groups": [{"path": "/own"}],
            "workloads": [{"kind": "rt-app", "file": str(file), "group": "/own"}, inside],
            "end": {"when": "workloads_done", "max_simulated": "5s"},
            "cgroup": APART,
        },
    )
    spent = user_ns(result)
    assert sum(spent[cpu] for cpu in (0, 1, 4, 5, 6, 7)) > 0.09e9


def test_a_cpuset_that_nobody_is_in(cpusets: Simulator) -> None:
    scenario: Json = {"duration": "1ms", "cgroup": {"path": "/b", "cpuset.cpus": "2-3"}}
    done = cpusets.start("smt8", scenario)
    assert (done.returncode, "cgroup: no workload is in it" in done.stderr) == (2, True)


def test_memory_nodes_of_a_group_are_refused(cpusets: Simulator) -> None:
    write: Json = {"at": "1ms", "write": "/sys/fs/cgroup/p/cpuset.mems", "value": "0"}
    done = cpusets.start("smt8", case(group("2-3"), actions=(write,)))
    assert (done.returncode, "cpuset.mems is not simulated" in done.stderr) == (2, True)
