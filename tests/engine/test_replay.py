"""Recordings replayed in the simulator: a trace of the engine's becomes a workload again."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.benchmarks.metric import NONE_OF_IT
from schedlab.benchmarks.rt_app import rt_app_model
from schedlab.lab.recording.causes import LOCK_HELD, TASK, TIMER
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.closure import probe
from schedlab.lab.recording.events import Kind
from schedlab.lab.recording.inference import call_costs, infer
from schedlab.lab.recording.pace import Speeds
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.stats import trace_stats
from schedlab.lab.recording.workload import (
    SEND,
    WAKE,
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
)
from schedlab.targets.simulated.outcome import metrics
from tests.helpers.engine.simulator import Json, Simulator

TURNS = 300
PIPE: Json = {"kind": "sched-pipe", "loop": TURNS}


def asked(workload: Json) -> Json:
    end = {"when": "workloads_done", "max_simulated": "100s"}
    return {"duration": "100s", "settle": "100ms", "workloads": [workload], "end": end}


def traced(sim: Simulator, workload: Json, name: str, *options: str) -> tuple[Json, Path]:
    """Return the result of a run, and its trace."""
    path = sim.scratch / f"{name}.txt"
    return sim("smp4", asked(workload), "--trace", str(path), *options), path


def replay_of(sim: Simulator, workload: RecordedWorkload, name: str) -> Json:
    file = sim.scratch / f"{name}.slw"
    workload.write(file)
    return {"kind": "rt-app", "file": str(file)}


def steps(workload: RecordedWorkload, letter: str) -> int:
    return sum(found == letter for task in workload.tasks for found, _ in task.steps())


def test_a_replay_hands_on_as_often_as_the_original(sim: Simulator) -> None:
    """It takes longer than that, by its own calls; with their costs known, about as long.

    A fifteenth of so short a run is the start of its two processes, which the original's time lacks.
    """
    original, trace_of_original = traced(sim, PIPE, "pipe")
    _, known = traced(sim, replay_of(sim, probe(), "probe"), "probe")
    costs = call_costs(read_trace(known), Speeds())
    assert costs["w"] > 0
    made = infer(read_trace(trace_of_original), Choice(("sched-pipe",), costs=costs), "pipe")
    assert made.recorded["waits"][TASK]["count"] >= 2 * TURNS
    assert steps(made, WAKE) >= 2 * TURNS
    again, trace = traced(sim, replay_of(sim, made, "again"), "again")
    repeated = infer(read_trace(trace), Choice(("sched-pipe*",)), "again")
    assert abs(steps(repeated, WAKE) - steps(made, WAKE)) < 0.02 * TURNS
    took = original["metrics"]["sched-pipe.time"]
    bare = infer(read_trace(trace_of_original), Choice(("sched-pipe",)), "pipe")
    longer, _ = traced(sim, replay_of(sim, bare, "bare"), "bare")
    off = [abs(run["metrics"]["rt-app.time"] / took - 1) for run in (again, longer)]
    assert off[0] < 0.3 and off[0] < off[1] / 2


def test_requests_are_timed_from_what_begins_them_to_their_answer(sim: Simulator) -> None:
    """Ten times a millisecond's sleep; what it wakes works 200 us and answers."""
    client = RecordedTask(1, "client", " ".join(["s1000000 1000 >2"] * 10))
    server = RecordedTask(2, "server", " ".join(["w 200000"] * 10))
    workload = RecordedWorkload([client, server], {})
    result, trace = traced(sim, replay_of(sim, workload, "request"), "request")
    assert 201 < result["metrics"]["rt-app.request mean"] < 300
    waits = infer(read_trace(trace), Choice(("client*", "server*")), "x").recorded["waits"]
    assert waits[TIMER]["count"] >= 9


def test_each_of_queued_requests_has_its_own_beginning(sim: Simulator) -> None:
    """One comes each ms, and one is done each 2 ms: the last of twenty waits 21 ms, all 11.5."""
    found = {}
    for name, send, take in (("wakes", ">2", "w"), ("messages", "m1", "r1"), ("items", "p", "")):
        arrivals = (f"@{1_000_000 * at} {send}{at if send == 'p' else ''}" for at in range(1, 21))
        served = [f"{take} 2000000"] * 20 if take else ["q1"]
        workload = RecordedWorkload(
            [
                RecordedTask(1, "client", " ".join(arrivals)),
                RecordedTask(2, "server", " ".join(served)),
            ],
            {},
            messages=[Message("pipe", 1, 100)],
            items=[] if take else [Item(1, "2000000")] * 20,
        )
        result = sim("smp4", asked(replay_of(sim, workload, name)))
        found[name] = result["metrics"]["rt-app.request mean"]
    assert all(11_500 < mean < 11_700 for mean in found.values()), found


