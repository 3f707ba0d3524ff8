"""Our kernel patches: they change nothing by default, and what they say when they are switched."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from test_decisions import decisions, of

from tests.helpers import builds
from tests.helpers.engine.scenarios import outcomes, scenario
from tests.helpers.engine.simulator import Json, Simulator, machine
from tests.helpers.kernel_source import kernel_source

WF_FORK = 4
SEEDS = range(200, 212)
FEATURES_FILE = "/sys/kernel/debug/sched/features"
FEATURES = ["GROUP_UTIL", "MISFIT", "ILB_UTIL", "ILB_UTIL_V2", "ILB_ROUND_UP"]
HOG: Json = {"program": [{"run": "10ms"}]}
FORKING: Json = {"program": [{"fork": True, "body": [{"run": "20us"}]}, {"sleep": "700us"}]}


@pytest.fixture
def patched(series: str, tmp_path: Path) -> Simulator:
    """A simulator with all patches of the series."""
    if not builds.patches(series):
        pytest.skip(f"schedlab has no patches for {series}")
    return Simulator(builds.patched(series), tmp_path)


@pytest.mark.parametrize("tool", ["git apply", "patch -p1 --forward -i"])
def test_patches_apply_alone_and_in_any_order(series: str, tool: str, tmp_path: Path) -> None:
    tree = kernel_source(series)
    copy = tmp_path / "linux"
    for part in ("kernel/sched", "include/linux/sched"):
        shutil.copytree(tree / part, copy / part)

    def run(command: str, *more: str | Path) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        word, *words = command.split()
        line = [word, *(identity if word == "git" else ()), *words, *more]
        done = subprocess.run(line, cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout + done.stderr)
        return done.stdout

    run("git init -q")
    run("git add .")
    run("git commit -q -m tree")
    run("git tag tree")
    every = builds.patches(series)
    whole = set()
    for order in (*itertools.permutations(every, 2), every, every[::-1]):
        run("git reset -q --hard tree")
        for path in order:
            assert "fuzz" not in run(tool, path)
        if len(order) == len(every):
            whole.add(run("git diff tree"))
    assert len(whole) == 1


def test_by_default_nothing_changes(sim: Simulator, patched: Simulator) -> None:
    """A patch may change the size of objects, and so which of them share a line."""
    assert outcomes(patched, SEEDS, costs=False) == outcomes(sim, SEEDS, costs=False)


def test_features_switch_at_any_time(patched: Simulator) -> None:
    words = [f"{no}{feature}" for feature in FEATURES for no in ("NO_", "")]
    for seed in range(300, 308):
        name, case = scenario(seed)
        for at, word in zip(range(2, 40, 2), itertools.cycle(words), strict=False):
            case["actions"].append({"at": f"{at}ms", "write": FEATURES_FILE, "value": word})
        done = patched.start(name, case)
        # 2: a setting of the scenario's that the kernel refuses
        assert done.returncode in (0, 2), done.stderr[-3000:]
        assert FEATURES_FILE not in done.stderr


# ------------------------------------------------------------------ GROUP_UTIL

# Four LLCs of four CPUs. Forks begin on the first, which has the fewest idle CPUs. The second and the third
# have three each: one beside a hog, one beside a real-time task, which is no utilisation of the fair class.
FORKS: Json = {
    "duration": "500ms",
    "tasks": [
        {"name": "sh", "affinity": "0", **FORKING},
        {"name": "local", "affinity": "1", **HOG},
        {"name": "fair", "affinity": "4", **HOG},
        {"name": "rt", "affinity": "8", "policy": "fifo", "priority": 1, **HOG},
        {"name": "two", "affinity": "12,13", "count": 2, **HOG},
    ],
    "actions": [{"at": "100ms", "task": "sh", "affinity": "0-15"}],
}


def children(sim: Simulator, machine: str | Json, case: Json, path: Path) -> list[int]:
    """The CPUs that children of sh begin on; while it is held on CPU 0, nothing is chosen."""
    events, _ = decisions(sim, machine, case, path, "select_task_rq")
    forks = [e for e in of(events, "select_task_rq") if e["flags"] == hex(WF_FORK)]
    _sh, *cpus = (e["cpu"] for e in forks if e["comm"] == "sh")
    assert len(cpus) > 100
    return cpus


@pytest.mark.parametrize(("on", "llc"), [(True, 2), (False, 1)])
def test_group_util_breaks_ties_of_forks(
    patched: Simulator, tmp_path: Path, on: bool, llc: int
) -> None:
    """On: the less utilised group. Off: the group that comes first."""
    one_node = machine("numa16")
    one_node["topology"].update(node=["0-15"], package=["0-15"], distance=[[10]])
    case = {**FORKS, "features": {"GROUP_UTIL": on}}
    cpus = children(patched, one_node, case, tmp_path / "t")
    assert sum(cpu // 4 == llc for cpu in cpus) > 0.98 * len(cpus)


# ------------------------------------------------------------------ MISFIT


def longer(count: int, big: str, big_cpus: int) -> Json:
    """As in the patches that brought it: tasks on the big CPUs end, longer ones are on little CPUs."""
    pinned = {"count": big_cpus, "affinity": big, "loops": 1, "program": [{"run": "500ms"}]}
    return {
        "duration": "1500ms",
        "tasks": [
            {"name": "pinned", **pinned},
            {"name": "longer", "count": count, "start": "50ms", "stagger": "10ms", **HOG},
        ],
    }


LATER: Json = {"at": "1s", "write": FEATURES_FILE, "value": "MISFIT"}


@pytest.mark.parametrize(
    ("features", "actions", "since"),
    [({}, [], 0.5), ({"MISFIT": False}, [LATER], 1.0), ({"MISFIT": False}, [], 1.5)],
    ids=["on", "later", "off"],
)
def test_misfit_tasks_move_to_big_cpus(
    patched: Simulator, tmp_path: Path, features: Json, actions: list[Json], since: float
) -> None:
    """Within 100 ms of the time they can; where it is off, until each cluster has two of the four."""
    case = {**longer(4, "4-7", 4), "features": features, "actions": actions}
    events, _ = decisions(patched, "hikey960", case, tmp_path / "t", "load_balance,group_stats")
    result = json.loads(patched.result.read_text())
    seen = [e for e in of(events, "group_stats") if e["misfit"] or e["type"] == "misfit_task"]
    passes = [e for e in of(events, "load_balance") if e["migration"] == "misfit"]
    # seconds of each big CPU, after those of the pinned task
    work = [cpu["user_ns"] / 1e9 - 0.5 for cpu in result["per_cpu"][4:]]
    if since < 1.5:
        assert seen and any(e["active"] for e in passes)
        assert min(work) > 1.5 - since - 0.1
    else:
        assert not seen and not passes
        assert 1.5 < sum(work) < 2.1, "of 4"


def test_without_misfit_a_cluster_of_fewer_tasks_pulls(patched: Simulator, tmp_path: Path) -> None:
    """As preferred siblings do; by its idle CPUs, two of two and two of four, it would not."""
    case = {**longer(2, "1-2", 2), "features": {"MISFIT": False}}
    events, _ = decisions(patched, "juno-r0", case, tmp_path / "t", "load_balance")
    active = [e for e in of(events, "load_balance") if e["active"]]
    assert [(e["cpu"], e["idle"], e["migration"], e["imbalance"]) for e in active] == [
        (1, "idle", "task", 1)
    ]


@pytest.mark.parametrize("on", [True, False])
def test_misfit_groups_of_forks(patched: Simulator, tmp_path: Path, on: bool) -> None:
    """On: children that ask for a big CPU's capacity go there. Off: where more CPUs are idle."""
    sh: Json = {"name": "sh", "affinity": "0", "uclamp_min": 1024, **FORKING}
    case = {
        "duration": "500ms",
        "features": {"MISFIT": on},
        "tasks": [sh, {"name": "hog", "affinity": "4-5", "count": 2, **HOG}],
        "actions": [{"at": "100ms", "task": "sh", "affinity": "0-7"}],
    }
    cpus = children(patched, "hikey960", case, tmp_path / "t")
    assert sum((cpu >= 4) == on for cpu in cpus) > 0.98 * len(cpus)


