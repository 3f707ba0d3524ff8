"""Random scenarios: CPUs, tasks, groups, affinity, hotplug, features, policies."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from schedlab.counters.engine_names import engine_names

if TYPE_CHECKING:
    from conftest import Simulator

Json = dict[str, Any]

MACHINES = {
    "smp4": 4,
    "smt8": 8,
    "numa16": 16,
    "biglittle-6": 6,
    "hikey960": 8,
    "epyc-7713-2p-nps1": 256,
}
# Features both series know and that may be set at any time.
FEATURES = [
    "WAKEUP_PREEMPTION",
    "CACHE_HOT_BUDDY",
    "TTWU_QUEUE",
    "SIS_UTIL",
    "WA_IDLE",
    "WA_WEIGHT",
    "WA_BIAS",
    "UTIL_EST",
    "RT_PUSH_IPI",
    "LB_MIN",
    "ATTACH_AGE_LOAD",
    "NEXT_BUDDY",
]
MECHANISMS = engine_names("MECHANISMS")


def us(rng: random.Random, low: float, high: float) -> str:
    return f"{int(rng.uniform(low, high))}us"


def cpu_list(rng: random.Random, cpus: int) -> str:
    return ",".join(map(str, sorted(rng.sample(range(cpus), rng.randint(1, min(cpus, 4))))))


def phases(rng: random.Random, pipes: list[str]) -> list[Json]:
    program: list[Json] = [{"run": [us(rng, 1, 500), us(rng, 500, 5000)]}]
    for _ in range(rng.randint(0, 3)):
        kind = rng.choice(["run", "sleep", "yield", "spin", "pipe", "fork", "exec", "wake"])
        if kind in ("run", "sleep", "spin"):
            program.append({kind: us(rng, 1, 3000)})
        elif kind == "pipe" and pipes:
            # write before read: a task alone on its pipe never blocks for ever
            name = rng.choice(pipes)
            size = rng.choice([1, 100, 4096])
            program += [{"pipe_write": name, "bytes": size}, {"pipe_read": name, "bytes": size}]
        elif kind == "fork":
            program.append({"fork": True, "body": [{"run": us(rng, 1, 300)}]})
        elif kind == "wake":
            program.append({"wake": "f", "count": 1})
        elif kind in ("yield", "exec"):
            program.append({kind: True})
    return program


def policy(rng: random.Random) -> Json:
    kind = rng.choices(["normal", "batch", "idle", "fifo", "rr", "deadline"], [10, 2, 1, 1, 1, 1])[
        0
    ]
    if kind in ("fifo", "rr"):
        return {"policy": kind, "priority": rng.randint(1, 99)}
    if kind == "deadline":
        return {"policy": kind, "runtime": "1ms", "period": "20ms"}
    return {"policy": kind, "nice": rng.choice([0, 0, 0, -20, -5, 5, 19])}


def scenario(seed: int) -> tuple[str, Json]:
    """A machine's name and a scenario; the same for the same seed, always."""
    rng = random.Random(seed)
    name = rng.choice(list(MACHINES))
    return name, mixed(rng, MACHINES[name])


def mixed(rng: random.Random, cpus: int) -> Json:
    """Return a scenario of everything that any machine and any kernel understands."""
    groups: list[Json] = [
        {
            "path": f"/g{i}",
            "cpu.weight": str(rng.choice([1, 50, 100, 10000])),
            **({"cpu.max": f"{rng.randint(2, 200) * 1000} 100000"} if rng.random() < 0.4 else {}),
        }
        for i in range(rng.randint(0, 3))
    ]
    if groups and rng.random() < 0.5:
        groups.append({"path": "/g0/sub"})
    pipes = [f"p{i}" for i in range(rng.randint(0, 3))]
    tasks: list[Json] = []
    for i in range(rng.randint(1, 6)):
        how = policy(rng)
        task: Json = {
            "name": f"t{i}.",
            "count": rng.randint(1, 2 * min(cpus, 24)),
            "program": phases(rng, pipes),
            **how,
        }
        if how["policy"] in ("fifo", "rr", "deadline"):
            task["count"] = rng.randint(1, 3)
            task["program"].append({"sleep": us(rng, 2000, 20000)})
        elif rng.random() < 0.4:
            task["affinity"] = cpu_list(rng, cpus)
        if groups and how["policy"] not in ("fifo", "rr", "deadline") and rng.random() < 0.5:
            task["group"] = rng.choice(groups)["path"]
        if rng.random() < 0.3:
            task["start"] = us(rng, 0, 50000)
        if rng.random() < 0.3:
            task["footprint"] = f"{rng.choice([4, 64, 1024])}KiB"
        tasks.append(task)
    actions: list[Json] = []
    # A throttled deadline task on a CPU that goes away raises a warning of the kernel's own
    # (docs/internals/engine.md).
    hotplug = rng.random() < 0.5 and all(t["policy"] != "deadline" for t in tasks)
    if hotplug:
        # CPU 0 stays; a CPU goes down once and may come back
        for cpu in rng.sample(range(1, cpus), rng.randint(1, 2)):
            at = rng.randint(10, 60)
            actions.append({"at": f"{at}ms", "offline": cpu})
            if rng.random() < 0.6:
                actions.append({"at": f"{at + rng.randint(5, 30)}ms", "online": cpu})
    for _ in range(rng.randint(0, 3)):
        at = f"{rng.randint(51, 90)}ms"  # all have started
        fair = [t["name"] for t in tasks if t["policy"] in ("normal", "batch", "idle")]
        if not fair:
            break
        target = rng.choice(fair) + "*"
        actions.append(
            rng.choice(
                [
                    {"at": at, "task": target, "nice": rng.randint(-20, 19)},
                    {"at": at, "task": target, "affinity": f"0-{cpus - 1}"},
                    {
                        "at": at,
                        "task": target,
                        "group": rng.choice(groups)["path"] if groups else "/",
                    },
                ]
            )
        )
    features = {f: rng.random() < 0.5 for f in rng.sample(FEATURES, rng.randint(0, 3))}
    result: Json = {
        "duration": f"{rng.randint(250, 300) if hotplug else rng.randint(91, 120)}ms",
        "tasks": tasks,
        "groups": groups,
        "actions": actions,
        "features": features,
        "background": rng.choice([False, False, True]),
        "ablate": rng.sample(MECHANISMS, rng.choice([0, 0, 0, 1, 2])),
    }
    if rng.random() < 0.3:
        result["workloads"] = [
            {
                "kind": "hackbench",
                "groups": rng.randint(1, 2),
                "fds": rng.randint(2, 20),
                "loops": rng.randint(1, 20),
                "pipe": rng.random() < 0.5,
                "threads": rng.random() < 0.5,
            }
        ]
    return result


def outcomes(sim: Simulator, seeds: Iterable[int], *, costs: bool = True) -> list[str]:
    """Return the trace hash of each seed's scenario, or the reason why it was refused.

    Without `costs` the decisions alone matter, and not where in memory the kernel's objects lie.
    """
    found = []
    for seed in seeds:
        machine, asked = scenario(seed)
        done = sim.start(machine, asked if costs else {**asked, "ablate": MECHANISMS})
        assert done.returncode in (0, 2), done.stderr[-3000:]
        if done.returncode:
            found.append(done.stderr.partition(".json: ")[2])
        else:
            found.append(sim.read()["trace_hash"])
    return found