def test_nobody_has_to_wait(sim: Simulator) -> None:
    """Then there is no latency of a wakeup, and one request says nothing of requests."""
    tasks = [RecordedTask(1, "a", "100 >2"), RecordedTask(2, "b", "s5000000 w 1000")]
    replay = replay_of(sim, RecordedWorkload(tasks, {}), "nobody")
    result = sim("smp4", asked(replay))
    kept, caveats = metrics(rt_app_model(str(replay["file"])), result)
    assert {metric.name for metric in kept} == {"time", "work_rate"}
    assert caveats == [f"{name}: {NONE_OF_IT}" for name in ("wakeup_latency", "wakeup_latency_p99")]


def test_messages_are_sent_and_received_again(sim: Simulator) -> None:
    """Pairs that mostly find the other awake, so that a trace has few of their wakes."""
    events = ("--trace-events", "sched:*,messages:*")
    _, known = traced(sim, replay_of(sim, probe(), "probe"), "probe-messages", *events)
    costs = call_costs(read_trace(known), Speeds())
    assert 0 < costs["m"] + costs["r"] < costs["w"]
    netperf = {"kind": "netperf", "clients": 2, "length": "5ms", "test": "TCP_RR"}
    _, trace = traced(sim, netperf, "netperf", *events)
    original = read_trace(trace)
    made = infer(original, Choice(costs=costs), "netperf")
    assert len({message.channel for message in made.messages}) > 4
    sent = steps(made, SEND)
    _, trace = traced(sim, replay_of(sim, made, "netperf"), "netperf-again", *events)
    replay = read_trace(trace)
    assert len(replay.of(Kind.SEND)) == sent > 1000
    before, after = (trace_stats(events, Choice()) for events in (original, replay))
    assert abs(after.switches / before.switches - 1) < 0.05
    assert abs(after.span / before.span - 1) < 0.15


def test_a_lock_is_fought_for_again(sim: Simulator) -> None:
    """A trace shows waits alone: who held a lock before, and yields with it, is inferred."""
    events = ("--trace-events", "sched:*,syscalls:*")
    _, known = traced(sim, replay_of(sim, probe(), "probe"), "probe-yields", *events)
    costs = call_costs(read_trace(known), Speeds())
    threads = {"kind": "sysbench-threads", "threads": 6, "time": "5ms"}
    _, trace = traced(sim, threads, "threads", *events)
    original = read_trace(trace)
    if trace_stats(original, Choice()).switches < 1000:
        pytest.skip("new threads of this kernel do not give way to each other in 5 ms")
    made = infer(original, Choice(costs=costs), "threads")
    assert made.recorded["waits"][LOCK_HELD]["count"] > 1000
    _, trace = traced(sim, replay_of(sim, made, "threads"), "threads-again", *events)
    before, after = (trace_stats(each, Choice()) for each in (original, read_trace(trace)))
    fought = [sum(group.wakeups for group in each.groups) for each in (before, after)]
    assert 0.5 < fought[1] / fought[0] < 2
    assert 0.5 < after.switches / before.switches < 2


def test_barriers_pools_and_yields(sim: Simulator) -> None:
    """Two workers do four items of a millisecond; three tasks meet before and after."""
    items = [Item(1, "1000000")] * 4
    tasks = [
        RecordedTask(1, "poster", "b1 s100000 p1 p2 y p3 p4 b1"),
        RecordedTask(2, "worker", "b1 q1 b1"),
        RecordedTask(3, "worker", "l1 200000 u1 b1 q1 l1 u1 b1"),
    ]
    result, _ = traced(
        sim, replay_of(sim, RecordedWorkload(tasks, {}, barriers=[3], items=items), "objects"), "x"
    )
    figures = {name.removeprefix("rt-app."): value for name, value in result["metrics"].items()}
    assert 0.0023 < figures["time"] < 0.003
    assert 1.4 < figures["work rate"] < 2
    assert 1000 < figures["request of poster mean"] == figures["request mean"] < 2300
    assert 0 < figures["wakeup mean"] < 100
    assert "wakeup p99" not in figures  # of so few it would be the longest itself


