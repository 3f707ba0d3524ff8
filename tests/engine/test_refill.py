"""What tasks have to fetch again: after a move, and what others pushed out of their core's caches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.engine.simulator import Json, Simulator, machine, tasks

FOOTPRINT_KIB = 128


def taking_turns(count: int, cpus: str, run: str = "200us", **others: Any) -> Json:
    """Return tasks that leave a CPU to each other all the time."""
    program = [{"run": run}, {"sleep": "10us"}]
    footprint = f"{FOOTPRINT_KIB}KiB"
    name = f"t{cpus}"
    return {
        "name": name,
        "count": count,
        "affinity": cpus,
        "footprint": footprint,
        "program": program,
        **others,
    }


def a_switch(result: Json) -> float:
    counters = result["counters"]
    return float(counters["cost:refill_ns"] / counters["sched:sched_switch"])


def ops(result: Json, name: str) -> int:
    return sum(task["ops"] for task in tasks(result, name))


def scenario(*programs: Json, **others: Any) -> Json:
    return {"duration": "200ms", "warmup": "100ms", "tasks": list(programs), **others}


@pytest.mark.parametrize("lines", [0, 120])
def test_every_migration_refills_the_kernels_part(sim: Simulator, lines: int) -> None:
    described = machine("smp4")
    described["cost"]["task_lines"] = lines
    moving: Json = {"name": "m", "program": [{"run": "1ms"}]}
    moves = [
        {"at": "20ms", "task": "m", "affinity": "2"},
        {"at": "40ms", "task": "m", "affinity": "1"},
    ]
    result = sim(described, {"duration": "100ms", "tasks": [moving], "actions": moves})
    assert (result["counters"]["cost:refill_ns"] > 0) == (lines > 0)


def test_tasks_that_fit_into_the_cache_together_refill_nothing(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    assert a_switch(sim(described, scenario(taking_turns(3, "0")))) < 1


def test_of_tasks_that_do_not_fit_each_refills_all_it_has(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"line_hit": "10ns", "task_lines": 120, "refill_overlap": 25}
    full = (FOOTPRINT_KIB * 16 + 120) * 10 * 0.25
    result = sim(described, scenario(taking_turns(5, "0")))
    # a little less where some switches come in the middle of the work
    assert 0.8 * full < a_switch(result) <= full
    without = sim(described, scenario(taking_turns(5, "0"), ablate=["refill"]))
    assert a_switch(without) == 0


def test_what_fits_the_second_cache_but_not_the_first_comes_from_the_second(
    sim: Simulator,
) -> None:
    described = machine("smp4")
    described["cache"] |= {"l1": "32KiB", "l2": "4MiB"}
    described["cost"] |= {"line_l2": "4ns", "task_lines": 120, "refill_overlap": 25}
    full = 32 * 16 * 4 * 0.25
    assert 0.9 * full < a_switch(sim(described, scenario(taking_turns(5, "0")))) <= full


def test_a_task_that_works_for_a_moment_fetches_what_it_comes_to(sim: Simulator) -> None:
    """Ten lines of its work, and the kernel's: those, as the tasks come to few, fit together."""
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"touch": "100ns", "line_hit": "10ns", "task_lines": 0}
    described["cost"]["refill_overlap"] = 25
    result = sim(described, scenario(taking_turns(40, "0", run="1us")))
    assert result["counters"]["cost:refill_ns"] < 1.1 * 10 * 10 * 0.25 * ops(result, "t0")


def test_siblings_push_each_other_out(sim: Simulator) -> None:
    described = machine("smt8")
    described["cache"]["l2"] = "512KiB"
    assert described["topology"]["core"][0] == "0-1"
    alone = a_switch(sim(described, scenario(taking_turns(2, "0"))))
    beside = a_switch(sim(described, scenario(taking_turns(2, "0"), taking_turns(3, "1"))))
    assert alone < 1
    assert beside > 1000


def test_a_new_image_is_warm_nowhere_and_pays_in_its_start(sim: Simulator) -> None:
    program = [{"exec": True}, {"run": "1ms"}]
    alone: Json = {"name": "e", "affinity": "0", "footprint": "256KiB", "program": program}
    assert sim("smp4", scenario(alone))["counters"]["cost:refill_ns"] < 100


def test_a_task_preempted_more_often_than_it_refills_gets_on(sim: Simulator) -> None:
    """Refilling takes some 200 us; another one pushes it out every 50 us."""
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"line_hit": "100ns", "refill_overlap": 25, "touch": "10ns"}
    works: Json = {"name": "w", "affinity": "0", "footprint": "480KiB", "nice": 19}
    works["program"] = [{"run": "1ms"}]
    program: list[Json] = [{"run": "10us"}, {"sleep": "40us"}]
    disturbs: Json = {"name": "d", "affinity": "0", "footprint": "480KiB", "nice": -20}
    disturbs["program"] = program
    result = sim(described, scenario(works, disturbs))
    [worker] = [task for task in result["tasks"] if task["name"] == "w"]
    assert worker["ops"] > 5


