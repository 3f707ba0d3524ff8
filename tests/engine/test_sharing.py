"""What CPUs share: messages, locks, lines, wakeups."""

from __future__ import annotations

import itertools
from typing import Any

from tests.helpers.engine.simulator import Json, Simulator, machine, tasks


def ping_pong(there: str, back: str) -> list[Json]:
    return [
        {
            "name": "client",
            "affinity": "0",
            "program": [{"send": there, "bytes": 1}, {"receive": back, "bytes": 1}],
        },
        {
            "name": "server",
            "affinity": "1",
            "program": [{"receive": there, "bytes": 1}, {"send": back, "bytes": 1}],
        },
    ]


def test_no_message_is_received_before_it_is_sent(sim: Simulator) -> None:
    slow = machine("smp4")
    slow["cost"]["unix_send"] = "20us"
    result = sim(slow, {"duration": "200ms", "warmup": "100ms", "tasks": ping_pong("a", "b")})
    rounds = tasks(result, "client")[0]["ops"]
    assert 0.5 * 0.1 / 40e-6 < rounds < 0.1 / 40e-6


def test_a_cpu_in_mwait_is_woken_without_an_interrupt(sim: Simulator) -> None:
    scenario: Json = {"duration": "200ms", "warmup": "100ms", "tasks": ping_pong("a", "b")}
    with_mwait = machine("epyc-7713-2p-nps1")
    without = machine("epyc-7713-2p-nps1")
    without["idle"]["state"][1]["mwait"] = False
    quiet = sim(with_mwait, scenario)
    loud = sim(without, scenario)
    wakeups = quiet["counters"]["sched:sched_wakeup"]
    assert quiet["counters"]["sched:sched_wake_idle_without_ipi"] > 0.8 * wakeups
    assert loud["counters"]["sched:sched_wake_idle_without_ipi"] < 0.2 * wakeups
    assert quiet["kernel_time_ns"]["call_function"] < loud["kernel_time_ns"]["call_function"]


def test_a_contended_lock_has_one_holder_at_a_time(sim: Simulator) -> None:
    """Seven writers on one pipe: no more writes than holding its mutex allows."""
    far = machine("smt8")
    far["cost"].update({f"line_{level}": "1us" for level in ("core", "llc", "cluster")})
    far["cost"]["queue_lines"] = 3
    writers: Json = {"name": "w", "count": 7, "program": [{"pipe_write": "p", "bytes": 100}]}
    reader: Json = {"name": "r", "program": [{"pipe_read": "p", "bytes": 4000}]}
    result = sim(far, {"duration": "200ms", "warmup": "100ms", "tasks": [writers, reader]})
    operations = sum(t["ops"] for t in result["tasks"])
    alone = sim(
        far,
        {
            "duration": "200ms",
            "warmup": "100ms",
            "tasks": [{**writers, "count": 1}, reader],
        },
    )
    assert result["counters"]["cost:lock_waits"] > operations / 2
    # a mutex's line, three of the pipe's and two of data come from another CPU at 1 us each
    assert operations < 0.1 / 5e-6
    assert operations < 3 * sum(t["ops"] for t in alone["tasks"])


def test_trying_a_lock_fails_while_another_cpu_has_it(sim: Simulator) -> None:
    """One CPU at a time balances NUMA domains: the others try its lock, and leave it to that one."""
    hogs: Json = {"name": "hog", "count": 16, "program": [{"run": "7ms"}]}
    scenario: Json = {"duration": "1s", "tasks": [hogs]}
    counters = sim("numa16", scenario)["counters"]
    assert counters["cost:lock_refusals"] > 5
    without = sim("numa16", {**scenario, "ablate": ["locks"]})["counters"]
    assert without["cost:lock_refusals"] == 0


def test_threads_share_the_counts_of_their_files(sim: Simulator) -> None:
    load: Json = {"kind": "hackbench", "groups": 1, "loops": 200, "pipe": True}
    end: Json = {"when": "workloads_done", "max_simulated": "2s"}
    waits = {False: 0, True: 0}
    for threads, seed in itertools.product(waits, "123"):
        scenario: Json = {
            "duration": "2s",
            "workloads": [{**load, "threads": threads}],
            "end": end,
        }
        result = sim("epyc-7713-2p-nps1", scenario, "--seed", seed)
        waits[threads] += result["counters"]["cost:hot_line_waits"]
    assert waits[True] > 1.3 * waits[False]


def test_idle_cpus_that_borrow_a_process_change_one_count(sim: Simulator) -> None:
    """Threads that sleep leave their address space to the idle tasks of their CPUs."""
    sleepers: Json = {"name": "t", "count": 16, "program": [{"run": "5us"}, {"sleep": "60us"}]}
    times: Json = {"duration": "100ms", "warmup": "50ms", "memory": [{"size": "4MiB"}]}
    processes, threads = (
        sim("numa16", {**times, "tasks": [tasks]})["counters"]["cost:hot_line_waits"]
        for tasks in (sleepers, {**sleepers, "mm": 0})
    )
    assert threads > 4 * processes


def test_a_change_that_another_came_before_is_tried_again(sim: Simulator) -> None:
    """dup() and close() look at the users of one file before they change them."""
    retries = []
    for copies in (1, 16):
        load: Json = {"kind": "unixbench", "test": "syscall", "duration": "20ms", "copies": copies}
        end: Json = {"when": "workloads_done", "max_simulated": "1s"}
        scenario: Json = {"duration": "1s", "workloads": [load], "end": end}
        retries.append(sim("epyc-7713-2p-nps1", scenario)["counters"]["cost:hot_line_retries"])
    assert retries[0] == 0
    assert retries[1] > 1000


def test_busy_cpus_have_their_kworker_once_a_second(sim: Simulator) -> None:
    hogs: Json = {"name": "h", "count": 4, "program": [{"run": "10ms"}]}
    result = sim("smp4", {"duration": "5s", "warmup": "1s", "tasks": [hogs]})
    assert 4 * 4 * 0.9 <= result["counters"]["sched:sched_wakeup"] <= 4 * 4 * 1.5


def test_priorities_of_a_root_domain_are_shared(sim: Simulator) -> None:
    """Each CPU that gets or loses a real-time task writes its root domain's counts and masks."""
    task: Json = {"name": "t", "count": 16, "program": [{"run": "10us"}, {"sleep": "190us"}]}

    def waits(**policy: Any) -> int:
        asked: Json = {"duration": "100ms", "tasks": [{**task, **policy}]}
        return int(sim("numa16", asked)["counters"]["cost:hot_line_waits"])

    assert waits(policy="fifo", priority=5) > 2 * waits()
