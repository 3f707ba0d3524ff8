"""Random cases as wide as they get: a machine, settings, workloads, tasks and what happens."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from schedlab.base.system.system import natural
from tests.helpers.engine.scenarios import Json, cpu_list, mixed, policy, us
from tests.helpers.kernel_source import sched_features

# How often each machine comes: the host needs half a second to boot the biggest.
MACHINES = {
    "smp4": 12,
    "smt8": 12,
    "small-2n-smt2": 12,
    "biglittle-6": 12,
    "hikey960": 12,
    "juno-r0": 12,
    "raspberry-pi-5": 12,
    "hikey620": 12,
    "numa16": 10,
    "power9-lpar-smt4": 3,
    "vm-icx-32": 3,
    "ryzen-5950x": 3,
    "ivb-ep-2p": 2,
    "xeon-8269cy-2p": 0.6,
    "spr-8480-1p": 0.6,
    "kunpeng-920-6426-2p": 0.3,
    "kunpeng-920-2p": 0.3,
    "power10-lpar-160": 0.4,
    "zen4-1p-192": 0.4,
    "thunderx2-2p": 0.3,
    "spr-8480-2p": 0.3,
    "epyc-7713-2p-nps1": 0.2,
    "epyc-7713-2p-nps2": 0.2,
    "epyc-7713-2p-nps4": 0.2,
    "power10-768": 0.04,
    "mesh8": 2,
}
CFS_FEATURES = (
    "GENTLE_FAIR_SLEEPERS START_DEBIT LAST_BUDDY SIS_PROP UTIL_EST_FASTUP ALT_PERIOD BASE_SLICE"
)
EEVDF_FEATURES = (
    "PLACE_LAG PLACE_DEADLINE_INITIAL PLACE_REL_DEADLINE RUN_TO_PARITY PREEMPT_SHORT "
    "PICK_BUDDY DELAY_DEQUEUE DELAY_ZERO NI_RANDOM"
)
BOTH_FEATURES = ["HRTICK", "HRTICK_DL", "DOUBLE_TICK", "NONTASK_CAPACITY", "RT_RUNTIME_SHARE"]

KERNEL = "/proc/sys/kernel"
SCHED = "/sys/kernel/debug/sched"
GOVERNOR = "/sys/devices/system/cpu/cpuidle/current_governor"
KNOBS: dict[str, tuple[str, ...]] = {
    f"{KERNEL}/sched_autogroup_enabled": ("0", "1"),
    f"{KERNEL}/sched_cfs_bandwidth_slice_us": ("1", "500", "5000", "20000"),
    f"{KERNEL}/sched_rt_runtime_us": ("-1", "500000", "950000"),
    f"{KERNEL}/sched_rr_timeslice_ms": ("10", "100"),
    f"{KERNEL}/sched_schedstats": ("0", "1"),
    f"{SCHED}/migration_cost_ns": ("0", "1000", "500000", "5000000"),
    f"{SCHED}/nr_migrate": ("1", "8", "32", "128"),
    f"{SCHED}/tunable_scaling": ("0", "1", "2"),
    f"{SCHED}/numa_balancing/scan_delay_ms": ("1", "10"),
    f"{SCHED}/numa_balancing/scan_size_mb": ("1", "256"),
}
CFS_KNOBS = {
    f"{KERNEL}/sched_child_runs_first": ("0", "1"),
    f"{SCHED}/latency_ns": ("1000000", "24000000"),
    f"{SCHED}/min_granularity_ns": ("100000", "3000000"),
    f"{SCHED}/wakeup_granularity_ns": ("0", "1000000", "10000000"),
}
EEVDF_KNOBS = {f"{SCHED}/base_slice_ns": ("100000", "3000000", "20000000")}


@dataclass
class Case:
    """What a seed stands for. `files` lie beside the scenario, by name."""

    seed: int
    machine: str
    changes: Json
    """Of the machine's file, by table."""
    scenario: Json
    files: dict[str, str] = field(default_factory=dict)


def _pick(rng: random.Random, choices: dict[str, tuple[str, ...]], most: int) -> dict[str, str]:
    names = rng.sample(list(choices), rng.randint(0, min(most, len(choices))))
    return {name: rng.choice(choices[name]) for name in names}


# ---------------------------------------------------------------- workloads


