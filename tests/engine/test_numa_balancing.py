"""NUMA balancing: where it wins and where it loses, what it leaves alone, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Json, Simulator, machine
from loads import Load, refused, scenario

OFF = {"/proc/sys/kernel/numa_balancing": "0"}
FIVE = (
    "sched:sched_stick_numa",
    "sched:sched_move_numa",
    "sched:sched_swap_numa",
    "migrate:mm_migrate_pages",
    "vmstat:numa_pte_updates",
)


def tasks_on(memory: list[Json], tasks: list[Json], seconds: int, **more: Any) -> Json:
    """Tasks that go over their memory and work on it, for ever."""
    size = memory[0]["size"]
    program = [{"touch": "0MiB", "size": size}, {"run": "10ms"}]
    told = [{"memory_share": 0.5, "program": program, **task} for task in tasks]
    return {"duration": f"{seconds}s", "settle": "50ms", "memory": memory, "tasks": told, **more}


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
        sum(Load(sim, "numa16", told, seed)["total speed"] for seed in (1, 2, 3))
        for told in (asked, {**asked, "knobs": OFF})
    ]
    assert speeds[0] < 0.97 * speeds[1]


def test_it_loses_where_short_lived_threads_read_what_all_share(sim: Simulator) -> None:
    """From all nodes: no thread lives long enough to profit from the pages it has moved."""
    threads = {"mm": 0, "count": 12, "stagger": "1500ms", "loops": 90}
    everywhere = [{"name": f"t{cpu}", "affinity": f"{cpu}", **threads} for cpu in range(16)]
    asked = tasks_on([{"size": "256MiB"}], everywhere, 18)

    def cpu_time_of_a_loop(result: Json) -> float:
        every = [task for task in result["tasks"] if task["ops"]]
        return float(sum(t["runtime_ns"] for t in every) / sum(t["ops"] for t in every))

    on, off = sim("numa16", asked), sim("numa16", {**asked, "knobs": OFF})
    assert cpu_time_of_a_loop(on) > cpu_time_of_a_loop(off)
    counted = on["counters"]
    assert counted["vmstat:numa_hint_faults_local"] < 0.5 * counted["vmstat:numa_hint_faults"]
    assert counted["migrate:mm_migrate_pages"] > 0


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
    scans = "/sys/kernel/debug/sched/numa_balancing/scan"
    often = {f"{scans}_delay_ms": "10", f"{scans}_period_min_ms": "10"}
    on = {"/proc/sys/kernel/numa_balancing": "1", **often}
    asked = scenario("hackbench", groups=1, fds=2, loops=100_000, pipe=True)
    processes = Load(sim, "smp4", {**asked, "knobs": on})
    assert processes.counters["vmstat:numa_pte_updates"] == 0
    asked["workloads"][0]["threads"] = True
    threads = Load(sim, "smp4", {**asked, "knobs": on})
    assert threads.counters["vmstat:numa_pte_updates"] > 0
    assert threads.counters["vmstat:numa_pages_migrated"] == 0


@pytest.mark.parametrize("mode", ["0", "2"])
def test_off_and_tiering_alone_mark_nothing(sim: Simulator, mode: str) -> None:
    knobs = {"/proc/sys/kernel/numa_balancing": mode}
    asked = tasks_on([{"size": "64MiB", "node": 3}], [{"name": "t", "mm": 0, "affinity": "0"}], 3)
    assert sim("numa16", {**asked, "knobs": knobs})["counters"]["vmstat:numa_pte_updates"] == 0


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
    assert scanned(scan_delay_ms="100000") == 0


def test_bound_memory_stays(sim: Simulator) -> None:
    load = Load(sim, "numa16", numa_mem(nr_threads=4, mb_proc=64, memnode=3, nr_secs="4s"))
    # Its threads' stacks and data are not bound.
    assert load.counters["vmstat:numa_pages_migrated"] < 64 * 256


# ------------------------------------------------------------------ what does not fit


def small(*mib: int) -> Json:
    """The test machine with so much memory on its nodes."""
    told = machine("numa16")
    return {**told, "topology": {**told["topology"], "node_memory_mib": list(mib)}}


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
        (numa_mem(), "neither mb_proc nor mb_thread"),
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