def test_a_gate_wakes_all_before_one_of_them_runs(sim: Simulator) -> None:
    """Its opener keeps its CPU though each of those it wakes may take it: none has waited long."""
    waiters = [RecordedTask(at, "waiter", "g1 5000000", {"cpus": [0]}) for at in range(2, 8)]
    opener = RecordedTask(1, "opener", "s1000000 1000 o1", {"cpus": [0]})
    replay = replay_of(sim, RecordedWorkload([opener, *waiters], {}), "gate")
    _, trace = traced(sim, replay, "gate", "--trace-events", "sched:*")
    events = read_trace(trace)
    woken = [
        int(events.ns[place])
        for place in events.of(Kind.WAKING)
        if events.names[int(events.one[place])].startswith("waiter")
    ]
    assert woken[-1] - woken[-6] < 10_000


@pytest.mark.parametrize("cpus", [4, 8])
def test_tasks_begin_where_they_were_on_a_machine_of_as_many_cpus(
    sim: Simulator, cpus: int
) -> None:
    places = {1: 3, 2: 1}
    tasks = [RecordedTask(at, "t", "3000000", {"first_cpu": cpu}) for at, cpu in places.items()]
    workload = RecordedWorkload(tasks, {"cpus": cpus})
    _, trace = traced(sim, replay_of(sim, workload, f"of{cpus}"), f"of{cpus}")
    events = read_trace(trace)
    moves = events.of(Kind.MIGRATE)
    moved = {
        (events.names[task].partition("-")[2], to)
        for task, to in zip(events.one[moves].tolist(), events.three[moves].tolist(), strict=True)
    }
    asked_for = {(str(at), cpu) for at, cpu in places.items()}
    assert (moved & asked_for == asked_for) == (cpus == 4)


def test_a_task_that_may_not_run_on_its_first_cpu_stays_where_it_may(sim: Simulator) -> None:
    task = RecordedTask(1, "t", "3000000", {"first_cpu": 3})
    workload = {**replay_of(sim, RecordedWorkload([task], {"cpus": 4}), "kept"), "affinity": "0-1"}
    _, trace = traced(sim, workload, "kept")
    events = read_trace(trace)
    switches = events.of(Kind.SWITCH)
    own = switches[[events.names[t] == "t-1" for t in events.two[switches].tolist()]]
    assert len(own) and set(events.cpu[own].tolist()) <= {0, 1}


def test_tasks_of_other_processes_are_processes_again(sim: Simulator) -> None:
    """A process starts one that has a thread, and waits for its end; two more begin together."""
    tasks = [
        RecordedTask(1, "make", "100000 +2 j2 200000", {"process": 1}),
        RecordedTask(2, "cc", "100000 +3 1000000", {"process": 2, "instance": 0}),
        RecordedTask(3, "helper", "3000000", {"process": 2, "instance": 0}),
        RecordedTask(4, "server", "w 1000", {"process": 3}),
        RecordedTask(5, "thread", "500000 >4", {"process": 3}),
    ]
    replay = replay_of(sim, RecordedWorkload(tasks, {}), "processes")
    _, trace = traced(sim, replay, "processes", "--trace-events", "sched:*")
    events = read_trace(trace)
    assert events.setup
    process = {
        events.names[pid]: own.process
        for pid, own in events.setup.tasks.items()
        if pid in events.names
    }
    assert process["cc-2"] == process["helper-3"] and process["server-4"] == process["thread-5"]
    apart = {process[name] for name in ("make-1", "cc-2", "server-4", "rt-app")}
    assert len(apart) == 4
    made = infer(events, Choice(("make*", "cc*", "helper*", "server*", "thread*")), "x")
    again = {task.name: task for task in made.tasks}
    numbers = {name: task.settings["process"] for name, task in again.items()}
    assert numbers["cc-2"] == numbers["helper-3"] != numbers["make-1"]
    words = [word for word in again["make-1"].words.split() if not word.isdigit()]
    child = again["cc-2"].id
    assert words[-2:] == [f"+{child}", f"j{child}"]