def _rt_app_file(rng: random.Random, cpus: int) -> str:
    """Return a file of rt-app whose threads all end, or are cut off by its duration."""

    def events() -> Json:
        phase: Json = {"loop": rng.randint(1, 4)}
        for number in range(rng.randint(1, 4)):
            kind = rng.choice(
                ["run", "runtime", "sleep", "timer", "lock", "mem", "signal", "yield"]
            )
            key = f"{kind}{number}"
            if kind == "timer":
                phase[key] = {
                    "ref": rng.choice(["unique", "shared"]),
                    "period": rng.randint(0, 4000),
                    "mode": rng.choice(["relative", "absolute"]),
                }
            elif kind == "lock":
                name = rng.choice("ab")
                phase |= {key: name, f"run_{number}": rng.randint(0, 500), f"un{key}": name}
            elif kind == "signal":
                phase[key] = rng.choice("ab")
            elif kind == "yield":
                phase[key] = ""
            else:
                phase[key] = rng.randint(0, 2000)
        if rng.random() < 0.3:
            phase["cpus"] = sorted(rng.sample(range(cpus), rng.randint(1, 2)))
        return phase

    tasks: Json = {}
    for number in range(rng.randint(1, 3)):
        task: Json = {"instance": rng.randint(1, 3), "delay": rng.randint(0, 2000)}
        task["loop"] = rng.randint(1, 5)
        kind = rng.choices(
            ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO", "SCHED_RR"], [8, 1, 1, 1, 1]
        )[0]
        task["policy"] = kind
        if kind == "SCHED_OTHER":
            task["priority"] = rng.randint(-20, 19)
        if rng.random() < 0.2:
            task["util_min"] = rng.randint(0, 512)
        task["phases"] = {f"p{i}": events() for i in range(rng.randint(1, 3))}
        tasks[f"t{number}"] = task
    whole = {"global": {"duration": -1, "calibration": rng.choice(["CPU0", 20])}, "tasks": tasks}
    return json.dumps(whole)