def test_interrupts_come_while_lines_are_fetched(sim: Simulator) -> None:
    """One refill takes longer than several periods of the timer that wakes the other task."""
    described = machine("smp4")
    described["cache"]["l2"] = "4MiB"
    described["cost"] |= {"line_hit": "200ns", "refill_overlap": 100, "touch": "1ns"}
    hogs = taking_turns(2, "0", run="20ms")
    hogs |= {"footprint": "4MiB", "nice": 19}
    wakes: Json = {"name": "w", "affinity": "0", "nice": -20, "program": [{"sleep": "1ms"}]}
    result = sim(described, scenario(hogs, wakes))
    [task] = [task for task in result["tasks"] if task["name"] == "w"]
    a_tick = 4_000_000  # at which a tree that preempts lazily does
    assert task["wait_max_ns"] < a_tick + 1_000_000


def test_a_few_lines_of_another_push_out_no_more_of_a_full_cache(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"line_hit": "10ns", "task_lines": 20, "refill_overlap": 25}
    fills = taking_turns(1, "0", run="10ms")
    fills["footprint"] = "512KiB"
    visits: Json = {"name": "v", "affinity": "0", "program": [{"run": "10us"}, {"sleep": "200us"}]}
    assert a_switch(sim(described, scenario(fills, visits))) <= 20 * 10 * 0.25


def test_short_work_comes_to_lines_as_long_work_does(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"touch": "100ns", "task_lines": 0, "line_hit": "10ns"}
    others = taking_turns(4, "0")
    short: Json = {"name": "s", "affinity": "0", "program": [{"run": "60ns"}, {"yield": True}]}
    without = sim(described, scenario(short, others))
    result = sim(described, scenario({**short, "footprint": "128KiB"}, others))
    assert a_switch(result) > a_switch(without)


BESIDE_MEMORY: Json = {
    "name": "z",
    "count": 3,
    "affinity": "1-3",
    "memory_share": 0.3,
    "program": [{"run": "50ns"}, {"yield": True}],
}
"""Each of its turns changes how fast the others of its node are."""


def pushed_out(**costs: Any) -> tuple[Json, list[Json]]:
    """Return a machine, and a task `v` of which another one takes the caches every 4 ms."""
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= costs
    alike = {"affinity": "0", "footprint": "480KiB"}
    v: Json = {"name": "v", "memory_share": 0.01, "program": [{"run": "100us"}], **alike}
    others: Json = {"name": "d", "program": [{"run": "100us"}, {"sleep": "4ms"}], **alike}
    return described, [v, others]


@pytest.mark.parametrize(
    "costs",
    [
        {"touch": "1ns", "line_hit": "200ns", "refill_overlap": 100},
        {"touch": "70ns", "line_hit": "400ns", "refill_overlap": 100},
        {"line_hit": "3ns", "refill_overlap": 25},
    ],
)
def test_a_changing_pace_neither_repeats_a_wait_nor_loses_it(sim: Simulator, costs: Json) -> None:
    described, pair = pushed_out(**costs)
    quiet = sim(described, scenario(*pair))
    beside = sim(described, scenario(*pair, BESIDE_MEMORY))
    assert ops(beside, "v") == pytest.approx(ops(quiet, "v"), rel=0.02)
    ours, accounts = (r["task_time"]["v"]["parts_ns"]["refill"] for r in (beside, quiet))
    assert ours == pytest.approx(accounts, rel=0.1)
    for result in (quiet, beside):
        accounted = sum(each["parts_ns"]["refill"] for each in result["task_time"].values())
        assert result["counters"]["cost:refill_ns"] == pytest.approx(accounted, rel=1e-3)


def test_a_cpu_ahead_in_time_does_not_lengthen_the_work_of_others(sim: Simulator) -> None:
    """Work that was done before a task of its node began to use memory took until then."""
    shared = {"memory_share": 0.001, "count": 128, "affinity": "0-31"}
    short: Json = {"name": "v", "program": [{"run": "8us"}, {"sleep": "1us"}], **shared}
    result = sim("epyc-7713-2p-nps1", {"duration": "20ms", "warmup": "5ms", "tasks": [short]})
    worked = result["task_time"]["v"]["parts_ns"]["user"]
    assert worked / ops(result, "v") == pytest.approx(8000, rel=0.005)


