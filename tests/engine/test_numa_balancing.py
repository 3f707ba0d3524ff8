"""NUMA balancing: where it wins and where it loses, what it leaves alone, and what does not fit."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from schedlab.lab.divergence.decisions import EVENTS, NUMA_PAGE, NUMA_TASK, PREFERRED, decisions
from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Json, Simulator, machine, reads

OFF = {"/proc/sys/kernel/numa_balancing": "0"}
FIVE = (
    "sched:sched_stick_numa",
    "sched:sched_move_numa",
    "sched:sched_swap_numa",
    "migrate:mm_migrate_pages",
    "vmstat:numa_pte_updates",
)


def often(ms: int) -> dict[str, str]:
    """Knobs for scans from so many milliseconds of a task on."""
    knobs = "/sys/kernel/debug/sched/numa_balancing/scan"
    return {f"{knobs}_delay_ms": f"{ms}", f"{knobs}_period_min_ms": f"{ms}"}


def tasks_on(memory: list[Json], tasks: list[Json], seconds: int, **more: Any) -> Json:
    """Tasks that go over their memory and work on it, for ever."""
    size = memory[0]["size"]
    program = [{"touch": "0MiB", "size": size}, {"run": "10ms"}]
    described = [{"memory_share": 0.5, "program": program, **task} for task in tasks]
    return {
        "duration": f"{seconds}s",
        "settle": "50ms",
        "memory": memory,
        "tasks": described,
        **more,
    }


def numa_mem(**options: Any) -> Json:
    """The workload, whose options have underscores, as perf's."""
    return {**scenario("numa-mem"), "workloads": [{"kind": "numa-mem", **options}]}


def test_it_wins_where_private_memory_lies_on_the_wrong_node(sim: Simulator) -> None:
    """Twelve tasks pinned to nodes 1 to 3, each with memory of its own on node 0: it all moves."""
    asked = tasks_on(
        [{"size": "64MiB", "node": 0}] * 12,
        [{"name": f"t{i}", "mm": i, "affinity": f"{4 + i}"} for i in range(12)],
        10,
    )
    on, off = sim("numa16", asked), sim("numa16", {**asked, "knobs": OFF})
    assert on["metrics"]["ops_per_s"] > 1.3 * off["metrics"]["ops_per_s"]
    counted = on["counters"]
    assert counted["vmstat:numa_pages_migrated"] == 12 * 64 * 256
    assert counted["migrate:mm_migrate_pages"] == 12 * 32
    # Once there, faults are local.
    assert counted["vmstat:numa_hint_faults"] == 12 * 32 + counted["vmstat:numa_hint_faults_local"]
    assert all(off["counters"].get(name, 0) == 0 for name in FIVE)


def test_it_loses_where_threads_share_what_one_node_cannot_deliver(sim: Simulator) -> None:
    """Brought together, four threads ask one node's memory for more than it has."""
    asked = numa_mem(nr_threads=4, mb_proc=256, nr_secs="15s")
    speeds = [
        sum(Load(sim, "numa16", load, seed)["total speed"] for seed in (1, 2, 3))
        for load in (asked, {**asked, "knobs": OFF})
    ]
    assert speeds[0] < 0.97 * speeds[1]


def test_it_loses_where_short_lived_threads_read_what_all_share(sim: Simulator) -> None:
    """From all nodes: no thread lives long enough to profit from the pages it has moved.

    The loss is a few hundredths of a percent, so it is that of four seeds together.
    """
    threads = {"mm": 0, "count": 12, "stagger": "1500ms", "loops": 90}
    everywhere = [{"name": f"t{cpu}", "affinity": f"{cpu}", **threads} for cpu in range(16)]
    asked = tasks_on([{"size": "256MiB"}], everywhere, 18)

    def cpu_time_of_a_loop(result: Json) -> float:
        every = [task for task in result["tasks"] if task["ops"]]
        return float(sum(t["runtime_ns"] for t in every) / sum(t["ops"] for t in every))

    lost = 0.0
    for seed in ("1", "2", "3", "4"):
        on = sim("numa16", asked, "--seed", seed)
        off = sim("numa16", {**asked, "knobs": OFF}, "--seed", seed)
        lost += cpu_time_of_a_loop(on) - cpu_time_of_a_loop(off)
        counted = on["counters"]
        assert counted["vmstat:numa_hint_faults_local"] < 0.5 * counted["vmstat:numa_hint_faults"]
        assert counted["migrate:mm_migrate_pages"] > 0
    assert lost > 0


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "numa-mem", "nr_threads": 4, "mb_proc": 8, "mb_thread": 8, "nr_secs": "200ms"},
        {"kind": "numa-mem", "nr_proc": 4, "mb_global": 8, "nr_secs": "200ms"},
        {"kind": "producer-consumer", "threads": True, "time": "200ms"},
        {"kind": "sysbench-cpu", "threads": 8, "time": "200ms"},
        {"kind": "hackbench", "groups": 1, "loops": 1000, "threads": True},
        {"kind": "futex-wake", "threads": 200},
    ],
    ids=lambda load: "-".join(str(value) for value in load.values()),
)
def test_no_count_moves_when_it_is_off(sim: Simulator, load: Json) -> None:
    asked = {**scenario(""), "workloads": [load]}
    off = Load(sim, "numa16", {**asked, "knobs": {**often(10), **OFF}}).counters
    assert all(count == 0 for name, count in off.items() if "numa" in name)
    assert off.get("migrate:mm_migrate_pages", 0) == 0
    if load["kind"] != "futex-wake":  # whose threads sleep
        on = Load(sim, "numa16", {**asked, "knobs": often(10)}).counters
        assert on["vmstat:numa_pte_updates"] > 0