def _workload(rng: random.Random, cpus: int, llcs: int, nodes: int, files: dict[str, str]) -> Json:
    flag = rng.random() < 0.5
    few = rng.randint(1, min(cpus, 12))
    time = f"{rng.randint(1, 20)}ms"
    bench = {"threads": few, "time": time}
    kinds: list[Json] = [
        {"kind": "hackbench", "groups": rng.randint(1, 2), "fds": rng.randint(1, 8)}
        | {"loops": rng.randint(1, 12), "pipe": flag, "threads": rng.random() < 0.5},
        {"kind": "sched-messaging", "groups": 1, "nr_loops": rng.randint(1, 2), "pipe": flag},
        {"kind": "sched-pipe", "loop": rng.randint(10, 400), "threaded": flag},
        {"kind": "futex-wake", "threads": 2 * few, "nwakes": rng.randint(1, 4), "repeat": 1},
        {"kind": "mem-memset", "size": "1MiB", "nr_loops": rng.randint(1, 20)},
        {"kind": "micro", "rounds": rng.randint(1, 5), "cpu": 0, "other": rng.randrange(1, cpus)},
        {"kind": "misfit", "requests": rng.randint(4, 12), "cpu-max-prime": 1000}
        | {"unpinned": rng.randint(1, 4)},
        {"kind": "nanosleep", "processes": few, "sleep": us(rng, 1, 500), "time": time},
        {"kind": "netperf", "test": rng.choice(["TCP_RR", "UDP_RR"]), "clients": few}
        | {"length": time, "request": rng.choice([1, 1000]), "pinned": flag},
        {"kind": "numa-mem", "nr_proc": rng.randint(1, 2), "nr_threads": rng.randint(1, 3)}
        | {"mb_proc": rng.randint(1, 8), "mb_thread": rng.randint(0, 2), "nr_secs": time}
        | {"data_writes": flag, "init_cpu0": rng.random() < 0.5},
        {"kind": "producer-consumer", "pairs": rng.randint(1, 3), "threads": flag}
        | {"buffers": rng.randint(1, 4), "size": "64KiB", "time": time},
        {"kind": "schbench", "message-threads": rng.randint(1, 2), "threads": few}
        | {"runtime": time, "operations": rng.randint(0, 3), "cache_footprint": rng.randint(1, 32)}
        | {"sleep_usec": rng.randint(0, 300), "no-locking": flag},
        {"kind": "schbench-old", "message-threads": rng.randint(1, 2), "threads": few}
        | {"runtime": time, "warmuptime": "0ms", "sleeptime": rng.randint(0, 2000)}
        | {"cputime": rng.randint(0, 2000)},
        {"kind": "sqlite", "copies": few, "rows": rng.randint(1, 20), "disk": us(rng, 1, 100)},
        {
            "kind": "stream",
            "array-size": 20000,
            "ntimes": rng.randint(2, 4),
            "threads": min(2, llcs),
        },
        {"kind": "sysbench-cpu", "cpu-max-prime": 1000, **bench},
        {"kind": "sysbench-threads", "thread-yields": rng.randint(1, 100)}
        | {"thread-locks": rng.randint(1, 8), **bench},
        {"kind": "sysbench-mutex", "mutex-num": rng.randint(1, 50), "threads": few}
        | {"mutex-locks": rng.randint(1, 100), "mutex-loops": rng.randint(0, 1000)},
        {"kind": "sysbench-memory", "memory-block-size": rng.choice([64, 1024, 4096]), **bench}
        | {"memory-scope": rng.choice(["global", "local"]), "time": us(rng, 500, 3000)}
        | {"memory-oper": rng.choice(["read", "write"])}
        | {"memory-access-mode": rng.choice(["seq", "rnd"])},
        {"kind": "stress-ng-pipe", "pipe": rng.randint(0, 4), "timeout": time, "verify": flag}
        | {"pipe-data-size": rng.choice([8, 512, 4096]), "pipe-size": rng.choice([0, 4096, 12288])},
        {"kind": "tbench", "nprocs": few, "timelimit": time, "warmup": "1ms"},
        {"kind": "unixbench", "copies": rng.randint(1, 4), "duration": time}
        | {"test": rng.choice(["dhry2reg", "syscall", "pipe", "spawn", "execl"])},
        {"kind": "ycsb-mongodb", "threadcount": few, "operationcount": rng.randint(1, 200)}
        | {"recordcount": 100, "journal": flag, "tickets": rng.choice([2, 128])},
        {"kind": "deathstarbench", "threads": 1, "connections": rng.randint(1, 4)}
        | {"duration": time, "service-connections": rng.randint(1, 8), "worker-processes": 2},
        {"kind": "specjbb2015", "controller.type": "PRESET", "controller.preset.ir": 300}
        | {"controller.preset.duration": time, "customerDriver.threads.probe": 2}
        | {"customerDriver.threads.saturate": 2, "comm.connect.client.pool.size": 4}
        | {"forkjoin.workers.Tier1": 2, "forkjoin.workers.Tier2": 2, "forkjoin.workers.Tier3": 2}
        | {"comm.connect.selector.runner.count": 1, "Xmn": "16MiB", "ParallelGCThreads": 2},
        {"kind": "cpuidle-smt", "wcpu": 0, "acpu": 1, "period": us(rng, 5, 200), "duration": time}
        | {"icpus": ",".join(map(str, rng.sample(range(2, cpus), rng.randint(1, 2))))},
        {"kind": "redis", "test": rng.choice(["get", "set"]), "clients": few}
        | {"requests": rng.randint(1, 300)},
        {"kind": "postgresql", "transactions": rng.choice(["select", "tpcb"]), "clients": few}
        | {"time": time},
        {"kind": "mariadb", "threads": few, "handling": rng.choice(["threads", "pool"])}
        | {"transactions": rng.choice(["read_only", "read_write", "point_select"]), "time": time},
        {"kind": "nginx", "workers": rng.randint(1, 3), "connections": few, "time": time},
        {"kind": "memcached", "workers": rng.randint(1, 3), "connections": few, "time": time},
        {"kind": "build", "units": rng.randint(1, 2), "jobs": rng.randint(1, 2)},
        {"kind": "x264", "frames": rng.randint(1, 5), "threads": rng.randint(1, 3)},
        {"kind": "rt-app"},
    ]
    if llcs > 1 and cpus // llcs >= 4:
        kinds.append({"kind": "placement"})
    workload = rng.choice(kinds)
    if workload["kind"] == "rt-app":
        workload["file"] = f"rt-app{len(files)}.json"
        files[workload["file"]] = _rt_app_file(rng, cpus)
    if workload["kind"] == "numa-mem" and nodes > 1 and rng.random() < 0.3:
        workload |= rng.choice([{"memnode": rng.randrange(nodes)}, {"interleave": True}])
    if rng.random() < 0.3:
        workload["start"] = us(rng, 0, 20000)
    return workload