# ------------------------------------------------------------------ ILB_UTIL


def zen3_one_socket() -> Json:
    made = machine("epyc-7713-2p-nps1")
    made["topology"] = {
        "cpus": 128,
        "core": {"threads": 2, "stride": 64},
        "llc": [f"{8 * i}-{8 * i + 7},{64 + 8 * i}-{64 + 8 * i + 7}" for i in range(8)],
        "package": ["0-127"],
        "node": ["0-127"],
    }
    return made


def part_busy(llcs: int, utilisation: float) -> Json:
    """Hogs on just less than this part of the CPUs, the LLCs in turn; CPU 0 goes idle now and then."""
    cores = 8 * llcs
    in_turn = [
        thread + 8 * llc + core for core in range(8) for thread in (0, cores) for llc in range(llcs)
    ]
    in_turn.remove(0)
    busy = in_turn[: math.ceil(2 * cores * utilisation) - 1]
    # Two on one CPU: without an overloaded one, newidle balance has nothing to look for.
    tasks: list[Json] = [{"name": "second", "affinity": str(busy[0]), **HOG}]
    tasks += [{"name": f"hog{cpu}.", "affinity": str(cpu), **HOG} for cpu in busy]
    short = {"program": [{"run": "50us"}, {"sleep": "2ms"}]}
    return {"duration": "1500ms", "tasks": [*tasks, {"name": "short", "affinity": "0", **short}]}