def test_a_task_far_from_its_memory_is_slower_by_the_distance(sim: Simulator) -> None:
    """Half of its work is memory: 10 of 20 parts by the distances 10, 12, 20, 22 of node 0."""

    def ops(node: int) -> float:
        asked = tasks_on(
            [{"size": "2MiB", "node": node}], [{"name": "t", "mm": 0, "affinity": "0"}], 1
        )
        return float(sim("numa16", {**asked, "knobs": OFF})["metrics"]["ops_per_s"])

    near = ops(0)
    for node, distance in ((1, 12), (2, 20), (3, 22)):
        assert near / ops(node) == pytest.approx((1 + distance / 10) / 2, abs=0.02)


def test_base_pages_a_lone_thread_has_on_its_node_are_not_marked(sim: Simulator) -> None:
    """hackbench's processes on a machine of one node: it is on, and finds nothing to do."""
    on = {"/proc/sys/kernel/numa_balancing": "1", **often(10)}
    asked = scenario("hackbench", groups=1, fds=2, loops=100_000, pipe=True)
    processes = Load(sim, "smp4", {**asked, "knobs": on})
    assert processes.counters["vmstat:numa_pte_updates"] == 0
    asked["workloads"][0]["threads"] = True
    threads = Load(sim, "smp4", {**asked, "knobs": on})
    assert threads.counters["vmstat:numa_pte_updates"] > 0
    assert threads.counters["vmstat:numa_pages_migrated"] == 0


def test_modes(sim: Simulator) -> None:
    """Off and tiering alone mark nothing; tiering beside it, and its threshold, change nothing."""

    def counted(mode: str, **more: str) -> Json:
        memory, task = {"size": "64MiB", "node": 3}, {"name": "t", "mm": 0, "affinity": "0"}
        knobs = {"/proc/sys/kernel/numa_balancing": mode, **more}
        result = sim("numa16", {**tasks_on([memory], [task], 3), "knobs": knobs})
        return {name: n for name, n in result["counters"].items() if name.startswith("vmstat:numa")}

    hot = {"/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms": "1"}
    on = counted("1")
    assert on["vmstat:numa_pages_migrated"] == 64 * 256
    assert counted("3") == counted("3", **hot) == on
    assert not any(counted("0").values())
    assert not any(counted("2").values())


def test_scans_follow_their_knobs(sim: Simulator) -> None:
    def scanned(**knobs: str) -> int:
        asked = tasks_on([{"size": "64MiB"}], [{"name": "t", "mm": 0, "count": 2}], 6)
        paths = {f"/sys/kernel/debug/sched/numa_balancing/{k}": v for k, v in knobs.items()}
        counted = sim("numa16", {**asked, "knobs": paths})["counters"]
        return int(counted["vmstat:numa_pte_updates"])

    usual = scanned()
    assert usual > 0
    # As the kernel has it, a pass in smaller pieces takes as long: they follow each other sooner.
    assert scanned(scan_size_mb="8") == pytest.approx(usual, rel=1)
    assert scanned(scan_delay_ms="100", scan_period_min_ms="100") > usual
    assert scanned(scan_period_max_ms="1000") > usual
    assert scanned(scan_delay_ms="100000") == 0


