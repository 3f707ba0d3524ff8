"""Each piece of the scheduler works through the kernel's own path."""

from __future__ import annotations

import pytest

from tests.helpers.engine.simulator import Json, Simulator, is_eevdf, reads, tasks

HOG: Json = {"program": [{"run": "10ms"}]}


def test_features_go_through_the_kernels_handler(sim: Simulator) -> None:
    scenario: Json = {
        "duration": "300ms",
        "tasks": [{"name": "rs", "count": 24, "program": [{"run": "300us"}, {"sleep": "200us"}]}],
    }
    base = sim("smt8", scenario)["trace_hash"]
    assert sim("smt8", {**scenario, "features": {"WA_IDLE": True}})["trace_hash"] == base
    assert sim("smt8", {**scenario, "features": {"WAKEUP_PREEMPTION": False}})["trace_hash"] != base


def test_debugfs_knob(series: str, sim: Simulator) -> None:
    """Longer slices, fewer switches."""
    knob = "/sys/kernel/debug/sched/" + (
        "base_slice_ns" if is_eevdf(series) else "min_granularity_ns"
    )
    scenario: Json = {
        "duration": "1s",
        "tasks": [{"name": "h", "count": 3, "affinity": "0", **HOG}],
    }
    switches = [
        sim("smp4", {**scenario, "knobs": {knob: str(ns)}})["counters"]["sched:sched_switch"]
        for ns in (3_000_000, 40_000_000)
    ]
    assert switches[1] < switches[0] / 2


def test_bad_knob_value_is_refused(sim: Simulator) -> None:
    done = sim.start(
        "smp4",
        {
            "duration": "10ms",
            "knobs": {"/proc/sys/kernel/sched_rt_period_us": "-5"},
            "tasks": [{"name": "h", **HOG}],
        },
    )
    assert done.returncode == 2
    assert "Invalid argument" in done.stderr


def test_affinity_holds(sim: Simulator) -> None:
    result = sim(
        "smt8",
        {"duration": "500ms", "tasks": [{"name": "p", "count": 6, "affinity": "2,5", **HOG}]},
    )
    busy = [c["cpu"] for c in result["per_cpu"] if c["user_ns"] > 0.1e9]
    assert busy == [2, 5]


def test_hotplug_moves_tasks_away_and_back(sim: Simulator) -> None:
    result = sim(
        "smt8",
        {
            "duration": "2s",
            "tasks": [{"name": "h", "count": 16, **HOG}],
            "actions": [
                {"at": "500ms", "offline": 3},
                {"at": "700ms", "offline": 6},
                {"at": "1200ms", "online": 3},
            ],
        },
    )
    cpus = result["per_cpu"]
    assert cpus[3]["offline_ns"] == pytest.approx(0.7e9, rel=0.1)
    assert cpus[6]["offline_ns"] == pytest.approx(1.3e9, rel=0.1)
    assert cpus[3]["user_ns"] > 0.9e9


def test_tasks_move_between_groups(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "3s",
            "warmup": "1s",
            "groups": [{"path": "/slow", "cpu.max": "10000 100000"}],
            "tasks": [{"name": "h", "affinity": "0", **HOG}],
            "actions": [{"at": "500ms", "task": "h", "group": "/slow"}],
        },
    )
    assert tasks(result, "h")[0]["runtime_ns"] / 2e9 == pytest.approx(0.1, rel=0.1)


def test_fork_exec_exit_wait(sim: Simulator) -> None:
    result = sim(
        "smt8",
        {
            "duration": "1s",
            "tasks": [
                {
                    "name": "sh",
                    "count": 4,
                    "program": [{"fork": True, "body": [{"exec": True}, {"run": "500us"}]}],
                }
            ],
        },
    )
    counters = result["counters"]
    assert counters["sched:sched_process_fork"] > 1000
    assert abs(counters["sched:sched_process_exit"] - counters["sched:sched_process_fork"]) <= 8


def test_yield(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "200ms",
            "tasks": [
                {
                    "name": "y",
                    "count": 2,
                    "affinity": "1",
                    "program": [{"run": "100us"}, {"yield": True}],
                }
            ],
        },
    )
    assert result["counters"]["sched:sched_switch"] > 20