def test_a_new_image_pays_for_what_it_loses_alone(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"]["task_lines"] = 0
    image: Json = {"name": "v", "affinity": "0", "footprint": "256KiB"}
    image["program"] = [{"exec": True}, {"run": "1ms"}]
    visits: Json = {"name": "w", "affinity": "0", "nice": -20, "footprint": "1KiB"}
    visits["program"] = [{"run": "10us"}, {"sleep": "50us"}]
    result = sim(described, scenario(image, visits))
    assert ops(result, "v") > 20
    assert result["task_time"]["v"]["parts_ns"]["refill"] < 20 * ops(result, "v")


def test_what_is_on_another_node_stays_there_after_a_move_within_the_llc(sim: Simulator) -> None:
    far = {"name": "v", "affinity": "2", "footprint": "16MiB", "program": [{"run": "1ms"}]}

    def refill(*moves: tuple[str, str]) -> float:
        actions = [{"at": at, "task": "v", "affinity": cpu} for at, cpu in moves]
        run: Json = {"duration": "60ms", "tasks": [far], "actions": actions}
        result = sim("epyc-7713-2p-nps1", run)
        return float(result["task_time"]["v"]["parts_ns"]["refill"])

    once = refill(("10ms", "70"))
    assert once > 10_000_000
    assert refill(("10ms", "70"), ("10100us", "71")) == pytest.approx(once, rel=0.05)


def test_an_interrupt_while_the_task_waits_for_its_last_line(sim: Simulator) -> None:
    """What is left of the wait comes after it; it was given away, and counted."""
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    costs = {"line_hit": "300us", "refill_overlap": 100, "touch": "1us", "task_lines": 0}
    described["cost"] |= costs
    alike = {"affinity": "0", "footprint": "480KiB"}
    cold: Json = {"name": "v", "program": [{"run": "1us"}], **alike}
    others: Json = {"name": "d", "nice": -20, **alike}
    others["program"] = [{"run": "10us"}, {"sleep": "50us"}]
    result = sim(described, scenario(cold, others))
    accounted = sum(each["parts_ns"]["refill"] for each in result["task_time"].values())
    assert result["counters"]["cost:refill_ns"] == pytest.approx(accounted, rel=1e-3)


@pytest.mark.parametrize("work", [1, 50])
def test_a_part_of_a_ns_is_waited_for_once(sim: Simulator, work: int) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"line_hit": "3ns", "refill_overlap": 25, "touch": "70ns"}
    alike = {"affinity": "0", "footprint": "480KiB"}
    short: Json = {"name": "v", "program": [{"run": f"{work}ns"}, {"yield": True}], **alike}
    others: Json = {"name": "d", "program": [{"run": "10us"}, {"sleep": "4ms"}], **alike}
    result = sim(described, scenario(short, others))
    worked = result["task_time"]["v"]["parts_ns"]["user"]
    assert worked / ops(result, "v") == pytest.approx(work, rel=1e-4)


def test_a_pace_that_changes_all_the_time_takes_no_work_away(sim: Simulator) -> None:
    """Each change dropped what had been done of a ns, and memory was said to have taken it."""
    shared: Json = {"memory_share": 0.3}

    def worked(run: str) -> Json:
        alone: Json = {"name": "v", "affinity": "0", "program": [{"run": "10us"}], **shared}
        others: Json = {"name": "o", "count": 24, "affinity": "1-24", **shared}
        others["program"] = [{"run": run}, {"yield": True}]
        run_it: Json = {"duration": "10ms", "warmup": "5ms", "tasks": [alone, others]}
        return sim("epyc-7713-2p-nps1", run_it)

    often, seldom = worked("50ns"), worked("5ms")
    assert ops(often, "v") >= ops(seldom, "v")
    assert often["task_time"]["v"]["parts_ns"]["user"] / ops(often, "v") == pytest.approx(
        10_000, rel=0.003
    )


@pytest.mark.parametrize("touch", [30, 70])
def test_a_cold_tasks_work_is_kept_while_its_pace_changes(sim: Simulator, touch: int) -> None:
    """Parts of a ns of work and of waits count, however often the time until then is looked at."""
    described = machine("smt8")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"touch": f"{touch}ns"}
    victim: Json = {"name": "v", "footprint": "300KiB", "program": [{"run": "10us"}]}
    waker = {"name": "d", "footprint": "500KiB", "nice": -10}
    waker |= {"program": [{"run": "60us"}, {"sleep": "300us"}]}
    beside: Json = {"name": "o", "count": 7, "affinity": "1-7", "memory_share": 0.2}
    beside |= {"program": [{"run": "50ns"}, {"yield": True}]}
    first: Json = {"affinity": "0"}
    tasks = [victim | first | {"memory_share": 0.2}, waker | first, beside]
    result = sim(described, scenario(*tasks, duration="160ms"))
    worked = result["task_time"]["v"]["parts_ns"]["user"]
    assert worked / ops(result, "v") == pytest.approx(10_000, rel=3e-4)


@pytest.mark.parametrize("work", [1, 2, 3, 5, 20])
def test_short_work_on_a_slow_cpu_takes_no_longer_in_all(sim: Simulator, work: int) -> None:
    """Each piece of it ends in whole ns, and what that is too much comes off the next one's."""
    described = machine("biglittle-6")
    task: Json = {"name": "v", "affinity": "0", "program": [{"run": f"{work}ns"}, {"yield": True}]}
    result = sim(described, scenario(task, duration="120ms"))
    parts = result["task_time"]["v"]["parts_ns"]
    assert parts["capacity"]
    assert parts["user"] / ops(result, "v") == pytest.approx(work, rel=2e-3)