# ---------------------------------------------------------------- tasks and what happens


def _memory_tasks(rng: random.Random, nodes: int) -> Json:
    """Return address spaces, and tasks that go over them."""
    spaces: list[Json] = [
        {"size": rng.choice(["256KiB", "4MiB", "32MiB"])}
        | ({"node": rng.randrange(nodes)} if rng.random() < 0.5 else {})
        for _ in range(rng.randint(1, 2))
    ]
    touch = {"touch": "0KiB", "size": rng.choice(["4KiB", "256KiB"])}
    task = {
        "name": "m.",
        "count": rng.randint(1, 6),
        "mm": rng.randrange(len(spaces)),
        "memory_share": rng.choice([0, 0.3, 1]),
        "program": [touch, {"run": [us(rng, 1, 300), us(rng, 300, 3000)]}, {"sleep": "300us"}],
    }
    return {"memory": spaces, "tasks": [task]}


def _messages(rng: random.Random) -> list[Json]:
    """Return tasks that talk: over a socket, and by futexes."""
    size = rng.choice([1, 1000, 65536])
    count = rng.randint(1, 4)
    return [
        {
            "name": "tx.",
            "count": count,
            "program": [{"run": us(rng, 1, 500)}, {"send": "s", "bytes": size}],
        },
        {
            "name": "rx.",
            "count": count,
            "program": [{"receive": "s", "bytes": size}, {"run": "20us"}],
        },
        {"name": "w.", "count": count, "program": [{"wait": "f"}, {"run": us(rng, 0, 400)}]},
        {
            "name": "k.",
            "program": [{"run": us(rng, 1, 200)}, {"wake": "f", "count": rng.randint(1, 3)}],
        },
    ]


def _group_settings(rng: random.Random, period: int = 10_000) -> Json:
    files: Json = {}
    if rng.random() < 0.5:
        files["cpu.max"] = f"{rng.randint(1, 30) * 1000} {rng.choice([period, 100_000])}"
    if rng.random() < 0.2:
        files["cpu.idle"] = "1"
    elif rng.random() < 0.5:
        files["cpu.weight"] = str(rng.choice([1, 100, 10000]))
    if rng.random() < 0.2:
        files["cpu.uclamp.max"] = str(rng.randint(10, 99))
    return files


def _groups(rng: random.Random) -> list[Json]:
    paths = rng.sample(["/w", "/w/a", "/w/a/b", "/w/c"], 4)
    return [{"path": path, **_group_settings(rng)} for path in sorted(paths)]


HERE: Json = {"name": "here", "program": [{"run": "20us"}, {"sleep": "2ms"}]}
"""Runs from the start to the end, so that each pattern fits a task whenever it is used."""

HOTPLUG_MS = 300
"""Time for CPUs to go off-line and come back, one after the other, beside real-time tasks."""


def _actions(
    rng: random.Random, cpus: int, scenario: Json, span: int, features: list[str]
) -> list[Json]:
    """Return changes to whatever runs by then, workloads' tasks and features included."""
    kinds = [t["name"] for t in scenario["tasks"]] + [w["kind"] for w in scenario["workloads"]]
    names = ["*"] + [f"[{HERE['name'][0]}{name[0]}]*" for name in kinds]
    found: list[Json] = []
    for _ in range(rng.randint(0, 5)):
        target = {"at": f"{rng.randint(1, span - 1)}ms", "task": rng.choice(names)}
        how = policy(rng)
        while how["policy"] == "deadline":
            how = policy(rng)
        change = rng.choice(
            [
                how,
                {"affinity": cpu_list(rng, cpus)},
                {"affinity": f"0-{cpus - 1}"},
                {"group": rng.choice([g["path"] for g in scenario["groups"]] + ["/"])},
            ]
        )
        if "policy" in change and rng.random() < 0.2:
            change["uclamp_max"] = rng.randint(0, 1024)
        found.append(target | change)
    for name in rng.sample(features, rng.choice([0, 0, 1, 2])):
        word = name if rng.random() < 0.5 else f"NO_{name}"
        at = f"{rng.randint(0, span - 1)}ms"
        found.append({"at": at, "write": f"{SCHED}/features", "value": word})
    return found