def test_policy_change_while_running(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "2s",
            "warmup": "1s",
            "tasks": [{"name": "a", "affinity": "0", **HOG}, {"name": "b", "affinity": "0", **HOG}],
            "actions": [{"at": "900ms", "task": "a", "policy": "batch", "nice": 10}],
        },
    )
    a, b = (tasks(result, n)[0]["runtime_ns"] for n in "ab")
    assert a / (a + b) == pytest.approx(110 / 1134, abs=0.02)


def test_idle_states_are_chosen_by_the_governor(sim: Simulator) -> None:
    def deep(sleep: str) -> float:
        states = sim(
            "smt8",
            {
                "duration": "2s",
                "tasks": [
                    {"name": "t", "count": 8, "program": [{"run": "20us"}, {"sleep": sleep}]}
                ],
            },
        )["idle_states"]
        return float(states[2]["usage"] / max(1, sum(s["usage"] for s in states)))

    assert deep("20ms") > 0.5
    assert deep("60us") < 0.3


def test_numa_balancing_brings_memory_and_task_together(sim: Simulator) -> None:
    """The task sits on node 3, its memory on node 0: pages move, and the kernel counts them."""
    result = sim(
        "numa16",
        {
            "duration": "8s",
            "memory": [{"size": "64MiB", "node": 0}],
            "knobs": {"/proc/sys/kernel/numa_balancing": "1"},
            "tasks": [
                {
                    "name": "t",
                    "count": 2,
                    "affinity": "12-15",
                    "mm": 0,
                    "memory_share": 0.5,
                    "program": [{"touch": "0MiB", "size": "64MiB"}, {"run": "2ms"}],
                }
            ],
        },
    )
    assert result["counters"]["migrate:mm_migrate_pages"] > 5


def test_task_follows_its_memory(sim: Simulator) -> None:
    """Or its memory follows it, which is the kernel's choice."""
    result = sim(
        "numa16",
        {
            "duration": "8s",
            "memory": [{"size": "256MiB", "node": 2}],
            "knobs": {"/proc/sys/kernel/numa_balancing": "1"},
            "tasks": [
                {
                    "name": "t",
                    "mm": 0,
                    "memory_share": 0.5,
                    "affinity": "0-15",
                    "program": [{"touch": "0MiB", "size": "256MiB"}, {"run": "2ms"}],
                }
            ],
        },
    )
    busy = sum(c["user_ns"] for c in result["per_cpu"] if c["cpu"] in range(8, 12))
    moved = result["counters"].get("migrate:mm_migrate_pages", 0)
    assert busy > 0.5 * 8e9 or moved > 50


def test_sockets_block_a_fast_sender(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "300ms",
            "tasks": [
                {"name": "tx", "program": [{"send": "s", "bytes": 4096}]},
                {"name": "rx", "program": [{"receive": "s", "bytes": 4096}, {"run": "100us"}]},
            ],
        },
    )
    tx, rx = tasks(result, "tx")[0], tasks(result, "rx")[0]
    assert 0 <= tx["ops"] - rx["ops"] <= 60
    assert rx["ops"] > 1000


def test_futexes(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "200ms",
            "tasks": [
                {"name": "w", "count": 3, "program": [{"wait": "f"}, {"run": "50us"}]},
                {
                    "name": "k",
                    "program": [{"run": "100us"}, {"sleep": "400us"}, {"wake": "f", "count": 3}],
                },
            ],
        },
    )
    assert tasks(result, "w1")[0]["ops"] > 200


def test_memory_bandwidth_is_shared(sim: Simulator) -> None:
    """33 GB/s for a node, 11.3 GB/s a thread: four threads get 33 / 45.2 of their speed."""

    def ops(count: int) -> float:
        return (
            sim(
                "numa16",
                {
                    "duration": "500ms",
                    "tasks": [
                        {
                            "name": "m",
                            "count": count,
                            "affinity": "0-3",
                            "memory_share": 1,
                            "program": [{"run": "1ms"}],
                        }
                    ],
                },
            )["metrics"]["ops_per_s"]
            / count
        )

    assert ops(4) / ops(1) == pytest.approx(33 / 45.2, abs=0.02)


def test_schedstat_and_debug_come_from_the_kernel(series: str, sim: Simulator) -> None:
    text = sim("smp4", {"duration": "100ms", "tasks": [{"name": "h", "count": 5, **HOG}]})[
        "schedstat"
    ]
    version = reads(series, "kernel/sched/stats.c", r"#define SCHEDSTAT_VERSION (\d+)")
    assert text.startswith(f"version {version}\n")
    assert "cpu3 " in text and "domain0 " in text