def newidle_scans(
    sim: Simulator, machine: str | Json, case: Json, path: Path
) -> dict[str, set[tuple[int, int]]]:
    """How many groups and CPUs the last newidle scans of each domain looked at, on CPU 0."""
    names = "group_stats,load_balance"
    options = ("--trace-from", "0.6", "--trace-cpus", "0")
    events, _ = decisions(sim, machine, case, path, names, *options)
    under_way: dict[int, list[list[Json]]] = defaultdict(list)
    done: dict[str, list[list[Json]]] = defaultdict(list)
    for event in events:
        if event["event"] == "group_stats":
            # the local group comes first; a pass that fails may scan again
            if event["local"]:
                under_way[event["on"]].append([])
            if under_way[event["on"]]:  # else it began before the trace did
                under_way[event["on"]][-1].append(event)
        elif event["event"] == "load_balance":
            scans = under_way.pop(event["on"], [])
            if event["idle"] == "newidle":
                done[event["domain"]] += scans
    assert all(len(scans) >= 5 for scans in done.values())
    return {
        {"DIE": "PKG"}.get(domain, domain): {
            (len(scan), sum(group["weight"] for group in scan)) for scan in scans[-5:]
        }
        for domain, scans in done.items()
    }


ONE_SOCKET = {8: zen3_one_socket(), 12: machine("zen4-1p-192")}

# The table of the thread that extended ILB_UTIL to all domains from the LLC on.
DEPTHS = {
    8: {0.9: 1, 0.75: 2, 0.5: 4, 0.25: 6, 0.1: 7},
    12: {0.9: 1, 0.75: 3, 0.5: 6, 0.25: 9, 0.1: 10},
}
# What its code makes of just less than that part of the CPUs.
ROUNDED_UP = {
    8: {0.9: 1, 0.75: 3, 0.5: 5, 0.25: 7, 0.1: 8},
    12: {0.9: 2, 0.75: 4, 0.5: 7, 0.25: 10, 0.1: 11},
}


@pytest.mark.parametrize("llcs", DEPTHS)
@pytest.mark.parametrize("utilisation", DEPTHS[8])
def test_depth_of_newidle_scans(
    patched: Simulator, tmp_path: Path, llcs: int, utilisation: float
) -> None:
    """V2 looks at the local group as one more; without the features there is no limit."""
    case = part_busy(llcs, utilisation)
    depth = DEPTHS[llcs][utilisation]
    for features, groups in (
        ({"ILB_UTIL": True}, depth),
        ({"ILB_UTIL": True, "ILB_ROUND_UP": True}, ROUNDED_UP[llcs][utilisation]),
        ({"ILB_UTIL_V2": True}, depth + 1),
        ({}, llcs),
    ):
        scans = newidle_scans(
            patched, ONE_SOCKET[llcs], {**case, "features": features}, tmp_path / "t"
        )
        assert scans["PKG"] == {(groups, 16 * groups)}


def test_limit_holds_from_the_llc_up(patched: Simulator, tmp_path: Path) -> None:
    case = part_busy(16, 0.75)
    for feature, expected in (
        ("ILB_UTIL", {"SMT": 2, "MC": 2, "PKG": 2, "NUMA": 1}),
        ("ILB_UTIL_V2", {"SMT": 2, "MC": 3, "PKG": 3, "NUMA": 2}),
        ("GROUP_UTIL", {"SMT": 2, "MC": 8, "PKG": 8, "NUMA": 2}),
    ):
        case["features"] = {feature: True}
        scans = newidle_scans(patched, "epyc-7713-2p-nps1", case, tmp_path / "t")
        assert {domain: {groups for groups, _ in found} for domain, found in scans.items()} == {
            domain: {groups} for domain, groups in expected.items()
        }


def test_of_two_groups_only_v2_pulls(patched: Simulator) -> None:
    two_llcs = machine("numa16")
    two_llcs["topology"] = {
        "cpus": 8,
        "core": {"threads": 1, "stride": 1},
        "llc": ["0-3", "4-7"],
        "package": ["0-7"],
        "node": ["0-7"],
    }
    load = {"count": 14, "program": [{"run": ["100us", "1ms"]}, {"sleep": ["100us", "1ms"]}]}
    case: Json = {"duration": "1s", "tasks": [{"name": "load", **load}]}

    def pulls(features: Json) -> int:
        counters = patched(two_llcs, {**case, "features": features})["counters"]
        return sum(counters.get(f"newidle:pulls:{name}", 0) for name in ("PKG", "DIE"))

    # Before there is a limit; when the periodic balance sets one depends on the load.
    assert pulls({"ILB_UTIL": True}) < 30
    assert pulls({"ILB_UTIL_V2": True}) > 300
    assert pulls({}) > 300