def test_the_tracepoints_of_places(sim: Simulator) -> None:
    """Memory cannot come, as its tasks' nodes are full: they move to it, change places, or stay."""

    def counted(room: tuple[int, ...], memory: list[Json], tasks: list[Json]) -> list[int]:
        asked = {**tasks_on(memory, tasks, 4), "knobs": often(100)}
        counters = sim(small(*room), asked)["counters"]
        return [counters[f"sched:sched_{what}_numa"] for what in ("move", "stick", "swap")]

    far = [{"size": "128MiB", "node": 3}]
    room = (24, 24, 24, 4096)
    assert counted(room, far, [{"name": "t", "mm": 0}]) == [1, 0, 0]
    move, stick, swap = counted(room, far, [{"name": "t", "mm": 0, "affinity": "0-3"}])
    assert move == swap == 0 < stick
    everywhere = [{"size": "128MiB", "node": i % 4} for i in range(16)]
    move, _, swap = counted((514,) * 4, everywhere, [{"name": "t", "mm": i} for i in range(16)])
    assert move == 0 < swap


def test_what_numa_balancing_decides_is_traced(sim: Simulator, tmp_path: Path) -> None:
    """Every hinting fault, preferred node and placement, by the counts of the kernel's own."""
    trace = tmp_path / "trace.txt"
    load = tasks_on([{"size": "64MiB", "node": 3}], [{"name": "t", "mm": 0, "affinity": "0-7"}], 3)
    asked = {**load, "knobs": often(100)}
    counted = sim("numa16", asked, "--trace", str(trace), "--trace-events", EVENTS)["counters"]
    found = list(decisions(trace.read_text().splitlines()))
    pages = Counter(d.outcome for d in found if d.function == NUMA_PAGE)
    assert pages.total() == counted["vmstat:numa_hint_faults"] > 0
    assert pages["local"] == counted["vmstat:numa_hint_faults_local"] > 0
    assert pages["moved"] * 512 == counted["vmstat:numa_pages_migrated"] > 0
    preferred = [d for d in found if d.function == PREFERRED]
    assert len(preferred) == counted["schedlab:numa_prefer"] > 0
    assert all(d.choice == preferred[0].choice for d in preferred[1:])
    placed = Counter(d.outcome for d in found if d.function == NUMA_TASK)
    kernels = sum(counted[f"sched:sched_{what}_numa"] for what in ("move", "stick", "swap"))
    assert placed.total() == kernels


def test_interleaved_memory_is_of_all_nodes_and_stays(sim: Simulator) -> None:
    """Bandwidth by the mean distance of all nodes: 16 from the nodes 0 and 2, 17 from 1 and 3."""
    load = Load(sim, "numa16", numa_mem(mb_proc=256, interleave=True, nr_secs="4s"))
    assert 0.97 * 11.3 / 1.7 < load["total speed"] < 11.3 / 1.6
    assert load.counters["vmstat:numa_pages_migrated"] < 100


def test_bound_memory_stays(sim: Simulator) -> None:
    load = Load(sim, "numa16", numa_mem(nr_threads=4, mb_proc=64, memnode=3, nr_secs="4s"))
    # Its threads' stacks and data are not bound.
    assert load.counters["vmstat:numa_pages_migrated"] < 64 * 256


# ------------------------------------------------------------------ patterns of touches


def pinned(asked: Json, **where: str) -> Json:
    """With tasks held on CPUs, by name."""
    return {
        **asked,
        "actions": [{"at": "1ms", "task": task, "affinity": cpus} for task, cpus in where.items()],
    }


def one_a_node(sim: Simulator, **options: Any) -> float:
    """GB/s of each of four processes, whose memory their caches hold."""
    asked = {**numa_mem(nr_proc=4, nr_secs="200ms", **options), "knobs": OFF}
    return Load(sim, "numa16", asked)["thread speed"]


def test_what_caches_share_is_read_at_their_speed_and_written_at_memorys(sim: Simulator) -> None:
    private = one_a_node(sim, mb_thread=4)
    assert one_a_node(sim, mb_thread=4, data_writes=True) == pytest.approx(private, rel=0.01)
    assert one_a_node(sim, mb_global=4) == pytest.approx(private, rel=0.05)
    assert one_a_node(sim, mb_global=4, data_writes=True) < 0.5 * private


def test_a_consumer_is_served_by_the_distance_of_its_producer(sim: Simulator) -> None:
    """In one cache, in those of two nodes of a socket, in two sockets."""

    def rate(consumer: int) -> float:
        asked = {**scenario("producer-consumer", time="200ms"), "knobs": OFF}
        held = pinned(asked, producer="0", consumer=f"{consumer}")
        return Load(sim, "numa16", held)["transfer rate"]

    near, socket, far = rate(1), rate(4), rate(8)
    assert near > 1.8 * socket > 1.8 * 1.4 * far