def _hotplug(rng: random.Random, cpus: int, span: int) -> list[Json]:
    """Return CPUs going down and coming back, some of them several times. CPU 0 stays."""
    found: list[Json] = []
    for cpu in rng.sample(range(1, cpus), rng.randint(1, min(3, cpus - 2))):
        at, state = rng.randint(0, span // 2), "offline"
        for _ in range(rng.randint(1, 4)):
            found.append({"at": f"{at}ms", state: cpu})
            at += rng.randint(1, 20)
            state = "online" if state == "offline" else "offline"
    return found


def _changes(rng: random.Random, states: bool) -> Json:
    """Return what differs from the machine's file: catching up, slow code, the governor."""
    cost: Json = {}
    if rng.random() < 0.3:
        cost["catch_up"] = rng.choice(["100ns", "2us", "20us", "1ms"])
    if rng.random() < 0.2:
        name = rng.choice(["schedule", "syscall", "exit", "irq", "tick", "ipi_latency", "wakeup"])
        cost[name] = rng.choice(["0ns", "10us", "200us"])
    changes: Json = {"cost": cost}
    if states:
        changes["idle"] = {
            "governor": rng.choice(["menu", "menu", "teo", "teo", "ladder", "haltpoll"])
        }
    return changes


def case(seed: int, series: str, shapes: dict[str, Json]) -> Case:
    """Return the seed's case for a kernel series. `shapes` are the machines' descriptions."""
    rng = random.Random(seed)
    name = rng.choices(list(MACHINES), list(MACHINES.values()))[0]
    topology = shapes[name]["topology"]
    cpus, llcs, nodes = (topology["cpus"], len(topology["llc"]), len(topology["node"]))
    states = bool(shapes[name].get("idle"))
    changes = _changes(rng, states)

    files: dict[str, str] = {}
    scenario = mixed(rng, cpus)
    if rng.random() < 0.5:
        scenario["tasks"] = []
    span = rng.randint(5, 40)
    scenario["duration"] = f"{span}ms"
    scenario["groups"] += _groups(rng) if rng.random() < 0.4 else []
    if rng.random() < 0.15:
        more = _memory_tasks(rng, nodes)
        scenario["memory"] = more["memory"]
        scenario["tasks"] += more["tasks"]
    if rng.random() < 0.15:
        scenario["tasks"] += _messages(rng)
    workloads = [
        _workload(rng, cpus, llcs, nodes, files) for _ in range(rng.choice([0, 1, 1, 1, 2]))
    ]
    for number, workload in enumerate(workloads):
        workload["label"] = f"w{number}"
        if scenario["groups"] and rng.random() < 0.3:
            workload["group"] = rng.choice(scenario["groups"])["path"]
    scenario["workloads"] = workloads
    if workloads and rng.random() < 0.7:
        scenario["end"] = {
            "when": "workloads_done",
            "max_simulated": f"{rng.choice([span, 80])}ms",
        }
    eevdf = natural(series) >= natural("6.6")
    known = sched_features(series)
    both = [feature for feature in BOTH_FEATURES if feature in known]
    own = [f for f in (EEVDF_FEATURES if eevdf else CFS_FEATURES).split() if f in known]
    scenario["actions"] = _actions(rng, cpus, scenario, span, both)
    scenario["tasks"].append(HERE)
    # A throttled deadline task on a CPU that goes away raises a warning of the kernel's own
    # (docs/internals/engine.md).
    if rng.random() < 0.4 and all(t.get("policy") != "deadline" for t in scenario["tasks"]):
        scenario["actions"] += _hotplug(rng, cpus, span)
        scenario["duration"] = f"{span + HOTPLUG_MS}ms"
        scenario.pop("end", None)
    features = rng.sample(own + both, rng.choice([0, 0, 1, 3]))
    scenario["features"] |= {f: rng.random() < 0.5 for f in features}
    scenario["knobs"] = _pick(rng, KNOBS | (EEVDF_KNOBS if eevdf else CFS_KNOBS), 3)
    if states and rng.random() < 0.3:
        scenario["knobs"][GOVERNOR] = rng.choice(["menu", "teo"])
    return Case(seed, name, changes, scenario, files)
