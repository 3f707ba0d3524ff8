"""What the scheduler's own rules promise, computed: one table for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.helpers.engine.simulator import Json, Simulator, is_eevdf, scales_groups, tasks


@dataclass(frozen=True)
class Promise:
    """A value, how far off a measured one may be, and how to measure it."""

    name: str
    value: float
    rule: float | str
    """How far off at most, or "at most", "at least"."""
    measure: Callable[[Simulator], list[float]]
    """One figure, or several that are promised the same."""
    promised_by: Callable[[str], bool] = lambda _: True
    """Which series promise it."""

    def holds(self, measured: float) -> bool:
        if self.rule == "at most":
            return measured <= self.value
        if self.rule == "at least":
            return measured >= self.value
        assert isinstance(self.rule, float)
        return abs(measured - self.value) <= self.rule


HOG: Json = {"program": [{"run": "100ms"}]}
# The weights of sched_prio_to_weight[], for the nice values used here.
WEIGHT = {-10: 9548, -5: 3121, 0: 1024, 5: 335, 10: 110}


def runtime(result: Json, name: str) -> float:
    return sum(t["runtime_ns"] for t in tasks(result, name)) / 1e9


def run(sim: Simulator, seconds: float, warmup: float, *load: Json, **more: object) -> Json:
    """Tasks on four equal CPUs."""
    times = {"duration": f"{(seconds + warmup) * 1e3:g}ms", "warmup": f"{warmup * 1e3:g}ms"}
    return sim("smp4", {**times, "tasks": list(load), **more})


# ------------------------------------------------------------------ shares of fair tasks


def equal_hogs(sim: Simulator) -> list[float]:
    result = run(sim, 3, 1, {"name": "h", "count": 5, "affinity": "1", **HOG})
    return [t["runtime_ns"] / 3e9 for t in tasks(result, "h")]


def by_nice(a: int, b: int) -> Promise:
    def measure(sim: Simulator) -> list[float]:
        pair = [{"name": n, "nice": v, "affinity": "0", **HOG} for n, v in (("a", a), ("b", b))]
        result = run(sim, 10, 1, *pair)
        return [runtime(result, "a") / (runtime(result, "a") + runtime(result, "b"))]

    share = WEIGHT[a] / (WEIGHT[a] + WEIGHT[b])
    return Promise(f"share of nice {a} beside nice {b}", share, 0.015, measure)


def group_weights(sim: Simulator) -> list[float]:
    groups = [{"path": "/a", "cpu.weight": "100"}, {"path": "/b", "cpu.weight": "300"}]
    a = {"name": "a", "count": 3, "group": "/a", "affinity": "0", **HOG}
    b = {"name": "b", "group": "/b", "affinity": "0", **HOG}
    return [runtime(run(sim, 4, 1, a, b, groups=groups), "b") / 4]


def nested_groups(task: str) -> Callable[[Simulator], list[float]]:
    def measure(sim: Simulator) -> list[float]:
        paths = {"/a": {}, "/a/x": {"cpu.weight": "300"}, "/a/y": {}, "/b": {}}
        load = [
            {"name": path[-1], "group": path, "affinity": "2", **HOG}
            for path in ("/a/x", "/a/y", "/b")
        ]
        groups = [{"path": path, **files} for path, files in paths.items()]
        return [runtime(run(sim, 4, 1, *load, groups=groups), task) / 4]

    return measure


def idle_policy(sim: Simulator) -> list[float]:
    normal, idle = {"name": "n", **HOG}, {"name": "i", "policy": "idle", **HOG}
    result = run(sim, 4, 0, *({**t, "affinity": "0"} for t in (normal, idle)))
    return [runtime(result, "i") / 4]


def cpu_max(quota: int, period: int) -> Promise:
    def measure(sim: Simulator) -> list[float]:
        groups = [{"path": "/lim", "cpu.max": f"{quota} {period}"}]
        hogs = {"name": "h", "count": 3, "group": "/lim", **HOG}
        return [runtime(run(sim, 5, 1, hogs, groups=groups), "h") / 5]

    value = quota / period
    return Promise(f"CPUs used under cpu.max {quota} {period}", value, 0.05 * value, measure)


def spread_of_equal_hogs(sim: Simulator) -> list[float]:
    """Between equal hogs nobody gets ahead by more than a request and a tick."""

    def spread(end: str) -> float:
        hogs = {"name": "h", "count": 4, "affinity": "0", **HOG}
        result = sim("smp4", {"duration": end, "tasks": [hogs]})
        times = [t["runtime_ns"] / 1e6 for t in tasks(result, "h")]
        return float(max(times) - min(times))

    return [spread(end) for end in ("1001ms", "1013ms", "1029ms", "1043ms")]


# ------------------------------------------------------------------ real-time and deadline


def fifo_wait(sim: Simulator) -> list[float]:
    """A FIFO task that wakes beside hogs waits for interrupts and switches only."""
    short = [{"run": "100us"}, {"sleep": "1ms"}]
    rt = {"name": "rt", "policy": "fifo", "priority": 50, "program": short}
    result = run(sim, 1.9, 0.1, {"name": "hog", "count": 12, **HOG}, rt)
    return [tasks(result, "rt")[0]["wait_max_ns"] / 1e3]


def round_robin(sim: Simulator) -> list[float]:
    rr = {"name": "rr", "count": 4, "policy": "rr", "priority": 10, "affinity": "3", **HOG}
    result = run(sim, 4, 0, rr, knobs={"/proc/sys/kernel/sched_rt_runtime_us": "-1"})
    return [t["runtime_ns"] / 4e9 for t in tasks(result, "rr")]


def deadline_task(sim: Simulator) -> Json:
    """5 ms of work each 20 ms, reserved 6 ms: every period, whatever else runs."""
    program = [{"run": "5ms"}, {"sleep": "15ms"}]
    reserved = {"policy": "deadline", "runtime": "6ms", "period": "20ms"}
    dl = {"name": "dl", **reserved, "program": program}
    result = run(sim, 4, 0, {"name": "hog", "count": 16, **HOG}, dl)
    return tasks(result, "dl")[0]


def deadline_hog(sim: Simulator) -> list[float]:
    dl = {"name": "dl", "policy": "deadline", "runtime": "3ms", "period": "10ms", **HOG}
    return [runtime(run(sim, 2, 1, dl), "dl") / 2]


# ------------------------------------------------------------------ unequal CPUs, SMT, frequency


def misfit(sim: Simulator) -> list[float]:
    """A hog starts pinned to a little CPU and is let go: it must reach a big one and stay."""
    scenario = {
        "duration": "2s",
        "warmup": "1s",
        "tasks": [{"name": "big", "affinity": "0", **HOG}],
        "actions": [{"at": "500ms", "task": "big", "affinity": "0-5"}],
    }
    busy = {c["cpu"]: c["user_ns"] for c in sim("biglittle-6", scenario)["per_cpu"]}
    return [(busy[4] + busy[5]) / 1e9]


def little_speed(sim: Simulator) -> list[float]:
    work = {"loops": 1, "program": [{"run": "1s"}]}
    pair = [{"name": n, "affinity": c, **work} for n, c in (("big", "1"), ("little", "0"))]
    result = sim("juno-r0", {"duration": "10s", "tasks": pair})
    took = {t["name"]: t["died_ns"] - t["born_ns"] for t in result["tasks"]}
    return [took["little"] / took["big"]]


def ops(sim: Simulator, machine: str, *cpus: str, **more: object) -> float:
    load = [{"name": f"t{c}", "affinity": c, "program": [{"run": "1ms"}], **more} for c in cpus]
    result = sim(machine, {"duration": "2s", "warmup": "1s", "tasks": load})
    return float(result["metrics"]["ops_per_s"])


def smt_siblings(sim: Simulator) -> list[float]:
    return [ops(sim, "smt8", "0", "1") / ops(sim, "smt8", "0", "2")]


def uclamp_max(sim: Simulator) -> list[float]:
    return [ops(sim, "biglittle-6", "4", uclamp_max=300) / ops(sim, "biglittle-6", "4")]


def schedutil(sim: Simulator) -> list[float]:
    """10 % of the work at a low operating point takes more than 10 % of the time."""
    program = [{"run": "1ms"}, {"sleep": "9ms"}]
    load = {"name": "t", "affinity": "5", "program": program}
    result = sim("biglittle-6", {"duration": "1s", "warmup": "300ms", "tasks": [load]})
    return [result["per_cpu"][5]["user_ns"] / 0.7e9]


PROMISES = [
    Promise("share of each of 5 equal hogs", 0.2, 0.004, equal_hogs),
    *(by_nice(a, b) for a, b in ((0, 5), (-5, 0), (-10, 0), (5, 10))),
    Promise(
        *("share of a group of weight 300 beside 100", 0.75, 0.02, group_weights),
        promised_by=lambda series: not scales_groups(series),
    ),
    Promise(
        # of 3 tasks, runnable_avg is a little less: tg_tasks() takes them for 2
        *("share of a group of weight 300 beside 2 x 100", 300 / 500, 0.02, group_weights),
        promised_by=scales_groups,
    ),
    Promise("share of a nested group, 3/4 of a half", 0.375, 0.02, nested_groups("x")),
    Promise("share of a group beside a nested one", 0.5, 0.02, nested_groups("b")),
    Promise("share of an idle-policy hog beside a normal one", 3 / 1027, 0.01, idle_policy),
    *(
        cpu_max(quota, period)
        for quota, period in ((20000, 100000), (50000, 100000), (150000, 100000), (5000, 20000))
    ),
    Promise(
        "spread of 4 equal hogs, ms", 15, "at most", spread_of_equal_hogs, promised_by=is_eevdf
    ),
    Promise("longest wait of a FIFO task beside 12 hogs, us", 20, "at most", fifo_wait),
    Promise("share of each of 4 round-robin hogs", 0.25, 0.0275, round_robin),
    Promise(
        "periods served of a deadline task in 4 s",
        4000 / 20.5 - 5,
        "at least",
        lambda sim: [deadline_task(sim)["ops"]],
    ),
    Promise(
        "longest wait of a deadline task, us",
        1000,
        "at most",
        lambda sim: [deadline_task(sim)["wait_max_ns"] / 1e3],
    ),
    Promise("share of a deadline hog, 3 of 10 ms", 0.3, 0.01, deadline_hog),
    Promise("misfit hog's time on big CPUs, share", 0.98, "at least", misfit),
    Promise("work on Juno's little CPUs, time against big", 1 / 0.67, 0.02 / 0.67, little_speed),
    Promise("two SMT siblings against two cores", 0.6, 0.01, smt_siblings),
    Promise("speed under uclamp_max 300, share", 903 / 2362, 0.03, uclamp_max),
    Promise("time of 10 % work under schedutil, share", 0.15, "at least", schedutil),
]


def measured(sim: Simulator, series: str) -> Iterator[tuple[Promise, list[float]]]:
    """Every promise of a series with what came out."""
    for promise in PROMISES:
        if promise.promised_by(series):
            yield promise, promise.measure(sim)