def test_a_producer_joins_the_group_of_its_consumer(
    sim: Simulator, series: str, tmp_path: Path
) -> None:
    """Processes on two nodes: the last CPU and PID on their shared pages tell them of each other."""
    asked = scenario("producer-consumer", pairs=3, size="8MiB", time="12s")
    trace = tmp_path / "trace.txt"
    held = pinned(asked, producer="0-3", consumer="8-11")
    options = ("--trace", str(trace), "--trace-events", "sched_stick_numa")
    faults = sim("numa16", held, *options)["counters"]["vmstat:numa_hint_faults"]
    if not reads(series, "include/linux/mm.h", "vma_numab_state_free"):
        # vma_policy_mof() finds no policy for shared memory without mbind(): it is not scanned.
        assert faults < 100
        return
    tasks = re.findall(r"src_pid=(\d+) src_tgid=\1 src_ngid=(\d+)", trace.read_text())
    joined = {(int(task), int(group)) for task, group in tasks if group not in ("0", task)}
    first = min(int(task) for task, _ in tasks)
    assert joined
    assert all((task - first) // 2 == (group - first) // 2 for task, group in joined)


def test_shared_memory_is_one_memory(sim: Simulator) -> None:
    """Twelve processes share 300 MiB of a node that has 512, and leave it to the next twelve."""
    asked = numa_mem(nr_proc=12, mb_global=300, memnode=1, nr_loops=1)
    asked["workloads"].append({**asked["workloads"][0], "label": "second", "start": "10s"})
    assert sim(small(512, 512, 512, 512), asked)["status"] == "done"


# ------------------------------------------------------------------ what does not fit


def small(*mib: int) -> Json:
    """The test machine with so much memory on its nodes."""
    described = machine("numa16")
    return {**described, "topology": {**described["topology"], "node_memory_mib": list(mib)}}


def test_a_full_node_gives_from_the_nearest_and_takes_no_page(sim: Simulator) -> None:
    """64 MiB on node 0 whose task sits on node 2, which has 32."""
    asked = tasks_on([{"size": "64MiB", "node": 0}], [{"name": "t", "mm": 0, "affinity": "8"}], 6)
    counted = sim(small(1024, 1024, 32, 1024), asked)["counters"]
    assert 0 < counted["vmstat:numa_pages_migrated"] < 32 * 256


def test_a_node_without_memory_is_never_a_place_for_it(sim: Simulator) -> None:
    asked = tasks_on([{"size": "64MiB"}], [{"name": "t", "mm": 0, "affinity": "8"}], 4)
    assert sim(small(512, 512, 0, 512), asked)["counters"]["vmstat:numa_pages_migrated"] == 0
    load = numa_mem(nr_threads=16, mb_thread=64, nr_secs="100ms")
    assert Load(sim, small(512, 512, 0, 512), load)["total speed"] > 1


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (numa_mem(mb_thread=8192), "numa-mem: its memory does not fit the machine's nodes"),
        (
            numa_mem(mb_thread=2048, memnode=1),
            "numa-mem: its memory does not fit node 1, which it is bound to",
        ),
        (numa_mem(mb_thread=1, memnode=4), "memnode 4: the machine's nodes are 0 to 3"),
        (numa_mem(mb_global=8192), "numa-mem: its memory does not fit the machine's nodes"),
        (numa_mem(), "neither mb_global nor mb_proc nor mb_thread"),
        (numa_mem(mb_proc=1, memnode=1, interleave=True), "exclude each other"),
        (
            tasks_on([{"size": "2GiB", "node": 1}], [{"name": "t", "mm": 0}], 1),
            "does not fit node 1",
        ),
        (tasks_on([{"size": "1MiB", "node": 9}], [], 1), "memory[0].node"),
        (tasks_on([{"size": "1MiB", "page": "1GiB"}], [], 1), "memory[0].page: 4KiB or 2MiB"),
    ],
)
def test_memory_that_does_not_fit(sim: Simulator, asked: Json, why: str) -> None:
    assert why in refused(sim, small(1024, 1024, 1024, 1024), asked)


@pytest.mark.parametrize(
    ("mib", "why"),
    [((1, 2), "4 sizes are expected"), ((0, 0, 0, 0), "no node has memory")],
)
def test_nodes_that_make_no_sense(sim: Simulator, mib: tuple[int, ...], why: str) -> None:
    asked = tasks_on([{"size": "1MiB"}], [], 1)
    assert why in refused(sim, small(*mib), asked)


def test_a_new_program_has_none_of_the_old_ones_memory(sim: Simulator) -> None:
    touch = {"touch": "0MiB", "size": "1MiB"}
    task = {"name": "t", "mm": 0, "program": [touch, {"exec": True}, touch]}
    done = sim.start("numa16", tasks_on([{"size": "1MiB"}], [task], 1))
    assert done.returncode == 3
    assert "touches a region its process does not have (t:" in done.stderr
